"""The text of a cell: made clean, or written from a value that a workbook stores, and what is wrong with it.

Dates are ISO whatever the cell's own format: `3/4/2021` on the screen is ambiguous, the stored date is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from importer.problems import Problem

# --- clean text -------------------------------------------------------------------------------------


# Zero-width characters and direction marks: copying from web pages puts them around phones and e-mails.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
# Not \s as a whole: it holds U+001C to U+001F, control characters that must not go without a word.
_BLANK = rf" \t\n\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_INVISIBLE}"
_OUTER = re.compile(rf"\A[{_BLANK}]+|[{_BLANK}]+\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n?")
_FOLDED = re.compile(r"\s*[\r\n\u2028\u2029]+\s*")


def clean(text: str) -> str:
    """Trim blanks (NBSP and zero-width characters too) outside, keep them inside; line breaks become LF; NFC."""
    if text.isprintable():
        text = text.strip(" ")
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub("\n", text))
    return _OUTER.sub("", unicodedata.normalize("NFC", text))


def header_text(cell: str) -> str:
    """A header cell as one line: a line break inside becomes one space."""
    return _FOLDED.sub(" ", cell)


def shown(text: str, limit: int = 40) -> str:
    """A cell quoted for a message, cut to `limit` characters, control characters as escapes."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


# --- texts that are no values -----------------------------------------------------------------------


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# What a program writes into a CSV for a large number in a column that it shows as 9.05E+11. The digits are gone.
_SHORTENED = re.compile(r"[+-]?\d(?:[.,]\d+)?E\+\d+")
_NARROW = re.compile(r"#{3,}")
# fmt: off
ERROR_TEXTS = frozenset({
    "#N/A", "#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!",
    "#CONNECT!", "#UNKNOWN!", "#GETTING_DATA", "#ERROR!",
    "#YOK", "#BAŞV!", "#AD?", "#DEĞER!", "#SAYI/0!", "#SAYI!", "#BOŞ!",  # the same in Turkish
    "#NV", "#BEZUG!", "#WERT!", "#ZAHL!",  # and in German, where they differ
})
# fmt: on
# What we write where a formula's result was never stored: a blank would say that nothing is there, and a results file
# that is fed back as it is would send it so.
NO_RESULT: Final = "#NO_RESULT!"


def flaw_of(text: str) -> Problem | None:
    """The problem of a cell that holds no value that anybody meant."""
    if text.isprintable():
        if "#" in text and (problem := _spreadsheet_error(text.strip())):
            return problem
        if "E+" in text and _SHORTENED.fullmatch(text.strip()):
            return _shortened(text.strip())
        return _lost_letter(text) if "\ufffd" in text else None
    found = _CONTROL.search(text)
    if found is not None:
        return Problem(
            "control-character",
            f"{shown(text)} contains the control character U+{ord(found[0]):04X}",
            "clear the cell and type it again",
        )
    return _lost_letter(text) if "\ufffd" in text else None


def is_plain(joined: str) -> bool:
    """A quick look at many cells joined in one: whether `clean` would only take blanks off, and none has a flaw."""
    if not joined.isprintable() or "#" in joined or ("+" in joined and "E+" in joined):
        return False
    return joined.isascii() or ("\ufffd" not in joined and unicodedata.is_normalized("NFC", joined))


def error_cell(error: str) -> Problem:
    """The problem of a cell that shows an error."""
    return Problem("cell-error", f"the cell contains the error {error}", "fix the formula or clear the cell")


def formula_without_value() -> Problem:
    """The problem of a formula whose result was never stored: other programs see an empty cell."""
    return Problem(
        "formula-result-missing",
        "the formula has no stored result",
        "open the workbook in a spreadsheet program, save it, then run the same command again",
    )


def _spreadsheet_error(text: str) -> Problem | None:
    if text in ERROR_TEXTS:
        return error_cell(text)
    if text == NO_RESULT:
        hint = "type the value into the cell, or clear the cell"
        return Problem("formula-result-missing", "the cell had a formula without a stored result", hint)
    if _NARROW.fullmatch(text):
        return Problem(
            "cell-too-narrow",
            "the cell contains only ####, which a spreadsheet program shows when a column is too narrow",
            "make the column wider and save the file again",
        )
    return None


