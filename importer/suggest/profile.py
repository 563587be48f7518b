"""The kinds of a sheet's columns, its totals and its problems, for `importer inspect`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice, takewhile

from importer.models import Row
from importer.problems import Column, Problem
from importer.suggest.cell_texts import CLEAR_URL, is_email, is_total
from importer.suggest.columns import ColumnView, Sampler
from importer.suggest.date_forms import fitting_formats
from importer.suggest.header_words import mentions_phone, words_of

_KIND_SHARE = 0.9  # of the filled cells must be of the kind
_DIALED_SHARE = 0.5  # of the values must be clearly phone numbers, if the header is not about phones
_SAMPLES = 3
_PROBLEMS = 20
_FIRST, _MOST_INSTRUCTIONS = 30, 5  # rows
_FOOTER = 6  # rows: a total and notes
_MOST = 0.8  # of them
_A_NAME = 2  # words: Max Muster
_EXAMPLE = frozenset(words_of("example sample Beispiel Muster örnek exemple ejemplo przykład"))
_ABOUT_ROWS = frozenset(words_of("row line delete remove Zeile löschen satır sil ligne fila wiersz"))


class ColumnKind(StrEnum):
    """The likely kind of the values of a column."""

    EMPTY = "empty"
    TEXT = "text"
    E_MAIL = "e-mail"
    PHONE = "phone"
    DATE = "date"
    URL = "URL"
    YES_NO = "yes/no"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column: the number of filled cells, up to three different values, and their likely kind.

    `formats`: the date formats of its cells, in the notation of mapping files, the most frequent first. `ambiguous`:
    any one of them fits all dates, because day and month cannot be distinguished; otherwise all are needed.
    """

    column: Column
    filled: int
    samples: tuple[str, ...]
    kind: ColumnKind
    formats: tuple[str, ...] = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class SheetProfile:
    """A sheet: the number of non-blank rows and of rows with problems, the first problems, and the columns.

    `total`: the number and the first cell of a row at the end that seems to be a total of the others, perhaps with
    notes below it; the problems of these rows do not count.
    `instructions`: the numbers of the rows below the header that seem to be instructions and an example; they are not
    in the columns.
    """

    rows: int
    last_row: int
    rows_with_problems: int
    problems: tuple[Problem, ...]
    views: tuple[ColumnView, ...]
    total: tuple[int, str] | None = None
    instructions: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """The columns with the kinds of their values."""
        return tuple(map(_profile_column, self.views))


def profile_sheet(columns: Sequence[Column], rows: Iterable[Row], header_row: int) -> SheetProfile:
    """Profile a sheet; all rows are read."""
    count, with_problems = 0, 0
    last: deque[Row] = deque(maxlen=_FOOTER)
    problems: list[Problem] = []
    sampler = Sampler(columns)
    rows = iter(rows)
    first = list(islice(rows, _FIRST))
    instructions = _instructions_in(first)
    for row in chain(first, rows):
        if row.number in instructions:
            continue
        count += 1
        last.append(row)
        with_problems += bool(row.problems)
        problems.extend(row.problems[: _PROBLEMS - len(problems)])
        sampler.add(row)
    views = sampler.views()
    ends = ([*last][at:] for at in range(len(last)))
    footer = next((rows for rows in ends if _is_footer(rows, views)), [])
    total = (footer[0].number, _filled(footer[0])[0][1]) if footer else None
    with_problems -= sum(bool(row.problems) for row in footer)
    problems = [problem for problem in problems if not any(problem in row.problems for row in footer)]
    last_row = last[-1].number if last else header_row
    return SheetProfile(count, last_row, with_problems, tuple(problems), views, total, instructions)


def _instructions_in(first: Sequence[Row]) -> tuple[int, ...]:
    """The numbers of the rows before the first e-mail address, if nearly all below have one in its column, and these
    have texts where nearly all below have numbers; and of an example behind them."""
    width = len(first[0].cells) if first else 0
    counts = [sum("@" in row.cells[index] for row in first) for index in range(width)]
    column = max(range(width), key=lambda index: counts[index], default=0)
    above = [*takewhile(lambda row: "@" not in row.cells[column], first)]
    below = first[len(above) :]
    if not 0 < len(above) <= _MOST_INSTRUCTIONS or len(below) < _MOST_INSTRUCTIONS:
        return ()
    with_numbers = [
        index for index in range(width) if sum(_is_number(row, index) for row in below) >= _MOST * len(below)
    ]
    are_texts = all(
        row.cells[column] and any(row.cells[index] for index in with_numbers if index != column) for row in above
    ) and not any(_is_number(row, index) for row in above for index in with_numbers)
    if not are_texts or sum("@" in row.cells[column] for row in below) < _MOST * len(below):
        return ()
    texts = [words_of(cell) for cell in below[0].cells if "@" not in cell and "://" not in cell]
    says_so = [words for words in texts if _EXAMPLE.intersection(words)]
    # One alone may be a job: Sample preparation technician
    is_example = len(says_so) > 1 and max(map(len, says_so)) > _A_NAME
    is_example |= any(_ABOUT_ROWS.intersection(words) for words in says_so)
    return tuple(row.number for row in (*above, *below[:is_example]))


def _is_number(row: Row, index: int) -> bool:
    """Whether a cell is most of all digits: a number, a date or a telephone number."""
    cell = row.cells[index]
    return 0 < len(cell) <= 2 * sum(map(str.isdigit, cell))


def _filled(row: Row) -> list[tuple[int, str]]:
    return [(index, cell.strip()) for index, cell in enumerate(row.cells) if cell.strip()]


def _is_footer(rows: Sequence[Row], views: Sequence[ColumnView]) -> bool:
    """Whether the first cell of these last rows is a word for a total that no other row has, and most others beside it
    are blank, and only notes stand below.
    """
    first, *below = map(_filled, rows)
    index, text = first[0] if first else (0, "")
    is_sparse = 2 * len(first) <= len(rows[0].cells) and not any("@" in cell for _, cell in first)
    are_notes = all(len(cells) == 1 and not is_email(cells[0][1]) for cells in below)
    is_clear = len(rows) == 1 or index == 0 or ":" in text  # a further job may be at the company Total
    is_only = dict(views[index].values).get(text, 1) == 1
    return is_clear and is_total(text) and is_sparse and are_notes and is_only


def _profile_column(one: ColumnView) -> ColumnProfile:
    dates = fitting_formats(one.counts)
    kind = ColumnKind.DATE if dates.formats else _kind_of(one)
    samples = one.texts[:_SAMPLES]
    return ColumnProfile(one.column, one.filled, samples, kind, dates.formats, dates.ambiguous)


def _kind_of(one: ColumnView) -> ColumnKind:
    shares = {
        ColumnKind.PHONE: one.phones if mentions_phone(one.name) or one.dialed >= _DIALED_SHARE else 0.0,
        ColumnKind.E_MAIL: one.emails,
        ColumnKind.URL: one.share(CLEAR_URL.fullmatch),
        ColumnKind.NUMBER: one.numbers,
        ColumnKind.YES_NO: one.yes_no,  # after NUMBER, because 1 and 0 are also words for yes and no
    }
    if not one.total:
        return ColumnKind.EMPTY
    return next((kind for kind, share in shares.items() if share >= _KIND_SHARE), ColumnKind.TEXT)
