"""The recruiting service: what it answers to a request, by the published contract and the configured faults."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.utils import format_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Literal

from importer.sandbox.bodies import FieldErrors, check_application, check_pool_candidate
from importer.sandbox.company import Company, TalentPool
from importer.sandbox.faults import USUAL_STATUS, Fault, Faults, FaultSelector, Hit
from importer.sandbox.files import NotJson, read_json
from importer.sandbox.memory import ADD_TO_POOL, APPLY, Memory

SHIPPED_QUESTIONS: Final = Path(__file__).with_name("questions.json")
_JSON: Final = "application/json"
_HTML: Final = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The options of one sandbox; every path may be None.

    `port` 0 means a free one. `questions` None means the file that ships with the importer. `memory` stores accepted
    submissions (JSON lines, personal data), `log` every request (JSON lines, no personal data); `faults` selects
    requests and their faults. `pool_duplicate_status` is the status for a second addition to a talent pool: the service
    description (4.3) does not show it.
    """

    token: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    questions: Path | None = None
    memory: Path | None = None
    faults: Path | None = None
    log: Path | None = None
    pool_duplicate_status: Literal[409, 400] = 409


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request: the path without its query; headers: looked up in lower case; body: None if it is too large."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers of one HTTP response; Content-Length, Date and Connection are added when it is sent."""

    status: int
    body: bytes = b""
    content_type: str = _JSON
    headers: Mapping[str, str] = field(default_factory=dict)


Ending = Literal["whole", "cut_head", "cut_body", "reset", "hang_after"]
"""How a response ends: with its last byte; closed in the middle of its status line or of its body; the connection is
reset instead; or nothing is sent until the client disconnects."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A response, or its absence: sent after `delay` seconds; `fault` is its name in the log.

    `hang_seconds` limits a hang; then the connection is closed.
    """

    reply: Reply
    ending: Ending = "whole"
    delay: float = 0.0
    fault: str | None = None
    hang_seconds: float | None = None


_HEALTH, _QUESTIONS, _FILES = "health", "questions", "files"
_PATHS: Final = (
    (re.compile(r"/_sandbox/health()"), _HEALTH, ("GET", "HEAD")),
    (re.compile(r"/_sandbox/files/()"), _FILES, ("GET", "POST")),
    (re.compile(r"/api/v1/client/job-posts/([^/]+)/questions/"), _QUESTIONS, ("GET", "HEAD")),
    (re.compile(r"/api/v1/job-posts/([^/]+)/apply/"), APPLY, ("POST",)),
    (re.compile(r"/api/v1/talent-pools/([^/]+)/add-candidate/"), ADD_TO_POOL, ("POST",)),
)