def _shortened(text: str) -> Problem:
    return Problem(
        "number-shortened",
        f"{shown(text)} is a shortened number; its digits were lost when the file was saved",
        "in the original, format the column as text or as a number without decimals, then save it again",
    )


def _lost_letter(text: str) -> Problem:
    return Problem(
        "character-lost",
        f"{shown(text)} contains U+FFFD, which another program wrote where it lost a character",
        "type the character again",
    )


# --- number formats ---------------------------------------------------------------------------------


_UNSEEN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].')
_ONLY_ZEROS = re.compile(r"[0 ()/\-+]*0[0 ()/\-+]*")
_PLUS = re.compile(r'(?:\[[^\]]*\])*(?:\\\+|"\+"|\+)')


def changes_text(number_format: str) -> bool:
    """Whether `formatted_number` needs to know this format, so that all other cells can be read without it."""
    section = number_format.split(";")[0]
    bare = _UNSEEN.sub("", section)
    return "%" in bare or (bool(_ONLY_ZEROS.fullmatch(bare)) and (bare.count("0") > 1 or bool(_PLUS.match(section))))


def formatted_number(value: int | float, number_format: str) -> str:
    """A number as its format shows its digits; separators and currency signs are left out, digits never.

    >>> formatted_number(7, "00000"), formatted_number(0.125, "0%"), formatted_number(905321234567, '"+"0')
    ('00007', '12.5%', '+905321234567')
    """
    section = number_format.split(";")[0]
    bare = _UNSEEN.sub("", section)
    if "%" in bare:
        return plain_number(float(Decimal(repr(value)) * 100)) + "%"
    if value != int(value) or not _ONLY_ZEROS.fullmatch(bare):
        return plain_number(value)
    sign = "-" if value < 0 else "+" if _PLUS.match(section) else ""
    return sign + plain_number(abs(value)).zfill(bare.count("0"))


def plain_number(value: int | float) -> str:
    """A number without exponent and without `.0`, to the 15 digits that a spreadsheet keeps.

    >>> plain_number(905321234567.0), plain_number(0.1 + 0.2), plain_number(1e-7)
    ('905321234567', '0.3', '0.0000001')
    """
    text = f"{value:.{_DIGITS}g}"
    if "e" in text:
        text = format(Decimal(text), "f")
    return "0" if text == "-0" else text


def has_lost_digits(value: int | float) -> bool:
    """Whether a stored number has more digits than a spreadsheet keeps: some of them are zeros that nobody typed."""
    return bool(abs(value) >= _PLAIN_NUMBER)


# --- values of a workbook ---------------------------------------------------------------------------


_DIGITS = 15  # what a spreadsheet keeps of a number
_PLAIN_NUMBER = 1e15  # below it, a whole number is its own 15 digits
_MIDNIGHT = time()
Value = str | bool | int | float | datetime | date | time | timedelta


def cell_text(value: Value) -> str:
    """The text of a stored value: no `.0`, no exponent, 15 digits; a time only where there is one."""
    return _WRITERS[type(value)](value)


def _number_text(value: float) -> str:
    return str(int(value)) if -_PLAIN_NUMBER < value < _PLAIN_NUMBER and value.is_integer() else plain_number(value)


class _Known(dict[Any, str]):
    """The texts of values of one type that were met before: dates come again and again, and are slow to write."""

    def __init__(self, write: Callable[[Any], str]) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, value: Any) -> str:
        text = self._write(value)
        if len(self) < 1 << 16:
            self[value] = text
        return text


def _moment_text(value: datetime) -> str:
    value = _whole_second(value)
    return value.isoformat(" ") if value.time() != _MIDNIGHT else value.date().isoformat()


def _time_text(value: time) -> str:
    return _whole_second(datetime.combine(date(2000, 1, 1), value)).time().isoformat()


def _whole_second(value: datetime) -> datetime:
    """Serial numbers are floats: 14:30:00 comes as 14:29:59.999998."""
    return (value + timedelta(microseconds=500_000)).replace(microsecond=0) if value.microsecond else value


def _duration_text(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}"


_WRITERS: dict[type, Callable[[Any], str]] = {
    str: str,
    bool: {True: "TRUE", False: "FALSE"}.__getitem__,
    int: plain_number,
    float: _number_text,
    datetime: _Known(_moment_text).__getitem__,
    date: _Known(date.isoformat).__getitem__,
    time: _Known(_time_text).__getitem__,
    timedelta: _Known(_duration_text).__getitem__,
}
