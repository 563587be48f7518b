"""The report of a run, made from its table and its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from importer.models import Outcome, OutcomeKind, Row
from importer.problems import DamagedRun, FilePlace, Problem, unusable_file
from importer.report.accounting import pair
from importer.report.csv_files import cells, header
from importer.report.summary import RunFacts, SourceSummary, Summary
from importer.report.write import write_report
from importer.runs.manifest import RunManifest, part_folders, read_manifest
from importer.runs.row_selection import route_word
from importer.runs.table import TABLE, RunTable
from importer.sources import Sheet
from importer.text.normalize import closest

if TYPE_CHECKING:
    import pandas

CONTINUE_HINT = "continue with importer resume, or run the same command again; completed rows are skipped"
NO_PERSONAL_DATA: Final = "--no-personal-data"


def rewrite_report(folder: Path, *, personal_data: bool = True) -> Summary:
    """Write the report of a run from its tables and its manifest.

    personal_data: whether report.html may quote cells, unless the run was told that it may not.

    Raises:
        UnusableInput: a table is missing or damaged; the existing report stays.
    """
    manifest = read_manifest(folder)
    if manifest.is_split:
        for part in part_folders(folder, manifest):
            if read_manifest(part).ending is not None:
                rewrite_report(part, personal_data=personal_data)
    return report_of_whole(folder, manifest, personal_data=personal_data)


def report_of_whole(folder: Path, manifest: RunManifest, *, personal_data: bool = True) -> Summary:
    """Like `rewrite_report`, but without writing the reports of its targets again."""
    with _opened(folder, manifest) as (facts, rows, outcomes):
        shown = replace(facts, personal_data=facts.personal_data and personal_data)
        return write_report(folder, shown, rows, outcomes)


def rows_as_frame(folder: Path) -> pandas.DataFrame:
    """Each row of a run with its outcome: the columns of its CSV files, all text, indexed by the row in the file.

    Raises:
        UnusableInput: it is not the folder of a run that has ended, or its table is missing or damaged.
    """
    import pandas as pd  # imported late: it takes half a second

    manifest = read_manifest(folder)
    if manifest.ending is None:
        raise unusable_file("run-unreadable", "the run has not ended", CONTINUE_HINT, folder)
    with _opened(folder, manifest) as (facts, rows, outcomes):
        reported = list(pair(rows, outcomes))
        numbers = pd.Index([one.row.number for one in reported], name="row")
        return pd.DataFrame([cells(one, facts) for one in reported], numbers, header(facts), dtype=str)


@contextmanager
def _opened(folder: Path, manifest: RunManifest) -> Iterator[tuple[RunFacts, Iterator[Row], Iterator[Outcome]]]:
    """What reports are made from: the facts of a run, its rows, and an outcome for each of them."""
    refuse_missing(folder)
    with ExitStack() as stack:
        table = stack.enter_context(RunTable(folder))
        outcomes = _outcomes_of_parts(folder, manifest, table, stack) if manifest.is_split else table.outcomes()
        yield facts_of(manifest, table.sheet), table.rows(), outcomes


def refuse_missing(folder: Path) -> None:
    """Raise DamagedRun if the table of a run is missing: opening it would create an empty one."""
    if not (path := folder / TABLE).is_file():
        hint = "restore it from a backup, or run the same import again; the ledger knows what was sent"
        raise DamagedRun(Problem("source-copy-changed", "the table of the run is missing", hint, FilePlace(str(path))))


def facts_of(manifest: RunManifest, sheet: Sheet) -> RunFacts:
    """The facts about a run for its report."""
    ending = manifest.ending
    return RunFacts(
        run=manifest.run,
        target=manifest.target,
        mapping=manifest.mapping,
        source=SourceSummary(
            sheet.origin.file,
            sheet.origin.sheet,
            manifest.sha256,
            sheet.reading,
            blank_rows=manifest.blank_rows,
            taken=manifest.taken,
        ),
        columns=sheet.columns,
        delimiter=sheet.delimiter,
        has_ids=not manifest.dry_run and any(part.target.key == "talent_pool" for part in manifest.targets),
        started_at=manifest.started_at,
        ended_at=ending.at if ending else None,
        finished=ending.finished if ending else False,
        exit_code=ending.exit_code if ending else None,
        stopped=ending.stopped if ending else None,
        sandbox=manifest.sandbox,
        dry_run=manifest.dry_run,
        warnings=manifest.warnings,
        identity=manifest.identity,
        flags=manifest.flags,
        continues=manifest.continues,
        personal_data=NO_PERSONAL_DATA not in manifest.flags,
    )


def _outcomes_of_parts(folder: Path, manifest: RunManifest, table: RunTable, stack: ExitStack) -> Iterator[Outcome]:
    """The outcome of each row, from the table of the run that it was routed to; or that of the whole run, of a row
    without a target that is known again."""
    kept = {folder.name: table.outcomes()}
    for part in part_folders(folder, manifest):
        if (part / TABLE).is_file():  # it has none before it starts
            kept[part.name] = stack.enter_context(RunTable(part)).outcomes()
    target_of = {word: target for target in manifest.targets for word in target.words}
    waiting = {run: next(outcomes, None) for run, outcomes in kept.items()}
    assert manifest.route_column is not None
    for row in table.rows():
        target = target_of.get(route_word(row, manifest.route_column))
        run = target.run if target else manifest.run
        outcome = waiting.get(run)
        if outcome is not None and outcome.row == row.number:
            yield outcome
            waiting[run] = next(kept[run], None)
        elif target is None:
            yield Outcome(row.number, OutcomeKind.INVALID, problems=(_no_route(row, manifest, table.sheet),))
        elif target.blocked:
            problem = Problem("target-blocked", f"nothing was sent to {target.target}: {target.blocked}", CONTINUE_HINT)
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(problem,))
        else:
            message = f"the run {target.run} was killed before this row was sent"
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(Problem("run-killed", message, CONTINUE_HINT),))


def _no_route(row: Row, manifest: RunManifest, sheet: Sheet) -> Problem:
    assert manifest.route_column is not None
    column = sheet.columns[manifest.route_column]
    text = row.cells[column.index].strip()
    near = (
        closest(text, [word for target in manifest.targets for word in target.written or target.words])
        if text
        else None
    )
    proposal = f"did you mean '{near}'? " if near else ""
    return Problem(
        "value-unknown",
        f"no mapping takes rows with '{text}' in this column"
        if text
        else "no mapping takes rows where this column is blank",
        f"{proposal}correct it, or add it under route: in a mapping in {manifest.mapping}",
        row.place(column),
    )
