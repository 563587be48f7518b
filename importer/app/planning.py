"""Plans a run before its first request: checks file, mapping and target, and reports every problem.

A plan has everything that sending needs; `import_file` carries it out.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from importer.app.classify_rows import LookUpKnown, ReadRows, check_rows, forecast_of, settled
from importer.app.documents import know_uploaded, look_into_documents, open_folders, prepare_uploads, upload_mark
from importer.app.orders import Forecast, Listener, Order, Preparing
from importer.app.plan import Plan, remove_files
from importer.ledger import Scope, open_existing_ledger
from importer.mapping import Mapping, ResolvedFilter, ResolvedMapping, resolve
from importer.models import ROUTE_UNKNOWN, Operation, Question, Route, Row, SourceOptions
from importer.problems import DamagedRun, Problem, StoppedEarly, UnusableInput, UsageError, file_problem, unusable_file
from importer.report.write import write_unfinished_summary
from importer.runs.corrections import by_row, over, refuse_split_candidates
from importer.runs.known_rows import KnownRows
from importer.runs.manifest import RunManifest, manifests_in, write_manifest
from importer.runs.presences import Presence
from importer.runs.private_copies import (
    ChildTables,
    SourceFiles,
    keep_asked,
    keep_mapping,
    keep_questions,
    open_children,
)
from importer.runs.results_folder import announce_run, make_private_folder, new_run_id
from importer.runs.row_selection import ALL_ROWS, Part, Selection
from importer.runs.run_report import facts_of
from importer.runs.table import RESTORE, TABLE, RunTable, earlier_outcomes
from importer.settings import Settings
from importer.sources import FileKind, ReadingLimits, Sheet, SourceCopy, copy_source, kind_by_name, open_sheet
from importer.text.normalize import closest, normalize
from importer.transform import body_reader, candidate_rows, join_warnings
from importer.transform.candidates import keyed_rows

QuestionsOf = Callable[[str], tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What the rows are read with."""

    mapping: Mapping
    sheet: Sheet
    children: ChildTables
    resolved: ResolvedMapping
    whole: Callable[[], Iterator[Row]]  # all rows of the file, also those that are not selected


