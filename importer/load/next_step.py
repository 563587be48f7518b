"""What comes after an answer, for its row and for the run: one table and one pure function (design, section 7).

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
of talent pools it shows 201 only. So the table is the same for both operations, and only what may follow after a
request that may have arrived differs: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from importer.ledger import State
from importer.load.explanations import (
    Stop,
    mapping_is_wrong,
    no_connection,
    no_progress,
    target_refused,
    too_many_errors,
)
from importer.load.jobs import TINY, Job, Next, PriorAttempt
from importer.load.options import LoadOptions
from importer.models import Operation, Target
from importer.service import NoReply, Reply

WINDOW: Final = 50  # answers
_INCONCLUSIVE_IN_A_ROW: Final = 10
_INCONCLUSIVE_OF_WINDOW: Final = 30
_REFUSED_OF_WINDOW: Final = 15  # more than these: 30 %
_CLEAR_THAT_FORGET: Final = 40  # of a whole window
_CLEAR_PROBES: Final = 3
_FINAL_BEFORE_MORE_THAN_ONE: Final = 3
_WAITS_AFTER_INCONCLUSIVE: Final = (5.0, 10.0, 20.0, 40.0, 60.0)  # seconds, the last again and again
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 60.0
_LONGEST_RETRY_AFTER: Final = 900.0
_TRIES_OF_A_NEW_ADDRESS: Final = 3
_SECONDS_OF_A_NEW_ADDRESS: Final = 30.0
_ALIKE_FROM_THE_FIRST: Final = 10
_ALIKE_IN_A_ROW: Final = 25

_CLEAR: Final = -1
_REFUSED: Final = -2


# --- what one answer says of its row ---


class Disposition(StrEnum):
    """What one answer says about its row."""

    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    REJECTED = "rejected"
    AGAIN = "again"  # proven not processed: sent again after a wait
    AMBIGUOUS = "ambiguous"  # it may have been accepted: settled later with the same bytes
    STOP_TARGET = "stop_target"  # proven not accepted, and the same will happen to every row of this target
    STOP_RUN = "stop_run"  # the same, for every target
    REDIRECTED = "redirected"  # it may have been accepted, and every row of every target would be redirected


@dataclass(frozen=True, slots=True)
class Rule:
    """Statuses that mean the same. Of several rules for a status the first counts."""

    statuses: Iterable[int]
    disposition: Disposition
    why: str


RULES: tuple[Rule, ...] = (
    Rule((201,), Disposition.CREATED, "the only status that says created"),
    Rule((409,), Disposition.ALREADY_EXISTS, "the candidate is there"),
    Rule((400, 413, 422), Disposition.REJECTED, "the service refuses this row"),
    Rule((425, 429), Disposition.AGAIN, "not now, and nothing was done"),
    Rule((401,), Disposition.STOP_RUN, "the token is refused"),
    Rule((403, 404, 410, 423), Disposition.STOP_TARGET, "the target is closed to us"),
    Rule((408,), Disposition.AMBIGUOUS, "a timeout, perhaps of a proxy and not of the service"),
    Rule(range(400, 500), Disposition.STOP_TARGET, "the form of our request is refused, and all rows have that form"),
    Rule((302, 303), Disposition.REDIRECTED, "said after what was accepted, too; a redirect is never followed"),
    Rule(range(300, 400), Disposition.STOP_RUN, "the address is wrong; a redirect is never followed"),
    Rule(range(500, 600), Disposition.AMBIGUOUS, "it may have broken before or after accepting"),
    Rule(range(100, 300), Disposition.AMBIGUOUS, "not refused, and not said to be created"),
)

_BY_STATUS = {status: rule.disposition for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply) -> Disposition:
    """What one answer says about its row. A status that no standard knows is ambiguous."""
    if isinstance(answer, NoReply):
        return Disposition.AMBIGUOUS if answer.may_have_arrived else Disposition.AGAIN
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
    """The state that an answer leaves an identity in.

    After a request that may have arrived only an answer about the candidate settles it: 201 and 409 do. A refusal of
    the row does where the service would have said 409 to a second application (4.2) and the refused bytes are those of
    the first request; what it says to a second addition to a pool is not shown (4.3) and may be that same 400.
    """
    after = _AFTER_FIRST_ATTEMPT[disposition]
    if prior is PriorAttempt.NONE or disposition in (Disposition.CREATED, Disposition.ALREADY_EXISTS):
        return after
    if disposition is Disposition.REJECTED and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:
        return after
    return State.UNCONFIRMED


# --- what comes next ---


SuspensionKind = Literal["inconclusive", "refused", "unreachable"]


class Suspension(NamedTuple):
    """A time in which nothing is sent but one probe after another, the next one at `until`.

    kind: `inconclusive` ends after three clear answers; `refused` and `unreachable` end with the first probe that is
    let through. clear: clear answers to probes so far.
    """

    kind: SuspensionKind
    reason: str
    until: float
    clear: int = 0


class RunState(NamedTuple):
    """What the answers so far say about the run. Times in seconds on the run's clock.

    progress_at: when a row last came nearer to its end. has_answered: this address has answered once, in this run or an
    earlier one. window: the last answers since the last suspension: clear, refused, or the row of an inconclusive one.
    streak: the rows of inconclusive answers since the last clear one. waits: waits of inconclusive suspensions that are
    not forgotten. holds: waits of the current suspension of another kind. unreachable_since, unreachable: requests in a
    row that found no connection. finals: final answers since the beginning or the last inconclusive suspension.
    answered, alike, refusal: whether all are refused alike. ended, errors: rows that have their outcome, for
    --max-errors.
    """

    progress_at: float
    has_answered: bool = True
    window: tuple[int, ...] = ()
    streak: tuple[int, ...] = ()
    suspension: Suspension | None = None
    waits: int = 0
    holds: int = 0
    unreachable: int = 0
    unreachable_since: float = 0.0
    finals: int = 0
    answered: int = 0
    alike: int = 0
    refusal: str | None = None
    ended: int = 0
    errors: int = 0
    stop: Stop | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether only one row may be on its way."""
        return self.finals < _FINAL_BEFORE_MORE_THAN_ONE


