"""A column of stored values as the texts that a person sees, many cells at a time: a large sheet holds millions."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from math import isnan

from importer.extract.cell_flaws import may_hold_flaw
from importer.extract.cell_text import Value, cell_text, writer_of
from importer.extract.clean_text import clean
from importer.extract.joined_cells import SEPARATOR, Cells, is_joined, joined, taken_apart
from importer.extract.number_format import has_lost_digits

_PLAIN = 1e15  # below it, a whole number is its own 15 digits
# What no text in ASCII holds that needs a second look, but for the separator, which is counted, and "E+".
_CARE = bytes(code for code in (*range(0x20), 0x7F, ord("#")) if chr(code) != SEPARATOR)


@dataclass(frozen=True, slots=True)
class ColumnText:
    """The texts of some cells of one column.

    `typed` says which the workbook keeps as a number, date or boolean: all, none, or one byte for each cell.
    `suspects` are the positions and texts that `flaw_of` must see, `lost_digits` is the position of the first number
    with too many.
    """

    cells: Cells
    typed: bool | bytes
    suspects: Sequence[tuple[int, str]] = ()
    lost_digits: int | None = None


def column_text(values: Sequence[Value]) -> ColumnText:
    """The texts of a column's values, of which there is at least one; "" for an empty cell."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return _of_texts(values)  # type: ignore[arg-type]  # all are str
    if kinds == {float}:
        return _of_numbers(values)  # type: ignore[arg-type]  # all are float
    if len(kinds) == 1:
        return _of_others(values, kinds.pop())
    return _of_mixed(values)


def _of_texts(values: Sequence[str]) -> ColumnText:
    text = joined(map(str.strip, values, repeat(" ")))
    if is_joined(text, len(values)) and _is_plain(text):
        return ColumnText(text, False)
    texts = list(map(clean, values))
    return ColumnText(texts, False, _suspects(values, texts))


def _is_plain(text: str) -> bool:
    """Whether all texts that are joined in one are clean and without flaw."""
    if text.isascii():
        return len(text.encode().translate(None, _CARE)) == len(text) and not ("+" in text and "E+" in text)
    bare = text.replace(SEPARATOR, "")
    return not may_hold_flaw(bare) and unicodedata.is_normalized("NFC", text)


def _of_numbers(values: Sequence[float]) -> ColumnText:
    if min(values) <= -_PLAIN or max(values) >= _PLAIN or isnan(sum(values)):
        return ColumnText(joined(map(cell_text, values)), True, lost_digits=_lost_digits(values))
    if all(map(float.is_integer, values)):
        return ColumnText(_joined_as("%d", len(values)) % tuple(values), True)
    text = _joined_as("%.15g", len(values)) % tuple(values)
    if "e" in text or ("-0" in text and "-0" in taken_apart(text)):
        text = joined(map(cell_text, values))
    return ColumnText(text, True)


@cache
def _joined_as(form: str, count: int) -> str:
    """The form that writes so many numbers at once: the fastest way, and there are millions."""
    return joined([form] * count)


def _of_others(values: Sequence[Value], kind: type) -> ColumnText:
    lost_digits = _lost_digits(values) if kind is int else None
    return ColumnText(joined(map(writer_of(kind), values)), True, lost_digits=lost_digits)


def _of_mixed(values: Sequence[Value]) -> ColumnText:
    texts = [clean(value) if isinstance(value, str) else cell_text(value) for value in values]
    typed = bytes([type(value) is not str for value in values])
    return ColumnText(texts, typed, _suspects(values, texts), _lost_digits(values))


def _suspects(values: Sequence[Value], texts: Sequence[str]) -> list[tuple[int, str]]:
    return [(at, texts[at]) for at, value in enumerate(values) if isinstance(value, str) and may_hold_flaw(value)]


def _lost_digits(values: Sequence[Value]) -> int | None:
    kinds = (int, float)
    return next((at for at, value in enumerate(values) if type(value) in kinds and has_lost_digits(value)), None)  # type: ignore[arg-type]  # a number
