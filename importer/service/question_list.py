"""The question list of a job post (4.1): requested with retries, read page by page, with a hint for each error."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import tenacity
from pydantic import BaseModel, ConfigDict, ValidationError

from importer.models import Operation, Question, Target
from importer.problems import StoppedEarly, UnusableInput, file_problem, unusable_file
from importer.service.transport import NoReply, RawReply
from importer.service.unspecified_forms import message_of, one_line, split_options

LIST_LIMIT: Final = 16 * 1024 * 1024  # bytes of a page
_MOST_PAGES: Final = 100
_QUERY_CHARACTERS: Final = "%/?:@!$&'()*+,;=[]"  # not percent-encoded
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds between two attempts; the wait doubles
_CONTACT: Final = "contact the administrator of your recruiting service"
_LONGEST_TOTAL: Final = 30.0  # seconds, for a service that has never responded

_ListAnswer = RawReply | NoReply


# --- retries -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retries a request with exponential backoff and jitter.

    attempts: the maximum of attempts, at least 1; none is waited for that would start after 30 seconds.
    retry_for: called once if the first attempt fails; seconds for which to retry without a limit of attempts, 0: none.
    on_wait: called before each wait, with its seconds and why the last attempt failed.
    sleep: waits for so many seconds.
    """

    attempts: int = 6
    sleep: Callable[[float], None] = time.sleep
    retry_for: Callable[[], float] = float
    on_wait: Callable[[float, str], None] = lambda *_: None

    def ask(self, attempt: Callable[[], _ListAnswer], retry_after: Callable[[RawReply], float | None]) -> _ListAnswer:
        """The result of the last attempt. A Retry-After replaces our own wait."""
        backoff, retry_for = tenacity.wait_random_exponential(_FIRST_WAIT, _LONGEST_WAIT), cache(self.retry_for)

        def left(state: tenacity.RetryCallState) -> float:
            return (retry_for() or _LONGEST_TOTAL) - (state.seconds_since_start or 0.0)

        def wait(state: tenacity.RetryCallState) -> float:
            found = _found(state)
            asked = None if isinstance(found, NoReply) else retry_after(found)
            return min(backoff(state), max(left(state), 0.0)) if asked is None else asked

        def is_over(state: tenacity.RetryCallState) -> bool:
            is_enough = not retry_for() and state.attempt_number >= self.attempts
            return is_enough or left(state) <= 0 or state.upcoming_sleep > left(state)

        retrying = tenacity.Retrying(
            stop=is_over,
            wait=wait,
            retry=tenacity.retry_if_result(_is_retryable),
            sleep=self.sleep,
            before_sleep=lambda state: self.on_wait(state.upcoming_sleep, _why(_found(state))),
            retry_error_callback=_found,
        )
        return retrying(attempt)


def _found(state: tenacity.RetryCallState) -> _ListAnswer:
    assert state.outcome is not None  # tenacity calls this only after an attempt
    found: _ListAnswer = state.outcome.result()
    return found


def _why(found: _ListAnswer) -> str:
    return found.reason if isinstance(found, NoReply) else f"it responded with {found.status}"


def _is_retryable(found: _ListAnswer) -> bool:
    """Whether to request the list again. Reading it changes nothing, so any failure may be retried."""
    if isinstance(found, NoReply):
        return True
    return found.status in (408, 425, 429) or found.status >= 500 or (found.status == 200 and not found.complete)


# --- the pages -----------------------------------------------------------------------------------


class _Question(BaseModel):
    """A question as described (2.1). `answer_type` is text, so that a new type is reported and does not crash."""

    model_config = ConfigDict(frozen=True)

    id: int
    question_text: str | None = None
    is_required: bool | None = None
    answer_type: str
    options: str | None = None
    question_key: str | None = None
    question_type: str | None = None


class _Saved(BaseModel):
    """A list that `importer questions --json` has written."""

    model_config = ConfigDict(frozen=True)

    questions: list[_Question]


def saved_questions(content: bytes) -> tuple[Question, ...]:
    """The questions of a saved list. Raises ValueError: it is not such a list, or two questions have the same ID."""
    found = _Saved.model_validate_json(content).questions
    if len({one.id for one in found}) < len(found):
        raise ValueError("two questions have the same ID")
    return tuple(_question(one, None) for one in found)


class _Page(BaseModel):
    """The response. `next` is not described; it is followed if present."""

    model_config = ConfigDict(frozen=True)

    success: str | None = None
    content: list[_Question]
    next: str | None = None


def list_url(base_url: str, job_post: str) -> str:
    return f"{base_url}/api/v1/client/job-posts/{job_post}/questions/"


