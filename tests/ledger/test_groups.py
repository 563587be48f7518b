"""Writes that share a commit."""

from __future__ import annotations

import threading

import pytest

from importer.ledger.groups import GroupWriter, Waiting


class Disk:
    """Keeps the groups it was given; the first one takes until `slow` is set."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.begun = threading.Event()
        self.slow = threading.Event()

    def commit(self, group: list[Waiting[int]]) -> None:
        self.begun.set()
        self.slow.wait()
        self.groups.append([waiting.write for waiting in group])
        for waiting in group:
            waiting.settle()


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
    writer.put_and_wait(2)
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

    def commit(group: list[Waiting[int]]) -> None:
        raise ZeroDivisionError

    writer = GroupWriter(commit, linger=0, name="test")
    with pytest.raises(RuntimeError, match=r"^the writer thread left a write unsettled$"):
        writer.put_and_wait(1)
    with pytest.raises(RuntimeError, match=r"^the writer thread broke off$") as caught:
        writer.put(2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match=r"^the writer thread broke off$"):
        writer.close()
