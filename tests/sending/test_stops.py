"""When sending stops early, and what is reported."""

from __future__ import annotations

import threading
import time

import pytest

from importer.ledger import Scope, State
from importer.models import Outcome, OutcomeKind, Stop
from importer.problems import Problem, StoppedEarly
from importer.sending import Cancellation, ErrorLimit, LoadOptions, Paused, Window
from importer.service import Reply
from tests.ledger.given import problems_of
from tests.patience import PATIENCE
from tests.sending.given import (
    BROKEN,
    CREATED,
    EXISTS,
    JOB_POST,
    POOL,
    REFUSED,
    Answer,
    Harness,
    Scripted,
    applications,
    by_outcome,
    by_row,
    candidates,
    email_of,
    in_turn,
)

K = OutcomeKind
AGAIN = "run the same command again"
ONE = LoadOptions(concurrency=1)


def kinds(outcomes: dict[int, Outcome]) -> dict[OutcomeKind, int]:
    found: dict[OutcomeKind, int] = {}
    for outcome in outcomes.values():
        found[outcome.kind] = found.get(outcome.kind, 0) + 1
    return found


OF_TOKEN = f"check IMPORTER_TOKEN or IMPORTER_TOKEN_FILE with importer doctor, then {AGAIN}"
OF_ADDRESS = f"set IMPORTER_BASE_URL to the correct address of the service, then {AGAIN}"
OF_FORM = "check IMPORTER_BASE_URL; if it is correct, the service has changed and the importer needs an update"
OF_TARGET = f"check target: in the mapping, then {AGAIN}"
STOPS = {
    401: ("token-refused", "refuses the token (401)", OF_TOKEN),
    307: ("service-redirected", "redirects to another address (307); redirects are not followed", OF_ADDRESS),
    403: (
        "target-forbidden",
        "does not allow adding candidates to job post 4f2c9a (403)",
        f"ask for permission, or check the token, then {AGAIN}",
    ),
    404: ("target-not-found", "cannot find job post 4f2c9a (404)", OF_TARGET),
    410: ("target-not-found", "no longer has job post 4f2c9a (410)", OF_TARGET),
    423: ("target-locked", "has locked job post 4f2c9a (423)", f"wait until it is unlocked, then {AGAIN}"),
    405: ("request-refused", "does not accept this kind of request for job post 4f2c9a (405)", OF_FORM),
}


@pytest.mark.parametrize("status", STOPS)
def test_an_answer_that_stops(harness: Harness, status: int) -> None:
    """Before any row was accepted: the row failed, no other row is sent, and the next run sends them all."""
    code, reason, hint = STOPS[status]
    stop = Stop(code, f"the service {reason}", hint)
    service = Scripted(by_row({row: (Reply(400, f"phone {row}"),) for row in range(2, 5)}, Reply(status, "no")))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop == stop
    assert service.emails == [email_of(row) for row in range(2, 6)]
    failed = Problem(
        "not-accepted", f"the service did not accept this row after 1 attempt ({status}: no)", f"{AGAIN} later"
    )
    assert outcomes[5] == Outcome(5, K.FAILED, status, 1, (failed,))
    not_sent = Problem("not-sent", f"not sent because {stop.reason}", stop.hint)
    assert [outcomes[row] for row in range(6, 10)] == [
        Outcome(row, K.NOT_SENT, problems=(not_sent,)) for row in range(6, 10)
    ]
    later = harness.load(Scripted(in_turn(CREATED)), applications(range(2, 10)))
    assert kinds(later) == {K.REJECTED: 3, K.CREATED: 5}


@pytest.mark.parametrize("status", [302, 303])
def test_a_redirect_that_may_follow_an_acceptance_leaves_the_row_unconfirmed(harness: Harness, status: int) -> None:
    """Some services redirect after accepting: no other row is sent, and the next run confirms this one."""
    service = Scripted(by_row({}, Reply(status, "no")))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop is not None
    assert loader.stop.code == "service-redirected"
    assert (outcomes[2].kind, outcomes[2].status) == (K.UNCONFIRMED, status)
    later = harness.load(Scripted(by_row({2: (Reply(409),)})), applications(range(2, 10)))
    assert kinds(later) == {K.ALREADY_EXISTS: 1, K.CREATED: 7}


def test_a_stop_leaves_an_unconfirmed_row_unconfirmed(harness: Harness) -> None:
    """A 403 to the second attempt says nothing about the first."""
    outcomes = harness.load(Scripted(in_turn(BROKEN, Reply(403))), applications([2]), ONE)
    assert (outcomes[2].kind, outcomes[2].status) == (K.UNCONFIRMED, 403)


