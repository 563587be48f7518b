"""Restores the values of a results file that a spreadsheet program saved in another format, if the format is proven.

A program that opens `2021-03-04` may save it as `3/4/2021` or `04.03.2021`. The original source shows what each cell
was. A cell that has only one reading, equal to its original value, proves the format of its column.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from importer.extract.cell_text import clean
from importer.extract.csv_file import CsvFile, unescape_formula
from importer.extract.opening import results_file
from importer.extract.sheet import ReadingLimits, Sheet, is_canonical
from importer.extract.source_file import SourceCopy, replace_copy
from importer.extract.table import added_columns, open_table
from importer.models import IMPORT_COLUMNS, TYPED_COLUMN, SourceOptions
from importer.problems import Column, UnusableInput
from importer.text.normalize import normalize

if TYPE_CHECKING:
    import _csv

_DATE = re.compile(
    r"([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{1,4})"
    r"(?:[ ,]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?: ?([ap])\.?m\.?)?)?",
    re.IGNORECASE,
)
_ORDERS = {"year first": (0, 1, 2), "day first": (2, 1, 0), "month first": (2, 0, 1)}  # positions of year, month, day
_SEPARATORS = [
    (decimal, thousands) for decimal in ".," for thousands in ("", ".", ",", " ", "'") if decimal != thousands
]
_NUMBERS = {
    separators: re.compile(
        rf"([+-]?)([0-9]+|[0-9]{{1,3}}(?:{re.escape(separators[1])}[0-9]{{3}})+)"
        rf"(?:{re.escape(separators[0])}([0-9]+))?(%?)"
    )
    for separators in _SEPARATORS
}
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
_TRUE = frozenset(
    map(normalize, ("true", "wahr", "vrai", "doğru", "verdadero", "vero", "verdadeiro", "waar", "prawda"))
)
_FALSE = frozenset(map(normalize, ("false", "falsch", "faux", "yanlış", "falso", "onwaar", "fałsz")))
_NOT_A_WORD = re.compile(r"[\d#]")  # #### is a column that is too narrow
# Of a date: its order, and its separator with the padding of month and day. Of a number: its separators. Or "words".
Format = tuple[str, str]


def restore_values(copy: SourceCopy, original: Callable[[], Sheet], limits: ReadingLimits) -> SourceCopy:
    """The private copy of a results file, with all values of a proven format written as Row writes them.

    `original` opens the source of the run that wrote the file. Other values stay as they are and are reported when the
    file is read. A word that replaced a number or date was typed by a person: it is no longer listed as a value.
    """
    try:
        return _restored(copy, original, limits)
    except (csv.Error, UnusableInput):  # opening the file reports it
        return copy


def _restored(copy: SourceCopy, original: Callable[[], Sheet], limits: ReadingLimits) -> SourceCopy:
    file = results_file(copy.path, copy.path.name, limits)
    table = _Table.of(file) if file else None
    changed = {place: text for row in table.rows() for place, text in row.changed.items()} if table else {}
    if table is None or not changed:
        return copy
    before = _original_texts(original(), table.columns, {row for row, _ in changed})
    formats = {column.index: _proven_formats(column.index, changed, before) for column in table.columns}
    with tempfile.TemporaryFile(dir=copy.path.parent) as content:
        text = io.TextIOWrapper(content, table.file.survey.encoding.codec, newline="", write_through=True)
        writer = csv.writer(text, delimiter=table.file.delimiter)
        writer.writerow(table.header)
        writer.writerows(row.restored(table, formats, before) for row in table.rows())
        text.detach().seek(0)
        return replace_copy(copy, content)


@dataclass(frozen=True, slots=True)
class _Table:
    """A results file that lists which of its cells were values, and which source row each row comes from."""

    file: CsvFile
    header: list[str]
    columns: tuple[Column, ...]
    row_at: int
    types_at: int

    @classmethod
    def of(cls, file: CsvFile) -> _Table | None:
        with _reading(file) as reader:
            header = next(reader)
        first = len(header) - added_columns(header)
        if not {IMPORT_COLUMNS[0], TYPED_COLUMN} <= set(header[first:]):
            return None
        columns = open_table(file.source(), SourceOptions()).columns
        return cls(file, header, columns, header.index(IMPORT_COLUMNS[0], first), header.index(TYPED_COLUMN, first))

    def rows(self) -> Iterator[_Row]:
        with _reading(self.file) as reader:
            next(reader)
            for cells in reader:
                yield self._row(cells)

    def _row(self, cells: list[str]) -> _Row:
        if len(cells) < len(self.header):
            return _Row(cells, {})
        listed, row = set(cells[self.types_at].split()), cells[self.row_at]
        texts = {
            column.index: clean(unescape_formula(cells[column.index]))
            for column in self.columns
            if column.letter in listed
        }
        return _Row(cells, {(row, index): text for index, text in texts.items() if text and not is_canonical(text)})


_Place = tuple[str, int]  # the text of import_row, and a column index


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the file, and those of its values that are in another format now."""

    cells: list[str]
    changed: dict[_Place, str]

    def restored(self, table: _Table, formats: dict[int, frozenset[Format]], before: dict[_Place, str]) -> list[str]:
        cells = list(self.cells)
        for place, text in self.changed.items():
            values = {value for each, value in _readings(text).items() if each in formats[place[1]]}
            if len(values) == 1:
                cells[place[1]] = values.pop()
            elif before.get(place, "TRUE") not in ("TRUE", "FALSE") and not _NOT_A_WORD.search(text):
                letter = table.columns[place[1]].letter
                listed = cells[table.types_at].split()
                cells[table.types_at] = " ".join(one for one in listed if one != letter)
        return cells


