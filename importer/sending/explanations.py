"""The messages for a row, and for a run that stopped early: what happened, why, and what to do."""

from __future__ import annotations

import json
from dataclasses import replace

from importer.ledger import Known, LedgerUnwritable, NotAllowed, State, normalized_email
from importer.models import (
    CREATED_EARLIER,
    CREATED_EMAIL_DIFFERS,
    EXISTS_WORDS,
    IMPORTED_WITH_OTHER_DATA,
    Outcome,
    OutcomeKind,
    Stop,
    Target,
)
from importer.problems import Problem
from importer.sending.answers import PendingRow
from importer.sending.options import ErrorLimit, LoadOptions
from importer.service import NoReply, Reply
from importer.text.dates import in_words
from importer.text.terminal import command_line

_RUN_AGAIN = "run the same command again"


INTERRUPTED = Stop("run-interrupted", "the run was interrupted", f"{_RUN_AGAIN}; it continues where it stopped")

_OF_TARGET = {
    403: ("target-forbidden", "does not allow adding candidates to", "ask for permission, or check the token"),
    404: ("target-not-found", "cannot find", "check target: in the mapping"),
    410: ("target-not-found", "no longer has", "check target: in the mapping"),
    423: ("target-locked", "has locked", "wait until it is unlocked"),
}


def target_refused(target: Target, status: int) -> Stop:
    """Every row would get this response: the token is refused, the target closed, or the address wrong."""
    if status == 401:
        hint = f"check IMPORTER_TOKEN or IMPORTER_TOKEN_FILE with importer doctor, then {_RUN_AGAIN}"
        return Stop("token-refused", "the service refuses the token (401)", hint)
    if status < 400:
        return Stop(
            "service-redirected",
            f"the service redirects to another address ({status}); redirects are not followed",
            f"set IMPORTER_BASE_URL to the correct address of the service, then {_RUN_AGAIN}",
        )
    if status in _OF_TARGET:
        code, verb, remedy = _OF_TARGET[status]
        return Stop(code, f"the service {verb} {target} ({status})", f"{remedy}, then {_RUN_AGAIN}")
    return Stop(
        "request-refused",
        f"the service does not accept this kind of request for {target} ({status})",
        "check IMPORTER_BASE_URL; if it is correct, the service has changed and the importer needs an update",
    )


def mapping_is_wrong(rows: int, rejection: str) -> Stop:
    """Every row so far was rejected for the same reason."""
    reason = f": {rejection}" if rejection else ", but gave no details"
    return Stop(
        "rejection-repeated",
        f"the service rejected all of the first {rows} rows for the same reason{reason}",
        f"fix the mapping, check it with importer check, then {_RUN_AGAIN}",
    )


def too_many_errors(errors: int, ended: int, limit: ErrorLimit) -> Stop:
    return Stop(
        "too-many-errors",
        f"{errors} of the first {ended} rows were rejected, failed or unconfirmed; the limit is {limit}",
        f"open the report, fix the rows or the mapping, then {_RUN_AGAIN}; or raise the limit "
        "(--max-errors; max_errors in inbox.toml)",
    )


def no_connection(answer: NoReply) -> Stop:
    """The address has never responded, and cannot be reached now."""
    return Stop(
        "service-unreachable",
        f"the service cannot be reached and has never responded at this address ({answer.reason})",
        f"{answer.hint or 'check IMPORTER_BASE_URL and the network with importer doctor'}, then {_RUN_AGAIN}",
    )


def refusal_of(answer: Reply | NoReply) -> str:
    """Why a request was not processed."""
    if isinstance(answer, NoReply):
        return f"the service cannot be reached ({answer.reason})"
    return f"the service refuses too many requests ({answer.status})"


def no_progress(seconds: float, reason: str | None) -> Stop:
    """No row has made progress for so many seconds; `reason`: what the run waits for."""
    because = f": {reason}" if reason else ""
    return Stop(
        "run-stalled",
        f"no row was completed for {in_words(seconds)}{because}",
        f"wait until the service works again, then {_RUN_AGAIN}",
    )


