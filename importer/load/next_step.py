"""What comes after an answer, for its row and for the run: one pure function (design, section 7)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple

from importer.ledger import State
from importer.load.classify import Doubt, Verdict, classify, state_after
from importer.load.job import Finding, Job
from importer.load.options import LoadOptions
from importer.load.stops import Stop, mapping_is_wrong, no_connection, no_progress, refused_for_all, too_many_errors
from importer.models import Target
from importer.service import NoReply, Reply

WINDOW: Final = 50  # answers
_INCONCLUSIVE_IN_A_ROW: Final = 10
_INCONCLUSIVE_OF_WINDOW: Final = 30
_REFUSED_OF_WINDOW: Final = 15  # more than these: 30 %
_CLEAR_THAT_FORGET: Final = 40  # of a whole window
_CLEAR_PROBES: Final = 3
_FINAL_BEFORE_MORE_THAN_ONE: Final = 3
_PAUSES: Final = (5.0, 10.0, 20.0, 40.0, 60.0)  # seconds, the last again and again
_FIRST_HOLD: Final = 0.5
_LONGEST_HOLD: Final = 60.0
_LONGEST_RETRY_AFTER: Final = 900.0
_ROUNDING: Final = 1e-6  # seconds: who waited until now + patience has waited long enough
_TRIES_OF_A_NEW_ADDRESS: Final = 3
_SECONDS_OF_A_NEW_ADDRESS: Final = 30.0
_ALIKE_FROM_THE_FIRST: Final = 10
_ALIKE_IN_A_ROW: Final = 25

_CLEAR: Final = -1
_REFUSED: Final = -2
_STOPS: Final = (Verdict.STOP_RUN, Verdict.STOP_TARGET, Verdict.LED_AWAY)


class Then(StrEnum):
    """What comes next for the row."""

    END = "end"  # this finding is its outcome
    WAIT = "wait"  # proven not processed: sent again when it is due
    RESEND = "resend"  # unconfirmed: the same bytes are sent again when it is due
    LAST_PASS = "last_pass"  # refused too often while others were not: once more when all others are done


class Break(NamedTuple):
    """A time in which nothing is sent but one probe after another, the next one at `until`.

    kind: `pause` after inconclusive answers, which ends after three clear ones; `refused` and `unreachable` end with
    the first probe that is let through. clear: clear answers to probes so far.
    """

    kind: Literal["pause", "refused", "unreachable"]
    reason: str
    until: float
    clear: int = 0


class RunState(NamedTuple):
    """What the answers so far say about the run. Times in seconds on the run's clock.

    progress_at: when a row last came nearer to its end. has_answered: this address has answered once, in this run or an
    earlier one. window: the last answers since the last break: clear, refused, or the row of an inconclusive one.
    streak: the rows of inconclusive answers since the last clear one. waits: waits of pauses that are not forgotten.
    holds: waits of the current hold. unreachable_since, unreachable: requests in a row that found no connection.
    finals: final answers since the beginning or the last pause. answered, alike, refusal: whether all are refused
    alike. ended, errors: rows that have their outcome, for --max-errors.
    """

    progress_at: float
    has_answered: bool = True
    window: tuple[int, ...] = ()
    streak: tuple[int, ...] = ()
    interruption: Break | None = None
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
    finding: Finding
    then: Then
    due: float = 0.0


class Given(NamedTuple):
    """What a step is decided by beside run, row and answer. luck: from 0 to 1, to spread waits by chance."""

    target: Target
    options: LoadOptions
    now: float
    luck: float


def after_answer(run: RunState, job: Job, answer: Reply | NoReply, given: Given) -> Step:
    """What comes after the answer to a request for `job`.

    A 429, a 503 and a missing connection are states of the run and spend none of the row's attempts; nor does a probe.
    """
    verdict = classify(answer)
    state = state_after(given.target.operation, verdict, job.doubt)
    job = job._replace(attempts=job.attempts + 1, last=answer)
    if isinstance(answer, Reply):
        run = run._replace(has_answered=True, unreachable=0)
    elif answer.may_have_arrived:
        run = run._replace(unreachable=0)
    finding = Finding(job, state, verdict)
    if verdict in _STOPS:
        run = _ended(run, finding, given)
        return Step(_stopped(run, refused_for_all(given.target, verdict, finding.status)), finding, Then.END)
    if verdict is Verdict.AMBIGUOUS:
        return _after_inconclusive(run, finding, given)
    if verdict is not Verdict.AGAIN:
        return _after_final(run, finding, given)
    if isinstance(answer, NoReply):
        return _without_connection(run, finding, answer, given)
    return _after_refusal(run, finding, answer, given)


def after_question(run: RunState, is_well: bool, given: Given) -> RunState:
    """The run after a probe that was no row: the question list was asked for."""
    if run.interruption is None:
        return run
    return _after_clear_probe(run, given) if is_well else _wait_longer(run, given, None)


def after_time(run: RunState, given: Given) -> RunState:
    """The run as time passes: given up where no row came nearer to its end for too long."""
    patience = given.options.patience
    if run.stop is not None or given.now - run.progress_at < patience - _ROUNDING:
        return run
    return _stopped(run, no_progress(patience, run.interruption.reason if run.interruption else None))


def is_error(state: State | None) -> bool:
    """Whether a row that ended so counts towards --max-errors."""
    return state in (State.REJECTED, State.FAILED, State.UNCLEAR, State.PLANNED)


# --- one for each kind of answer ---


def _after_final(run: RunState, finding: Finding, given: Given) -> Step:
    window = (*run.window[1 - WINDOW :], _CLEAR)
    is_calm = len(window) == WINDOW and window.count(_CLEAR) >= _CLEAR_THAT_FORGET
    run = run._replace(
        window=window, streak=(), waits=0 if is_calm else run.waits, finals=run.finals + 1, answered=run.answered + 1
    )
    if finding.verdict is Verdict.REJECTED:
        refusal = getattr(finding.job.last, "message", "")
        alike = run.alike + 1 if refusal == run.refusal else 1
        run = run._replace(alike=alike, refusal=refusal)
        if alike >= _ALIKE_IN_A_ROW or alike == run.answered >= _ALIKE_FROM_THE_FIRST:
            run = _stopped(run, mapping_is_wrong(alike, refusal))
    elif run.alike:
        run = run._replace(alike=0, refusal=None)
    run = _ended(run, finding, given)
    if finding.job.is_probe:
        run = _after_clear_probe(run, given)
    return Step(run, finding, Then.END)


def _after_inconclusive(run: RunState, finding: Finding, given: Given) -> Step:
    job, options = finding.job, given.options
    is_counted = not job.is_probe and finding.status != 503
    job = job._replace(tries=job.tries + is_counted, doubt=Doubt.SAME_BYTES if job.doubt is Doubt.NONE else job.doubt)
    asked = _asked(job.last)
    if job.is_probe:
        run = _wait_longer(run, given, asked) if _is_pause(run) else run._replace(interruption=None, holds=0)
    if run.interruption is None:
        run = _note_inconclusive(run, job.row, given, asked)
    if options.settle == "never" or job.tries >= options.attempts:
        return Step(_ended(run, finding, given), finding, Then.END)
    if is_counted and job.tries > 1:
        run = run._replace(progress_at=given.now)  # its tries are counted: this has an end
    delay = options.settle_after
    if options.settle == "now":
        delay = min(delay, _growing(job.tries - 1, given) if job.attempts > 1 else 0.0)
    if job.attempts > 1:
        delay *= 1 + given.luck / 4  # a service that fails every half minute is not asked at these times only
    return Step(run, finding._replace(job=job), Then.RESEND, given.now + max(delay, asked or 0.0))


def _note_inconclusive(run: RunState, row: int, given: Given, asked: float | None) -> RunState:
    window = (*run.window[1 - WINDOW :], row)
    streak = run.streak if row in run.streak else (*run.streak, row)
    run = run._replace(window=window, streak=streak)
    # Different rows: one that breaks the service each time says nothing about the others.
    of_window = len(window) >= _INCONCLUSIVE_OF_WINDOW and len({one for one in window if one >= 0})
    if len(streak) < _INCONCLUSIVE_IN_A_ROW and of_window < _INCONCLUSIVE_OF_WINDOW:
        return run
    reason = "too many answers are lost or inconclusive"
    return _wait_longer(run._replace(interruption=Break("pause", reason, given.now)), given, asked)


def _after_refusal(run: RunState, finding: Finding, answer: Reply, given: Given) -> Step:
    job = finding.job
    asked = _asked(answer)
    is_counted = run.interruption is None
    if is_counted:
        job = job._replace(refusals=job.refusals + 1)
        run = run._replace(window=(*run.window[1 - WINDOW :], _REFUSED))
        if run.window.count(_REFUSED) > _REFUSED_OF_WINDOW:
            reason = f"the service refuses too many requests ({answer.status})"
            run = run._replace(interruption=Break("refused", reason, given.now))
            run = _wait_longer(run, given, asked)
    elif job.is_probe:
        run = _wait_longer(run, given, asked)
    finding = finding._replace(job=job)
    if is_counted and job.refusals % given.options.attempts == 0:
        if job.refusals >= 2 * given.options.attempts:
            return Step(_ended(run, finding, given), finding, Then.END)
        return Step(run, finding, Then.LAST_PASS)
    due = given.now + (_growing(job.refusals, given) if asked is None else asked)
    return Step(run, finding, Then.WAIT, due)


def _without_connection(run: RunState, finding: Finding, answer: NoReply, given: Given) -> Step:
    since = run.unreachable_since if run.unreachable else given.now
    run = run._replace(unreachable=run.unreachable + 1, unreachable_since=since)
    is_new = not run.has_answered
    if is_new and (run.unreachable >= _TRIES_OF_A_NEW_ADDRESS or given.now - since >= _SECONDS_OF_A_NEW_ADDRESS):
        return Step(_stopped(run, no_connection(answer.reason)), finding, Then.END)
    if run.interruption is None:
        reason = f"the service cannot be reached ({answer.reason})"
        run = _wait_longer(run._replace(interruption=Break("unreachable", reason, given.now)), given, None)
    elif finding.job.is_probe:
        run = _wait_longer(run, given, None)
    return Step(run, finding, Then.WAIT, given.now)


# --- breaks ---


def _is_pause(run: RunState) -> bool:
    return run.interruption is not None and run.interruption.kind == "pause"


def _wait_longer(run: RunState, given: Given, asked: float | None) -> RunState:
    """The current break, until its next probe: after the wait that is next, or the one that the service asked for."""
    found = run.interruption
    assert found is not None
    if found.kind == "pause":
        wait = _spread(_PAUSES[min(run.waits, len(_PAUSES) - 1)], given)
        run = run._replace(waits=run.waits + 1)
        wait = max(wait, asked or 0.0)
    else:
        wait = _growing(run.holds, given) if asked is None else asked
        run = run._replace(holds=run.holds + 1)
    return run._replace(window=(), streak=(), interruption=found._replace(until=given.now + wait))


def _after_clear_probe(run: RunState, given: Given) -> RunState:
    found = run.interruption
    if found is None:
        return run
    clear = found.clear + 1
    if found.kind != "pause":
        return run._replace(interruption=None, holds=0, window=(), streak=())
    if clear >= _CLEAR_PROBES:
        return run._replace(interruption=None, window=(), streak=(), finals=0)
    return run._replace(interruption=found._replace(clear=clear, until=given.now))


# --- helpers of all ---


def _asked(answer: Reply | NoReply | None) -> float | None:
    """The Retry-After of an answer, in seconds."""
    if not isinstance(answer, Reply) or answer.retry_after is None:
        return None
    return min(answer.retry_after, _LONGEST_RETRY_AFTER)


def _growing(number: int, given: Given) -> float:
    return _spread(min(_FIRST_HOLD * 2.0 ** min(number, 10), _LONGEST_HOLD), given)


def _spread(seconds: float, given: Given) -> float:
    """Spread by chance, so that several runs do not march in step."""
    return seconds * (0.75 + given.luck / 2)


def _ended(run: RunState, finding: Finding, given: Given) -> RunState:
    errors = run.errors + is_error(finding.state)
    run = run._replace(ended=run.ended + 1, errors=errors, progress_at=given.now)
    limit = given.options.max_errors
    if limit is not None and limit.is_passed_by(run.errors, run.ended):
        return _stopped(run, too_many_errors(run.errors, run.ended, limit))
    return run


def _stopped(run: RunState, stop: Stop) -> RunState:
    return run if run.stop is not None else run._replace(stop=stop)
