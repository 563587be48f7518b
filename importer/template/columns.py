"""The columns of a template: candidate fields, questions and groups for entries; and its mapping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.mapping import PLACEHOLDER, EntryKind, FieldSpec, Kind, spec_of_entry
from importer.models import Question, Target
from importer.problems import Column, column_letter
from importer.suggest.columns import ColumnNames
from importer.suggest.proposal import (
    Proposal,
    ProposedAnswer,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
    candidate_goals,
    entry_kind,
    question_goals,
)

SHEET = "Candidates"

_GROUPS = 3  # entries per candidate; columns with higher numbers may be added
_CANDIDATE = {
    "email": "E-mail",
    "first_name": "First name",
    "last_name": "Last name",
    "cv": "CV document ID",
    "terms_of_use": "Terms of use accepted",
}
_ENTRY_HEADERS: dict[EntryKind, dict[str, str]] = {
    EntryKind.EDUCATION: {
        "school_name": "School", "degree": "Degree", "major": "Major", "start_date": "School from",
        "end_date": "School to", "currently_pursuing": "Still studying",
    },
    EntryKind.EXPERIENCE: {
        "company_name": "Company", "position_title": "Job title", "employment_type": "Employment type",
        "start_date": "Job from", "end_date": "Job to", "currently_employed": "Still employed",
    },
}  # fmt: skip
_HINTS = {
    Kind.EMAIL: "An e-mail address, for example name@example.com.",
    Kind.PHONE: "A phone number with country code, for example +90 555 000 00 00.",
    Kind.URL: "A web address, for example https://example.com/me.",
    Kind.DATE: "A date, for example 2024-12-31.",
    Kind.INTEGER: "A whole number.",
    Kind.DECIMAL: "A number.",
    Kind.YES_NO: "yes or no.",
    Kind.FLAG: "yes or no.",
    Kind.CHOICE: "One of:",
    Kind.CHOICES: "One or more of these, separated by {separator}:",
    Kind.DOCUMENT: "The document ID of an uploaded file.",
    Kind.CV: "The document ID of an uploaded CV.",
}
_SEPARATORS = (";", "|", "/", "\n")


@dataclass(frozen=True, slots=True)
class TemplateColumn:
    """A column: its header, and the values that it takes.

    `field`: the name of a candidate field, or of a field of an entry of this `kind`.
    """

    header: str
    spec: FieldSpec
    field: str = ""
    question: Question | None = None
    kind: EntryKind | None = None

    @property
    def separator(self) -> str | None:
        """The separator between several choices: a character that no option contains."""
        if self.spec.kind is not Kind.CHOICES:
            return None
        free = (one for one in _SEPARATORS if not any(one in option for option in self.spec.options))
        return next(free, _SEPARATORS[-1])

    @property
    def note(self) -> str:
        """The note in the header that explains the column."""
        between = "a line break" if self.separator == "\n" else self.separator or ""
        hint = _HINTS.get(self.spec.kind, "Text.").replace("{separator}", between)
        return "\n".join(("Required." if self.spec.required else "Optional.", hint, *self.spec.options))


def template_columns(target: Target, questions: Sequence[Question]) -> tuple[TemplateColumn, ...]:
    """All columns in order: the candidate, the answers in the order of the questions, the entries."""
    found = [TemplateColumn(_CANDIDATE[goal.name], goal.spec, goal.name) for goal in candidate_goals(target)]
    for goal in question_goals(questions):
        header = " ".join(goal.question.text.split()) if goal.question else ""
        found.append(TemplateColumn(header or goal.name, goal.spec, question=goal.question))
    for question in questions:
        kind = entry_kind(question)
        found += _entry_columns(question, kind) if kind else ()
    return tuple(found)


def _entry_columns(question: Question, kind: EntryKind) -> Iterator[TemplateColumn]:
    for number in range(1, _GROUPS + 1):
        for field, header in _ENTRY_HEADERS[kind].items():
            yield TemplateColumn(f"{header} {number}", spec_of_entry(kind, field), field, question, kind)


# --- the mapping file -----------------------------------------------------------------------------


def template_mapping(
    target: Target, questions: Sequence[Question], columns: Sequence[TemplateColumn], file: str
) -> Proposal:
    """The mapping file of a workbook with these columns; `file` is its name."""
    placed = [Column(index, column_letter(index), column.header) for index, column in enumerate(columns)]
    names = ColumnNames(placed)
    pairs = list(zip(columns, placed, strict=True))
    contents: dict[int, ProposedValue | ProposedEntries] = {}
    for column, place in pairs:
        if column.question is not None:
            contents[column.question.id] = (
                _proposed_entries(column.kind) if column.kind is not None else _proposed_value(column, names.of(place))
            )
    return Proposal(
        target=target,
        source=SourceFacts(file, sheet=SHEET, header_row=1),
        candidate=tuple(
            ProposedField(column.field, _proposed_value(column, names.of(place)))
            for column, place in pairs
            if column.question is None
        ),
        answers=tuple(
            ProposedAnswer(question, contents[question.id]) for question in questions if question.id in contents
        ),
        questions=tuple(questions),
    )


def _proposed_value(column: TemplateColumn, name: str) -> ProposedValue:
    settings = (Setting("split", column.separator),) if column.separator else ()
    return ProposedValue(names=(name,), settings=settings)


def _proposed_entries(kind: EntryKind) -> ProposedEntries:
    fields = (
        ProposedField(field, ProposedValue(names=(f"{header} {PLACEHOLDER}",)))
        for field, header in _ENTRY_HEADERS[kind].items()
    )
    return ProposedEntries(kind, tuple(fields), numbered=True)
