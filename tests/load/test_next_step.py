"""What follows a response, rule by rule, for its row and for the run (design, section 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.ledger import State
from importer.load import ErrorLimit, LoadOptions
from importer.load.jobs import Job, Next, PriorAttempt
from importer.load.next_step import (
    Conditions,
    RunState,
    Step,
    Suspension,
    after_answer,
    after_pause,
    after_question_probe,
    after_time,
)
from importer.service import Reply
from tests.load.given import BROKEN, CREATED, EXISTS, JOB_POST, POOL, REFUSED, SILENT, Answer

NOW = 1000.0
NEW = Job(2, b"identity", b"{}", b"digest")
SENT = NEW._replace(attempts=1, tries=1, prior=PriorAttempt.SAME_BYTES)  # once, with an inconclusive response
CHANGED = NEW._replace(prior=PriorAttempt.OTHER_BYTES)
PROBE = SENT._replace(is_probe=True)
BUSY = RunState(NOW - 100, finals=3)
PAUSED = BUSY._replace(suspension=Suspension("inconclusive", "why", NOW), waits=1)
HELD = BUSY._replace(suspension=Suspension("refused", "why", NOW, holds=1))
BAD = Reply(400, "phone: required")
TOO_MANY, UNAVAILABLE = Reply(429), Reply(503)


def step(run: RunState, job: Job, answer: Answer, now: float = NOW, *, pool: bool = False, **options: Any) -> Step:
    """One step with a fixed jitter: no change to waits, one eighth more for resends."""
    target = (POOL if pool else JOB_POST).target
    return after_answer(run, job, answer, Conditions(target, LoadOptions(**options), now, jitter=0.5))


def after(run: RunState, *answers: Answer, first_row: int = 2, now: float = NOW) -> RunState:
    """The run after responses to new rows."""
    for row, answer in enumerate(answers, start=first_row):
        run = step(run, NEW._replace(row=row), answer, now).run
    return run


# --- the row ---

END, RETRY, RESEND, LAST_PASS = Next.END, Next.RETRY, Next.RESEND, Next.LAST_PASS
S = State
ROWS = [
    # the row, the answer, options -> what next, in how many seconds, the state it is left in, its tries, its refusals
    pytest.param(NEW, CREATED, {}, END, 0, S.CREATED, 0, 0, id="201 creates"),
    pytest.param(NEW, EXISTS, {}, END, 0, S.ALREADY_EXISTS, 0, 0, id="409 exists already"),
    pytest.param(NEW, BAD, {}, END, 0, S.REJECTED, 0, 0, id="400 rejects"),
    pytest.param(NEW, Reply(413), {}, END, 0, S.REJECTED, 0, 0, id="413 rejects"),
    pytest.param(NEW, Reply(422), {}, END, 0, S.REJECTED, 0, 0, id="422 rejects"),
    pytest.param(SENT, CREATED, {}, END, 0, S.CREATED, 1, 0, id="201 confirms"),
    pytest.param(SENT, EXISTS, {}, END, 0, S.ALREADY_EXISTS, 1, 0, id="409 confirms"),
    pytest.param(SENT, BAD, {}, END, 0, S.REJECTED, 1, 0, id="400 to the same body is final for a job post"),
    pytest.param(CHANGED, BAD, {}, END, 0, S.UNCONFIRMED, 0, 0, id="400 to another body is not final"),
    pytest.param(SENT, BAD, {"pool": True}, END, 0, S.UNCONFIRMED, 1, 0, id="400 in a pool is not final"),
    pytest.param(NEW, BAD, {"pool": True}, END, 0, S.REJECTED, 0, 0, id="400 to the first request in a pool rejects"),
    pytest.param(NEW, Reply(401), {}, END, 0, S.FAILED, 0, 0, id="401 was not accepted"),
    pytest.param(
        NEW,
        Reply(401, is_outdated=True),
        {},
        RETRY,
        0,
        S.PLANNED,
        0,
        0,
        id="401 with a new token is sent again at once",
    ),
    pytest.param(
        SENT,
        Reply(401, is_outdated=True),
        {},
        RETRY,
        0,
        S.UNCONFIRMED,
        1,
        0,
        id="401 with a new token confirms nothing",
    ),
    pytest.param(SENT, Reply(403), {}, END, 0, S.UNCONFIRMED, 1, 0, id="403 confirms nothing"),
    pytest.param(NEW, Reply(302), {}, END, 0, S.UNCONFIRMED, 0, 0, id="302 may follow an acceptance"),
    pytest.param(NEW, BROKEN, {}, RESEND, 60, S.UNCONFIRMED, 1, 0, id="500 is sent again one delay later"),
    pytest.param(NEW, SILENT, {}, RESEND, 60, S.UNCONFIRMED, 1, 0, id="no response is sent again one delay later"),
    pytest.param(NEW, Reply(200), {}, RESEND, 60, S.UNCONFIRMED, 1, 0, id="200 is not created"),
    pytest.param(SENT, BROKEN, {}, RESEND, 67.5, S.UNCONFIRMED, 2, 0, id="later delays are spread by chance"),
    pytest.param(SENT._replace(tries=12), BROKEN, {}, END, 0, S.UNCONFIRMED, 13, 0, id="twelve resends and no more"),
    pytest.param(NEW, BROKEN, {"max_attempts": 1}, END, 0, S.UNCONFIRMED, 1, 0, id="how many is a choice"),
    pytest.param(NEW, BROKEN, {"resend_unconfirmed": "never"}, END, 0, S.UNCONFIRMED, 1, 0, id="never is never"),
    pytest.param(NEW, BROKEN, {"resend_unconfirmed": "now"}, RESEND, 0, S.UNCONFIRMED, 1, 0, id="now is at once"),
    pytest.param(
        SENT,
        BROKEN,
        {"resend_unconfirmed": "now"},
        RESEND,
        1.125,
        S.UNCONFIRMED,
        2,
        0,
        id="now is a little later each time",
    ),
    pytest.param(
        PROBE, BROKEN, {"run": PAUSED}, RESEND, 67.5, S.UNCONFIRMED, 1, 0, id="a probe does not count as a try"
    ),
    pytest.param(PROBE, CREATED, {"run": PAUSED}, END, 0, S.CREATED, 1, 0, id="a probe confirms its row"),
    pytest.param(NEW, UNAVAILABLE, {}, RESEND, 60, S.UNCONFIRMED, 0, 0, id="503 is inconclusive and not a try"),
    pytest.param(NEW, Reply(503, "", 90), {}, RESEND, 90, S.UNCONFIRMED, 0, 0, id="a longer Retry-After is kept"),
    pytest.param(NEW, Reply(503, "", 9), {}, RESEND, 60, S.UNCONFIRMED, 0, 0, id="a shorter one is within the delay"),
    pytest.param(NEW, TOO_MANY, {}, RETRY, 1, S.PLANNED, 0, 1, id="429 waits"),
    pytest.param(NEW, Reply(425), {}, RETRY, 1, S.PLANNED, 0, 1, id="425 waits"),
    pytest.param(NEW._replace(refusals=3), TOO_MANY, {}, RETRY, 8, S.PLANNED, 0, 4, id="429 waits longer each time"),
    pytest.param(NEW, Reply(429, "", 30), {}, RETRY, 30, S.PLANNED, 0, 1, id="429 holds its row for its Retry-After"),
    pytest.param(SENT, TOO_MANY, {}, RETRY, 1, S.UNCONFIRMED, 1, 1, id="429 confirms nothing"),
    pytest.param(
        NEW, TOO_MANY, {"run": HELD}, RETRY, 0.5, S.PLANNED, 0, 0, id="429 in a suspension counts for the run"
    ),
    pytest.param(
        PROBE, TOO_MANY, {"run": HELD}, RETRY, 0.5, S.UNCONFIRMED, 1, 0, id="429 to a probe counts for the run"
    ),
    pytest.param(
        NEW._replace(refusals=12), TOO_MANY, {}, LAST_PASS, 0, S.PLANNED, 0, 13, id="one more pass at the end"
    ),
    pytest.param(NEW._replace(refusals=25), TOO_MANY, {}, END, 0, S.FAILED, 0, 26, id="and no more passes"),
    pytest.param(NEW, REFUSED, {}, RETRY, 0, S.PLANNED, 0, 0, id="no connection spends nothing"),
    pytest.param(SENT, REFUSED, {}, RETRY, 0, S.UNCONFIRMED, 1, 0, id="no connection confirms nothing"),
]


@pytest.mark.parametrize(("job", "answer", "options", "next_", "seconds", "state", "tries", "refusals"), ROWS)
def test_the_row(
    job: Job,
    answer: Answer,
    options: dict[str, Any],
    next_: Next,
    seconds: float,
    state: State,
    tries: int,
    refusals: int,
) -> None:
    """What follows for the row, when, and its counts."""
    options = dict(options)
    found = step(options.pop("run", BUSY), job, answer, **options)
    in_seconds = found.due - NOW if found.next in (RETRY, RESEND) else 0
    left = found.job
    assert (found.next, in_seconds, found.state) == (next_, seconds, state)
    assert (left.tries, left.refusals) == (tries, refusals)
    assert (left.attempts, left.last) == (job.attempts + 1, answer)


ANY = st.sampled_from([BROKEN, SILENT, UNAVAILABLE, TOO_MANY, REFUSED, BAD, CREATED, EXISTS, Reply(403), Reply(302)])


@given(st.lists(st.tuples(ANY, st.booleans(), st.sampled_from([BUSY, PAUSED, HELD]))), st.booleans())
def test_an_unconfirmed_row_stays_unconfirmed(answers: list[tuple[Answer, bool, RunState]], pool: bool) -> None:
    """After a request that may have arrived, no later response makes the row proven not accepted."""
    job, may_have_arrived = NEW, False
    for answer, is_probe, run in answers:
        found = step(run, job._replace(is_probe=is_probe), answer, pool=pool)
        may_have_arrived |= answer in (BROKEN, SILENT, UNAVAILABLE)
        if may_have_arrived:
            assert found.state not in (State.PLANNED, State.FAILED)
            assert not (pool and found.state is State.REJECTED)
        if found.next is Next.END:
            return
        job = found.job


# --- the run: suspension ---


def test_ten_inconclusive_answers_in_a_row_suspend_the_run() -> None:
    """Nine do not, nor do ten with a clear one between them; the first wait is five seconds."""
    assert after(BUSY, *[BROKEN] * 9).suspension is None
    assert after(BUSY, *[BROKEN] * 9, CREATED, *[BROKEN] * 9).suspension is None
    pause = after(BUSY, *[BROKEN, SILENT, UNAVAILABLE, Reply(200), BROKEN] * 2).suspension
    assert pause == Suspension("inconclusive", "too many responses are lost or inconclusive", NOW + 5)


def test_thirty_of_fifty_suspend_the_run() -> None:
    """Also with clear responses between them; twenty-nine do not, and older ones do not count."""
    mixed = [BROKEN, BROKEN, BROKEN, CREATED, CREATED] * 10
    assert after(BUSY, *mixed).suspension is not None
    assert after(BUSY, *[CREATED, *mixed[1:]] * 3).suspension is None


def test_one_row_that_always_fails_does_not_suspend_the_run() -> None:
    """Only different rows count."""
    run = BUSY
    for _ in range(60):
        run = step(run, SENT, BROKEN).run
    assert run.suspension is None


@pytest.mark.parametrize(
    ("waits", "answer", "seconds"),
    [
        pytest.param(1, BROKEN, 10, id="the second wait"),
        pytest.param(2, SILENT, 20, id="the third"),
        pytest.param(3, UNAVAILABLE, 40, id="the fourth"),
        pytest.param(4, BROKEN, 60, id="the fifth"),
        pytest.param(99, BROKEN, 60, id="all others"),
        pytest.param(1, TOO_MANY, 10, id="a probe that is refused"),
        pytest.param(1, REFUSED, 10, id="a probe without a connection"),
        pytest.param(1, Reply(503, "", 25), 25, id="a longer Retry-After"),
        pytest.param(3, Reply(503, "", 25), 40, id="a shorter Retry-After"),
    ],
)
def test_a_probe_without_a_clear_answer_waits_for_longer(waits: int, answer: Answer, seconds: float) -> None:
    """5, 10, 20, 40, 60, 60 ... seconds; clear probes so far still count."""
    paused = PAUSED._replace(waits=waits, suspension=Suspension("inconclusive", "why", NOW, clear=2))
    run = step(paused, PROBE, answer).run
    assert (run.suspension, run.waits) == (Suspension("inconclusive", "why", NOW + seconds, clear=2), waits + 1)


@pytest.mark.parametrize("is_row", [True, False], ids=["a row", "the question list"])
def test_three_clear_probes_end_a_suspension(is_row: bool) -> None:
    """Each next one follows at once; then rows are sent one at a time until three have a final response."""
    run, breaks = PAUSED._replace(window=(-1,), streak=(2,)), []
    for _ in range(3):
        run = (
            step(run, PROBE, CREATED).run
            if is_row
            else after_question_probe(run, True, Conditions(JOB_POST.target, LoadOptions(), NOW, 0.5))
        )
        breaks.append(run.suspension)
    assert breaks == [
        Suspension("inconclusive", "why", NOW, clear=1),
        Suspension("inconclusive", "why", NOW, clear=2),
        None,
    ]
    assert (run.window, run.streak, run.is_sequential, run.waits) == ((), (), True, 1)
    assert not after(run, CREATED, EXISTS, BAD).is_sequential


def test_a_failed_probe_of_the_questions_waits_for_longer() -> None:
    """Like a row; without a suspension it has no effect."""
    given = Conditions(JOB_POST.target, LoadOptions(), NOW, 0.5)
    assert after_question_probe(PAUSED, False, given).suspension == Suspension("inconclusive", "why", NOW + 10)
    assert after_question_probe(BUSY, False, given) == BUSY


@pytest.mark.parametrize(("clear", "waits"), [(40, 0), (39, 2)])
def test_clear_answers_reset_the_waits(clear: int, waits: int) -> None:
    """After at least forty clear responses of fifty, the first wait is five seconds again."""
    mixed = [*[BROKEN, CREATED] * (50 - clear), *[CREATED] * (2 * clear - 50)]
    assert len(mixed) == 50
    assert after(BUSY._replace(waits=2), *mixed).waits == waits


def test_an_earlier_request_does_not_extend_a_suspension() -> None:
    """A request that was in flight when the suspension began is not a probe."""
    for answer in (BROKEN, TOO_MANY, REFUSED, CREATED):
        assert step(PAUSED, NEW, answer).run.suspension == PAUSED.suspension


# --- the run: refusals, no connection ---


def test_more_than_thirty_percent_of_refusals_suspend_the_run() -> None:
    """Sixteen of the last fifty; fifteen do not. The window is empty after that."""
    assert after(BUSY, *[TOO_MANY] * 15, *[CREATED] * 100).suspension is None
    held = after(BUSY, *[CREATED] * 34, *[TOO_MANY] * 16)
    assert held.suspension == Suspension("refused", "the service refuses too many requests (429)", NOW + 0.5, holds=1)
    assert held.window == ()
    asked = after(BUSY, *[TOO_MANY] * 15, Reply(429, "", 30)).suspension
    assert asked is not None
    assert asked.until == NOW + 30


def test_a_single_refusal_delays_only_its_row() -> None:
    """So does its Retry-After."""
    assert after(BUSY, Reply(429, "", 30)).suspension is None


@pytest.mark.parametrize(
    ("holds", "answer", "until"),
    [
        pytest.param(1, CREATED, None, id="accepted"),
        pytest.param(1, BAD, None, id="rejected"),
        pytest.param(1, BROKEN, None, id="an inconclusive response is not a refusal"),
        pytest.param(1, TOO_MANY, 1, id="refused again"),
        pytest.param(2, TOO_MANY, 2, id="and again"),
        pytest.param(50, TOO_MANY, 60, id="at most a minute"),
        pytest.param(9, Reply(429, "", 3), 3, id="as the service asks"),
        pytest.param(1, REFUSED, 1, id="no connection"),
    ],
)
def test_one_probe_ends_a_suspension_for_refusals(holds: int, answer: Answer, until: float | None) -> None:
    """The first that is not refused ends it."""
    run = step(BUSY._replace(suspension=Suspension("refused", "why", NOW, holds=holds)), PROBE, answer).run
    expected = None if until is None else Suspension("refused", "why", NOW + until, holds=holds + 1)
    assert run.suspension == expected


def test_a_failed_connection_suspends_the_run() -> None:
    """At once, with the reason."""
    held = after(BUSY, REFUSED).suspension
    assert held == Suspension("unreachable", "the service cannot be reached (connection refused)", NOW + 0.5, holds=1)


ODD = BUSY._replace(accepted=9)
ASIDE = NEW._replace(attempts=1, odd=1, accepted_then=8, last=Reply(403))


@pytest.mark.parametrize(
    ("run", "job", "next_", "state"),
    [
        pytest.param(ODD, NEW, Next.LAST_PASS, State.PLANNED, id="for the first time"),
        pytest.param(ODD, NEW._replace(attempts=20), Next.LAST_PASS, State.PLANNED, id="after twenty 429s"),
        pytest.param(ODD, ASIDE, Next.END, State.REJECTED, id="again, and another row was accepted between"),
        pytest.param(ODD._replace(odd=1), ASIDE, Next.END, State.REJECTED, id="the last row was refused, too"),
        pytest.param(ODD._replace(odd=2), ASIDE, Next.LAST_PASS, State.PLANNED, id="new rows are refused, too"),
        pytest.param(ODD._replace(accepted=8), ASIDE, Next.LAST_PASS, State.PLANNED, id="no row was accepted between"),
        pytest.param(ODD, ASIDE._replace(last=Reply(404)), Next.LAST_PASS, State.PLANNED, id="with another status"),
        pytest.param(ODD._replace(accepted=8), ASIDE._replace(odd=4), Next.END, State.FAILED, id="for the fifth time"),
    ],
)
def test_a_row_that_is_refused_where_others_were_accepted(run: RunState, job: Job, next_: Next, state: State) -> None:
    """It is rejected only if the service has accepted another row since, and does not refuse new ones."""
    found = step(run, job, Reply(403, "blocked"))
    assert (found.next, found.state, found.run.stop) == (next_, state, None)


@pytest.mark.parametrize(
    ("since", "after"),
    [
        pytest.param(NOW - 130, NOW - 30, id="30 seconds before the pause"),
        pytest.param(NOW - 100, NOW, id="when it began"),
        pytest.param(NOW - 50, NOW, id="an answer came in it"),
    ],
)
def test_the_time_of_a_pause_does_not_count(since: float, after: float) -> None:
    """After a pause of 100 seconds the time until giving up is unchanged."""
    run = BUSY._replace(progress_at=since, unreachable=2, unreachable_since=since)
    resumed = after_pause(run, NOW - 100, NOW)
    assert resumed == run._replace(progress_at=after, unreachable_since=after)


ADDRESSES = [
    pytest.param(False, 0, [REFUSED] * 2, None, id="two tries"),
    pytest.param(False, 0, [REFUSED] * 3, "service-unreachable", id="three tries"),
    pytest.param(False, 30, [REFUSED] * 2, "service-unreachable", id="half a minute"),
    pytest.param(False, 0, [REFUSED, SILENT, *[REFUSED] * 2], None, id="something was there between"),
    pytest.param(False, 0, [TOO_MANY, *[REFUSED] * 9], None, id="it has answered in this run"),
    pytest.param(True, 30, [REFUSED] * 9, None, id="it has answered in an earlier run"),
]


@pytest.mark.parametrize(("has_answered", "seconds", "answers", "code"), ADDRESSES)
def test_an_address_that_never_answered_is_not_waited_for(
    has_answered: bool, seconds: float, answers: list[Answer], code: str | None
) -> None:
    """It is probably a typing error."""
    run = RunState(NOW, has_answered=has_answered)
    for number, answer in enumerate(answers):
        run = after(run, answer, now=NOW + number * seconds)
    assert (run.stop.code if run.stop else None) == code


# --- the run: its end ---


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        pytest.param({}, 900, id="a quarter of an hour"),
        pytest.param({"give_up_after": 60, "resend_delay": 1}, 60, id="as long as was chosen"),
        pytest.param({"give_up_after": 60}, 120, id="at least two delays of a row that is sent again"),
    ],
)
def test_without_progress_a_run_gives_up(options: dict[str, Any], seconds: float) -> None:
    """Not sooner."""
    progress = PAUSED._replace(progress_at=NOW)
    for passed, code in ((seconds - 0.1, None), (seconds, "run-stalled")):
        run = after_time(progress, LoadOptions(**options).stall_timeout, NOW + passed)
        assert (run.stop.code if run.stop else None) == code


@pytest.mark.parametrize(
    ("run", "job", "answer", "is_progress"),
    [
        pytest.param(BUSY, NEW, CREATED, True, id="a final answer"),
        pytest.param(PAUSED, PROBE, EXISTS, True, id="a probe that confirms its row"),
        pytest.param(BUSY, SENT, BROKEN, True, id="a try more of at most thirteen"),
        pytest.param(BUSY, NEW, BROKEN, False, id="a first try"),
        pytest.param(PAUSED, PROBE, BROKEN, False, id="a probe that confirms nothing"),
        pytest.param(BUSY, SENT, UNAVAILABLE, False, id="503"),
        pytest.param(BUSY, NEW, TOO_MANY, False, id="429"),
        pytest.param(BUSY, NEW, REFUSED, False, id="no connection"),
    ],
)
def test_what_is_progress(run: RunState, job: Job, answer: Answer, is_progress: bool) -> None:
    """Only what brings a row closer to its outcome, so that every run ends."""
    assert (step(run, job, answer).run.progress_at == NOW) is is_progress


STOPS = {401: "token-refused", 403: "target-forbidden", 404: "target-not-found", 405: "request-refused"}
STOPS |= {410: "target-not-found", 423: "target-locked", 302: "service-redirected", 307: "service-redirected"}


@pytest.mark.parametrize(("status", "code"), STOPS.items())
def test_a_response_that_every_row_would_get_stops_the_run(status: int, code: str) -> None:
    """The first one is the reason; later ones do not change it."""
    run = after(BUSY, Reply(status), Reply(401), Reply(403))
    assert run.stop is not None
    assert run.stop.code == code


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        pytest.param([BAD] * 9, None, id="nine"),
        pytest.param([BAD] * 10, "rejection-repeated", id="the first ten"),
        pytest.param([CREATED, *[BAD] * 24], None, id="twenty-four later on"),
        pytest.param([CREATED, *[BAD] * 25], "rejection-repeated", id="twenty-five later on"),
        pytest.param([CREATED, *[BAD] * 24, EXISTS, BAD], None, id="another answer between"),
        pytest.param([*[BAD] * 9, Reply(400, "cv: unknown"), BAD], None, id="another reason between"),
        pytest.param([*[BAD, BROKEN] * 9, BAD], "rejection-repeated", id="inconclusive ones say nothing"),
    ],
)
def test_the_same_rejection_of_all_rows_stops_the_run(answers: list[Answer], code: str | None) -> None:
    """The mapping is wrong."""
    run = after(RunState(NOW), *answers)
    assert (run.stop.code if run.stop else None) == code


@pytest.mark.parametrize(
    ("answer", "options", "is_error"),
    [
        pytest.param(BAD, {}, True, id="rejected"),
        pytest.param(CREATED, {}, False, id="created"),
        pytest.param(BROKEN, {"max_attempts": 1}, True, id="unconfirmed in the end"),
        pytest.param(BROKEN, {}, False, id="not ended"),
        pytest.param(TOO_MANY, {}, False, id="refused for now"),
    ],
)
def test_what_counts_as_an_error(answer: Answer, options: dict[str, Any], is_error: bool) -> None:
    """--max-errors stops the run at the row that exceeds the limit."""
    stop = step(BUSY, NEW, answer, max_errors=ErrorLimit(0), **options).run.stop
    assert (stop.code if stop else None) == ("too-many-errors" if is_error else None)


def test_the_first_rows_go_one_at_a_time() -> None:
    """Until three have a final response; inconclusive ones and refusals do not count."""
    run = after(RunState(NOW), CREATED, BROKEN, TOO_MANY, EXISTS)
    assert run.is_sequential
    assert not after(run, BAD).is_sequential
