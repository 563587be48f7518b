"""What follows a response, for its row and for the run: one table and one pure function (design, section 7).

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
for talent pools it shows 201 only. So both operations share one table; only the response to a resend of an
unconfirmed row is read differently: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from importer.ledger import State
from importer.load.explanations import mapping_is_wrong, no_connection, no_progress, target_refused, too_many_errors
from importer.load.jobs import TINY, Job, Next, PriorAttempt
from importer.load.options import LoadOptions
from importer.models import Operation, Stop, Target
from importer.service import NoReply, Reply

WINDOW: Final = 50  # answers
_INCONCLUSIVE_IN_A_ROW: Final = 10
_INCONCLUSIVE_OF_WINDOW: Final = 30
_REFUSED_OF_WINDOW: Final = 15  # more than these: 30 %
_CLEAR_FOR_RESET: Final = 40  # of a full window
_CLEAR_PROBES: Final = 3
_FINAL_BEFORE_CONCURRENCY: Final = 3
_FIRST_WAIT: Final = 0.5  # seconds; each next one is twice as long, up to the longest
_FIRST_WAIT_INCONCLUSIVE: Final = 5.0
_LONGEST_WAIT: Final = 60.0
_NEW_ADDRESS_ATTEMPTS: Final = 3
_NEW_ADDRESS_SECONDS: Final = 30.0
_SAME_FROM_START: Final = 10
_SAME_IN_A_ROW: Final = 25
_ODD_IN_A_ROW: Final = 3  # refusals of what was accepted before, with no accepted row between
_ODD_PROBES: Final = 6  # after which the run stops
LONGEST_ODD_TIME: Final = 60.0  # seconds that these take at most
_ODD_TRIES: Final = 5  # of one row, if no other row is accepted between them
_ODD_WAIT: Final = 5.0  # seconds, at least, until such a row is sent again
_OF_THE_ROW: Final = (403, 404, 415, 423, 451)  # the service may mean this row, if it accepts the others

_CLEAR: Final = -1
_REFUSED: Final = -2


# --- what one response means for its row ---


class Disposition(StrEnum):
    """What one response means for its row."""

    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    REJECTED = "rejected"
    AGAIN = "again"  # proven not processed: sent again after a wait
    AMBIGUOUS = "ambiguous"  # may have been accepted: sent again later with the same body
    STOP_TARGET = "stop_target"  # proven not accepted, and so for every row of this target
    STOP_RUN = "stop_run"  # so for every target
    REDIRECTED = "redirected"  # may have been accepted, and every row of every target would be redirected


@dataclass(frozen=True, slots=True)
class Rule:
    """Statuses with the same meaning. The first rule for a status applies."""

    statuses: Iterable[int]
    disposition: Disposition
    why: str


RULES: tuple[Rule, ...] = (
    Rule((201,), Disposition.CREATED, "the only status that means created"),
    Rule((409,), Disposition.ALREADY_EXISTS, "the candidate exists already"),
    Rule((400, 413, 422), Disposition.REJECTED, "the service rejects this row"),
    Rule((425, 429), Disposition.AGAIN, "not processed, try again later"),
    Rule((401,), Disposition.STOP_RUN, "the token is refused"),
    Rule((403, 404, 410, 423), Disposition.STOP_TARGET, "the target is closed to us"),
    Rule((408,), Disposition.AMBIGUOUS, "a timeout, perhaps of a proxy after the service accepted it"),
    Rule(
        range(400, 500), Disposition.STOP_TARGET, "the form of the request is refused, and it is the same for all rows"
    ),
    Rule((302, 303), Disposition.REDIRECTED, "may also follow an accepted request; redirects are never followed"),
    Rule(range(300, 400), Disposition.STOP_RUN, "the address is wrong; redirects are never followed"),
    Rule(range(500, 600), Disposition.AMBIGUOUS, "may have failed before or after accepting"),
    Rule(range(100, 300), Disposition.AMBIGUOUS, "neither refused nor confirmed as created"),
)

_BY_STATUS = {status: rule.disposition for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply) -> Disposition:
    """The disposition of one response. An unknown status is ambiguous."""
    if isinstance(answer, NoReply):
        return Disposition.AMBIGUOUS if answer.may_have_arrived else Disposition.AGAIN
    if answer.is_outdated:
        return Disposition.AGAIN
    return _BY_STATUS.get(answer.status, Disposition.AMBIGUOUS)


_AFTER_FIRST_ATTEMPT = {
    Disposition.CREATED: State.CREATED,
    Disposition.ALREADY_EXISTS: State.ALREADY_EXISTS,
    Disposition.REJECTED: State.REJECTED,
    Disposition.AGAIN: State.PLANNED,
    Disposition.AMBIGUOUS: State.UNCONFIRMED,
    Disposition.STOP_TARGET: State.FAILED,
    Disposition.STOP_RUN: State.FAILED,
    Disposition.REDIRECTED: State.UNCONFIRMED,
}


def state_after(operation: Operation, disposition: Disposition, prior: PriorAttempt) -> State:
    """The state of an identity after a response.

    If an earlier request may have arrived, only a response about the candidate confirms the row: 201 and 409 do. A
    rejection does if the service would respond with 409 to a second application (4.2) and the body is the same as that
    of the first request. Its response to a second addition to a pool is not shown (4.3) and may be the same 400.
    """
    after = _AFTER_FIRST_ATTEMPT[disposition]
    if prior is PriorAttempt.NONE or disposition in (Disposition.CREATED, Disposition.ALREADY_EXISTS):
        return after
    if disposition is Disposition.REJECTED and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:
        return after
    return State.UNCONFIRMED


# --- what comes next ---


SuspensionKind = Literal["inconclusive", "refused", "unreachable", "odd"]


class Suspension(NamedTuple):
    """A time in which only probes are sent, one at a time, the next one at `until`.

    kind: `inconclusive` ends after three clear responses; `odd` with the first probe that the service accepts; the
    others also with one that it rejects. clear: clear responses to probes so far. holds: waits so far, except for
    `inconclusive`.
    """

    kind: SuspensionKind
    reason: str
    until: float
    clear: int = 0
    holds: int = 0


class RunState(NamedTuple):
    """The state of the run after the responses so far. Times in seconds on the run's clock.

    progress_at: when a row last made progress. has_answered: this address has responded, in this run or an earlier one.
    window: the last responses since the last suspension: clear, refused, or the row number of an inconclusive one.
    streak: the rows of inconclusive responses since the last clear one. waits: waits of inconclusive suspensions since
    the last reset. unreachable_since, unreachable: consecutive requests without a connection. finals: final responses
    since the start or the last inconclusive suspension. answered, same, rejection: to detect that all rows are rejected
    for the same reason. accepted: rows that the service accepted or has already; odd: since the last one of them, rows
    that were refused as if token, target or address were wrong. ended, errors: rows that have their outcome, for
    --max-errors.
    """

    progress_at: float
    has_answered: bool = True
    window: tuple[int, ...] = ()
    streak: tuple[int, ...] = ()
    suspension: Suspension | None = None
    waits: int = 0
    unreachable: int = 0
    unreachable_since: float = 0.0
    finals: int = 0
    answered: int = 0
    same: int = 0
    rejection: str | None = None
    accepted: int = 0
    odd: int = 0
    ended: int = 0
    errors: int = 0
    stop: Stop | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether only one row may be in flight."""
        return self.finals < _FINAL_BEFORE_CONCURRENCY or self.odd > 0


