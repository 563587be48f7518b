"""Reads how texts are read: date formats, signs, words, names and the region of phones."""

from __future__ import annotations

from enum import StrEnum

from importer.mapping.findings import Findings
from importer.mapping.model import Edge, Formats, NameRule, Surname, Text
from importer.mapping.nodes import Node
from importer.mapping.regions import REGIONS
from importer.mapping.shape import Fields, read_fields, read_number, read_text, read_texts, read_word
from importer.text.closest import did_you_mean
from importer.text.dates import COUNTS, LANGUAGES, has_short_year, tokens
from importer.text.normalize import normalize

FORMAT_KEYS = (
    "dates", "months", "pivot", "decimal", "thousands", "region", "missing_day", "missing_month", "yes", "no", "names",
)  # fmt: skip
NAME_KEYS = ("surname", "particles", "suffixes")
_DECIMAL_SIGNS = (".", ",")
_THOUSANDS_SIGNS = (".", ",", " ", "'", "’")
_DATE_HINT = "write it like %d.%m.%Y; the codes are %d %m %Y %y %b %B %H %I %M %S %f %p"
_COUNT_HINT = f"or give one of {', '.join(COUNTS)}"
_FIRST_PIVOT, _LAST_PIVOT = 1900, 2001


class EdgeWord(StrEnum):
    FIRST = "first"
    LAST = "last"


def read_formats(fields: Fields, findings: Findings) -> Formats:
    """The format keys among these fields. Two signs that are the same, or a word of both yes and no, are told."""
    yes, no = fields.read("yes", _read_words), fields.read("no", _read_words)
    dates = fields.read("dates", _read_dates) or ()
    formats = Formats(
        dates=tuple(text.value for text in dates) or None,
        short_year=next((text.place for text in dates if has_short_year(text.value)), None),
        months=fields.read("months", _read_months),
        pivot=fields.read("pivot", _read_pivot),
        decimal=fields.read("decimal", _read_decimal),
        thousands=fields.read("thousands", _read_thousands),
        region=fields.read("region", _read_region),
        missing_day=read_edge(fields, "missing_day"),
        missing_month=read_edge(fields, "missing_month"),
        yes=yes,
        no=no,
        names=fields.read("names", _read_names),
    )
    if formats.decimal is not None and formats.decimal == formats.thousands:
        message = f"decimal and thousands are both '{formats.decimal}'"
        findings.mistake("same-sign", message, "give each its own sign", fields.key("thousands").place)
    for word in sorted({normalize(word) for word in yes or ()} & {normalize(word) for word in no or ()}):
        findings.mistake(
            "yes-and-no", f"'{word}' is a word of both yes and no", "keep it in one of them", fields.key("no").place
        )
    return formats


def overlay(own: Formats, defaults: Formats) -> Formats:
    """The formats of a column: its own where it has them, else the defaults."""
    if own == Formats():
        return defaults
    merged = {
        key: getattr(own, key) if getattr(own, key) is not None else getattr(defaults, key) for key in FORMAT_KEYS
    }
    return Formats(**merged, short_year=(own if own.dates else defaults).short_year)


def read_edge(fields: Fields, key: str) -> Edge | None:
    """The value of a key that is `first` or `last`."""
    word = fields.read(key, read_word(EdgeWord))
    if word is None:
        return None
    return "first" if word is EdgeWord.FIRST else "last"


def _read_words(node: Node, name: str, findings: Findings) -> tuple[str, ...] | None:
    texts = read_texts(node, name, findings)
    return tuple(text.value for text in texts) if texts else None


def _read_dates(node: Node, name: str, findings: Findings) -> tuple[Text, ...]:
    read = []
    for text in read_texts(node, name, findings) or ():
        try:
            if text.value not in COUNTS:
                tokens(text.value)
            read.append(text)
        except ValueError as error:
            findings.mistake("date-format", str(error), f"{_DATE_HINT}; {_COUNT_HINT}", text.place)
    return tuple(read)


def _read_months(node: Node, name: str, findings: Findings) -> tuple[str, ...] | None:
    texts = read_texts(node, name, findings)
    for text in texts or ():
        if text.value not in LANGUAGES:
            message, hint = f"'{text}' is no language of months", did_you_mean(text.value, LANGUAGES)
            findings.mistake("unknown-language", message, hint, text.place)
    return tuple(text.value for text in texts if text.value in LANGUAGES) if texts else None


def _read_pivot(node: Node, name: str, findings: Findings) -> int | None:
    year = read_number(node, name, findings)
    if year is not None and not _FIRST_PIVOT <= year <= _LAST_PIVOT:
        message = f"{name} must be a year from {_FIRST_PIVOT} to {_LAST_PIVOT}"
        hint = "give the first of the hundred years that two-digit years lie in, as 1950"
        findings.mistake("pivot-year", message, hint, node.place)
        return None
    return year


def _read_names(node: Node, name: str, findings: Findings) -> NameRule | None:
    fields = read_fields(node, name, findings)
    if fields is None:
        return None
    fields.only(NAME_KEYS)
    surname = fields.read("surname", read_word(Surname)) or Surname.LAST_WORD
    if surname is Surname.BEFORE_COMMA and fields.has("particles"):
        message = "particles have no effect where the last name stands before a comma"
        findings.mistake("idle-key", message, "take it out", fields.key("particles").place)
    particles, suffixes = fields.read("particles", _read_words) or (), fields.read("suffixes", _read_words) or ()
    return NameRule(surname, frozenset(map(normalize, particles)), frozenset(map(normalize, suffixes)))


def _read_decimal(node: Node, name: str, findings: Findings) -> str | None:
    return _sign(read_text(node, name, findings), name, _DECIMAL_SIGNS, findings)


def _read_thousands(node: Node, name: str, findings: Findings) -> str | None:
    return _sign(read_text(node, name, findings), name, _THOUSANDS_SIGNS, findings)


def _sign(text: Text | None, name: str, signs: tuple[str, ...], findings: Findings) -> str | None:
    if text is None:
        return None
    value = text.value.replace("\u00a0", " ").replace("\u202f", " ")
    if value not in signs:
        quoted = " ".join(f'"{sign}"' for sign in signs)
        findings.mistake("unknown-sign", f"'{text.value}' is no {name} sign", f"use one of {quoted}", text.place)
        return None
    return value


def _read_region(node: Node, name: str, findings: Findings) -> str | None:
    text = read_text(node, name, findings)
    if text is None:
        return None
    if text.value.upper() not in REGIONS:
        hint = "did you mean 'GB'?" if text.value.upper() == "UK" else "use two letters such as TR, DE or US"
        findings.mistake("unknown-region", f"'{text.value}' is no region", hint, text.place)
        return None
    return text.value.upper()
