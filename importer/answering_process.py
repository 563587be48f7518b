"""Another process that answers: what is submitted goes to it through a pipe, and its answer comes back as a Future."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class AnsweringProcess(Generic[A, B]):
    """This end of the pipe. The process answers in order, with `answer_all`; `end` kills it."""

    def __init__(self, connection: Connection, end: Callable[[], object]) -> None:
        self.connection = connection
        self._end = end
        self._thread = ThreadPoolExecutor(1)  # its thread starts with the first question, also in a forked process

    def submit(self, question: A) -> Future[B]:
        """The answer, or EOFError or OSError if the process has ended."""
        return self._thread.submit(self.ask, question)

    def ask(self, question: A) -> B:
        self.connection.send_bytes(pickle.dumps(question, pickle.HIGHEST_PROTOCOL))
        answer: B = pickle.loads(self.connection.recv_bytes())
        return answer

    def close(self) -> None:
        """Kill the process, and return when it has ended. Can be called repeatedly."""
        self._end()
        self._thread.shutdown(cancel_futures=True)
        self.connection.close()


def answer_all(connection: Connection, function: Callable[[A], B]) -> None:
    """In the other process: answer until the end that asks is closed, or its process has ended."""
    with suppress(EOFError, OSError):
        while True:
            question: A = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(function(question), pickle.HIGHEST_PROTOCOL))
