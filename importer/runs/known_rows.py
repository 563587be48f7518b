"""How a row is known again, so that nobody is entered twice. Three questions, each asked where it can be answered:

- Is its e-mail address twice in this file? `app.classify_rows`, when all rows are checked.
- Was it sent in another form, before or after a correction? `KnownRows`, here, by its origin.
- Was its e-mail address sent to this target? The ledger knows, when it is the row's turn: `sending.Loader`.

The origin of a row is its file, sheet and row number; corrections leave it as it is. The rows of every other file (the
next export, the same workbook saved again) are known by their e-mail address only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from importer.ledger import DONE, Known, Ledger, Scope, Sent, State
from importer.models import IMPORTED_WITH_OTHER_DATA, UNCONFIRMED_ELSEWHERE, Outcome, OutcomeKind
from importer.problems import Problem
from importer.text.terminal import command_line


class CandidateEmail(NamedTuple):
    """The e-mail address of a candidate; is_ready: it can be sent."""

    email: str
    is_ready: bool = True


Emails = Mapping[tuple[int, ...], CandidateEmail | None]
"""The rows of candidates, each with its e-mail address; None if that does not matter, as the row is not valid."""


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Which rows of a run a ledger knows: what was sent of them, also in another form, before or after a correction.

    sha256, sheet: of the source. corrected: the rows with corrections. can_resume: their runs are not of a folder of
    mappings. out: the results folder that commands in hints name; "": the usual one.
    """

    run: str
    scope: Scope
    sha256: str
    sheet: str
    corrected: frozenset[int]
    can_resume: bool = True
    out: str = ""

    def origin(self, ledger: Ledger, row: int) -> bytes:
        """See `Fingerprints.origin`."""
        return ledger.fingerprints.origin(self.sha256, self.sheet, row)

    def imported(self, ledger: Ledger, emails: Mapping[int, str]) -> set[int]:
        """The first rows of those candidates that are in the service by their e-mail addresses."""
        identities = {row: ledger.fingerprints.identity(self.scope, email) for row, email in emails.items()}
        known = ledger.look_up([*identities.values()])
        return {row for row, identity in identities.items() if identity in known and known[identity].state in DONE}

    def other_forms(self, ledger: Ledger, candidates: Emails) -> dict[int, Outcome]:
        """The outcomes of candidates that are not sent as they were in another form, by first row."""
        origins = {row: self.origin(ledger, row) for rows in candidates for row in rows}  # another row was first then
        sent = ledger.look_up_origins([*origins.values()])
        found: dict[int, Outcome] = {}
        for rows, one in candidates.items():
            own = ledger.fingerprints.identity(self.scope, one.email) if one and one.is_ready else None
            forms = [form for row in rows for form in sent.get(origins[row], ()) if self._is_other(form)]
            if (outcome := self._of_forms(ledger, rows, forms, own)) is not None:
                found[rows[0]] = outcome
        return found

    def _is_other(self, form: Sent) -> bool:
        return form.scope == self.scope and form.known.run != self.run

    def _of_forms(self, ledger: Ledger, rows: tuple[int, ...], forms: list[Sent], own: bytes | None) -> Outcome | None:
        """The outcome of a candidate by what became of its other forms."""
        done = [one for one in forms if one.known.state in DONE]
        if any(one.identity == own for one in done):  # its e-mail address says so
            return None
        for one in (*done, *forms):
            if one.known.state in DONE:
                return self._of_done(ledger, rows, one.known, is_ready=own is not None)
            if one.known.state in (State.UNCONFIRMED, State.IN_FLIGHT) and one.identity != own:
                how = "with another e-mail address " if own else ""
                return self._of_unconfirmed(ledger, rows[0], one.known, how)
        return None

    def _of_done(self, ledger: Ledger, rows: tuple[int, ...], known: Known, *, is_ready: bool) -> Outcome:
        by = f"by run {known.run}, row {known.row}"
        how = "with another e-mail address" if is_ready else "in another form"
        if not self.corrected.intersection(rows):
            problem = Problem("imported-corrected", f"imported {how} {by}")
        else:  # what is corrected now came too late
            hint = "for a correction, change the candidate in the service; "
            hint += "for a different person, import its row in a file of its own"
            problem = Problem(IMPORTED_WITH_OTHER_DATA, f"sent {how} {by}; this row was not sent", hint)
        return Outcome(rows[0], OutcomeKind.ALREADY_IMPORTED, problems=(problem,))

    def _of_unconfirmed(self, ledger: Ledger, row: int, known: Known, how: str) -> Outcome:
        run, sent = known.run, known.row
        flags = {"--out": self.out} if self.out else {}
        resolve = command_line("resolve", run, str(sent), flags={"--created": "", **flags})
        ways = f"continue that run with: {command_line('resume', run, flags=flags)}; or " if self.can_resume else ""
        problem = Problem(
            UNCONFIRMED_ELSEWHERE,
            f"sent {how}by run {run}, row {sent}, but the response was lost or inconclusive; "
            f"{'it may be the same person' if how else 'this row is not valid now'}, so this row was not sent",
            f"{ways}look in the service and record what you find (--not-created: it is not there), then run the same "
            f"command again: {resolve}",
        )
        return Outcome(row, OutcomeKind.UNCONFIRMED, problems=(problem,))
