"""A column of stored values as the texts that a person sees, many cells at a time: a large sheet holds millions."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from importer.extract.cell_flaws import may_hold_flaw
from importer.extract.cell_text import Value, cell_text, writer_of
from importer.extract.clean_text import clean
from importer.extract.number_format import has_lost_digits

_PLAIN = 1e15  # below it, a whole number is its own 15 digits


@dataclass(frozen=True, slots=True)
class ColumnText:
    """The texts of some cells of one column.

    `typed` says which the workbook keeps as a number, date or boolean: all, none, or one byte for each cell.
    `suspects` are the positions whose text `flaw_of` must see, `lost_digits` that of the first number with too many.
    """

    texts: list[str]
    typed: bool | bytes
    suspects: Sequence[int] = ()
    lost_digits: int | None = None


def column_text(values: Sequence[Value]) -> ColumnText:
    """The texts of a column's values, "" for an empty cell."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return _of_texts(values)  # type: ignore[arg-type]  # all are str
    if kinds == {float}:
        return _of_numbers(values)  # type: ignore[arg-type]  # all are float
    if len(kinds) == 1:
        return ColumnText(list(map(writer_of(kinds.pop()), values)), True, lost_digits=_lost_digits(values))
    return _of_mixed(values)


def _of_texts(values: Sequence[str]) -> ColumnText:
    joined = "".join(values)
    if not may_hold_flaw(joined) and unicodedata.is_normalized("NFC", joined):
        return ColumnText(list(map(str.strip, values)), False)
    suspects = [at for at, value in enumerate(values) if may_hold_flaw(value)]
    return ColumnText(list(map(clean, values)), False, suspects)


def _of_numbers(values: Sequence[float]) -> ColumnText:
    if min(values) <= -_PLAIN or max(values) >= _PLAIN or isnan(sum(values)):
        return ColumnText(list(map(cell_text, values)), True, lost_digits=_lost_digits(values))
    if all(map(float.is_integer, values)):
        return ColumnText(list(map(str, map(int, values))), True)
    texts = ["%.15g" % value for value in values]  # noqa: UP031  # the fastest way, and there are millions
    if "e" in "".join(texts) or "-0" in texts:
        texts = list(map(cell_text, values))
    return ColumnText(texts, True)


def _of_mixed(values: Sequence[Value]) -> ColumnText:
    texts = [clean(value) if isinstance(value, str) else cell_text(value) for value in values]
    typed = bytes([type(value) is not str for value in values])
    suspects = [at for at, value in enumerate(values) if isinstance(value, str) and may_hold_flaw(value)]
    return ColumnText(texts, typed, suspects, _lost_digits(values))


def _lost_digits(values: Sequence[Value]) -> int | None:
    kinds = (int, float)
    return next((at for at, value in enumerate(values) if type(value) in kinds and has_lost_digits(value)), None)  # type: ignore[arg-type]  # a number