class Step(NamedTuple):
    """What follows a response: the new run state and job, the state of its identity, and what is next.

    due: when the row is sent again.
    """

    run: RunState
    job: Job
    state: State
    next: Next
    due: float = 0.0


class Conditions(NamedTuple):
    """The other inputs of a step. jitter: 0 to 1, to randomize waits."""

    target: Target
    options: LoadOptions
    now: float
    jitter: float


def after_answer(run: RunState, job: Job, answer: Reply | NoReply, conditions: Conditions) -> Step:
    """What follows the response to a request for `job`.

    A 429, a 503 and a failed connection count for the run, not as an attempt of the row; nor does a probe.
    """
    disposition = classify(answer)
    if disposition is Disposition.REJECTED and isinstance(answer, Reply) and _is_in_pool(answer, conditions):
        disposition = Disposition.ALREADY_EXISTS
    state = state_after(conditions.target.operation, disposition, job.prior)
    before, job = job.status, job._replace(attempts=job.attempts + 1, last=answer)
    if isinstance(answer, NoReply):
        if disposition is Disposition.AGAIN:
            return _without_connection(run, job, state, answer, conditions)
        return _after_inconclusive(run._replace(unreachable=0), job, state, conditions)
    if run.unreachable or not run.has_answered:
        run = run._replace(has_answered=True, unreachable=0)
    match disposition:
        case Disposition.AGAIN if answer.is_outdated:
            return Step(run, job, state, Next.RETRY, conditions.now)
        case Disposition.AMBIGUOUS:
            return _after_inconclusive(run, job, state, conditions)
        case Disposition.AGAIN:
            return _after_refusal(run, job, state, answer, conditions)
        case Disposition.STOP_RUN | Disposition.STOP_TARGET | Disposition.REDIRECTED:
            return _after_odd(run, job, state, before, conditions)
        case Disposition.REJECTED:
            return _after_final(run, job, state, answer.message, conditions)
        case Disposition.CREATED | Disposition.ALREADY_EXISTS:
            return _after_final(run, job, state, None, conditions)


