"""What earlier runs of a results folder said about their rows."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from importer.ledger.journal import JOURNAL, RunJournal
from importer.models import Outcome


class EarlierOutcomes:
    """Looks into the journals of the runs in one results folder. Opened as they are asked for, closed together."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._journals: dict[str, RunJournal | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for journal in self._journals.values():
            if journal is not None:
                journal.close()

    def of(self, run: str, row: int) -> Outcome | None:
        """The outcome that a row had in a run; None where the run's folder is gone, or was cut off before.

        Raises:
            UnusableInput: the journal of that run is damaged.
        """
        if run not in self._journals:
            folder = self._out / run
            self._journals[run] = RunJournal(folder) if (folder / JOURNAL).is_file() else None
        journal = self._journals[run]
        return journal.outcome(row) if journal is not None else None
