"""The report of a run, made from the files in its folder: the copy of the source, the journal and the manifest.

The report of a long run is written by a second process while rows are still being sent, so that it is ready when the
run ends: `StreamingReport`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from importer.extract import ReadingLimits, Sheet
from importer.files import open_private
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import DamagedRun, FilePlace, Problem
from importer.processes import child_environment, lower_priority, python_command, reduce_garbage_collection
from importer.report import RunFacts, Summary, write_report
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import RunManifest, part_folders, read_manifest
from importer.runs.private_copies import rows_of, sheet_of
from importer.runs.row_selection import route_word
from importer.text.normalize import closest

CONTINUE_HINT = "continue with importer resume, or run the same command again; completed rows are skipped"
NO_PERSONAL_DATA: Final = "--no-personal-data"


def rewrite_report(folder: Path, limits: ReadingLimits, *, personal_data: bool = True) -> Summary:
    """Write the report of a run from its files: the copy of its source, its journals and its manifest.

    limits: the current ones; they may be higher than those of the run. personal_data: whether report.html may quote
    cells, unless the run was told that it may not.

    Raises:
        UnusableInput: the copy or a journal was changed; the existing report stays.
    """
    manifest = read_manifest(folder)
    if manifest.is_split:
        for part in part_folders(folder, manifest):
            if read_manifest(part).ending is not None:
                rewrite_report(part, limits, personal_data=personal_data)
    return report_of_whole(folder, manifest, limits, personal_data=personal_data)


def report_of_whole(
    folder: Path, manifest: RunManifest, limits: ReadingLimits, *, personal_data: bool = True
) -> Summary:
    """Like `rewrite_report`, but without writing the reports of its targets again."""
    refuse_changed(folder, manifest)
    sheet = sheet_of(folder, manifest, limits)
    with ExitStack() as stack:
        outcomes = outcomes_of(folder, manifest, sheet, stack)
        facts = facts_of(manifest, sheet)
        facts = replace(facts, personal_data=facts.personal_data and personal_data)
        return write_report(folder, facts, rows_of(manifest, sheet), outcomes)


def outcomes_of(folder: Path, manifest: RunManifest, sheet: Sheet, stack: ExitStack) -> Iterator[Outcome]:
    """The outcome of each row that a run has read, in their order. `stack` closes the journals."""
    if manifest.is_split:
        return _outcomes_of_parts(folder, manifest, sheet, stack)
    return stack.enter_context(RunJournal(folder)).outcomes()


def refuse_changed(folder: Path, manifest: RunManifest, hash_of: Callable[[Path], str] | None = None) -> None:
    """Raise DamagedRun if the private copy or the journal of a run is missing or changed: a report would be wrong."""
    copy, journal = folder / manifest.source, folder / JOURNAL
    problems = []
    if not copy.is_file():
        problems.append(_damage("source-copy-changed", "the run's copy of the source file is missing", copy))
    elif (hash_of or CachedHash())(copy) != manifest.sha256:
        problems.append(_damage("source-copy-changed", "the run's copy of the source file was changed", copy))
    if (listed := manifest.corrections) is not None:
        path = folder / listed.copy
        if not path.is_file() or (hash_of or CachedHash())(path) != listed.sha256:
            problems.append(_damage("source-copy-changed", "the run's list of corrections was changed", path))
    if not manifest.is_split and not journal.is_file():
        problems.append(_damage("source-copy-changed", "the file with the run's outcomes is missing", journal))
    if problems:
        raise DamagedRun(problems)


def _damage(code: str, message: str, path: Path) -> Problem:
    hint = "restore it from a backup, or run the same import again; the ledger knows what was sent"
    return Problem(code, message, hint, FilePlace(str(path)))


class CachedHash:
    """The SHA-256 of files. A file is hashed again only if it has changed since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, ...], str]] = {}

    def __call__(self, path: Path) -> str:
        status = path.stat()  # before reading, so that a later change is noticed
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known_stamp, digest = self._known.get(path, (None, ""))
        if known_stamp != stamp:
            with os.fdopen(open_private(path), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._known[path] = (stamp, digest)
        return digest


def facts_of(manifest: RunManifest, sheet: Sheet) -> RunFacts:
    """The facts about a run for its report."""
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
        has_links=sheet.has_links,
        has_ids=not manifest.dry_run and any(part.target.key == "talent_pool" for part in manifest.targets),
        started_at=manifest.started_at,
        ended_at=ending.at if ending else None,
        finished=ending.finished if ending else False,
        exit_code=ending.exit_code if ending else None,
        stopped=ending.stopped if ending else None,
        sandbox=manifest.sandbox,
        dry_run=manifest.dry_run,
        warnings=manifest.warnings,
        blank_rows=manifest.blank_rows,
        identity=manifest.identity,
        flags=manifest.flags,
        taken=manifest.taken,
        continues=manifest.continues,
        personal_data=NO_PERSONAL_DATA not in manifest.flags,
    )


