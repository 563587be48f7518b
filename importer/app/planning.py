"""Plans a run before its first request: checks file, mapping and target, and reports every problem.

The order of work is sources -> transform -> sending -> report; `import_file` executes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from importer.app.classify_rows import Candidates, Forecast
from importer.app.documents import know_uploaded, look_into_documents, open_folders, prepare_uploads, upload_mark
from importer.app.orders import Listener, Order, RowsChecked, RowsRead
from importer.app.plan import Plan, PlannedRun, discard, remove_files, sending_rate
from importer.files import make_subfolder
from importer.ledger import Scope, open_existing_ledger
from importer.mapping import Mapping, ResolvedGrouping, ResolvedMapping, RouteColumn, resolve, route_column
from importer.models import Operation, Outcome, Question, Row, SourceOptions
from importer.problems import DamagedRun, FilePlace, Problem, StoppedEarly, UnusableInput, UsageError, unusable_file
from importer.report.write import write_unfinished_summary
from importer.runs.corrections import refuse_split_candidates
from importer.runs.known_rows import Emails, KnownRows
from importer.runs.manifest import RunManifest, RunTarget, manifests_in, read_manifest, write_manifest
from importer.runs.presences import Presence
from importer.runs.private_copies import (
    ChildTables,
    Source,
    keep_asked,
    keep_mapping,
    keep_questions,
    open_children,
)
from importer.runs.results_folder import announce_run, make_private_folder, new_run_id
from importer.runs.row_selection import ALL_ROWS, Routed, Selection, route_word
from importer.runs.run_report import facts_of
from importer.runs.table import TABLE, RunTable
from importer.settings import Settings
from importer.sources import (
    ReadingLimits,
    Sheet,
    SourceCopy,
    copy_source,
    open_sheet,
    share_copy,
)
from importer.transform import join_warnings
from importer.transform.candidates import keyed_rows
from importer.transform.texts import stripped

_MAPPINGS = "mappings"  # the folder with the copies of all mapping files of a run with several targets
_WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_AT_ONCE = 1_000  # rows that are looked up in the ledger

QuestionsOf = Callable[[str], tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class _Part:
    """One of several targets: its run, its rows, all targets, the words in the routes of all of them, and the copy and
    the rows that they share: those of the whole run, with its corrections.
    """

    run: str
    selection: Selection
    scopes: frozenset[Scope]
    copy: SourceCopy
    sheet: Sheet
    corrected: frozenset[int]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What a target's rows are read with."""

    mapping: Mapping
    sheet: Sheet
    children: ChildTables
    resolved: ResolvedMapping
    whole: Callable[[], Iterator[Row]]  # all rows of the file, also of other parts


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
        limits = ReadingLimits.of(self.order.settings)
        return replace(limits, on_rows=lambda rows: self.listen(RowsRead(rows)))

    def plan(self, mapping: Mapping) -> PlannedRun:
        """The plan of a run with one target."""
        self._refuse_unreviewed(mapping)
        plan = self._plan(mapping, self.order.mapping_shown_as or str(self.order.mapping))
        rate = sending_rate(self.order.settings, self.service)
        return PlannedRun(plan.folder, plan.manifest, (plan,), plan.sheet, rate)

    def _refuse_unreviewed(self, *mappings: Mapping) -> None:
        """A guess that nobody has looked at is not sent; a run that is resumed has the mapping that it had."""
        found = [one.unreviewed for one in mappings if one.unreviewed is not None]
        if found and not self.dry_run and self.order.sending.sandbox_setup is None and not self._is_resumed:
            raise UnusableInput(found)

    @property
    def _is_resumed(self) -> bool:
        return self.order.continues is not None and self.order.mapping_shown_as is not None

    def _plan(self, mapping: Mapping, shown_as: str, part: _Part | None = None) -> Plan:
        run = part.run if part else self._new_id()
        scope = Scope(self.service, mapping.target)
        with _new_folder(self.order.settings, run) as (folder, presence):
            inputs, manifest = self._read(mapping, shown_as, folder, part)
            with RunTable(folder) as table:
                share = manifest.selection.part
                of_part = share.rows(inputs.sheet.rows, inputs.resolved) if share else None
                table.store(inputs.sheet, manifest.selection, () if part else self.order.corrections, of_part)
                sheet = table.sheet
                read = sheet.rows
                if (grouping := inputs.resolved.grouping) is not None:
                    lost = self._check_grouping(inputs.resolved, grouping, sheet, part)
                    read = partial(_without_incomplete, sheet, lost, grouping) if lost else read
                is_some = manifest.selection != ALL_ROWS or part is not None or inputs.resolved.filters
                whole = inputs.sheet.rows if is_some else None
                unused = look_into_documents(inputs.resolved, read, whole)
                if upload_mark(inputs.resolved) and (found := open_existing_ledger(self.order.settings.ledger_address)):
                    with found as ledger:
                        know_uploaded(inputs.resolved, ledger, self.service)
                known = KnownRows(
                    run,
                    scope,
                    part.scopes if part else frozenset([scope]),
                    manifest.sha256,
                    sheet.origin.sheet or "",
                    part.corrected if part else self._corrected,
                )
                candidates = Candidates(
                    read,
                    inputs.resolved,
                    strict=manifest.strict,
                    with_bodies=not self.dry_run or self._was_run(scope),
                )
                forecast = candidates.check(table, partial(self._look_up, known), sheet.origin, self._tell_checked)
            of_file = (*(unused if manifest.selection == ALL_ROWS else ()), *(candidates.warnings or ()))
            manifest = self._check(replace(inputs, sheet=sheet), manifest, forecast, of_file)
            _initialize_folder(folder, manifest, sheet)
        return Plan(
            folder,
            manifest,
            sheet,
            inputs.resolved,
            candidates,
            forecast,
            presence,
            known,
        )

    def _new_id(self) -> str:
        share = self.order.selection.part
        return new_run_id(datetime.now(UTC)) + (f".{share.number}of{share.total}" if share else "")

    def _check_grouping(
        self, resolved: ResolvedMapping, grouping: ResolvedGrouping, sheet: Sheet, part: _Part | None
    ) -> dict[str, Row]:
        """Refuse candidates that corrections would split. Returns a row of no target for each candidate with one."""
        rows = part.sheet.rows if part else sheet.rows
        members = (row for _, row in keyed_rows(rows(), resolved.filters, grouping) if isinstance(row, Row))
        refuse_split_candidates(members, self.order.corrections, grouping)
        routed = part.selection.routed if part else None
        if part is None or routed is None:
            return {}
        filters = [one for one in resolved.filters if one.label != "route"]
        return {
            key: row
            for key, row in keyed_rows(rows(), filters, grouping)
            if isinstance(row, Row) and route_word(row, routed.column) not in part.words
        }

    @property
    def _corrected(self) -> frozenset[int]:
        return frozenset(one.row for one in self.order.corrections)

    def _look_up(self, known: KnownRows, rows: Emails) -> tuple[dict[int, Outcome], set[int]]:
        with open_existing_ledger(self.order.settings.ledger_address) or nullcontext() as ledger:
            return ({}, set()) if ledger is None else (known.other_forms(ledger, rows), known.imported(ledger, rows))

    def _read(self, mapping: Mapping, shown_as: str, folder: Path, part: _Part | None) -> tuple[_Inputs, RunManifest]:
        """Copy and read file, mapping, other tables and questions; the manifest says so far only what was read."""
        order, settings = self.order, self.order.settings
        started_at, selection = datetime.now(UTC), part.selection if part else order.selection
        copy = share_copy(part.copy, folder) if part else self._copy(folder)
        mapping_copy = keep_mapping(mapping, folder)
        sheet = part.sheet if part else self._open(copy, mapping)
        children = open_children(mapping, Source(order.file, copy.path), folder, self.limits)
        known = {**self._known_folders(order.file), **order.documents}
        service = "" if order.sending.sandbox_setup else str(settings.base_url or "")
        folders, documents = open_folders(mapping, order.file, known, service)
        questions = self.questions_of(mapping.target.id) if mapping.target.operation is Operation.APPLY else ()
        prepare_uploads(folders.values(), order)
        today = started_at.date()
        resolved = resolve(mapping, sheet.columns, questions, settings.wire, children.tables, today, folders)
        keep_asked(questions, settings.wire, folder)
        _refuse_split_candidates(mapping, selection)
        manifest = replace(
            self._manifest(folder, copy, sheet, mapping.source, started_at),
            selection=selection,
            mapping=shown_as,
            mapping_copy=mapping_copy,
            targets=(RunTarget(folder.name, mapping.target, shown_as),),
            children=children.copies,
            documents=documents,
            identity=_identity(resolved),
        )
        return _Inputs(mapping, sheet, children, resolved, sheet.rows), manifest

    def _known_folders(self, file: Path) -> dict[str, str]:
        """Of a file of an earlier run: where its documents are."""
        runs = Source(file, file).earlier_runs
        return {name: path for run in runs for name, path in read_manifest(run).documents.items()}

    def _open(self, copy: SourceCopy, mapping: Mapping) -> Sheet:
        options = mapping.source
        if copy.path.suffix.lower() in _WORKBOOKS and (read := self._read_before(copy, options)) is not None:
            return read
        try:
            return open_sheet(copy.path, options, self.limits, shown_as=self.order.shown_as)
        except UnusableInput as error:
            raise mapping.with_lines(error) from None

    def _read_before(self, copy: SourceCopy, options: SourceOptions) -> Sheet | None:
        """The rows of the last run that has read this workbook in the same way: that takes much longer than a CSV."""
        wanted = copy.sha256, self.order.shown_as, options, options.names, ALL_ROWS
        for folder, one in reversed(list(manifests_in(self.order.settings.out))):
            found = one.sha256, one.file, one.options, one.options.names, one.selection
            if found == wanted and (folder / TABLE).is_file():
                with suppress(UnusableInput, StoppedEarly), RunTable(folder) as table:
                    return table.file_sheet
        return None

    def _manifest(
        self, folder: Path, copy: SourceCopy, sheet: Sheet, options: SourceOptions, started_at: datetime
    ) -> RunManifest:
        """The manifest of a run of the order; without its targets."""
        order, setup = self.order, self.order.sending.sandbox_setup
        return RunManifest(
            run=folder.name,
            file=order.shown_as,
            source=copy.path.name,
            sha256=copy.sha256,
            options=options,
            selection=order.selection,
            mapping=order.mapping_shown_as or str(order.mapping),
            mapping_copy="",
            targets=(),
            service=self.service,
            dry_run=self.dry_run,
            warnings=(),
            started_at=started_at,
            header_row=sheet.header_row,
            strict=order.settings.strict,
            flags=dict(order.flags),
            taken=order.taken,
            continues=order.continues.run if order.continues else None,
            questions=keep_questions(setup.questions if setup else None, folder),
        )

    def _tell_checked(self, candidates: int) -> None:
        self.listen(RowsChecked(candidates))

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
        copy, continued = (
            copy_source(self.order.file, folder, self.limits, shown_as=self.order.shown_as),
            self.order.continues,
        )
        if continued is not None and copy.sha256 != continued.sha256:
            hint = "restore it from a backup, or run the same import again; the ledger knows what was sent"
            message = "the run's copy of the source file was changed"
            raise DamagedRun(Problem("source-copy-changed", message, hint, FilePlace(str(self.order.file))))
        return copy

    def _was_run(self, scope: Scope) -> bool:
        """Whether the ledger may know candidates of a target: a check compares what was sent with what would be."""
        with open_existing_ledger(self.order.settings.ledger_address) or nullcontext() as ledger:
            return ledger is not None and any(record.scope == scope for record in ledger.runs())

    # --- one export to several targets ---

    def plan_split(self, mappings: tuple[Mapping, ...]) -> PlannedRun:
        """A run for each mapping that has rows, and the folder of the whole run.

        A target whose questions the service does not return is blocked; the others continue.
        """
        self._refuse_unreviewed(*mappings)
        plans: list[Plan] = []
        scopes = frozenset(Scope(self.service, mapping.target) for mapping in mappings)
        options, started_at = mappings[0].source, datetime.now(UTC)
        with _new_folder(self.order.settings, new_run_id(started_at)) as (folder, presence), ExitStack() as undo:
            undo.callback(discard, plans)
            copy = self._copy(folder)
            make_subfolder(folder / _MAPPINGS)
            for mapping in mappings:  # also without rows or if blocked, so that the run can be resumed
                keep_mapping(mapping, folder / _MAPPINGS, mapping.path.stem)
            opened = self._open(copy, mappings[0])
            column = route_column(mappings, opened.columns)
            with RunTable(folder) as table:
                table.store(opened, self.order.selection, self.order.corrections)
                sheet = table.sheet
            shared = _Part(folder.name, self.order.selection, scopes, copy, sheet, self._corrected, column.all_words)
            targets = self._plan_parts(shared, column, plans)
            manifest = replace(
                self._manifest(folder, copy, sheet, options, started_at),
                mapping_copy=_MAPPINGS,
                targets=targets,
                route_column=column.index,
                identity=_identity_of_all(plan.manifest for plan in plans),
                warnings=tuple(map(str, sheet.warnings)),
            )
            if plans:
                self._keep_known(folder, manifest, plans[0].known, shared)
            _initialize_folder(folder, manifest, sheet)
            undo.pop_all()
        presence.end()  # from now on its manifest shows its state
        return PlannedRun(folder, manifest, tuple(plans), sheet, sending_rate(self.order.settings, self.service))

    def _keep_known(self, folder: Path, manifest: RunManifest, known: KnownRows, shared: _Part) -> None:
        """Record the outcomes of rows without a target whose corrections were sent to one."""
        at = manifest.route_column or 0
        rows = ((row.number,) for row in shared.sheet.rows() if route_word(row, at) not in shared.words)
        while block := list(islice(rows, _AT_ONCE)):
            outcomes, _ = self._look_up(known, dict.fromkeys(block))
            if outcomes:
                with RunTable(folder) as table:
                    table.record([*outcomes.values()])

    def _plan_parts(self, shared: _Part, column: RouteColumn, plans: list[Plan]) -> tuple[RunTarget, ...]:
        """A run for each mapping that has rows; adds their plans to `plans`. shared: the whole run."""
        words_of_rows = {route_word(row, column.index) for row in shared.sheet.rows()}
        targets: list[RunTarget] = []
        problems: list[Problem] = []
        for mapping, words in column.words.items():
            if not words_of_rows.intersection(words):
                continue
            shown_as = str(Path(self.order.mapping_shown_as or self.order.mapping) / mapping.path.name)
            written = tuple(map(str, mapping.route.words)) if mapping.route else ()
            target = RunTarget(f"{shared.run}.{mapping.path.stem}", mapping.target, shown_as, words, written)
            routed = replace(shared.selection, routed=Routed(column.index, words))
            try:
                plans.append(self._plan(mapping, shown_as, replace(shared, run=target.run, selection=routed)))
            except UnusableInput as error:
                problems.extend(error.problems)
            except StoppedEarly as error:
                target = replace(target, blocked=str(error))
            targets.append(target)
        if problems:
            raise UnusableInput(list(dict.fromkeys(problems)))
        return tuple(targets)


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


