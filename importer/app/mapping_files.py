"""Preparations for an import: inspect a file, propose or check a mapping, create an empty workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from importer.app.connection import connect
from importer.app.orders import SandboxSetup
from importer.extract import STANDARD_INPUT, ReadingLimits, Sheet, copy_source, open_sheet
from importer.mapping import (
    FULL_NAME,
    ChildSource,
    Mapping,
    ResolvedMapping,
    changes,
    check_without_columns,
    read_mapping,
    read_mappings,
    resolve,
    scalar,
    with_snapshot,
)
from importer.mapping.schema import SCHEMA_FILE, schema_text
from importer.models import Application, Operation, PoolCandidate, Question, Row, SourceOptions, Target
from importer.problems import Problem, UnusableInput, unusable_file
from importer.runs.private_copies import Source, open_children
from importer.runs.results_folder import private_input
from importer.sent_answers import PickedCandidate, pick_candidates
from importer.settings import Settings
from importer.suggest import (
    ColumnKind,
    ColumnProfile,
    Join,
    OtherSheet,
    Proposal,
    SheetProfile,
    SourceFacts,
    finds_candidates,
    join_of,
    likely_full_names,
    open_points,
    profile_sheet,
    propose,
    sample_columns,
    write_proposal,
)
from importer.template import template_columns, template_mapping, write_workbook
from importer.transform import candidate_rows, trace_row, transform_row

__all__ = [
    "CheckedMapping",
    "ColumnKind",
    "ColumnProfile",
    "InspectedFile",
    "Proposal",
    "ask_questions",
    "check_mappings",
    "inspect_file",
    "open_points",
    "preview",
    "propose_mapping",
    "with_flag",
    "write_mapping",
    "write_proposal",
    "write_template",
]

_MAX_SHEETS = 8  # of a workbook are tried
_MAX_FILES = 30  # beside the file are tried
_LARGEST_BESIDE = 64 << 20  # bytes of such a file
_TABLE_ENDINGS = (".csv", ".tsv", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".json", ".jsonl")
_IN_MAPPING = "under source: in the mapping"  # the text in hints of `extract` that names the place of a declaration
_FLAGS = {
    "encoding-wrong": "--encoding",
    "delimiter-not-found": "--delimiter",
    "header-not-found": "--header-row",
    "header-row-missing": "--header-row",
    "sheets-empty": "--sheet",
    "sheets-not-read": "--sheet",
}


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A file as it is read: the table that is read, and what is in it.

    instead_of: the sheet that would be read without `sheet:`, but contains no candidates. others: the other sheets, and
    the files beside it.
    """

    sheet: Sheet
    profile: SheetProfile
    others: tuple[OtherSheet, ...] = ()
    instead_of: str | None = None

    @property
    def joins(self) -> Iterator[tuple[OtherSheet, Join]]:
        """The other tables whose rows belong to rows of this one, each with its join; not other lists of candidates."""
        for other in self.others:
            if not finds_candidates(other.columns) and (join := join_of(other.columns, self.profile.views)) is not None:
                yield other, join

    def facts(self, source: SourceOptions) -> SourceFacts:
        """How the file is read, for a mapping file; source: as declared."""
        sheet = self.sheet
        first = sheet.header_row - sheet.header_rows + 1
        skipped = ", ".join(map(str, source.skip_rows)) or None
        name, stop = Path(sheet.origin.file).name, self.profile.total
        return SourceFacts(
            name, sheet.origin.sheet, first, sheet.header_rows, skipped, stop, source.encoding, source.delimiter
        )


def inspect_file(file: Path, source: SourceOptions, settings: Settings) -> InspectedFile:
    """How a file is read (`-`: CSV from standard input), and what is in its columns and beside it. If the first sheet
    contains no candidates, another sheet that does is read.

    Raises:
        UnusableInput: it cannot be read; the hints contain flags.
    """
    limits = ReadingLimits.of(settings)
    with ExitStack() as needed:
        path = file
        if str(file) == STANDARD_INPUT:
            folder = needed.enter_context(private_input(settings))
            path = copy_source(file, folder, limits).path
        found = _inspect(path, source, limits, shown_as=str(file))
        if path != file:
            return found
        has_sheets = any(warning.code == "sheets-not-read" for warning in found.sheet.warnings)
        sheets = _other_sheets(path, found.sheet.origin.sheet or "", limits) if has_sheets else ()
        if source.sheet is None and not finds_candidates(found.profile.views):
            better = next((sheet.name for sheet in sheets if finds_candidates(sheet.columns)), None)
            if better is not None:
                first, columns = found.sheet.origin.sheet or "", found.profile.views
                found = replace(_inspect(path, replace(source, sheet=better), limits, str(file)), instead_of=first)
                sheets = (OtherSheet(first, columns), *(sheet for sheet in sheets if sheet.name != better))
        return replace(found, others=(*sheets, *_files_beside(path, limits)))