def _outcomes_of_parts(folder: Path, manifest: RunManifest, sheet: Sheet, stack: ExitStack) -> Iterator[Outcome]:
    """The outcome of each row, from the journal of the run that it was routed to; or that of the whole run, of a row
    without a target that is known again."""
    kept = {
        part.name: stack.enter_context(RunJournal(part)).outcomes()
        for part in (folder, *part_folders(folder, manifest))
        if (part / JOURNAL).is_file()  # it has none before it starts
    }
    target_of = {word: target for target in manifest.targets for word in target.words}
    waiting = {run: next(outcomes, None) for run, outcomes in kept.items()}
    assert manifest.route_column is not None
    for row in rows_of(manifest, sheet):
        target = target_of.get(route_word(row, manifest.route_column))
        run = target.run if target else manifest.run
        outcome = waiting.get(run)
        if outcome is not None and outcome.row == row.number:
            yield outcome
            waiting[run] = next(kept[run], None)
        elif target is None:
            yield Outcome(row.number, OutcomeKind.INVALID, problems=(_no_route(row, manifest, sheet),))
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


# --- written during the run ---------------------------------------------------------------------

_PUBLISH: Final = b"publish\n"
_POLL_INTERVAL: Final = 0.1  # seconds between two reads of the journal
_BATCH: Final = 2_000  # outcomes


class StreamingReport:
    """A report that a second process writes during the run. It uses a second processor, so it is only for long runs.

    The process follows the run's journal and writes the same files as `rewrite_report` to a staging folder. They are
    published by `finish`, after the run has recorded its ending; otherwise they are discarded.
    """

    def __init__(self, folder: Path, limits: ReadingLimits) -> None:
        program = f"from {__name__} import follow_run; follow_run()"
        self._child = subprocess.Popen(
            python_command(program, str(folder), json.dumps(asdict(limits))),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C is for the run, which then publishes or discards the report
        )
        lower_priority(self._child.pid)  # already while it loads its modules

    def finish(self) -> bool:
        """Publish the report, after the ending was recorded; False if it has to be written in the usual way."""
        try:
            self._child.communicate(_PUBLISH)
        except OSError:
            self._child.wait()
        return self._child.returncode == 0

    def discard(self) -> None:
        """Discard the report."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._child.wait()


class _Follower:
    """Yields rows, and the outcome of each as soon as it is in the journal."""

    def __init__(self, folder: Path, journal: RunJournal) -> None:
        self._folder = folder
        self._journal = journal
        self._ready: deque[Outcome] = deque()
        self._row = 0  # the one whose outcome is needed next
        self._is_over = threading.Event()
        self._ending: Future[RunManifest] = Future()

    def listen(self, copy: Path) -> None:
        """Wait until the run publishes or discards the report. `copy`: the private copy of the source."""
        hash_of = CachedHash()
        with suppress(OSError):
            hash_of(copy)  # in advance, so that the check at the end is fast
        if sys.stdin.buffer.readline() != _PUBLISH:
            os._exit(1)  # the next report of the run removes the staging folder
        self._is_over.set()
        try:
            manifest = read_manifest(self._folder)
            refuse_changed(self._folder, manifest, hash_of)
        except BaseException as error:  # noqa: BLE001 - raised by ending()
            self._ending.set_exception(error)
        else:
            self._ending.set_result(manifest)

    def rows(self, rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            self._row = row.number
            yield row
        self._row = 0

    def outcomes(self) -> Iterator[Outcome]:
        while self._row:
            outcome = self._outcome()
            if outcome is None:
                return  # the row has none: write_report raises an error
            yield outcome

    def ending(self) -> RunManifest:
        """The manifest with the ending, once it is recorded. Raises UnusableInput if the copy was changed."""
        return self._ending.result()

    def _outcome(self) -> Outcome | None:
        while not self._ready or self._ready[0].row != self._row:
            was_over = self._is_over.is_set()
            self._ready = deque(self._journal.outcomes_from(self._row, _BATCH))
            if not self._ready or self._ready[0].row != self._row:
                if was_over:
                    return None
                self._is_over.wait(_POLL_INTERVAL)
        return self._ready.popleft()


def follow_run() -> None:
    """In the second process: write the report of the run whose folder and reading limits are the arguments."""
    reduce_garbage_collection()
    _write_during_run(Path(sys.argv[1]), ReadingLimits(**json.loads(sys.argv[2])))
    os._exit(0)  # everything is written; skip Python's cleanup, as the run is waiting


def _write_during_run(folder: Path, limits: ReadingLimits) -> None:
    manifest = read_manifest(folder)
    sheet = sheet_of(folder, manifest, limits)
    with RunJournal(folder) as journal:
        follower = _Follower(folder, journal)
        threading.Thread(target=follower.listen, args=(folder / manifest.source,), daemon=True).start()

        def final_facts() -> RunFacts:
            ended = follower.ending()
            if ended.rows is None or sum(journal.counts().values()) != ended.rows:
                os._exit(1)  # not what was read here: the run writes the report itself, or reports the problem
            return facts_of(ended, sheet)

        rows = follower.rows(rows_of(manifest, sheet))
        write_report(folder, facts_of(manifest, sheet), rows, follower.outcomes(), final_facts)
