"""What the responses so far say about service, token and target: go on, one row at a time, wait, or stop."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Final, Literal

from importer.ledger import DONE, State
from importer.models import Operation, Stop, Target
from importer.sending.answers import OF_THE_ROW, PendingRow, Rule
from importer.sending.explanations import (
    mapping_is_wrong,
    no_connection,
    no_progress,
    refusal_of,
    target_refused,
    too_many_errors,
)
from importer.sending.options import LoadOptions
from importer.service import NoReply, Reply

_ONE_AT_A_TIME: Final = 3  # rows that have a final answer before several are sent at the same time
_SAME_FROM_START: Final = 10  # rows that are rejected for the same reason: the mapping is wrong
_INCONCLUSIVE_IN_A_ROW: Final = 10  # rows
_ODD_IN_A_ROW: Final = 3  # rows that were refused, after others were accepted, with no accepted row between
_ODD_SECONDS: Final = 55.0  # that these may take
_ODD_WAIT: Final = 5.0  # seconds until such a row is sent again
_ROWS_OF_A_PROBE: Final = 3  # rows may always be inconclusive: several are tried before the next wait
_FIRST_WAIT, _LONGEST_WAIT = 5.0, 60.0  # seconds between probes; each next one is twice as long
_TINY: Final = 1e-3  # seconds


HoldKind = Literal["inconclusive", "odd"]


@dataclass(slots=True)
class Hold:
    """A time in which nothing but a probe is sent, at `until`.

    kind: inconclusive: responses are lost or inconclusive; odd: the service refuses what it accepted before.
    left: rows that this probe may still send, one after the other; rows: those that it has sent. is_asked: a harmless
    request is under way.
    """

    kind: HoldKind
    reason: str
    since: float
    until: float
    waits: int = 0
    left: int = 0
    rows: set[int] = field(default_factory=set)
    is_asked: bool = False


class Health:
    """Judges each response. Times in seconds on the run's clock.

    has_answered: whether the service has ever responded at this address; if not, the run waits for it only briefly.
    may_exist: a rejection may mean that the candidate exists: what a pool says then is not shown (4.3).
    """

    def __init__(self, target: Target, options: LoadOptions, now: float, *, has_answered: bool) -> None:
        self._target = target
        self._options = options
        self.may_exist = target.operation is Operation.ADD_TO_POOL and not options.pool_exists
        self.progress_at = now
        self.stop: Stop | None = None
        self.hold: Hold | None = None
        self._has_answered = has_answered
        self._unreachable_since: float | None = None
        self._refused: Reply | NoReply | None = None  # the last request that was not processed, if none was since
        self._inconclusive: set[int] = set()  # rows since the last clear response
        self._odd: set[int] = set()  # rows since the last accepted one
        self._finals = self._accepted = self._settled = self._ended = self._errors = 0
        self._reasons: set[str] = set()  # of rejections, two at most

    # --- how much may be sent ---

    @property
    def is_starting(self) -> bool:
        """Whether only one row may have no outcome yet: what is wrong shows at the first ones."""
        return self._finals < _ONE_AT_A_TIME

    def most_rows(self, now: float) -> float:
        """How many rows may be on their way now; infinite: as many as is usual."""
        if self.hold is not None:
            return int(self.hold.left > 0 and now >= self.hold.until - _TINY)
        return 1 if self._odd else math.inf

    def begins_probe(self, now: float) -> bool:
        """Whether the service must be asked with a harmless request before a row is sent."""
        hold = self.hold
        if hold is None or hold.left or hold.is_asked or now < hold.until - _TINY:
            return False
        if hold.kind == "odd":
            hold.left, hold.rows = 1, set()
            return False
        hold.is_asked = True
        return True

    def probed(self, now: float, *, is_healthy: bool) -> None:
        """The harmless request was answered."""
        if self.hold is None or not self.hold.is_asked:
            return
        self.hold.is_asked = False
        if is_healthy:
            self.hold.left, self.hold.waits, self.hold.rows = _ROWS_OF_A_PROBE, 0, set()
        else:
            self._wait_longer(self.hold, now)

    # --- what a response means ---

    def judge(self, pending: PendingRow, rule: Rule, state: State, now: float) -> tuple[State, float | None]:
        """The state of a row after a response, and when it is sent again; None: it has its outcome."""
        if isinstance(pending.last, Reply):
            self._has_answered = True
        if rule.is_odd:
            return self._odd_answer(pending, state, now)
        if rule.state is State.UNCONFIRMED:
            return self._inconclusive_answer(pending, state, now)
        if rule.state is not State.PLANNED:
            self._clear_answer(pending, is_accepted=rule.state in DONE)
        return self._end(state, now)

    def not_processed(self, answer: Reply | NoReply, now: float) -> None:
        """A row waits in its sender, since its request was not processed."""
        self._refused = answer
        if isinstance(answer, Reply):
            self._has_answered, self._unreachable_since = True, None
        elif self._unreachable_since is None:
            self._unreachable_since = now

    def time_passes(self, now: float) -> None:
        """Stop if no row has made progress for too long."""
        if now < self.stalls_at - _TINY:
            return
        if isinstance(self._refused, NoReply) and not self._has_answered:
            self._end_run(no_connection(self._refused))
        reason = self.hold.reason if self.hold is not None else self._refused and refusal_of(self._refused)
        self._end_run(no_progress(self._options.stall_timeout, reason))

    @property
    def stalls_at(self) -> float:
        """When the run stops if no row makes progress."""
        since = self._unreachable_since
        if since is not None and not self._has_answered:
            return min(self.progress_at + self._options.stall_timeout, since + self._options.first_patience)
        return self.progress_at + self._options.stall_timeout

    def gives_up_in(self, now: float) -> float:
        """Seconds until the run stops if nothing changes."""
        until = self.stalls_at
        if self.hold is not None and self.hold.kind == "odd":
            until = min(until, self.hold.since + _ODD_SECONDS)
        return max(0.0, until - now)

    def skip(self, began: float, now: float) -> None:
        """The time since `began` counts for nothing: a person had paused the run."""
        self.progress_at = min(self.progress_at + now - began, now)
        if self._unreachable_since is not None:
            self._unreachable_since += now - began
        if self.hold is not None:
            self.hold.since += now - began

    def _clear_answer(self, pending: PendingRow, *, is_accepted: bool) -> None:
        self._finals += 1
        self._inconclusive.clear()
        self._refused = None
        self._settled += pending.tries > 0
        if is_accepted:
            self._accepted += 1
            self._odd.clear()
        if self.hold is not None and (is_accepted or self.hold.kind == "inconclusive"):
            self.hold = None
        reason = pending.last.message if isinstance(pending.last, Reply) else ""
        if not is_accepted and len(self._reasons) < 2:
            self._reasons.add(reason)
        is_same = not self._accepted and len(self._reasons) == 1 and not self.may_exist
        if is_same and self._finals >= _SAME_FROM_START:
            self._end_run(mapping_is_wrong(self._finals, reason))

    def _inconclusive_answer(self, pending: PendingRow, state: State, now: float) -> tuple[State, float | None]:
        asked = pending.last.retry_after if isinstance(pending.last, Reply) else None
        self._count_try(pending)
        pending.odd = None
        pending.may_exist = True
        self._inconclusive.add(pending.row)
        if self.hold is not None:
            self._probe_failed(self.hold, pending, now)
        elif len(self._inconclusive) >= _INCONCLUSIVE_IN_A_ROW:
            self._begin_hold("inconclusive", "too many responses are lost or inconclusive", now, asked)
        if self._options.resend_unconfirmed == "never" or pending.tries >= self._options.max_attempts:
            return self._end(state, now)
        delay = self._options.resend_delay
        if self._options.resend_unconfirmed == "now":
            delay = min(delay, 0.5 * 2.0 ** (pending.tries - 2) if pending.tries > 1 else 0.0)
        if pending.tries > 1:
            delay *= 1 + random.random() / 4  # so that resends do not coincide with periodic failures
        return state, now + max(delay, asked or 0.0)

    def _odd_answer(self, pending: PendingRow, state: State, now: float) -> tuple[State, float | None]:
        """A response as if token, target or address were wrong.

        Where no row was accepted, it is true of every row. Where others were, it may be one row's fate or one odd
        second: the row is sent again later, the next one alone, and after several in a row the run waits.
        """
        stop, hold = target_refused(self._target, pending.status or 0), self.hold
        if not self._accepted:
            self._end_run(stop)
            return self._end(state, now)
        if not (hold is not None and hold.kind == "odd") and len(self._odd) <= 1 and self._is_of_row(pending):
            return self._end(State.REJECTED if state is State.FAILED else state, now)
        self._odd.add(pending.row)
        if hold is not None and hold.kind == "odd":
            if hold.left and now >= hold.since + _ODD_SECONDS - _TINY:
                self._end_run(stop)
                return self._end(state, now)
            self._probe_failed(hold, pending, now)
        elif len(self._odd) >= _ODD_IN_A_ROW:  # also in another hold: the service responds again, but refuses
            self._begin_hold("odd", f"{stop.reason}, but accepted other rows before", now)
        elif hold is not None:
            self._probe_failed(hold, pending, now)
        self._count_try(pending)
        is_resent = state is not State.UNCONFIRMED or self._options.resend_unconfirmed != "never"
        if not is_resent or pending.tries >= self._options.max_attempts:
            return self._end(state, now)
        pending.odd, pending.accepted = pending.status, self._accepted
        if state is State.FAILED:
            state = State.PLANNED
        else:
            pending.may_exist = True
        return state, now + _ODD_WAIT

    def _is_of_row(self, pending: PendingRow) -> bool:
        """Whether the service refused this row again, in the same way, after it had accepted others since."""
        return pending.odd == pending.status and pending.status in OF_THE_ROW and self._accepted > pending.accepted

    def _count_try(self, pending: PendingRow) -> None:
        """A try counts as long as no other row that is sent again is settled: then the service is not well."""
        pending.tries = pending.tries + 1 if pending.settled == self._settled else 1
        pending.settled = self._settled

    def _end(self, state: State, now: float) -> tuple[State, None]:
        """The row has its outcome: a row that was not processed and is not sent again has failed."""
        state = State.FAILED if state is State.PLANNED else state
        self._ended += 1
        self._errors += state in (State.REJECTED, State.FAILED, State.UNCONFIRMED)
        self.progress_at = now
        limit = self._options.max_errors
        if limit is not None and limit.is_passed_by(self._errors, self._ended):
            self._end_run(too_many_errors(self._errors, self._ended, limit))
        return state, None

    def _end_run(self, stop: Stop) -> None:
        self.stop = self.stop or stop

    # --- holds ---

    def _begin_hold(self, kind: HoldKind, reason: str, now: float, asked: float | None = None) -> None:
        self.hold = Hold(kind, reason, now, now)
        self._wait_longer(self.hold, now, asked)

    def _probe_failed(self, hold: Hold, pending: PendingRow, now: float) -> None:
        """A response of a row that was not clear. Those of rows sent before the probe say nothing new."""
        if hold.left and pending.row in hold.rows:
            hold.left -= 1
            if not hold.left:
                self._wait_longer(hold, now)

    @staticmethod
    def _wait_longer(hold: Hold, now: float, asked: float | None = None) -> None:
        wait = min(_FIRST_WAIT * 2.0 ** min(hold.waits, 10), _LONGEST_WAIT) * (0.9 + random.random() / 10)
        hold.waits += 1
        hold.until = now + max(wait, asked or 0.0)
        if hold.kind == "odd" and now < hold.since + _ODD_SECONDS - _TINY:
            hold.until = min(hold.until, hold.since + _ODD_SECONDS)
