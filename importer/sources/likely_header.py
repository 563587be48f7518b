"""The likeliest header among the first rows of a table: a name stands above values and is none itself.

Where no row is surely one, none is found: the message asks for `header_row:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count, takewhile

from importer.problems import Problem
from importer.sources.sheet import CellProblem, Layout, Record
from importer.text.normalize import normalize_name

_BODY = 30  # rows below a possible header that are compared with it
_LATER = 0.001  # what each row further down costs
_GAP = 0.1  # what a blank row between a header and its rows costs
_WIDE_ABOVE = 0.1  # what each row right above costs that is about as wide
_USUAL_SHARE = 0.5  # of the columns that have a name; a title or a note fills fewer
_NAME = 0.2  # what a name above texts says
_NUMBER = re.compile(r"[-+(]?[\d][\d\s.,()/:%+-]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+")
_NOTE = re.compile(r"[^:]+:\s*\S.*", re.DOTALL)  # above a table: `Stand: 20.11.2026`
_DISTINCT = 4  # names, of which more may occur again: Round, Date, Result, Round, Date, Result
_PLACEHOLDER = re.compile(r"(?:column|unnamed: ?|sütun|spalte|colonne|columna)\s?\d+", re.IGNORECASE)


def likely_header_rows(records: Sequence[Record], searched: int) -> tuple[Record, ...]:
    """The likeliest header, one row or two; none if no row of the first `searched` ones looks like a header.

    records: the rows that are not blank.
    """
    *_, second, widest = sorted([0, 0, *(record.width for record in records)])
    width = second if second > 1 else widest  # one row may have a stray cell
    scores = [_score(records, position, width) - _LATER * position for position in range(searched)]
    if not scores or max(scores) <= 0:
        return _without_rows(records)
    best = scores.index(max(scores))
    for upper in (best - 1, best):
        if 0 <= upper < len(records) - 1 and _is_upper_row(records[upper], records[upper + 1 :]):
            return tuple(records[upper : upper + 2])
    return (records[best],)


def _without_rows(records: Sequence[Record]) -> tuple[Record, ...]:
    """The last row, if it names columns below titles and notes: the form has not been filled in."""
    *others, last = records or [Record(1, ())]
    is_wide = all(2 * other.filled <= last.filled for other in others)
    return (last,) if last.filled and is_wide and _may_be_header(last) and not has_values(last) else ()


def has_values(record: Record) -> bool:
    """Whether a row has a number, a date or an address, as rows below a header have."""
    return any(_is_value(record, index) for index in range(record.width))


def _score(records: Sequence[Record], position: int, usual: int) -> float:
    """The mean of its columns, each from -1 (a value) to 1 (a name above values), the surer the more rows follow."""
    record, below = records[position], records[position + 1 :][:_BODY]
    if not below or not _may_be_header(record):
        return -1.0
    body = [one for one in _together(record.number, below, 1) if one.cells != record.cells]
    gap = 0.0 if body else _GAP
    body = body or list(below)
    width = max(record.width, usual)
    contrast = sum(_contrast(record, index, _below(body, index)) for index in range(width)) / width
    sparse = max(0.0, _USUAL_SHARE - record.filled / width)
    above = _together(record.number, reversed(records[:position]), -1)
    wide = _WIDE_ABOVE * min(3, sum(4 * other.filled >= 3 * record.filled for other in above))
    return contrast * len(body) / (len(body) + 3) - 2 * sparse - wide - gap


def _together(number: int, records: Iterable[Record], step: int) -> list[Record]:
    """The rows after or before a row, up to the next blank one."""
    numbers = count(number + step, step)
    return list(takewhile(lambda other: other.number == next(numbers), records))


def _may_be_header(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    if any(map(_ADDRESS.fullmatch, cells)) or all(map(_PLACEHOLDER.fullmatch, cells)):
        return False
    return len({cell.casefold() for cell in cells}) >= min(_DISTINCT, len(cells) / 2)


def _contrast(record: Record, index: int, below: Sequence[Record]) -> float:
    """How much a cell differs from the filled ones below it."""
    cell = record.cell(index)
    if not cell or not below or any(each.index == index for each in record.problems):
        return 0.0
    if _is_value(record, index):
        return -1.0
    if 2 * sum(_is_value(other, index) for other in below) >= len(below):
        return 1.0
    texts = {other.cells[index] for other in below}
    return -0.5 if cell in texts and len(texts) > 1 else _NAME  # a box may be ticked with the name of its column


def _below(body: Sequence[Record], index: int) -> list[Record]:
    return [record for record in body if record.cell(index)]


def _is_value(record: Record, index: int) -> bool:
    """Whether a cell is a number, a date, or an e-mail or web address."""
    cell = record.cell(index)
    forms = (_NUMBER, _DATE, _ADDRESS)
    return bool(cell) and (index in record.typed or any(form.fullmatch(cell) for form in forms))


def _is_upper_row(upper: Record, below: Sequence[Record]) -> bool:
    """Whether the row names groups of columns, and the next row the columns: `Person | | School |` above them.

    A group has one name, or the same name again, above several column names; the two rows name every column of values.
    """
    lower, rows = below[0], below[1 : _BODY + 1]
    if not rows or lower.number != upper.number + 1 or upper.filled < 2 or has_values(upper) or has_values(lower):
        return False
    width = max(upper.width, lower.width)
    above, names = ([record.cell(index) for index in range(width)] for record in (upper, lower))
    groups = any(
        names[index] and (above[index] == above[index - 1] if above[index] else any(above[:index]))
        for index in range(1, width)
    )
    filled = {index: _below(rows, index) for index in range(width)}
    values = [index for index in filled if 2 * sum(_is_value(row, index) for row in filled[index]) > len(filled[index])]
    own = [names[index].casefold() for index in filled if filled[index]]
    if any(map(_NOTE.fullmatch, upper.cells)) and all(own) and len({*own}) == len(own):  # the lower row says it all
        return False
    spanned = any(above[index] and not names[index] and len(filled[index]) == len(rows) > 1 for index in filled)
    named = all(names[index] or above[index] for index in values)
    return groups and named and (spanned or any(names[index] for index in values))


# --- the header again -----------------------------------------------------------------------------

# Names of columns that exports of people have: another export may have names of its own.
_EMAIL = re.compile("e?mail(?:address)?|eposta|correo(?:electr[oó]nico)?|courriel")
_USUAL = re.compile(
    f"{_EMAIL.pattern}|ad|(?:first|given|last|sur|family|full|vor|nach)name|pr[eé]nom|nombre|apellidos?|"
    "adi|soyadi?|imię|nazwisko|имя|фамилия"
)
_REPEATED = CellProblem(None, Problem("filtered", "this row repeats the header, so it is not read as a candidate"))
_normalized = lru_cache(1 << 14)(normalize_name)


def mark_repeated_header(records: Iterable[Record], layout: Layout) -> Iterator[Record]:
    """The records; a row that repeats the header has a problem, and from a row with its names in another order on, all
    have one, as their cells would be read as those of other columns."""
    names, first = [_normalized(each.lower or each.name) for each in layout.columns], layout.origin.first
    has_usual = any(map(_USUAL.fullmatch, names))
    below: CellProblem | None = None
    for record in records:
        cells = record.cells[first : first + len(names)]
        is_below = record.number > layout.header_row and "@" not in "".join(cells)
        words = {at: _normalized(cell) for at, cell in enumerate(cells) if len(cell) > 1} if is_below else {}
        known = [word for word in words.values() if word in names or (has_usual and _USUAL.fullmatch(word))]
        # No address is called E-mail: one other name is enough beside it.
        is_sure = any(_EMAIL.fullmatch(names[at]) and _EMAIL.fullmatch(word) for at, word in words.items())
        is_header = len(known) > 1 and (is_sure or 2 * len(known) >= len(words))
        if is_header and not has_values(replace(record, cells=cells)):
            other = _below_second_header(record)
            below = None if all(names[at] == word for at, word in words.items()) else CellProblem(None, other)
            yield replace(record, problems=(*record.problems, below or _REPEATED))
        elif below is None or any(problem.index is None for problem in record.problems):
            yield record
        else:
            yield replace(record, problems=(*record.problems, below))


def _below_second_header(record: Record) -> Problem:
    names = ", ".join(repr(cell) for cell in record.cells if cell)[:60]
    message = (
        f"row {record.number} looks like the header of a second table ({names}), so its rows are not read as this one"
    )
    hint = "put it and the rows below into a file of their own"
    return Problem("second-table", message, hint)