def _is_in_pool(answer: Reply, conditions: Conditions) -> bool:
    """Whether the service says so with the words of the setting pool_exists; the status is not shown (4.3)."""
    words = conditions.options.pool_exists
    is_pool = conditions.target.operation is Operation.ADD_TO_POOL
    return is_pool and bool(words) and words.casefold() in answer.message.casefold()


def after_question_probe(run: RunState, succeeded: bool, conditions: Conditions) -> RunState:
    """The run after a probe that requested the question list instead of sending a row."""
    if run.suspension is None:
        return run
    return _after_clear_probe(run, conditions) if succeeded else _wait_longer(run, conditions, None)


def after_pause(run: RunState, began: float, now: float) -> RunState:
    """The run after a person's pause, whose time counts neither against progress nor as unreachable."""
    progress_at, unreachable_since = (now - max(began - at, 0.0) for at in (run.progress_at, run.unreachable_since))
    return run._replace(progress_at=progress_at, unreachable_since=unreachable_since)


def after_time(run: RunState, timeout: float, now: float) -> RunState:
    """The run as time passes: stopped if no row has made progress for `timeout` seconds."""
    if run.stop is not None or now < run.progress_at + timeout - TINY:
        return run
    return _stopped(run, no_progress(timeout, run.suspension.reason if run.suspension else None))


# --- one function for each kind of response ---


def _after_final(run: RunState, job: Job, state: State, rejection: str | None, conditions: Conditions) -> Step:
    """rejection: the reason, if the service rejected the row."""
    window = (*run.window[1 - WINDOW :], _CLEAR)
    is_calm = len(window) == WINDOW and window.count(_CLEAR) >= _CLEAR_FOR_RESET
    same = 0 if rejection is None else run.same + 1 if rejection == run.rejection else 1
    run = run._replace(
        window=window,
        streak=(),
        waits=0 if is_calm else run.waits,
        finals=run.finals + 1,
        answered=run.answered + 1,
        same=same,
        rejection=rejection,
        accepted=run.accepted + (rejection is None),
        odd=0 if rejection is None else run.odd,
    )
    if same >= _SAME_IN_A_ROW or same == run.answered >= _SAME_FROM_START:
        run = _stopped(run, mapping_is_wrong(conditions.target, same, rejection or ""))
    step = _end(run, job, state, conditions)
    return step._replace(run=_after_clear_probe(step.run, conditions)) if job.is_probe else step