def _inspect(path: Path, source: SourceOptions, limits: ReadingLimits, shown_as: str) -> InspectedFile:
    sheet = _open_undeclared(path, source, limits, shown_as)
    return InspectedFile(sheet, profile_sheet(sheet.columns, sheet.rows(), sheet.header_row))


def ask_questions(target: Target, settings: Settings, sandbox_setup: SandboxSetup | None) -> tuple[Question, ...]:
    """The live questions; a talent pool has none and needs no connection.

    Raises:
        UnusableInput: the address or the token is not valid.
        StoppedEarly: the service does not return them.
    """
    if target.operation is not Operation.APPLY:
        return ()
    with connect(settings, sandbox_setup) as connection:
        return connection.questions(target.id)


# --- a mapping proposed -------------------------------------------------------------------------


def propose_mapping(
    file: Path,
    target: Target,
    questions: tuple[Question, ...],
    source: SourceOptions,
    settings: Settings,
    show: Callable[[str], None],
) -> Proposal:
    """A proposed mapping for a file, which is read as `inspect_file` reads it.

    show: receives a line on how the file was read, and one if another sheet is used.

    Raises:
        UnusableInput: the file cannot be read; the hints contain flags.
    """
    found = inspect_file(file, source, settings)
    show(found.sheet.reading)
    if found.instead_of is not None:
        show(f"Using the sheet '{found.sheet.origin.sheet}': '{found.instead_of}' contains no candidates.")
    return propose(target, questions, found.profile.views, found.facts(source), found.others)


def _other_sheets(file: Path, main: str, limits: ReadingLimits) -> tuple[OtherSheet, ...]:
    """The first few other visible sheets of the workbook that contain a table."""
    found = []
    for number in range(1, _MAX_SHEETS + 1):
        try:
            sheet = open_sheet(file, SourceOptions(str(number)), limits)
        except UnusableInput as error:
            if any(problem.code == "sheet-not-found" for problem in error.problems):
                break
            continue
        if sheet.origin.sheet and sheet.origin.sheet != main:
            found.append(OtherSheet(sheet.origin.sheet, sample_columns(sheet.columns, sheet.rows())))
    return tuple(found)


def _files_beside(file: Path, limits: ReadingLimits) -> Iterator[OtherSheet]:
    """The first few other tables in the folder of a file; those that cannot be read as they are, are skipped."""
    beside = [path for path in sorted(file.parent.iterdir()) if path.suffix.lower() in _TABLE_ENDINGS]
    beside = [path for path in beside if path.is_file() and not path.samefile(file)]
    for path in beside[:_MAX_FILES]:
        if not path.is_symlink() and path.stat().st_size <= _LARGEST_BESIDE:
            with suppress(UnusableInput):
                sheet = open_sheet(path, SourceOptions(), limits)
                yield OtherSheet(path.name, sample_columns(sheet.columns, sheet.rows()), is_file=True)


def write_mapping(path: Path, proposal: Proposal) -> None:
    """Write the mapping file, and the schema with which an editor completes and checks it.

    Raises:
        UnusableInput: a file cannot be written.
    """
    schema = path.parent / SCHEMA_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        schema.parent.mkdir(exist_ok=True)
        schema.write_text(schema_text(), encoding="utf-8")
        path.write_text(write_proposal(proposal, SCHEMA_FILE.as_posix()), encoding="utf-8")
    except OSError as error:
        raise _unwritable("the mapping file", path, error) from None


def write_template(workbook: Path, target: Target, questions: tuple[Question, ...]) -> tuple[Path, int]:
    """Write an empty workbook and its mapping file; return the mapping file and the number of columns.

    Raises:
        UnusableInput: a file cannot be written.
    """
    columns = template_columns(target, questions)
    try:
        write_workbook(workbook, columns)
    except OSError as error:
        raise _unwritable("the workbook", workbook, error) from None
    mapping = workbook.with_suffix(".yaml")
    write_mapping(mapping, template_mapping(target, questions, columns, workbook.name))
    return mapping, len(columns)


def _unwritable(noun: str, path: Path, error: OSError) -> UnusableInput:
    message = f"{noun} cannot be written: {(error.strerror or str(error)).lower()}"
    return unusable_file("file-not-writable", message, "choose another path with --to", path)


# --- a mapping checked --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedMapping:
    """The result of checking a mapping.

    changed: changes of the questions since it was written; reading: how the file was read, None without a file;
    notes: warnings; candidates: some of the file as they would be sent; misfit: the problems that prevent its use, None
    if it can be used.
    """

    mapping: Mapping
    changed: tuple[Problem, ...] = ()
    reading: str | None = None
    notes: tuple[Problem, ...] = ()
    candidates: tuple[PickedCandidate, ...] = ()
    misfit: UnusableInput | None = None


