"""Preparations for an import: inspect a file, propose or check a mapping, create an empty workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from importer.app.connection import connect
from importer.app.orders import SandboxSetup
from importer.extract import STANDARD_INPUT, ReadingLimits, Sheet, copy_source, open_sheet
from importer.mapping import (
    Mapping,
    changes,
    check_against_columns,
    check_without_columns,
    read_mapping,
    read_mappings,
    with_snapshot,
)
from importer.mapping.schema import SCHEMA_FILE, schema_text
from importer.models import Operation, Question, SourceOptions, Target
from importer.problems import FilePlace, Problem, UnusableInput, UsageError
from importer.runs.private_copies import Source, open_children
from importer.runs.results_folder import private_input
from importer.settings import Settings
from importer.suggest import (
    ColumnProfile,
    OtherSheet,
    Proposal,
    SheetProfile,
    SourceFacts,
    open_points,
    profile_sheet,
    propose,
    sample_columns,
    write_proposal,
)
from importer.template import template_columns, template_mapping, write_workbook

__all__ = [
    "CheckedMapping",
    "ColumnProfile",
    "Proposal",
    "Sheet",
    "SheetProfile",
    "ask_questions",
    "check_mappings",
    "inspect_file",
    "open_points",
    "propose_mapping",
    "refuse_to_replace",
    "with_flag",
    "write_mapping",
    "write_proposal",
    "write_template",
]

_MAX_SHEETS = 8  # of a workbook are tried
_IN_MAPPING = "under source: in the mapping"  # the text in hints of `extract` that names the place of a declaration
_FLAGS = {
    "encoding-wrong": "--encoding",
    "delimiter-not-found": "--delimiter",
    "header-not-found": "--header-row",
    "sheets-empty": "--sheet",
    "sheets-not-read": "--sheet",
}


def inspect_file(file: Path, source: SourceOptions, settings: Settings) -> tuple[Sheet, SheetProfile]:
    """How a file is read (`-`: CSV from standard input), and what is in its columns.

    Raises:
        UnusableInput: it cannot be read; the hints contain flags.
    """
    limits = ReadingLimits.of(settings)
    with ExitStack() as needed:
        path = file
        if str(file) == STANDARD_INPUT:
            folder = needed.enter_context(private_input(settings))
            path = copy_source(file, folder, limits).path
        sheet = _open_undeclared(path, source, limits, shown_as=str(file))
        return sheet, profile_sheet(sheet.columns, sheet.rows(), sheet.header_row)


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
    """A proposed mapping for a file. If the first sheet contains no candidates, another sheet that does is used.

    show: receives a line on how the file was read, and one if another sheet is used.

    Raises:
        UnusableInput: the file cannot be read; the hints contain flags.
    """
    limits = ReadingLimits.of(settings)
    sheet = _open_undeclared(file, source, limits)
    show(sheet.reading)
    facts = SourceFacts(file.name, sheet.origin.sheet, sheet.header_row, source.encoding, source.delimiter)
    columns = sample_columns(sheet.columns, sheet.rows())
    others = _other_sheets(file, sheet.origin.sheet, limits) if sheet.origin.sheet else ()
    proposal = propose(target, questions, columns, facts, others)
    if source.sheet is not None or _finds_candidates(proposal):
        return proposal
    for other in others:
        rest = (OtherSheet(sheet.origin.sheet or "", columns), *(sheet for sheet in others if sheet != other))
        better = propose(
            target, questions, other.columns, replace(facts, sheet=other.name, header_row=other.header_row), rest
        )
        if _finds_candidates(better):
            show(f"Using the sheet '{other.name}': '{sheet.origin.sheet}' contains no candidates.")
            return better
    return proposal


def _finds_candidates(proposal: Proposal) -> bool:
    return any(field.name == "email" for field in proposal.candidate)


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
            found.append(OtherSheet(sheet.origin.sheet, sample_columns(sheet.columns, sheet.rows()), sheet.header_row))
    return tuple(found)


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


def refuse_to_replace(path: Path, flag: str = "--to", *, force: bool) -> None:
    """Raise UsageError if a file already exists and must not be replaced. `flag`: the one that names it."""
    if path.exists() and not force:
        raise UsageError(f"{path} already exists; choose another name with {flag}, or use --force to overwrite it")


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
    return UnusableInput(Problem("file-not-writable", message, "choose another path with --to", FilePlace(str(path))))


# --- a mapping checked --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedMapping:
    """The result of checking a mapping.

    changed: changes of the questions since it was written; reading: how the file was read, None without a file;
    notes: warnings; misfit: the problems that prevent its use, None if it can be used.
    """

    mapping: Mapping
    changed: tuple[Problem, ...] = ()
    reading: str | None = None
    notes: tuple[Problem, ...] = ()
    misfit: UnusableInput | None = None


def check_mappings(
    path: Path, file: Path | None, settings: Settings, sandbox_setup: SandboxSetup | None, *, accept: bool
) -> Iterator[CheckedMapping]:
    """Check a mapping file, or each one of a folder, against the live questions and the header of a file.

    accept: save the live questions in each mapping file without problems.

    Raises:
        UnusableInput: a mapping cannot be read, or is not a mapping file.
        StoppedEarly: the service does not return its questions.
    """
    folders = settings.mapping_folders
    for mapping in read_mappings(path, folders) if path.is_dir() else (read_mapping(path, folders),):
        questions = ask_questions(mapping.target, settings, sandbox_setup)
        checked = CheckedMapping(mapping)
        if mapping.questions_seen is not None:
            checked = replace(checked, changed=changes(mapping.questions_seen, questions, mapping.answers_place))
        try:
            sheet = open_sheet(file, mapping.source, ReadingLimits.of(settings)) if file else None
            checked = replace(checked, reading=sheet.reading if sheet else None)
            checked = replace(checked, notes=_fit(mapping, file, sheet, questions, settings))
        except UnusableInput as error:
            yield replace(checked, misfit=error)
            continue
        if accept:
            text = with_snapshot(mapping.path.read_text(encoding="utf-8-sig"), questions)
            mapping.path.write_text(text, encoding="utf-8")
        yield checked


def _fit(
    mapping: Mapping, file: Path | None, sheet: Sheet | None, questions: tuple[Question, ...], settings: Settings
) -> tuple[Problem, ...]:
    if file is None or sheet is None:
        return check_without_columns(mapping, questions, settings.wire)
    with private_input(settings) if mapping.child_sources else nullcontext(Path()) as folder:
        children = open_children(mapping, Source(file, file), folder, ReadingLimits.of(settings))
        found = check_against_columns(mapping, sheet.columns, questions, settings.wire, children.tables)
    return (*sheet.warnings, *found)


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
