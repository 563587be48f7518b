"""One export to many targets: each has a run of its own, and one report is over them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from importer.app.planning import Order, Plan, discard, make_plan
from importer.atomic_files import make_subfolder
from importer.errors import ImporterError, StoppedEarly, UnusableInput
from importer.extract import Sheet, open_sheet
from importer.ledger import JOURNAL, RunJournal
from importer.mapping import Mapping, read_mappings
from importer.mapping.reader import RouteColumn, route_column
from importer.models import ManyTargets, Outcome, OutcomeKind, Problem, Question, Row, TargetRun
from importer.report import RunFacts, Summary, write_report, write_unfinished_summary
from importer.runs.batch_folder import MAPPINGS, BatchManifest, BatchRun, read_batch, write_batch
from importer.runs.child_tables import copy_of_source
from importer.runs.finalize import exit_code, facts_for, rewrite_report
from importer.runs.folder import Ending, keep_mapping, read_manifest
from importer.runs.results_folder import be_present, make_private_folder, new_run_id, remove_folder
from importer.runs.row_selection import Routed, route_word
from importer.text.closest import closest

QuestionsOf = Callable[[str], tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be done: the folder of the batch, its manifest, and the plans of the targets that can be sent to."""

    folder: Path
    manifest: BatchManifest
    plans: tuple[Plan, ...]


def plan_batch(order: Order, questions_of: QuestionsOf) -> Batch:
    """Plan a run for each mapping of the folder that has rows. `order.mapping` is the folder.

    A target whose questions the service does not give is blocked and does not stop the others.

    Raises:
        UnusableInput: with everything that does not fit in any of the mappings; nothing is left behind.
    """
    mappings = read_mappings(order.mapping)
    shown_as = order.shown_as
    started_at = datetime.now(UTC)
    run = new_run_id(started_at)
    presence = be_present(order.out, run)
    folder = make_private_folder(order.out, run)
    plans: list[Plan] = []
    try:
        copy = copy_of_source(order.file, folder, order.standard_input_bytes)
        _keep_mappings(mappings, folder)
        sheet = open_sheet(copy.path, mappings[0].source, shown_as=shown_as)
        column = route_column(mappings, sheet.columns)
        seen = {route_word(row, column.index) for row in order.selection.of(sheet.rows())}
        shared = replace(order, copied=copy, sheet=sheet, file_shown_as=shown_as)
        runs = _plan_runs(shared, folder.name, column, seen, questions_of, plans)
        manifest = BatchManifest(
            run=folder.name,
            file=shown_as,
            source=copy.path.name,
            sha256=copy.sha256,
            options=mappings[0].source,
            selection=order.selection,
            mapping=order.mapping_shown_as or str(order.mapping),
            column=column.index,
            runs=runs,
            sandbox=order.service == "sandbox",
            dry_run=order.dry_run,
            warnings=tuple(str(warning) for warning in sheet.warnings),
            started_at=started_at,
            service=order.service,
        )
        # The manifest last: with it the folder is a batch, and every batch has a summary.
        write_unfinished_summary(folder, _facts(manifest, sheet))
        write_batch(folder, manifest)
    except BaseException:
        for plan in plans:
            discard(plan)
        remove_folder(folder)
        presence.end()
        raise
    presence.end()  # from here on its manifest speaks for it
    return Batch(folder, manifest, tuple(plans))


def _keep_mappings(mappings: Sequence[Mapping], folder: Path) -> None:
    """Copies of all mappings, also of those that have no rows or are blocked: the batch can go on from them."""
    make_subfolder(folder / MAPPINGS)
    for mapping in mappings:
        keep_mapping(mapping, folder / MAPPINGS, mapping.path.stem)


def _plan_runs(
    order: Order,
    batch: str,
    column: RouteColumn,
    seen: set[str],
    questions_of: QuestionsOf,
    plans: list[Plan],
) -> tuple[BatchRun, ...]:
    """A run for each mapping that has rows; the plans made are added to `plans`."""
    runs: list[BatchRun] = []
    problems: list[Problem] = []
    for mapping, words in column.words.items():
        if not seen.intersection(words):
            continue
        named = str(Path(order.mapping_shown_as or order.mapping) / mapping.path.name)
        run = BatchRun(f"{batch}.{mapping.path.stem}", mapping.target, named, words)
        routed = replace(order.selection, routed=Routed(column.index, words))
        own = replace(
            order, mapping=mapping.path, mapping_shown_as=named, selection=routed, run=run.run, check_first=True
        )
        try:
            plans.append(make_plan(own, questions_of))
        except UnusableInput as error:
            problems.extend(error.problems)
        except StoppedEarly as error:
            run = replace(run, blocked=str(error))
        runs.append(run)
    if problems:
        raise UnusableInput(list(dict.fromkeys(problems)))
    return tuple(runs)


