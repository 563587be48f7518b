"""Reads how texts are read: date formats, signs, words and the region of phones."""

from __future__ import annotations

from enum import StrEnum

from importer.mapping.date_format import tokens
from importer.mapping.findings import Findings
from importer.mapping.fold import fold
from importer.mapping.model import Edge, Formats, Text
from importer.mapping.nodes import Node
from importer.mapping.regions import REGIONS
from importer.mapping.shape import Fields, read_text, read_texts, read_word

FORMAT_KEYS = ("dates", "decimal", "thousands", "region", "missing_day", "missing_month", "yes", "no")
_DECIMAL_SIGNS = (".", ",")
_THOUSANDS_SIGNS = (".", ",", " ", "'", "’")
_DATE_HINT = "write it like %d.%m.%Y; the codes are %d %m %Y %y %b %B %H %I %M %S %f %p"


class EdgeWord(StrEnum):
    FIRST = "first"
    LAST = "last"


def read_formats(fields: Fields, findings: Findings) -> Formats:
    """The format keys among these fields. Two signs that are the same, or a word of both yes and no, are told."""
    yes, no = fields.read("yes", _read_words), fields.read("no", _read_words)
    formats = Formats(
        dates=fields.read("dates", _read_dates),
        decimal=fields.read("decimal", _read_decimal),
        thousands=fields.read("thousands", _read_thousands),
        region=fields.read("region", _read_region),
        missing_day=read_edge(fields, "missing_day"),
        missing_month=read_edge(fields, "missing_month"),
        yes=yes,
        no=no,
    )
    if formats.decimal is not None and formats.decimal == formats.thousands:
        message = f"decimal and thousands are both '{formats.decimal}'"
        findings.mistake("same-sign", message, "give each its own sign", fields.key("thousands").place)
    for word in sorted({fold(word) for word in yes or ()} & {fold(word) for word in no or ()}):
        findings.mistake(
            "yes-and-no", f"'{word}' is a word of both yes and no", "keep it in one of them", fields.key("no").place
        )
    return formats


def overlay(own: Formats, defaults: Formats) -> Formats:
    """The formats of a column: its own where it has them, else the defaults."""
    if own == Formats():
        return defaults
    return Formats(
        **{key: getattr(own, key) if getattr(own, key) is not None else getattr(defaults, key) for key in FORMAT_KEYS}
    )


def read_edge(fields: Fields, key: str) -> Edge | None:
    """The value of a key that is `first` or `last`."""
    word = fields.read(key, read_word(EdgeWord))
    if word is None:
        return None
    return "first" if word is EdgeWord.FIRST else "last"


def _read_words(node: Node, name: str, findings: Findings) -> tuple[str, ...] | None:
    texts = read_texts(node, name, findings)
    return tuple(text.value for text in texts) if texts else None


def _read_dates(node: Node, name: str, findings: Findings) -> tuple[str, ...] | None:
    texts = read_texts(node, name, findings)
    for text in texts or ():
        try:
            tokens(text.value)
        except ValueError as error:
            findings.mistake("date-format", str(error), _DATE_HINT, text.place)
    return tuple(text.value for text in texts) if texts else None


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