class Step(NamedTuple):
    """What comes after an answer: the run and the row with it, the state that its identity is in, and what is next.

    due: when the row is sent again.
    """

    run: RunState
    job: Job
    state: State
    next: Next
    due: float = 0.0


class Conditions(NamedTuple):
    """What a step is decided by beside run, row and answer. jitter: from 0 to 1, to spread waits by chance."""

    target: Target
    options: LoadOptions
    now: float
    jitter: float


def after_answer(run: RunState, job: Job, answer: Reply | NoReply, conditions: Conditions) -> Step:
    """What comes after the answer to a request for `job`.

    A 429, a 503 and a missing connection are states of the run and spend none of the row's attempts; nor does a probe.
    """
    disposition = classify(answer)
    state = state_after(conditions.target.operation, disposition, job.prior)
    job = job._replace(attempts=job.attempts + 1, last=answer)
    if isinstance(answer, NoReply):
        if disposition is Disposition.AGAIN:
            return _without_connection(run, job, state, answer, conditions)
        return _after_inconclusive(run._replace(unreachable=0), job, state, conditions)
    if run.unreachable or not run.has_answered:
        run = run._replace(has_answered=True, unreachable=0)
    match disposition:
        case Disposition.AMBIGUOUS:
            return _after_inconclusive(run, job, state, conditions)
        case Disposition.AGAIN:
            return _after_refusal(run, job, state, answer, conditions)
        case Disposition.STOP_RUN | Disposition.STOP_TARGET | Disposition.REDIRECTED:
            step = _end(run, job, state, conditions)
            return step._replace(run=_stopped(step.run, target_refused(conditions.target, answer.status)))
        case Disposition.REJECTED:
            return _after_final(run, job, state, answer.message, conditions)
        case Disposition.CREATED | Disposition.ALREADY_EXISTS:
            return _after_final(run, job, state, None, conditions)


def after_question_probe(run: RunState, is_well: bool, conditions: Conditions) -> RunState:
    """The run after a probe that was no row: the question list was asked for."""
    if run.suspension is None:
        return run
    return _after_clear_probe(run, conditions) if is_well else _wait_longer(run, conditions, None)


def after_pause(run: RunState, began: float, now: float) -> RunState:
    """The run after a person's pause: its time counts neither as a lack of progress nor as one without a connection."""

    def without_pause(since: float) -> float:
        return now - max(began - since, 0.0)

    return run._replace(
        progress_at=without_pause(run.progress_at), unreachable_since=without_pause(run.unreachable_since)
    )


def after_time(run: RunState, patience: float, now: float) -> RunState:
    """The run as time passes: given up where no row came nearer to its end for so many seconds."""
    if run.stop is not None or now < run.progress_at + patience - TINY:
        return run
    return _stopped(run, no_progress(patience, run.suspension.reason if run.suspension else None))


# --- one for each kind of answer ---


def _after_final(run: RunState, job: Job, state: State, refusal: str | None, conditions: Conditions) -> Step:
    """refusal: what the service said where it rejects the row."""
    window = (*run.window[1 - WINDOW :], _CLEAR)
    is_calm = len(window) == WINDOW and window.count(_CLEAR) >= _CLEAR_THAT_FORGET
    alike = 0 if refusal is None else run.alike + 1 if refusal == run.refusal else 1
    run = run._replace(
        window=window,
        streak=(),
        waits=0 if is_calm else run.waits,
        finals=run.finals + 1,
        answered=run.answered + 1,
        alike=alike,
        refusal=refusal,
    )
    if alike >= _ALIKE_IN_A_ROW or alike == run.answered >= _ALIKE_FROM_THE_FIRST:
        run = _stopped(run, mapping_is_wrong(alike, refusal or ""))
    step = _end(run, job, state, conditions)
    return step._replace(run=_after_clear_probe(step.run, conditions)) if job.is_probe else step


