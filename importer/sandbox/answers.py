"""Checks one answer against its question (service description 2.1 to 2.4), by answer type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from importer.sandbox.company import AnswerForms, EntryKind, Question
from importer.sandbox.json_reading import NotJson, listed, quoted, read_json

_INTEGER = re.compile(r"-?[0-9]+")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PHONE = re.compile(r"\+?[0-9 ()./-]+")
_SCHEMES = frozenset(("http", "https"))
_LONGEST_SHORT_TEXT = 255
_SEPARATORS = {"comma": ",", "semicolon": ";", "newline": "\n"}


def check_answer(question: Question, item: dict[str, Any], forms: AnswerForms) -> Iterator[str]:
    """Every problem of the answer in an item, one line each."""
    if "answer" in item and "answer_file" in item:
        yield "has both answer and answer_file, only one is allowed"
    elif "answer_file" in item:
        yield from _check_file(question, item["answer_file"])
    elif "answer" in item:
        yield from _check_text(question, item["answer"], forms)
    else:
        yield f"has no {'answer_file' if question.takes_file else 'answer'}"


def _check_file(question: Question, document: Any) -> Iterator[str]:
    if not question.takes_file:
        yield "takes answer, not answer_file"
    elif not is_document_number(document):
        yield f"answer_file {quoted(document)} is not a valid document ID, an integer or a string of digits"


def _check_text(question: Question, answer: Any, forms: AnswerForms) -> Iterator[str]:
    if question.takes_file:
        yield "takes answer_file, not answer"
    elif not isinstance(answer, str):
        yield "answer must be a string"
    elif not answer.strip():
        yield "answer may not be blank"
    elif question.entries:
        yield from check_entries(question.entries, answer)
    else:
        yield from _check_form(question, answer, forms)
        if question.type == "phone" and not is_phone(answer):
            yield f"{quoted(answer)} is not a valid phone number of 7 to 15 digits"


def _check_form(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    """Checks the answer by the question's answer type; an unknown type accepts any text."""
    match question.answer_type:
        case "short_text":
            if "\n" in answer or "\r" in answer:
                yield "answer may not contain a line break"
            if len(answer) > _LONGEST_SHORT_TEXT:
                yield f"answer has {len(answer)} characters, {_LONGEST_SHORT_TEXT} are allowed"
        case "date" if not is_date(answer):
            yield f"{quoted(answer)} is not a valid date (YYYY-MM-DD)"
        case "integer" if not _INTEGER.fullmatch(answer):
            yield f"{quoted(answer)} is not an integer"
        case "decimal" if not _DECIMAL.fullmatch(answer):
            yield f"{quoted(answer)} is not a decimal number"
        case "yes_no" if answer not in forms.yes_no:
            yield f"{quoted(answer)} is neither {quoted(forms.yes_no[0])} nor {quoted(forms.yes_no[1])}"
        case "url" if not is_web_address(answer):
            yield f"{quoted(answer)} is not an http or https address"
        case "single_choice" if question.choices and answer not in question.choices:
            yield f"{quoted(answer)} is not one of {listed(question.choices)}"
        case "multiple_choice":
            yield from _check_multiple_choice(question, answer, forms)


def _check_multiple_choice(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    chosen = _chosen(answer, forms)
    if chosen is None:
        yield f"{quoted(answer)} is not a JSON array of strings"
        return
    if not chosen:
        yield "no option is chosen"
    for choice in dict.fromkeys(chosen):
        if question.choices and choice not in question.choices:
            yield f"{quoted(choice)} is not one of {listed(question.choices)}"
        if chosen.count(choice) > 1:
            yield f"{quoted(choice)} is chosen more than once"


def _chosen(answer: str, forms: AnswerForms) -> list[str] | None:
    if forms.multiple_choice != "json":
        return [choice.strip() for choice in answer.split(_SEPARATORS[forms.multiple_choice])]
    try:
        chosen = read_json(answer)
    except NotJson:
        return None
    if not isinstance(chosen, list) or not all(isinstance(choice, str) for choice in chosen):
        return None
    return chosen


# --- entries of education and experience (service description 2.3 and 2.4) ---


@dataclass(frozen=True, slots=True)
class EntryForm:
    """The fields of one kind of entry, by type; the first of `texts` names the entry and is required."""

    texts: tuple[str, ...]
    choice: str
    allowed: tuple[str, ...]
    current: str

    @property
    def name(self) -> str:
        return self.texts[0]

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.texts, self.choice, "start_date", "end_date", self.current)


