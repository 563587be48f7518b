"""When sending ends early, and when it goes one row at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from importer.ledger import LedgerUnwritable, State
from importer.load.classify import Verdict
from importer.load.job import Finding, Hindrance
from importer.load.options import ErrorLimit
from importer.models import Target

_FINAL_BEFORE_MORE_THAN_ONE = 3  # rows with a final answer before several go at once
_DOUBTS_IN_A_ROW = 3
_DOUBTS_OF_LAST = 5
_LAST = 50
_ALIKE_FROM_THE_FIRST = 10
_ALIKE_IN_A_ROW = 25

_RUN_AGAIN = "run the same command again"
_STOP_ALL = (Verdict.STOP_RUN, Verdict.LED_AWAY)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why sending ended early. `code` is stable; `whole_run` says that other targets would fare no better."""

    code: str
    reason: str
    hint: str
    whole_run: bool = True


INTERRUPTED = Stop("interrupted", "the run was interrupted", f"{_RUN_AGAIN} to go on where it ended")

_RETRIES_SPENT = Stop(
    "retries-spent",
    "the service had too many rows sent to it more than once, and still gives too few clear answers",
    f"wait until the service is well, or go slower with --rate, then {_RUN_AGAIN}",
)


class Stops:
    """Watches the findings of one load, and says to go on, to go singly, to pause, or to stop.

    `stop` is set once, by the first rule that asks for it.
    """

    def __init__(self, target: Target, max_errors: ErrorLimit | None = None) -> None:
        self.stop: Stop | None = None
        self.wants_pause = False
        self._target = target
        self._max_errors = max_errors
        self._final_since_start = 0
        self._doubts_in_a_row = 0
        self._lately: deque[bool] = deque(maxlen=_LAST)
        self._paused_before = False
        self._answered = 0
        self._alike = 0
        self._refusal: str | None = None
        self._ended = 0
        self._errors = 0

    @property
    def singly(self) -> bool:
        """Whether only one row may be on its way."""
        return self._final_since_start < _FINAL_BEFORE_MORE_THAN_ONE

    def saw(self, finding: Finding) -> None:
        """Take note of what became of a job, set aside or ended."""
        if finding.trouble is not None:
            self.lose_ledger(finding.trouble)
        if finding.hindrance is Hindrance.BUDGET:
            self._stop(_RETRIES_SPENT)
        if finding.hindrance is not None or finding.verdict is None:
            return
        if finding.verdict in (*_STOP_ALL, Verdict.STOP_TARGET):
            self._stop(_refused(self._target, finding))
            return
        if finding.verdict in (Verdict.AMBIGUOUS, Verdict.AGAIN):
            self._note_doubt(finding)
        else:
            self._note_final(finding)

    def ended(self, is_error: bool) -> None:
        """Take note that a row has its outcome, by an answer of this run."""
        self._ended += 1
        self._errors += is_error
        limit = self._max_errors
        if limit is not None and limit.is_passed_by(self._errors, self._ended):
            self._stop(
                Stop(
                    "too-many-errors",
                    f"{self._errors} of {self._ended} rows were rejected, failed or unclear; the limit is {limit}",
                    f"look at the report, mend the rows or the mapping, then {_RUN_AGAIN}; or raise --max-errors",
                )
            )

    def paused(self, service_is_well: bool) -> None:
        """The pause asked for is over, and the service was probed."""
        self.wants_pause = False
        self._final_since_start = 0
        if not service_is_well:
            self._stop(_unwell("and it did not answer a question after a pause"))

    def interrupt(self) -> None:
        """A person or the system ended the run."""
        self._stop(INTERRUPTED)

    def lose_ledger(self, trouble: LedgerUnwritable) -> None:
        """The ledger cannot be used any more."""
        self._stop(Stop("ledger-unwritable", trouble.reason, trouble.hint))

    def _note_doubt(self, finding: Finding) -> None:
        self._doubts_in_a_row += 1
        self._lately.append(True)
        if self._doubts_in_a_row < _DOUBTS_IN_A_ROW and sum(self._lately) < _DOUBTS_OF_LAST:
            return
        self._doubts_in_a_row = 0
        self._lately.clear()
        if self.wants_pause:
            return  # these were on their way before the pause
        if self._paused_before:
            self._stop(_unwell("again, after a pause"))
        self._paused_before = True
        self.wants_pause = True

    def _note_final(self, finding: Finding) -> None:
        self._final_since_start += 1
        self._doubts_in_a_row = 0
        self._lately.append(False)
        self._answered += 1
        if finding.verdict is not Verdict.REJECTED:
            self._alike, self._refusal = 0, None
            return
        refusal = getattr(finding.job.last, "message", "")
        self._alike = self._alike + 1 if refusal == self._refusal else 1
        self._refusal = refusal
        if self._alike >= _ALIKE_IN_A_ROW or self._alike == self._answered >= _ALIKE_FROM_THE_FIRST:
            self._stop(_mapping_is_wrong(self._alike, refusal))

    def _stop(self, stop: Stop) -> None:
        if self.stop is None:
            self.stop = stop


def _unwell(when: str) -> Stop:
    return Stop(
        "service-unwell",
        f"the service gave no clear answer to several rows, {when}",
        f"wait until the service is well, then {_RUN_AGAIN}: it settles the unclear rows first",
    )


def _mapping_is_wrong(alike: int, refusal: str) -> Stop:
    said = f": {refusal}" if refusal else ", without saying why"
    return Stop(
        "mapping-is-wrong",
        f"the service refused {alike} rows in a row for the same reason{said}",
        f"mend the mapping, check it with importer check, then {_RUN_AGAIN}",
    )


def _refused(target: Target, finding: Finding) -> Stop:
    status = finding.status
    if finding.verdict in _STOP_ALL:
        if status == 401:
            hint = f"check IMPORTER_TOKEN or IMPORTER_TOKEN_FILE with importer doctor, then {_RUN_AGAIN}"
            return Stop("token-refused", "the service refuses the token (401)", hint)
        return Stop(
            "redirected",
            f"the service sends us to another address ({status}), where we do not take candidates",
            f"set IMPORTER_BASE_URL to the service's own address, then {_RUN_AGAIN}",
        )
    known = {
        403: ("target-forbidden", "does not let us add to", "ask for the right to it, or check the token"),
        404: ("target-unknown", "does not know", "check the target in the mapping"),
        410: ("target-gone", "no longer has", "check the target in the mapping"),
        423: ("target-locked", "has locked", "wait until it is open again"),
    }
    if status in known:
        code, verb, remedy = known[status]
        return Stop(code, f"the service {verb} {target} ({status})", f"{remedy}, then {_RUN_AGAIN}", whole_run=False)
    return Stop(
        "request-refused",
        f"the service refuses the form of our request to {target} ({status})",
        "check IMPORTER_BASE_URL; if it is right, the service has changed and the importer must follow",
        whole_run=False,
    )


def is_error(state: State | None) -> bool:
    """Whether a row that ended so counts towards --max-errors."""
    return state in (State.REJECTED, State.FAILED, State.UNCLEAR, State.PLANNED)
