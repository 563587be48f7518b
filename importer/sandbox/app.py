"""The recruiting service: turns a request into a delivery, by the published contract and the configured faults."""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from importer.sandbox.bodies import candidate_record, check_application, check_pool_candidate
from importer.sandbox.company import Company, JobPost, TalentPool
from importer.sandbox.faults import Fault, Faults, FaultSelector, Hit, Subject
from importer.sandbox.http_messages import (
    HTML,
    ErrorShape,
    FieldError,
    Operation,
    Reply,
    Request,
    Route,
    error_reply,
    find_route,
    json_reply,
)
from importer.sandbox.json_reading import NotJson, read_json
from importer.sandbox.memory import Memory

SHIPPED_QUESTIONS = Path(__file__).with_name("questions.json")


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The options of one sandbox; every path may be None.

    `port` 0 means a free one. `questions` None means the file that ships with the importer. `memory` stores accepted
    submissions (JSON lines, personal data), `log` every request (JSON lines, no personal data); `faults` selects
    requests and their faults. `pool_duplicate_status` is the status for a second addition to a talent pool: the service
    description (4.3) does not show it. With `exit_with_stdin` the sandbox stops when its standard input ends.
    """

    token: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    questions: Path | None = None
    memory: Path | None = None
    faults: Path | None = None
    log: Path | None = None
    pool_duplicate_status: Literal[409, 400] = 409
    exit_with_stdin: bool = False


def utc_now() -> datetime:
    return datetime.now(UTC)


_HTML_PAGE = b"<html>\r\n<head><title>%d</title></head>\r\n<body><center><h1>%d</h1></center></body>\r\n</html>\r\n"
_MESSAGES = {
    "401": "the token is not accepted",
    "403": "permission denied",
    "410": "no longer available",
    "423": "locked",
    "429": "too many requests",
    "500": "internal error",
    "502": "bad gateway",
    "503": "service unavailable",
    "504": "gateway timeout",
}


class Ending(Enum):
    """How a response and its connection end."""

    ANSWER = "the whole response, then the next request"
    CUT_HEAD = "part of the status line, then closed"
    CUT = "the head and half of the body, then closed"
    RESET = "nothing, reset"
    HANG = "nothing until the client disconnects"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A response, or its absence: sent after `delay` seconds with this `ending`; `fault` is its name in the log.

    `hang_seconds` limits a HANG; then the connection is closed.
    """

    reply: Reply
    ending: Ending = Ending.ANSWER
    delay: float = 0.0
    fault: str | None = None
    hang_seconds: float | None = None


