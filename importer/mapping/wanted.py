"""What the service wants of each value: the kinds of candidate fields, answers and entry fields."""

from __future__ import annotations

from importer.mapping.model import EntryKind
from importer.mapping.resolved import Kind, Wanted
from importer.models import AnswerType, Question

DEGREES = (
    "high_school_diploma",
    "associate_degree",
    "bachelors_degree",
    "masters_degree",
    "doctorate_degree",
    "certificate_or_diploma",
)
EMPLOYMENT_TYPES = ("full_time", "part_time", "contract", "intern")

_CANDIDATE = {
    "email": Wanted(Kind.EMAIL, "the e-mail"),
    "first_name": Wanted(Kind.NAME, "the first name"),
    "last_name": Wanted(Kind.NAME, "the last name"),
    "cv": Wanted(Kind.CV, "the CV's document ID"),
    "terms_of_use": Wanted(Kind.FLAG, "terms_of_use"),
    "source_platform": Wanted(Kind.LINE, "source_platform"),
}

_ENTRY_KINDS = {"start_date": Kind.DATE, "end_date": Kind.DATE, "currently_pursuing": Kind.FLAG}
_ENTRY_KINDS["currently_employed"] = Kind.FLAG

_ANSWER_KINDS = {
    AnswerType.DATE: Kind.DATE,
    AnswerType.SHORT_TEXT: Kind.LINE,
    AnswerType.LONG_TEXT: Kind.TEXT,
    AnswerType.INTEGER: Kind.INTEGER,
    AnswerType.DECIMAL: Kind.DECIMAL,
    AnswerType.YES_NO: Kind.YES_NO,
    AnswerType.SINGLE_CHOICE: Kind.CHOICE,
    AnswerType.MULTIPLE_CHOICE: Kind.CHOICES,
    AnswerType.FILE_UPLOAD: Kind.DOCUMENT,
    AnswerType.URL: Kind.URL,
}
# Service description 2.1: these markers say more about an answer than its answer_type does.
_SPECIAL_KINDS = {"photo": Kind.DOCUMENT, "phone": Kind.PHONE}


def wanted_of_candidate(name: str) -> Wanted:
    """What a candidate field wants (bodies of service description 4.2 and 4.3)."""
    return _CANDIDATE[name]


def wanted_of_entry(kind: EntryKind, name: str) -> Wanted:
    """What an entry field wants (service description 2.3 and 2.4)."""
    label = f"{name} of {kind}"
    if name == "degree":
        return Wanted(Kind.CHOICE, label, "degree this service knows", DEGREES)
    if name == "employment_type":
        return Wanted(Kind.CHOICE, label, "employment type this service knows", EMPLOYMENT_TYPES)
    return Wanted(_ENTRY_KINDS.get(name, Kind.LINE), label)


def wanted_of_question(question: Question) -> Wanted | None:
    """What a question wants (service description 2.1), or None where its answer_type is not known."""
    label = f"the answer to {question.label}"
    kind = _SPECIAL_KINDS.get(question.type or "")
    if question.type == "address":  # a text, whatever its answer type
        kind = Kind.TEXT if question.answer_type == AnswerType.LONG_TEXT else Kind.LINE
    if kind is None and question.answer_type in set(AnswerType):
        kind = _ANSWER_KINDS[AnswerType(question.answer_type)]
    if kind is None:
        return None
    options = question.options if kind in (Kind.CHOICE, Kind.CHOICES) else ()
    return Wanted(kind, label, f"option of {question.label}", options)
