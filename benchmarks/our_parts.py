"""The parts of importer that are measured, set up for the sink's job post."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.candidates import QUESTIONS
from importer.mapping import ResolvedMapping, read_mapping, resolve
from importer.models import Question, SourceOptions
from importer.settings import WireFormat
from importer.sources import Sheet, open_sheet


def open_source(path: Path) -> Sheet:
    """The CSV as a sheet."""
    return open_sheet(path, SourceOptions(header_row=1))


def resolved(mapping: Path, sheet: Sheet) -> ResolvedMapping:
    """The mapping resolved against the sheet and the questions, with empty caches."""
    return resolve(read_mapping(mapping), sheet.columns, [_question(shown) for shown in QUESTIONS], WireFormat())


def _question(shown: dict[str, Any]) -> Question:
    options = ("Python", "Go", "SQL") if shown["options"] else ()
    return Question(
        shown["id"],
        shown["question_text"],
        shown["is_required"],
        shown["answer_type"],
        options,
        shown["question_key"],
        shown["question_type"],
    )
