"""How a row is known again, so that nobody is entered twice. Three questions, each asked where it can be answered:

- Is its e-mail address twice in this file? `transform.Duplicates`.
- Was it sent in another form, before or after a correction? `KnownRows`, here, by its origin.
- Was its e-mail address sent to this target? The ledger knows, when it is the row's turn: `sending.Loader`.

The origin of a row is the file, sheet and row number where it was first. A row of a results file says with `import_row`
which row it was. The rows of every other file (the next export, the same workbook saved again) are known by their
e-mail address only.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from importer.extract import Sheet
from importer.ledger import DONE, Known, Ledger, RunRecord, Scope, Sent, State
from importer.models import IMPORTED_WITH_OTHER_DATA, Outcome, OutcomeKind
from importer.problems import CellPlace, Column, Origin, Problem, StoppedEarly, UnusableInput
from importer.runs.corrected_runs import CorrectedRuns
from importer.runs.manifest import RunManifest
from importer.settings import Settings

# --- rows that were sent in another form ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Origins:
    """Where each row of a run was first: in its own file, or in the one that a results file descends from.

    own, first: SHA-256 and sheet of these; file: the first one, in messages. numbers: of a results file, the number in
    the first file of each row.
    """

    own: tuple[str, str]
    first: tuple[str, str]
    file: str
    numbers: Mapping[int, int]

    @classmethod
    def find(cls, manifest: RunManifest, sheet: Sheet, settings: Settings) -> Origins:
        """Rows that someone added to a results file, and those of a run that was purged, are from the file itself."""
        own = manifest.sha256, sheet.origin.sheet or ""
        runs = CorrectedRuns(settings)
        line = runs.line(manifest)
        if line:
            with suppress(UnusableInput, StoppedEarly):  # its files were changed
                first, like = runs.manifest(line[-1]), runs.sheet(line[-1])
                return cls(own, (first.sha256, like.origin.sheet or ""), first.file, runs.numbers(sheet, line))
        return cls(own, own, manifest.file, {})

    def of(self, row: int) -> tuple[str, str, int]:
        """SHA-256, sheet and row number."""
        number = self.numbers.get(row)
        return (*self.own, row) if number is None else (*self.first, number)


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Which rows of a run a ledger knows: what was sent of them, also in another form, before or after a correction.

    scopes: that of the run, and those of its batch. email: the column of the address, in messages.
    """

    run: str
    scope: Scope
    scopes: frozenset[Scope]
    origins: Origins
    sheet: Origin
    email: Column | None

    def origin(self, ledger: Ledger, row: int) -> bytes:
        """See `Fingerprints.origin`."""
        return ledger.fingerprints.origin(*self.origins.of(row))

    def imported(self, ledger: Ledger, rows: Mapping[int, str | None]) -> set[int]:
        """Those of these rows that are in the service by their e-mail address."""
        identities = {row: ledger.fingerprints.identity(self.scope, email) for row, email in rows.items() if email}
        known = ledger.look_up([*identities.values()])
        return {row for row, identity in identities.items() if identity in known and known[identity].state in DONE}

    def other_forms(self, ledger: Ledger, rows: Mapping[int, str | None]) -> dict[int, Outcome]:
        """The outcomes of rows that are not sent as they were in another form, by number.

        rows: their e-mail addresses, None if they are invalid.
        """
        prints = ledger.fingerprints
        origins = {row: self.origin(ledger, row) for row in rows}
        sent = ledger.look_up_origins([*origins.values()])
        own = {row: prints.identity(self.scope, email) for row, email in rows.items() if email}
        corrected = ledger.look_up([identity for row, identity in own.items() if row in self.origins.numbers])
        found: dict[int, Outcome] = {}
        for row, origin in origins.items():
            forms = [one for one in sent.get(origin, ()) if one.scope in self.scopes and one.known.run != self.run]
            known = corrected.get(own.get(row, b""))
            outcome = self._of_forms(ledger, row, forms, own.get(row))
            if outcome is None and known is not None and known.origin != origin and known.state in DONE:
                is_of_first_file = prints.origin(*self.origins.first, known.row) == known.origin
                outcome = self._of_other_row(row, known) if is_of_first_file else None
            if outcome is not None:
                found[row] = outcome
        return found

    def _of_forms(self, ledger: Ledger, row: int, forms: list[Sent], own: bytes | None) -> Outcome | None:
        """The outcome of a row by what became of its other forms."""
        done = [one for one in forms if one.known.state in DONE]
        if any(one.identity == own for one in done):  # its e-mail address says so
            return None
        for one in (*done, *forms):
            if one.known.state in DONE:
                return self._of_done(ledger, row, one.known, is_ready=own is not None)
            if one.known.state in (State.UNCONFIRMED, State.IN_FLIGHT) and one.identity != own:
                return self._of_unconfirmed(ledger, row, one.known)
        return None

    def _of_done(self, ledger: Ledger, row: int, known: Known, *, is_ready: bool) -> Outcome:
        record = ledger.run(known.run)
        by = _by(record, known)
        is_same_file = record is not None and record.sha256 == self.origins.own[0]
        if not is_ready or (row not in self.origins.numbers and not is_same_file):
            problem = Problem("imported-corrected", f"corrected and imported {by}")
        else:
            other = "clear import_row" if row in self.origins.numbers else "import its row in a file of its own"
            hint = f"for a correction, change the candidate in the service; for a different person, {other}"
            message = f"sent with another e-mail address {by}; this row was not sent"
            problem = Problem(IMPORTED_WITH_OTHER_DATA, message, hint)
        return Outcome(row, OutcomeKind.ALREADY_IMPORTED, problems=(problem,))

    @staticmethod
    def _of_unconfirmed(ledger: Ledger, row: int, known: Known) -> Outcome:
        run, sent = known.run, known.row
        problem = Problem(
            "unconfirmed",
            f"sent with another e-mail address {_by(ledger.run(run), known)}, but the response was lost or "
            "inconclusive; it may be the same person, so this row was not sent",
            f"continue that run with: importer resume {run}; or look in the service and record the result with: "
            f"importer resolve {run} {sent} --created (or --not-created); if it was not created, import "
            "unconfirmed.csv of this run",
        )
        return Outcome(row, OutcomeKind.UNCONFIRMED, problems=(problem,))

    def _of_other_row(self, row: int, known: Known) -> Outcome:
        """The outcome of a corrected row that has the e-mail address of another row of the first file now."""
        sheet = f", sheet {self.origins.first[1]}" if self.origins.first[1] else ""
        where = f"{self.origins.file}{sheet}, row {known.row}"
        message = f"the e-mail address is the same as in {where}, which run {known.run} imported"
        hint = "correct the address if they are two people; otherwise remove this row, here and in your original file"
        problem = Problem("email-duplicate", message, hint, CellPlace(self.sheet, row, self.email))
        return Outcome(row, OutcomeKind.INVALID, problems=(problem,))


def _by(record: RunRecord | None, known: Known) -> str:
    source = f" from {record.source}" if record and record.source else ""  # not of one that was purged
    return f"by run {known.run}{source}, row {known.row}"