def window_over(set_by: str) -> Stop:
    """The time in which the run may send has ended; `set_by`: as the user set it."""
    return Stop("time-over", f"the time for sending is over ({set_by})", f"{_RUN_AGAIN}; it continues where it stopped")


LEDGER_LOST = "not-writable"
_FIX = "fix the row, then import it again"
_LOOK_FIRST = (
    f"{_FIX}; before you change its e-mail address, look for the candidate in the service: an earlier request had no "
    "clear response"
)
_SET_WORDS = "set IMPORTER_POOL_EXISTS to words of that message"
_IN_POOL = f"; if it means that they are in the pool already, {_SET_WORDS}, and send them with --resend-rejected"


def ledger_lost(error: LedgerUnwritable | NotAllowed) -> Stop:
    return Stop(LEDGER_LOST, error.reason, error.hint)


# --- rows ---


def _resolve(run: str, row: int, out: str, again: str = "again") -> str:
    flags = {"--created": "", **({"--out": out} if out else {})}
    return (
        f"run the same command {again} to resend it; or look in the service and record what you find (--not-created: "
        f"it is not there): {command_line('resolve', run, str(row), flags=flags)}"
    )


def outcome_of(
    pending: PendingRow, state: State | None, stop: Stop | None, options: LoadOptions, *, may_exist: bool = False
) -> Outcome:
    """The outcome of a row by its last state; None: nothing was sent for it. `stop`: why sending stopped early.

    may_exist: a rejection may mean that the candidate exists, which is not shown for pools (4.3).
    """
    if state is State.UNCONFIRMED and pending.earlier is not None and not pending.attempts:
        return unconfirmed_before(pending.row, pending.earlier, options.out)
    kind, problems = _kind_and_problems(pending, state, stop, options.out, may_exist=may_exist)
    candidate_id = pending.last.candidate_id if isinstance(pending.last, Reply) and state is State.CREATED else None
    return Outcome(pending.row, kind, pending.status, pending.attempts, problems, candidate_id)


def already_imported(row: int, known: Known, body_digest: bytes) -> Outcome:
    """The outcome of a row that an earlier run imported, with a warning if that run sent different data."""
    if known.body_digest == body_digest:
        return Outcome(row, OutcomeKind.ALREADY_IMPORTED)
    return Outcome(row, OutcomeKind.ALREADY_IMPORTED, problems=(_sent_otherwise(known),))


def _sent_otherwise(known: Known, this_row: str = "this row was not sent") -> Problem:
    return Problem(
        IMPORTED_WITH_OTHER_DATA,
        f"different data for this e-mail was sent in run {known.run} (row {known.row} there)"
        f"{' or before' if known.after_unconfirmed else ''}; {this_row}",
        "for a correction, change the candidate in the service; for a different person, use a different e-mail address",
    )


def rejected_before(row: int, known: Known, before: Outcome | None) -> Outcome:
    """The outcome of an unchanged row that an earlier run reported as rejected; `before`: its outcome then."""
    text = f"the service rejected this row ({known.status})"
    if before and before.problems and before.problems[0].code != "forgotten":
        text = before.problems[0].message
    problem = Problem(
        "rejected-earlier",
        f"{text} in run {known.run}, and the row has not changed since",
        "fix the row, or send it unchanged with --resend-rejected",
    )
    return Outcome(row, OutcomeKind.REJECTED, known.status, problems=(problem,))


_WITHOUT_NEVER = "without --resend-unconfirmed never (resend_unconfirmed in inbox.toml)"


def unconfirmed_before(row: int, known: Known, out: str, *, is_never: bool = False) -> Outcome:
    """The outcome of a row that an earlier run left unconfirmed and that this run has not sent; is_never: it was told
    not to.
    """
    problem = Problem(
        "unconfirmed",
        f"sent in run {known.run} (row {known.row} there), but the response was lost or inconclusive",
        _resolve(known.run, known.row, out, _WITHOUT_NEVER if is_never else "again"),
    )
    return Outcome(row, OutcomeKind.UNCONFIRMED, problems=(problem,))