@contextmanager
def _reading(file: CsvFile) -> Iterator[_csv.Reader]:
    csv.field_size_limit(file.cell_limit)
    with file.path.open(encoding=file.survey.encoding.codec, newline="") as lines:
        yield csv.reader(lines, delimiter=file.delimiter, strict=True)


def _original_texts(sheet: Sheet, columns: Sequence[Column], rows: set[str]) -> dict[_Place, str]:
    """The original texts of the values in these rows; empty if the columns have changed."""
    if [column.name for column in sheet.columns] != [column.name for column in columns]:
        return {}
    found: dict[_Place, str] = {}
    for row in sheet.rows():
        if (number := str(row.number)) in rows:
            found |= {(number, index): row.cells[index] for index in row.typed if is_canonical(row.cells[index])}
    return found


def _proven_formats(column: int, changed: dict[_Place, str], before: dict[_Place, str]) -> frozenset[Format]:
    """The formats that agree with every cell that proves one; empty if no cell does."""
    proven: frozenset[Format] | None = None
    for place, text in changed.items():
        readings = _readings(text) if place[1] == column and place in before else {}
        if set(readings.values()) == {before[place]} if readings else False:
            proven = frozenset(readings) if proven is None else proven & frozenset(readings)
    return proven or frozenset()


@lru_cache(maxsize=65_536)
def _readings(text: str) -> dict[Format, str]:
    """The values of a text, as Row writes them, by possible format. Two-digit years have no reading."""
    word = normalize(text)
    if word in _TRUE or word in _FALSE:
        return {("words", ""): "TRUE" if word in _TRUE else "FALSE"}
    if date := _DATE.fullmatch(text):
        return dict(_dates(date))
    text = text.translate(_SPACES)
    return {separators: _number(match) for separators, each in _NUMBERS.items() if (match := each.fullmatch(text))}


def _dates(match: re.Match[str]) -> Iterator[tuple[Format, str]]:
    parts = (match[1], match[3], match[4])
    hour, minute, second = (int(part or 0) for part in match.group(5, 6, 7))
    if match[8]:
        hour = hour % 12 + (12 if match[8] in "pP" else 0)
    for order, (year, month, day) in _ORDERS.items():
        if len(parts[year]) == 4 and len(parts[month]) <= 2 and len(parts[day]) <= 2:
            try:
                moment = datetime(int(parts[year]), int(parts[month]), int(parts[day]), hour, minute, second)
            except ValueError:
                continue
            value = moment.isoformat(" ").removesuffix(" 00:00:00")
            padded = ((len(part) == 2,) if int(part) < 10 else (True, False) for part in (parts[month], parts[day]))
            yield from (((order, f"{match[2]} {style}"), value) for style in product(*padded))


def _number(match: re.Match[str]) -> str:
    sign, whole, decimals, percent = match.groups(default="")
    number = Decimal(f"{'-' if sign == '-' else ''}{re.sub('[^0-9]', '', whole)}.{decimals or 0}")
    text = f"{number:f}"
    return f"{sign if sign == '+' else ''}{text.rstrip('0').removesuffix('.')}{percent}"
