"""The runs of one source and of the results files that descend from it: what became of each row over all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from importer.extract import ReadingLimits, Sheet
from importer.ledger import LedgerStore, Scope, open_existing_ledger
from importer.load import IMPORTED_WITH_OTHER_DATA
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import Problem, StoppedEarly, UnusableInput
from importer.report import ReportedRow, RunFacts, Summary, SummaryCounter, csv_file
from importer.runs.finalize import outcome_of_state
from importer.runs.journal import JOURNAL, RowSet, RunJournal
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.private_copies import sheet_of
from importer.runs.row_selection import Routed
from importer.runs.run_report import facts_of
from importer.runs.same_rows import names_of, same_person, unmoved_rows
from importer.settings import Settings

_DONE: Final = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
_SENT: Final = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)


class _Runs:
    """The runs of a results folder, and which row of an original each of their rows corrects."""

    def __init__(self, settings: Settings) -> None:
        self._limits = ReadingLimits.of(settings)
        self._opened: dict[str, Sheet] = {}  # the last few: a workbook takes a second to open
        self.all = {manifest.run: (folder, manifest) for folder, manifest in manifests_in(settings.out)}

    def sheet(self, run: str) -> Sheet:
        if run not in self._opened:
            self._opened = dict([*self._opened.items(), (run, sheet_of(*self.all[run], self._limits))][-3:])
        return self._opened[run]

    def lines_to(self, originals: Collection[str]) -> dict[str, list[str]]:
        """The runs that sent corrected rows of an original, oldest first, each with its way back to the original."""
        lines = {
            run: self._line_to(originals, run) for run, (_, one) in self.all.items() if one.corrects or one.copy_of
        }
        sent = {run: line for run, line in lines.items() if len(line) > 1 and not self.all[run][1].dry_run}
        return dict(sorted(sent.items(), key=lambda found: self.all[found[0]][1].started_at))

    def _line_to(self, originals: Collection[str], run: str) -> list[str]:
        line = [run]
        while line[-1] not in originals:
            before = self.before(line[-1], originals)
            if before is None or before in line:
                return []
            line.append(before)
        return line

    def before(self, run: str, originals: Collection[str] = ()) -> str | None:
        """The run whose rows a run corrects; of an annotated copy any run of its original, as they have equal files."""
        manifest = self.all[run][1] if run in self.all else None
        if manifest is None or manifest.copy_of is None:
            return manifest.corrects if manifest else None
        same = [
            run
            for run, (_, one) in self.all.items()
            if one.sha256 == manifest.copy_of and one.options.sheet == manifest.options.sheet
        ]
        return next((run for run in same if run in originals), same[0] if same else None)

    def rows_before(self, run: str, before: str) -> Iterator[tuple[int, Row]]:
        """Each row of a run, with the number of the row in the run before that it corrects."""
        manifest = self.all[run][1]
        if manifest.copy_of is not None:
            return unmoved_rows(self.sheet(run), self.sheet(before), manifest.identity)
        return _corrected(self.sheet(run))

    def corrected_rows(self, rows: Iterable[tuple[int, Row]], line: Sequence[str]) -> Iterator[tuple[int, Row]]:
        """Each row with the number of the row in the last run of the line; `rows`: with its number in the first."""
        before = [{row.number: number for number, row in self.rows_before(*pair)} for pair in pairwise(line)]
        for first, row in rows:
            number: int | None = first
            for numbers in before:
                number = numbers.get(number) if number is not None else None
            if number is not None:
                yield number, row

    def entered(self, line: Sequence[str], ledger: LedgerStore) -> Iterator[tuple[Row, Row]]:
        """The rows of an original whose correction is done, each with its correction, if that is proven.

        The ledger confirms that the corrected row is done, and it is the same person: e-mail or name are unchanged, of
        a candidate with several rows in one of them.
        """
        manifest = self.all[line[0]][1]
        if ledger.run(manifest.run) is None or names_of(self.sheet(line[0])) != names_of(self.sheet(line[-1])):
            return
        done = _done(*self.all[line[0]], ledger)
        corrected: dict[int, Row | None] = {}
        for number, row in self.corrected_rows(self.rows_before(*line[:2]), line[1:]):
            # If a row was copied and only one of the two was entered, it is not known which one is the original.
            corrected[number] = row if row.number in done and corrected.get(number, row) is not None else None
        originals = self.sheet(line[-1]).rows()
        pairs = [(row, after) for row in originals if (after := corrected.get(row.number)) is not None]
        same = RowSet()
        for row, after in pairs:
            if any(same_person(row, after, columns) for columns in manifest.identity):
                same.add(after.number)
        same.add_groups(manifest.groups)
        yield from (pair for pair in pairs if pair[1].number in same)


def _done(folder: Path, manifest: RunManifest, ledger: LedgerStore) -> RowSet:
    """The rows of a run that are done, as the ledger confirms; of a candidate with several rows all of them."""
    done = RowSet()
    for row in ledger.rows_done(manifest.run):
        done.add(row)
    if (folder / JOURNAL).is_file():
        with RunJournal(folder) as journal:
            for row in journal.rows_imported_before():
                done.add(row)
    done.add_groups(manifest.groups)
    return done


def _corrected(sheet: Sheet) -> Iterator[tuple[int, Row]]:
    return ((row.corrects, row) for row in sheet.rows() if row.corrects is not None)


# --- when the original is run again -------------------------------------------------------------


class Correction(NamedTuple):
    """What is known of a row that was entered in another form. `cells`: a digest of the row as it was then."""

    problem: Problem
    cells: bytes


class Corrections:
    """The rows of a source that were entered in another form: after or before a correction. Falsy if there are none."""

    def __init__(self, found: Mapping[int, Correction]) -> None:
        self._found = found

    def __bool__(self) -> bool:
        return bool(self._found)

    def outcome(self, row: Row) -> Outcome | None:
        """The outcome of a row that was entered in another form, and is unchanged itself; None for any other."""
        members = row.members or (row,)
        known = [self._found.get(member.number) for member in members]
        if not all(one and one.cells == _digest(member.cells) for one, member in zip(known, members, strict=True)):
            return None
        (first, *_) = filter(None, known)
        return Outcome(row.number, OutcomeKind.ALREADY_IMPORTED, problems=(first.problem,))


def find_corrections(
    sha256: str, file: str, sheet: Sheet, corrects: str | None, scope: Scope, settings: Settings
) -> Corrections:
    """The rows of a source (its SHA-256 and name) whose corrections were entered at the same target.

    A file of the same name may have grown since: its rows are compared one by one. corrects: of a results file, its
    run; then also the rows that were entered with another e-mail address, from the original or by another correction.
    """
    runs = _Runs(settings)
    originals = [
        run for run, (_, one) in runs.all.items() if one.sha256 == sha256 or (one.file == file and not one.corrects)
    ]
    lines = [line for run, line in runs.lines_to(originals).items() if runs.all[run][1].scope == scope]
    ledger = open_existing_ledger(settings.ledger_address) if lines or corrects else None
    found: dict[int, Correction] = {}
    if ledger is None:
        return Corrections(found)
    with ledger:
        for line in lines:
            manifest = runs.all[line[0]][1]
            try:
                if names_of(runs.sheet(line[0])) != names_of(sheet):
                    continue
                for before, after in runs.entered(line, ledger):
                    has_more = manifest.children or manifest.groups  # what was corrected may be elsewhere
                    if before.cells != after.cells or has_more:  # the ledger knows other rows by their e-mail
                        message = (
                            f"corrected and imported by run {manifest.run} from {manifest.file}, row {after.number}"
                        )
                        found[before.number] = Correction(Problem("imported-corrected", message), _digest(before.cells))
            except (UnusableInput, StoppedEarly):  # its files were changed: nothing is proven
                continue
        with suppress(UnusableInput, StoppedEarly):
            found |= _entered_otherwise(runs, corrects, sheet, scope, ledger) if corrects else {}
    return Corrections(found)


def _entered_otherwise(
    runs: _Runs, corrects: str, sheet: Sheet, scope: Scope, ledger: LedgerStore
) -> dict[int, Correction]:
    """The rows of a results file of this run whose person was entered with another e-mail address."""
    line = [corrects]
    while (before := runs.before(line[-1])) is not None and before not in line:
        line.append(before)
    if line[-1] not in runs.all or names_of(runs.sheet(line[-1])) != names_of(sheet):
        return {}
    pairs = list(runs.corrected_rows(_corrected(sheet), line))
    wanted, sha256 = {number for number, _ in pairs}, runs.all[line[-1]][1].sha256
    entered: dict[int, tuple[RunManifest, Row]] = {}
    originals = [run for run, (_, one) in runs.all.items() if one.sha256 == sha256 and one.corrects is None]
    for run in originals:
        folder, manifest = runs.all[run]
        if manifest.scope == scope and not manifest.dry_run and ledger.run(run) is not None:
            done, original = _done(folder, manifest, ledger), runs.sheet(run)
            if names_of(original) == names_of(sheet):
                rows = (row for row in original.rows() if row.number in wanted and row.number in done)
                entered |= {row.number: (manifest, row) for row in rows}
    for run, way in runs.lines_to(originals).items():
        manifest = runs.all[run][1]
        if manifest.scope == scope and names_of(runs.sheet(run)) == names_of(sheet):
            entered |= {before.number: (manifest, after) for before, after in runs.entered(way, ledger)}
    found = {}
    for number, row in pairs:
        if number in entered:
            manifest, other = entered[number]
            emails, names = manifest.identity
            if same_person(row, other, names) and not same_person(row, other, emails):
                problem = Problem(
                    IMPORTED_WITH_OTHER_DATA,
                    f"sent with another e-mail address by run {manifest.run} from {manifest.file}, row {other.number}; "
                    "this row was not sent",
                    "for a correction, change the candidate in the service; for a different person, clear import_row",
                )
                found[row.number] = Correction(problem, _digest(row.cells))
    return found


def _digest(cells: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(cells).encode("utf-8", "surrogatepass")).digest()


# --- over all runs ------------------------------------------------------------------------------


@dataclass(slots=True)
class SourceStatus:
    """What became of the rows of a source, of a workbook one sheet, at one target, over all its runs (oldest first).

    `last`: the last run of the source itself. A row that is done stays done, whatever a later run says of it.
    """

    scope: Scope
    last: RunManifest
    folder: Path
    sheet: Sheet
    runs: list[str] = field(default_factory=list)
    _corrections: set[str] = field(default_factory=set)
    _done: dict[int, OutcomeKind] = field(default_factory=dict)
    _open: dict[int, tuple[Outcome, str]] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[ReportedRow, str]]:
        """Each row of the source with its outcome, and the run that reported it; "" if that does not matter."""
        routed = self.last.selection.routed
        for row in self.sheet.rows():
            if routed is not None and not routed.takes(row) and row.number not in self._done:
                continue
            kind = self._done.get(row.number)
            known = Outcome(row.number, kind) if kind else None
            outcome, run = (known, "") if known else self._open.get(row.number, (_NEVER_SENT, ""))
            yield ReportedRow(row, Outcome(row.number, outcome.kind, outcome.status, problems=outcome.problems)), run

    @property
    def facts(self) -> RunFacts:
        """The facts of the last run."""
        return facts_of(self.last, self.sheet)

    def summarize(self) -> tuple[Summary, tuple[Path, ...], tuple[str, ...]]:
        """The summary over all runs, the results files with the rows to fix, and the runs of corrections to resume."""
        counter, to_fix, to_resume = SummaryCounter(), dict[Path, None](), dict[str, None]()
        for reported, run in self.rows():
            counter.add(reported)
            if run and reported.outcome.kind in (OutcomeKind.INVALID, OutcomeKind.REJECTED):
                to_fix[self.folder.parent / run / csv_file(reported.outcome.kind)] = None
            elif run in self._corrections:
                to_resume[run] = None
        return counter.summary(self.facts, ()), tuple(to_fix), tuple(to_resume)

    def add(self, row: int, outcome: Outcome, run: str) -> None:
        """Take the outcome of a row in a later run. One that sent nothing does not change what the service answered."""
        if row in self._done:
            return
        known = self._open[row][0].kind if row in self._open else None
        if outcome.kind in _DONE:
            self._done[row] = outcome.kind
            self._open.pop(row, None)
        elif (
            known is None or outcome.kind in _SENT or (known not in _SENT and outcome.kind is not OutcomeKind.NOT_SENT)
        ):
            self._open[row] = outcome, run


_NEVER_SENT: Final = Outcome(0, OutcomeKind.NOT_SENT, problems=(Problem("not-sent", "no run has sent this row yet"),))


def source_status(sha256: str, settings: Settings) -> tuple[SourceStatus, ...]:
    """What became of each row of the file with this SHA-256, of each sheet and at each target. Changes nothing.

    Raises:
        UnusableInput: the files of a run were changed.
    """
    runs = _Runs(settings)
    own = [run for run, (_, one) in runs.all.items() if one.sha256 == sha256 and one.corrects is None]
    lines = runs.lines_to(own)
    found: dict[tuple[Scope, str | None], SourceStatus] = {}
    ledger = open_existing_ledger(settings.ledger_address)
    if ledger is None:
        return ()
    with ledger:
        for run in sorted({*own, *lines}, key=lambda run: runs.all[run][1].started_at):
            folder, manifest = runs.all[run]
            if manifest.dry_run:
                continue
            if manifest.is_split:
                if run in own:
                    _add_blocked(found, folder, manifest, runs.sheet(run))
                continue
            assert manifest.scope is not None
            sheet = runs.sheet(run if run in own else lines[run][-1])
            key = manifest.scope, sheet.origin.sheet
            if run in own:
                status = SourceStatus(manifest.scope, manifest, folder, sheet)
                before = found.get(key)
                if before is not None:
                    status.runs, status._corrections = before.runs, before._corrections
                    status._done, status._open = before._done, before._open
                found[key] = status
            elif key not in found and runs.all[lines[run][-1]][1].scope == manifest.scope:  # so far only checked
                before_it, checked = runs.all[lines[run][-1]]
                found[key] = SourceStatus(manifest.scope, replace(checked, dry_run=False), before_it, sheet)
            if key in found:
                _add_run(found[key], runs, run, lines.get(run, []), ledger)
    return tuple(found.values())


def _add_blocked(
    found: dict[tuple[Scope, str | None], SourceStatus], folder: Path, whole: RunManifest, sheet: Sheet
) -> None:
    """A status for each target of a run that was blocked, and that no run has sent rows to."""
    for target in whole.targets:
        key = Scope(whole.service, target.target), sheet.origin.sheet
        if target.blocked and key not in found and whole.route_column is not None:
            routed = replace(whole.selection, routed=Routed(whole.route_column, target.words))
            last = replace(whole, targets=(target,), mapping=target.mapping, route_column=None, selection=routed)
            found[key] = SourceStatus(key[0], last, folder, sheet, [whole.run])


def rows_without_target(found: Sequence[SourceStatus]) -> list[int]:
    """The rows of a source that no mapping of a folder takes: the status of no target has them."""
    known = {(one.sheet.origin.sheet, reported.row.number) for one in found for reported, _ in one.rows()}
    sheets = {one.sheet.origin.sheet: one.sheet for one in found}
    return [row.number for title, sheet in sheets.items() for row in sheet.rows() if (title, row.number) not in known]


def _add_run(status: SourceStatus, runs: _Runs, run: str, line: Sequence[str], ledger: LedgerStore) -> None:
    status.runs.append(run)
    if not line:
        for each in _outcomes(*runs.all[run], ledger):
            status.add(each.row, each, run)
        return
    status._corrections.add(run)
    outcomes = {each.row: each for each in _outcomes(*runs.all[run], ledger)}
    proven = {after.number for _, after in runs.entered(line, ledger)}
    for number, row in runs.corrected_rows(runs.rows_before(*line[:2]), line[1:]):
        after = outcomes.get(row.number)
        if after is not None and (after.kind not in _DONE or row.number in proven):
            status.add(number, after, run)


def _outcomes(folder: Path, manifest: RunManifest, ledger: LedgerStore) -> Iterator[Outcome]:
    """The outcomes of a run; of one that was killed or is running also those that only the ledger knows."""
    if manifest.ending is None:
        yield from map(outcome_of_state, ledger.row_states(manifest.run))
    if (folder / JOURNAL).is_file():
        with RunJournal(folder) as journal:
            yield from journal.outcomes()
