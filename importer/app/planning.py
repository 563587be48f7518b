"""Plans a run before its first request: checks file, mapping and target, and reports every problem.

The order of work is extract -> transform -> load -> report; `import_file` executes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from importer.app.classify_rows import Candidates, CountDone
from importer.app.orders import Order, Planned, ReadyRows, SendingRate, Started
from importer.atomic_files import make_subfolder
from importer.extract import ReadingLimits, Sheet, SourceCopy, open_sheet, share_copy
from importer.ledger import DONE, Presence, Scope, open_existing_ledger
from importer.ledger import RunRecord as LedgerRun
from importer.mapping import Mapping, ResolvedMapping, RouteColumn, changes_that_matter, resolve, route_column
from importer.models import Operation, Question, Row, SourceOptions, Target
from importer.problems import FilePlace, Problem, StoppedEarly, UnusableInput, UsageError
from importer.report import read_summary, write_unfinished_summary
from importer.runs.journal import RunJournal
from importer.runs.known_rows import find_other_forms
from importer.runs.manifest import RunManifest, RunTarget, read_manifest, runs_in, write_manifest
from importer.runs.private_copies import (
    ChildTables,
    Source,
    copy_of_source,
    corrected_run,
    fingerprint,
    keep_asked,
    keep_mapping,
    keep_questions,
    open_children,
    sheet_of,
)
from importer.runs.related_runs import Aligned
from importer.runs.results_folder import announce_run, make_private_folder, new_run_id, remove_folder
from importer.runs.row_selection import ALL_ROWS, Routed, Selection, route_word
from importer.runs.run_report import facts_of
from importer.settings import Settings
from importer.transform import join_warnings

_MAPPINGS = "mappings"  # the folder with the copies of all mapping files of a run with several targets
_CHECK_AHEAD = 2_000  # candidates checked before the first request: most files completely, in half a second
_CHECK_AHEAD_LARGE = 200
_RUNS_MEASURED = 20  # of the last runs
_REQUESTS_MEASURED = 50  # a run with fewer says nothing about the rate
_LARGE_FILE_LINES = 4_000  # a file that is too large to be checked completely should start soon

QuestionsOf = Callable[[str], tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked combination of file, mapping and target, with the private copy that all rows are read from.

    candidates: those of the source; they can be iterated once. scopes: its own, and those of the other targets of its
    batch. changed: the changes of questions that matter for it.
    """

    folder: Path
    manifest: RunManifest
    sheet: Sheet
    mapping: ResolvedMapping
    candidates: Candidates
    presence: Presence
    limits: ReadingLimits
    scopes: frozenset[Scope]
    changed: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """The service and target of its rows, as in the ledger."""
        return Scope(self.manifest.service, self.mapping.target)

    @property
    def started(self) -> Started:
        is_part = self.manifest.selection.routed is not None
        return Started(self.manifest.run, self.mapping.target, self.manifest.rows, is_part)

    @property
    def ready(self) -> ReadyRows:
        found, manifest = self.candidates.forecast, self.manifest
        return ReadyRows(
            run=manifest.run,
            target=self.mapping.target,
            rows=manifest.rows,
            checked=found.rows,
            ready=found.ready,
            held_back=found.held_back,
            filtered=found.filtered,
            done=found.done,
            reasons=found.reasons,
            warned=found.warned,
            warnings=manifest.warnings,
        )

    @property
    def ledger_run(self) -> LedgerRun:
        """The record of this run in the ledger: of the source only its file name."""
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

    def discard(self) -> None:
        """Remove the files of a plan that is not executed."""
        self.candidates.close()
        _undo(self.folder, self.presence)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The plan of each target. `folder`, `manifest`: of the whole run, if there are several targets."""

    folder: Path
    manifest: RunManifest
    plans: tuple[Plan, ...]
    sheet: Sheet
    rate: SendingRate | None

    @property
    def as_event(self) -> Planned:
        ready, manifest = tuple(plan.ready for plan in self.plans), self.manifest
        return Planned(
            self.folder,
            manifest.service,
            self.sheet.reading,
            ready,
            manifest.is_split,
            manifest.dry_run,
            self.rate,
            tuple(text for plan in self.plans for text in plan.changed),
        )

    def discard(self) -> None:
        """Remove the files of a plan that is not executed."""
        _discard(self.plans)
        if self.manifest.is_split:
            remove_folder(self.folder)


@dataclass(frozen=True, slots=True)
class _Part:
    """One of several targets: its run, its rows, all targets, and the private copy that they share.

    A workbook is read and copied only once, for any number of targets.
    """

    run: str
    selection: Selection
    scopes: frozenset[Scope]
    copy: SourceCopy
    sheet: Sheet


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What a target's rows are read with."""

    mapping: Mapping
    sheet: Sheet
    children: ChildTables
    resolved: ResolvedMapping


