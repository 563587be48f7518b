"""The sink: its responses and its counts."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from benchmarks.candidates import QUESTIONS
from benchmarks.certificate import make_certificate
from benchmarks.sink_process import SinkProcess
from benchmarks.token_bucket import TokenBucket
from tests.patience import PATIENCE, wait_until

APPLY = "/api/v1/job-posts/4f2c9a/apply/"


def post(url: str, email: str, verify: bool | str = True) -> requests.Response:
    return requests.post(url + APPLY, json={"email": email, "answers": []}, timeout=PATIENCE, verify=verify)


def test_questions_and_applications() -> None:
    """It returns its questions, and accepts each application with 201."""
    with SinkProcess() as sink:
        listed = requests.get(sink.url + "/api/v1/client/job-posts/4f2c9a/questions/", timeout=PATIENCE)
        taken = [post(sink.url, f"person{number}@example.com") for number in range(3)]
    assert listed.json() == {"success": "OK", "content": QUESTIONS}
    assert [answer.status_code for answer in taken] == [201, 201, 201]
    assert (sink.figures.requests, sink.figures.accepted, sink.figures.twice, sink.figures.lists) == (3, 3, 0, 1)


@pytest.mark.parametrize(
    ("arguments", "second"), [((), 201), (("--conflict",), 409)], ids=["accepted again", "conflict"]
)
def test_a_candidate_sent_twice_is_counted(arguments: tuple[str, ...], second: int) -> None:
    """A candidate that was accepted before is counted, whatever the response."""
    with SinkProcess(*arguments) as sink:
        answers = [post(sink.url, "ada@example.com").status_code for _ in range(2)]
    assert answers == [201, second]
    assert sink.figures.twice == 1


def test_beyond_its_limit_it_answers_429() -> None:
    """Beyond the bucket it answers 429, and such a request is not accepted."""
    with SinkProcess("--limit", "0.001", "--burst", "2", "--retry-after", "7") as sink:
        answers = [post(sink.url, f"person{number}@example.com") for number in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].headers["Retry-After"] == "7"
    assert (sink.figures.accepted, sink.figures.refused, sink.figures.twice) == (2, 1, 0)


def test_delay() -> None:
    """A response arrives after the delay, not before."""
    with SinkProcess("--delay", "150") as sink:
        answer = post(sink.url, "ada@example.com")
    assert answer.elapsed.total_seconds() >= 0.15


def test_an_outage() -> None:
    """When it is down it cannot be reached; afterwards it still knows whom it accepted."""

    def status() -> int | None:
        try:
            return post(sink.url, "ada@example.com").status_code
        except requests.exceptions.ConnectionError:
            return None

    with SinkProcess("--conflict", "--down-after", "0.1", "--down", "2") as sink:
        assert status() == 201
        wait_until(lambda: status() is None)
        wait_until(lambda: status() == 409)
    assert sink.figures.accepted == 1


def test_tls(tmp_path: Path) -> None:
    """Over TLS, only a client that trusts the certificate gets a response."""
    certificate = make_certificate(tmp_path)
    if certificate is None:
        pytest.skip("no openssl on this machine")
    with SinkProcess(certificate=certificate) as sink:
        answer = post(sink.url, "ada@example.com", verify=str(certificate.certificate))
        with pytest.raises(requests.exceptions.SSLError):
            post(sink.url, "ada@example.com")
    assert answer.status_code == 201


def test_token_bucket() -> None:
    """It has at most `burst` tokens, and fills at its rate."""
    bucket = TokenBucket(rate=10, burst=2, now=0)
    taken = [bucket.take(now) for now in (0, 0, 0, 0.05, 0.1, 0.1, 60, 60, 60)]
    assert taken == [True, True, False, False, True, False, True, True, False]