def load_with_probes(
    harness: Harness, service: Scripted, rows: int, *probes: bool, options: LoadOptions = ONE
) -> tuple[Stop | None, dict[int, Outcome], int]:
    """A run of that many rows; the stop, the outcomes, and how often the service was probed."""
    asked: list[bool] = []

    def probe() -> bool:
        asked.append(probes[len(asked)])
        return asked[-1]

    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, options, probe=probe)
        outcomes = by_outcome(loader.load(applications(range(2, rows + 2))))
        assert problems_of(ledger) == []
    return loader.stop, outcomes, len(asked)


PAUSED = "too many responses are lost or inconclusive"


def test_ten_inconclusive_answers_in_a_row_hold_the_run(harness: Harness) -> None:
    """After about five seconds the service is asked, then a row that was not tried yet is sent; then all others."""
    service = Scripted(by_row(dict.fromkeys(range(10, 20), (BROKEN, CREATED))))
    stop, outcomes, probes = load_with_probes(harness, service, 60, True)
    assert (stop, kinds(outcomes), probes) == (None, {K.CREATED: 60}, 1)
    assert service.emails[18] == email_of(20)
    assert 60 <= harness.time.elapsed < 85


def test_a_service_that_does_not_respond_to_the_probe_is_not_sent_a_row(harness: Harness) -> None:
    """The waits grow: after 5, 10 and 20 seconds."""
    service = Scripted(by_row(dict.fromkeys(range(10, 20), (BROKEN, CREATED))))
    stop, outcomes, probes = load_with_probes(harness, service, 30, False, False, True)
    assert (stop, kinds(outcomes), probes) == (None, {K.CREATED: 30}, 3)
    assert 60 <= harness.time.elapsed < 85


@pytest.mark.parametrize("answer", [BROKEN, Reply(200)], ids=["500", "200"])
@pytest.mark.parametrize("unclear", [12, 40])
def test_rows_that_are_always_unclear_do_not_hold_back_others(harness: Harness, unclear: int, answer: Reply) -> None:
    """One after the other: three at each probe; all others are created in one run, these are sent 6 times at most."""
    bad = range(100, 100 + unclear)
    service = Scripted(by_row(dict.fromkeys(bad, (answer,))))
    stop, outcomes, _ = load_with_probes(harness, service, 400, *[True] * 500, options=LoadOptions())
    assert (stop, kinds(outcomes)) == (None, {K.CREATED: 400 - unclear, K.UNCONFIRMED: unclear})
    assert {service.emails.count(email_of(row)) for row in bad} == {6}


def test_a_service_that_never_gives_a_clear_answer_is_given_up(harness: Harness) -> None:
    """After 15 minutes; only ten rows are unconfirmed."""
    stop, outcomes, _ = load_with_probes(harness, Scripted(in_turn(CREATED, BROKEN)), 30, *[False] * 50)
    stop, outcomes, _ = load_with_probes(harness, Scripted(in_turn(BROKEN)), 60, *[False] * 50)
    assert stop == Stop(
        "run-stalled",
        f"no row was completed for 15 minutes: {PAUSED}",
        f"wait until the service works again, then {AGAIN}",
    )
    assert kinds(outcomes) == {K.ALREADY_IMPORTED: 30, K.UNCONFIRMED: 10, K.NOT_SENT: 20}
    assert 900 <= harness.time.elapsed < 901


def test_give_up_after_is_an_option(harness: Harness) -> None:
    """--give-up-after 5m is five minutes."""
    options = LoadOptions(concurrency=1, give_up_after=300)
    stop, _, _ = load_with_probes(harness, Scripted(in_turn(BROKEN)), 30, *[False] * 50, options=options)
    assert stop is not None
    assert stop.reason == f"no row was completed for 5 minutes: {PAUSED}"


def test_a_service_that_is_down_is_waited_for_until_the_window_ends(harness: Harness) -> None:
    """Longer than the limit without a window; then what is left is not sent."""
    ends_at = harness.time.at + 2000
    options = LoadOptions(concurrency=1, window=Window(harness.time.time() + 2000, "--until 06:00", waits=True))
    service = Scripted(by_row({2: (CREATED,)}, otherwise=REFUSED))
    stop, outcomes, _ = load_with_probes(harness, service, 30, *[False] * 400, options=options)
    assert stop == Stop(
        "time-over", "the time for sending is over (--until 06:00)", f"{AGAIN}; it continues where it stopped"
    )
    assert harness.time.at == pytest.approx(ends_at)
    assert kinds(outcomes).pop(K.CREATED) == 1
    assert set(kinds(outcomes)) <= {K.CREATED, K.FAILED, K.NOT_SENT, K.UNCONFIRMED}
    assert len(outcomes) == 30