def _identity_of_all(manifests: Iterable[RunManifest]) -> tuple[tuple[int, ...], ...]:
    """The columns that any of the targets reads as e-mail, and those as name."""
    both = zip(*(one.identity for one in manifests), strict=True)
    return tuple(tuple(dict.fromkeys(index for each in columns for index in each)) for columns in both)


def _warnings(inputs: _Inputs) -> tuple[Problem, ...]:
    """The warnings of reading, without those on unread sheets if the mapping takes entries from other sheets."""
    takes_sheets = any(child.file is None for child in inputs.mapping.child_sources)
    own = [one for one in inputs.sheet.warnings if not (takes_sheets and one.code == "sheets-not-read")]
    others = [one for table in inputs.children.tables.values() for one in table.warnings]
    unreviewed = (inputs.mapping.unreviewed,) if inputs.mapping.unreviewed is not None else ()
    return (*unreviewed, *own, *dict.fromkeys(one for one in others if one.code != "sheets-not-read"))


def _without_incomplete(sheet: Sheet, lost: dict[str, Row], grouping: ResolvedGrouping) -> Iterator[Row]:
    """All rows; those of a candidate who also has a row of no target have a problem, as a part would be sent as all."""
    for row in sheet.rows():
        other = lost.get(stripped(row.cells[grouping.column.index]))
        if other is not None:
            message = f"row {other.number} of the same candidate has a value that no mapping's `route:` selects"
            hint = f"correct row {other.number}; or leave such rows out with `where:` in the mappings"
            found = Problem("group-incomplete", message, hint, row.place(grouping.column))
            yield replace(row, problems=(*row.problems, found))
        else:
            yield row


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
