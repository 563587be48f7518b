"""The mapping file of a template: every column is known, so that everything in it is certain."""

from __future__ import annotations

from collections.abc import Sequence

from importer.mapping import PLACEHOLDER, EntryKind
from importer.models import Column, Question, Target
from importer.suggest.column_names import ColumnNames
from importer.suggest.proposal import (
    Proposal,
    ProposedAnswer,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
)
from importer.template.columns import ENTRY_HEADERS, TemplateColumn
from importer.template.letters import letters
from importer.template.workbook import SHEET


def template_mapping(
    target: Target, questions: Sequence[Question], columns: Sequence[TemplateColumn], file: str
) -> Proposal:
    """The mapping file of a workbook with these columns; `file` is its name."""
    placed = [Column(index, letters(index), column.header) for index, column in enumerate(columns)]
    names = ColumnNames(placed)
    pairs = list(zip(columns, placed, strict=True))
    contents: dict[int, ProposedValue | ProposedEntries] = {}
    for column, place in pairs:
        if column.question is not None:
            contents[column.question.id] = (
                _entries(column.kind) if column.kind is not None else _value(column, names.of(place))
            )
    return Proposal(
        target=target,
        source=SourceFacts(file, sheet=SHEET, header_row=1),
        candidate=tuple(
            ProposedField(column.field, _value(column, names.of(place)))
            for column, place in pairs
            if column.question is None
        ),
        answers=tuple(
            ProposedAnswer(question, contents[question.id]) for question in questions if question.id in contents
        ),
        questions=tuple(questions),
    )


def _value(column: TemplateColumn, name: str) -> ProposedValue:
    settings = (Setting("split", column.sign),) if column.sign else ()
    return ProposedValue(names=(name,), settings=settings)


def _entries(kind: EntryKind) -> ProposedEntries:
    fields = (
        ProposedField(field, ProposedValue(names=(f"{header} {PLACEHOLDER}",)))
        for field, header in ENTRY_HEADERS[kind].items()
    )
    return ProposedEntries(kind, tuple(fields), numbered=True)