FORMS: dict[EntryKind, EntryForm] = {
    "education": EntryForm(
        texts=("school_name", "major"),
        choice="degree",
        allowed=(
            "high_school_diploma",
            "associate_degree",
            "bachelors_degree",
            "masters_degree",
            "doctorate_degree",
            "certificate_or_diploma",
        ),
        current="currently_pursuing",
    ),
    "experience": EntryForm(
        texts=("company_name", "position_title"),
        choice="employment_type",
        allowed=("full_time", "part_time", "contract", "intern"),
        current="currently_employed",
    ),
}


def check_entries(kind: EntryKind, answer: str) -> Iterator[str]:
    """Every problem of an education or experience answer, one line each."""
    try:
        entries = read_json(answer)
    except NotJson as error:
        yield f"the answer is not a JSON array of {kind} entries: {error}"
        return
    if not isinstance(entries, list):
        yield f"the answer is not a JSON array of {kind} entries: it is {_kind_of(entries)}"
        return
    if not entries:
        yield f"the answer contains no {kind} entries"
    for number, entry in enumerate(entries, start=1):
        for message in _check_entry(FORMS[kind], entry):
            yield f"{kind} entry {number}{message}"


def _check_entry(form: EntryForm, entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f" is {_kind_of(entry)}, not an object"
        return
    if form.name not in entry:
        yield f" has no {form.name}"
    for field, value in entry.items():
        message = _check_field(form, field, value)
        if message:
            yield f", {field}: {message}"
    yield from _check_period(form, entry)


def _check_field(form: EntryForm, field: str, value: Any) -> str | None:
    if field not in form.fields:
        return "unknown field"
    if field == form.current:
        return None if isinstance(value, bool) else f"must be true or false, not {_kind_of(value)}"
    if not isinstance(value, str):
        return f"must be a string, not {_kind_of(value)}"
    if field in form.texts:
        return None if value.strip() else "may not be blank"
    if field == form.choice:
        return None if value in form.allowed else f"{quoted(value)} is not one of {listed(form.allowed)}"
    return None if is_date(value) else f"{quoted(value)} is not a valid date (YYYY-MM-DD)"


def _check_period(form: EntryForm, entry: dict[str, Any]) -> Iterator[str]:
    if entry.get(form.current) is True and "end_date" in entry:
        yield f": end_date is not allowed when {form.current} is true"
    start, end = entry.get("start_date"), entry.get("end_date")
    if not (isinstance(start, str) and isinstance(end, str) and is_date(start) and is_date(end)):
        return
    if date.fromisoformat(start) > date.fromisoformat(end):
        yield f": start_date {start} is after end_date {end}"


_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def _kind_of(value: Any) -> str:
    return _KINDS.get(type(value), "null")


# --- formats of values ---


def is_date(text: str) -> bool:
    """Whether the text is an existing date as YYYY-MM-DD."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_phone(text: str) -> bool:
    """Whether the text is 7 to 15 digits with separators, after an optional +."""
    return _PHONE.fullmatch(text) is not None and 7 <= sum(character.isdigit() for character in text) <= 15


def is_web_address(text: str) -> bool:
    """Whether the text is an http or https address with a host and without white space."""
    if any(character.isspace() for character in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_document_number(value: Any) -> bool:
    """Whether the value is a document ID: an integer or a string of digits (service description 2.2)."""
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