def _after_odd(run: RunState, job: Job, state: State, before: int | None, conditions: Conditions) -> Step:
    """A response as if token, target or address were wrong. before: the status of the row's response before this one.

    Where no row was accepted, it is true of every row. Where others were, it may be one row's fate or one odd second:
    the row waits until all others are done, the next one is sent alone, and several in a row suspend the run.
    """
    options, stop, suspension = conditions.options, target_refused(conditions.target, job.status or 0), run.suspension
    is_odd_time = suspension is not None and suspension.kind == "odd"
    is_over = is_odd_time and job.is_probe and suspension is not None and suspension.holds >= _ODD_PROBES
    if is_over or not run.accepted:
        return _end(_stopped(run, stop), job, state, conditions)
    has_accepted_since = job.odd > 0 and run.accepted > job.accepted_then
    is_of_row = has_accepted_since and job.status == before and job.status in _OF_THE_ROW
    if is_of_row and not is_odd_time and run.odd <= 1:  # one: the last row of all may be refused for itself, too
        return _end(run, job, State.REJECTED if state is State.FAILED else state, conditions)
    odd = 1 if has_accepted_since else job.odd + 1
    run = run._replace(odd=run.odd + (not job.odd))
    if is_odd_time and job.is_probe:
        run = _wait_longer(run, conditions, None)
    elif job.is_probe or (suspension is None and not job.odd and run.odd >= _ODD_IN_A_ROW):
        # For a probe of another kind: the service responds again, but refuses what it accepted before.
        run = _suspended(run, "odd", f"{stop.reason}, but accepted other rows before", conditions, None)
    is_resent = state is not State.UNCONFIRMED or options.resend_unconfirmed != "never"
    if not is_resent or (not is_odd_time and odd >= _ODD_TRIES):
        return _end(run, job, state, conditions)
    job = job._replace(odd=odd, accepted_then=run.accepted)
    if state is State.FAILED:
        state = State.PLANNED
    elif job.prior is PriorAttempt.NONE:
        job = job._replace(prior=PriorAttempt.SAME_BYTES)
    return Step(run, job, state, Next.LAST_PASS, conditions.now + _ODD_WAIT)


def _after_inconclusive(run: RunState, job: Job, state: State, conditions: Conditions) -> Step:
    options, asked = conditions.options, job.retry_after
    is_counted = not job.is_probe and job.status != 503
    job = job._replace(
        tries=job.tries + is_counted, prior=PriorAttempt.SAME_BYTES if job.prior is PriorAttempt.NONE else job.prior
    )
    if job.is_probe and run.suspension is not None:
        is_lasting = run.suspension.kind in ("inconclusive", "odd")
        run = _wait_longer(run, conditions, asked) if is_lasting else run._replace(suspension=None)
    if run.suspension is None:
        run = _note_inconclusive(run, job.row, conditions, asked)
    if options.resend_unconfirmed == "never" or job.tries >= options.max_attempts:
        return _end(run, job, state, conditions)
    if is_counted and job.tries > 1:
        run = run._replace(progress_at=conditions.now)  # its tries are limited, so this ends
    delay = options.resend_delay
    if options.resend_unconfirmed == "now":
        delay = min(delay, _backoff(job.tries - 1, conditions) if job.attempts > 1 else 0.0)
    if job.attempts > 1:
        delay *= 1 + conditions.jitter / 4  # so that resends do not coincide with periodic failures
    return Step(run, job, state, Next.RESEND, conditions.now + max(delay, asked or 0.0))


def _note_inconclusive(run: RunState, row: int, conditions: Conditions, asked: float | None) -> RunState:
    window = (*run.window[1 - WINDOW :], row)
    streak = run.streak if row in run.streak else (*run.streak, row)
    run = run._replace(window=window, streak=streak)
    # Only different rows count: one row that always fails says nothing about the others.
    of_window = len(window) >= _INCONCLUSIVE_OF_WINDOW and len({one for one in window if one >= 0})
    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:
        return run
    return _suspended(run, "inconclusive", "too many responses are lost or inconclusive", conditions, asked)


