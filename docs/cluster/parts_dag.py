"""An Airflow DAG: one import in four parts, each a mapped task. Copy it to your DAGs, and change the paths.

A task that fails is tried again, and its part goes on where it ended. Exit code 4 (rows need a person) is no failure.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

PARTS = 4
COMMAND = "importer run export.csv --mapping mapping.yaml --yes --quiet"

with DAG(
    dag_id="importer_parts",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 5, "retry_delay": timedelta(minutes=5), "cwd": "/srv/import", "append_env": True},
) as dag:
    parts = BashOperator.partial(task_id="import_part").expand(
        bash_command=[
            f"{COMMAND} --part {number}/{PARTS}; code=$?; exit $((code == 4 ? 0 : code))"
            for number in range(1, PARTS + 1)
        ]
    )
    report = BashOperator(task_id="report", bash_command="importer report last", trigger_rule="all_done")
    parts >> report