@dataclass(frozen=True, slots=True)
class Planner:
    """Checks everything that can fail before the first request, and reports all problems at once.

    service: the base URL, or `sandbox`. questions_of: returns the live questions of a job post; not called for a
    talent pool, which has none.

    Raises:
        UnusableInput: file, mapping or questions have problems; no files are left behind.
        StoppedEarly: the service does not return its questions.
    """

    order: Order
    service: str
    questions_of: QuestionsOf
    dry_run: bool

    @property
    def limits(self) -> ReadingLimits:
        return ReadingLimits.of(self.order.settings)

    def plan(self, mapping: Mapping) -> PlannedRun:
        """The plan of a run with one target."""
        plan = self._plan(mapping, self.order.mapping_shown_as or str(self.order.mapping))
        return PlannedRun(plan.folder, plan.manifest, (plan,), plan.sheet, self._rate())

    def _plan(self, mapping: Mapping, shown_as: str, part: _Part | None = None) -> Plan:
        run = part.run if part else new_run_id(datetime.now(UTC))
        scope = Scope(self.service, mapping.target)
        scopes = part.scopes if part else frozenset([scope])
        with _new_folder(self.order.settings, run) as (folder, presence), ExitStack() as undo:
            inputs, manifest = self._read(mapping, shown_as, folder, part)
            candidates = self._candidates(inputs, manifest, scopes, ahead=None if part else _check_ahead(inputs.sheet))
            undo.callback(candidates.close)
            manifest, changed = self._check(inputs, manifest, candidates)
            _initialize_folder(folder, manifest, inputs.sheet)
            undo.pop_all()
        return Plan(folder, manifest, inputs.sheet, inputs.resolved, candidates, presence, self.limits, scopes, changed)

    def _read(self, mapping: Mapping, shown_as: str, folder: Path, part: _Part | None) -> tuple[_Inputs, RunManifest]:
        """Copy and read file, mapping, other tables and questions; the manifest says so far only what was read."""
        order, settings = self.order, self.order.settings
        started_at, selection = datetime.now(UTC), part.selection if part else order.selection
        copy = share_copy(part.copy, folder) if part else self._copy(folder, mapping.source)
        mapping_copy = keep_mapping(mapping, folder)
        sheet = part.sheet if part else open_sheet(copy.path, mapping.source, self.limits, shown_as=order.shown_as)
        children = open_children(mapping, Source(order.file, copy.path), folder, self.limits)
        questions = self.questions_of(mapping.target.id) if mapping.target.operation is Operation.APPLY else ()
        resolved = resolve(mapping, sheet.columns, questions, settings.wire, children.tables, started_at.date())
        keep_asked(questions, settings.wire, folder)
        _refuse_split_candidates(mapping, selection)
        manifest = self._manifest(folder, copy, sheet, mapping.source, started_at)
        manifest = replace(
            manifest,
            selection=selection,
            mapping=shown_as,
            mapping_copy=mapping_copy,
            targets=(RunTarget(folder.name, mapping.target, shown_as),),
            fingerprint=fingerprint(
                copy,
                folder / mapping_copy,
                children,
                questions,
                settings.wire,
                selection,
                mapping.source.sheet,
                strict=settings.strict,
            ),
            children=children.copies,
            identity=_identity(resolved),
            entries=children.entries((*resolved.joins, *resolved.lookups)),
        )
        return _Inputs(mapping, sheet, children, resolved), manifest

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
            continues=order.continues[0] if order.continues else None,
            questions=keep_questions(setup.questions if setup else None, folder),
            corrects=corrected_run(order.file, is_copy=order.continues is not None),
            copy_of=sheet.copy_of,
        )

    def _candidates(
        self, inputs: _Inputs, manifest: RunManifest, scopes: frozenset[Scope], ahead: int | None
    ) -> Candidates:
        return Candidates(
            partial(_rows_of, inputs.sheet, manifest.selection),
            inputs.resolved,
            None if self.order.check_first else ahead,
            origin=inputs.sheet.origin,
            count_done=self._count_done(inputs.mapping.target),
            other_forms=find_other_forms(manifest, inputs.sheet, scopes, self.order.settings),
            strict=manifest.strict,
        )

    def _check(
        self, inputs: _Inputs, manifest: RunManifest, candidates: Candidates
    ) -> tuple[RunManifest, tuple[str, ...]]:
        """Collect the warnings; return the complete manifest, and the changes of questions that matter."""
        sheet, resolved, is_whole = inputs.sheet, inputs.resolved, manifest.selection == ALL_ROWS
        read = partial(_rows_of, sheet, manifest.selection)
        forecast = candidates.forecast if candidates.is_complete else None
        changed = tuple(changes_that_matter(inputs.mapping.questions_seen or {}, resolved, read))
        unjoined = join_warnings(resolved, read, partial(self._rows_before, manifest, sheet)) if is_whole else ()
        if forecast is not None and not forecast.rows and not is_whole:
            raise UsageError(
                f"{manifest.selection}: the file has no such rows; its header is in row {sheet.header_row}"
            )
        warnings = (*_warnings(inputs), *resolved.warnings, *unjoined, *changed)
        if forecast is None or forecast.ready or forecast.held_back:  # else nothing is left to be sent or fixed
            warnings += candidates.warnings or ()
        if warnings and manifest.strict and not self.dry_run:
            raise UnusableInput(warnings)
        manifest = replace(manifest, warnings=tuple(map(str, warnings)))
        if forecast is not None:
            manifest = replace(manifest, groups=forecast.groups).read_to(forecast.rows, forecast.last_row)
        return manifest, tuple(map(str, changed))

    def _copy(self, folder: Path, options: SourceOptions) -> SourceCopy:
        is_copy = self.order.continues is not None
        return copy_of_source(self.order.file, folder, options, self.limits, is_copy=is_copy)

    def _rows_before(self, manifest: RunManifest, sheet: Sheet) -> Iterator[Row]:
        """The rows of the runs that a results file descends from; it has only some of them."""
        run = manifest.corrects
        with suppress(UnusableInput):  # their files were removed
            while run is not None:
                folder = self.order.settings.out / run
                manifest = read_manifest(folder)
                before = Aligned(sheet_of(folder, manifest, self.limits), sheet)
                if before.is_complete:
                    yield from before.rows()
                run = manifest.corrects

    def _count_done(self, target: Target) -> CountDone:
        """How many of some e-mail addresses an earlier run imported, by the ledger."""
        scope = Scope(self.service, target)

        def count(emails: list[str]) -> int:
            # Opened each time: while rows are classified, another process is forked, which must not have its thread.
            with open_existing_ledger(self.order.settings.ledger_address) or nullcontext() as ledger:
                if ledger is None:
                    return 0
                identities = [ledger.fingerprints.identity(scope, email) for email in emails]
                known = ledger.look_up(identities)
                return sum(known[identity].state in DONE for identity in identities if identity in known)

        return count

    def _rate(self) -> SendingRate | None:
        """The limit that a user set, else what the last run with enough requests to the service measured."""
        settings = self.order.settings
        if settings.rate is not None:
            return SendingRate(settings.rate)
        for folder in runs_in(settings.out)[: -_RUNS_MEASURED - 1 : -1]:
            with suppress(UnusableInput):
                manifest, summary = read_manifest(folder), read_summary(folder)
                if manifest.service != self.service or summary.ended_at is None:
                    continue
                seconds = (summary.ended_at - summary.started_at).total_seconds()
                if summary.requests.sent >= _REQUESTS_MEASURED and seconds > 0:
                    return SendingRate(summary.requests.sent / seconds, summary.run)
        return None

    # --- one export to several targets ---

    def plan_split(self, mappings: tuple[Mapping, ...]) -> PlannedRun:
        """A run for each mapping that has rows, and the folder of the whole run.

        A target whose questions the service does not return is blocked; the others continue.
        """
        plans: list[Plan] = []
        scopes = frozenset(Scope(self.service, mapping.target) for mapping in mappings)
        options, started_at = mappings[0].source, datetime.now(UTC)
        with (
            _new_folder(self.order.settings, new_run_id(started_at)) as (folder, presence),
            ExitStack() as undo,
        ):
            undo.callback(_discard, plans)
            copy = self._copy(folder, options)
            make_subfolder(folder / _MAPPINGS)
            for mapping in mappings:  # also without rows or if blocked, so that the run can be resumed
                keep_mapping(mapping, folder / _MAPPINGS, mapping.path.stem)
            sheet = open_sheet(copy.path, options, self.limits, shown_as=self.order.shown_as)
            column = route_column(mappings, sheet.columns)
            shared = _Part(folder.name, self.order.selection, scopes, copy, sheet)
            targets = self._plan_parts(shared, column, plans)
            manifest = replace(
                self._manifest(folder, copy, sheet, options, started_at),
                mapping_copy=_MAPPINGS,
                targets=targets,
                route_column=column.index,
                warnings=tuple(map(str, sheet.warnings)),
            )
            self._keep_known(folder, manifest, plans, shared)
            _initialize_folder(folder, manifest, sheet)
            undo.pop_all()
        presence.end()  # from now on its manifest shows its state
        return PlannedRun(folder, manifest, tuple(plans), sheet, self._rate())

    def _keep_known(self, folder: Path, manifest: RunManifest, plans: list[Plan], shared: _Part) -> None:
        """Record the outcomes of rows without a target whose corrections were sent to one."""
        identity = plans[0].manifest.identity if plans else ()
        forms = find_other_forms(replace(manifest, identity=identity), shared.sheet, shared.scopes, self.order.settings)
        if not forms:
            return
        routed = {word for target in manifest.targets for word in target.words}
        with RunJournal(folder) as journal:
            for row in manifest.selection.of(shared.sheet.rows()):
                if route_word(row, manifest.route_column or 0) not in routed and (outcome := forms.outcome(row)):
                    journal.record(outcome)

    def _plan_parts(self, shared: _Part, column: RouteColumn, plans: list[Plan]) -> tuple[RunTarget, ...]:
        """A run for each mapping that has rows; adds their plans to `plans`. shared: the whole run."""
        words_of_rows = {route_word(row, column.index) for row in _rows_of(shared.sheet, shared.selection)}
        targets: list[RunTarget] = []
        problems: list[Problem] = []
        for mapping, words in column.words.items():
            if not words_of_rows.intersection(words):
                continue
            shown_as = str(Path(self.order.mapping_shown_as or self.order.mapping) / mapping.path.name)
            target = RunTarget(f"{shared.run}.{mapping.path.stem}", mapping.target, shown_as, words)
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
    presence = announce_run(settings.out, run, settings.ledger_address)
    folder = make_private_folder(settings.out, run)
    try:
        yield folder, presence
    except OSError as error:
        _undo(folder, presence)
        message = f"the copies of the file and the mapping cannot be written: {error.strerror or error}"
        hint = "free disk space, or choose another folder with --out or IMPORTER_OUT"
        raise UnusableInput(
            Problem("results-folder-not-writable", message, hint, FilePlace(str(folder.parent)))
        ) from None
    except BaseException:
        _undo(folder, presence)
        raise