class Service:
    """Answers requests one at a time, so that checking and storing a submission is one step."""

    def __init__(self, options: SandboxOptions, company: Company, faults: Faults, memory: Memory) -> None:
        self._bearer = f"Bearer {options.token}".encode()
        self._duplicate_status = options.pool_duplicate_status
        self._company = company
        self._selector = FaultSelector(faults.faults, faults.seed)
        self._memory = memory
        self.uploaded: list[dict[str, Any]] = []

    def answer(self, request: Request) -> Delivery:
        """The delivery for a request; an accepted submission is stored before this returns."""
        if request.body is None:
            return Delivery(_error(413, "the body is too large"))
        found = ((each.fullmatch(request.path), operation, methods) for each, operation, methods in _PATHS)
        match, operation, methods = next((one for one in found if one[0]), (None, "", ()))
        if match is None:
            return Delivery(_error(404, "path not found"))
        if request.method not in methods:
            refused = _error(405, f"{request.method} is not allowed here")
            return Delivery(replace(refused, headers={"Allow": ", ".join(methods)}))
        if operation == _HEALTH:
            return Delivery(_json_reply(200, {"status": "ok"}))
        if not hmac.compare_digest(request.headers.get("authorization", "").encode("latin-1"), self._bearer):
            refused = _error(401, "the bearer token is missing or wrong")
            return Delivery(replace(refused, headers={"WWW-Authenticate": "Bearer"}))
        if operation == _FILES:
            return self._deliver(self._selector.select(_FILES, request.method), lambda: self._files(request))
        body = {} if operation == _QUESTIONS else _body_of(request)
        email = body.get("email") if isinstance(body, dict) else None
        hits = self._selector.select(operation, match[1], email if isinstance(email, str) else "")
        return self._deliver(
            hits, lambda: body if isinstance(body, Reply) else self._operate(operation, match[1], body)
        )

    def _files(self, request: Request) -> Reply:
        """An upload as multipart, raw or base64 in JSON; GET lists what was uploaded. The description shows no path."""
        if request.method == "GET":
            return _json_reply(200, self.uploaded)
        content = _uploaded(request.headers.get("content-type", ""), request.body or b"")
        if not content:
            return _error(400, "there is no file, or it is empty")
        number = 70_000 + len(self.uploaded)
        self.uploaded.append({"id": number, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)})
        return _json_reply(201, {"success": "OK", "content": {"id": number}})

    def _operate(self, operation: str, target: str, body: dict[str, Any]) -> Reply:
        if operation == ADD_TO_POOL:
            pool = self._company.talent_pools.get(target)
            if pool is None:
                return _error(404, "talent pool not found")
            message = "a candidate with this e-mail address is already in this talent pool"
            duplicate = _errors(self._duplicate_status, [("email", message)])
            refused = self._accept(operation, target, body, check_pool_candidate(body), duplicate)
            return refused or _json_reply(201, _record(len(self._memory), body, pool, self._company))
        post = self._company.job_posts.get(target)
        if post is None:
            return _error(404, "job post not found")
        if operation == _QUESTIONS:
            return Reply(200, post.listing)
        errors = check_application(body, post, self._company.forms)
        duplicate = _error(409, "the user has already applied to this job post")
        refused = self._accept(operation, target, body, errors, duplicate)
        return refused or _json_reply(201, {"message": "the application was received"})

    def _accept(
        self, operation: str, target: str, body: dict[str, Any], errors: FieldErrors, duplicate: Reply
    ) -> Reply | None:
        """Store the submission, or return the response that rejects it."""
        if errors:
            return _errors(400, errors)
        try:
            return None if self._memory.accept(operation, target, body, datetime.now(UTC)) else duplicate
        except OSError as error:
            return _error(500, f"the memory file of the sandbox cannot be written: {error.strerror}")

    # --- faults ---

    def _deliver(self, hits: Sequence[Hit], process: Callable[[], Reply]) -> Delivery:
        """The response of `process`, changed by the first fault; a fault that hits before processing replaces it.

        Delays are added to any other fault.
        """
        faults = [hit.fault for hit in hits if hit.fault.kind != "delay"]
        before = next((fault for fault in faults if fault.is_before), None)
        delivery = Delivery(Reply(0) if before else process())
        if faults:
            delivery = _changed(before or faults[0], delivery)
        delays = [hit.fault.ms + hit.random * hit.fault.jitter_ms for hit in hits if hit.fault.kind == "delay"]
        return replace(delivery, delay=sum(delays) / 1000, fault=delivery.fault or "delay") if delays else delivery


def _changed(fault: Fault, delivery: Delivery) -> Delivery:
    code = fault.status or USUAL_STATUS.get(fault.kind, 0)
    match fault.kind:
        case "reset" | "hang_after" | "cut_head" | "cut_body" as ending:
            return replace(delivery, ending=ending, fault=fault.name, hang_seconds=fault.seconds)
        case "not_json_201" | "empty_201" if delivery.reply.status != 201:
            return delivery  # only an accepted submission may get a 201
        case "not_json_201":
            changed = Reply(201, b"<p>Your application was received.</p>", _HTML)
        case "empty_201":
            changed = Reply(201)
        case "html":
            changed = Reply(code, b"<html><h1>%d</h1></html>" % code, _HTML)
        case "redirect":
            changed = Reply(code, headers={"Location": fault.location})
        case "refuse":
            changed = _error(code, fault.message)
        case status:
            refused = _error(int(status), HTTPStatus(int(status)).phrase.lower())
            changed = replace(refused, headers=_retry_after(fault))
    return replace(delivery, reply=changed, fault=fault.name)