def check_mappings(
    path: Path,
    file: Path | None,
    settings: Settings,
    sandbox_setup: SandboxSetup | None,
    *,
    accept: bool,
    show: int = 0,
) -> Iterator[CheckedMapping]:
    """Check a mapping file, or each one of a folder, against the live questions and the header of a file.

    accept: save the live questions in each mapping file without problems. show: how many candidates are shown.

    Raises:
        UnusableInput: a mapping cannot be read, or is not a mapping file.
        StoppedEarly: the service does not return its questions.
    """
    folders = settings.mapping_folders
    try:
        mappings = read_mappings(path, folders) if path.is_dir() else (read_mapping(path, folders),)
    except UnusableInput as error:
        raise _with_column_of_names(error, file, settings) from None
    for mapping in mappings:
        questions = ask_questions(mapping.target, settings, sandbox_setup)
        checked = CheckedMapping(mapping)
        if mapping.questions_seen is not None:
            checked = replace(checked, changed=changes(mapping.questions_seen, questions, mapping.answers_place))
        try:
            if file is None:
                checked = replace(checked, notes=check_without_columns(mapping, questions, settings.wire))
            else:
                sheet = open_sheet(file, mapping.source, ReadingLimits.of(settings))
                checked = replace(checked, reading=sheet.reading)
                with _tables_of(mapping, file, settings) as tables:
                    resolved = resolve(mapping, sheet.columns, questions, settings.wire, tables)
                    checked = replace(checked, notes=(*sheet.warnings, *resolved.warnings))
                    if show:
                        checked = replace(checked, candidates=_candidates(resolved, sheet, show))
        except UnusableInput as error:
            yield replace(checked, misfit=error)
            continue
        if accept:
            text = with_snapshot(mapping.path.read_text(encoding="utf-8-sig"), questions)
            mapping.path.write_text(text, encoding="utf-8")
        yield checked


def _with_column_of_names(error: UnusableInput, file: Path | None, settings: Settings) -> UnusableInput:
    """The problems of a mapping; if a name is missing, with the column of the file that seems to have full names."""
    if file is None or not any(FULL_NAME in problem.hint for problem in error.problems):
        return error
    with suppress(UnusableInput):
        sheet = open_sheet(file, SourceOptions(), ReadingLimits.of(settings))
        if (column := likely_full_names(sample_columns(sheet.columns, sheet.rows()))) is not None:
            name = scalar(column.name)
            problems = [replace(one, hint=one.hint.replace(FULL_NAME, name)) for one in error.problems]
            return UnusableInput(problems)
    return error


def preview(
    path: Path, file: Path, questions: tuple[Question, ...], settings: Settings, count: int
) -> tuple[PickedCandidate, ...]:
    """Some candidates of a file as a mapping file would send them, the odd ones first; none if it is not complete."""
    try:
        mapping = read_mapping(path, settings.mapping_folders)
        sheet = open_sheet(file, mapping.source, ReadingLimits.of(settings))
        with _tables_of(mapping, file, settings) as tables:
            resolved = resolve(mapping, sheet.columns, questions, settings.wire, tables)
            return _candidates(resolved, sheet, count)
    except UnusableInput:
        return ()


@contextmanager
def _tables_of(mapping: Mapping, file: Path, settings: Settings) -> Iterator[dict[ChildSource, Sheet]]:
    """The other tables that a mapping reads for a file."""
    with private_input(settings) if mapping.child_sources else nullcontext(Path()) as folder:
        yield open_children(mapping, Source(file, file), folder, ReadingLimits.of(settings)).tables


def _candidates(mapping: ResolvedMapping, sheet: Sheet, count: int) -> tuple[PickedCandidate, ...]:
    rows = (row for row in candidate_rows(sheet.rows, mapping) if isinstance(row, Row))
    bodies = ((row, transform_row(row, mapping)) for row in rows)
    valid = ((row, body) for row, body in bodies if isinstance(body, Application | PoolCandidate))
    return pick_candidates(((row, trace_row(row, mapping, body)) for row, body in valid), count)


# --- hints that name flags -------------------------------------------------------


def _open_undeclared(path: Path, source: SourceOptions, limits: ReadingLimits, shown_as: str | None = None) -> Sheet:
    """Open a file that has no mapping yet. If that fails, the hints name the flags to use."""
    try:
        return open_sheet(path, source, limits, shown_as=shown_as)
    except UnusableInput as error:
        raise UnusableInput([with_flag(problem) for problem in error.problems]) from None


def with_flag(problem: Problem) -> Problem:
    """The problem, with the flag that corresponds to a declaration in a mapping added to its hint."""
    flag = _FLAGS.get(problem.code)
    if flag is None or _IN_MAPPING not in problem.hint:
        return problem
    return replace(problem, hint=f"{problem.hint}; for this command use {flag}")
