"""Work that goes on in threads of the server: files read and written, checks, runs; and what can be seen of it."""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from importer.app import orders
from importer.app.earlier_runs import NothingToSend
from importer.app.event_lines import detail_of, notice_of
from importer.app.import_file import CheckStopped, Finished
from importer.app.orders import Listener, RunControl
from importer.models import OutcomeKind
from importer.problems import ImporterError, UsageError
from importer.web.imports import Draft, Drafts

TaskKind = Literal["read", "check", "send"]
TaskWork = Callable[[Listener, RunControl], Finished | None]

SOON: Final = 0.5
"""Seconds in which work that a page waits for is mostly done; then the page shows progress instead."""
_MEASURED: Final = 20.0  # seconds over which the rate is measured


class Progress:
    """What a run is doing, from its events; read by other threads."""

    def __init__(self, on_planned: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._on_planned, self._clock = on_planned, clock
        self._lock = threading.Lock()
        self._counts: Counter[OutcomeKind] = Counter()
        self._total = 0
        self._times: deque[tuple[float, int]] = deque()
        self.doing = ""  # what it is doing or waits for, in a sentence
        self.notices: list[str] = []
        self.is_sending = False

    def __call__(self, event: orders.Event) -> None:
        match event:
            case orders.RowEnded(outcome):
                self._count(outcome.kind)
            case orders.Planned(folder=folder):
                self._on_planned(folder.name)
            case orders.Started(rows=rows):
                self._total, self.is_sending, self.doing = rows, True, ""
            case orders.RowsEnded():
                self.is_sending = False
        if (notice := notice_of(event)) is not None:
            self.notices.append(notice)
        elif (line := detail_of(event)) is not None:
            self.doing = line

    def _count(self, kind: OutcomeKind) -> None:
        with self._lock:
            self._counts[kind] += 1
            now, done = self._clock(), self._counts.total()
            if not self._times or now - self._times[-1][0] >= 1:
                self._times.append((now, done))
            while now - self._times[0][0] > _MEASURED:
                self._times.popleft()

    def seen(self) -> ShownProgress:
        """What can be shown now."""
        with self._lock:
            counts, first = dict(self._counts), self._times[0] if self._times else (0.0, 0)
        done, now = sum(counts.values()), self._clock()
        rate = (done - first[1]) / (now - first[0]) if first[1] and now - first[0] >= 1 else None
        left = (self._total - done) / rate if rate and self._total else None
        total = self._total if self.is_sending or done else None
        return ShownProgress(counts, done, total, rate, left, self.doing, tuple(self.notices))


@dataclass(frozen=True, slots=True)
class ShownProgress:
    """The progress of a run. counts: of rows by outcome; total: of rows, rate: per second, left: seconds, if known."""

    counts: dict[OutcomeKind, int]
    done: int
    total: int | None
    rate: float | None
    left: float | None
    doing: str
    notices: tuple[str, ...]

    @property
    def percent(self) -> int | None:
        return 100 * self.done // self.total if self.total else None


@dataclass(eq=False)
class Task:
    """Work for a draft, in its thread. finished: its run, if it is one; error: why it could not be done."""

    draft: Draft
    kind: TaskKind
    progress: Progress
    control: RunControl = field(default_factory=RunControl)
    finished: Finished | None = None
    error: ImporterError | None = None
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        return self.over.is_set()

    def is_running(self, *kinds: TaskKind) -> bool:
        return self.kind in kinds and not self.is_over


class Tasks:
    """The last task of each draft. A draft has one at a time; the target's lock keeps others of its target away."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts
        self._lock = threading.Lock()
        self._tasks: dict[str, Task] = {}

    def of(self, draft: Draft) -> Task | None:
        return self._tasks.get(draft.id)

    def start(self, draft: Draft, kind: TaskKind, work: TaskWork) -> Task:
        """Start it, unless one of this draft is running: that one is returned. But a check with other choices than
        those of now is stopped; the new one waits for its end.
        """
        with self._lock:
            running = self._tasks.get(draft.id)
            if running is not None and not running.is_over:
                is_same = running.draft.edits == draft.edits and not running.control.is_stopped
                if kind != "check" or running.kind == "send" or (running.kind == "check" and is_same):
                    return running
                running.control.stop()

            def keep(run: str) -> None:
                if kind == "send":  # at once: the next start of the server must find it
                    with suppress(KeyError):  # the draft was removed; the run goes on
                        self._drafts.change(draft.id, run=run)

            task = self._tasks[draft.id] = Task(draft, kind, Progress(keep))
            given, name = (task, work, running), f"{kind} {draft.id}"
            threading.Thread(target=self._run, args=given, name=name, daemon=True).start()
        return task

    def _run(self, task: Task, work: TaskWork, before: Task | None) -> None:
        try:
            if before is not None:
                before.over.wait()
            task.finished = work(task.progress, task.control)
            now = self._drafts.get(task.draft.id)
            is_same = now is not None and now.edits == task.draft.edits
            if task.kind == "check" and task.finished is not None and is_same:
                rows = task.finished.summary.source.rows
                run = task.finished.folder.name
                self._drafts.change(task.draft.id, check=run, grid=run, rows=rows)
        except CheckStopped:
            pass
        except NothingToSend as run:
            task.error = UsageError(f"run {run} has no row left to be sent")
        except ImporterError as error:
            task.error = error
        except Exception:  # noqa: BLE001 - a bug: its traceback is for the terminal, its browser must not wait forever
            traceback.print_exc()
            task.error = ImporterError("an error in importer itself; the terminal of importer web shows it, report it")
        finally:
            task.over.set()

    @property
    def are_sending(self) -> bool:
        return any(task.is_running("send") for task in self._tasks.values())

    def stop(self, signal: int | None = None) -> None:
        """Stop every run as the command is stopped, and wait until their reports are written. Checks just end."""
        sending = [task for task in self._tasks.values() if task.is_running("send")]
        for task in sending:
            task.control.stop(signal)
        while any(not task.is_over for task in sending):
            time.sleep(0.05)
