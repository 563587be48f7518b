"""Writes that share a commit."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from importer.group_writer import GroupWriter, QueuedWrite
from tests.patience import PATIENCE


class Disk:
    """Keeps the groups it receives; the first commit lasts until `slow` is set."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.begun = threading.Event()
        self.slow = threading.Event()

    def commit(self, group: list[QueuedWrite[int]]) -> None:
        self.begun.set()
        self.slow.wait()
        self.groups.append([queued.write for queued in group])
        for queued in group:
            queued.finish()


def put_and_wait(writer: GroupWriter[int], write: int) -> Exception | None:
    """Wait for a write; returns None, or the error of the write."""
    finished: SimpleQueue[Exception | None] = SimpleQueue()
    writer.put_with_callback(write, finished.put)
    writer.flush_soon()
    return finished.get(timeout=PATIENCE)


def test_writes_during_a_commit_share_the_next_one() -> None:
    """Writes that arrive during a commit are written with one commit."""
    disk = Disk()
    writer = GroupWriter(disk.commit, linger=0, name="test")
    writer.put(1)
    disk.begun.wait()
    for number in (2, 3, 4):
        writer.put(number)
    disk.slow.set()
    writer.close()
    assert disk.groups == [[1], [2, 3, 4]]


def test_a_write_without_a_waiter_is_committed_with_one_that_has_a_waiter() -> None:
    """A write lingers until the next flush, and a flush is immediate."""
    disk = Disk()
    disk.slow.set()
    writer = GroupWriter(disk.commit, linger=30, name="test")
    writer.put(1)
    assert put_and_wait(writer, 2) is None
    assert disk.groups == [[1, 2]]
    writer.close()


def test_flush_does_not_linger() -> None:
    """A flush writes everything at once."""
    disk = Disk()
    disk.slow.set()
    writer = GroupWriter(disk.commit, linger=30, name="test")
    writer.put(1)
    writer.flush()
    assert disk.groups == [[1]]
    writer.close()


def test_a_bug_in_the_writer_reaches_every_caller() -> None:
    """After a bug in the writer, every call raises it and none waits forever."""

    def commit(group: list[QueuedWrite[int]]) -> None:
        raise ZeroDivisionError

    writer = GroupWriter(commit, linger=0, name="test")
    assert str(put_and_wait(writer, 1)) == "the writer thread did not finish a write"
    with pytest.raises(RuntimeError, match=r"^the writer thread failed$") as caught:
        writer.put(2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=r"^the writer thread failed$"):
        writer.close()