@dataclass(frozen=True, slots=True)
class Planner:
    """Checks everything that can fail before the first request, and reports all problems at once.

    service: the base URL, or `sandbox`. questions_of: returns the live questions of a job post; not called for a
    talent pool, which has none. listen: told how many rows are checked.

    Raises:
        UnusableInput: file, mapping or questions have problems; no files are left behind.
        StoppedEarly: the service does not return its questions.
    """

    order: Order
    service: str
    questions_of: QuestionsOf
    listen: Listener
    dry_run: bool

    @property
    def limits(self) -> ReadingLimits:
        return ReadingLimits(on_rows=self._on_read)

    def plan(self, mapping: Mapping) -> Plan:
        """The plan of a run."""
        self._refuse_unreviewed(mapping)
        order, run, scope = self.order, self._new_id(), Scope(self.service, mapping.target)
        corrected = frozenset(one.row for one in order.corrections)
        with _new_folder(order.settings, run) as (folder, presence):
            inputs, manifest = self._read(mapping, folder)
            with RunTable(folder) as table:
                share = manifest.selection.part
                of_part = _rows_of(share, inputs.sheet.rows, inputs.resolved) if share else None
                table.store(inputs.sheet, manifest.selection, order.corrections, of_part, self._on_read)
                sheet = table.sheet
                if (grouping := inputs.resolved.grouping) is not None:
                    members = keyed_rows(sheet.rows(), inputs.resolved.filters, grouping)
                    rows = (row for _, row in members if isinstance(row, Row))
                    refuse_split_candidates(rows, order.corrections, grouping)
                route = manifest.route if mapping.route else None  # it may have been taken out since
                read = sheet.rows if route is None else partial(_routed, sheet, inputs.resolved, route, corrected)
                is_partial = manifest.selection != ALL_ROWS or inputs.resolved.filters
                unused = look_into_documents(inputs.resolved, read, inputs.whole if is_partial else None)
                if upload_mark(inputs.resolved) and (found := open_existing_ledger(order.settings.ledger_address)):
                    with found as ledger:
                        know_uploaded(inputs.resolved, ledger, self.service)
                known = KnownRows(
                    *(run, scope, manifest.sha256, sheet.origin.sheet or "", corrected),
                    can_resume=order.route is None,
                    out=order.sending.out,
                )
                likely = check_rows(
                    table,
                    read,
                    inputs.resolved,
                    strict=manifest.strict,
                    on_checked=lambda candidates: self.listen(Preparing("checked", candidates)),
                )
                record = table.record if self.dry_run else lambda _: None  # of a check, that is its end
                with self._known_outcomes(known, upload_mark(inputs.resolved)) as look_up:
                    forecast = forecast_of(table.kept(), sheet.origin, look_up, record)
            of_file = (*(unused if manifest.selection == ALL_ROWS else ()), *likely)
            manifest = self._check(replace(inputs, sheet=sheet), manifest, forecast, of_file)
            _initialize_folder(folder, manifest, sheet)
        return Plan(folder, manifest, sheet, inputs.resolved, read, forecast, presence, known)

    def _refuse_unreviewed(self, mapping: Mapping) -> None:
        """A guess that nobody has looked at is not sent; a run that is resumed has the mapping that it had."""
        order = self.order
        is_resumed = order.continues is not None and order.mapping_shown_as is not None
        is_real = not self.dry_run and order.sending.sandbox_setup is None
        if mapping.unreviewed is not None and is_real and not is_resumed:
            raise UnusableInput(mapping.unreviewed)

    def _on_read(self, rows: int) -> None:
        self.listen(Preparing("read", rows))

    def _new_id(self) -> str:
        share = self.order.selection.part
        return new_run_id() + (f".{share.number}of{share.total}" if share else "")

    @contextmanager
    def _known_outcomes(self, known: KnownRows, mark: bytes) -> Iterator[LookUpKnown]:
        settings, sending = self.order.settings, self.order.sending
        with (
            open_existing_ledger(settings.ledger_address) or nullcontext() as ledger,
            earlier_outcomes(settings.out) as earlier,
        ):
            yield lambda block: settled(known, ledger, block, sending, earlier, mark) if ledger is not None else {}

    def _read(self, mapping: Mapping, folder: Path) -> tuple[_Inputs, RunManifest]:
        """Copy and read file, mapping, other tables and questions; the manifest says so far only what was read."""
        order, settings = self.order, self.order.settings
        started_at = datetime.now(UTC)
        copy = self._copy(folder)
        mapping_copy = keep_mapping(mapping, folder)
        sheet = self._open(copy, mapping)
        children = open_children(mapping, SourceFiles(order.file, copy.path, order.shown_as), folder, self.limits)
        before = SourceFiles(order.file, order.file).earlier_run  # of a file of a run: where its documents are
        known = {**(before.documents if before else {}), **order.documents}
        service = "" if order.sending.sandbox_setup else str(settings.base_url or "")
        folders, documents = open_folders(mapping, order.file, known, service)
        questions = self.questions_of(mapping.target.id) if mapping.target.operation is Operation.APPLY else ()
        prepare_uploads(folders.values(), order)
        today = started_at.date()
        resolved = resolve(mapping, sheet.columns, questions, settings.wire, children.tables, today, folders)
        keep_asked(questions, settings.wire, folder)
        _refuse_split_candidates(mapping, order.selection)
        setup = order.sending.sandbox_setup
        manifest = RunManifest(
            run=folder.name,
            file=order.shown_as,
            source=copy.path.name,
            sha256=copy.sha256,
            options=mapping.source,
            selection=order.selection,
            mapping=order.mapping_shown_as or str(order.mapping),
            mapping_copy=mapping_copy,
            target=mapping.target,
            service=self.service,
            dry_run=self.dry_run,
            warnings=(),
            started_at=started_at,
            route=order.route,
            header_row=sheet.header_row,
            children=children.copies,
            documents=documents,
            strict=order.settings.strict,
            flags=dict(order.flags),
            taken=order.taken,
            continues=order.continues.run if order.continues else None,
            questions=keep_questions(setup.questions if setup else None, folder),
            identity=_identity(resolved),
        )
        cells = by_row(order.corrections)
        return _Inputs(mapping, sheet, children, resolved, lambda: over(sheet.rows(), cells)), manifest

    def _open(self, copy: SourceCopy, mapping: Mapping) -> Sheet:
        options = mapping.source
        is_workbook = kind_by_name(copy.path) is not FileKind.CSV
        if is_workbook and not options.counts_from_1900 and (read := self._read_before(copy, options)) is not None:
            return read  # where days are counted, a workbook that counts them from 1904 must be told apart
        return open_sheet(copy.path, options, self.limits, shown_as=self.order.shown_as)

    def _read_before(self, copy: SourceCopy, options: SourceOptions) -> Sheet | None:
        """The rows of the last run that has read this workbook in the same way: that takes much longer than a CSV."""
        wanted = copy.sha256, self.order.shown_as, options, options.names, ALL_ROWS
        for folder, one in reversed(list(manifests_in(self.order.settings.out))):
            found = one.sha256, one.file, one.options, one.options.names, one.selection
            if found == wanted and (folder / TABLE).is_file():
                with suppress(UnusableInput, StoppedEarly), RunTable(folder) as table:
                    return table.file_sheet
        return None

    def _check(
        self, inputs: _Inputs, manifest: RunManifest, forecast: Forecast, found: tuple[Problem, ...]
    ) -> RunManifest:
        """Collect the warnings; return the complete manifest. found: those about the file as a whole."""
        sheet, resolved, is_whole = inputs.sheet, inputs.resolved, manifest.selection == ALL_ROWS
        has_children = is_whole or manifest.selection.part is not None
        unjoined = join_warnings(resolved, sheet.rows if is_whole else inputs.whole) if has_children else ()
        if not forecast.rows and manifest.selection.partial:
            raise UsageError(
                f"{manifest.selection}: the file has no such rows; its header is in row {sheet.header_row}"
            )
        warnings = (*_warnings(inputs), *resolved.warnings, *unjoined)
        if forecast.ready or forecast.held_back:  # else nothing is left to be sent or fixed
            warnings += found
        if warnings and manifest.strict and not self.dry_run:
            raise UnusableInput(warnings)
        manifest = replace(manifest, warnings=tuple(map(str, warnings)), groups=forecast.groups)
        return manifest.read_to(forecast.rows, forecast.last_row)

    def _copy(self, folder: Path) -> SourceCopy:
        copy = copy_source(self.order.file, folder, self.limits, shown_as=self.order.shown_as)
        continued = self.order.continues
        if continued is not None and copy.sha256 != continued.sha256:
            message = "the run's copy of the source file was changed"
            raise DamagedRun(file_problem("source-copy-changed", message, RESTORE, self.order.file))
        if self.order.expects not in ("", copy.sha256):  # its rows may be of other people now
            message = "the file was changed or replaced since its rows were checked"
            hint = "check them again"
            if self.order.corrections:
                hint = "its corrections are of no use: begin a new import with it; imported rows are skipped"
            raise unusable_file("file-changed", message, hint, self.order.shown_as)
        return copy


