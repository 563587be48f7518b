"""The question list of a job post: reading, retries, and the hint for each error."""

from __future__ import annotations

import json
import socket
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from importer.models import Operation, Question, Target
from importer.problems import StoppedEarly, UnusableInput
from importer.service import NoReply, RecruitingService, RetryPolicy, service_of
from importer.service.client import TransportChoice
from importer.service.unspecified_forms import seconds_to_wait, split_options
from importer.settings import load_settings
from tests.service.scripted import Script, answer, reset, scripted, send_and_close

SHOWN = {
    "id": 12,
    "question_text": "Level",
    "is_required": True,
    "answer_type": "single_choice",
    "options": '["Junior", "Senior"]',
    "question_key": "level",
    "question_type": None,
    "added_later": {"by": "the service"},
}


def listing(*questions: object, **more: object) -> Script:
    return answer("200 OK", json.dumps({"success": "OK", "content": questions, **more}).encode())


def questions(transport: TransportChoice, *scripts: Script, waits: list[float] | None = None) -> tuple[Question, ...]:
    """The questions; waits are recorded, not waited."""
    noted = waits if waits is not None else []
    with scripted(*scripts) as server:
        service = RecruitingService(server.base_url, "t", transport=transport)
        try:
            return service.questions("4f2c9a", RetryPolicy(attempts=3, sleep=noted.append))
        finally:
            service.close()


def test_questions_are_read_as_described(transport: TransportChoice) -> None:
    """Fields of 2.1 are read, others ignored, options split."""
    expected = Question(12, "Level", True, "single_choice", ("Junior", "Senior"), "level", None)
    assert questions(transport, listing(SHOWN)) == (expected,)


def test_the_limits_of_the_settings_are_used(transport: TransportChoice) -> None:
    """A response that drips ends with the total time, whatever is set for a pause in it."""

    def drips(peer: socket.socket) -> None:
        for _ in range(40):
            peer.sendall(b"H")
            time.sleep(0.1)

    with scripted(drips) as server:
        settings = load_settings(token="t", total_timeout=1)
        service = service_of(settings, server.base_url, "t", 1)
        began = time.monotonic()
        found = service.send(Target(Operation.APPLY, "4f2c9a"), b"{}")
        service.close()
    assert isinstance(found, NoReply)
    assert time.monotonic() - began < 3


def test_a_long_retry_after_is_not_waited_for(transport: TransportChoice) -> None:
    """The list is given up after half a minute; a run that has more patience says so."""
    waits: list[float] = []
    with pytest.raises(StoppedEarly, match="429"):
        questions(transport, *[answer("429 Too Many Requests", b"", "Retry-After: 600")] * 3, waits=waits)
    assert waits == []


def test_a_next_page_of_the_same_origin_is_read(transport: TransportChoice) -> None:
    """Paging is not described, but supported."""
    second = {**SHOWN, "id": 13}

    def paged(peer: object) -> None:
        pages.pop(0)(peer)  # type: ignore[operator]

    path = "/api/v1/client/job-posts/4f2c9a/questions/"
    pages = [listing(SHOWN, next=f"{path}?page=2"), listing(second, next="?page= \u00fc"), listing({**SHOWN, "id": 14})]
    assert [question.id for question in questions(transport, paged)] == [12, 13, 14]


def test_a_service_that_is_not_there_is_reported(transport: TransportChoice) -> None:
    """Nothing was sent, and a run ends early."""
    service = RecruitingService("http://127.0.0.1:1", "t", transport=transport)
    with closing(service), pytest.raises(StoppedEarly) as stopped:
        service.questions("4f2c9a", RetryPolicy(attempts=1))
    assert str(stopped.value) == (
        "the service at http://127.0.0.1:1 cannot be reached: the connection was refused; nothing was sent; "
        "check the address (IMPORTER_BASE_URL) and the network, then run the same command again"
    )


