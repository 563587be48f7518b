"""Mapping files: proposed, checked, and that of an empty workbook."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from importer.app.classify_rows import each_by_itself, forecast_of, without_duplicates
from importer.app.connection import connect
from importer.app.documents import look_into_documents, open_folders
from importer.app.inspect_file import inspect_file
from importer.app.orders import Forecast, SandboxSetup
from importer.app.proposed_folders import with_document_folders
from importer.mapping import (
    ChildSource,
    Mapping,
    ResolvedMapping,
    check_without_columns,
    read_mapping,
    read_mappings,
    resolve,
)
from importer.mapping.schema import SCHEMA_FILE, schema_text
from importer.models import Operation, Question, SourceOptions, Target
from importer.problems import Problem, UnusableInput, UsageError, unusable_file
from importer.runs.private_copies import SourceFiles, open_children
from importer.runs.results_folder import private_input
from importer.service import saved_questions
from importer.settings import Settings
from importer.sources import Sheet, open_sheet
from importer.suggest import Proposal, open_points, propose, write_proposal
from importer.suggest.template import template_columns, template_mapping, write_workbook
from importer.transform import LikelyErrors

# Re-exported for the commands, together with what is defined here.
__all__ = ["Proposal", "open_points", "saved_questions", "write_proposal"]


def parse_target(operation: Operation, id: str) -> Target:
    """The target that a person names, by its ID or by its address. Raises UsageError: the ID is not valid."""
    if id.startswith(("http://", "https://")):
        id = urlsplit(id).path.rstrip("/").rpartition("/")[2]
    try:
        return Target(operation, id)
    except ValueError as error:
        raise UsageError(f"{error}; it is the last part of the address of the job post or talent pool") from None


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


def question_list(target: Target, questions: tuple[Question, ...]) -> dict[str, Any]:
    """The questions with the fields of service description 2.1, for JSON; the sandbox can ask them too."""
    return {"job_post": target.id, "questions": [_question_json(question) for question in questions]}


def _question_json(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "question_text": question.text,
        "is_required": question.required,
        "answer_type": question.answer_type,
        "options": json.dumps(question.options, ensure_ascii=False) if question.options else None,
        "question_key": question.key,
        "question_type": question.type,
    }


# --- a mapping proposed -------------------------------------------------------------------------


def propose_mapping(
    file: Path, target: Target, questions: tuple[Question, ...], source: SourceOptions, show: Callable[[str], None]
) -> Proposal:
    """A proposed mapping for a file, which is read as `inspect_file` reads it.

    show: receives a line on how the file was read, and one if another sheet is used.

    Raises UnusableInput: the file cannot be read; the hints contain flags.
    """
    found = inspect_file(file, source)
    show(found.sheet.reading)
    if found.instead_of is not None:
        show(f"Using the sheet '{found.sheet.origin.sheet}': '{found.instead_of}' contains no candidates.")
    proposal = propose(target, questions, found.profile.views, found.facts(source), found.others)
    for name in sorted({*found.not_read} - {child.name for child in proposal.children}):
        show(f"The sheet '{name}' has candidates too: they need a mapping of their own (--sheet, --to).")
    return with_document_folders(proposal, found.profile.views, file)


def write_mapping(path: Path, proposal: Proposal) -> None:
    """Write the mapping file, and the schema with which an editor completes and checks it.

    Raises UnusableInput: a file cannot be written.
    """
    schema = path.parent / SCHEMA_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        schema.parent.mkdir(exist_ok=True)
        schema.write_text(schema_text(), encoding="utf-8")
        path.write_text(write_proposal(proposal, SCHEMA_FILE.as_posix()), encoding="utf-8")
    except OSError as error:
        raise unwritable("the mapping file", path, error) from None


def write_template(workbook: Path, target: Target, questions: tuple[Question, ...]) -> tuple[Path, int]:
    """Write an empty workbook and its mapping file; return the mapping file and the number of columns.

    Raises UnusableInput: a file cannot be written.
    """
    columns = template_columns(target, questions)
    try:
        write_workbook(workbook, columns)
    except OSError as error:
        raise unwritable("the workbook", workbook, error) from None
    mapping = workbook.with_suffix(".yaml")
    write_mapping(mapping, template_mapping(target, questions, columns, workbook.name))
    return mapping, len(columns)


def unwritable(noun: str, path: Path, error: OSError) -> UnusableInput:
    """The problem of a file that a command was told to write."""
    message = f"{noun} cannot be written: {(error.strerror or str(error)).lower()}"
    return unusable_file("not-writable", message, "choose another path with --to", path)


# --- a mapping checked --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedMapping:
    """The result of checking a mapping.

    reading: how the file was read, None without a file;
    notes: warnings; forecast: of the first rows of the file; misfit: the problems that prevent its use, if any.
    """

    mapping: Mapping
    reading: str | None = None
    notes: tuple[Problem, ...] = ()
    forecast: Forecast | None = None
    misfit: UnusableInput | None = None


TRIED: Final = 200
"""The candidates of a file that a check of a mapping looks at."""


def check_mappings(
    path: Path, file: Path | None, settings: Settings, sandbox_setup: SandboxSetup | None
) -> Iterator[CheckedMapping]:
    """Check a mapping file, or each one of a folder, against the live questions, and a file's header and first rows.

    Raises:
        UnusableInput: a mapping cannot be read, or is not a mapping file.
        StoppedEarly: the service does not return its questions.
    """
    folders = settings.mapping_folders
    mappings = read_mappings(path, folders) if path.is_dir() else (read_mapping(path, folders),)
    for mapping in mappings:
        questions = ask_questions(mapping.target, settings, sandbox_setup)
        checked = CheckedMapping(mapping)
        try:
            if file is None:
                checked = replace(checked, notes=check_without_columns(mapping, questions, settings.wire))
            else:
                sheet = open_sheet(file, mapping.source)
                checked = replace(checked, reading=sheet.reading)
                with tables_of(mapping, file, settings) as tables:
                    documents, _ = open_folders(mapping, file, {})
                    resolved = resolve(mapping, sheet.columns, questions, settings.wire, tables, documents=documents)
                    for folder in documents.values():  # whether they are uploaded already is no matter of the mapping
                        folder.invents_ids = True
                    look_into_documents(resolved, lambda sheet=sheet: islice(sheet.rows(), TRIED))  # type: ignore[misc]
                    notes = (*sheet.warnings, *resolved.warnings)
                    checked = replace(checked, notes=notes, forecast=_of_first_rows(resolved, sheet))
        except UnusableInput as error:
            yield replace(checked, misfit=error)
            continue
        if mapping.unreviewed is not None:
            checked = replace(checked, notes=(mapping.unreviewed, *checked.notes))
        yield checked


def _of_first_rows(mapping: ResolvedMapping, sheet: Sheet) -> Forecast:
    found = list(islice(each_by_itself(sheet.rows, mapping, LikelyErrors(mapping)), TRIED))
    last = max((one.rows[0] for one in found), default=0)
    rows = {row.number: row for row in takewhile(lambda row: row.number <= last, sheet.rows())}
    return forecast_of(iter(without_duplicates(found, rows, mapping)), sheet.origin)


@contextmanager
def tables_of(mapping: Mapping, file: Path, settings: Settings) -> Iterator[dict[ChildSource, Sheet]]:
    """The other tables that a mapping reads for a file."""
    with private_input(settings) if mapping.child_sources else nullcontext(Path()) as folder:
        yield open_children(mapping, SourceFiles(file, file), folder).tables
