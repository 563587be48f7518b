"""Writes that share a commit."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from importer.group_writer import GroupWriter, QueuedWrite


class Disk:
    """Keeps the groups it was given; the first one takes until `slow` is set."""

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
    """What kept a write off the disk that somebody waits for."""
    settled: SimpleQueue[Exception | None] = SimpleQueue()
    writer.put_with_callback(write, settled.put)
    writer.flush_soon()
    return settled.get(timeout=20)


def test_what_comes_during_a_commit_shares_the_next_one() -> None:
    """While the writer is busy, writes gather; one commit serves them all."""
    disk = Disk()
    writer = GroupWriter(disk.commit, linger=0, name="test")
    writer.put(1)
    disk.begun.wait()
    for number in (2, 3, 4):
        writer.put(number)
    disk.slow.set()
    writer.close()
    assert disk.groups == [[1], [2, 3, 4]]


def test_a_write_nobody_waits_for_rides_with_one_that_somebody_does() -> None:
    """An answer lingers for the next intent, and the intent does not linger for anybody."""
    disk = Disk()
    disk.slow.set()
    writer = GroupWriter(disk.commit, linger=30, name="test")
    writer.put(1)
    assert put_and_wait(writer, 2) is None
    assert disk.groups == [[1, 2]]
    writer.close()


def test_flush_ends_the_lingering() -> None:
    """After a flush everything is written, at once."""
    disk = Disk()
    disk.slow.set()
    writer = GroupWriter(disk.commit, linger=30, name="test")
    writer.put(1)
    writer.flush()
    assert disk.groups == [[1]]
    writer.close()


def test_a_bug_in_the_writer_reaches_every_caller() -> None:
    """Nobody waits for ever on a thread that broke off, and nobody goes on unaware."""

    def commit(group: list[QueuedWrite[int]]) -> None:
        raise ZeroDivisionError

    writer = GroupWriter(commit, linger=0, name="test")
    assert str(put_and_wait(writer, 1)) == "the writer thread left a write unsettled"
    with pytest.raises(RuntimeError, match=r"^the writer thread broke off$") as caught:
        writer.put(2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=r"^the writer thread broke off$"):
        writer.close()
