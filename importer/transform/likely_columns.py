"""Warnings about columns whose values are likely not what was meant: counted row by row, known after the last row."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from importer.mapping import NUMBERS, Kind, ResolvedValue
from importer.models import Row
from importer.problems import CellPlace, Problem
from importer.text.damage import NULL_OR_ANSWER, NULL_WORDS
from importer.text.normalize import normalize, stripped
from importer.transform.phones import is_mobile, region_of
from importer.transform.texts import in_mapping, quoted

_FEWEST: Final = 20  # values; a share of fewer proves nothing
_SHOWN: Final = 3  # cells in a message
_MOST_IDS: Final = 50_000  # that are compared; memory does not grow with the file
_FEWEST_NAMED, _SHARE_NAMED = 3, 0.1  # numbers that name another country, and their share
_NO_DIGIT: Final = re.compile(r"[^+\d]+")


def place_of(value: ResolvedValue, row: Row) -> CellPlace:
    """The first filled cell of a value."""
    column = next((column for column in value.columns if stripped(row.cells[column.index])), value.columns[0])
    return row.place(column)


@dataclass(slots=True)
class Cells:
    """A number of cells, of which the first are kept."""

    count: int = 0
    first: list[CellPlace] = field(default_factory=list)

    @classmethod
    def all_of(cls, several: Sequence[Cells]) -> Cells:
        first = sorted((place for cells in several for place in cells.first), key=lambda place: place.row)
        return cls(sum(cells.count for cells in several), first[:_SHOWN])

    def add(self, value: ResolvedValue, row: Row) -> None:
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(place_of(value, row))

    @property
    def others(self) -> str:
        """What a message says after the first cell: `, also C31, C40 and 7 more`; in a CSV the rows."""
        in_sheet = self.first[0].origin.sheet is not None
        rest = [place.address if in_sheet else f"row {place.row}" for place in self.first[1:]]
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return f", also {', '.join(rest)}{more}" if rest else ""


def counters_of(value: ResolvedValue, email: ResolvedValue) -> Iterator[_Magnitudes | _Documents | _Declined]:
    """What counts the texts that are sent of this value. email: of the candidate."""
    if value.field.kind is Kind.FLAG:
        yield _Declined(value)
    if value.field.kind in NUMBERS:
        yield _Magnitudes(value)
    if value.field.kind in (Kind.CV, Kind.DOCUMENT):
        yield _Documents(value, email)


# --- numbers a thousand times too large or too small ------------------------------------------------

_STEPS: Final = 4  # of a power of ten
_FAR, _GAP = 3 * _STEPS, _STEPS  # a thousand times the median, and ten times away from any other number
_OUTLIERS: Final = 0.05  # more are no mistakes, but another kind of number


class _Magnitudes:
    """Counts numbers by their order of magnitude."""

    def __init__(self, value: ResolvedValue) -> None:
        self._value = value
        self._cells: defaultdict[int, Cells] = defaultdict(Cells)

    def add(self, text: str, row: Row) -> None:
        if number := abs(float(text)):
            self._cells[math.floor(_STEPS * math.log10(number))].add(self._value, row)

    def of_file(self) -> Iterator[Problem]:
        total = sum(cells.count for cells in self._cells.values())
        steps = sorted(self._cells)
        below = 0
        for median in steps:
            below += self._cells[median].count
            if 2 * below >= total:
                break
        else:
            return
        yield from self._far([step for step in steps if step >= median + _FAR], steps, total, "larger")
        yield from self._far([step for step in steps if step <= median - _FAR], steps, total, "smaller")

    def _far(self, far: list[int], steps: list[int], total: int, which: str) -> Iterator[Problem]:
        cells = Cells.all_of([self._cells[step] for step in far])
        is_alone = all(abs(step - other) >= _GAP for step in far for other in steps if other not in far)
        if not far or total < _FEWEST or cells.count > _OUTLIERS * total or not is_alone:
            return
        message = f"the number is about 1,000 times {which} than the median of its column{cells.others}"
        hint = "correct it, or check decimal: and thousands: " + in_mapping(self._value.place)
        yield Problem("number-far-off", message, hint, cells.first[0])


# --- document IDs that lost digits -------------------------------------------------------------------


class _Documents:
    """Finds shorter numbers among IDs that zeros make equally long: a spreadsheet program removed their zeros. And few
    that are one of the others with one digit less; and those of several candidates.
    """

    def __init__(self, value: ResolvedValue, email: ResolvedValue) -> None:
        self._value, self._email = value, email
        self._known: dict[str, str] = {}  # whose it is
        self._repeated, self._of_several, self._total = Cells(), "", 0
        self._with_zeros: dict[int, str] = {}  # the first one of each length
        self._others: defaultdict[int, Cells] = defaultdict(Cells)
        self._ranges: dict[int, tuple[int, int]] = {}  # the smallest and the largest of each length
        self._few: defaultdict[int, list[tuple[str, Row]]] = defaultdict(list)

    def add(self, text: str, row: Row) -> None:
        self._total += 1
        person = "".join(row.cells[column.index].strip().casefold() for column in self._email.columns)
        if self._known.get(text, person) != person:
            self._repeated.add(self._value, row)
            self._of_several = self._of_several or text
        elif len(self._known) < _MOST_IDS:
            self._known[text] = person
        if text.isdecimal() and text.startswith("0"):
            self._with_zeros.setdefault(len(text), text)
        elif text.isdecimal():
            self._others[len(text)].add(self._value, row)
            low, high = self._ranges.get(len(text), (int(text), int(text)))
            self._ranges[len(text)] = min(low, int(text)), max(high, int(text))
            if len(self._few[len(text)]) < _FEWEST:
                self._few[len(text)].append((text, row))

    def of_file(self) -> Iterator[Problem]:
        if 0 < 2 * self._repeated.count <= self._total > 2:  # else it is meant to be the document of all
            message = f"'{self._of_several}' is the document of a row above, too{self._repeated.others}"
            hint = (
                "give each candidate a document of their own; if one is for all, set it as {value: ID} in the mapping"
            )
            yield Problem("document-id-repeated", message, hint, self._repeated.first[0])
        shorter = [cells for length, cells in self._others.items() if length < max(self._with_zeros, default=0)]
        if len(self._with_zeros) == 1 and shorter and max(self._others) <= max(self._with_zeros):
            (example,) = self._with_zeros.values()
            cells = Cells.all_of(shorter)
            message = f"the document ID is shorter than '{example}': its leading zeros are probably lost{cells.others}"
            hint = "type it with its zeros, in a cell with the format Text"
            yield Problem("document-id-shorter", message, hint, cells.first[0])
        total = sum(cells.count for cells in self._others.values())
        usual = max(self._others, key=lambda length: self._others[length].count, default=0)
        low, high = self._ranges.get(usual, (0, 0))
        lacking, is_rare = Cells(), self._others[usual - 1].count <= _OUTLIERS * total and total >= _FEWEST
        for text, row in self._few[usual - 1] if is_rare else ():
            with_digit = (int(text[:at] + digit + text[at:]) for at in range(len(text) + 1) for digit in "0123456789")
            if any(low <= number <= high for number in with_digit):  # others are of another time: they grow
                lacking.add(self._value, row)
        if lacking.count and not self._with_zeros:
            message = f"the document ID has one digit less than nearly all others, such as {low}{lacking.others}"
            yield Problem("document-id-shorter", message, "check that none is missing", lacking.first[0])


# --- terms of use that were not accepted -------------------------------------------------------------


class _Declined:
    """Counts the candidates who have not accepted the terms of use. They are sent, as the file says."""

    def __init__(self, value: ResolvedValue) -> None:
        self._value, self._cells = value, Cells()

    def add(self, text: str, row: Row) -> None:
        if text == "False":
            self._cells.add(self._value, row)

    def of_file(self) -> Iterator[Problem]:
        if cells := self._cells.first:
            message = f"the terms of use are not accepted{self._cells.others}"
            hint = "such rows are sent; to leave them out, use where: under source: in the mapping"
            yield Problem("cells-doubtful", message, hint, cells[0])


# --- phone numbers of another country -----------------------------------------------------------------


class Countries:
    """Finds numbers without a country code that are mobile numbers of another country that the column names, not of
    the one of the mapping: `0555 000 00 03` is a valid number in Germany too.
    """

    def __init__(self, value: ResolvedValue) -> None:
        self._value, self._index = value, value.columns[0].index
        self._named: Counter[str] = Counter()  # by the first digits after +
        self._local: defaultdict[str, Cells] = defaultdict(Cells)  # by the form
        self._examples: dict[str, str] = {}

    def add(self, row: Row) -> None:
        if not (dialled := _NO_DIGIT.sub("", row.cells[self._index])):
            return
        if dialled.startswith(("+", "00")):
            key = f"+{dialled.lstrip('+0')[:4]}"
            self._named[key] += 1
        else:
            key = f"{len(dialled)} {dialled[:3]}"
            self._local[key].add(self._value, row)
        self._examples.setdefault(key, dialled)

    def of_file(self) -> Iterator[Problem]:
        own, named = self._value.formats.region, Counter[str]()
        for key, count in self._named.items() if own and self._local else ():
            named[region_of(f"+{self._examples[key].lstrip('+0')}")] += count
        kinds = {key: is_mobile(self._examples[key], own) for key in self._local if own and named}
        mobile = sum(cells.count for key, cells in self._local.items() if kinds.get(key))
        total = named.total() + sum(cells.count for cells in self._local.values())
        for region, count in named.items():
            if not region or region == own or count < max(_FEWEST_NAMED, _SHARE_NAMED * total):
                continue
            theirs = [key for key in self._local if is_mobile(self._examples[key], region) and not kinds[key]]
            cells = Cells.all_of([self._local[key] for key in theirs])
            # It is a column of mobile numbers, and not of landlines.
            if 0 < cells.count <= mobile + named.total() - named[own or ""]:
                message = f"read as a number of {own}, but probably a mobile number of {region}{cells.others}"
                yield Problem("cells-doubtful", message, "write it with + and the country code", cells.first[0])


# --- cells that a program changed, or filled in ----------------------------------------------------

_FEWEST_TIMES, _LONGEST_ODD, _MOST_PLAIN = 5, 40, 1_000
_OLD: Final = re.compile(r".*(?<!\d)190\d(?!\d).*")  # nobody living has such a date
_EPOCH: Final = re.compile(r"(?:1970-01-01|1969-12-31|1970[./]0?1[./]0?1|0?1([./-])0?1\1(?:19)?70)(?:[T ].*)?")
# From 13:00 on, it is midnight of the next day elsewhere. 23:59 and 23:59:59 are the end of a day.
_TIME: Final = re.compile(
    r".*\d[T ](?!23:59(?:$|:59|:00))((?:1[3-9]|2\d):\d\d(?::\d\d)?)[.\d]*\s?(?:Z|[+-]\d\d:?\d\d)?"
)
_SHORT_DATE: Final = re.compile(r"\d{1,2}[-. ](?![a-z])[^\W\d_]{3,4}\.?|(?![a-z])[^\W\d_]{3,4}[-. ]\d{2}")  # 1-Feb
_RANGE: Final = re.compile(r"\d+\s?(?:[-–]\s?\d+|\+)")
_MISSING: Final = "correct it, or add it under missing:"
_SHIFTED: Final = "may be midnight in another time zone, as all times of this column: then the day is one too early"
_SAYS: Final = {  # by the first word of what is odd
    "shifted": (_SHIFTED, "export dates without a time, or in your time zone"),
    "unknown": ("probably stands for an unknown date", _MISSING),
    "empty": ("is what programs write for an empty cell, and it is sent", _MISSING),
    "changed": ("in a column of texts is probably what a spreadsheet program made of 1-2", "type it again as text"),
}


class Doubtful:
    """Counts the cells of a value that has one column, by what is odd in them."""

    def __init__(self, value: ResolvedValue) -> None:
        self._value, self._index, self._kind = value, value.columns[0].index, value.field.kind
        self._filled = 0
        self._plain: set[str] = set()  # texts that are not odd
        self._odd: defaultdict[str, Cells] = defaultdict(Cells)
        self._examples: dict[str, str] = {}
        self._times: set[str] = set()

    def add(self, row: Row) -> None:
        cell = row.cells[self._index]
        if cell in self._plain and not row.typed:  # as most are
            self._filled += 1
            return
        if not (text := stripped(cell)):
            return
        self._filled += 1
        odd = _odd(text, self._index in row.typed, self._kind) if len(text) < _LONGEST_ODD else None
        if not odd and len(cell) < _LONGEST_ODD and len(self._plain) < _MOST_PLAIN:
            self._plain.add(cell)
        if odd and normalize(text) not in self._value.missing and not self._value.table:
            if odd[0].isdigit():
                self._times.add(odd)
                odd = "shifted"
            self._odd[odd].add(self._value, row)
            self._examples.setdefault(odd, text)

    def of_file(self) -> Iterator[Problem]:
        count = {odd: cells.count for odd, cells in self._odd.items()}
        hours = sorted(int(time[:2]) for time in self._times)
        is_one_time = len({time[2:] for time in self._times}) == 1 and hours[-1] - hours[0] <= 1
        for odd, is_doubtful in (
            ("unknown", True),
            ("unknown, or 1970", count.get("unknown, or 1970", 0) >= max(2, self._filled / 1000)),
            ("shifted", is_one_time and count["shifted"] >= max(_FEWEST_TIMES, 0.9 * self._filled)),
            ("changed", "range" in count or 3 * count.get("changed", 0) <= 2 * self._filled),
            ("changed, or a date", "range" in count),
            ("empty", True),
            ("empty, or an answer", "empty" in count),
        ):
            if odd in count and is_doubtful:
                says, hint = _SAYS[odd.partition(",")[0]]
                message = f"{quoted(self._examples[odd])} {says}{self._odd[odd].others}"
                place = f" {in_mapping(self._value.place)}" if hint.endswith(":") else ""
                yield Problem("cells-doubtful", message, hint + place, self._odd[odd].first[0])


@lru_cache(maxsize=1 << 14)
def _odd(text: str, typed: bool, kind: Kind) -> str | None:
    """What is odd in the cell of a date, a name or a text; of a date, the time of an evening."""
    if kind is Kind.DATE:
        if _OLD.fullmatch(text) or _EPOCH.fullmatch(text):
            return "unknown" if _OLD.fullmatch(text) else "unknown, or 1970"
        return time[1] if (time := _TIME.fullmatch(text)) else None
    if (word := normalize(text)) in NULL_WORDS and not (kind is Kind.NAME and text.istitle()):
        return "empty"
    if kind is Kind.NAME:
        return None
    if typed and (":" in text or "-" in text[1:] or text in ("TRUE", "FALSE")):
        return "changed"
    if word in NULL_OR_ANSWER:
        return "empty, or an answer"
    return "changed, or a date" if _SHORT_DATE.fullmatch(text) else "range" if _RANGE.fullmatch(text) else None
