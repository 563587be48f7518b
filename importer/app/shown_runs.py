"""What can be seen of earlier runs: their list, a source over all its runs, one row of a run, which are running."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from importer.app.connection import SANDBOX
from importer.app.earlier_runs import EarlierRun
from importer.app.run_log import LoggedRequest, requests_of
from importer.ledger import DONE, Ledger, open_existing_ledger
from importer.mapping import mappings_in
from importer.models import IMPORTED_WITH_OTHER_DATA, Outcome, OutcomeKind, ReadyCandidate, Target
from importer.problems import UnusableInput, UsageError
from importer.report.summary import Summary, read_summary
from importer.runs.manifest import RunManifest, runs_in
from importer.runs.presences import Presences
from importer.runs.results_folder import refuse_untrusted
from importer.runs.run_report import refuse_missing
from importer.runs.source_status import SourceStatus, source_status
from importer.runs.table import RunTable, earlier_outcomes
from importer.settings import Settings


def status_of(file: Path, settings: Settings, *, sandbox: bool) -> Sequence[SourceStatus]:
    """What became of each row of a file, over all its runs; at each target.

    sandbox: only rehearsals; otherwise only real runs, if there are any. Reads only.

    Raises:
        UsageError: no run has sent rows of this file as it is now.
        UnusableInput: the file cannot be read, or the files of a run were changed.
    """
    refuse_untrusted(settings)
    try:
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise UsageError(f"{file} is not a regular file")
        with file.open("rb") as opened:
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    every = source_status(sha256, settings)
    found = [each for each in every if (each.scope.base == SANDBOX) == sandbox]
    if every and not found and sandbox:
        raise UsageError(f"{file} has only real runs: leave out --sandbox")
    if not every:
        raise UsageError(
            f"no run in {settings.out} was for {file} with its current content; if it was changed since, or its runs "
            "were purged, import it again: completed rows are skipped"
        )
    return found or every


def not_begun(found: Sequence[SourceStatus]) -> tuple[str, ...]:
    """Of the folder of mappings that a file was imported with, those with which no run has begun."""
    folders = {Path(one.last.flags["--mapping"]) for one in found if "--mapping" in one.last.flags}
    named = (str(path) for folder in folders if folder.is_dir() for path in mappings_in(folder))
    begun = {one.last.mapping for one in found}
    return tuple(name for name in named if name not in begun)


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of a run: its outcome (None if it has none yet), what its candidate was sent with, and its requests.

    cells: the filled ones, by the names of their columns; corrected: those of them that the file has in another way.
    body: of its request, as JSON; "" if the row was not valid.
    imported_by: the run and row that imported it, of one that was already imported, as far as known. candidate_id: that
    the service gave back, to this run or to that one.
    """

    run: str
    target: Target
    row: int
    cells: dict[str, str]
    corrected: frozenset[str]
    outcome: Outcome | None
    body: str
    was_sent: bool
    requests: tuple[LoggedRequest, ...]
    imported_by: tuple[str, int] | None
    candidate_id: int | None


def show_row(earlier: EarlierRun, number: int) -> ShownRow:
    """One row of an earlier run.

    Raises:
        UsageError: there is no such run or row.
        UnusableInput: the files of the run are missing or were changed.
    """
    folder, manifest = earlier.find()
    refuse_missing(folder)
    members = next((rows for rows in manifest.groups if number in rows), (number,))
    with RunTable(folder) as table:
        found, columns = table.rows_with(members), table.sheet.columns
        if number not in found:
            raise UsageError(f"run {manifest.run} has no row {number}; use the number that a spreadsheet program shows")
        cells = {column: text for column in columns if (text := found[number].cells[column.index])}
        corrected = frozenset(column.label for column in cells if (number, column.index) in table.corrections)
        outcome, first, kept = table.outcome(number), table.outcome(members[0]), table.candidates(members[:1])
        candidate = next(iter(kept.values()), None)
    with open_existing_ledger(earlier.settings.ledger_address) or nullcontext() as ledger:
        imported_by = _imported_by(ledger, manifest, outcome, candidate.address if candidate else "")
    with earlier_outcomes(earlier.settings.out) as outcome_of:
        before = outcome_of(*imported_by) if imported_by else None
    return ShownRow(
        run=manifest.run,
        target=manifest.target,
        row=number,
        cells={column.label: text for column, text in cells.items()},
        corrected=corrected,
        outcome=outcome,
        body=candidate.result.body.decode() if candidate and isinstance(candidate.result, ReadyCandidate) else "",
        was_sent=first is not None and first.attempts > 0,
        requests=requests_of(folder, members[0]),
        imported_by=imported_by,
        candidate_id=next((one.candidate_id for one in (outcome, before) if one and one.candidate_id), None),
    )


def _imported_by(
    ledger: Ledger | None, manifest: RunManifest, outcome: Outcome | None, email: str
) -> tuple[str, int] | None:
    """The run and row that imported a row which was already imported, by its e-mail address."""
    if ledger is None or outcome is None or outcome.kind is not OutcomeKind.ALREADY_IMPORTED:
        return None
    known = ledger.look_up([ledger.fingerprints.identity(manifest.scope, email)]).values()
    return next(((one.run, one.row) for one in known if one.state in DONE and one.run < manifest.run), None)


ListedState = Literal["running", "killed", "checked", "finished", "stopped"]


def recent_runs(settings: Settings) -> Iterator[Summary | UnusableInput]:
    """The summaries of all runs, newest first, or why one cannot be read.

    Raises UnusableInput: others could change the results folder.
    """
    refuse_untrusted(settings)
    for folder in reversed(runs_in(settings.out)):
        try:
            yield read_summary(folder)
        except UnusableInput as damaged:
            yield damaged


def has_new_other_data(summary: Summary, settings: Settings) -> bool:
    """Whether rows were imported before with other data, and the last run of that file had not the same rows."""
    code = IMPORTED_WITH_OTHER_DATA
    own = {place for group in summary.problems if group.code == code for place in group.places}
    for each in recent_runs(settings):
        if isinstance(each, UnusableInput) or each.run >= summary.run or each.dry_run or not each.finished:
            continue
        if (each.source.file, each.target) == (summary.source.file, summary.target):
            cells = {place for group in each.problems if group.code == code for place in group.places}
            return summary.count_of(code) > each.count_of(code) or not own <= cells
    return bool(own)


def state_of(summary: Summary, running: Collection[str]) -> ListedState:
    """What a run is doing, or how it ended. running: those that run now."""
    if summary.ended_at is None:
        return "running" if summary.run in running else "killed"
    if summary.dry_run:
        return "checked"
    return "finished" if summary.finished else "stopped"


def running_runs(settings: Settings) -> frozenset[str]:
    """The IDs of the runs that are running now."""
    presences = Presences(settings.out)
    return frozenset(run for run in presences.runs() if not presences.is_abandoned(run))
