"""Texts that are no values: control characters, lost letters, a spreadsheet's errors, numbers without their digits."""

from __future__ import annotations

import re
from typing import Final

from importer.extract.clean_text import shown
from importer.models import Problem

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
            f"{shown(text)} holds the control character U+{ord(found[0]):04X}",
            "clear the cell and type it again",
        )
    return _lost_letter(text) if "\ufffd" in text else None


def may_hold_flaw(text: str) -> bool:
    """A quick look at many cells joined: whether `flaw_of` need be asked at all."""
    return not text.isprintable() or "#" in text or ("+" in text and "E+" in text) or "\ufffd" in text


def error_cell(error: str) -> Problem:
    """The problem of a cell that shows an error."""
    return Problem("error-cell", f"the cell holds the error {error}", "mend the formula or clear the cell")


def formula_without_value() -> Problem:
    """The problem of a formula whose result was never stored: other programs see an empty cell."""
    return Problem(
        "formula-without-value",
        "the formula has no stored result",
        "open the workbook in a spreadsheet program, save it and run again",
    )


def _spreadsheet_error(text: str) -> Problem | None:
    if text in ERROR_TEXTS:
        return error_cell(text)
    if text == NO_RESULT:
        hint = "write the value in its place, or clear the cell"
        return Problem("formula-without-value", "a formula stood here whose result was not stored", hint)
    if _NARROW.fullmatch(text):
        return Problem(
            "cell-too-narrow",
            "the cell holds only ####, which a spreadsheet program shows in a column that is too narrow",
            "make the column wider and save the file again",
        )
    return None


def _shortened(text: str) -> Problem:
    return Problem(
        "digits-cut",
        f"{shown(text)} is a number whose digits were lost when the file was saved",
        "format the column as text or as a number without decimals in the original and save it again",
    )


def _lost_letter(text: str) -> Problem:
    return Problem(
        "letter-lost",
        f"{shown(text)} holds U+FFFD, the sign that another program left where it lost a letter",
        "type the letter again",
    )
