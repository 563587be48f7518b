"""Rows that an earlier run of the same file has dealt with: what it said of them holds, and is not worked out again.

A file of a million rows that are done is read, and that is all: no row of it is transformed, encoded or looked up one
by one. It holds only where everything is the same on which the outcome of a row depends (`RunManifest.fingerprint`),
and of what is done only as far as the ledger says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from importer import __version__
from importer.errors import StoppedEarly, UnusableInput
from importer.ledger import LedgerStore
from importer.models import Outcome, OutcomeKind, Question, WireFormat
from importer.runs.journal import JOURNAL, RowSet, RunJournal
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.private_copies import ChildTables
from importer.runs.row_selection import Selection

_STANDING = (OutcomeKind.INVALID, OutcomeKind.FILTERED)


def fingerprint(
    source: str,
    mapping_copy: Path,
    children: ChildTables,
    questions: Iterable[Question],
    wire: WireFormat,
    selection: Selection,
) -> str:
    """One text for everything on which the outcome of a row depends, so that two runs can be told to be alike.

    source: the SHA-256 of the file; mapping_copy: the mapping with all that it takes from other files.
    """
    digest = hashlib.sha256(mapping_copy.read_bytes())
    for part in (__version__, source, children.copies, tuple(questions), wire, selection):
        digest.update(f"\0{part!r}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


class PreviousResults:
    """What an earlier run said of rows, by their numbers; nothing until `recall` has found one. Asked in row order."""

    def __init__(self) -> None:
        self._found = False
        self._done = RowSet()
        self._standing: Iterator[Outcome] = iter(())
        self._next: Outcome | None = None

    def recall(self, manifest: RunManifest, out: Path, ledger: LedgerStore) -> None:
        """Find the last run in `out` that is alike and that the ledger knows, and remember what it said.

        Raises:
            UnusableInput: the journal of that run is damaged.
        """
        alike = [
            (folder, earlier)
            for folder, earlier in manifests_in(out)
            if earlier.fingerprint is not None
            and earlier.fingerprint == manifest.fingerprint
            and earlier.scope == manifest.scope
            and earlier.run != manifest.run
            and earlier.ending is not None
            and not earlier.dry_run
        ]
        known = [(folder, earlier) for folder, earlier in alike if ledger.run(earlier.run) is not None]
        if not known:
            return
        self._found = True
        folder, earlier = max(known, key=lambda found: found[1].started_at)
        with RunJournal(folder) as journal:
            for row in journal.rows_that_are(OutcomeKind.DONE_BEFORE):
                self._done.add(row)
        for row in ledger.rows_done(earlier.run):
            self._done.add(row)
        self._standing = _standing(folder)
        self._next = next(self._standing, None)

    @property
    def knows_any(self) -> bool:
        """Whether an earlier run was found."""
        return self._found

    def verdict(self, row: int) -> Outcome | None:
        """What was said of a row and still holds; None where it has to be worked out."""
        while self._next is not None and self._next.row < row:
            try:
                self._next = next(self._standing, None)
            except (UnusableInput, StoppedEarly):  # what cannot be remembered is worked out again
                self._next = None
        if self._next is not None and self._next.row == row:
            return self._next
        return Outcome(row, OutcomeKind.DONE_BEFORE) if row in self._done else None


def _standing(folder: Path) -> Iterator[Outcome]:
    """The verdicts of a run that rest on file and mapping alone, in row order; and those that say more than done."""
    with RunJournal(folder) as journal:
        yield from journal.outcomes_that_are(_STANDING, or_say_more=OutcomeKind.DONE_BEFORE)


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
