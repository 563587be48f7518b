"""A sample through the whole pipeline into a sandbox, with the real ledger and journal, on a clock that runs fast."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from importer.app.pipeline import begin, carry_out, end
from importer.app.planning import Order, make_plan
from importer.ledger import Ledger, RunJournal, target_lock
from importer.load import Cancellation, Loader, LoadOptions
from importer.models import Outcome, WireFormat
from importer.report import Summary
from importer.runs.row_selection import Selection
from importer.sandbox import RunningSandbox
from importer.service import RecruitingService

_SPEED = 20  # waits of the demo, such as Retry-After 1 s, take a twentieth
_SETTLE_AFTER = 2.0  # seconds on that clock


@dataclass(frozen=True)
class Rehearsal:
    """How one run ended: the outcome of each row in row order, and its summary."""

    outcomes: tuple[Outcome, ...]
    summary: Summary


class Importable(Protocol):
    """A file and its mapping."""

    @property
    def file(self) -> Path: ...

    @property
    def mapping(self) -> Path: ...


def rehearse(sample: Importable, sandbox: RunningSandbox, out: Path) -> Rehearsal:
    """One run of the sample as `importer run --sandbox --out OUT` does it; run it again and it goes on."""
    service = RecruitingService(sandbox.base_url, sandbox.token)
    order = Order(sample.file, sample.mapping, out, Selection(), "sandbox", WireFormat(), dry_run=False)
    ledger_file = out / "ledger.sqlite"
    try:
        plan = make_plan(order, service.questions)
        with target_lock(ledger_file, plan.manifest.scope), Ledger.open(ledger_file) as ledger:
            begin(plan, out, ledger)
            options = LoadOptions(settle_after=_SETTLE_AFTER)
            loader = Loader(service, ledger, plan.ledger_run, options=options, cancellation=_fast_clock())
            done = carry_out(plan, loader, watch=lambda outcome: None)
            summary = end(plan, done, loader.stop, None)
            ledger.end_run(plan.manifest.run, plan.manifest.started_at, summary.exit_code or 0)
    finally:
        service.close()
    with RunJournal(plan.folder) as journal:
        return Rehearsal(tuple(journal.outcomes()), summary)


def _fast_clock() -> Cancellation:
    return Cancellation(now=lambda: time.monotonic() * _SPEED, sleep=lambda seconds: time.sleep(seconds / _SPEED))
