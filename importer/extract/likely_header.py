"""The likeliest header among the first rows of a table.

Each sign fails somewhere, so several are taken together: a name stands above values and is none itself, it does not
occur again below, and the row is as wide as the table. Above and beside a table there may be titles, notes, totals and
other tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import count, pairwise, takewhile

from importer.extract.sheet import CellProblem, Layout, Record
from importer.problems import Problem
from importer.text.normalize import normalize_name

_BODY = 30  # rows below a possible header that are compared with it
_ALIKE = 0.6  # the share of the best score that the header of another table has
_LATER = 0.01  # what each row further down costs
_GAP = 0.1  # what a blank row between a header and its rows costs
_WIDE_ABOVE = 0.1  # what each row right above costs that is about as wide
_USUAL_SHARE = 0.5  # of the columns that have a name; a title or a note fills fewer
_NUMBER = re.compile(r"[-+(]?[\d][\d\s.,()/:%+-]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+")
_DISTINCT = 4  # names, of which more may occur again: Round, Date, Result, Round, Date, Result
_WHOLE = re.compile(r"\d+")
_RISING = 5  # numbers that rise by chance once in 60 rows
_YEAR = re.compile(r"(?:19|20)\d\d")
_NOTE = re.compile(r"[^:]+:(?:\D*\d){4}")  # Date: 10/03/2024
_PLACEHOLDER = re.compile(r"(?:column|unnamed: ?|sütun|spalte|colonne|columna)\s?\d+", re.IGNORECASE)
_TECHNICAL = re.compile(r"[a-z0-9]+(?:[_.:-][a-z0-9]+)+|[a-z]+[A-Z]\w*|=?[A-Z]{1,2}|\d{1,3}|\w+\(\d+\)")


def likely_header_rows(records: Sequence[Record], searched: int) -> tuple[Record, ...]:
    """The likeliest header, one row or two; none if no row of the first `searched` ones looks like a header.

    records: the rows that are not blank.
    """
    width = _usual_width(records)
    scores = [_score(records, position, width) - _LATER * position for position in range(searched)]
    best = max(range(searched), key=lambda position: scores[position], default=0)
    if not searched or scores[best] + _LATER * best <= 0:
        return _without_rows(records)
    # Of two tables, the first, unless the other is wider.
    alike = (at for at in range(best) if scores[at] >= _ALIKE * scores[best])
    best = next((at for at in alike if records[at].filled >= records[best].filled), best)
    if not _is_above_people(records, best):
        people = [at for at in range(searched) if scores[at] > 0 and _is_above_people(records, at)]
        best = max(people, key=lambda position: scores[position], default=best)
    best = _human_names(records, best)
    for upper in (best - 1, best):
        if 0 <= upper < len(records) - 1 and _is_upper_row(records[upper], records[upper + 1 :]):
            return tuple(records[upper : upper + 2])
    return (records[best],)


def _is_above_people(records: Sequence[Record], position: int) -> bool:
    """Whether the rows below, to the next blank one, have e-mail addresses: a table of counts has none."""
    block = _block(records[position], records[position + 1 :])
    return any("@" in cell and _ADDRESS.fullmatch(cell) for record in block for cell in record.cells)


def _without_rows(records: Sequence[Record]) -> tuple[Record, ...]:
    """The last row, if it names columns below titles and notes: the form has not been filled in."""
    if not records or not _may_be_header(last := records[-1]):
        return ()
    is_wide = all(2 * other.filled <= last.filled for other in records[:-1])
    return (last,) if is_wide and not has_values(last) else ()


def has_values(record: Record) -> bool:
    """Whether a row has a number, a date or an address, as rows below a header have."""
    return any(_is_value(record, index) for index in range(record.width))


# --- how much a row looks like a header -----------------------------------------------------------


def _usual_width(records: Sequence[Record]) -> int:
    """The width of the widest rows, but for one, which may have a stray cell."""
    *_, second, widest = sorted([0, *(record.width for record in records)]) if records else (0, 0)
    return second if second > 1 else widest


def _score(records: Sequence[Record], position: int, usual: int) -> float:
    """The mean of its columns, each from -1 (a value of this column) to 1 (a name above values)."""
    record, below = records[position], records[position + 1 :][:_BODY]
    if not below or not _may_be_header(record):
        return -1.0
    body, series = _block(record, below), _numbered(record, below)
    gap = 0.0 if body else _GAP
    body = body or list(below)
    width = max(record.width, usual)
    contrast = sum(_contrast(record, index, _below(body, index), index in series) for index in range(width)) / width
    sparse = max(0.0, _USUAL_SHARE - record.filled / width)
    block = _block_above(records[:position], record.number)
    data = 1.0 if _follows_data(block, body) else 0.0
    wide = _WIDE_ABOVE * min(3, sum(4 * other.filled >= 3 * record.filled for other in block))
    return contrast * len(body) / (len(body) + 3) - 2 * sparse - gap - data - wide


def _block_above(above: Sequence[Record], number: int) -> list[Record]:
    """The rows above a row, up to the next blank one."""
    numbers = count(number - 1, -1)
    return list(takewhile(lambda other: other.number == next(numbers), reversed(above)))


def _block(record: Record, below: Sequence[Record]) -> list[Record]:
    """The rows down to the first blank one, without those that repeat the row."""
    numbers = count(record.number + 1)
    block = takewhile(lambda other: other.number == next(numbers), below)
    return [other for other in block if other.cells != record.cells]


def _may_be_header(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    if any(map(_ADDRESS.fullmatch, cells)) or all(map(_PLACEHOLDER.fullmatch, cells)):
        return False
    return len({cell.casefold() for cell in cells}) >= min(_DISTINCT, len(cells) / 2)


def _contrast(record: Record, index: int, below: Sequence[Record], numbered: bool) -> float:
    """How much a cell differs from the filled ones below it."""
    cell = _cell(record, index)
    if not cell or not below:
        return 0.0
    values = sum(_is_value(other, index) for other in below) / len(below)
    if numbered or (_YEAR.fullmatch(cell) and values < 0.5):
        return 0.2
    if _is_value(record, index):
        return -1.0
    if values >= 0.5:
        return 1.0
    return -0.5 if cell in {other.cells[index] for other in below} else 0.2


def _below(body: Sequence[Record], index: int) -> list[Record]:
    return [record for record in body if index < len(record.cells) and record.cells[index]]


def _is_value(record: Record, index: int) -> bool:
    """Whether a cell is a number, a date, or an e-mail or web address."""
    cell = _cell(record, index)
    forms = (_NUMBER, _DATE, _ADDRESS)
    return bool(cell) and (index in record.typed or any(form.fullmatch(cell) for form in forms))


def _numbered(record: Record, below: Sequence[Record]) -> frozenset[int]:
    """The indexes of years, dates or three or more whole numbers in a series, such as 2019, 2020, 2021; no series is
    above years or dates as well."""
    columns = [index for index, cell in enumerate(record.cells) if _is_value(record, index) and _WHOLE.match(cell)]
    numbers = [tuple(map(int, _WHOLE.findall(record.cells[index]))) for index in columns]
    ordered = all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))
    if all(map(_YEAR.match, (record.cells[index] for index in columns))):
        others = [_below(below, index) for index in columns]
        alike = [2 * sum(bool(_YEAR.match(one.cells[index])) for one in rows) > len(rows)
                 for index, rows in zip(columns, others, strict=True) if rows]  # fmt: skip
        return frozenset(columns if ordered and len(columns) > 1 and 2 * sum(alike) <= len(alike) else ())
    steps = {later[0] - earlier[0] for earlier, later in pairwise(numbers)}
    is_rising = ordered and len(columns) >= _RISING and not any(_rises(other, columns) for other in below)
    return frozenset(columns if len(columns) > 2 and (steps in ({1}, {-1}) or is_rising) else ())


def _rises(record: Record, columns: Sequence[int]) -> bool:
    """Whether the numbers of a row rise or fall too, as those of a row above data would."""
    numbers = [tuple(map(int, _WHOLE.findall(_cell(record, index)))) for index in columns]
    return all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))


def _follows_data(above: Sequence[Record], body: Sequence[Record]) -> bool:
    """Whether rows right above have values in the columns where the rows below have them: then all of them are data."""
    columns = _value_columns(body)
    usual = sorted(other.filled for other in body)[len(body) // 2]
    alike = [
        record
        for record in above
        if record.filled >= 0.75 * usual and 2 * sum(_is_value(record, index) for index in columns) > len(columns)
    ]
    has_address = any(map(_ADDRESS.fullmatch, (_cell(one, index) for one in alike for index in columns)))
    return bool(columns) and (has_address or len(alike) > 2)


def _value_columns(rows: Sequence[Record]) -> list[int]:
    """The columns of which most filled cells are values."""
    width = max((record.width for record in rows), default=0)
    below = {index: _below(rows, index) for index in range(width)}
    return [
        index
        for index, filled in below.items()
        if filled and 2 * sum(_is_value(record, index) for record in filled) > len(filled)
    ]


def _cell(record: Record, index: int) -> str:
    return record.cells[index] if index < len(record.cells) else ""


# --- two rows of names ----------------------------------------------------------------------------


def _human_names(records: Sequence[Record], best: int) -> int:
    """Of rows of names, one below the other, the first for a person: not names of a program, letters or numbers."""
    while _is_technical(records[best]) and _are_names_together(records, best):
        best += 1
    while best and _are_names_together(records, best - 1) and not _is_technical(records[best - 1]):
        best -= 1
    return best


def _are_names_together(records: Sequence[Record], upper: int) -> bool:
    """Whether a row and the next have names in all columns of values, one about as many as the other."""
    if upper + 2 >= len(records):
        return False
    above, names, below = records[upper], records[upper + 1], records[upper + 2 :][:_BODY]
    values = _value_columns(below)
    return (
        names.number == above.number + 1
        and _may_be_header(above)
        and _may_be_header(names)
        and min(above.filled, names.filled) > 0.75 * max(above.filled, names.filled)
        and bool(values)
        and all(_cell(row, index) and not _is_value(row, index) for row in (above, names) for index in values)
    )


def _is_technical(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    return 2 * sum(bool(_TECHNICAL.fullmatch(cell)) for cell in cells) > len(cells)


def _is_upper_row(upper: Record, below: Sequence[Record]) -> bool:
    """Whether the row names groups of columns, and the next row the columns: `Person | | School |` above them.

    A group has one name, or the same name again, above several column names; and in the columns of values the next row
    has names.
    """
    lower, rows = below[0], below[1 : _BODY + 1]
    if not rows or lower.number != upper.number + 1 or upper.filled < 2:
        return False
    if not (_may_name_groups(upper, rows) and _may_name_groups(lower, rows)):
        return False
    width = max(upper.width, lower.width)
    above, names = ([_cell(record, index) for index in range(width)] for record in (upper, lower))
    groups = any(
        names[index] and (above[index] == above[index - 1] if above[index] else any(above[:index]))
        for index in range(1, width)
    )
    values = [index for index in _value_columns(rows) if index < width]
    spanned = any(
        above[index] and not names[index] and len(_below(rows, index)) == len(rows) > 1 for index in range(width)
    )
    named = all(names[index] or above[index] for index in values)
    filled = [name for name in names if name]
    repeated = len(set(filled)) < len(filled) and not values  # Speaking | Writing | Speaking | Writing
    return groups and named and (spanned or repeated or any(names[index] for index in values))


def _may_name_groups(record: Record, rows: Sequence[Record]) -> bool:
    cells = {index for index, cell in enumerate(record.cells) if cell} - _numbered(record, rows)
    values = sum(_is_value(record, index) for index in cells)
    is_note = any(map(_ADDRESS.fullmatch, record.cells)) or any(map(_NOTE.match, record.cells))
    return 3 * values <= len(cells) and not is_note


# --- a second table below -------------------------------------------------------------------------


def mark_second_table(records: Iterable[Record], head: Sequence[Record], header_row: int) -> Iterator[Record]:
    """The records; those from the header of a second table on have a problem, since their columns are others.

    Such a header comes after a blank row. It has names in the columns of values, or its table has nothing in them, and
    the row below it has a value in another column than the rows of the first table. head: the first records.
    """
    columns = set(_value_columns([record for record in head if record.number > header_row and record.width]))
    problem: Problem | None = None
    last, rest = header_row, iter(records)
    after: Record | None = None
    while (record := after or next(rest, None)) is not None:
        after = None
        if any(record.cells):
            if problem is None and record.number > last + 1 > header_row + 1 and columns:
                after = next(rest, None)
                if after is not None and _begins_table(record, after, columns):
                    problem = _below_second_header(record)
            last = record.number
        yield record if problem is None else replace(record, problems=(*record.problems, CellProblem(None, problem)))


def _begins_table(record: Record, after: Record, columns: Set[int]) -> bool:
    names_values = any(_cell(record, index) for index in columns) or not any(_cell(after, index) for index in columns)
    others = any(
        _is_value(after, index) and _cell(record, index) for index in range(after.width) if index not in columns
    )
    is_header = record.filled > 1 and not has_values(record) and after.number == record.number + 1
    return is_header and names_values and others


def _below_second_header(record: Record, hint: str = "") -> Problem:
    names = ", ".join(repr(cell) for cell in record.cells if cell)[:60]
    message = (
        f"row {record.number} looks like the header of a second table ({names}), so its rows are not read as this one"
    )
    hint = hint or (
        "put the second table into a file of its own, or end this one with stop_at: under source: in the mapping; if "
        "there is one table only, delete the blank row above"
    )
    return Problem("second-table", message, hint)


# --- the header again -----------------------------------------------------------------------------

# Names of columns that exports of people have: another export may have names of its own.
_USUAL = re.compile(
    "e?mail|emailaddress|eposta|correo|(?:first|given|last|sur|family|full|vor|nach)name|pr[eé]nom|nombre|apellidos?|"
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
        if len(known) > 1 and 2 * len(known) >= len(words) and not has_values(replace(record, cells=cells)):
            other = _below_second_header(record, "put it and the rows below into a file of their own")
            below = None if all(names[at] == word for at, word in words.items()) else CellProblem(None, other)
            yield replace(record, problems=(*record.problems, below or _REPEATED))
        elif below is None or any(problem.index is None for problem in record.problems):
            yield record
        else:
            yield replace(record, problems=(*record.problems, below))