@pytest.mark.parametrize(
    "following",
    [
        pytest.param("https://elsewhere.example.com/p2", id="another host"),
        pytest.param("/api/v1/client/users/?page=2", id="another path"),
        pytest.param("../?page=2", id="a path above"),
        pytest.param("http://[::1", id="not a valid address"),
    ],
)
def test_a_next_page_elsewhere_is_refused(transport: TransportChoice, following: str) -> None:
    """The token is sent to no other host and no other path."""
    with pytest.raises(StoppedEarly) as refused:
        questions(transport, listing(SHOWN, next=following))
    assert str(refused.value) == (
        f"the question list continues at another address ({following}); nothing was sent there; "
        "contact the administrator of your recruiting service"
    )


def test_a_busy_service_is_retried(transport: TransportChoice) -> None:
    """A 429 waits for its Retry-After, a reset for our backoff, and the third attempt succeeds."""
    waits: list[float] = []
    scripts = [answer("429 Too Many Requests", b"", "Retry-After: 3", "Connection: close"), reset, listing(SHOWN)]
    assert len(questions(transport, *scripts, waits=waits)) == 1
    assert waits[0] == 3.0
    assert len(waits) == 2


REFUSALS = [
    pytest.param(
        answer("404 Not Found", b'{"detail": "Not found."}'),
        UnusableInput,
        "job post 4f2c9a: the service cannot find job post 4f2c9a; it does not exist or belongs to another company "
        "(Not found.); "
        "check the hash (target: in the mapping file), and that the token belongs to the right company",
        id="404",
    ),
    pytest.param(
        answer("401 Unauthorized"),
        StoppedEarly,
        "the service refuses the token (401); nothing was sent; set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid "
        "token, then run the same command again",
        id="401",
    ),
    pytest.param(
        answer("302 Found", b"", "Location: https://login.example.com/"),
        StoppedEarly,
        "the service responded with 302 (redirects to https://login.example.com/); nothing was sent; redirects are "
        "not followed, because they would send the token elsewhere; if you trust the new address, set "
        "IMPORTER_BASE_URL to it",
        id="a redirect",
    ),
    pytest.param(
        answer("423 Locked", b'{"message": "closed"}'),
        StoppedEarly,
        "the service did not return the questions of job post 4f2c9a: 423 (closed); nothing was sent; run the same "
        "command again later; if it still fails, ask the administrator of your recruiting service",
        id="423",
    ),
    pytest.param(
        answer("503 Service Unavailable"),
        StoppedEarly,
        "the service did not return the questions of job post 4f2c9a: 503; nothing was sent; run the same command "
        "again later; if it still fails, ask the administrator of your recruiting service",
        id="503 after all retries",
    ),
    pytest.param(
        send_and_close(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"success": "OK", "content": ['),
        StoppedEarly,
        "the question list of job post 4f2c9a was cut off, too slow or too long; nothing was sent; run the same "
        "command again later",
        id="cut off after all retries",
    ),
]


@pytest.mark.parametrize(("script", "kind", "message"), REFUSALS)
def test_an_error_has_a_hint(transport: TransportChoice, script: Script, kind: type[Exception], message: str) -> None:
    """Each error message includes what to do."""
    with pytest.raises(kind) as refused:
        questions(transport, script)
    assert str(refused.value) == message


NO_LISTS = [
    pytest.param(
        b'{"content": [{"id": "x"}]}',
        "content.0.id: Input should be a valid integer, unable to parse string as an integer",
        id="another type",
    ),
    pytest.param(b'{"success": "NO", "content": []}', "success is 'NO'", id="no success"),
    pytest.param(b"[]", "the body: Input should be an object", id="no object"),
]


@pytest.mark.parametrize(("body", "why"), NO_LISTS)
def test_a_list_of_another_form_is_reported(transport: TransportChoice, body: bytes, why: str) -> None:
    """Only the described object is a question list."""
    with scripted(answer("200 OK", body)) as server, pytest.raises(UnusableInput) as refused:
        RecruitingService(server.base_url, "t", transport=transport).questions("4f2c9a")
    assert str(refused.value) == (
        f"IMPORTER_BASE_URL: the question list of job post 4f2c9a has an unexpected format ({why}); "
        f"check that {server.base_url} is correct, or ask the administrator of your recruiting service"
    )


def test_two_questions_with_one_id_are_refused(transport: TransportChoice) -> None:
    """IDs are unique per job post; with a duplicate, an answer could go to the wrong question."""
    with pytest.raises(UnusableInput) as refused:
        questions(transport, listing(SHOWN, {**SHOWN, "question_key": "other"}))
    assert str(refused.value) == (
        "job post 4f2c9a: 2 questions of job post 4f2c9a have the same ID 12; "
        "contact the administrator of your recruiting service"
    )


def test_fields_without_a_value_do_not_stop_a_run(transport: TransportChoice) -> None:
    """A question with null fields has no text and is optional."""
    found = questions(transport, listing({**SHOWN, "question_text": None, "is_required": None}))
    assert (found[0].text, found[0].required) == ("", False)


OPTIONS = [
    pytest.param(None, None, (), id="none"),
    pytest.param("", None, (), id="empty"),
    pytest.param('["A", "B, C"]', None, ("A", "B, C"), id="a JSON array"),
    pytest.param('[{"id": 1, "label": "A"}, {"value": "B"}]', None, ("A", "B"), id="a JSON array of objects"),
    pytest.param("[1, 2]", None, ("1", "2"), id="a JSON array of numbers"),
    pytest.param("A, b\nC", None, ("A, b", "C"), id="lines before commas"),
    pytest.param("A; B", None, ("A", "B"), id="semicolons"),
    pytest.param("A|B", None, ("A", "B"), id="bars"),
    pytest.param("A, B,", None, ("A", "B"), id="commas, a blank one left out"),
    pytest.param("A/B; C", "/", ("A", "B; C"), id="a declared separator"),
    pytest.param("[broken", None, ("[broken",), id="not JSON after all"),
    pytest.param("[" * 500_000, None, ("[" * 500_000,), id="nothing but brackets"),
]


@pytest.mark.parametrize(("text", "separator", "options"), OPTIONS)
def test_options_are_split(text: str | None, separator: str | None, options: tuple[str, ...]) -> None:
    """The form of options is not described; all common forms are read."""
    assert split_options(text, separator) == options


NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
WAITS = [
    pytest.param("7", 7.0, id="seconds"),
    pytest.param(" 0 ", None, id="none to wait: no request without a pause"),
    pytest.param("1.5", 1.5, id="a fraction"),
    pytest.param("0.2", 1.0, id="at least a second"),
    pytest.param("99999999", 900.0, id="capped"),
    pytest.param("9" * 5000, 900.0, id="more digits than a number has"),
    pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", 900.0, id="a date at the end of all dates"),
    pytest.param("Fri, 31 Dec 9999 23:59:59 -2359", 900.0, id="and a day after it"),
    pytest.param("Fri, 31 Dec 99999 23:59:59 GMT", None, id="a date that is not valid"),
    pytest.param("-5", None, id="negative"),
    pytest.param("Sat, 21 Nov 2026 12:00:30 GMT", 30.0, id="a date"),
    pytest.param("Sat, 21 Nov 2026 11:00:00 GMT", None, id="a date gone by"),
    pytest.param("soon", None, id="a word"),
    pytest.param("٣", None, id="digits of another script"),
]


@pytest.mark.parametrize(("header", "seconds"), WAITS)
def test_retry_after_is_read_in_both_forms(header: str, seconds: float | None) -> None:
    """Seconds and dates are read, at least one second, capped."""
    assert seconds_to_wait(header, NOW) == seconds
