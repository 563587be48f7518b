"""One run over real HTTP and a real ledger, as a process that can be killed: FOLDER BASE_URL ROWS RUN."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from importer.ledger import RunRecord, Scope, open_ledger
from importer.load import Loader, LoadOptions
from importer.models import Operation, Target
from importer.runs.journal import RunJournal
from importer.service import RecruitingService
from tests.load.given import applications


def run(folder: Path, base_url: str, rows: int, name: str) -> None:
    """Load that many rows and journal their outcomes."""
    scope = Scope("https://recruiting.example.com", Target(Operation.APPLY, "4f2c9a"))
    path = folder / "ledger.sqlite"
    (folder / name).mkdir()
    with open_ledger(path) as ledger, ledger.lock_target(scope), RunJournal(folder / name) as journal:
        record = RunRecord(name, scope, "a.csv", "ab" * 32, "m.yaml", str(folder / name), datetime.now(UTC))
        ledger.begin_run(record)
        service = RecruitingService(base_url, "token")
        loader = Loader(
            service,
            ledger,
            record,
            options=LoadOptions(resend_delay=0.05),
        )
        for outcome in loader.load(applications(range(2, rows + 2))):
            journal.record(outcome)
        service.close()
        ledger.end_run(name, datetime.now(UTC), 0)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
