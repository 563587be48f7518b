"""Before the first request: a file, a mapping and a target are made to fit each other, and all that can fail has.

The order of work is extract -> transform -> load -> report; `import_file` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from importer.app.classify_rows import Forecast, ReadRows, Sorted, SortingAhead, look_ahead, needs_whole_look, sort_rows
from importer.app.events import Begun, Planned, ReadyRows
from importer.app.orders import Order
from importer.atomic_files import make_subfolder
from importer.errors import StoppedEarly, UnusableInput, UsageError
from importer.extract import ReadingLimits, Sheet, SourceCopy, open_sheet, share_copy
from importer.ledger import Presence, Scope
from importer.ledger import RunRecord as LedgerRun
from importer.mapping import Mapping, ResolvedMapping, RouteColumn, read_mapping, read_mappings, resolve, route_column
from importer.models import FilePlace, Operation, Problem, Question, Row
from importer.report import write_unfinished_summary
from importer.runs.manifest import RunManifest, RunTarget, keep_mapping, write_manifest
from importer.runs.previous_results import PreviousResults, fingerprint
from importer.runs.private_copies import ChildTables, Source, copy_of_source, open_children
from importer.runs.results_folder import be_present, make_private_folder, new_run_id, remove_folder
from importer.runs.row_selection import Routed, Selection, route_word
from importer.runs.run_report import facts_of
from importer.settings import Settings
from importer.transform import join_warnings

_MAPPINGS = "mappings"  # in the folder of a run with several targets: copies of all its mapping files
_CHECKED_FIRST = 2_000  # candidates that are checked before the first request, and with them most files: half a second
_CHECKED_FIRST_OF_MANY = 200
_MANY = 4_000  # lines: a file that is not checked to its end anyhow is not delayed for a part of it


class Candidates(Protocol):
    """The candidates of a source, to be gone through once, and closed then or before."""

    def __iter__(self) -> Iterator[Sorted]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Part:
    """One target of an export to several: its run, its rows, and the private copy that all of them read.

    A workbook is read once and kept once, however many targets its rows go to.
    """

    run: str
    selection: Selection
    copied: SourceCopy
    sheet: Sheet


QuestionsOf = Callable[[str], tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A file, a mapping and a target that fit each other, with the private copy that all rows are read from.

    candidates: what each candidate of the source comes to, given once; forecast: None where the source was not read
    to its end yet.
    """

    folder: Path
    manifest: RunManifest
    sheet: Sheet
    mapping: ResolvedMapping
    candidates: Candidates
    forecast: Forecast | None
    previous: PreviousResults
    presence: Presence

    @property
    def scope(self) -> Scope:
        """Where its rows go, as the ledger knows it."""
        return Scope(self.manifest.service, self.mapping.target)

    @property
    def is_part(self) -> bool:
        """Whether its rows are those of one target of several."""
        return self.manifest.selection.routed is not None

    @property
    def begun(self) -> Begun:
        return Begun(self.manifest.run, self.mapping.target, self.manifest.rows, self.is_part)

    @property
    def ready(self) -> ReadyRows:
        return ReadyRows(
            self.manifest.run, self.mapping.target, self.manifest.rows, self.forecast.ready if self.forecast else None
        )

    @property
    def ledger_run(self) -> LedgerRun:
        """This run as the ledger notes it: no more of the source than its name."""
        manifest = self.manifest
        return LedgerRun(
            run=manifest.run,
            scope=self.scope,
            source=Path(manifest.file).name,
            sha256=manifest.sha256,
            mapping=manifest.mapping,
            folder=str(self.folder),
            started_at=manifest.started_at,
        )


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What is to be done: the plan of each target. `folder`, `manifest`: of the whole, where there are several."""

    folder: Path
    manifest: RunManifest
    plans: tuple[Plan, ...]
    sheet: Sheet

    @property
    def as_event(self) -> Planned:
        ready = tuple(plan.ready for plan in self.plans)
        return Planned(self.folder, self.manifest.service, self.sheet.reading, ready, self.manifest.is_split)

    def discard(self) -> None:
        """Take back what nobody wants carried out."""
        _discard_all(self.plans)
        if self.manifest.is_split:
            remove_folder(self.folder)


def plan_run(order: Order, service: str, questions_of: QuestionsOf, *, dry_run: bool) -> PlannedRun:
    """Do everything that can fail before the first request, and tell all of it at once.

    service: the base URL, or `sandbox` for a rehearsal. questions_of: gives the live questions of a job post; not
    called for a talent pool, which has none. Of several targets one whose questions the service does not give is
    blocked, and does not stop the others.

    Raises:
        UnusableInput: mapping, file, header or questions do not fit; nothing is left behind.
        StoppedEarly: the service does not give its questions.
    """
    planner = _Planner(order, service, questions_of, dry_run)
    if order.mapping.is_dir():
        return planner.plan_split()
    mapping = read_mapping(order.mapping, order.settings.mapping_folders)
    plan = planner.plan(mapping, str(order.mapping_shown_as or order.mapping))
    return PlannedRun(plan.folder, plan.manifest, (plan,), plan.sheet)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file and a mapping that fit each other, in private copies, with what the service asks."""

    copy: SourceCopy
    mapping: Mapping
    mapping_copy: str
    sheet: Sheet
    children: ChildTables
    questions: tuple[Question, ...]
    resolved: ResolvedMapping


