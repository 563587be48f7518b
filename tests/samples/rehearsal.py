"""A sample through the whole pipeline into a sandbox, with the real ledger and journal, on a fast clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from importer.app.import_file import import_file
from importer.app.orders import Order, RunControl
from importer.load import Cancellation
from importer.models import Outcome
from importer.report import Summary
from importer.runs.journal import RunJournal
from importer.sandbox import RunningSandbox
from importer.settings import Settings

_SPEED = 20  # delays such as Retry-After 1 s take a twentieth of the time
_RESEND_DELAY = 2.0  # seconds on that clock


@dataclass(frozen=True)
class Rehearsal:
    """The result of a run: the outcome of each row in row order, and the summary."""

    outcomes: tuple[Outcome, ...]
    summary: Summary


class Importable(Protocol):
    """A file and its mapping."""

    @property
    def file(self) -> Path: ...

    @property
    def mapping(self) -> Path: ...


def rehearse(sample: Importable, sandbox: RunningSandbox, out: Path) -> Rehearsal:
    """Run the sample as `importer run --out OUT` does; a second call continues."""
    settings = Settings(
        base_url=sandbox.base_url, token=SecretStr(sandbox.token), out=out, resend_delay_seconds=_RESEND_DELAY
    )
    finished = import_file(Order(sample.file, sample.mapping, settings), control=RunControl(_fast_clock))
    assert finished is not None
    with RunJournal(finished.folder) as journal:
        return Rehearsal(tuple(journal.outcomes()), finished.summary)


def _fast_clock() -> Cancellation:
    return Cancellation(now=lambda: time.monotonic() * _SPEED, sleep=lambda seconds: time.sleep(seconds / _SPEED))
