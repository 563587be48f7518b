"""The recruiting service itself: a request becomes a delivery, by the published contract and nothing else."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from importer.sandbox.bodies import check_application, check_pool_candidate
from importer.sandbox.candidate_record import candidate_record
from importer.sandbox.company import Company, JobPost, TalentPool
from importer.sandbox.delivery import Delivery, delayed, fault_after, fault_before, striking_before
from importer.sandbox.error_shapes import error_reply
from importer.sandbox.faults import FaultDealer, Faults, Subject
from importer.sandbox.memory import Memory
from importer.sandbox.options import SandboxOptions
from importer.sandbox.refusals import Refusal
from importer.sandbox.replies import Reply, json_reply
from importer.sandbox.request import Request
from importer.sandbox.routes import Operation, Route, find_route
from importer.sandbox.strict_json import NotJson, read_json


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
        self._dealer = FaultDealer(faults.faults, faults.seed)
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
        hits = self._dealer.deal(_subject(route, body))
        struck = striking_before(hits)
        if struck:
            return delayed(hits, fault_before(struck, self._shape, self._clock()))
        delivery = Delivery(body if isinstance(body, Reply) else self._operate(route, body))
        return delayed(hits, fault_after(hits, delivery, self._shape, self._clock()))

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
        return self._accept(
            Route(Operation.APPLY, post.hash, ()),
            body,
            created=lambda now: {"message": "the application was received"},
            duplicate=lambda: self._error(409, Refusal("", "the user has already applied to this job post")),
        )

    def _add_to_pool(self, pool: TalentPool, body: dict[str, Any]) -> Reply:
        refusals = check_pool_candidate(body)
        if refusals:
            return self._error(400, *refusals)
        twice = Refusal("email", "a candidate with this e-mail address is in the talent pool already")
        return self._accept(
            Route(Operation.ADD_TO_POOL, pool.id, ()),
            body,
            created=lambda now: candidate_record(len(self._memory), body, pool, self._company, now),
            duplicate=lambda: self._error(self._duplicate_status, twice),
        )

    def _accept(
        self, route: Route, body: dict[str, Any], created: Callable[[datetime], Any], duplicate: Callable[[], Reply]
    ) -> Reply:
        now = self._clock()
        try:
            accepted = self._memory.accept(route.operation, route.target, body, now)
        except OSError as error:
            return self._error(500, Refusal("", f"the sandbox cannot write its memory: {error.strerror}"))
        return json_reply(201, created(now)) if accepted else duplicate()

    def _error(self, status: int, *refusals: Refusal) -> Reply:
        return error_reply(status, refusals, self._shape)


def _subject(route: Route, body: dict[str, Any] | Reply) -> Subject:
    email = body.get("email") if isinstance(body, dict) else None
    return Subject(route.operation, route.target, email if isinstance(email, str) else "")


def _is_json(content_type: str) -> bool:
    media_type, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower()
    return media_type.strip().lower() == "application/json" and charset in ("", "charset=utf-8", 'charset="utf-8"')