@contextmanager
def _new_folder(settings: Settings, run: str) -> Iterator[tuple[Path, Presence]]:
    """Create a run's folder. After an error it is removed: a folder without a report would be confusing."""
    presence = announce_run(settings.out, run)
    folder = make_private_folder(settings.out, run)
    try:
        yield folder, presence
    except OSError as error:
        remove_files(folder, presence)
        message = f"the copies of the file and the mapping cannot be written: {error.strerror or error}"
        hint = "free disk space, or choose another folder with --out or IMPORTER_OUT"
        raise unusable_file("not-writable", message, hint, folder.parent) from None
    except BaseException:
        remove_files(folder, presence)
        raise


def _initialize_folder(folder: Path, manifest: RunManifest, sheet: Sheet) -> None:
    """Write the summary, then the manifest: with it the folder is a run, and every run has a summary."""
    write_unfinished_summary(folder, facts_of(manifest, sheet))
    write_manifest(folder, manifest)


def _identity(resolved: ResolvedMapping) -> tuple[tuple[int, ...], ...]:
    """The indexes of the columns of the e-mail, and those of the name."""
    candidate = resolved.candidate
    names = (*candidate["first_name"].columns, *candidate["last_name"].columns)
    return tuple(tuple(column.index for column in columns) for columns in (candidate["email"].columns, names))


