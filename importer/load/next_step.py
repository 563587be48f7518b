"""What comes after an answer, for its row and for the run: one pure function (design, section 7)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple

from importer.ledger import State
from importer.load.attempts import AttemptResult, Disposition, Job, PriorAttempt, classify, state_after
from importer.load.explanations import (
    Stop,
    mapping_is_wrong,
    no_connection,
    no_progress,
    refused_for_all,
    too_many_errors,
)
from importer.load.options import LoadOptions
from importer.models import Target
from importer.service import NoReply, Reply

WINDOW: Final = 50  # answers
TINY: Final = 1e-6  # seconds: times are sums of fractions
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
_STOPS: Final = (Disposition.STOP_RUN, Disposition.STOP_TARGET, Disposition.REDIRECTED)


class Next(StrEnum):
    """What comes next for the row."""

    END = "end"  # this result is its outcome
    RETRY = "retry"  # proven not processed: sent again when it is due
    RESEND = "resend"  # unconfirmed: the same bytes are sent again when it is due
    LAST_PASS = "last_pass"  # refused too often while others were not: once more when all others are done


class Suspension(NamedTuple):
    """A time in which nothing is sent but one probe after another, the next one at `until`.

    kind: `inconclusive` ends after three clear answers; `refused` and `unreachable` end with the first probe that is
    let through. clear: clear answers to probes so far.
    """

    kind: Literal["inconclusive", "refused", "unreachable"]
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
    def goes_singly(self) -> bool:
        """Whether only one row may be on its way."""
        return self.finals < _FINAL_BEFORE_MORE_THAN_ONE


class Step(NamedTuple):
    """What comes after an answer. `due`: when the row is sent again."""

    run: RunState
    result: AttemptResult
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
    if isinstance(answer, Reply):
        run = run._replace(has_answered=True, unreachable=0)
    elif answer.may_have_arrived:
        run = run._replace(unreachable=0)
    result = AttemptResult(job, state, disposition)
    if disposition in _STOPS:
        run = _ended(run, result, conditions)
        return Step(_stopped(run, refused_for_all(conditions.target, disposition, result.status)), result, Next.END)
    if disposition is Disposition.AMBIGUOUS:
        return _after_inconclusive(run, result, conditions)
    if disposition is not Disposition.AGAIN:
        return _after_final(run, result, conditions)
    if isinstance(answer, NoReply):
        return _without_connection(run, result, answer, conditions)
    return _after_refusal(run, result, answer, conditions)


def after_question(run: RunState, is_well: bool, conditions: Conditions) -> RunState:
    """The run after a probe that was no row: the question list was asked for."""
    if run.suspension is None:
        return run
    return _after_clear_probe(run, conditions) if is_well else _wait_longer(run, conditions, None)


def after_pause(run: RunState, began: float, conditions: Conditions) -> RunState:
    """The run after a person's pause: its time counts neither as a lack of progress nor as one without a connection."""

    def without_pause(since: float) -> float:
        return conditions.now - max(began - since, 0.0)

    return run._replace(
        progress_at=without_pause(run.progress_at), unreachable_since=without_pause(run.unreachable_since)
    )


def after_time(run: RunState, conditions: Conditions) -> RunState:
    """The run as time passes: given up where no row came nearer to its end for too long."""
    patience = conditions.options.patience
    if run.stop is not None or conditions.now < run.progress_at + patience - TINY:
        return run
    return _stopped(run, no_progress(patience, run.suspension.reason if run.suspension else None))


def is_error(state: State | None) -> bool:
    """Whether a row that ended so counts towards --max-errors."""
    return state in (State.REJECTED, State.FAILED, State.UNCLEAR, State.PLANNED)


# --- one for each kind of answer ---


def _after_final(run: RunState, result: AttemptResult, conditions: Conditions) -> Step:
    window = (*run.window[1 - WINDOW :], _CLEAR)
    is_calm = len(window) == WINDOW and window.count(_CLEAR) >= _CLEAR_THAT_FORGET
    run = run._replace(
        window=window, streak=(), waits=0 if is_calm else run.waits, finals=run.finals + 1, answered=run.answered + 1
    )
    if result.disposition is Disposition.REJECTED:
        refusal = getattr(result.job.last, "message", "")
        alike = run.alike + 1 if refusal == run.refusal else 1
        run = run._replace(alike=alike, refusal=refusal)
        if alike >= _ALIKE_IN_A_ROW or alike == run.answered >= _ALIKE_FROM_THE_FIRST:
            run = _stopped(run, mapping_is_wrong(alike, refusal))
    elif run.alike:
        run = run._replace(alike=0, refusal=None)
    run = _ended(run, result, conditions)
    if result.job.is_probe:
        run = _after_clear_probe(run, conditions)
    return Step(run, result, Next.END)


