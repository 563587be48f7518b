"""Writes the report of a run in a process of its own while rows are still being sent, so that it is there at the end.

Run with a run's folder as its argument it follows the run's journal, row after row, as outcomes become final,
and writes the same files as `rewrite_report` into a staging folder. They appear only when the run that began it has
kept its ending and says so on standard input; when that ends without a word, nothing has happened.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Final

from importer.child_process import child_environment, lower_priority, python_command
from importer.models import Outcome, Row
from importer.report import RunFacts, write_report
from importer.runs.journal import RunJournal
from importer.runs.manifest import HashedOnce, RunManifest, read_manifest, refuse_altered
from importer.runs.run_report import facts_of, rows_of, sheet_of
from importer.startup import spare_garbage_collector

_GO: Final = b"the ending is kept\n"
_LOOKS_EVERY: Final = 0.1  # seconds between two looks into the journal
_AT_ONCE: Final = 2_000  # outcomes


class StreamingReport:
    """A report that is being written beside a run. Costs a second processor, so it is begun for long runs only."""

    def __init__(self, folder: Path) -> None:
        self._child = subprocess.Popen(
            python_command(f"from {__name__} import follow_run; follow_run()", str(folder)),
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
    """In the other process: write the report of the run whose folder is the argument."""
    spare_garbage_collector()
    _write_along(Path(sys.argv[1]))
    os._exit(0)  # the run waits for this: all is on disk, and what Python would tidy up is not worth its time


def _write_along(folder: Path) -> None:
    manifest = read_manifest(folder)
    sheet = sheet_of(folder, manifest)
    with RunJournal(folder) as journal:
        follower = _Follower(folder, journal)
        threading.Thread(target=follower.listen, args=(folder / manifest.source,), daemon=True).start()

        def final_facts() -> RunFacts:
            ended = follower.ending()
            if ended.rows is None or journal.count() != ended.rows:
                os._exit(1)  # not what this process has read: the run writes the report itself, or says what is wrong
            return facts_of(ended, sheet)

        rows = follower.rows(rows_of(manifest, sheet))
        write_report(folder, facts_of(manifest, sheet), rows, follower.outcomes(), final_facts)
