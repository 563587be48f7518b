"""Builds a mapping and a row for one test, and returns the result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from importer.mapping import ResolvedMapping, read_mapping, resolve
from importer.models import Answer, Application, Question, Row
from importer.problems import Column, Origin, Problem
from importer.settings import WireFormat
from importer.sources import open_sheet
from importer.transform import Invalid, transform_row

FILE = Path("m.yaml")
ORIGIN = Origin("c.csv")
PERSON = ("E-mail", "First", "Last", "CV")
FILLED = ("ada@example.com", "Ada", "Nur", "70001")


def question(
    answer_type: str = "short_text",
    *,
    options: Sequence[str] = (),
    required: bool = False,
    type: str | None = None,
    key: str | None = "q",
) -> Question:
    return Question(7, "What?", required, answer_type, tuple(options), key, type)


def mapping_of(
    answer: str,
    names: Sequence[str] = ("Cell",),
    asked: Question | None = None,
    wire: WireFormat | None = None,
    extra: str = "",
    today: date | None = None,
    files: dict[str, str] | None = None,
) -> ResolvedMapping:
    """A mapping of the four candidate columns and of one question by `answer` (YAML, from line 4 on).

    files: the other files that it names, by name.
    """
    head = "version: 1\ntarget: {job_post: 4f2c9a}\n"
    person = "candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}\n"
    FILE.write_text(f'{head}{person}answers: {{"id: 7": {answer}}}\n{extra}', encoding="utf-8")
    columns = tuple(Column(i, chr(65 + i), name) for i, name in enumerate((*PERSON, *names)))
    for name, text in (files or {}).items():
        Path(name).write_text(text, encoding="utf-8")
    mapping = read_mapping(FILE)
    tables = {child: open_sheet(Path(str(child.file)), child.options) for child in mapping.child_sources}
    return resolve(mapping, columns, (asked or question(),), wire or WireFormat(), tables, today)


def row(*cells: str, typed: Sequence[int] = (), problems: Sequence[Problem] = (), number: int = 5) -> Row:
    """A row with a valid candidate and these cells; `typed` counts from the first of these cells."""
    return Row(ORIGIN, number, (*FILLED, *cells), frozenset(len(FILLED) + i for i in typed), tuple(problems))


def answer_of(mapping: ResolvedMapping, source: Row) -> Answer | None:
    """The answer to the one question, or None; the row must be valid."""
    result = transform_row(source, mapping)
    assert isinstance(result, Application), result
    return result.answers[0] if result.answers else None


def problems_of(mapping: ResolvedMapping, source: Row) -> list[str]:
    """The problems of an invalid row, as text."""
    result = transform_row(source, mapping)
    assert isinstance(result, Invalid), result
    return [str(problem) for problem in result.problems]
