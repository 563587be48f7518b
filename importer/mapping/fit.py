"""Whether a mapping fits questions and a header: for a person who asks, so that unused columns are always told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from importer.errors import UnusableInput
from importer.mapping.model import Mapping, UnusedColumns
from importer.mapping.resolve import resolve
from importer.models import Column, Problem, Question, WireFormat

_ABOUT_COLUMNS = "column-"  # how the codes of problems with a header begin


def check_against_columns(
    mapping: Mapping, columns: Sequence[Column], questions: Sequence[Question], wire: WireFormat
) -> tuple[Problem, ...]:
    """The warnings of a mapping that fits a header and questions, unused columns among them.

    Raises:
        UnusableInput: with everything that does not fit.
    """
    if mapping.unused_columns is UnusedColumns.IGNORE:
        mapping = replace(mapping, unused_columns=UnusedColumns.WARN)
    return resolve(mapping, columns, questions, wire).warnings


def check_without_columns(mapping: Mapping, questions: Sequence[Question], wire: WireFormat) -> tuple[Problem, ...]:
    """The same for questions only, where there is no header to hold the columns against.

    Raises:
        UnusableInput: with everything that does not fit the questions.
    """
    try:
        return resolve(mapping, (), questions, wire).warnings
    except UnusableInput as error:
        problems = [problem for problem in error.problems if not problem.code.startswith(_ABOUT_COLUMNS)]
        if problems:
            raise UnusableInput(problems) from None
        return ()
