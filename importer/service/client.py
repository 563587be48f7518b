"""The operations of the service description, part 4, as plain methods."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import pydantic

from importer import __version__
from importer.errors import StoppedEarly, UnusableInput
from importer.models import FilePlace, Operation, Problem, Question, Target
from importer.service import contract
from importer.service.patience import Patience
from importer.service.transport_api import Limits, NoReply, RawReply, Request, send
from importer.service.transports import Wish, chosen_transport
from importer.service.unspecified_forms import one_line, readable, seconds_to_wait, split_options

_LIST_LIMIT = 16 * 1024 * 1024  # bytes of a question list
_MOST_PAGES = 100
_IN_A_QUERY = "%/?:@!$&'()*+,;=[]"  # what stays as it is; a space or a letter that is no ASCII does not


def _now() -> datetime:
    return datetime.now(UTC)


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
        transport: Wish = "auto",
        options_separator: str | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"importer/{__version__}",
        }
        self._post_headers = {**self._headers, "Content-Type": "application/json"}
        self._transport = chosen_transport(limits or Limits(), connections, transport)
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

        def on_raw(raw: RawReply | NoReply | BaseException) -> None:
            try:
                found = raw if isinstance(raw, BaseException) else self._reply(target, raw)
            except BaseException as bug:  # noqa: BLE001 - one of ours is reported, and delays nobody else
                found = bug
            on_done(found)

        self._transport.start(self._submission(target, body), on_raw)

    def _submission(self, target: Target, body: bytes) -> Request:
        if target.operation is Operation.APPLY:
            path = f"/api/v1/job-posts/{target.id}/apply/"
        else:
            path = f"/api/v1/talent-pools/{target.id}/add-candidate/"
        return Request("POST", self._base_url + path, self._post_headers, body)

    def _reply(self, target: Target, raw: RawReply | NoReply) -> Reply | NoReply:
        if isinstance(raw, NoReply):
            return raw
        if raw.status == 201:
            return _created(target.operation, raw)
        return Reply(raw.status, self._message(raw), self._retry_after(raw))

    def probe(self, job_post: str) -> Reply | NoReply:
        """Ask once for a question list (4.1) only to see whether the service answers: changes nothing there.

        A valid token gets 200, or 404 where the job post does not exist; a refused one gets 401.
        """
        raw = send(self._transport, self._list_request(Target(Operation.APPLY, job_post)))
        if isinstance(raw, NoReply):
            return raw
        return Reply(raw.status, "" if raw.status == 200 else self._message(raw), self._retry_after(raw))

    def questions(self, job_post: str, patience: Patience | None = None) -> tuple[Question, ...]:
        """The questions of a job post (4.1), their options split.

        Raises:
            UnusableInput: the job post does not exist or belongs to another company (404), or what answers there is
                no question list as the description shows it.
            StoppedEarly: the service refuses, or cannot be reached.
        """
        target = Target(Operation.APPLY, job_post)
        url: str | None = self._list_request(target).url
        found: list[contract.JobPostQuestion] = []
        for _ in range(_MOST_PAGES):
            if url is None:
                _refuse_repeated_ids(target, found)
                return tuple(self._question(question) for question in found)
            page = self._question_page(url, target, patience or Patience())
            found += page.content
            url = self._next_page(url, page.next)
        raise StoppedEarly(
            f"the question list of {target} has more than {_MOST_PAGES} pages; tell the service's people"
        )

    def _list_request(self, target: Target) -> Request:
        return Request("GET", f"{self._base_url}/api/v1/client/job-posts/{target.id}/questions/", self._headers)

    def _question_page(self, url: str, target: Target, patience: Patience) -> contract.QuestionList:
        request = Request("GET", url, self._headers, body_limit=_LIST_LIMIT)
        raw = patience.run(
            lambda: send(self._transport, request),
            again=_worth_another_read,
            hint=self._retry_after,
        )
        if isinstance(raw, NoReply):
            raise StoppedEarly(
                f"the service at {self._base_url} cannot be reached: {raw.reason}; nothing was sent; "
                "check the address (IMPORTER_BASE_URL) and the network, then run the same command again"
            )
        if raw.status != 200:
            raise _list_refused(target, raw, self._message(raw))
        try:
            page = contract.QuestionList.model_validate_json(raw.body)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the body"
            raise self._no_list(target, f"{place}: {first['msg']}") from None
        if page.success is not None and page.success.upper() != "OK":
            raise self._no_list(target, f"success is {page.success!r}")
        return page

    def _no_list(self, target: Target, why: str) -> UnusableInput:
        return UnusableInput(
            Problem(
                "questions-unreadable",
                f"what answers for the questions of {target} is not what the service description shows ({why})",
                f"is {self._base_url} the address of the service? else show this to the service's people",
                FilePlace("IMPORTER_BASE_URL"),
            )
        )

    def _next_page(self, url: str, following: str | None) -> str | None:
        if not following:
            return None
        first = urlsplit(url)
        try:
            page = urlsplit(urljoin(url, following))
        except ValueError:
            page = None
        # The token goes with each request: it must not leave for another host, nor ask for anything but questions.
        if page is None or page[:3] != first[:3]:
            raise StoppedEarly(
                f"the question list goes on at another address ({one_line(following)}); nothing was sent there; "
                "tell the administrator of your recruiting service"
            )
        return first._replace(query=quote(page.query, safe=_IN_A_QUERY)).geturl()

    def _question(self, shown: contract.JobPostQuestion) -> Question:
        return Question(
            id=shown.id,
            text=shown.question_text or "",
            required=bool(shown.is_required),
            answer_type=shown.answer_type,
            options=split_options(shown.options, self._options_separator),
            key=shown.question_key or None,
            type=shown.question_type,
        )

    def _message(self, raw: RawReply) -> str:
        message = readable(raw.body, raw.headers.get("content-type", ""))
        location = raw.headers.get("location")
        if 300 <= raw.status < 400 and location:
            message = f"it points to {readable(location.encode())}"
        return message

    def _retry_after(self, raw: RawReply | NoReply) -> float | None:
        header = None if isinstance(raw, NoReply) else raw.headers.get("retry-after")
        return seconds_to_wait(header, self._now()) if header is not None else None


def _worth_another_read(raw: RawReply | NoReply) -> bool:
    """A list may be read again whatever became of the first request: reading changes nothing."""
    if isinstance(raw, NoReply):
        return True
    return raw.status in (408, 425, 429) or raw.status >= 500 or (raw.status == 200 and not raw.complete)


def _refuse_repeated_ids(target: Target, found: list[contract.JobPostQuestion]) -> None:
    """Question ids are unique per job post (part 8); with two alike nobody could tell which one an answer is for."""
    counts = Counter(question.id for question in found)
    problems = [
        Problem(
            "question-id-repeated",
            f"{count} questions of {target} have the id {number}",
            "answers could not be told apart; show this to the service's people",
            FilePlace(str(target)),
        )
        for number, count in counts.items()
        if count > 1
    ]
    if problems:
        raise UnusableInput(problems)


def _created(operation: Operation, raw: RawReply) -> Reply:
    """A 201. Of its content only the e-mail is kept: a pool's record carries presigned URLs."""
    message = ""
    try:
        contract.created_body(operation.value, raw.body)
    except pydantic.ValidationError as error:
        # No JSON, no object, or without what makes it one of these; another type of some field is nothing to look at
        if any(not flaw["loc"] or flaw["type"] == "missing" for flaw in error.errors(include_input=False)):
            message = "created, but the response is not what the service description shows"
    try:
        shown = json.loads(raw.body)
    except (ValueError, RecursionError):
        shown = None
    email = shown.get("email") if isinstance(shown, dict) else None
    return Reply(201, message, email=one_line(email) if isinstance(email, str) else "")


def _list_refused(target: Target, raw: RawReply, message: str) -> StoppedEarly | UnusableInput:
    reason = f" ({message})" if message else ""
    if raw.status == 404:
        return UnusableInput(
            Problem(
                "job-post-unknown",
                f"the service knows no {target}, or it belongs to another company{reason}",
                "check the hash (in a mapping file it stands under target:), and the company of the token",
                FilePlace(str(target)),
            )
        )
    if raw.status == 401:
        return StoppedEarly(
            f"the service refuses the token (401){reason}; nothing was sent; "
            "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token, then run the same command again"
        )
    if 300 <= raw.status < 400:
        return StoppedEarly(
            f"the service answers {raw.status}{reason}; nothing was sent; "
            "redirects are not followed, since they would carry the token elsewhere; set IMPORTER_BASE_URL to the "
            "address that it names if you trust it"
        )
    return StoppedEarly(
        f"the service does not give the questions of {target}: {raw.status}{reason}; nothing was sent; "
        "run the same command again later, and ask the service's people if it stays so"
    )
