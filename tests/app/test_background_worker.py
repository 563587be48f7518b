"""Work in a background process yields the same items as in this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from filelock import FileLock

from importer.app.background_worker import BackgroundWorker, Helper, computed_by
from importer.problems import FilePlace, Problem, UnusableInput

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

BROKEN = (Problem("a", "the first", "fix it", FilePlace("a.csv")), Problem("b", "the second", "fix it"))


def test_gives_everything_in_its_order() -> None:
    """However many items there are, none is lost and none comes twice."""
    worker = BackgroundWorker(lambda: iter(range(10_001)))
    assert list(worker) == list(range(10_001))
    worker.close()


def test_it_is_done_in_another_process() -> None:
    """Or it would hold up what this one does."""
    worker = BackgroundWorker(lambda: iter([os.getpid()]))
    assert list(worker) != [os.getpid()]
    worker.close()


def test_it_lets_the_run_go_first() -> None:
    """Where processors are short it steps back, and this process does not."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    worker = BackgroundWorker(lambda: iter([os.getpriority(os.PRIO_PROCESS, 0)]))
    assert list(worker) == [min(before + 10, 19)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    worker.close()


def test_a_reading_error_is_raised_after_all_readable_items() -> None:
    """With every problem, as if it had been met here."""

    def work() -> Iterator[int]:
        yield from range(100)
        raise UnusableInput(BROKEN)

    worker = BackgroundWorker(work)
    given: list[int] = []
    with pytest.raises(UnusableInput) as caught:
        given.extend(iter(worker))
    worker.close()
    assert (given, caught.value.problems) == (list(range(100)), BROKEN)


def test_a_process_that_dies_is_made_up_for() -> None:
    """The rest is made here, from where the other one ended: nothing is lost, and nothing comes twice."""
    here = os.getpid()

    def work() -> Iterator[tuple[int, bool]]:
        for number in range(1000):
            if number == 700 and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number, os.getpid() == here

    worker = BackgroundWorker(work)
    given = list(worker)
    worker.close()
    assert [number for number, _ in given] == list(range(1000))
    assert (given[0][1], given[-1][1]) == (False, True)


@pytest.mark.parametrize("dies", [None, "worker", "helper", "all"])
def test_helpers_compute_the_most_of_it(dies: str | None) -> None:
    """Each item with what was computed of it, in order; whichever process dies, nothing is lost or comes twice."""
    here = os.getpid()

    def square(number: int) -> tuple[int, bool]:
        if number == 300 and dies in ("helper", "all") and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number, os.getpid() == here

    def work(*helpers: Helper[int, tuple[int, bool]]) -> Iterator[tuple[int, int, bool]]:
        found = computed_by(helpers, range(1000)) if helpers else ((number, square(number)) for number in range(1000))
        for number, (squared, is_here) in found:
            if number == 700 and dies in ("worker", "all") and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number, squared, is_here

    helpers = [Helper(square), Helper(square)]
    worker = BackgroundWorker(work, helpers)
    given = list(worker)
    worker.close()
    assert [(number, squared) for number, squared, _ in given] == [(number, number * number) for number in range(1000)]
    assert given[0][2] is False
    assert [helper._process.is_alive() for helper in helpers] == [False, False]


def test_several_helpers_work_at_the_same_time() -> None:
    """Or a second one would be of no use: each waits here until the other has begun."""
    meeting = get_context("fork").Barrier(2)

    def meet(number: int) -> int:
        meeting.wait(timeout=30)
        return os.getpid()

    helpers = [Helper(meet), Helper(meet)]
    found = {process for _, process in computed_by(helpers, range(10))}
    for helper in helpers:
        helper.close()
    assert len(found - {os.getpid()}) == 2


def test_large_items_go_both_ways() -> None:
    """However long the texts of a row are: neither side waits for the other one to read first."""
    helper: Helper[bytes, bytes] = Helper(lambda given: given + given)
    found = [len(result) for _, result in computed_by([helper], [bytes(3_000_000)] * 5)]
    helper.close()
    assert found == [6_000_000] * 5


def test_an_error_of_the_items_comes_after_the_items_before_it() -> None:
    """What could be read is computed and given, also by helpers."""

    def items() -> Iterator[int]:
        yield from range(101)
        raise UnusableInput(BROKEN)

    helpers: list[Helper[int, int]] = [Helper(lambda number: -number), Helper(lambda number: -number)]
    given: list[tuple[int, int]] = []
    with pytest.raises(UnusableInput) as caught:
        given.extend(computed_by(helpers, items()))
    for helper in helpers:
        helper.close()
    assert (given, caught.value.problems) == ([(number, -number) for number in range(101)], BROKEN)


def test_signals_are_for_the_run() -> None:
    """A shutdown asks every process to end: the run has rows to account for, and needs what this one gives."""

    def work() -> Iterator[int]:
        for number in range(1000):
            if number == 700:
                os.kill(os.getpid(), signal.SIGTERM)
                os.kill(os.getpid(), signal.SIGINT)
            yield os.getpid()

    worker = BackgroundWorker(work)
    given = list(worker)
    worker.close()
    worker.close()
    assert (len(given), len(set(given)), os.getpid() in given) == (1000, 1, False)


def test_a_run_that_forgets_it_still_ends() -> None:
    """It ends with the process that started it, even if it was not closed."""
    program = """
        import itertools
        from importer.app.background_worker import BackgroundWorker
        worker = BackgroundWorker(lambda: itertools.repeat(bytes(10_000)))
        next(iter(worker))
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=30, check=False)
    assert ended.returncode == 0


def test_a_bug_shows_itself_here() -> None:
    """An unexpected error is raised again in this process, with its traceback."""

    def work() -> Iterator[int]:
        yield from range(100)
        raise ZeroDivisionError

    worker = BackgroundWorker(work)
    with pytest.raises(ZeroDivisionError):
        list(worker)
    worker.close()


def test_close_ends_unfinished_work() -> None:
    """A run that stops early does not go on reading its file."""

    def work() -> Iterator[bytes]:
        while True:
            yield bytes(10_000)

    worker = BackgroundWorker(work)
    assert next(iter(worker)) == bytes(10_000)
    start = time.monotonic()
    worker.close()
    assert time.monotonic() - start < 5


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """A killed run leaves neither worker processes nor locks behind."""
    lock = tmp_path / "lock"
    program = f"""
        import itertools, os, signal, sys
        from filelock import FileLock
        from importer.app.background_worker import BackgroundWorker, Helper
        FileLock({str(lock)!r}).acquire()
        worker = BackgroundWorker(lambda *helpers: itertools.repeat(bytes(10_000)), [Helper(abs), Helper(abs)])
        next(iter(worker))
        print(worker._process.pid, *(helper._process.pid for helper in worker._helpers), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    FileLock(lock, timeout=0).acquire()
    others = [Path(f"/proc/{number}") for number in ended.stdout.split()]
    ends_by = time.monotonic() + 30
    while any(other.exists() for other in others) and time.monotonic() < ends_by:
        time.sleep(0.01)
    assert [other.exists() for other in others] == [False] * 3


def test_an_interruption_in_the_middle_of_the_fork_is_not_forgotten() -> None:
    """Python only prints an exception raised there: the run would continue after Ctrl-C."""
    program = """
        import os, signal
        from importer.app.background_worker import BackgroundWorker
        os.register_at_fork(before=lambda: signal.raise_signal(signal.SIGINT))
        try:
            BackgroundWorker(lambda: iter(range(3)))
            print("went on")
        except KeyboardInterrupt:
            print("interrupted")
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")
