"""Sends one request or submission and waits for its response."""

from __future__ import annotations

from queue import SimpleQueue

from importer.models import Target
from importer.service import NoReply, RecruitingService, Reply
from importer.service.transport_api import RawReply, Request, Transport, send
from tests.patience import PATIENCE


class Sender:
    """A transport for tests that send one request after the other."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, request: Request) -> RawReply | NoReply:
        return send(self._transport, request)


def submitted(service: RecruitingService, target: Target, body: bytes) -> Reply | NoReply:
    """The response to one submission."""
    answers: SimpleQueue[Reply | NoReply | BaseException] = SimpleQueue()
    service.start(target, body, answers.put)
    answer = answers.get(timeout=PATIENCE)
    if isinstance(answer, BaseException):
        raise answer
    return answer
