"""Reads document IDs: of files that were uploaded before."""

from __future__ import annotations

import re

from importer.transform.refusal import Refusal, quoted
from importer.transform.texts import read_text

_TOKEN = re.compile(r"[!-~]{1,200}")
_NUMBER = re.compile(r"[0-9]{1,30}")
_HINT = "give the ID of an uploaded document, one for each row"


def read_document(text: str, typed: bool) -> str | Refusal:
    """A document ID of an answer: an integer or numeric text (service description 2.2)."""
    number = _without_fraction(text, typed)
    if not _NUMBER.fullmatch(number):
        return Refusal("document-unreadable", f"{quoted(text)} is no document ID", _HINT)
    return number


def read_cv(text: str, typed: bool) -> str | Refusal:
    """A document ID of a CV: any one token in ASCII, for it is a string (service description 4.2)."""
    token = _without_fraction(text, typed)
    if not _TOKEN.fullmatch(token):
        return Refusal("document-unreadable", f"{quoted(text)} is no document ID", _HINT)
    return read_text(token, typed)


def _without_fraction(text: str, typed: bool) -> str:
    return text.removesuffix(".0") if typed else text
