"""The report of a run, made from what its folder keeps: the copy of its source, its journal, its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from importer.extract import ReadingLimits, Sheet, open_sheet
from importer.models import Outcome, OutcomeKind, Problem, Row
from importer.report import RunFacts, Summary, write_report
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import RunManifest, read_manifest, refuse_altered
from importer.runs.row_selection import route_word
from importer.settings import load_settings
from importer.text.normalize import closest

GO_ON = "importer resume goes on with it, or run the same command again: rows that are done are skipped"


def rewrite_report(folder: Path) -> Summary:
    """Write the report of a run from what is kept of it: the copy of its source, its journals and its manifest.

    Raises:
        UnusableInput: the copy or a journal is not what the run left; the report that is there stays.
    """
    manifest = read_manifest(folder)
    for part in part_folders(folder, manifest):
        if read_manifest(part).ending is not None:
            rewrite_report(part)
    return write_from_folder(folder, manifest)


def write_from_folder(folder: Path, manifest: RunManifest) -> Summary:
    refuse_altered(folder, manifest)
    sheet = sheet_of(folder, manifest)
    with ExitStack() as held:
        if manifest.is_split:
            outcomes = _outcomes_of_parts(folder, manifest, sheet, held)
        else:
            outcomes = held.enter_context(RunJournal(folder)).outcomes()
        return write_report(folder, facts_of(manifest, sheet), rows_of(manifest, sheet), outcomes)


def part_folders(folder: Path, manifest: RunManifest) -> tuple[Path, ...]:
    """The folders of the runs of its targets."""
    return tuple(folder.parent / run for run in manifest.parts)


def sheet_of(folder: Path, manifest: RunManifest) -> Sheet:
    limits = ReadingLimits.of(load_settings())  # those of today: more may be allowed than when the run was made
    return open_sheet(folder / manifest.source, manifest.options, limits, shown_as=manifest.file)


def rows_of(manifest: RunManifest, sheet: Sheet) -> Iterator[Row]:
    """The rows of a run as far as they could be read."""
    return islice(manifest.selection.of(sheet.rows()), manifest.rows)


def facts_of(manifest: RunManifest, sheet: Sheet) -> RunFacts:
    """What the report of a run tells of it."""
    ending = manifest.ending
    return RunFacts(
        run=manifest.run,
        target=manifest.target,
        mapping=manifest.mapping,
        origin=sheet.origin,
        sha256=manifest.sha256,
        reading=sheet.reading,
        columns=sheet.columns,
        delimiter=sheet.delimiter,
        knows_types=sheet.knows_types,
        started_at=manifest.started_at,
        ended_at=ending.at if ending else None,
        finished=ending.finished if ending else False,
        exit_code=ending.exit_code if ending else None,
        stop_reason=ending.stop_reason if ending else None,
        stop_hint=ending.stop_hint if ending else None,
        sandbox=manifest.sandbox,
        dry_run=manifest.dry_run,
        warnings=manifest.warnings,
        blank_rows=manifest.blank_rows,
    )


def _outcomes_of_parts(folder: Path, manifest: RunManifest, sheet: Sheet, held: ExitStack) -> Iterator[Outcome]:
    """The outcome of each row, from the journal of the run that it was routed to."""
    kept = {
        part.name: held.enter_context(RunJournal(part)).outcomes()
        for part in part_folders(folder, manifest)
        if (part / JOURNAL).is_file()  # it has none before it begins
    }
    target_of = {word: target for target in manifest.targets for word in target.words}
    waiting = {run: next(outcomes, None) for run, outcomes in kept.items()}
    assert manifest.route_column is not None
    for row in rows_of(manifest, sheet):
        target = target_of.get(route_word(row, manifest.route_column))
        if target is None:
            yield Outcome(row.number, OutcomeKind.INVALID, problems=(_unrouted(row, manifest, sheet),))
            continue
        if target.blocked:
            problem = Problem("target-blocked", f"nothing was sent to {target.target}: {target.blocked}", GO_ON)
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(problem,))
            continue
        outcome = waiting.get(target.run)
        if outcome is not None and outcome.row == row.number:
            yield outcome
            waiting[target.run] = next(kept[target.run], None)
        else:
            message = f"the run {target.run} was ended from outside before this row's turn"
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(Problem("run-killed", message, GO_ON),))


def _unrouted(row: Row, manifest: RunManifest, sheet: Sheet) -> Problem:
    assert manifest.route_column is not None
    column = sheet.columns[manifest.route_column]
    said = row.cells[column.index].strip()
    near = closest(said, [word for target in manifest.targets for word in target.words]) if said else None
    proposal = f"did you mean '{near}'? " if near else ""
    return Problem(
        "value-unknown",
        f"no mapping takes rows with '{said}' here" if said else "no mapping takes rows that are blank here",
        f"{proposal}correct it, or add it under route: of a mapping in {manifest.mapping}",
        row.place(column),
    )
