"""What the service expects of each value: its kind, its name in messages, and its options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from importer.mapping.entries import EntryKind
from importer.models import AnswerType, Question
from importer.text.normalize import normalize


class Kind(StrEnum):
    """The kinds of values; transform has one reader for each."""

    TEXT = "text"  # may have several lines
    LINE = "line"
    NAME = "name"
    EMAIL = "email"
    PHONE = "phone"
    URL = "url"
    DATE = "date"
    INTEGER = "integer"
    DECIMAL = "decimal"
    YES_NO = "yes_no"  # an answer, in the words of the wire format
    FLAG = "flag"  # a boolean of the request body or of an entry
    CHOICE = "choice"
    CHOICES = "choices"
    DOCUMENT = "document"  # a document ID: an integer or numeric text
    CV = "cv"  # a document ID that may contain letters


NUMBERS = (Kind.INTEGER, Kind.DECIMAL)
YES_WORDS = ("yes", "y", "true", "1", "x", "evet", "e", "doğru", "ja", "j", "wahr")
NO_WORDS = ("no", "n", "false", "0", "hayır", "h", "yanlış", "nein", "falsch")


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What the service expects of a value.

    `label` completes "... is missing", `noun` completes "is not ...": `an option of level`. years_ahead: how far in the
    future a date may lie; None: anywhere. is_birth: of a date of birth. is_end: of the end date of an entry. required:
    without it, nothing can be sent.
    """

    kind: Kind
    label: str
    noun: str = ""
    options: tuple[str, ...] = ()
    years_ahead: int | None = None
    is_birth: bool = False
    is_end: bool = False
    required: bool = False

    @property
    def is_file(self) -> bool:
        """Whether an answer of this kind is sent as answer_file."""
        return self.kind is Kind.DOCUMENT


class ChoiceOptions:
    """The options of a choice. Options with equal normalized texts are distinguished by their exact spelling."""

    def __init__(self, options: Sequence[str]) -> None:
        self.spelled = tuple(options)
        self._exact = frozenset(options)
        self._normalized: dict[str, str | None] = {}
        for option in options:
            normalized = normalize(option)
            self._normalized[normalized] = None if normalized in self._normalized else option

    def find(self, text: str) -> str | None:
        """The option as the service spells it, or None."""
        return text if text in self._exact else self._normalized.get(normalize(text))


# --- fields of the candidate (bodies of service description 4.2 and 4.3) ---------------------------

CANDIDATE_FIELDS = {
    "email": FieldSpec(Kind.EMAIL, "the e-mail address", required=True),
    "first_name": FieldSpec(Kind.NAME, "the first name", required=True),
    "last_name": FieldSpec(Kind.NAME, "the last name", required=True),
    "cv": FieldSpec(Kind.CV, "the CV's document ID", required=True),
    "terms_of_use": FieldSpec(Kind.FLAG, "terms_of_use"),
    "source_platform": FieldSpec(Kind.LINE, "source_platform"),
}


# --- fields of an entry (service description 2.3 and 2.4) ------------------------------------------

_CHOICES = {
    "degree": ("a degree that the service accepts", (
        "high_school_diploma", "associate_degree", "bachelors_degree", "masters_degree", "doctorate_degree",
        "certificate_or_diploma",
    )),
    "employment_type": ("an employment type that the service accepts", (
        "full_time", "part_time", "contract", "intern",
    )),
}  # fmt: skip
_YEARS_AHEAD = {(EntryKind.EDUCATION, "end_date"): 10}  # studies may end in the future
_FLAGS = ("currently_pursuing", "currently_employed")


def spec_of_entry(kind: EntryKind, name: str) -> FieldSpec:
    """The specification of an entry field."""
    label = f"{name} of {kind}"
    if name in _CHOICES:
        return FieldSpec(Kind.CHOICE, label, *_CHOICES[name])
    if name in ("start_date", "end_date"):
        return FieldSpec(Kind.DATE, label, years_ahead=_YEARS_AHEAD.get((kind, name), 0), is_end=name == "end_date")
    return FieldSpec(Kind.FLAG if name in _FLAGS else Kind.LINE, label)


# --- answers (service description 2.1) --------------------------------------------------------------

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
# These question types are more specific than the answer_type.
_SPECIAL_KINDS = {"photo": Kind.DOCUMENT, "phone": Kind.PHONE}
# Questions about a birth date, in the languages of the months and some more.
_BIRTH = re.compile(
    r"birth|\bdob\b|dogum|doğum|geburt|naissance|nacimiento|nascita|nascimento|geboorte|urodz|рожд|народж|narozen|"
    r"f[øo]dsel|f[öo]delse|syntym|szület|naster|naşter|γέννη|生年月日|出生|ميلاد|जन्म"
)


def spec_of_question(question: Question) -> FieldSpec | None:
    """The specification of an answer; None if the answer_type is unknown."""
    kind = _SPECIAL_KINDS.get(question.type or "")
    if question.type == "address":  # a text, whatever its answer type
        kind = Kind.TEXT if question.answer_type == AnswerType.LONG_TEXT else Kind.LINE
    if kind is None and question.answer_type in set(AnswerType):
        kind = _ANSWER_KINDS[AnswerType(question.answer_type)]
    if kind is None:
        return None
    options = question.options if kind in (Kind.CHOICE, Kind.CHOICES) else ()
    is_birth = kind is Kind.DATE and _BIRTH.search(normalize(f"{question.key} {question.text}")) is not None
    label, noun = f"the answer to {question.label}", f"an option of {question.label}"
    years_ahead = 0 if is_birth else None
    return FieldSpec(kind, label, noun, options, years_ahead, is_birth, required=question.required)
