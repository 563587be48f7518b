"""What is promised of the network is promised of each transport: a test that takes `transport` runs over all."""

from __future__ import annotations

from queue import SimpleQueue

import pytest

from importer.service.curl_transport import CurlTransport
from importer.service.replies import NoReply, RawReply
from importer.service.transports import Wish
from importer.service.wire import WireRequest


def send_as_one_of_many(self: CurlTransport, request: WireRequest, body_limit: int | None = None) -> RawReply | NoReply:
    """`send`, over the thread that sends many at once."""
    found: SimpleQueue[RawReply | NoReply | BaseException] = SimpleQueue()
    self.start(request, found.put)
    answer = found.get(timeout=30)
    if isinstance(answer, BaseException):
        raise answer
    return answer


@pytest.fixture(params=["requests", "curl", "curl, many at once"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wish:
    """The one that carries the requests of this test."""
    if request.param == "curl, many at once":
        monkeypatch.setattr(CurlTransport, "send", send_as_one_of_many)
        return "curl"
    return request.param  # type: ignore[no-any-return]
