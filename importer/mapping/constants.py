"""Tells texts of the mapping file itself (constants, defaults, table targets) that their target cannot take."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from urllib.parse import urlsplit

from importer.mapping.choices import Options
from importer.mapping.findings import Findings
from importer.mapping.model import Constant, Formats, Text, ValueSpec
from importer.mapping.resolved import Kind, Wanted
from importer.text.closest import did_you_mean
from importer.text.dates import FIRST_YEAR, LAST_YEAR
from importer.text.normalize import normalize

YES_WORDS = ("yes", "y", "true", "1", "x", "evet", "e", "ja", "j")
NO_WORDS = ("no", "n", "false", "0", "hayır", "h", "nein")


def check_constants(spec: ValueSpec, wanted: Wanted, formats: Formats, findings: Findings) -> None:
    """Tells each text of the value that would make every row that meets it invalid."""
    if isinstance(spec.source, Constant):
        _check(spec.source.text, wanted, formats, findings)
    if spec.default is not None and spec.default.value.strip():
        for part in _split(spec.default, spec.split):
            _check(part, wanted, formats, findings)
    for entry in spec.table.entries if spec.table else ():
        if entry.target.value.strip():
            _check(entry.target, wanted, formats, findings)
    if spec.table and spec.table.replacement:
        _check(spec.table.replacement, wanted, formats, findings)


def _split(text: Text, sign: str | None) -> list[Text]:
    parts = text.value.split(sign) if sign else [text.value]
    return [Text(part.strip(), text.place) for part in parts if part.strip()]


def _check(text: Text, wanted: Wanted, formats: Formats, findings: Findings) -> None:
    if wanted.kind in (Kind.CHOICE, Kind.CHOICES):
        if wanted.options and Options(wanted.options).find(text.value) is None:
            hint = did_you_mean(text.value, wanted.options)
            findings.mistake("value-no-option", f"'{text}' is no {wanted.noun}", hint, text.place)
        return
    form = _FORMS.get(wanted.kind)
    if form is not None and not form.fits(text.value.strip(), formats):
        findings.mistake("value-unfit", f"'{text}' is no {form.noun}", form.hint, text.place)


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
