"""The columns of a template: one for each field of the candidate, for each question, and groups for entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.mapping import EntryKind, FieldSpec, Kind, spec_of_entry
from importer.models import Question, Target
from importer.suggest.goals import Goal, candidate_goals, entry_kind, question_goals

GROUPS = 3  # entries that the template has room for; more columns with the next numbers may be added
_CANDIDATE = {
    "email": "E-mail",
    "first_name": "First name",
    "last_name": "Last name",
    "cv": "CV document ID",
    "terms_of_use": "Terms of use accepted",
}
ENTRY_HEADERS: dict[EntryKind, dict[str, str]] = {
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
    Kind.EMAIL: "An e-mail address, as name@example.com.",
    Kind.PHONE: "With the country code, as +90 555 000 00 00.",
    Kind.URL: "A web address, as https://example.com/me.",
    Kind.DATE: "A date, as 2024-12-31.",
    Kind.INTEGER: "A whole number.",
    Kind.DECIMAL: "A number.",
    Kind.YES_NO: "yes or no.",
    Kind.FLAG: "yes or no.",
    Kind.CHOICE: "One of:",
    Kind.CHOICES: "One or more of these, with {sign} between them:",
    Kind.DOCUMENT: "The document ID of an uploaded file.",
    Kind.CV: "The document ID of an uploaded CV.",
}
_SIGNS = (";", "|", "/", "\n")


@dataclass(frozen=True, slots=True)
class TemplateColumn:
    """A column: what stands above it, what it takes, and the note that explains it.

    `field` names what it fills: a field of the candidate, or one of an entry with its `number` (from 1).
    `sign` stands between several choices.
    """

    header: str
    wanted: FieldSpec
    required: bool
    note: str
    field: str = ""
    question: Question | None = None
    kind: EntryKind | None = None
    number: int = 0
    sign: str | None = None


def template_columns(target: Target, questions: Sequence[Question]) -> tuple[TemplateColumn, ...]:
    """All columns, in order: the candidate, the answers in the order of the questions, then the entries."""
    found = [_candidate_column(goal) for goal in candidate_goals(target)]
    found += [_question_column(goal) for goal in question_goals(questions)]
    for question in questions:
        kind = entry_kind(question)
        if kind is not None:
            found += _entry_columns(question, kind)
    return tuple(found)


def _candidate_column(goal: Goal) -> TemplateColumn:
    return TemplateColumn(
        _CANDIDATE[goal.name], goal.wanted, goal.required, _note(goal.wanted, goal.required), field=goal.name
    )


def _question_column(goal: Goal) -> TemplateColumn:
    question = goal.question
    if question is None:
        raise AssertionError("a goal of a question lost its question")
    sign = _sign(goal.wanted) if goal.wanted.kind is Kind.CHOICES else None
    header = " ".join(question.text.split()) or goal.name
    return TemplateColumn(
        header, goal.wanted, goal.required, _note(goal.wanted, goal.required, sign), question=question, sign=sign
    )


def _entry_columns(question: Question, kind: EntryKind) -> Iterator[TemplateColumn]:
    for number in range(1, GROUPS + 1):
        for field, header in ENTRY_HEADERS[kind].items():
            wanted = spec_of_entry(kind, field)
            note = _note(wanted, required=False)
            yield TemplateColumn(f"{header} {number}", wanted, False, note, field, question, kind, number)


def _sign(wanted: FieldSpec) -> str:
    """A sign between choices that none of the options holds."""
    return next((sign for sign in _SIGNS if not any(sign in option for option in wanted.options)), _SIGNS[-1])


def _note(wanted: FieldSpec, required: bool, sign: str | None = None) -> str:
    hint = _HINTS.get(wanted.kind, "Text.")
    shown = "a line break" if sign == "\n" else sign or ""
    lines = ["Required." if required else "May stay empty.", hint.replace("{sign}", shown), *wanted.options]
    return "\n".join(lines)
