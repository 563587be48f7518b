"""Why sending ends before every row had its turn, and what to do then."""

from __future__ import annotations

from dataclasses import dataclass

from importer.ledger import LedgerUnwritable
from importer.load.classify import Verdict
from importer.load.options import ErrorLimit
from importer.models import Target

_RUN_AGAIN = "run the same command again"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why sending ended early. `code` is stable; `whole_run` says that other targets would fare no better."""

    code: str
    reason: str
    hint: str
    whole_run: bool = True


INTERRUPTED = Stop("interrupted", "the run was interrupted", f"{_RUN_AGAIN} to go on where it ended")

_OF_TARGET = {
    403: ("target-forbidden", "does not let us add to", "ask for the right to it, or check the token"),
    404: ("target-unknown", "does not know", "check the target in the mapping"),
    410: ("target-gone", "no longer has", "check the target in the mapping"),
    423: ("target-locked", "has locked", "wait until it is open again"),
}


def refused_for_all(target: Target, verdict: Verdict, status: int | None) -> Stop:
    """The service answers as it would answer every row: the token is refused, the target closed, the address wrong."""
    if status == 401:
        hint = f"check IMPORTER_TOKEN or IMPORTER_TOKEN_FILE with importer doctor, then {_RUN_AGAIN}"
        return Stop("token-refused", "the service refuses the token (401)", hint)
    if verdict is not Verdict.STOP_TARGET:
        return Stop(
            "redirected",
            f"the service sends us to another address ({status}), where we do not take candidates",
            f"set IMPORTER_BASE_URL to the service's own address, then {_RUN_AGAIN}",
        )
    if status in _OF_TARGET:
        code, verb, remedy = _OF_TARGET[status]
        return Stop(code, f"the service {verb} {target} ({status})", f"{remedy}, then {_RUN_AGAIN}", whole_run=False)
    return Stop(
        "request-refused",
        f"the service refuses the form of our request to {target} ({status})",
        "check IMPORTER_BASE_URL; if it is right, the service has changed and the importer must follow",
        whole_run=False,
    )


def mapping_is_wrong(alike: int, refusal: str) -> Stop:
    said = f": {refusal}" if refusal else ", without saying why"
    return Stop(
        "mapping-is-wrong",
        f"the service refused {alike} rows in a row for the same reason{said}",
        f"mend the mapping, check it with importer check, then {_RUN_AGAIN}",
    )


def too_many_errors(errors: int, ended: int, limit: ErrorLimit) -> Stop:
    return Stop(
        "too-many-errors",
        f"{errors} of {ended} rows were rejected, failed or unclear; the limit is {limit}",
        f"look at the report, mend the rows or the mapping, then {_RUN_AGAIN}; or raise --max-errors",
    )


def no_connection(reason: str) -> Stop:
    """The address has never answered, and cannot be reached now."""
    return Stop(
        "unreachable",
        f"the service cannot be reached, and has never answered at this address ({reason})",
        f"check IMPORTER_BASE_URL and the network with importer doctor, then {_RUN_AGAIN}",
    )


def no_progress(seconds: float, reason: str | None) -> Stop:
    """No row came nearer to its end for so long; `reason` is what is waited for."""
    because = f": {reason}" if reason else ""
    return Stop(
        "service-unwell",
        f"no row was settled for {in_words(seconds)}{because}",
        f"wait until the service is well, then {_RUN_AGAIN}: it settles the unclear rows first",
    )


def ledger_lost(error: LedgerUnwritable) -> Stop:
    return Stop("ledger-unwritable", error.reason, error.hint)


def in_words(seconds: float) -> str:
    """`20 seconds`, `1 minute`, `15 minutes`."""
    number, unit = (seconds, "second") if seconds < 60 else (seconds / 60, "minute")
    rounded = f"{number:.0f}" if number == int(number) or number >= 10 else f"{number:.1f}"
    return f"{rounded} {unit}" if rounded == "1" else f"{rounded} {unit}s"
