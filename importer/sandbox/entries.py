"""The entries of education and experience answers (service description 2.3 and 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from importer.sandbox.company import EntryKind
from importer.sandbox.refusals import listed, quoted
from importer.sandbox.strict_json import NotJson, read_json
from importer.sandbox.written_forms import is_date


@dataclass(frozen=True, slots=True)
class EntryForm:
    """The fields of one kind of entry, by what they hold; the first of `texts` names the entry and must be there."""

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
    """What is wrong with the string of an education or experience answer, one line for each fault."""
    try:
        entries = read_json(answer)
    except NotJson as error:
        yield f"the answer is no JSON array of {kind} entries: {error}"
        return
    if not isinstance(entries, list):
        yield f"the answer is no JSON array of {kind} entries: it is {_kind_of(entries)}"
        return
    if not entries:
        yield f"the answer holds no {kind} entry"
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
    return None if is_date(value) else f"{quoted(value)} is no date in the form YYYY-MM-DD"


def _check_period(form: EntryForm, entry: dict[str, Any]) -> Iterator[str]:
    if entry.get(form.current) is True and "end_date" in entry:
        yield f": end_date does not go with {form.current} true"
    start, end = entry.get("start_date"), entry.get("end_date")
    if not (isinstance(start, str) and isinstance(end, str) and is_date(start) and is_date(end)):
        return
    if date.fromisoformat(start) > date.fromisoformat(end):
        yield f": start_date {start} is after end_date {end}"


_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def _kind_of(value: Any) -> str:
    return _KINDS.get(type(value), "null")
