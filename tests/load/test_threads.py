"""A thread for each request, where the service can only be asked by waiting."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from importer.load.threads import SenderThreads
from importer.models import Target
from importer.service import NoReply, Reply
from tests.load.given import CREATED, JOB_POST, Answer


class Held:
    """A service that answers when it is let go, and breaks where it is to."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun: SimpleQueue[str] = SimpleQueue()

    def submit(self, _: Target, body: bytes) -> Answer:
        self.begun.put(threading.current_thread().name)
        assert self.let_go.wait(10)
        if body == b"bug":
            raise RuntimeError("ours")
        return CREATED


@pytest.mark.parametrize(("requests", "threads"), [(1, 1), (3, 3), (9, 4)])
def test_as_many_threads_as_are_needed(requests: int, threads: int) -> None:
    """Up to the number in flight; every request gets its answer, and closing leaves no thread behind."""
    service, done = Held(), SimpleQueue[Reply | NoReply | BaseException]()
    senders = SenderThreads(service, 4)
    for _ in range(requests):
        senders.start(JOB_POST.target, b"", done.put)
    assert len({service.begun.get(timeout=10) for _ in range(threads)}) == threads
    assert service.begun.empty()
    service.let_go.set()
    senders.close()
    assert [done.get_nowait() for _ in range(requests)] == [CREATED] * requests
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sender ")]


def test_a_bug_is_handed_over_and_ends_no_thread() -> None:
    """Whoever collects the answers raises it; the next request is answered."""
    service, done = Held(), SimpleQueue[Reply | NoReply | BaseException]()
    service.let_go.set()
    senders = SenderThreads(service, 1)
    for body in (b"bug", b""):
        senders.start(JOB_POST.target, body, done.put)
    senders.close()
    assert repr(done.get_nowait()) == "RuntimeError('ours')"
    assert done.get_nowait() == CREATED