def _kind_and_problems(
    pending: PendingRow, state: State | None, stop: Stop | None, out: str, *, may_exist: bool
) -> tuple[OutcomeKind, tuple[Problem, ...]]:
    match state:
        case State.CREATED:
            return OutcomeKind.CREATED, _warnings(pending)
        case State.ALREADY_EXISTS:
            earlier: tuple[Problem, ...] = (CREATED_EARLIER,) if pending.may_exist else ()
            if pending.earlier is not None and pending.has_changed:  # with what it had then
                refused = "the service refused this row as a second one"
                earlier = (replace(CREATED_EARLIER, hint=""), _sent_otherwise(pending.earlier, refused))
            return OutcomeKind.ALREADY_EXISTS, (*earlier, *_words_of_existing(pending))
        case State.REJECTED:
            reason = f"the service rejected this row ({_answer_text(pending)})"
            hint = _LOOK_FIRST if pending.may_exist else _FIX
            return OutcomeKind.REJECTED, (Problem("rejected", reason, hint + _IN_POOL if may_exist else hint),)
        case State.UNCONFIRMED | State.IN_FLIGHT:
            hint = _resolve(pending.run, pending.row, out)
            if may_exist and pending.status == 400:  # to send it again has the same answer
                hint = f"if that means that the candidate is in the pool already, {_SET_WORDS}; else {hint}"
            return OutcomeKind.UNCONFIRMED, (Problem("unconfirmed", _unconfirmed(pending), hint),)
        case State.FAILED | State.PLANNED:
            times = "1 attempt" if pending.attempts == 1 else f"{pending.attempts} attempts"
            reason = f"the service did not accept this row after {times} ({_answer_text(pending)})"
            return OutcomeKind.FAILED, (Problem("not-accepted", reason, "run the same command again later"),)
        case None:
            reasons = (Problem("not-sent", f"not sent because {stop.reason}", stop.hint),) if stop else ()
            return OutcomeKind.NOT_SENT, reasons


def _warnings(pending: PendingRow) -> tuple[Problem, ...]:
    """Problems in the body of a 201."""
    answer = pending.last
    if not isinstance(answer, Reply):
        return ()
    if answer.email and normalized_email(json.loads(pending.body)["email"]) != normalized_email(answer.email):
        message = f"created, but the response contains another e-mail address: {answer.email}"
        hint = "find the candidate in the service and correct it there; the row is not sent again"
        return (Problem(CREATED_EMAIL_DIFFERS, message, hint, severity="warning"),)
    if answer.message:
        hint = "check in the service that the candidate exists"
        return (Problem("created-response-invalid", answer.message, hint, severity="warning"),)
    return ()


def _words_of_existing(pending: PendingRow) -> tuple[Problem, ...]:
    """What the service said with "exists already": it may mean something else, such as a record that is locked."""
    if not isinstance(pending.last, Reply) or not pending.last.message:
        return ()
    hint = "no action needed if that means: the candidate is there"
    return (Problem(EXISTS_WORDS, f"the service responded {_answer_text(pending)}", hint),)


def _unconfirmed(pending: PendingRow) -> str:
    if pending.last is None:
        return "an earlier request was sent, but its response was lost or inconclusive"
    if isinstance(pending.last, NoReply):
        is_clear = not pending.last.may_have_arrived
    else:
        is_clear = 400 <= pending.last.status < 500 and pending.last.status != 408
    if is_clear:  # it says nothing about the request before it
        before = "an earlier request was sent, but its response was lost or inconclusive"
        return f"{before}; the last one was not accepted ({_answer_text(pending)})"
    return f"sent, but the response was lost or inconclusive ({_answer_text(pending)})"


def _answer_text(pending: PendingRow) -> str:
    match pending.last:
        case Reply(status, message):
            return f"{status}: {message}" if message else f"{status}, no reason given"
        case NoReply(reason):
            return reason
        case None:
            return "no request was sent in this run"