@dataclass(frozen=True, slots=True)
class _Planner:
    order: Order
    service: str
    questions_of: QuestionsOf
    dry_run: bool

    def plan(self, mapping: Mapping, shown_as: str, part: Part | None = None) -> Plan:
        """The plan of one target."""
        started_at = datetime.now(UTC)
        run = part.run if part else new_run_id(started_at)
        with _new_folder(self.order.settings, run) as (folder, presence), ExitStack() as undo:
            source = self._open(mapping, folder, part)
            plan = self._plan_of(source, shown_as, folder, presence, started_at, part, undo)
            # The manifest last: with it the folder is a run, and every run has a summary.
            write_unfinished_summary(folder, facts_of(plan.manifest, plan.sheet))
            write_manifest(folder, plan.manifest)
            undo.pop_all()
        return plan

    def _open(self, mapping: Mapping, folder: Path, part: Part | None) -> _Opened:
        order = self.order
        limits = ReadingLimits.of(order.settings)
        copy = share_copy(part.copied, folder) if part else copy_of_source(order.file, folder, limits)
        mapping_copy = keep_mapping(mapping, folder)
        sheet = part.sheet if part else open_sheet(copy.path, mapping.source, limits, shown_as=order.shown_as)
        children = open_children(mapping, Source(order.file, copy.path), folder, limits)
        asks = mapping.target.operation is Operation.APPLY
        questions = self.questions_of(mapping.target.id) if asks else ()
        resolved = resolve(mapping, sheet.columns, questions, order.settings.wire, children.tables)
        return _Opened(copy, mapping, mapping_copy, sheet, children, questions, resolved)

    def _plan_of(
        self,
        source: _Opened,
        shown_as: str,
        folder: Path,
        presence: Presence,
        started_at: datetime,
        part: Part | None,
        undo: ExitStack,
    ) -> Plan:
        order, sheet, mapping, resolved = self.order, source.sheet, source.mapping, source.resolved
        selection = part.selection if part else order.selection
        whole = selection == Selection()
        _refuse_torn_candidates(mapping, selection)

        def read() -> Iterator[Row]:
            return selection.of(sheet.rows())

        previous = PreviousResults()
        candidates, forecast = self._candidates(read, source, previous, part)
        undo.callback(candidates.close)
        grouped = mapping.group_by is not None
        leftovers = join_warnings(resolved.joins, read(), grouped=grouped) if resolved.joins and whole else ()
        if forecast is not None and not forecast.rows and not whole:
            raise UsageError(f"{selection}: the file has no such row; its header is in row {sheet.header_row}")
        manifest = RunManifest(
            run=folder.name,
            file=order.shown_as,
            source=source.copy.path.name,
            sha256=source.copy.sha256,
            options=mapping.source,
            selection=selection,
            mapping=shown_as,
            mapping_copy=source.mapping_copy,
            targets=(RunTarget(folder.name, mapping.target, shown_as),),
            service=self.service,
            dry_run=self.dry_run,
            header_row=sheet.header_row,
            fingerprint=fingerprint(
                source.copy.sha256,
                folder / source.mapping_copy,
                source.children,
                source.questions,
                order.settings.wire,
                selection,
            ),
            warnings=tuple(str(warning) for warning in (*_warnings(source), *resolved.warnings, *leftovers)),
            started_at=started_at,
            children=source.children.copies,
            groups=forecast.groups if forecast is not None else (),
        )
        if forecast is not None:
            manifest = manifest.read_to(forecast.rows, forecast.last_row)
        return Plan(folder, manifest, sheet, resolved, candidates, forecast, previous, presence)

    def _candidates(
        self, read: ReadRows, source: _Opened, previous: PreviousResults, part: Part | None
    ) -> tuple[Candidates, Forecast | None]:
        """What each row comes to; the forecast is None where a long file was not read to its end."""
        if self.order.check_first or part or needs_whole_look(source.resolved):
            forecast = look_ahead(read, source.resolved)
            return sort_rows(read, source.resolved, forecast.repeated, previous.verdict), forecast
        candidates = SortingAhead(read, source.resolved, previous, _checked_first(source.sheet))
        return candidates, candidates.forecast

    # --- one export to several targets ---

    def plan_split(self) -> PlannedRun:
        """A run for each mapping of the folder that has rows, and the folder of the whole."""
        order = self.order
        mappings = read_mappings(order.mapping, order.settings.mapping_folders)
        started_at = datetime.now(UTC)
        shown_as = order.mapping_shown_as or str(order.mapping)
        plans: list[Plan] = []
        with _new_folder(order.settings, new_run_id(started_at)) as (folder, presence), ExitStack() as undo:
            undo.callback(_discard_all, plans)
            limits = ReadingLimits.of(order.settings)
            copy = copy_of_source(order.file, folder, limits)
            make_subfolder(folder / _MAPPINGS)
            for mapping in mappings:  # also of those that have no rows or are blocked: the run can go on from them
                keep_mapping(mapping, folder / _MAPPINGS, mapping.path.stem)
            sheet = open_sheet(copy.path, mappings[0].source, limits, shown_as=order.shown_as)
            column = route_column(mappings, sheet.columns)
            targets = self._plan_parts(folder.name, column, copy, sheet, plans)
            manifest = RunManifest(
                run=folder.name,
                file=order.shown_as,
                source=copy.path.name,
                sha256=copy.sha256,
                options=mappings[0].source,
                selection=order.selection,
                mapping=shown_as,
                mapping_copy=_MAPPINGS,
                targets=targets,
                route_column=column.index,
                service=self.service,
                dry_run=self.dry_run,
                warnings=tuple(str(warning) for warning in sheet.warnings),
                started_at=started_at,
                header_row=sheet.header_row,
            )
            write_unfinished_summary(folder, facts_of(manifest, sheet))
            write_manifest(folder, manifest)
            undo.pop_all()
        presence.end()  # from here on its manifest speaks for it
        return PlannedRun(folder, manifest, tuple(plans), sheet)

    def _plan_parts(
        self, whole: str, column: RouteColumn, copied: SourceCopy, sheet: Sheet, plans: list[Plan]
    ) -> tuple[RunTarget, ...]:
        """A run for each mapping that has rows; the plans made are added to `plans`."""
        selection = self.order.selection
        seen = {route_word(row, column.index) for row in selection.of(sheet.rows())}
        targets: list[RunTarget] = []
        problems: list[Problem] = []
        for mapping, words in column.words.items():
            if not seen.intersection(words):
                continue
            shown_as = str(Path(self.order.mapping_shown_as or self.order.mapping) / mapping.path.name)
            target = RunTarget(f"{whole}.{mapping.path.stem}", mapping.target, shown_as, words)
            routed = replace(selection, routed=Routed(column.index, words))
            try:
                plans.append(self.plan(mapping, shown_as, Part(target.run, routed, copied, sheet)))
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
    """A run's folder. Where nothing comes of it nothing is left: a folder without a report would only puzzle."""
    presence = be_present(settings.out, run, settings.ledger_address)
    folder = make_private_folder(settings.out, run)
    try:
        yield folder, presence
    except BaseException as error:
        _take_back(folder, presence)
        if isinstance(error, OSError):
            raise _no_room_for_plan(error, folder) from None
        raise


