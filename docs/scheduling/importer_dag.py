"""An Airflow DAG: one pass over an inbox every night. Copy it to the folder of your DAGs, and change the paths.

The exit code decides what becomes of the task: 4 (some rows need a person, who gets a notice) does not fail it, 75
(another run is sending) skips it. Everything else fails it; the retry continues where the pass ended.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="importer_inbox",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=15)},
) as dag:
    BashOperator(
        task_id="import_files",
        bash_command="importer inbox run /srv/import/inbox --quiet; code=$?; exit $((code == 4 ? 0 : code))",
        cwd="/srv/import",
        skip_on_exit_code=75,
        env={"PATH": "/opt/importer/bin:/usr/bin:/bin"},
        append_env=True,
    )
