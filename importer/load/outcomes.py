"""Says in an outcome what became of a row, why, and what to do."""

from __future__ import annotations

import hashlib
import json

from importer.ledger import Known, State, normalized_email
from importer.load.classify import Doubt
from importer.load.job import Finding
from importer.load.stops import Stop
from importer.models import CREATED_EMAILS, CREATED_OTHER_EMAIL, Outcome, OutcomeKind, Problem
from importer.service import NoReply, Reply

_SETTLE_THERE = (
    "run the same command again to settle it, or look in the service and say what you found with: "
    "importer resolve {run} {row} --created, or --absent"
)
_SETTLE = _SETTLE_THERE.format(run="RUN", row="ROW")
DONE_WITH_OTHER_CONTENT = "done-with-other-content"  # a correction, or another person: either way a person looks at it
OWN_EARLIER_ATTEMPT = Problem(
    "own-earlier-attempt", "most likely our own earlier attempt, whose answer did not arrive", "nothing is to be done"
)


def outcome_of(finding: Finding, stop: Stop | None = None) -> Outcome:
    """The outcome of a row that was sent, or that was to be sent and was not; `stop` says why not."""
    job = finding.job
    kind, problem = _kind_and_problem(finding, stop)
    problems = _warnings(finding) if kind is OutcomeKind.CREATED else (problem,) if problem else ()
    return Outcome(job.row, kind, finding.status, job.attempts, problems)


def untouched(row: int, stop: Stop | None) -> Outcome:
    """The outcome of a row whose turn did not come."""
    return Outcome(row, OutcomeKind.NOT_SENT, problems=(_not_sent(stop),) if stop else ())


def twin_of(row: int, known: Known) -> Outcome:
    """The outcome of a row whose e-mail another row of this run has."""
    return Outcome(row, OutcomeKind.INVALID, problems=(_twin(known.row),))


def done_before(row: int, known: Known, body_digest: bytes) -> Outcome:
    """The outcome of a row whose candidate is there already; says so where another content was sent for it then."""
    if known.body_digest == body_digest:
        return Outcome(row, OutcomeKind.DONE_BEFORE)
    problem = Problem(
        DONE_WITH_OTHER_CONTENT,
        f"for this e-mail another content was sent in run {known.run}, row {known.row}; this one was not sent",
        "if it is another person, give the row its own e-mail; if it is a correction, make it in the service",
    )
    return Outcome(row, OutcomeKind.DONE_BEFORE, problems=(problem,))


def rejected_before(row: int, known: Known, then: Outcome | None) -> Outcome:
    """The outcome of a row that was refused in an earlier run and is unchanged; `then` is what that run said."""
    said = then.problems[0].message if then and then.problems else f"the service refused this row ({known.status})"
    problem = Problem(
        "rejected-before",
        f"{said} in run {known.run}, and it has not changed since",
        "mend the row, or send it as it is with --again",
    )
    return Outcome(row, OutcomeKind.REJECTED, known.status, problems=(problem,))


def unclear_before(row: int, known: Known) -> Outcome:
    """The outcome of a row that an earlier run left unclear and that this one does not settle."""
    problem = Problem(
        "unclear",
        f"in run {known.run} (row {known.row} there) a request may have arrived, but no clear answer came",
        _SETTLE_THERE.format(run=known.run, row=known.row),
    )
    return Outcome(row, OutcomeKind.UNCLEAR, problems=(problem,))


def _kind_and_problem(finding: Finding, stop: Stop | None) -> _KindAndProblem:
    match finding.state:
        case State.CREATED:
            return OutcomeKind.CREATED, None
        case State.ALREADY_THERE:
            return OutcomeKind.ALREADY_THERE, None if finding.job.doubt is Doubt.NONE else OWN_EARLIER_ATTEMPT
        case State.REJECTED:
            return OutcomeKind.REJECTED, _rejected(finding)
        case State.UNCLEAR | State.IN_FLIGHT:
            return OutcomeKind.UNCLEAR, _unclear(finding)
        case State.FAILED | State.PLANNED:
            return OutcomeKind.FAILED, _failed(finding)
        case None if finding.is_duplicate:
            return OutcomeKind.INVALID, _twin(finding.other_row)
        case None:
            return OutcomeKind.NOT_SENT, _not_sent(stop) if stop else None


_KindAndProblem = tuple[OutcomeKind, Problem | None]


def _warnings(finding: Finding) -> tuple[Problem, ...]:
    """What is wrong with the body of a 201. Only the last problem holds the addresses: it is for the report alone."""
    answer = finding.job.last
    if not isinstance(answer, Reply):
        return ()
    if answer.email:
        sent = json.loads(finding.job.body)["email"]
        if normalized_email(sent) != normalized_email(answer.email):
            hashes = f"SHA-256 {_short_hash(answer.email)}, sent was {_short_hash(sent)}"
            return (
                Problem(
                    CREATED_OTHER_EMAIL,
                    f"created, but the response names another e-mail ({hashes})",
                    "look in the service which candidate was created, and correct it there: the row is not sent again",
                ),
                Problem(CREATED_EMAILS, f"e-mail sent: {sent}; e-mail in the response: {answer.email}"),
            )
    if answer.message:
        return (Problem("created-unreadable", answer.message, "look in the service whether the candidate is there"),)
    return ()


def _short_hash(email: str) -> str:
    return hashlib.sha256(normalized_email(email).encode()).hexdigest()[:12]


def _rejected(finding: Finding) -> Problem:
    return Problem(
        "rejected", f"the service refused this row ({_said(finding)})", "mend the row, then run the same command again"
    )


def _unclear(finding: Finding) -> Problem:
    if finding.job.last is None:
        return Problem("unclear", "an earlier request may have arrived, and no clear answer came", _SETTLE)
    return Problem("unclear", f"a request may have arrived, but no clear answer came ({_said(finding)})", _SETTLE)


def _failed(finding: Finding) -> Problem:
    times = "1 attempt" if finding.job.attempts == 1 else f"{finding.job.attempts} attempts"
    return Problem(
        "not-accepted",
        f"the service did not take this row in {times} ({_said(finding)})",
        "run the same command again later",
    )


def _twin(row: int | None) -> Problem:
    other = "another row" if row is None else f"row {row}"
    return Problem(
        "same-email", f"{other} of this file has the same e-mail for the same target", "keep one of the two rows"
    )


def _not_sent(stop: Stop) -> Problem:
    return Problem("not-sent", f"not sent, because {stop.reason}", stop.hint)


def _said(finding: Finding) -> str:
    match finding.job.last:
        case Reply(status, message):
            return f"{status}: {message}" if message else f"{status}, without a reason"
        case NoReply(reason):
            return reason
        case None:
            return "no request was sent in this run"
