"""How a row is known again, so that nobody is entered twice. Four questions, each asked where it can be answered:

- Is its e-mail address twice in this file? `transform.Duplicates`.
- Has an earlier run of the same file finished it? `PreviousResults`, here: then it is neither checked nor looked up.
- Was it sent in another form, from a results file, or with other corrections?
  `OtherForms`, here.
- Was its e-mail address sent to this target? The ledger knows, when it is the row's turn: `load.Loader`.

A row is another form of a row if `import_row` names it and its e-mail, its
name or most of its other cells are unchanged: `related_runs` proves it. Of an original that was edited since, it is the
same one if it has its place and most of its other cells.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path

from importer.extract import Sheet
from importer.ledger import Ledger, RunRecord, Scope, open_existing_ledger
from importer.models import IMPORTED_WITH_OTHER_DATA, Outcome, OutcomeKind, Row
from importer.problems import Column, Problem, StoppedEarly, UnusableInput
from importer.runs.journal import RunJournal
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.related_runs import Aligned, Form, RelatedRuns, cells_of, mostly_same, same_cells, same_person
from importer.runs.row_selection import RowSet
from importer.settings import Settings

# --- an earlier run of the same file --------------------------------------------------------------


class PreviousResults:
    """Outcomes of an earlier run of the same file that are still valid, by row number.

    These rows are neither transformed nor looked up again, so a file of a million imported rows is only read. The
    outcomes are valid if everything that they depend on is unchanged (`RunManifest.fingerprint`); a row counts as
    imported only if the ledger confirms it.

    Raises:
        UnusableInput, StoppedEarly: the journal of that run cannot be read.
    """

    def __init__(self, folder: Path, run: str, ledger: Ledger) -> None:
        with RunJournal(folder) as journal:
            self._imported = RowSet(journal.rows_imported_before())
        self._imported.update(ledger.rows_done(run))
        self._outcomes = self._read(folder)
        self._next = next(self._outcomes, None)

    @classmethod
    def find(cls, manifest: RunManifest, out: Path, ledger: Ledger) -> PreviousResults | None:
        """The results of the last run in `out` with the same fingerprint; None if there is no such run."""
        same = [
            (earlier.started_at, folder, earlier.run)
            for folder, earlier in manifests_in(out)
            if earlier.fingerprint is not None
            and earlier.fingerprint == manifest.fingerprint
            and earlier.scope == manifest.scope
            and earlier.run != manifest.run
            and earlier.ending is not None
            and not earlier.dry_run
            and ledger.run(earlier.run) is not None
        ]
        return cls(*max(same)[1:], ledger) if same else None

    def outcome(self, row: int) -> Outcome | None:
        """The outcome of a row; None if it is not known. Call it in row order."""
        while self._next is not None and self._next.row < row:
            try:
                self._next = next(self._outcomes, None)
            except (UnusableInput, StoppedEarly):  # the remaining rows are processed again
                self._next = None
        if self._next is not None and self._next.row == row:
            return self._next
        return Outcome(row, OutcomeKind.ALREADY_IMPORTED) if row in self._imported else None

    def close(self) -> None:
        """Close the journal of that run, however far it was read."""
        self._outcomes.close()

    @staticmethod
    def _read(folder: Path) -> Generator[Outcome, None, None]:
        with RunJournal(folder) as journal:
            yield from journal.outcomes_independent_of_service()


# --- rows that were sent in another form ----------------------------------------------------------


class OtherForms:
    """The rows of a run that were sent in another form, before or after a correction. Falsy if there are none.

    rows: those of the run with their cells in the order of the original. numbers: of a results file, the number of each
    row in the original; None for an original. emails: the indexes of the e-mail's columns in the original, each with
    that column there and here. as_of: what the ledger knew of other runs.
    """

    def __init__(
        self,
        manifest: RunManifest,
        forms: Iterable[Form] = (),
        rows: Aligned | None = None,
        numbers: Mapping[int, int] | None = None,
        emails: Mapping[int, tuple[Column, Column | None]] | None = None,
        as_of: frozenset[RunRecord] = frozenset(),
    ) -> None:
        self._scope, self._rows, self._numbers, self._as_of = manifest.scope, rows, numbers, as_of
        self._emails = emails or {}
        self._is_listed = manifest.corrects_itself and numbers is not None  # a list says which row each one is
        self._forms: dict[int, list[Form]] = {}
        self._owners: dict[tuple[str, ...], Form] = {}  # by e-mail address; of an original, the numbers may have moved
        for form in sorted(forms, key=lambda one: (one.is_done, one.by_it, one.manifest.started_at), reverse=True):
            self._forms.setdefault(form.original.number, []).append(form)
            address = cells_of(form.row, form.identity[0])
            if numbers is not None and form.is_done and form.manifest.scope == self._scope and any(address):
                self._owners.setdefault(address, form)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def is_complete(self, runs: frozenset[RunRecord]) -> bool:
        """Whether no run has begun, sent or ended since, if these are the other runs now."""
        return self._as_of == runs and all(one.ended_at for one in runs)

    def outcome(self, row: Row) -> Outcome | None:
        """The outcome of a candidate that is not sent, as another form of it was or may have been; else None."""
        if self._rows is None:
            return None
        rows = [self._rows.row(one) for one in row.members or (row,)]
        pairs = [(one, form) for one in rows for form in self._of(one)]
        same = [(one, form) for one, form in pairs if form.is_proven and one.cells == form.original.cells]
        unchanged = {one.number: form for one, form in reversed(same)}
        if self._rows.is_complete and len(unchanged) == len(rows):
            return self._of_unchanged(row.number, [unchanged[number] for number in sorted(unchanged)])
        for one, form in pairs:
            emails, names = form.identity
            is_meant = self._numbers is not None or (form.is_proven and mostly_same(one, form.original, form.identity))
            is_here = form.manifest.scope == self._scope
            is_person = (
                self._is_listed or same_person(one, form.row, names) or mostly_same(one, form.row, form.identity)
            )
            if is_meant and is_here and is_person and not same_person(one, form.row, emails):
                return _with_other_email(row.number, form, is_original=self._numbers is None)
        for one in rows:
            owner = self._owners.get(cells_of(one, tuple(self._emails)))
            if owner is not None and owner.original.number != self._number(one):
                index = next(index for index in self._emails if one.cells[index])
                return _with_email_of_other(row, owner, *self._emails[index])
        return None

    def _number(self, row: Row) -> int | None:
        return row.number if self._numbers is None else self._numbers.get(row.number)

    def _of(self, row: Row) -> Sequence[Form]:
        number = self._number(row)
        return self._forms.get(number, ()) if number is not None else ()

    def _of_unchanged(self, row: int, forms: Sequence[Form]) -> Outcome | None:
        """The outcome of a candidate that is as in the original; None if the ledger knows it, by its e-mail address."""
        first, manifest = forms[0], forms[0].manifest
        if first.is_done:
            is_elsewhere = manifest.children or manifest.groups  # what was corrected may be
            is_corrected = is_elsewhere and manifest.descends
            if not is_corrected and all(form.row.cells == form.original.cells for form in forms):
                return None
            message = f"corrected and imported by run {manifest.run} from {manifest.file}, row {first.row.number}"
            return Outcome(row, OutcomeKind.ALREADY_IMPORTED, problems=(Problem("imported-corrected", message),))
        emails = first.identity[0]
        is_known = all(same_cells(form.row, form.original, emails) for form in forms) and manifest.scope == self._scope
        return None if is_known else _with_other_email(row, first)


def _with_email_of_other(row: Row, form: Form, there: Column, here: Column | None) -> Outcome:
    """The outcome of a row with the e-mail address of another row of the original, which was imported.

    there, here: the column with the address in the original, and in the row's own file.
    """
    place, run = form.original.place(there), form.manifest.run
    message = f"the e-mail address is the same as in {place}, which run {run} imported"
    hint = "correct the address if they are two people; otherwise remove this row, here and in your original file"
    problem = Problem("email-duplicate", message, hint, row.place(here))
    return Outcome(row.number, OutcomeKind.INVALID, problems=(problem,))


def _with_other_email(row: int, form: Form, *, is_original: bool = False) -> Outcome:
    """The outcome of a row whose person was sent, or may have been, with another e-mail address."""
    run, sent = form.manifest.run, form.row.number
    message = f"sent with another e-mail address by run {run} from {form.manifest.file}, row {sent}"
    if form.is_done:
        other = "move the row to the end of the file" if is_original else "clear import_row"
        hint = f"for a correction, change the candidate in the service; for a different person, {other}"
        problem = Problem(IMPORTED_WITH_OTHER_DATA, f"{message}; this row was not sent", hint)
        return Outcome(row, OutcomeKind.ALREADY_IMPORTED, problems=(problem,))
    problem = Problem(
        "unconfirmed",
        f"{message}, but the response was lost or inconclusive; it may be the same person, so this row was not sent",
        f"continue that run with: importer resume {run}; or look in the service and record the result with: importer "
        f"resolve {run} {sent} --created (or --not-created); if it was not created, import unconfirmed.csv of this run",
    )
    return Outcome(row, OutcomeKind.UNCONFIRMED, problems=(problem,))


def find_other_forms(
    manifest: RunManifest,
    sheet: Sheet,
    scopes: Collection[Scope],
    settings: Settings,
    known: OtherForms | None = None,
    held: Ledger | None = None,
) -> OtherForms:
    """The rows of a run that were sent in another form, to one of these targets: its own, and those of its batch.

    The rows of an original are compared one by one, as a file of the same name may have grown since. Of a results file
    also the rows that were sent from the original are other forms. known: as found before, the
    result if nothing was sent since; held: the ledger, if it is open.
    """
    with nullcontext(held) if held else open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        if ledger is None:
            return OtherForms(manifest)
        others = frozenset(one for one in ledger.runs() if one.scope in scopes and one.run != manifest.run)
        if known is not None and known.is_complete(others):
            return known
        runs = RelatedRuns(settings, own=manifest.run)
        before = runs.before(manifest)
        line = runs.line(before) if before is not None else []
        sha256 = runs.manifest(line[-1]).sha256 if line else manifest.sha256
        originals = [
            run
            for run, (_, one) in runs.all.items()
            if one.corrects is None
            and not one.corrects_itself
            and (one.sha256 == sha256 or (not line and one.file == manifest.file))
        ]
        forms: list[Form] = []
        with suppress(UnusableInput, StoppedEarly):  # its files were changed: nothing is proven
            like = runs.sheet(line[-1]) if line else sheet
            numbers = runs.numbers(manifest, sheet, line) if line else None
            rows = Aligned(sheet, like)
            emails = next(iter(rows.identity(manifest)), ())
            own = {column.name: column for column in sheet.columns}
            columns = {index: (like.columns[index], own.get(like.columns[index].name)) for index in emails}
            wanted = set(numbers.values()) if numbers else set()
            addresses = {cells_of(row, emails) for row in rows.rows()} if wanted else set()
            for run in originals if wanted else ():
                if runs.manifest(run).scope == manifest.scope and run != manifest.run:
                    with suppress(UnusableInput, StoppedEarly):
                        sent = runs.forms_of_original(run, like, ledger)
                        forms += (
                            form
                            for form in sent
                            if form.original.number in wanted or cells_of(form.row, form.identity[0]) in addresses
                        )
            # With a list of corrections, a row may also be as another list left it, and fixed in a results file since.
            lists = [run for run, (_, one) in runs.all.items() if one.corrects_itself and one.sha256 == manifest.sha256]
            ways = [runs.lines_to(originals), runs.lines_to(lists) if line and manifest.corrects_itself else {}]
            for run, way in chain.from_iterable(each.items() for each in ways):
                if runs.manifest(run).scope in scopes and run != manifest.run:
                    with suppress(UnusableInput, StoppedEarly):
                        forms += runs.forms(way, like, ledger)
            return OtherForms(manifest, forms, rows, numbers, columns, others)
    return OtherForms(manifest)
