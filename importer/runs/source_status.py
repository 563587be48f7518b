"""What became of each row of a source over all its runs, for `importer status`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from importer.ledger import Scope, open_existing_ledger
from importer.models import IN_SERVICE, TO_FIX, Outcome, OutcomeKind
from importer.problems import Problem
from importer.report.accounting import ReportedRow, SummaryCounter
from importer.report.outcomes import WORKBOOK_FILE
from importer.report.summary import RunFacts, Summary
from importer.runs.finalize import outcome_of_state
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.row_selection import ALL_ROWS
from importer.runs.run_report import facts_of, refuse_missing
from importer.runs.table import TABLE, RunTable
from importer.settings import Settings
from importer.sources import Sheet, open_sheet

_SENT: Final = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCONFIRMED)


@dataclass(slots=True)
class SourceStatus:
    """What became of the rows of a source, of a workbook one sheet, at one target, over all its runs (oldest first).

    `last`: the last run of the source itself, if there is one: later ones only continue it, or have corrections;
    `newest`: of all; is_corrected: one of them has corrections. A row that is done stays done, whatever a later run
    says of it.
    """

    scope: Scope
    last: RunManifest
    newest: RunManifest
    folder: Path
    sheet: Sheet
    is_corrected: bool = False
    runs: list[str] = field(default_factory=list)
    _done: dict[int, Outcome] = field(default_factory=dict)
    _open: dict[int, tuple[Outcome, str]] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[ReportedRow, str]]:
        """Each row of the source with its outcome, and the run that reported it; "" if that does not matter."""
        for row in self.sheet.rows():
            known = self._done.get(row.number)
            outcome, run = (known, "") if known else self._open.get(row.number, (_NEVER_SENT, ""))
            yield ReportedRow(row, replace(outcome, row=row.number, attempts=0)), run

    @property
    def facts(self) -> RunFacts:
        """The facts of the newest run; while rows were in no run, of the last one that reads them."""
        is_new = any(row.number not in self._done and row.number not in self._open for row in self.sheet.rows())
        return facts_of(self.last if is_new else self.newest, self.sheet)

    def summarize(self) -> tuple[Summary, tuple[Path, ...]]:
        """The summary over all runs, and the folders of those with rows to fix in their report."""
        counter = SummaryCounter(self.last.identity)
        to_fix = dict[Path, None]()
        for reported, run in self.rows():
            counter.add(reported)
            if run and reported.outcome.kind in TO_FIX:
                to_fix[self.folder.parent / run] = None
        needed = WORKBOOK_FILE, self.last.source  # importer forget removes the copy
        reports = tuple(each for each in to_fix if all((each / name).is_file() for name in needed))
        return counter.summary(self.facts, ()), reports

    def add_all(self, outcomes: Iterable[Outcome], run: str) -> None:
        """Take those of a later run. A row that was not sent in it was valid, whatever an earlier run has found wrong
        with it; but that does not change what the service answered.
        """
        for outcome in outcomes:
            if outcome.row not in self._done:
                self._add(outcome.row, outcome, run)

    def _add(self, row: int, outcome: Outcome, run: str) -> None:
        known = self._open[row][0].kind if row in self._open else None
        is_sent = outcome.kind in _SENT and not (outcome.kind is OutcomeKind.UNCONFIRMED and not outcome.attempts)
        is_newer = known not in _SENT
        is_left_out = outcome.kind is OutcomeKind.FILTERED and known is not OutcomeKind.UNCONFIRMED
        if outcome.kind in IN_SERVICE:
            self._done[row] = Outcome(row, outcome.kind, candidate_id=outcome.candidate_id)
            self._open.pop(row, None)
        elif known is None or is_sent or is_newer or is_left_out:
            self._open[row] = outcome, run


_NEVER_SENT: Final = Outcome(0, OutcomeKind.NOT_SENT, problems=(Problem("not-sent", "no run has sent this row yet"),))


def source_status(sha256: str, settings: Settings) -> tuple[SourceStatus, ...]:
    """What became of each row of the file with this SHA-256, of each sheet and at each target. Changes nothing.

    Raises UnusableInput: the files of a run were changed.
    """
    found: dict[tuple[Scope, str | None], SourceStatus] = {}
    every = [each for each in manifests_in(settings.out) if each[1].sha256 == sha256 and not each[1].dry_run]
    own = [each for each in every if each[1].selection.part is None or each[1].selection.part.number]  # joins no parts
    with open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        for folder, manifest in sorted(own, key=lambda each: each[1].started_at):
            sheet = _sheet_of(folder, manifest)
            key = manifest.scope, sheet.origin.sheet
            status = found.setdefault(key, SourceStatus(manifest.scope, manifest, manifest, folder, sheet))
            status.newest = manifest
            if not manifest.continues or status.last.continues:
                status.last, status.folder, status.sheet = manifest, folder, sheet
            status.runs.append(manifest.run)
            if not (folder / TABLE).is_file():
                continue
            with RunTable(folder) as table:
                status.is_corrected |= bool(table.corrections)
                if manifest.ending is None:  # killed, or running: some rows have no outcome, or only the ledger has it
                    status.add_all(_as_checked(table), manifest.run)
                    if ledger is not None:
                        of_first = map(outcome_of_state, ledger.row_states(manifest.run))
                        status.add_all(_as_sent(table, of_first), manifest.run)
                status.add_all(table.outcomes(), manifest.run)
    return tuple(found.values())


def _as_sent(table: RunTable, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Those that the ledger knows by the first row of a candidate, for all of its rows."""
    rows = {one.rows[0]: one.rows for one in table.kept() if len(one.rows) > 1}
    return (replace(each, row=row) for each in outcomes for row in rows.get(each.row, (each.row,)))


def _as_checked(table: RunTable) -> Iterator[Outcome]:
    """What was known of the rows of a run before it began to send."""
    return (replace(one.if_not_sent, row=row) for one in table.kept() for row in one.rows)


def _sheet_of(folder: Path, manifest: RunManifest) -> Sheet:
    """All rows of a source, also those that a run did not select."""
    refuse_missing(folder)
    if manifest.selection != ALL_ROWS and (folder / manifest.source).is_file():  # importer forget removes copies
        return open_sheet(folder / manifest.source, manifest.options, shown_as=manifest.file)
    with RunTable(folder) as table:
        return table.sheet
