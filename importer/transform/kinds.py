"""Chooses the reader of a text by the kind of value that the service wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from importer.mapping import Kind, ResolvedValue
from importer.models import WireFormat
from importer.transform.choices import choice_reader
from importer.transform.dates import date_reader
from importer.transform.documents import read_cv, read_document
from importer.transform.emails import read_email
from importer.transform.names import read_name
from importer.transform.numbers import decimal_reader, integer_reader
from importer.transform.phones import phone_reader
from importer.transform.refusal import Refusal
from importer.transform.texts import read_line, read_text
from importer.transform.urls import read_url
from importer.transform.yes_no import flag_reader, yes_no_reader

TextReader = Callable[[str, bool], str | Refusal]

_PLAIN: dict[Kind, TextReader] = {
    Kind.TEXT: read_text,
    Kind.LINE: read_line,
    Kind.NAME: read_name,
    Kind.EMAIL: read_email,
    Kind.URL: read_url,
    Kind.DOCUMENT: read_document,
    Kind.CV: read_cv,
}
_BUILT: dict[Kind, Callable[[ResolvedValue], TextReader]] = {
    Kind.PHONE: phone_reader,
    Kind.DATE: date_reader,
    Kind.INTEGER: integer_reader,
    Kind.DECIMAL: decimal_reader,
    Kind.CHOICE: choice_reader,
    Kind.CHOICES: choice_reader,  # of each of the choices
}
# The texts of all other kinds occur again and again, so that what was read once is remembered.
SELDOM_REPEATED = frozenset({Kind.TEXT, Kind.EMAIL, Kind.PHONE, Kind.URL, Kind.DOCUMENT, Kind.CV})


def reader_of(value: ResolvedValue, wire: WireFormat) -> Callable[[str, bool], Any]:
    """The reader of one text, which takes the text and whether a workbook keeps it as a number, date or boolean.

    It returns a text, for `Kind.FLAG` a boolean, or a Refusal.
    """
    kind = value.field.kind
    if kind is Kind.FLAG:
        return flag_reader(value)
    if kind is Kind.YES_NO:
        return yes_no_reader(value, wire.yes_no)
    return _PLAIN[kind] if kind in _PLAIN else _BUILT[kind](value)