def _initialize_folder(folder: Path, manifest: RunManifest, sheet: Sheet) -> None:
    """Write the summary, then the manifest: with it the folder is a run, and every run has a summary."""
    write_unfinished_summary(folder, facts_of(manifest, sheet))
    write_manifest(folder, manifest)


def _undo(folder: Path, presence: Presence) -> None:
    remove_folder(folder)
    presence.end()


def _discard(plans: Iterable[Plan]) -> None:
    for plan in plans:
        plan.discard()


def _identity(resolved: ResolvedMapping) -> tuple[tuple[int, ...], ...]:
    """The indexes of the columns of the e-mail, and those of the name."""
    candidate = resolved.candidate
    names = (*candidate.first_name.columns, *candidate.last_name.columns)
    return tuple(tuple(column.index for column in columns) for columns in (candidate.email.columns, names))


def _check_ahead(sheet: Sheet) -> int:
    return _CHECK_AHEAD_LARGE if (sheet.lines or 0) > _LARGE_FILE_LINES else _CHECK_AHEAD


def _rows_of(sheet: Sheet, selection: Selection) -> Iterator[Row]:
    return selection.of(sheet.rows())


def _warnings(inputs: _Inputs) -> tuple[Problem, ...]:
    """The warnings of reading, without those on unread sheets if the mapping takes entries from other sheets."""
    takes_sheets = any(child.file is None for child in inputs.mapping.child_sources)
    own = [one for one in inputs.sheet.warnings if not (takes_sheets and one.code == "sheets-not-read")]
    others = [one for table in inputs.children.tables.values() for one in table.warnings]
    return (*own, *dict.fromkeys(one for one in others if one.code != "sheets-not-read"))


def _refuse_split_candidates(mapping: Mapping, selection: Selection) -> None:
    """A selection of rows could contain only some of a candidate's rows, which would be sent as if they were all."""
    if mapping.group_by is not None and selection.partial:
        message = "with group_by:, a candidate can have several rows, and a selection of rows could split them"
        hint = "do not use --rows or --limit"
        raise UnusableInput(Problem("selection-splits-candidate", message, hint, mapping.group_by.place))