def _after_inconclusive(run: RunState, job: Job, state: State, conditions: Conditions) -> Step:
    options, asked = conditions.options, _retry_after(job.last)
    is_counted = not job.is_probe and job.status != 503
    job = job._replace(
        tries=job.tries + is_counted, prior=PriorAttempt.SAME_BYTES if job.prior is PriorAttempt.NONE else job.prior
    )
    if job.is_probe and run.suspension is not None:
        is_lasting = run.suspension.kind == "inconclusive"
        run = _wait_longer(run, conditions, asked) if is_lasting else run._replace(suspension=None, holds=0)
    if run.suspension is None:
        run = _note_inconclusive(run, job.row, conditions, asked)
    if options.resend_unconfirmed == "never" or job.tries >= options.max_attempts:
        return _end(run, job, state, conditions)
    if is_counted and job.tries > 1:
        run = run._replace(progress_at=conditions.now)  # its tries are counted: this has an end
    delay = options.resend_delay
    if options.resend_unconfirmed == "now":
        delay = min(delay, _backoff(job.tries - 1, conditions) if job.attempts > 1 else 0.0)
    if job.attempts > 1:
        delay *= 1 + conditions.jitter / 4  # a service that fails every half minute is not asked at these times only
    return Step(run, job, state, Next.RESEND, conditions.now + max(delay, asked or 0.0))


def _note_inconclusive(run: RunState, row: int, conditions: Conditions, asked: float | None) -> RunState:
    window = (*run.window[1 - WINDOW :], row)
    streak = run.streak if row in run.streak else (*run.streak, row)
    run = run._replace(window=window, streak=streak)
    # Different rows: one that breaks the service each time says nothing about the others.
    of_window = len(window) >= _INCONCLUSIVE_OF_WINDOW and len({one for one in window if one >= 0})
    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:
        return run
    return _suspended(run, "inconclusive", "too many responses are lost or inconclusive", conditions, asked)


def _after_refusal(run: RunState, job: Job, state: State, answer: Reply, conditions: Conditions) -> Step:
    asked = _retry_after(answer)
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
    if is_new and (run.unreachable >= _TRIES_OF_A_NEW_ADDRESS or conditions.now - since >= _SECONDS_OF_A_NEW_ADDRESS):
        return _end(_stopped(run, no_connection(answer.reason)), job, state, conditions)
    if run.suspension is None:
        run = _suspended(run, "unreachable", f"the service cannot be reached ({answer.reason})", conditions, None)
    elif job.is_probe:
        run = _wait_longer(run, conditions, None)
    return Step(run, job, state, Next.RETRY, conditions.now)


def _end(run: RunState, job: Job, state: State, conditions: Conditions) -> Step:
    """The row has its outcome: what is proven not processed, and not sent again, has failed."""
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
    """The current suspension until its next probe: after the wait that is next, or the one the service asked for."""
    suspension = run.suspension
    assert suspension is not None
    if suspension.kind == "inconclusive":
        wait = _with_jitter(_WAITS_AFTER_INCONCLUSIVE[min(run.waits, len(_WAITS_AFTER_INCONCLUSIVE) - 1)], conditions)
        run = run._replace(waits=run.waits + 1)
        wait = max(wait, asked or 0.0)
    else:
        wait = _backoff(run.holds, conditions) if asked is None else asked
        run = run._replace(holds=run.holds + 1)
    return run._replace(window=(), streak=(), suspension=suspension._replace(until=conditions.now + wait))


def _after_clear_probe(run: RunState, conditions: Conditions) -> RunState:
    suspension = run.suspension
    if suspension is None:
        return run
    clear = suspension.clear + 1
    if suspension.kind != "inconclusive":
        return run._replace(suspension=None, holds=0, window=(), streak=())
    if clear >= _CLEAR_PROBES:
        return run._replace(suspension=None, window=(), streak=(), finals=0)
    return run._replace(suspension=suspension._replace(clear=clear, until=conditions.now))


# --- waits ---


def _retry_after(answer: Reply | NoReply | None) -> float | None:
    """The Retry-After of an answer, in seconds."""
    if not isinstance(answer, Reply) or answer.retry_after is None:
        return None
    return min(answer.retry_after, _LONGEST_RETRY_AFTER)


def _backoff(number: int, conditions: Conditions) -> float:
    return _with_jitter(min(_FIRST_WAIT * 2.0 ** min(number, 10), _LONGEST_WAIT), conditions)


def _with_jitter(seconds: float, conditions: Conditions) -> float:
    """Spread by chance, so that several runs do not ask at the same times."""
    return seconds * (0.75 + conditions.jitter / 2)
