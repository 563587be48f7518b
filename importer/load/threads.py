"""A thread for each request, for a service that can only be asked by waiting for its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from importer.models import Target
from importer.service import NoReply, Reply

OnDone = Callable[[Reply | NoReply | BaseException], None]


class Submits(Protocol):
    """The narrow hole through which requests go: sends one body once, and raises for nothing the service does."""

    def submit(self, target: Target, body: bytes) -> Reply | NoReply: ...


class SenderThreads:
    """Up to `size` threads, begun as they are needed. `start` is a `SubmitThen`."""

    def __init__(self, service: Submits, size: int) -> None:
        self._service = service
        self._size = size
        self._requests: SimpleQueue[tuple[Target, bytes, OnDone] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._under_way = 0
        self._counting = threading.Lock()

    def start(self, target: Target, body: bytes, on_done: OnDone) -> None:
        """Have one body sent once; returns at once. `on_done` is called in a thread, with a bug of ours too."""
        with self._counting:
            self._under_way += 1
            if len(self._threads) < min(self._under_way, self._size):
                name = f"sender {len(self._threads) + 1}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._requests.put((target, body, on_done))

    def close(self) -> None:
        """Let what is under way finish."""
        for _thread in self._threads:
            self._requests.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (request := self._requests.get()) is not None:
            target, body, on_done = request
            answer: Reply | NoReply | BaseException
            try:
                answer = self._service.submit(target, body)
            except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
                answer = bug
            with self._counting:
                self._under_way -= 1
            on_done(answer)
