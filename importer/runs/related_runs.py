"""The runs of a file and of the results files and copies that descend from it; and the proof which row a row is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from importer.extract import ReadingLimits, Sheet
from importer.ledger import DONE, Ledger, State
from importer.models import Row
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.private_copies import sheet_of
from importer.runs.row_selection import RowSet
from importer.settings import Settings


class Form(NamedTuple):
    """A row of an original, and the form in which a run has sent it; the cells of both in the order of the original.

    identity: the indexes of the columns of the e-mail, and those of the name. is_done: the ledger confirms that it was
    entered; otherwise it may have been. is_proven: both are the same person, and no other row is a form of this one.
    by_it: this run has entered it, not another one whose rows it skipped.
    """

    manifest: RunManifest
    original: Row
    row: Row
    identity: Sequence[Sequence[int]]
    is_done: bool
    is_proven: bool
    by_it: bool


class Aligned:
    """A sheet with its cells in the order of the columns of another one; "" where it has no column of that name.

    is_complete: both have the same columns, in whatever order.
    """

    def __init__(self, sheet: Sheet, like: Sheet) -> None:
        self._sheet = sheet
        own, names = ([column.name for column in one.columns] for one in (sheet, like))
        self.is_complete = own == names or (sorted(own) == sorted(names) and len(set(own)) == len(own))
        indexes = {name: index for index, name in enumerate(own)} if len(set(own)) == len(own) else {}
        self._order = list(range(len(own))) if own == names else [indexes.get(name, -1) for name in names]
        self._is_same = own == names

    def row(self, row: Row) -> Row:
        if self._is_same:
            return row
        return replace(row, cells=tuple(row.cells[index] if index >= 0 else "" for index in self._order))

    def rows(self) -> Iterator[Row]:
        return map(self.row, self._sheet.rows())

    def identity(self, manifest: RunManifest) -> tuple[tuple[int, ...], ...]:
        """The indexes of the columns that name a person, in the other sheet."""
        known = self._order
        return tuple(tuple(known.index(one) for one in columns if one in known) for columns in manifest.identity)


class RelatedRuns:
    """The runs of a results folder, and which row of an original each of their rows is.

    A run with a list of corrections is there twice: the second time as a run that only checked the file as it stands,
    the original of its rows. own: a run that is being planned, which is the original of no other.
    """

    def __init__(self, settings: Settings, own: str = "") -> None:
        self.limits = ReadingLimits.of(settings)
        self._opened: dict[str, Sheet] = {}  # the last few: a workbook takes a second to open
        self.all = {manifest.run: (folder, manifest) for folder, manifest in manifests_in(settings.out)}
        for run, (folder, one) in tuple(self.all.items()):
            if one.corrects_itself and run != own:
                uncorrected = replace(one, corrections=None, copy_of=None, dry_run=True)
                self.all[f"{run} without corrections"] = folder, uncorrected

    def manifest(self, run: str) -> RunManifest:
        return self.all[run][1]

    def sheet(self, run: str) -> Sheet:
        if run not in self._opened:
            self._opened = dict([*self._opened.items(), (run, sheet_of(*self.all[run], self.limits))][-3:])
        return self._opened[run]

    def before(self, manifest: RunManifest, originals: Collection[str] = ()) -> str | None:
        """The run whose rows a run corrects; of a file with a list of corrections, any run of the file, as they
        have equal files.
        """
        if manifest.corrects is not None or manifest.copy_of is None:
            return manifest.corrects if manifest.corrects in self.all else None
        same = [
            run
            for run, (_, one) in self.all.items()
            if one.sha256 == manifest.copy_of
            and one.options.sheet == manifest.options.sheet
            and not one.corrects_itself
        ]
        return next((run for run in same if run in originals), same[0] if same else None)

    def line(self, run: str, originals: Collection[str] = ()) -> list[str]:
        """A run and those that it descends from, up to the first one of `originals`."""
        line = [run]
        while line[-1] not in originals:
            before = self.before(self.manifest(line[-1]), originals)
            if before is None or before in line:
                break
            line.append(before)
        return line

    def lines_to(self, originals: Collection[str]) -> dict[str, list[str]]:
        """The runs that sent other forms of an original's rows, oldest first, each with its way back to it."""
        known = [one for _, one in self.all.values() if one.descends and not one.dry_run]
        lines = [self.line(one.run, originals) for one in sorted(known, key=lambda one: one.started_at)]
        return {line[0]: line for line in lines if len(line) > 1 and line[-1] in originals}

    def numbers(self, manifest: RunManifest, sheet: Sheet, line: Sequence[str]) -> dict[int, int]:
        """The number in the last run of the line of each row of a run. line: the runs before it."""
        numbers = self._numbers(manifest, sheet)
        for run in line[:-1]:
            earlier = self._numbers(self.manifest(run), self.sheet(run))
            numbers = {row: earlier[number] for row, number in numbers.items() if number in earlier}
        return numbers

    def _numbers(self, manifest: RunManifest, sheet: Sheet) -> dict[int, int]:
        """The number in the run before, or in the uncorrected file, of each row of a run."""
        if manifest.corrects is not None:
            return {row.number: row.corrects for row in sheet.rows() if row.corrects is not None}
        return {row.number: row.number for row in sheet.rows()}

    def forms(self, line: Sequence[str], like: Sheet, ledger: Ledger) -> Iterator[Form]:
        """The forms in which the first run of the line sent rows of the original, which the last run has read; with
        their cells as in another sheet of the original.

        Proven is the same person if the e-mail, the name or most other cells are unchanged, of a candidate with several
        rows in one of them; or if a list says that the row was corrected.
        """
        folder, manifest = self.all[line[0]]
        if ledger.run(manifest.run) is None:
            return
        done, sent, own = _done_and_sent(folder, manifest, ledger)
        sheet = self.sheet(line[0])
        copy, original = Aligned(sheet, like), Aligned(self.sheet(line[-1]), like)
        numbers, identity = self.numbers(manifest, sheet, line[1:]), copy.identity(manifest)
        rows: dict[int, list[Row]] = {}
        for row in copy.rows():
            if row.number in numbers:
                rows.setdefault(numbers[row.number], []).append(row)
        pairs = [(row, after) for row in original.rows() for after in rows.get(row.number, ())]
        same = RowSet(
            after.number
            for row, after in pairs
            if manifest.corrects_itself
            or any(same_person(row, after, by) for by in identity)
            or mostly_same(row, after, identity)
        )
        same.add_groups(manifest.groups)
        for row, after in pairs:
            if after.number in sent:
                # If a row was copied and only one of the two was sent, and they have different names, it is not known
                # which one is the original.
                is_only = all(one.number in sent or same_person(one, after, identity[1]) for one in rows[row.number])
                is_proven = copy.is_complete and original.is_complete and is_only and after.number in same
                yield Form(manifest, row, after, identity, after.number in done, is_proven, after.number in own)

    def forms_of_original(self, run: str, like: Sheet, ledger: Ledger) -> Iterator[Form]:
        """The rows of an original that a run of it sent; with their cells as in another sheet of the original."""
        folder, manifest = self.all[run]
        if ledger.run(run) is not None:
            done, sent, own = _done_and_sent(folder, manifest, ledger)
            rows = Aligned(self.sheet(run), like)
            identity = rows.identity(manifest)
            for row in rows.rows():
                if row.number in sent:
                    yield Form(manifest, row, row, identity, row.number in done, True, row.number in own)