def read_questions(
    base_url: str, job_post: str, get: Callable[[str], _ListAnswer], options_separator: str | None
) -> tuple[Question, ...]:
    """The questions, with their options split. `get` requests the page at a URL.

    Raises:
        UnusableInput: the job post does not exist or belongs to another company (404), or the response does not have
            the described form.
        StoppedEarly: the service refuses the request or cannot be reached.
    """
    target = Target(Operation.APPLY, job_post)
    url: str | None = list_url(base_url, job_post)
    found: list[_Question] = []
    for _ in range(_MOST_PAGES):
        if url is None:
            _refuse_repeated_ids(target, found)
            return tuple(_question(shown, options_separator) for shown in found)
        page = _page(base_url, target, get(url))
        found += page.content
        url = _next_url(url, page.next)
    raise StoppedEarly(f"the question list of {target} has more than {_MOST_PAGES} pages; {_CONTACT}")


def _page(base_url: str, target: Target, answer: _ListAnswer) -> _Page:
    if isinstance(answer, NoReply):
        todo = answer.hint or "check the address (IMPORTER_BASE_URL) and the network"
        message = f"the service at {base_url} cannot be reached: {answer.reason}; nothing was sent"
        raise StoppedEarly(f"{message}; {todo}, then run the same command again")
    if answer.status != 200:
        raise _refused(target, answer)
    if not answer.complete:
        message = f"the question list of {target} was cut off, too slow or too long; nothing was sent"
        raise StoppedEarly(f"{message}; run the same command again later")
    try:
        page = _Page.model_validate_json(answer.body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise _unreadable(base_url, target, f"{place}: {first['msg']}") from None
    if page.success is not None and page.success.upper() != "OK":
        raise _unreadable(base_url, target, f"success is {page.success!r}")
    return page


def _next_url(url: str, following: str | None) -> str | None:
    if not following:
        return None
    first = urlsplit(url)
    try:
        page = urlsplit(urljoin(url, following))
    except ValueError:
        page = None
    # Each request carries the token: it must not go to another host, nor request anything but questions.
    if page is None or page[:3] != first[:3]:
        raise StoppedEarly(
            f"the question list continues at another address ({one_line(following)}); nothing was sent there; "
            f"{_CONTACT}"
        )
    return first._replace(query=quote(page.query, safe=_QUERY_CHARACTERS)).geturl()


def _question(shown: _Question, options_separator: str | None) -> Question:
    return Question(
        id=shown.id,
        text=shown.question_text or "",
        required=bool(shown.is_required),
        answer_type=shown.answer_type,
        options=split_options(shown.options, options_separator),
        key=shown.question_key or None,
        type=shown.question_type,
    )


# --- problems -------------------------------------------------------------------------------------


def _refuse_repeated_ids(target: Target, found: list[_Question]) -> None:
    """Question IDs are unique per job post (part 8); with a duplicate, an answer could go to the wrong question."""
    counts = Counter(question.id for question in found)
    repeated = [(number, count) for number, count in counts.items() if count > 1]
    messages = (f"{count} questions of {target} have the same ID {number}" for number, count in repeated)
    problems = [file_problem("questions-response-invalid", message, _CONTACT, target) for message in messages]
    if problems:
        raise UnusableInput(problems)


def _unreadable(base_url: str, target: Target, why: str) -> UnusableInput:
    return unusable_file(
        "questions-response-invalid",
        f"the question list of {target} has an unexpected format ({why})",
        f"check that {base_url} is correct, or ask the administrator of your recruiting service",
        "IMPORTER_BASE_URL",
    )


def _refused(target: Target, raw: RawReply) -> StoppedEarly | UnusableInput:
    message = message_of(raw)
    reason = f" ({message})" if message else ""
    if raw.status == 404:
        return unusable_file(
            "job-post-not-found",
            f"the service cannot find {target}; it does not exist or belongs to another company{reason}",
            "check the hash (target: in the mapping file), and that the token belongs to the right company",
            target,
        )
    if raw.status == 401:
        return StoppedEarly(
            f"the service refuses the token (401){reason}; nothing was sent; "
            "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token, then run the same command again"
        )
    if 300 <= raw.status < 400:
        return StoppedEarly(
            f"the service responded with {raw.status}{reason}; nothing was sent; redirects are not followed, because "
            "they would send the token elsewhere; if you trust the new address, set IMPORTER_BASE_URL to it"
        )
    return StoppedEarly(
        f"the service did not return the questions of {target}: {raw.status}{reason}; nothing was sent; "
        "run the same command again later; if it still fails, ask the administrator of your recruiting service"
    )
