"""Before the first request: a file, a mapping and a target are made to fit each other, and all that can fail has.

The order of work is extract -> transform -> load -> report; `pipeline` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from importer.app.classify_rows import Forecast, Sorted, SortingAhead, look_ahead, needs_whole_look, sort_rows
from importer.errors import UnusableInput, UsageError
from importer.extract import STANDARD_INPUT_BYTES, Sheet, SourceCopy, open_sheet, share_copy
from importer.ledger import Presence
from importer.ledger import RunRecord as LedgerRun
from importer.mapping import Mapping, ResolvedMapping, read_mapping, resolve
from importer.models import FilePlace, Operation, Problem, Question, Row, WireFormat
from importer.report import write_unfinished_summary
from importer.runs.child_tables import ChildTables, Source, copy_of_source, open_children
from importer.runs.finalize import facts_of
from importer.runs.folder import RunManifest, keep_mapping, write_manifest
from importer.runs.previous_results import Recognition, likeness
from importer.runs.results_folder import be_present, make_private_folder, new_run_id, remove_folder
from importer.runs.row_selection import Selection
from importer.transform import join_warnings

_CHECKED_FIRST = 2_000  # candidates that are checked before the first request, and with them most files: half a second
_CHECKED_FIRST_OF_MANY = 200
_MANY = 4_000  # lines: a file that is not checked to its end anyhow is not held up for a part of it


class Candidates(Protocol):
    """The candidates of a source, to be gone through once, and closed then or before."""

    def __iter__(self) -> Iterator[Sorted]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for. `service` is the base URL, or `sandbox` for a rehearsal.

    file_shown_as, mapping_shown_as: the names that reports give file and mapping, where these are private copies.
    Of a run that is part of a batch, `run` is its id, and `copied` the private copy of the source that all share, which
    is open as `sheet`: a workbook is read once and kept once, however many targets its rows go to.
    check_first: check every row before the first is sent, however long that takes; else the first few of a long one.
    standard_input_bytes: how much may come from there, where the file is `-`.
    """

    file: Path
    mapping: Path
    out: Path
    selection: Selection
    service: str
    wire: WireFormat
    dry_run: bool
    file_shown_as: str | None = None
    mapping_shown_as: str | None = None
    run: str | None = None
    copied: SourceCopy | None = None
    sheet: Sheet | None = None
    check_first: bool = False
    standard_input_bytes: int = STANDARD_INPUT_BYTES

    @property
    def shown_as(self) -> str:
        """The name of the file in reports."""
        return self.file_shown_as or str(self.file)


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
    recognition: Recognition
    presence: Presence

    @property
    def ledger_run(self) -> LedgerRun:
        """This run as the ledger notes it: no more of the source than its name."""
        manifest = self.manifest
        return LedgerRun(
            run=manifest.run,
            scope=manifest.scope,
            source=Path(manifest.file).name,
            sha256=manifest.sha256,
            mapping=manifest.mapping,
            folder=str(self.folder),
            started_at=manifest.started_at,
        )


def make_plan(order: Order, questions_of: Callable[[str], tuple[Question, ...]]) -> Plan:
    """Do everything that can fail before the first request, and tell all of it at once.

    questions_of: gives the live questions of a job post; not called for a talent pool, which has none.

    Raises:
        UnusableInput: mapping, file, header or questions do not fit; nothing is left behind.
        StoppedEarly: the service does not give its questions.
    """
    mapping = read_mapping(order.mapping)
    started_at = datetime.now(UTC)
    run = order.run or new_run_id(started_at)
    presence = be_present(order.out, run)
    folder = make_private_folder(order.out, run)
    with ExitStack() as undo:
        # Nothing was begun: a folder without a report would only puzzle.
        undo.callback(_take_back, folder, presence)
        try:
            source = _open_source(order, mapping, folder, questions_of)
            plan = _plan_of(order, source, folder, presence, started_at, undo)
            # The manifest last: with it the folder is a run, and every run has a summary.
            write_unfinished_summary(folder, facts_of(plan.manifest, plan.sheet))
            write_manifest(folder, plan.manifest)
        except OSError as error:
            raise _no_room_for_plan(error, folder) from None
        undo.pop_all()
    return plan


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


def _open_source(
    order: Order, mapping: Mapping, folder: Path, questions_of: Callable[[str], tuple[Question, ...]]
) -> _Opened:
    if order.copied:
        copy = share_copy(order.copied, folder)
    else:
        copy = copy_of_source(order.file, folder, order.standard_input_bytes)
    mapping_copy = keep_mapping(mapping, folder)
    sheet = order.sheet or open_sheet(copy.path, mapping.source, shown_as=order.shown_as)
    children = open_children(mapping, Source(order.file, copy.path), folder)
    asks = mapping.target.operation is Operation.APPLY
    questions = questions_of(mapping.target.id) if asks else ()
    resolved = resolve(mapping, sheet.columns, questions, order.wire, children.tables)
    return _Opened(copy, mapping, mapping_copy, sheet, children, questions, resolved)


def _plan_of(
    order: Order, source: _Opened, folder: Path, presence: Presence, started_at: datetime, undo: ExitStack
) -> Plan:
    sheet, mapping, resolved = source.sheet, source.mapping, source.resolved
    whole = order.selection == Selection()
    _refuse_torn_candidates(mapping, order.selection)

    def read() -> Iterator[Row]:
        return order.selection.of(sheet.rows())

    recognition = Recognition()
    candidates: Candidates
    forecast: Forecast | None
    if order.check_first or needs_whole_look(resolved):
        forecast = look_ahead(read, resolved)
        candidates = sort_rows(read, resolved, forecast.repeated, recognition.verdict)
    else:
        candidates = SortingAhead(read, resolved, recognition, _checked_first(sheet))
        forecast = candidates.forecast
    undo.callback(candidates.close)
    grouped = mapping.group_by is not None
    leftovers = join_warnings(resolved.joins, read(), grouped=grouped) if resolved.joins and whole else ()
    if forecast is not None and not forecast.rows and not whole:
        raise UsageError(f"{order.selection}: the file has no such row; its header is in row {sheet.header_row}")
    manifest = RunManifest(
        run=folder.name,
        file=order.shown_as,
        source=source.copy.path.name,
        sha256=source.copy.sha256,
        options=mapping.source,
        selection=order.selection,
        mapping=order.mapping_shown_as or str(order.mapping),
        mapping_copy=source.mapping_copy,
        target=mapping.target,
        service=order.service,
        dry_run=order.dry_run,
        header_row=sheet.header_row,
        likeness=likeness(
            source.copy.sha256,
            folder / source.mapping_copy,
            source.children,
            source.questions,
            order.wire,
            order.selection,
        ),
        warnings=tuple(str(warning) for warning in (*_warnings(source), *resolved.warnings, *leftovers)),
        started_at=started_at,
        children=source.children.copies,
        groups=forecast.groups if forecast is not None else (),
    )
    if forecast is not None:
        manifest = manifest.read_to(forecast.rows, forecast.last_row)
    return Plan(folder, manifest, sheet, resolved, candidates, forecast, recognition, presence)


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


def discard(plan: Plan) -> None:
    """Take back a plan that nobody wants carried out."""
    plan.candidates.close()
    _take_back(plan.folder, plan.presence)