def _retry_after(fault: Fault) -> dict[str, str]:
    seconds = 1 if fault.seconds is None else math.ceil(fault.seconds)
    if fault.retry_after == "none":
        return {}
    if fault.retry_after == "seconds":
        return {"Retry-After": str(seconds)}
    until = datetime.now(UTC) + timedelta(seconds=seconds + 1)  # never too early, in whole seconds
    return {"Retry-After": format_datetime(until, usegmt=True)}


# --- bodies ---


def _body_of(request: Request) -> dict[str, Any] | Reply:
    """The object in the body, or the response that rejects it."""
    media_type, _, charset = request.headers.get("content-type", "").lower().partition(";")
    if media_type.strip() != _JSON or charset.strip().replace('"', "") not in ("", "charset=utf-8"):
        return _error(415, "the content type must be application/json")
    try:
        body = read_json(request.body or b"")
    except NotJson as error:
        return _error(400, f"the body is not valid JSON: {error}")
    return body if isinstance(body, dict) else _error(400, "the body must be a JSON object")


def _uploaded(content_type: str, body: bytes) -> bytes:
    if content_type == _JSON:
        try:
            values = json.loads(body).values()
            return base64.b64decode(max(map(str, values), key=len, default=""), validate=True)
        except (ValueError, AttributeError, RecursionError):
            return b""
    if not content_type.startswith("multipart/"):
        return body
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    files = [part for part in message.walk() if part.get_filename()]
    content = files[0].get_payload(decode=True) if files else b""
    return content if isinstance(content, bytes) else b""


def _json_reply(status: int, value: Any) -> Reply:
    return Reply(status, json.dumps(value).encode())


def _error(status: int, message: str) -> Reply:
    return _json_reply(status, {"detail": [message]})


def _errors(status: int, errors: FieldErrors) -> Reply:
    """Every error, by its field."""
    by_field: dict[str, list[str]] = {}
    for name, message in errors:
        by_field.setdefault(name, []).append(message)
    return _json_reply(status, by_field)


def _record(number: int, body: dict[str, Any], pool: TalentPool, company: Company) -> dict[str, Any]:
    """The full record (2.5) of the candidate that a body (4.3) creates; `number` is its id."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    person = {name: body[name] for name in ("email", "first_name", "last_name")}
    post = next(iter(company.job_posts.values()), None)  # the description does not show which one
    job_post = {"hash": post.hash if post else "", "title": post.title if post else ""}
    photo = _file(number * 10 + 1, "photos", f"{number}.jpg", at)
    texts = ("phone_number", "address", "city", "country", "summary", "skills", "seniority")
    return {
        "id": number,
        "user": {"id": number + 5000, **person, "profile_img": photo},
        "job_post": job_post,
        "source_job_post": job_post,
        "company": company.name,
        **person,
        "cv": _file(number * 10, "cvs", f"{body['cv']}.pdf", at),
        "photo": photo,
        **dict.fromkeys(texts, ""),
        "education": [],
        "work_experience": [],
        "tags": [{"id": 1, "title": pool.title}],
        "suitability": "suitable",
        "score": 0,
        "total_work_experience": 0,
        "company_pipeline": {"id": 1, "queue": 1, "name": "New", "key": "new", "created_at": at},
        "rejected_mail_sended": False,
        "source_platform": body.get("source_platform", ""),
        "source_type": "applied_from_candidate",
        "error_status": False,
        "created_at": at,
        "updated_at": at,
    }


def _file(number: int, folder: str, name: str, at: str) -> dict[str, Any]:
    base, path = "https://files.example.com/", f"{folder}/{name}"
    return {
        "id": number,
        "path": path,
        "name": name,
        "type": "application/pdf" if folder == "cvs" else "image/jpeg",
        "file_size": 48_213,
        "base": base,
        "presigned_url": f"{base}{path}?X-Amz-Expires=3600&X-Amz-Signature={number:032x}",
        "uploaded_at": at,
    }
