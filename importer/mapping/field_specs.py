"""What the service wants of each value, and whether a text of the mapping itself can be that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from urllib.parse import urlsplit

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.entries import EntryKind
from importer.mapping.nodes import Text
from importer.mapping.values import Formats, Replacement, ValueSpec
from importer.models import AnswerType, Question
from importer.text.dates import FIRST_YEAR, LAST_YEAR
from importer.text.normalize import did_you_mean, normalize


class Kind(StrEnum):
    """The kinds of values: each has one reader in transform."""

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
    CV = "cv"  # a document ID that may be any token


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What the service wants of a value: its kind, what a message calls it, and the options of a choice.

    `noun` completes "is no ...": `degree this service knows`, `option of level`. `label` completes "... is missing".
    """

    kind: Kind
    label: str
    noun: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether an answer of this kind is sent as answer_file."""
        return self.kind is Kind.DOCUMENT


class Options:
    """The options of a choice. Two that are normalized alike are kept apart by their exact spelling only."""

    def __init__(self, options: Sequence[str]) -> None:
        self.spelled = tuple(options)
        self._exact = frozenset(options)
        self._normalized: dict[str, str | None] = {}
        for option in options:
            normalized = normalize(option)
            self._normalized[normalized] = None if normalized in self._normalized else option

    def find(self, text: str) -> str | None:
        """The option in its own spelling, or None."""
        return text if text in self._exact else self._normalized.get(normalize(text))


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
    "email": FieldSpec(Kind.EMAIL, "the e-mail"),
    "first_name": FieldSpec(Kind.NAME, "the first name"),
    "last_name": FieldSpec(Kind.NAME, "the last name"),
    "cv": FieldSpec(Kind.CV, "the CV's document ID"),
    "terms_of_use": FieldSpec(Kind.FLAG, "terms_of_use"),
    "source_platform": FieldSpec(Kind.LINE, "source_platform"),
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


def spec_of_candidate(name: str) -> FieldSpec:
    """What a candidate field wants (bodies of service description 4.2 and 4.3)."""
    return _CANDIDATE[name]


def spec_of_entry(kind: EntryKind, name: str) -> FieldSpec:
    """What an entry field wants (service description 2.3 and 2.4)."""
    label = f"{name} of {kind}"
    if name == "degree":
        return FieldSpec(Kind.CHOICE, label, "degree this service knows", DEGREES)
    if name == "employment_type":
        return FieldSpec(Kind.CHOICE, label, "employment type this service knows", EMPLOYMENT_TYPES)
    return FieldSpec(_ENTRY_KINDS.get(name, Kind.LINE), label)


def spec_of_question(question: Question) -> FieldSpec | None:
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
    return FieldSpec(kind, label, f"option of {question.label}", options)


YES_WORDS = ("yes", "y", "true", "1", "x", "evet", "e", "ja", "j")
NO_WORDS = ("no", "n", "false", "0", "hayır", "h", "nein")


def check_constants(spec: ValueSpec, field: FieldSpec, formats: Formats, diagnostics: Diagnostics) -> None:
    """Reports each text of the value that would make every row that meets it invalid."""
    if spec.value is not None:
        _check(spec.value, field, formats, diagnostics)
    if spec.default is not None and spec.default.strip():
        for part in _pieces(spec.default, spec.split):
            _check(part, field, formats, diagnostics)
    for entry in spec.values or ():
        if entry.target.strip():
            _check(entry.target, field, formats, diagnostics)
    if isinstance(spec.otherwise, Replacement):
        _check(spec.otherwise.value, field, formats, diagnostics)


def _pieces(text: Text, separator: str | None) -> list[Text]:
    parts = text.split(separator) if separator else [text]
    return [Text(part.strip(), text.place) for part in parts if part.strip()]


def _check(text: Text, field: FieldSpec, formats: Formats, diagnostics: Diagnostics) -> None:
    if field.kind in (Kind.CHOICE, Kind.CHOICES):
        if field.options and Options(field.options).find(text) is None:
            hint = did_you_mean(text, field.options)
            diagnostics.error("value-no-option", f"'{text}' is no {field.noun}", hint, text.place)
        return
    form = _FORMS.get(field.kind)
    if form is not None and not form.fits(text.strip(), formats):
        diagnostics.error("value-unfit", f"'{text}' is no {form.noun}", form.hint, text.place)


class _Form:
    def __init__(self, noun: str, hint: str, fits: Callable[[str, Formats], bool]) -> None:
        self.noun = noun
        self.hint = hint
        self.fits = fits


def _is_date(text: str, formats: Formats) -> bool:
    try:
        return FIRST_YEAR <= date.fromisoformat(text).year <= LAST_YEAR and len(text) == 10
    except ValueError:
        return False


def _is_yes_or_no(text: str, formats: Formats) -> bool:
    words = (*YES_WORDS, *NO_WORDS, *(formats.yes or ()), *(formats.no or ()))
    return normalize(text) in {normalize(word) for word in words}


def _is_url(text: str, formats: Formats) -> bool:
    try:
        return urlsplit(text).scheme.lower() in ("http", "https") and bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _matches(pattern: str) -> Callable[[str, Formats], bool]:
    return lambda text, formats: re.fullmatch(pattern, text) is not None


_DOCUMENT_HINT = "give the ID of an uploaded document, in digits"
_FORMS = {
    Kind.DATE: _Form("date", "write it as YYYY-MM-DD", _is_date),
    Kind.INTEGER: _Form("whole number", "write it in digits", _matches(r"[+-]?[0-9]{1,30}")),
    Kind.DECIMAL: _Form("number", "write it like 1234.5", _matches(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?")),
    Kind.YES_NO: _Form("yes or no", "write yes or no", _is_yes_or_no),
    Kind.FLAG: _Form("yes or no", "write true or false", _is_yes_or_no),
    Kind.URL: _Form("web address", "write it with https://", _is_url),
    Kind.DOCUMENT: _Form("document ID", _DOCUMENT_HINT, _matches(r"[0-9]{1,30}")),
    Kind.CV: _Form("document ID", "give the ID of an uploaded document", _matches(r"[!-~]{1,200}")),
    Kind.EMAIL: _Form("e-mail address", "write it like name@example.com", _matches(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
}