class SandboxApp:
    """Answers requests one at a time, so that checking and storing a submission is one step."""

    def __init__(
        self,
        options: SandboxOptions,
        company: Company,
        faults: Faults,
        memory: Memory,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._bearer = f"Bearer {options.token}".encode()
        self._duplicate_status = options.pool_duplicate_status
        self._company = company
        self._shape = faults.error_shape
        self._selector = FaultSelector(faults.faults, faults.seed)
        self._memory = memory
        self._clock = clock

    def answer(self, request: Request) -> Delivery:
        """The delivery for a request; an accepted submission is stored before this returns."""
        route = find_route(request.path)
        rejected = self._reject_early(request, route)
        if rejected or route is None:
            return Delivery(rejected or self._error(404, FieldError("", "path not found")))
        if route.operation is Operation.HEALTH:
            return Delivery(json_reply(200, {"status": "ok"}))
        body = self._read_body(request, route)
        hits = self._selector.select(_subject(route, body))

        def process() -> Reply:
            return body if isinstance(body, Reply) else self._operate(route, body)

        return deliver(hits, process, self._shape, self._clock())

    def _reject_early(self, request: Request, route: Route | None) -> Reply | None:
        """The response to a request that never reaches an operation: too large, wrong method or no token."""
        if request.too_large:
            return self._error(413, FieldError("", "the body is too large"))
        if route is None:
            return None
        if request.method not in route.methods:
            reply = self._error(405, FieldError("", f"{request.method} is not allowed here"))
            return replace(reply, headers=(("Allow", ", ".join(route.methods)),))
        if route.operation is not Operation.HEALTH and not self._is_authorized(request.headers.get("authorization")):
            reply = self._error(401, FieldError("", "the bearer token is missing or wrong"))
            return replace(reply, headers=(("WWW-Authenticate", "Bearer"),))
        return None

    def _is_authorized(self, authorization: str | None) -> bool:
        return authorization is not None and hmac.compare_digest(authorization.encode("latin-1"), self._bearer)

    def _read_body(self, request: Request, route: Route) -> dict[str, Any] | Reply:
        """The object in the body of a POST, an empty one for a GET, or the response that rejects the body."""
        if route.operation is Operation.QUESTIONS:
            return {}
        if not _is_json(request.headers.get("content-type", "")):
            return self._error(415, FieldError("", "the content type must be application/json"))
        try:
            body = read_json(request.body)
        except NotJson as error:
            return self._error(400, FieldError("", f"the body is not valid JSON: {error}"))
        if not isinstance(body, dict):
            return self._error(400, FieldError("", "the body must be a JSON object"))
        return body

    def _operate(self, route: Route, body: dict[str, Any]) -> Reply:
        pools, posts = self._company.talent_pools, self._company.job_posts
        if route.operation is Operation.ADD_TO_POOL:
            pool = pools.get(route.target)
            return self._add_to_pool(pool, body) if pool else self._error(404, FieldError("", "talent pool not found"))
        post = posts.get(route.target)
        if post is None:
            return self._error(404, FieldError("", "job post not found"))
        return self._apply(post, body) if route.operation is Operation.APPLY else Reply(200, post.listing)

    def _apply(self, post: JobPost, body: dict[str, Any]) -> Reply:
        errors = check_application(body, post, self._company.forms)
        if errors:
            return self._error(400, *errors)
        duplicate = self._error(409, FieldError("", "the user has already applied to this job post"))
        rejected = self._accept(Operation.APPLY, post.hash, body, self._clock(), duplicate)
        return rejected or json_reply(201, {"message": "the application was received"})

    def _add_to_pool(self, pool: TalentPool, body: dict[str, Any]) -> Reply:
        errors = check_pool_candidate(body)
        if errors:
            return self._error(400, *errors)
        twice = FieldError("email", "a candidate with this e-mail address is already in this talent pool")
        now, duplicate = self._clock(), self._error(self._duplicate_status, twice)
        rejected = self._accept(Operation.ADD_TO_POOL, pool.id, body, now, duplicate)
        return rejected or json_reply(201, candidate_record(len(self._memory), body, pool, self._company, now))

    def _accept(
        self, operation: Operation, target: str, body: dict[str, Any], now: datetime, duplicate: Reply
    ) -> Reply | None:
        """Store the submission, or return the response that rejects it."""
        try:
            return None if self._memory.accept(operation, target, body, now) else duplicate
        except OSError as error:
            return self._error(
                500, FieldError("", f"the memory file of the sandbox cannot be written: {error.strerror}")
            )

    def _error(self, status: int, *errors: FieldError) -> Reply:
        return error_reply(status, errors, self._shape)


def _subject(route: Route, body: dict[str, Any] | Reply) -> Subject:
    email = body.get("email") if isinstance(body, dict) else None
    return Subject(route.operation, route.target, email if isinstance(email, str) else "")


def _is_json(content_type: str) -> bool:
    media_type, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return media_type.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')


# --- how the response is delivered ---------------------------------------------------------------------------


def deliver(hits: Sequence[Hit], process: Callable[[], Reply], shape: ErrorShape, now: datetime) -> Delivery:
    """The response of `process`, changed by the first fault; a fault that hits before processing replaces it.

    Delays are added to any other fault.
    """
    delays = [hit for hit in hits if hit.fault.kind == "delay"]
    others = [hit.fault for hit in hits if hit.fault.kind != "delay"]
    before = next((fault for fault in others if fault.is_before), None)
    if before:
        delivery = _with_fault(before, Delivery(Reply(0)), shape, now)
    else:
        delivery = Delivery(process())
        if others:
            delivery = _with_fault(others[0], delivery, shape, now)
    if not delays:
        return delivery
    wait = sum(hit.fault.ms + hit.random * hit.fault.jitter_ms for hit in delays) / 1000
    return replace(delivery, delay=wait, fault=delivery.fault or "delay")


def _with_fault(fault: Fault, delivery: Delivery, shape: ErrorShape, now: datetime) -> Delivery:
    reply = delivery.reply
    match fault.kind:
        case "reset":
            return replace(delivery, ending=Ending.RESET, fault=fault.name)
        case "hang_after":
            return replace(delivery, ending=Ending.HANG, fault=fault.name, hang_seconds=fault.seconds)
        case "cut_head":
            return replace(delivery, ending=Ending.CUT_HEAD, fault=fault.name)
        case "cut_body":
            return replace(delivery, ending=Ending.CUT, fault=fault.name)
        case "not_json_201" | "empty_201" if reply.status != 201:
            return delivery  # only an accepted submission may get a 201
        case "not_json_201":
            changed = Reply(201, b"<p>Your application was received.</p>", HTML)
        case "empty_201":
            changed = Reply(201)
        case "html":
            changed = Reply(fault.status, _HTML_PAGE % (fault.status, fault.status), HTML)
        case "redirect":
            changed = Reply(fault.status, headers=(("Location", fault.location),))
        case "refuse":
            changed = error_reply(fault.status, [FieldError("", fault.message)], shape)
        case _:
            errors = [FieldError("", _MESSAGES[fault.kind])]
            changed = replace(error_reply(int(fault.kind), errors, shape), headers=_retry_after(fault, now))
    return replace(delivery, reply=changed, fault=fault.name)


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    seconds = 1 if fault.seconds is None else math.ceil(fault.seconds)
    if fault.retry_after == "none":
        return ()
    if fault.retry_after == "seconds":
        return (("Retry-After", str(seconds)),)
    whole = now.replace(microsecond=0) + timedelta(seconds=1 if now.microsecond else 0)
    return (("Retry-After", format_datetime(whole + timedelta(seconds=seconds), usegmt=True)),)