def test_the_longest_runtime_does_not_make_a_run_wait_longer(harness: Harness) -> None:
    """--max-runtime leaves the limit without progress as it is."""
    window = Window(harness.time.time() + 9000, "--max-runtime 150m", waits=False)
    options = LoadOptions(concurrency=1, window=window)
    stop, _, _ = load_with_probes(harness, Scripted(in_turn(BROKEN)), 30, *[False] * 50, options=options)
    assert stop is not None
    assert stop.code == "run-stalled"


def test_a_window_that_ends_after_the_last_row_does_not_matter(harness: Harness) -> None:
    """A run whose rows all have their outcome has not stopped early."""
    window = Window(harness.time.time() - 1, "--until 06:00", waits=True)
    stop, outcomes, _ = load_with_probes(harness, Scripted(in_turn(CREATED)), 0, options=LoadOptions(window=window))
    assert (stop, outcomes) == (None, {})
    stop, outcomes, _ = load_with_probes(harness, Scripted(in_turn(CREATED)), 3, options=LoadOptions(window=window))
    assert (stop and stop.code, kinds(outcomes)) == ("time-over", {K.NOT_SENT: 3})


def test_a_row_that_was_not_accepted_when_the_run_gave_up_has_failed(harness: Harness) -> None:
    """The service stays down: the row that was tried has failed, the others were not sent."""
    stop, outcomes, _ = load_with_probes(harness, Scripted(by_row({2: (CREATED,)}, otherwise=REFUSED)), 30)
    assert stop is not None
    assert stop.reason == "no row was completed for 15 minutes: the service cannot be reached (connection refused)"
    assert set(kinds(outcomes)) == {K.CREATED, K.FAILED, K.NOT_SENT}
    assert outcomes[3].problems[0].message.endswith("(connection refused)")


def test_an_address_that_never_answered_is_not_waited_for_long(harness: Harness) -> None:
    """It is probably a typing error: 30 seconds, in which a service that is just restarting comes back."""
    service = Scripted(in_turn(REFUSED))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, has_answered=False)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
        assert problems_of(ledger) == []
    assert loader.stop == Stop(
        "service-unreachable",
        "the service cannot be reached and has never responded at this address (connection refused)",
        f"check IMPORTER_BASE_URL and the network with importer doctor, then {AGAIN}",
    )
    assert 30 <= harness.time.elapsed < 31
    assert kinds(outcomes) == {K.FAILED: 1, K.NOT_SENT: 7}


def test_waiting_and_its_end_are_reported(harness: Harness) -> None:
    """With the reason, how long, how many rows wait, and when the run would give up."""
    reported: list[Paused | None] = []
    service = Scripted(by_row(dict.fromkeys(range(10, 20), (BROKEN, CREATED))))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, on_waiting=reported.append)
        by_outcome(loader.load(applications(range(2, 32))))
    pause, over, *delays = reported
    assert pause is not None
    assert (pause.reason, pause.rows, 800 < pause.gives_up_in <= 900) == (PAUSED, 10, True)
    assert over is None
    assert delays[0] is not None
    assert delays[0].reason == "unconfirmed rows are sent again after a delay"


def test_a_row_that_is_inconclusive_after_an_odd_answer_is_an_unconfirmed_one(harness: Harness) -> None:
    """It is sent again at the end, and is not named as one that the service refused."""
    reported: list[Paused | None] = []
    service = Scripted(by_row({10: (Reply(401), BROKEN, CREATED)}))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, on_waiting=reported.append)
        outcomes = by_outcome(loader.load(applications(range(2, 32))))
    assert kinds(outcomes) == {K.CREATED: 30}
    assert [one.reason for one in reported if one][-1] == "unconfirmed rows are sent again after a delay"
    assert service.emails[-1] == email_of(10)


