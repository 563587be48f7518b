"""Builders for mapping files, columns and questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from importer.mapping import Mapping, ResolvedMapping, read_mapping, resolve
from importer.models import Question
from importer.problems import Column, UnusableInput
from importer.settings import WireFormat

FILE = Path("m.yaml")  # tests run in their own temporary folder
HEAD = """\
version: 1
target: {job_post: 4f2c9a}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
"""
HEADER = ("E-mail", "First", "Last", "CV")


def write(text: str) -> Path:
    """The text as a mapping file in the current folder."""
    FILE.write_text(text, encoding="utf-8")
    return FILE


def read(text: str) -> Mapping:
    return read_mapping(write(text))


def reading_problems(text: str) -> list[str]:
    """The problems of a mapping file that cannot be read."""
    path = write(text)
    with pytest.raises(UnusableInput) as refused:
        read_mapping(path)
    return [str(problem) for problem in refused.value.problems]


def columns_of(names: Sequence[str]) -> tuple[Column, ...]:
    """Columns with these headers, beginning with A."""
    return tuple(Column(index, chr(ord("A") + index), name) for index, name in enumerate(names))


def resolved(
    text: str, names: Sequence[str] = HEADER, questions: Sequence[Question] = (), wire: WireFormat | None = None
) -> ResolvedMapping:
    return resolve(read(text), columns_of(names), questions, wire or WireFormat())


def resolving_problems(
    text: str, names: Sequence[str] = HEADER, questions: Sequence[Question] = (), wire: WireFormat | None = None
) -> list[str]:
    """The problems of a mapping that does not fit its header or questions."""
    mapping = read(text)
    with pytest.raises(UnusableInput) as refused:
        resolve(mapping, columns_of(names), questions, wire or WireFormat())
    return [str(problem) for problem in refused.value.problems]


def question(
    key: str | None, answer_type: str = "short_text", *, options: Sequence[str] = (), required: bool = False,
    type: str | None = None, id: int = 7, text: str = "What?",
) -> Question:  # fmt: skip
    return Question(id, text, required, answer_type, tuple(options), key, type)
