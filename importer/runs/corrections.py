"""Rows of a source that were corrected in a results file and entered from there, by this run's earlier runs."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from importer.extract import ReadingLimits
from importer.ledger import LedgerStore, Scope, open_existing_ledger
from importer.mapping import ResolvedMapping
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import Column, Problem, StoppedEarly, UnusableInput
from importer.runs.journal import JOURNAL, RowSet, RunJournal
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.private_copies import sheet_of
from importer.settings import Settings


class Correction(NamedTuple):
    """The run that entered a corrected row, its file, and the row there. `cells`: a digest of the original row."""

    run: str
    file: str
    row: int
    cells: bytes


class Corrections:
    """The rows of a source that were entered after a correction; () for none. Call it with a row as it is read now.

    A row is known only if all of this is proven: a results file of a run of this source, in which `import_row` names
    the row, was imported to the same target; the ledger says that its row is done; it is still the same person
    (the e-mail or the name is unchanged); and the original row has not changed since.
    """

    def __init__(self, found: Mapping[int, Correction] | None = None) -> None:
        self._found = found or {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def outcome(self, row: Row) -> Outcome | None:
        """The outcome of a row that was entered after a correction; None for any other row."""
        members = row.members or (row,)
        known = [self._found.get(member.number) for member in members]
        if not all(one and one.cells == _digest(member.cells) for one, member in zip(known, members, strict=True)):
            return None
        (first, *_) = filter(None, known)
        message = f"corrected and imported by run {first.run} from {first.file}, row {first.row}"
        return Outcome(row.number, OutcomeKind.ALREADY_IMPORTED, problems=(Problem("imported-corrected", message),))


class _Runs:
    """The runs of a results folder, and which row of an original each of their rows corrects."""

    def __init__(self, settings: Settings) -> None:
        self._limits = ReadingLimits.of(settings)
        self.all = {manifest.run: (folder, manifest) for folder, manifest in manifests_in(settings.out)}

    def rows(self, run: str) -> Iterator[Row]:
        folder, manifest = self.all[run]
        return sheet_of(folder, manifest, self._limits).rows()

    def columns(self, run: str) -> list[str]:
        folder, manifest = self.all[run]
        return [column.name for column in sheet_of(folder, manifest, self._limits).columns]

    def line_to(self, originals: Collection[str], run: str) -> list[str]:
        """The runs from a corrected one back to an original; [] if it does not descend from one."""
        line = [run]
        while line[-1] not in originals:
            before = self.all[line[-1]][1].corrects if line[-1] in self.all else None
            if before is None or before in line:
                return []
            line.append(before)
        return line

    def corrected_rows(self, line: Sequence[str]) -> Iterator[tuple[int, Row]]:
        """Each row of the first run of a line, with the number of the row in its last run that it corrects."""
        before = [{row.number: row.corrects for row in self.rows(run)} for run in line[1:-1]]
        for row in self.rows(line[0]):
            number = row.corrects
            for rows in before:
                number = rows.get(number) if number is not None else None
            if number is not None:
                yield number, row


def find_corrections(
    manifest: tuple[str, str, Sequence[Column]], scope: Scope, mapping: ResolvedMapping, settings: Settings
) -> Corrections:
    """The corrections of a source, which is given by its SHA-256, its name and its columns."""
    sha256, file, columns = manifest
    runs = _Runs(settings)
    originals = {
        run for run, (_, one) in runs.all.items() if one.sha256 == sha256 or (one.file == file and not one.corrects)
    }
    lines = {
        run: line
        for run, (_, one) in runs.all.items()
        if one.corrects and one.scope == scope and not one.dry_run and len(line := runs.line_to(originals, run)) > 1
    }
    ledger = open_existing_ledger(settings.ledger_address) if lines else None
    if ledger is None:
        return Corrections()
    found: dict[int, Correction] = {}
    with ledger:
        for run, line in lines.items():
            if ledger.run(run) is None:
                continue
            try:
                names = [column.name for column in columns]
                if runs.columns(run) == runs.columns(line[-1]) == names:
                    found |= _entered(runs, line, ledger, mapping)
            except (UnusableInput, StoppedEarly):  # its files were changed: nothing is proven
                continue
    return Corrections(found)


def _entered(runs: _Runs, line: Sequence[str], ledger: LedgerStore, mapping: ResolvedMapping) -> dict[int, Correction]:
    """The corrected rows of one run that are done, by the row of the original."""
    folder, manifest = runs.all[line[0]]
    done = _done(folder, manifest, ledger)
    candidate = mapping.candidate
    email = [column.index for column in candidate.email.columns]
    name = [column.index for each in (candidate.first_name, candidate.last_name) for column in each.columns]
    corrected: dict[int, Row | None] = {}
    for number, row in runs.corrected_rows(line):
        # If a row was copied and only one of the two was entered, it is not known which one is the original.
        corrected[number] = row if row.number in done and corrected.get(number, row) is not None else None
    found = {}
    for original in runs.rows(line[-1]):
        after = corrected.get(original.number)
        if after is None or after.cells == original.cells:  # the ledger knows an unchanged row by its e-mail
            continue
        if _same(original, after, email) or _same(original, after, name):
            found[original.number] = Correction(manifest.run, manifest.file, after.number, _digest(original.cells))
    return found


def _done(folder: Path, manifest: RunManifest, ledger: LedgerStore) -> RowSet:
    """The rows of a run that are done, as the ledger confirms; of a candidate with several rows all of them."""
    done = RowSet()
    for row in ledger.rows_done(manifest.run):
        done.add(row)
    if (folder / JOURNAL).is_file():
        with RunJournal(folder) as journal:
            for row in journal.rows_imported_before():
                done.add(row)
    for rows in manifest.groups:
        if rows[0] in done:
            for row in rows:
                done.add(row)
    return done


def _same(one: Row, other: Row, columns: Sequence[int]) -> bool:
    """Whether these cells are equal, and one of them is filled."""
    cells = [one.cells[index].strip() for index in columns]
    return any(cells) and cells == [other.cells[index].strip() for index in columns]


def _digest(cells: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(cells).encode("utf-8", "surrogatepass")).digest()
