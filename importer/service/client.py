"""The operations of the service description, part 4, as plain methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from importer import __version__
from importer.models import Operation, Question, Target
from importer.problems import FilePlace, Problem, UnusableInput
from importer.service.question_list import LIST_LIMIT, RetryPolicy, list_url, read_questions
from importer.service.transport_api import Limits, NoReply, RawReply, Request, Transport, send
from importer.service.unspecified_forms import Clock, message_of, one_line, retry_after

TransportChoice = Literal["auto", "requests", "curl"]
"""pycurl where it is installed and new enough, else requests; or the one that is named."""

_OLDEST_LIBCURL = 0x081600  # 8.22.0: older ones do not tell on which connection a request is while it is under way
# Without the first a POST could leave twice: libcurl asks before it sends.
_NEEDED = ("PREREQFUNCTION", "ACTIVESOCKET", "RETRY_AFTER")

_REQUIRED_KEY: Final = {Operation.APPLY: "message", Operation.ADD_TO_POOL: "id"}  # in the body of a 201 (4.2, 2.5)


class Reply(NamedTuple):
    """A status that was read, whatever else was wrong with the answer.

    `message` is the body as one readable line ("" where it says nothing); of a 201 only that its body could not be
    read, since a pool's record carries presigned URLs. `retry_after` is in seconds. `email` is the one that the body
    of a 201 names, as one line; "" where it names none.
    """

    status: int
    message: str = ""
    retry_after: float | None = None
    email: str = ""


OnAnswer = Callable[[Reply | NoReply | BaseException], None]
"""What is called with the answer to a submission, or with a bug of ours that leaves it open whether there was one."""


def _now() -> datetime:
    return datetime.now(UTC)


class RecruitingService:
    """The recruiting service at one base URL, with one company's token. Safe to use from many threads.

    base_url: scheme, host and perhaps a path before /api/v1/; checked by the settings (https, or loopback).
    connections: how many are kept open for sending at the same time.
    transport: what carries the requests; "auto" takes the faster one where it is installed.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        limits: Limits | None = None,
        connections: int = 8,
        transport: TransportChoice = "auto",
        options_separator: str | None = None,
        now: Clock = _now,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"importer/{__version__}",
        }
        self._post_headers = {**self._headers, "Content-Type": "application/json"}
        self._transport = open_transport(limits or Limits(), connections, transport)
        self._options_separator = options_separator
        self._now = now

    def close(self) -> None:
        self._transport.close()

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None:
        """Have one application (4.2) or talent pool addition (4.3) sent, once; returns at once.

        `body` is the JSON body, encoded. `on_done` is called with the answer on a thread that others wait for: it does
        little, and raises nothing. What the network or the service does is no exception: a status that was read is a
        Reply, whatever its body.
        """
        if target.operation is Operation.APPLY:
            path = f"/api/v1/job-posts/{target.id}/apply/"
        else:
            path = f"/api/v1/talent-pools/{target.id}/add-candidate/"

        def on_raw(raw: RawReply | NoReply | BaseException) -> None:
            found: Reply | NoReply | BaseException
            try:
                found = _read_reply(target.operation, raw, self._now) if isinstance(raw, RawReply) else raw
            except BaseException as bug:  # noqa: BLE001 - one of ours is reported, and delays nobody else
                found = bug
            on_done(found)

        self._transport.start(Request("POST", self._base_url + path, self._post_headers, body), on_raw)

    def probe(self, job_post: str) -> Reply | NoReply:
        """Ask once for a question list (4.1) only to see whether the service answers: changes nothing there.

        A valid token gets 200, or 404 where the job post does not exist; a refused one gets 401.
        """
        raw = self._get(list_url(self._base_url, job_post))
        if isinstance(raw, NoReply):
            return raw
        return Reply(raw.status, "" if raw.status == 200 else message_of(raw), retry_after(raw, self._now))

    def questions(self, job_post: str, patience: RetryPolicy | None = None) -> tuple[Question, ...]:
        """The questions of a job post (4.1), their options split.

        Raises:
            UnusableInput: the job post does not exist or belongs to another company (404), or what answers there is
                no question list as the description shows it.
            StoppedEarly: the service refuses, or cannot be reached.
        """
        patient = patience or RetryPolicy()

        def get(url: str) -> RawReply | NoReply:
            return patient.ask(lambda: self._get(url, LIST_LIMIT), lambda raw: retry_after(raw, self._now))

        return read_questions(self._base_url, job_post, get, self._options_separator)

    def _get(self, url: str, body_limit: int | None = None) -> RawReply | NoReply:
        return send(self._transport, Request("GET", url, self._headers, body_limit=body_limit))


def _read_reply(operation: Operation, raw: RawReply, now: Clock) -> Reply:
    """The answer to a submission."""
    if raw.status == 201:
        return _created(operation, raw.body)
    return Reply(raw.status, message_of(raw), retry_after(raw, now))


def _created(operation: Operation, body: bytes) -> Reply:
    """A 201. Of its content only the e-mail is kept: a pool's record carries presigned URLs."""
    try:
        shown = json.loads(body)
    except (ValueError, RecursionError):
        shown = None
    if not isinstance(shown, dict):
        shown = {}
    as_described = _REQUIRED_KEY[operation] in shown
    email = shown.get("email")
    return Reply(
        201,
        "" if as_described else "created, but the response does not have the expected form",
        email=one_line(email) if isinstance(email, str) else "",
    )


# --- which library carries the requests ----------------------------------------------------------


def open_transport(limits: Limits, connections: int, choice: TransportChoice = "auto") -> Transport:
    """The transport over the library that is chosen.

    Raises:
        UnusableInput: curl is asked for, and cannot be used.
    """
    # Only the library that is used is loaded: each takes its time.
    if _library(choice) == "curl":
        from importer.service.curl_transport import CurlTransport

        return CurlTransport(limits, connections)
    from importer.service.requests_transport import RequestsTransport

    return RequestsTransport(limits, connections)


def _library(choice: TransportChoice = "auto") -> Literal["requests", "curl"]:
    """Which of the two it is.

    Raises:
        UnusableInput: curl is asked for, and cannot be used.
    """
    if choice == "requests":
        return "requests"
    why_not = _why_not_curl()
    if not why_not:
        return "curl"
    if choice == "curl":
        raise UnusableInput(
            Problem(
                "transport-unavailable",
                f"the curl transport is not available: {why_not}",
                "install it with: pip install 'importer[fast]'; or remove this setting",
                FilePlace("IMPORTER_TRANSPORT"),
            )
        )
    return "requests"


def describe_transport(choice: TransportChoice = "auto") -> str:
    """For a person: which one it is, and how to have the other.

    Raises:
        UnusableInput: curl is asked for, and cannot be used.
    """
    if _library(choice) == "curl":
        import pycurl  # type: ignore[import-untyped]  # it has no stubs of its own

        version = pycurl.version.split()[0].removeprefix("PycURL/")
        return f"pycurl {version} (IMPORTER_TRANSPORT=requests takes requests instead)"
    if choice == "requests":
        return "requests, as IMPORTER_TRANSPORT says"
    return f"requests ({_why_not_curl()}; pip install 'importer[fast]' makes importer faster)"


def _why_not_curl() -> str:
    """ "" where it can be used."""
    try:
        import pycurl
    except ImportError:
        return "pycurl is not installed"
    if not all(hasattr(pycurl, name) for name in _NEEDED):
        return "pycurl is older than 7.48"
    if pycurl.version_info()[2] < _OLDEST_LIBCURL:
        return "its libcurl is older than 8.22"
    return ""