@pytest.mark.parametrize("most", [0, 2])
def test_a_system_that_starts_no_more_threads(harness: Harness, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Those that it has started send all rows; without any, the run ends before there is an intent."""
    begin, begun = threading.Thread.start, list[str]()

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("sender"):
            if len(begun) == most:
                raise RuntimeError("can't start new thread")
            begun.append(thread.name)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, Scripted(in_turn(CREATED)), LoadOptions(concurrency=4))
        if most:
            assert kinds(by_outcome(loader.load(applications(range(2, 32))))) == {K.CREATED: 30}
        else:
            with pytest.raises(StoppedEarly, match="starts no more threads, so nothing is sent"):
                by_outcome(loader.load(applications(range(2, 32))))
            assert [*ledger.row_states("run-1")] == []


def test_an_earlier_unconfirmed_row_of_a_run_that_stops_is_sent_by_the_same_command(harness: Harness) -> None:
    """Only who said "never" is told to leave that out."""
    never = LoadOptions(resend_unconfirmed="never")
    harness.load(Scripted(in_turn(BROKEN)), applications([2]), never)
    hints = [
        harness.load(Scripted(in_turn(Reply(401))), applications([3, 2]), options)[2].problems[0].hint
        for options in (LoadOptions(), never)
    ]
    assert [hint.partition("; or")[0].partition(", or")[0] for hint in hints] == [
        "run the same command again to resend it",
        "run the same command without --resend-unconfirmed never (resend_unconfirmed in inbox.toml) to resend it",
    ]


def test_rejections_without_words_are_another_reason(harness: Harness) -> None:
    """Nine rows are refused without a word, and the tenth for its phone number: that is not the same for all."""
    service = Scripted(by_row({11: (Reply(400, "phone: required"),)}, otherwise=Reply(400)))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 12))))
    assert (loader.stop, kinds(outcomes)) == (None, {K.REJECTED: 10})


@pytest.mark.parametrize("scope", [JOB_POST, POOL], ids=["job post", "pool"])
@pytest.mark.parametrize("words", ["", "in the pool"])
def test_the_same_rejection_of_the_first_ten_rows_stops_the_run(harness: Harness, scope: Scope, words: str) -> None:
    """The mapping is wrong; not for a pool whose rejection may mean that the candidate exists."""
    harness.scope = scope
    service, options = Scripted(in_turn(Reply(400, "phone: required"))), LoadOptions(concurrency=1, pool_exists=words)
    rows = (applications if scope is JOB_POST else candidates)(range(2, 92))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, options)
        outcomes = by_outcome(loader.load(rows))
    if scope is POOL and not words:
        assert (loader.stop, kinds(outcomes)) == (None, {K.REJECTED: 90})
        assert "IMPORTER_POOL_EXISTS" in outcomes[2].problems[0].hint
        return
    assert loader.stop == Stop(
        "rejection-repeated",
        "the service rejected all of the first 10 rows for the same reason: phone: required",
        f"fix the mapping, check it with importer check, then {AGAIN}",
    )
    assert kinds(outcomes)[K.REJECTED] == 10


def test_a_pool_that_says_exists_in_words_of_ours(harness: Harness) -> None:
    """With the setting, 90 people whom it has already are no rejected rows."""
    harness.scope = POOL
    service = Scripted(in_turn(Reply(400, "Email: is in the pool")))
    outcomes = harness.load(service, candidates(range(2, 92)), LoadOptions(pool_exists="In the pool"))
    assert kinds(outcomes) == {K.ALREADY_EXISTS: 90}


def test_different_refusals_do_not_stop_the_run(harness: Harness) -> None:
    """Different reasons do not mean that the mapping is wrong."""
    service = Scripted(lambda email, _: Reply(400, f"{email} is not allowed"))
    stop, outcomes, _ = load_with_probes(harness, service, 40)
    assert (stop, kinds(outcomes)) == (None, {K.REJECTED: 40})


@pytest.mark.parametrize(
    ("limit", "sent", "text"),
    [
        pytest.param(
            "2", 5, "3 of the first 5 rows were rejected, failed or unconfirmed; the limit is 2", id="a number"
        ),
        pytest.param(
            "20%",
            20,
            "10 of the first 20 rows were rejected, failed or unconfirmed; the limit is 20%",
            id="a percentage",
        ),
    ],
)
def test_too_many_errors_stop_the_run(harness: Harness, limit: str, sent: int, text: str) -> None:
    """--max-errors stops the run at the row that exceeds it."""
    service = Scripted(lambda email, _: Reply(400, email) if int(email[6:].partition("@")[0]) % 2 == 0 else CREATED)
    options = LoadOptions(concurrency=1, max_errors=ErrorLimit.parse(limit))
    stop, _, _ = load_with_probes(harness, service, 40, options=options)
    assert stop == Stop(
        "too-many-errors",
        text,
        f"open the report, fix the rows or the mapping, then {AGAIN}; or raise the limit "
        "(--max-errors; max_errors in inbox.toml)",
    )
    assert len(service.emails) == sent


# --- interruption ---

INTERRUPTED = Stop("run-interrupted", "the run was interrupted", f"{AGAIN}; it continues where it stopped")


def test_an_interruption_waits_for_requests_in_flight(harness: Harness) -> None:
    """Their responses are recorded, and every other row shows why it was not sent."""
    cancellation = harness.time

    def answer(email: str, _: int) -> Answer:
        if email == email_of(6):
            cancellation.set()
        return CREATED

    service = Scripted(answer)
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, cancellation=cancellation)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop == INTERRUPTED
    assert kinds(outcomes) == {K.CREATED: 5, K.NOT_SENT: 3}
    assert outcomes[9].problems == (Problem("not-sent", "not sent because the run was interrupted", INTERRUPTED.hint),)


@pytest.mark.parametrize(
    ("answer", "kind", "state"),
    [
        pytest.param(Reply(429, retry_after=800), K.FAILED, State.FAILED, id="a Retry-After"),
        pytest.param(BROKEN, K.UNCONFIRMED, State.UNCONFIRMED, id="the resend delay"),
    ],
)
def test_an_interruption_ends_waiting_at_once(
    harness: Harness, answer: Answer, kind: OutcomeKind, state: State
) -> None:
    """A long wait ends at once, and the row gets the correct outcome."""
    cancellation = Cancellation()
    sent = threading.Event()

    def answers(email: str, _: int) -> Answer:
        sent.set()
        return answer

    def interrupt() -> None:
        sent.wait(PATIENCE)
        time.sleep(0.05)
        cancellation.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    began = time.monotonic()
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, Scripted(answers), LoadOptions(resend_delay=600), cancellation=cancellation)
        outcomes = by_outcome(loader.load(applications([2, 3])))
        first, *others = ledger.row_states("run-1")
        assert first.state is state
        assert {row.state for row in others} <= {state, State.PLANNED}  # a sender may not have begun with it
        assert problems_of(ledger) == []
    thread.join()
    assert time.monotonic() - began < PATIENCE
    assert outcomes[2].kind is kind
    assert loader.stop == INTERRUPTED


def test_a_hold_after_an_interruption_is_not_reported(harness: Harness) -> None:
    """The tenth inconclusive response arrives after Ctrl-C: the run does not wait any more."""
    cancellation, last_is_in_flight, reported = Cancellation(), threading.Event(), list[Paused | None]()

    def answer(email: str, _: int) -> Answer:
        if email == email_of(14):
            last_is_in_flight.wait(PATIENCE)
            cancellation.set()
            time.sleep(0.2)
        if email == email_of(15):
            last_is_in_flight.set()
            time.sleep(0.6)
            return CREATED
        return BROKEN if email not in map(email_of, (2, 3, 4)) else CREATED

    with harness.ledger() as ledger:
        loader = harness.loader(
            ledger, Scripted(answer), LoadOptions(concurrency=2), cancellation=cancellation, on_waiting=reported.append
        )
        outcomes = by_outcome(loader.load(applications(range(2, 30))))
        assert problems_of(ledger) == []
    assert (loader.stop, reported) == (INTERRUPTED, [])
    assert kinds(outcomes) == {K.CREATED: 4, K.UNCONFIRMED: 10, K.NOT_SENT: 14}


def test_closing_the_outcomes_stops_sending(harness: Harness) -> None:
    """If the caller stops early, no new row is sent and no answer is lost."""
    slow, begun = threading.Event(), threading.Event()

    def answer(*_: object) -> Answer:
        if slow.is_set():
            begun.set()
            time.sleep(0.3)
        return CREATED

    service = Scripted(answer)
    with harness.ledger() as ledger:
        outcomes = harness.loader(ledger, service).load(applications(range(2, 500)))
        for _ in range(5):
            next(outcomes)
        slow.set()
        while not begun.is_set():
            next(outcomes)
        outcomes.close()
        sent = len(service.emails)
        assert sent < 100
    later = harness.load(Scripted(in_turn(EXISTS)), applications(range(2, 500)))
    assert kinds(later) == {K.ALREADY_IMPORTED: sent, K.ALREADY_EXISTS: 498 - sent}