def _after_inconclusive(run: RunState, result: AttemptResult, conditions: Conditions) -> Step:
    job, options = result.job, conditions.options
    is_counted = not job.is_probe and result.status != 503
    job = job._replace(
        tries=job.tries + is_counted, prior=PriorAttempt.SAME_BYTES if job.prior is PriorAttempt.NONE else job.prior
    )
    asked = _asked(job.last)
    if job.is_probe:
        run = _wait_longer(run, conditions, asked) if _is_inconclusive(run) else run._replace(suspension=None, holds=0)
    if run.suspension is None:
        run = _note_inconclusive(run, job.row, conditions, asked)
    if options.settle == "never" or job.tries >= options.attempts:
        return Step(_ended(run, result, conditions), result, Next.END)
    if is_counted and job.tries > 1:
        run = run._replace(progress_at=conditions.now)  # its tries are counted: this has an end
    delay = options.settle_after
    if options.settle == "now":
        delay = min(delay, _growing(job.tries - 1, conditions) if job.attempts > 1 else 0.0)
    if job.attempts > 1:
        delay *= 1 + conditions.jitter / 4  # a service that fails every half minute is not asked at these times only
    return Step(run, result._replace(job=job), Next.RESEND, conditions.now + max(delay, asked or 0.0))


def _note_inconclusive(run: RunState, row: int, conditions: Conditions, asked: float | None) -> RunState:
    window = (*run.window[1 - WINDOW :], row)
    streak = run.streak if row in run.streak else (*run.streak, row)
    run = run._replace(window=window, streak=streak)
    # Different rows: one that breaks the service each time says nothing about the others.
    of_window = len(window) >= _INCONCLUSIVE_OF_WINDOW and len({one for one in window if one >= 0})
    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:
        return run
    reason = "too many answers are lost or inconclusive"
    return _wait_longer(run._replace(suspension=Suspension("inconclusive", reason, conditions.now)), conditions, asked)


def _after_refusal(run: RunState, result: AttemptResult, answer: Reply, conditions: Conditions) -> Step:
    job = result.job
    asked = _asked(answer)
    is_counted = run.suspension is None
    if is_counted:
        job = job._replace(refusals=job.refusals + 1)
        run = run._replace(window=(*run.window[1 - WINDOW :], _REFUSED))
        if run.window.count(_REFUSED) > _REFUSED_OF_WINDOW:
            reason = f"the service refuses too many requests ({answer.status})"
            run = run._replace(suspension=Suspension("refused", reason, conditions.now))
            run = _wait_longer(run, conditions, asked)
    elif job.is_probe:
        run = _wait_longer(run, conditions, asked)
    result = result._replace(job=job)
    if is_counted and job.refusals % conditions.options.attempts == 0:
        if job.refusals >= 2 * conditions.options.attempts:
            return Step(_ended(run, result, conditions), result, Next.END)
        return Step(run, result, Next.LAST_PASS)
    due = conditions.now + (_growing(job.refusals, conditions) if asked is None else asked)
    return Step(run, result, Next.RETRY, due)


def _without_connection(run: RunState, result: AttemptResult, answer: NoReply, conditions: Conditions) -> Step:
    since = run.unreachable_since if run.unreachable else conditions.now
    run = run._replace(unreachable=run.unreachable + 1, unreachable_since=since)
    is_new = not run.has_answered
    if is_new and (run.unreachable >= _TRIES_OF_A_NEW_ADDRESS or conditions.now - since >= _SECONDS_OF_A_NEW_ADDRESS):
        return Step(_stopped(run, no_connection(answer.reason)), result, Next.END)
    if run.suspension is None:
        reason = f"the service cannot be reached ({answer.reason})"
        run = _wait_longer(run._replace(suspension=Suspension("unreachable", reason, conditions.now)), conditions, None)
    elif result.job.is_probe:
        run = _wait_longer(run, conditions, None)
    return Step(run, result, Next.RETRY, conditions.now)


# --- suspensions ---


def _is_inconclusive(run: RunState) -> bool:
    return run.suspension is not None and run.suspension.kind == "inconclusive"


def _wait_longer(run: RunState, conditions: Conditions, asked: float | None) -> RunState:
    """The current suspension until its next probe: after the wait that is next, or the one the service asked for."""
    suspension = run.suspension
    assert suspension is not None
    if suspension.kind == "inconclusive":
        wait = _spread(_WAITS_AFTER_INCONCLUSIVE[min(run.waits, len(_WAITS_AFTER_INCONCLUSIVE) - 1)], conditions)
        run = run._replace(waits=run.waits + 1)
        wait = max(wait, asked or 0.0)
    else:
        wait = _growing(run.holds, conditions) if asked is None else asked
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


# --- waits and counts ---


def _asked(answer: Reply | NoReply | None) -> float | None:
    """The Retry-After of an answer, in seconds."""
    if not isinstance(answer, Reply) or answer.retry_after is None:
        return None
    return min(answer.retry_after, _LONGEST_RETRY_AFTER)


def _growing(number: int, conditions: Conditions) -> float:
    return _spread(min(_FIRST_WAIT * 2.0 ** min(number, 10), _LONGEST_WAIT), conditions)


def _spread(seconds: float, conditions: Conditions) -> float:
    """Spread by chance, so that several runs do not ask at the same times."""
    return seconds * (0.75 + conditions.jitter / 2)


def _ended(run: RunState, result: AttemptResult, conditions: Conditions) -> RunState:
    errors = run.errors + is_error(result.state)
    run = run._replace(ended=run.ended + 1, errors=errors, progress_at=conditions.now)
    limit = conditions.options.max_errors
    if limit is not None and limit.is_passed_by(run.errors, run.ended):
        return _stopped(run, too_many_errors(run.errors, run.ended, limit))
    return run


def _stopped(run: RunState, stop: Stop) -> RunState:
    return run if run.stop is not None else run._replace(stop=stop)