def _after_refusal(run: RunState, job: Job, state: State, answer: Reply, conditions: Conditions) -> Step:
    asked = answer.retry_after
    is_counted = run.suspension is None
    if is_counted:
        job = job._replace(refusals=job.refusals + 1)
        run = run._replace(window=(*run.window[1 - WINDOW :], _REFUSED))
        if run.window.count(_REFUSED) > _REFUSED_OF_WINDOW:
            reason = f"the service refuses too many requests ({answer.status})"
            run = _suspended(run, "refused", reason, conditions, asked)
    elif job.is_probe:
        run = _wait_longer(run, conditions, asked)
    if is_counted and job.refusals % conditions.options.max_attempts == 0:
        if job.refusals >= 2 * conditions.options.max_attempts:
            return _end(run, job, state, conditions)
        return Step(run, job, state, Next.LAST_PASS)
    due = conditions.now + (_backoff(job.refusals, conditions) if asked is None else asked)
    return Step(run, job, state, Next.RETRY, due)


def _without_connection(run: RunState, job: Job, state: State, answer: NoReply, conditions: Conditions) -> Step:
    since = run.unreachable_since if run.unreachable else conditions.now
    run = run._replace(unreachable=run.unreachable + 1, unreachable_since=since)
    is_new = not run.has_answered
    if is_new and (run.unreachable >= _NEW_ADDRESS_ATTEMPTS or conditions.now - since >= _NEW_ADDRESS_SECONDS):
        return _end(_stopped(run, no_connection(answer.reason)), job, state, conditions)
    if run.suspension is None:
        run = _suspended(run, "unreachable", f"the service cannot be reached ({answer.reason})", conditions, None)
    elif job.is_probe:
        run = _wait_longer(run, conditions, None)
    return Step(run, job, state, Next.RETRY, conditions.now)


def _end(run: RunState, job: Job, state: State, conditions: Conditions) -> Step:
    """The row has its outcome: a row that was not processed and is not sent again has failed."""
    state = State.FAILED if state is State.PLANNED else state
    errors = run.errors + (state in (State.REJECTED, State.FAILED, State.UNCONFIRMED))
    run = run._replace(ended=run.ended + 1, errors=errors, progress_at=conditions.now)
    limit = conditions.options.max_errors
    if limit is not None and limit.is_passed_by(run.errors, run.ended):
        run = _stopped(run, too_many_errors(run.errors, run.ended, limit))
    return Step(run, job, state, Next.END)


def _stopped(run: RunState, stop: Stop) -> RunState:
    return run if run.stop is not None else run._replace(stop=stop)


# --- suspensions ---


def _suspended(
    run: RunState, kind: SuspensionKind, reason: str, conditions: Conditions, asked: float | None
) -> RunState:
    return _wait_longer(run._replace(suspension=Suspension(kind, reason, conditions.now)), conditions, asked)


def _wait_longer(run: RunState, conditions: Conditions, asked: float | None) -> RunState:
    """Schedule the next probe: after the next wait, or after the Retry-After."""
    suspension = run.suspension
    assert suspension is not None
    if suspension.kind == "inconclusive":
        wait = max(_backoff(run.waits, conditions, _FIRST_WAIT_INCONCLUSIVE), asked or 0.0)
        run = run._replace(waits=run.waits + 1)
    else:
        wait = _backoff(suspension.holds, conditions) if asked is None else asked
        suspension = suspension._replace(holds=suspension.holds + 1)
    return _judged_anew(run, suspension._replace(until=conditions.now + wait))


def _after_clear_probe(run: RunState, conditions: Conditions) -> RunState:
    suspension = run.suspension
    if suspension is None:
        return run
    if suspension.kind == "odd" and run.odd:  # rejected: whether it accepts other rows again is not known
        return run._replace(suspension=suspension._replace(until=conditions.now))
    if suspension.kind != "inconclusive":
        return _judged_anew(run, None)
    clear = suspension.clear + 1
    if clear >= _CLEAR_PROBES:
        return _judged_anew(run._replace(finals=0), None)
    return run._replace(suspension=suspension._replace(clear=clear, until=conditions.now))


def _judged_anew(run: RunState, suspension: Suspension | None) -> RunState:
    """What was answered before does not count any more."""
    return run._replace(window=(), streak=(), suspension=suspension)


def _backoff(number: int, conditions: Conditions, first: float = _FIRST_WAIT) -> float:
    """The wait of that number, from 0. Randomized, so that several runs do not send at the same times."""
    return min(first * 2.0 ** min(number, 10), _LONGEST_WAIT) * (0.75 + conditions.jitter / 2)