def _done_and_sent(folder: Path, manifest: RunManifest, ledger: Ledger) -> tuple[RowSet, RowSet, RowSet]:
    """The rows of a run that are done, and these with those that may be, as the ledger knows by now; and those that
    the run itself has entered.
    """
    states = list(ledger.row_states(manifest.run))
    done, own = (RowSet(one.row for one in states if one.state in DONE) for _ in range(2))
    sent = RowSet(one.row for one in states if one.state in (*DONE, State.UNCONFIRMED))
    if (folder / JOURNAL).is_file():
        with RunJournal(folder) as journal:
            for row in journal.rows_imported_before():
                done.add(row)
                sent.add(row)
    done.add_groups(manifest.groups)
    sent.add_groups(manifest.groups)
    own.add_groups(manifest.groups)
    return done, sent, own


# --- the same person ------------------------------------------------------------------------------


def cells_of(row: Row, columns: Sequence[int]) -> tuple[str, ...]:
    """These cells of a row, to be compared with others."""
    return identity_of(row.cells, columns)


def mostly_same(one: Row, other: Row, identity: Sequence[Sequence[int]]) -> bool:
    """Whether more than half of the cells that do not name the person, and are filled in either row, are equal."""
    named = {index for columns in identity for index in columns}
    pairs = [pair for index, pair in enumerate(zip(one.cells, other.cells, strict=True)) if index not in named]
    filled = [first == second for first, second in pairs if first or second]
    return sum(filled) * 2 > len(filled)


def same_person(one: Row, other: Row, columns: Sequence[int]) -> bool:
    """Whether these cells are equal, and one of them is filled."""
    return same_cells(one, other, columns) and any(cells_of(one, columns))


def same_cells(one: Row, other: Row, columns: Sequence[int]) -> bool:
    """Whether these cells are equal, apart from case."""
    return cells_of(one, columns) == cells_of(other, columns)


def identity_of(cells: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    """These cells of a row, as they are compared."""
    return tuple(cells[index].strip().casefold() for index in columns)
