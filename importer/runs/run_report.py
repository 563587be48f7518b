"""The report of a run, made from what its folder keeps: the copy of its source, its journal, its manifest.

The report of a long run is written by a process of its own while rows are still being sent, so that it is there at the
end: `StreamingReport`.
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
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Final

from importer.atomic_files import open_private
from importer.child_process import child_environment, lower_priority, python_command
from importer.extract import ReadingLimits, Sheet
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import DamagedRun, FilePlace, Problem
from importer.report import RunFacts, Summary, write_report
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import RunManifest, part_folders, read_manifest
from importer.runs.private_copies import sheet_of
from importer.runs.row_selection import route_word
from importer.startup import reduce_garbage_collection
from importer.text.normalize import closest

GO_ON = "continue with importer resume, or run the same command again; completed rows are skipped"
_RESTORE: Final = "put it back from a backup; what was sent is in the ledger, and the same import can be run again"


def rewrite_report(folder: Path, limits: ReadingLimits) -> Summary:
    """Write the report of a run from what is kept of it: the copy of its source, its journals and its manifest.

    limits: those of today; more may be allowed than when the run was made.

    Raises:
        UnusableInput: the copy or a journal is not what the run left; the report that is there stays.
    """
    manifest = read_manifest(folder)
    if manifest.is_split:
        for part in part_folders(folder, manifest):
            if read_manifest(part).ending is not None:
                rewrite_report(part, limits)
    return report_of_whole(folder, manifest, limits)


def report_of_whole(folder: Path, manifest: RunManifest, limits: ReadingLimits) -> Summary:
    """As `rewrite_report`, where the reports of its targets, if it has several, are as they should be."""
    refuse_altered(folder, manifest)
    sheet = sheet_of(folder, manifest, limits)
    with ExitStack() as held:
        if manifest.is_split:
            outcomes = _outcomes_of_parts(folder, manifest, sheet, held)
        else:
            outcomes = held.enter_context(RunJournal(folder)).outcomes()
        return write_report(folder, facts_of(manifest, sheet), rows_of(manifest, sheet), outcomes)


def refuse_altered(folder: Path, manifest: RunManifest, hash_of: Callable[[Path], str] | None = None) -> None:
    """Raise DamagedRun where the private copy or the journal of a run is gone or altered: a report would lie."""
    hash_of = hash_of or HashedOnce()
    problems = []
    copy = folder / manifest.source
    if not copy.is_file():
        problems.append(
            Problem(
                "source-copy-missing", "the run's copy of the source file is missing", _RESTORE, FilePlace(str(copy))
            )
        )
    elif hash_of(copy) != manifest.sha256:
        problems.append(
            Problem(
                "source-copy-changed", "the run's copy of the source file was changed", _RESTORE, FilePlace(str(copy))
            )
        )
    if not manifest.is_split and not (folder / JOURNAL).is_file():
        problems.append(
            Problem(
                "journal-missing",
                "the file with the run's outcomes is missing",
                _RESTORE,
                FilePlace(str(folder / JOURNAL)),
            )
        )
    if problems:
        raise DamagedRun(problems)


class HashedOnce:
    """The SHA-256 of files. One that was hashed before is hashed again only where somebody has written to it since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, ...], str]] = {}

    def __call__(self, path: Path) -> str:
        status = path.stat()  # before it is read: what is written meanwhile shows at the next time
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known_stamp, digest = self._known.get(path, (None, ""))
        if known_stamp != stamp:
            with os.fdopen(open_private(path), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._known[path] = (stamp, digest)
        return digest


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
            message = f"the run {target.run} was killed before this row was sent"
            yield Outcome(row.number, OutcomeKind.NOT_SENT, problems=(Problem("run-killed", message, GO_ON),))


def _unrouted(row: Row, manifest: RunManifest, sheet: Sheet) -> Problem:
    assert manifest.route_column is not None
    column = sheet.columns[manifest.route_column]
    said = row.cells[column.index].strip()
    near = closest(said, [word for target in manifest.targets for word in target.words]) if said else None
    proposal = f"did you mean '{near}'? " if near else ""
    return Problem(
        "value-unknown",
        f"no mapping takes rows with '{said}' in this column"
        if said
        else "no mapping takes rows where this column is blank",
        f"{proposal}correct it, or add it under route: in a mapping in {manifest.mapping}",
        row.place(column),
    )


# --- written during the run ---------------------------------------------------------------------

_GO: Final = b"the ending is kept\n"
_LOOKS_EVERY: Final = 0.1  # seconds between two looks into the journal
_AT_ONCE: Final = 2_000  # outcomes


class StreamingReport:
    """A report that another process writes during the run. Costs a second processor, so it is for long runs only.

    That process follows the run's journal, row after row, and writes the same files as `rewrite_report` into a staging
    folder. They appear only when the run has kept its ending and says so (`finish`); where it ends without a word,
    nothing has happened.
    """

    def __init__(self, folder: Path, limits: ReadingLimits) -> None:
        program = f"from {__name__} import follow_run; follow_run()"
        self._child = subprocess.Popen(
            python_command(program, str(folder), json.dumps(asdict(limits))),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C is for the run, which then says whether its ending was kept
        )
        lower_priority(self._child.pid)  # from here, before it loads what it needs

    def finish(self) -> bool:
        """Have it published, now that the run's ending is kept; false where it has to be written in the usual way."""
        try:
            self._child.communicate(_GO)
        except OSError:
            self._child.wait()
        return self._child.returncode == 0

    def give_up(self) -> None:
        """Leave it unwritten."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._child.wait()


class _Follower:
    """Gives rows, and for each its outcome as soon as the journal has it."""

    def __init__(self, folder: Path, journal: RunJournal) -> None:
        self._folder = folder
        self._journal = journal
        self._ready: deque[Outcome] = deque()
        self._row = 0  # the one whose outcome is asked for next
        self._is_over = threading.Event()
        self._ending: Future[RunManifest] = Future()

    def listen(self, copy: Path) -> None:
        """Wait for the word of the run; without it nobody needs this report. `copy`: of the source."""
        hash_of = HashedOnce()
        with suppress(OSError):
            hash_of(copy)  # now, while there is time, so that at the end a look is enough
        if sys.stdin.buffer.readline() != _GO:
            os._exit(1)  # what is staged goes with the next report of the run
        self._is_over.set()
        try:
            manifest = read_manifest(self._folder)
            refuse_altered(self._folder, manifest, hash_of)
        except BaseException as error:  # noqa: BLE001 - raised where the ending is asked for
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
                return  # the row has none: the pairing says so
            yield outcome

    def ending(self) -> RunManifest:
        """The manifest with how the run ended, once that is kept. Raises UnusableInput where the copy was altered."""
        return self._ending.result()

    def _outcome(self) -> Outcome | None:
        while not self._ready or self._ready[0].row != self._row:
            was_over = self._is_over.is_set()
            self._ready = deque(self._journal.outcomes_from(self._row, _AT_ONCE))
            if not self._ready or self._ready[0].row != self._row:
                if was_over:
                    return None
                self._is_over.wait(_LOOKS_EVERY)
        return self._ready.popleft()


def follow_run() -> None:
    """In the other process: write the report of the run whose folder and reading limits are the arguments."""
    reduce_garbage_collection()
    _write_along(Path(sys.argv[1]), ReadingLimits(**json.loads(sys.argv[2])))
    os._exit(0)  # the run waits for this: all is on disk, and what Python would tidy up is not worth its time


def _write_along(folder: Path, limits: ReadingLimits) -> None:
    manifest = read_manifest(folder)
    sheet = sheet_of(folder, manifest, limits)
    with RunJournal(folder) as journal:
        follower = _Follower(folder, journal)
        threading.Thread(target=follower.listen, args=(folder / manifest.source,), daemon=True).start()

        def final_facts() -> RunFacts:
            ended = follower.ending()
            if ended.rows is None or sum(journal.counts().values()) != ended.rows:
                os._exit(1)  # not what this process has read: the run writes the report itself, or says what is wrong
            return facts_of(ended, sheet)

        rows = follower.rows(rows_of(manifest, sheet))
        write_report(folder, facts_of(manifest, sheet), rows, follower.outcomes(), final_facts)
