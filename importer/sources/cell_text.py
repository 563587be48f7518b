"""The text of a cell: cleaned, or written from the value that a workbook stores, and the problems in it.

Dates are written as ISO whatever the cell's format: `3/4/2021` on the screen is ambiguous, the stored date is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from importer.problems import Problem
from importer.text.damage import MAY_BE_DAMAGED, undamaged
from importer.text.results_cells import CUT_NOTE

# --- clean text -------------------------------------------------------------------------------------


# Zero-width characters and direction marks: text copied from web pages has them around phone numbers and e-mails.
# Not U+202E: it shows the text after it in reverse.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202d\u2060\u2066-\u2069\ufeff"
# Not \s: it contains U+001C to U+001F, control characters that must be reported.
_BLANK = rf" \t\n\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_INVISIBLE}"
_OUTER = re.compile(rf"\A[{_BLANK}]+|[{_BLANK}]+\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n?|\v")  # VT: that of word processors and databases, and to Unicode
_FOLDED = re.compile(r"\s*[\r\n\u2028\u2029]+\s*")


def clean(text: str) -> str:
    """The text without outer blanks (including NBSP and zero-width characters), line breaks as LF, in NFC."""
    if text.isprintable():
        text = text.strip(" ")
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub("\n", text))
    return _OUTER.sub("", unicodedata.normalize("NFC", text))


def header_text(cell: str) -> str:
    """A header cell as one line: a line break inside becomes one space."""
    return _FOLDED.sub(" ", cell)


def width_of(cells: Sequence[str]) -> int:
    """The number of cells up to the last that is not empty."""
    width = len(cells)
    while width and not cells[width - 1]:
        width -= 1
    return width


def quoted(text: str, limit: int = 40) -> str:
    """A cell quoted for a message, cut to `limit` characters, control characters as escapes."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


# --- texts that are not values ----------------------------------------------------------------------


