"""The recruiting service itself: a request becomes a delivery, by the published contract and nothing else."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from importer.sandbox.bodies import check_application, check_pool_candidate
from importer.sandbox.company import Company, JobPost, TalentPool
from importer.sandbox.faults import Delivery, Faults, FaultSelector, Subject, deliver
from importer.sandbox.http_messages import (
    Operation,
    Refusal,
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
_PRESIGNED = "https://files.example.com/{path}?X-Amz-Expires=3600&X-Amz-Signature={signature}"


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """How one sandbox is to run; every path may be None.

    `port` 0 takes a free one. `questions` None takes the file that ships with the importer. `memory` keeps what was
    accepted (JSON lines, personal data), `log` every request (JSON lines, no personal data), `faults` says which
    requests meet which fault. `pool_duplicate_status` answers a second addition to a talent pool: the service
    description (4.3) does not show it. With `exit_with_stdin` the sandbox ends when its standard input ends.
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


class SandboxApp:
    """Answers requests one at a time: to decide on a submission and to remember it is one step, the first wins."""

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
        """What a request gets; what is accepted is remembered before this returns."""
        route = find_route(request.path)
        refused = self._refuse_outright(request, route)
        if refused or route is None:
            return Delivery(refused or self._error(404, Refusal("", "there is no such path")))
        if route.operation is Operation.HEALTH:
            return Delivery(json_reply(200, {"status": "ok"}))
        body = self._read_body(request, route)
        hits = self._selector.select(_subject(route, body))

        def work() -> Reply:
            return body if isinstance(body, Reply) else self._operate(route, body)

        return deliver(hits, work, self._shape, self._clock())

    def _refuse_outright(self, request: Request, route: Route | None) -> Reply | None:
        """The answer to a request that never reaches an operation: too large, unknown, wrong method, no token."""
        if request.too_large:
            return self._error(413, Refusal("", "the body is too large"))
        if route is None:
            return None
        if request.method not in route.methods:
            reply = self._error(405, Refusal("", f"{request.method} is not allowed here"))
            return Reply(reply.status, reply.body, reply.content_type, (("Allow", ", ".join(route.methods)),))
        if route.operation is not Operation.HEALTH and not self._knows(request.headers.get("authorization")):
            reply = self._error(401, Refusal("", "the bearer token is missing or wrong"))
            return Reply(reply.status, reply.body, reply.content_type, (("WWW-Authenticate", "Bearer"),))
        return None

    def _knows(self, authorization: str | None) -> bool:
        return authorization is not None and hmac.compare_digest(authorization.encode("latin-1"), self._bearer)

    def _read_body(self, request: Request, route: Route) -> dict[str, Any] | Reply:
        """The object in the body of a POST, an empty one for a GET, or the answer that refuses the body."""
        if route.operation is Operation.QUESTIONS:
            return {}
        if not _is_json(request.headers.get("content-type", "")):
            return self._error(415, Refusal("", "the content type must be application/json"))
        try:
            body = read_json(request.body)
        except NotJson as error:
            return self._error(400, Refusal("", f"the body is no JSON: {error}"))
        if not isinstance(body, dict):
            return self._error(400, Refusal("", "the body must be a JSON object"))
        return body

    def _operate(self, route: Route, body: dict[str, Any]) -> Reply:
        pools, posts = self._company.talent_pools, self._company.job_posts
        if route.operation is Operation.ADD_TO_POOL:
            pool = pools.get(route.target)
            return self._add_to_pool(pool, body) if pool else self._error(404, Refusal("", "no such talent pool"))
        post = posts.get(route.target)
        if post is None:
            return self._error(404, Refusal("", "no such job post"))
        return self._apply(post, body) if route.operation is Operation.APPLY else Reply(200, post.listing)

    def _apply(self, post: JobPost, body: dict[str, Any]) -> Reply:
        refusals = check_application(body, post, self._company.forms)
        if refusals:
            return self._error(400, *refusals)
        duplicate = self._error(409, Refusal("", "the user has already applied to this job post"))
        refused = self._accept(Operation.APPLY, post.hash, body, self._clock(), duplicate)
        return refused or json_reply(201, {"message": "the application was received"})

    def _add_to_pool(self, pool: TalentPool, body: dict[str, Any]) -> Reply:
        refusals = check_pool_candidate(body)
        if refusals:
            return self._error(400, *refusals)
        twice = Refusal("email", "a candidate with this e-mail address is in the talent pool already")
        now, duplicate = self._clock(), self._error(self._duplicate_status, twice)
        refused = self._accept(Operation.ADD_TO_POOL, pool.id, body, now, duplicate)
        return refused or json_reply(201, candidate_record(len(self._memory), body, pool, self._company, now))

    def _accept(
        self, operation: Operation, target: str, body: dict[str, Any], now: datetime, duplicate: Reply
    ) -> Reply | None:
        """Remember the submission, or say with what it is refused."""
        try:
            return None if self._memory.accept(operation, target, body, now) else duplicate
        except OSError as error:
            return self._error(500, Refusal("", f"the sandbox cannot write its memory: {error.strerror}"))

    def _error(self, status: int, *refusals: Refusal) -> Reply:
        return error_reply(status, refusals, self._shape)


def _subject(route: Route, body: dict[str, Any] | Reply) -> Subject:
    email = body.get("email") if isinstance(body, dict) else None
    return Subject(route.operation, route.target, email if isinstance(email, str) else "")


def _is_json(content_type: str) -> bool:
    media_type, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return media_type.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')


def candidate_record(number: int, body: dict[str, Any], pool: TalentPool, company: Company, now: datetime) -> Any:
    """The full record of the candidate that a body (4.3) creates, `number` being its id."""
    at = timestamp(now)
    person = {"email": body["email"], "first_name": body["first_name"], "last_name": body["last_name"]}
    photo = _file_object(number * 10 + 1, f"photos/{number}.jpg", at)
    job_post = _job_post(company)
    return {
        "id": number,
        "user": {"id": number + 5000, **person, "profile_img": photo},
        "job_post": job_post,
        "source_job_post": job_post,
        "company": company.name,
        **person,
        "cv": _file_object(number * 10, f"cvs/{body['cv']}.pdf", at),
        "photo": photo,
        "phone_number": "",
        "address": "",
        "city": "",
        "country": "",
        "education": [],
        "work_experience": [],
        "tags": [{"id": 1, "title": pool.title}],
        "suitability": "suitable",
        "score": 0,
        "summary": "",
        "skills": "",
        "total_work_experience": 0,
        "seniority": "",
        "company_pipeline": {"id": 1, "queue": 1, "name": "New", "key": "new", "created_at": at},
        "rejected_mail_sended": False,
        "source_platform": body.get("source_platform", ""),
        "source_type": "applied_from_candidate",
        "error_status": False,
        "created_at": at,
        "updated_at": at,
    }


def timestamp(moment: datetime) -> str:
    """A moment in UTC as the service writes it: ISO 8601 with Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _job_post(company: Company) -> dict[str, str]:
    """A record names a job post even for a pool; the description does not show which."""
    post = next(iter(company.job_posts.values()), None)
    return {"hash": post.hash if post else "", "title": post.title if post else ""}


def _file_object(number: int, path: str, at: str) -> dict[str, Any]:
    folder, _, name = path.partition("/")
    signature = hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "id": number,
        "path": path,
        "name": name,
        "type": "application/pdf" if folder == "cvs" else "image/jpeg",
        "file_size": 48_213,
        "base": "https://files.example.com/",
        "presigned_url": _PRESIGNED.format(path=path, signature=signature),
        "uploaded_at": at,
    }
