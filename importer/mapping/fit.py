"""Whether a mapping fits questions and a header: for a person who asks, so that unused columns are always told."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import replace

from importer.errors import UnusableInput
from importer.mapping.child_index import Table
from importer.mapping.model import AnswerSpec, ChildRows, ChildSource, EntriesSpec, Mapping, OwnColumns, UnusedColumns
from importer.mapping.resolve import resolve
from importer.models import Column, Problem, Question, WireFormat

_MAP_THEM = "map what should be imported, or leave it so"
_ABOUT_COLUMNS = "column-"  # how the codes of problems with a header begin


def check_against_columns(
    mapping: Mapping,
    columns: Sequence[Column],
    questions: Sequence[Question],
    wire: WireFormat,
    tables: Dictionary[ChildSource, Table],
) -> tuple[Problem, ...]:
    """The warnings of a mapping that fits a header and questions, unused columns among them; `tables` as in `resolve`.

    Raises:
        UnusableInput: with everything that does not fit.
    """
    if mapping.unused_columns is UnusedColumns.IGNORE:
        mapping = replace(mapping, unused_columns=UnusedColumns.WARN)
        found = resolve(mapping, columns, questions, wire, tables).warnings
        return tuple(replace(one, hint=_MAP_THEM) if one.code == "columns-unused" else one for one in found)
    return resolve(mapping, columns, questions, wire, tables).warnings


def check_without_columns(mapping: Mapping, questions: Sequence[Question], wire: WireFormat) -> tuple[Problem, ...]:
    """The same for questions only, where there is no header to hold the columns against.

    Raises:
        UnusableInput: with everything that does not fit the questions.
    """
    try:
        return resolve(_without_children(mapping), (), questions, wire).warnings
    except UnusableInput as error:
        problems = [problem for problem in error.problems if not problem.code.startswith(_ABOUT_COLUMNS)]
        if problems:
            raise UnusableInput(problems) from None
        return ()


def _without_children(mapping: Mapping) -> Mapping:
    """The mapping as if its entries came from its own columns: which they are is not looked at."""
    return replace(mapping, answers=tuple(_own(answer) for answer in mapping.answers))


def _own(answer: AnswerSpec) -> AnswerSpec:
    content = answer.content
    if isinstance(content, EntriesSpec) and isinstance(content.source, ChildRows):
        return replace(answer, content=replace(content, source=OwnColumns()))
    return answer