def block(batch: Batch, plan: Plan, error: ImporterError) -> Batch:
    """The batch without a plan that could not be begun; what was planned of it is taken back."""
    discard(plan)
    runs = tuple(
        replace(run, blocked=str(error)) if run.run == plan.manifest.run else run for run in batch.manifest.runs
    )
    manifest = replace(batch.manifest, runs=runs)
    write_batch(batch.folder, manifest)
    return replace(batch, manifest=manifest)


# --- the end ------------------------------------------------------------------------------------


def end_batch(batch: Batch, signal: int | None) -> Summary:
    """Close the books of a batch whose runs have ended, and write the report over all of them."""
    manifests = [read_manifest(batch.folder.parent / run.run) for run in batch.manifest.runs if not run.blocked]
    endings = [manifest.ending for manifest in manifests if manifest.ending]
    blocked = [run for run in batch.manifest.runs if run.blocked]
    stopped = next((ending for ending in endings if ending.stop_reason), None)
    ending = Ending(
        at=datetime.now(UTC),
        finished=signal is None and not blocked and all(ending.finished for ending in endings),
        exit_code=None,
        stop_reason=blocked[0].blocked if blocked else stopped.stop_reason if stopped else None,
        stop_hint=_GO_ON if blocked else stopped.stop_hint if stopped else None,
    )
    worst = 128 + signal if signal is not None else 5 if blocked or stopped else 0
    manifest = replace(batch.manifest, ending=replace(ending, exit_code=worst))
    write_batch(batch.folder, manifest)
    summary = _write_overall(batch.folder, manifest)
    if worst == 0 and (code := exit_code(dict(summary.outcomes), None, None)):
        manifest = replace(manifest, ending=replace(ending, exit_code=code))
        write_batch(batch.folder, manifest)
        summary = _write_overall(batch.folder, manifest)
    return summary


def rewrite_batch_report(folder: Path) -> Summary:
    """Write the report of each run of a batch, and that over all of them, from what is kept."""
    manifest = read_batch(folder)
    for run in manifest.runs:
        if not run.blocked and read_manifest(folder.parent / run.run).ending is not None:
            rewrite_report(folder.parent / run.run)
    return _write_overall(folder, manifest)


_GO_ON = "importer resume goes on with it, or run the same command again: rows that are done are skipped"


def _write_overall(folder: Path, manifest: BatchManifest) -> Summary:
    sheet = open_sheet(folder / manifest.source, manifest.options, shown_as=manifest.file)
    journals = {
        run.run: RunJournal(folder.parent / run.run)
        for run in manifest.runs
        if not run.blocked and (folder.parent / run.run / JOURNAL).is_file()  # it has none before it begins
    }
    try:
        kept = {run: journal.outcomes() for run, journal in journals.items()}
        outcomes = _outcomes(manifest, sheet, kept)
        return write_report(folder, _facts(manifest, sheet), manifest.selection.of(sheet.rows()), outcomes)
    finally:
        for journal in journals.values():
            journal.close()


def _outcomes(manifest: BatchManifest, sheet: Sheet, kept: dict[str, Iterator[Outcome]]) -> Iterator[Outcome]:
    """The outcome of each row, from the journal of the run that it was routed to."""
    run_of = {word: run for run in manifest.runs for word in run.words}
    waiting = {run: next(outcomes, None) for run, outcomes in kept.items()}
    for row in manifest.selection.of(sheet.rows()):
        run = run_of.get(route_word(row, manifest.column))
        if run is None:
            yield Outcome(row.number, OutcomeKind.INVALID, problems=(_unrouted(row, manifest, sheet),))
            continue
        if run.blocked:
            problem = Problem("target-blocked", f"nothing was sent to {run.target}: {run.blocked}", _GO_ON)
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(problem,))
            continue
        outcome = waiting.get(run.run)
        if outcome is not None and outcome.row == row.number:
            yield outcome
            waiting[run.run] = next(kept[run.run], None)
        else:
            problem = Problem("run-killed", f"the run {run.run} was ended from outside before this row's turn", _GO_ON)
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(problem,))


def _unrouted(row: Row, manifest: BatchManifest, sheet: Sheet) -> Problem:
    column = sheet.columns[manifest.column]
    said = row.cells[column.index].strip()
    near = closest(said, [word for run in manifest.runs for word in run.words]) if said else None
    proposal = f"did you mean '{near}'? " if near else ""
    return Problem(
        "value-unknown",
        f"no mapping takes rows with '{said}' here" if said else "no mapping takes rows that are blank here",
        f"{proposal}correct it, or add it under route: of a mapping in {manifest.mapping}",
        row.place(column),
    )


def _facts(manifest: BatchManifest, sheet: Sheet) -> RunFacts:
    targets = ManyTargets(tuple(TargetRun(run.run, run.target) for run in manifest.runs))
    return facts_for(manifest, sheet, targets)