def _checked_first(sheet: Sheet) -> int:
    return _CHECKED_FIRST_OF_MANY if (sheet.lines or 0) > _MANY else _CHECKED_FIRST


def _take_back(folder: Path, presence: Presence) -> None:
    remove_folder(folder)
    presence.end()


def _no_room_for_plan(error: OSError, folder: Path) -> UnusableInput:
    return UnusableInput(
        Problem(
            "results-folder-unusable",
            f"the copies of file and mapping cannot be written: {error.strerror or error}",
            "make room, or name another folder with --out or IMPORTER_OUT",
            FilePlace(str(folder.parent)),
        )
    )


def _warnings(source: _Opened) -> tuple[Problem, ...]:
    """Those of reading; that other sheets are not read would be untrue where entries are taken from them."""
    takes_sheets = any(child.file is None for child in source.mapping.child_sources)
    own = [warning for warning in source.sheet.warnings if not (takes_sheets and warning.code == "other-sheets")]
    others = [warning for sheet in source.children.tables.values() for warning in sheet.warnings]
    return (*own, *dict.fromkeys(warning for warning in others if warning.code != "other-sheets"))


def _refuse_torn_candidates(mapping: Mapping, selection: Selection) -> None:
    """A part of the rows could hold a part of a candidate's entries, and that would be sent as all of them."""
    if mapping.group_by is not None and selection.partial:
        message = "group_by makes several rows one candidate, and a selection of rows could take one apart"
        hint = "leave --rows and --limit out"
        raise UnusableInput(Problem("selection-tears", message, hint, mapping.group_by.place))


def _discard_all(plans: Iterable[Plan]) -> None:
    for plan in plans:
        discard(plan)


def discard(plan: Plan) -> None:
    """Take back a plan that nobody wants carried out."""
    plan.candidates.close()
    _take_back(plan.folder, plan.presence)
