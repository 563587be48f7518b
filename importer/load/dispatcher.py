"""Sends rows by a service that needs no thread of ours for each request."""

from __future__ import annotations

import threading
from collections import deque

from importer.load.crew import Live, Report, SenderThreads
from importer.load.job import Finding, Job
from importer.load.pace import NotNow
from importer.load.sender import Means, asks_for_another, begin, withdraw


class Dispatcher:
    """Has a row sent as soon as the pace lets it in. See `Senders`.

    What has to wait for a time goes on in a thread, as all rows do where there is no such service: for its turn under
    a rate or after a Retry-After, for its next attempt, or to be settled.
    """

    def __init__(self, means: Means, live: Live, size: int, report: Report) -> None:
        self._means = means
        self._report = report
        self._threads = SenderThreads(live, size, self._thread_reports)
        self._in_threads = 0
        self._ready: deque[Job] = deque()
        self._under_way = 0
        self._changing = threading.Condition()
        self._this_thread = _ThisThread()
        means.pace.call_when_free(self._send_those_ready)

    def expect(self, busy: int) -> None:
        pass

    def take(self, job: Job) -> None:
        if not job.may_leave:
            self._go_on_in_thread(job)
            return
        self._ready.append(job)
        self._send_those_ready()

    def waiting(self) -> int:
        return len(self._ready) + self._threads.waiting()

    def close(self) -> None:
        with self._changing:
            self._changing.wait_for(lambda: not self._under_way)
        self._threads.close()

    def _send_those_ready(self) -> None:
        """Called whenever a job has become ready or the pace may let one more in: from any thread."""
        if self._this_thread.sends:
            return  # one that could not be sent has left again, and whoever sends goes on by himself
        self._this_thread.sends = True
        try:
            while self._ready and self._send_next():
                pass
        finally:
            self._this_thread.sends = False

    def _send_next(self) -> bool:
        """Whether a job was dealt with: false where none is ready, or none is let in before somebody leaves."""
        with self._changing:
            if not self._ready:
                return False
            entered = self._means.pace.enter_at_once()
            if entered is NotNow.FULL:
                return False
            job = self._ready.popleft()
            self._under_way += 1
        try:
            if entered is NotNow.HALTED:
                self._end(withdraw(job, self._means))
            elif entered is NotNow.LATER:
                self._go_on_in_thread(job)
                self._over()
            else:
                begin(job, self._means, entered, self._end)
        except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
            self._end(bug)
        return True

    def _end(self, finding: Finding | BaseException) -> None:
        """What became of a job's first attempt: on the service's thread, which others wait for."""
        if isinstance(finding, Finding) and asks_for_another(finding):
            self._go_on_in_thread(finding.job, finding)
        else:
            self._report(finding)
        self._over()

    def _over(self) -> None:
        with self._changing:
            self._under_way -= 1
            if not self._under_way:
                self._changing.notify_all()

    def _go_on_in_thread(self, job: Job, so_far: Finding | None = None) -> None:
        with self._changing:
            self._threads.expect(self._in_threads)
            self._in_threads += 1
        self._threads.take(job, so_far)

    def _thread_reports(self, finding: Finding | BaseException) -> None:
        with self._changing:
            self._in_threads -= 1
        self._report(finding)


class _ThisThread(threading.local):
    sends = False