_CONTROL = re.compile(r"[\x00-\x08\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# What spreadsheet programs write into a CSV for a large number that they show as 9.05E+11. The digits are lost.
_SHORTENED = re.compile(r"[+-]?\d(?:[.,]\d+)?E\+\d+")
_NARROW = re.compile(r"#{3,}")
# fmt: off
ERROR_TEXTS = frozenset({
    "#N/A", "#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!",
    "#CONNECT!", "#UNKNOWN!", "#GETTING_DATA", "#ERROR!",
    "#YOK", "#BAŞV!", "#AD?", "#DEĞER!", "#SAYI/0!", "#SAYI!", "#BOŞ!",  # Turkish
    "#NV", "#BEZUG!", "#WERT!", "#ZAHL!",  # German, where it differs
})
# fmt: on
# Written for a formula without a stored result. A blank would look like an empty cell, and would be sent as one when
# the results file is imported again.
NO_RESULT: Final = "#NO_RESULT!"


def find_problem(text: str) -> Problem | None:
    """The problem in a cell's text, None if it is fine.

    An error, a shortened number, a wrong encoding, a lost or a control character, or a text that report.xlsx has cut.
    """
    if CUT_NOTE in text:
        return _cut()
    if not text.isascii() and (meant := undamaged(text)):
        message = f"{quoted(text)} was read in a wrong encoding by another program; it was probably {quoted(meant)}"
        return Problem("text-damaged", message, "correct it, or export the file again as UTF-8")
    if text.isprintable():
        if "#" in text and (problem := _spreadsheet_error(text.strip())):
            return problem
        if "E+" in text and _SHORTENED.fullmatch(text.strip()):
            return _shortened(text.strip())
        return _lost_character(text) if "\ufffd" in text else None
    found = _CONTROL.search(text)
    if found is not None:
        message = f"{quoted(text)} contains the control character U+{ord(found[0]):04X}"
        hint = "clear the cell and type it again"
        return Problem("control-character", message, hint)
    return _lost_character(text) if "\ufffd" in text else None


def is_plain(joined: str) -> bool:
    """A quick check of many joined cells: whether `clean` would only strip blanks, and no cell has a problem."""
    if not joined.isprintable() or "#" in joined or ("+" in joined and "E+" in joined) or CUT_NOTE in joined:
        return False
    is_clean = "\ufffd" not in joined and unicodedata.is_normalized("NFC", joined)
    return joined.isascii() or (is_clean and not MAY_BE_DAMAGED.search(joined))


# How Row writes a workbook's numbers, dates, times and booleans. Row never writes 45.000, which may mean 45 thousand.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


def is_canonical(text: str) -> bool:
    """Whether a text has the format in which Row writes values."""
    return bool(_CANONICAL.fullmatch(text.removesuffix("%")))


def error_cell(error: str) -> Problem:
    """The problem of a cell that shows an error."""
    return Problem("cell-error", f"the cell contains the error {error}", "fix the formula or clear the cell")


def _spreadsheet_error(text: str) -> Problem | None:
    if text in ERROR_TEXTS:
        return error_cell(text)
    if text == NO_RESULT:
        hint = "type the value into the cell, or clear the cell"
        return Problem("formula-result-missing", "the cell had a formula without a stored result", hint)
    if _NARROW.fullmatch(text):
        message = "the cell contains only ####, which a spreadsheet program shows when a column is too narrow"
        hint = "make the column wider and save the file again"
        return Problem("cell-too-narrow", message, hint)
    return None


def _shortened(text: str) -> Problem:
    digits, _, exponent = text.partition("E+")
    if len(digits.replace(",", ".").partition(".")[2]) >= int(exponent):
        message = f"{quoted(text)} is a number in scientific notation"
        return Problem("number-shortened", message, f"write it in full: {plain_number(float(text.replace(',', '.')))}")
    message = f"{quoted(text)} is a shortened number; its digits were lost when the file was saved"
    hint = "in the original, format the column as text or as a number without decimals, then save it again"
    return Problem("number-shortened", message, hint)


def _cut() -> Problem:
    message = "the text is cut: a cell of a workbook does not hold all of it"
    hint = (
        "fix and import the file that has the full text (the CSV file beside report.xlsx, or your own file); or type "
        "the text again"
    )
    return Problem("cell-cut", message, hint)


def _lost_character(text: str) -> Problem:
    message = f"{quoted(text)} contains U+FFFD, which another program wrote where it lost a character"
    hint = "type the character again"
    return Problem("character-damaged", message, hint)


# --- numbers --------------------------------------------------------------------------------------


def plain_number(value: int | float) -> str:
    """A number without exponent and without `.0`, with the 15 digits that a spreadsheet stores.

    >>> plain_number(905321234567.0), plain_number(0.1 + 0.2), plain_number(1e-7)
    ('905321234567', '0.3', '0.0000001')
    """
    text = format(value, ".15g")
    if "e" in text:
        text = format(Decimal(text), "f")
    return "0" if text == "-0" else text


def lost_digits(value: int | float) -> Problem | None:
    """The problem of a number with more digits than a spreadsheet stores: the last ones have been replaced by zeros."""
    if abs(value) < _PLAIN_NUMBER:
        return None
    message = f"{plain_number(value)} has more than 15 digits, of which a spreadsheet keeps 15"
    hint = "in the original, format the column as text, then export it again; or type the number as text"
    return Problem("digits-lost", message, hint)


# --- values of a workbook ---------------------------------------------------------------------------


_PLAIN_NUMBER = 1e15  # whole numbers below have at most 15 digits
_MIDNIGHT = time()
Value = str | bool | int | float | datetime | date | time | timedelta


def cell_text(value: Value) -> str:
    """The text of a stored value: numbers without `.0` or exponent, with 15 digits; no time of day at midnight."""
    return WRITERS[type(value)](value)


def _number_text(value: float) -> str:
    return str(int(value)) if -_PLAIN_NUMBER < value < _PLAIN_NUMBER and value.is_integer() else plain_number(value)


def _datetime_text(value: datetime) -> str:
    value = value.replace(microsecond=0)  # 23:59:59.999 is of its day
    return value.isoformat(" ") if value.time() != _MIDNIGHT else value.date().isoformat()


def _time_text(value: time) -> str:
    return value.replace(microsecond=0).isoformat()


def _duration_text(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}"


_cached = lru_cache(1 << 16)  # dates repeat often and are slow to format
WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    str: str,
    bool: {True: "TRUE", False: "FALSE"}.__getitem__,
    int: plain_number,
    float: _number_text,
    datetime: _cached(_datetime_text),
    date: _cached(date.isoformat),
    time: _cached(_time_text),
    timedelta: _cached(_duration_text),
}