def _warnings(inputs: _Inputs) -> tuple[Problem, ...]:
    """The warnings of reading, without those on unread sheets if the mapping takes entries from other sheets."""
    takes_sheets = any(child.file is None for child in inputs.mapping.child_sources)
    own = [one for one in inputs.sheet.warnings if not (takes_sheets and one.code == "sheets-not-read")]
    others = [one for table in inputs.children.tables.values() for one in table.warnings]
    unreviewed = (inputs.mapping.unreviewed,) if inputs.mapping.unreviewed is not None else ()
    return (*unreviewed, *own, *dict.fromkeys(one for one in others if one.code != "sheets-not-read"))


def _routed(sheet: Sheet, resolved: ResolvedMapping, route: Route, corrected: frozenset[int]) -> Iterator[Row]:
    """All rows, those that no mapping of the folder selects with a problem; and so with all rows of their candidates: a
    part of a candidate would be sent as if it were all. corrected: rows that are read otherwise than in the file.
    """
    (own,) = [one for one in resolved.filters if one.label == "route"]
    words, grouping = own.words | {normalize(word) for word in route.words}, resolved.grouping
    lost = dict[str, Row]()
    if grouping is not None:
        others = [one for one in resolved.filters if one is not own]
        for key, row in keyed_rows(sheet.rows(), others, grouping):
            if isinstance(row, Row) and _route_word(row, own) not in words:
                lost[key] = row
    for row in sheet.rows():
        other = lost.get(grouping.key_of(row)) if grouping is not None else None
        if _route_word(row, own) not in words:
            rest = tuple(problem for problem in row.problems if problem.column != own.column.label)
            if not route.takes_unknown:  # the first mapping tells what is wrong with the cell
                yield replace(row, problems=rest)
                continue
            found = _without_route(row, own, route) if rest == row.problems else None
        elif other is not None and grouping is not None:
            message = f"row {other.number} of the same candidate has a value that no mapping's `route:` selects"
            hint = f"correct row {other.number}; or leave such rows out with `where:` in all mappings"
            found = Problem("group-incomplete", message, hint, row.place(grouping.column))
        elif row.number in corrected and _route_word(row, own) not in own.words:
            message = "this row would be of another mapping of the folder, whose run reads it from your own file"
            hint = "correct it there, and run the folder again"
            found = Problem(ROUTE_UNKNOWN, message, hint, row.place(own.column))
        else:
            found = None
        yield row if found is None else replace(row, problems=(*row.problems, found))


def _route_word(row: Row, route: ResolvedFilter) -> str:
    return normalize(row.cells[route.column.index])


def _without_route(row: Row, own: ResolvedFilter, route: Route) -> Problem:
    text = row.cells[own.column.index].strip()
    near = closest(text, route.words) if text else None
    which = f"with '{text}' in this column" if text else "where this column is blank"
    hint = "correct it in your own file, or add it under route: in one of them; then run the folder again"
    proposal = f"did you mean '{near}'? " if near else ""
    return Problem(ROUTE_UNKNOWN, f"no mapping takes rows {which}", f"{proposal}{hint}", row.place(own.column))


def _rows_of(part: Part, read: ReadRows, mapping: ResolvedMapping) -> frozenset[int]:
    """The numbers of the rows of a part. read: gives all rows as they are in the file, so that a correction moves no
    one.
    """
    reader, found = body_reader(mapping), list[int]()
    for row in candidate_rows(read, mapping):
        email = None
        if isinstance(row, Row) and not any(problem.is_of_row for problem in row.problems):
            email = reader.read_field("email", row, [])
        number = row.number if isinstance(row, Row) else row.row
        key = zlib.crc32(email.casefold().encode()) if email else number
        if key % part.total == part.number - 1:
            found += [member.number for member in row.members] if isinstance(row, Row) and row.members else [number]
    return frozenset(found)


def _refuse_split_candidates(mapping: Mapping, selection: Selection) -> None:
    """A selection of rows could contain only some of a candidate's rows, which would be sent as if they were all."""
    if mapping.group_by is not None and selection.partial:
        message = "with group_by:, a candidate can have several rows, and a selection of rows could split them"
        hint = "do not use --rows or --limit"
        raise UnusableInput(Problem("selection-splits-candidate", message, hint, mapping.group_by.place))
    if mapping.group_by is not None and mapping.group_by.blank and selection.part is not None:
        message = "with `blank: continues`, a part could have rows without the candidate that they continue"
        hint = "fill in the key of every row, and remove `blank: continues`; or do not use --part"
        raise UnusableInput(Problem("selection-splits-candidate", message, hint, mapping.group_by.place))
