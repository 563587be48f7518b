"""Warnings about rows that can be sent, but whose values are likely not what was meant.

One pass in bounded memory. Each detector is conservative: ordinary data must give no warning.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from importer.mapping import (
    Kind,
    Otherwise,
    ResolvedEntries,
    ResolvedMapping,
    ResolvedTable,
    ResolvedValue,
)
from importer.models import Application, PoolCandidate, Row
from importer.problems import CellPlace, Column, LinePlace, Problem
from importer.text.normalize import normalize
from importer.transform.candidates import FirstRows, hidden_key
from importer.transform.row import Invalid, transform_row
from importer.transform.texts import in_mapping, quoted, stripped
from importer.transform.values import ValueReader

DOMAIN_MISTYPED: Final = "email-domain-mistyped"
"""A warning about a row, which may be found only after the last row."""
_FEWEST: Final = 20  # values; a share of fewer proves nothing
_SHOWN: Final = 3  # cells in a message

Texts = Mapping[int | str, str | None]  # what is sent, by the ID of the question or the name of the field


class Seen(NamedTuple):
    """What the detectors need to know of a row that can be sent, and the warnings that need no other row."""

    texts: Texts
    warnings: tuple[Problem, ...]

    @property
    def name(self) -> str:
        return f"{self.texts['first_name']}\0{self.texts['last_name']}"


class LikelyErrors:
    """Looks at each row that can be sent."""

    def __init__(self, mapping: ResolvedMapping, people: FirstRows) -> None:
        """`people`: stores the first row of each person; empty."""
        values = tuple(_values(mapping))
        varying = [(key, value) for key, value in values if _must_vary(value)]
        self._otherwise = _Otherwise(mapping)
        self._domains = _Domains(mapping.candidate["email"])
        self._people = _People(varying, mapping.candidate["email"], people)
        self._answers: list[tuple[int | str, _SameForAll | _Magnitudes]] = [
            (key, _SameForAll(value)) for key, value in varying if value.default is None
        ]
        self._answers += [(key, _Magnitudes(value)) for key, value in values if value.field.kind in _NUMBERS]
        self._dropped = [_Dropped(value, mapping) for _, value in values if _can_drop_cells(value)]
        self._looked_at = frozenset(key for key, _ in (*varying, *self._answers))

    def look(self, row: Row, body: Application | PoolCandidate) -> Seen:
        """Look at one row by itself; remembers nothing, so that another process can do it."""
        texts: dict[int | str, str | None] = {"first_name": body.first_name, "last_name": body.last_name}
        if isinstance(body, Application):
            for answer in body.answers:
                asked = answer.job_post_question
                key = asked if isinstance(asked, int) else asked["id"]
                if key in self._looked_at:
                    texts[key] = answer.answer
        return Seen(texts, (*body.left_out, *self._otherwise.of_row(row)))

    def of_row(self, row: Row, email: str, seen: Seen) -> tuple[Problem, ...]:
        """The warnings about the next row, each at its cell; answers that are left out among them."""
        for key, column in self._answers:
            if (text := seen.texts.get(key)) is not None:
                column.add(text, row)
        for one in self._dropped:
            one.add(row)
        found = [*seen.warnings, *self._domains.of_row(row, email), *self._people.of_row(row, seen.texts)]
        return tuple([replace(problem, severity="warning") for problem in found])

    def of_file(self) -> tuple[Problem, ...]:
        """The warnings about the file as a whole, after its last row."""
        columns = [column for _, column in self._answers]
        return tuple(problem for one in (*columns, *self._dropped, self._domains) for problem in one.of_file())


def _values(mapping: ResolvedMapping) -> Iterator[tuple[int | str, ResolvedValue]]:
    """Each value that is read from columns, by the key of what is sent; entries are left out."""
    for name, value in mapping.candidate.items():
        if value.columns:
            yield name, value
    for answer in mapping.answers:
        if isinstance(answer.content, ResolvedValue) and answer.content.columns:
            yield answer.question.id, answer.content


def _place(value: ResolvedValue, row: Row) -> CellPlace:
    """The first filled cell of a value."""
    column = next((column for column in value.columns if stripped(row.cells[column.index])), value.columns[0])
    return row.place(column)


@dataclass(slots=True)
class _Cells:
    """A number of cells, of which the first are kept."""

    count: int = 0
    first: list[CellPlace] = field(default_factory=list)

    def add(self, value: ResolvedValue, row: Row) -> None:
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(_place(value, row))

    @property
    def others(self) -> str:
        """What a message says after the first cell: `, also C31, C40 and 7 more`; in a CSV the rows."""
        in_sheet = self.first[0].origin.sheet is not None
        rest = [f"{p.column.letter if p.column else ''}{p.row}" if in_sheet else f"row {p.row}" for p in self.first[1:]]
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return f", also {', '.join(rest)}{more}" if rest else ""


# --- a value given by `otherwise` -----------------------------------------------------------------

_Tables = dict[LinePlace, ResolvedTable]  # by the place of their value, which a problem names too


class _Otherwise:
    """Reads the row as with `otherwise: error`: what would be a problem then is a value given by `otherwise`."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        self._tables: _Tables = {}
        candidate = {name: _strict(value, self._tables) for name, value in mapping.candidate.items()}
        answers = []
        for answer in mapping.answers:
            tables: _Tables = {}
            content = _strict(answer.content, tables)
            if tables:  # the others need not be read again
                answers.append(replace(answer, content=content, leave_out=False))
                self._tables |= tables
        self._mapping = replace(mapping, candidate=candidate, answers=tuple(answers), filters=())

    def of_row(self, row: Row) -> Iterator[Problem]:
        if not self._tables or not isinstance(result := transform_row(row, self._mapping), Invalid):
            return
        for problem in result.problems:
            if problem.unread and (table := self._tables.get(problem.unread.setting)):
                is_blank = table.otherwise is Otherwise.BLANK
                effect = "leaves it blank" if is_blank else f"gives {quoted(table.replacement or '')}"
                hint = f"if that is wrong, add it under values: {in_mapping(table.place)}"
                yield Problem("otherwise-used", f"{problem.message}, so otherwise: {effect}", hint, problem.place)


def _strict(content: ResolvedValue | ResolvedEntries, tables: _Tables) -> Any:
    """The same with `otherwise: error`, also in lookups and entries; `tables` gets the tables that change by it."""
    if isinstance(content, ResolvedEntries):
        sources = []
        for source in content.sources:
            groups = [{name: _strict(value, tables) for name, value in group.items()} for group in source.groups]
            sources.append(replace(source, groups=tuple(groups)))
        return replace(content, sources=tuple(sources))
    if content.lookup:
        return replace(content, lookup=replace(content.lookup, value=_strict(content.lookup.value, tables)))
    if content.table is None or content.table.otherwise not in (Otherwise.BLANK, Otherwise.VALUE):
        return content
    tables[content.place] = content.table
    return replace(content, table=replace(content.table, otherwise=Otherwise.ERROR))


# --- one answer for nearly all rows ---------------------------------------------------------------

_SAME_SHARE: Final = 0.9


def _must_vary(value: ResolvedValue) -> bool:
    """Whether few people have the same: a name, a phone number, a date of birth."""
    return value.field.kind in (Kind.NAME, Kind.PHONE) or value.field.is_birth


class _SameForAll:
    """Counts the most common of the first answers."""

    def __init__(self, value: ResolvedValue) -> None:
        self._value = value
        self._first: Counter[str] = Counter()
        self._common = ""
        self._count = self._same = 0
        self._place: CellPlace | None = None

    def add(self, text: str, row: Row) -> None:
        self._count += 1
        if self._count <= _FEWEST:
            self._place = self._place or _place(self._value, row)
            self._first[text] += 1
            ((self._common, self._same),) = self._first.most_common(1)
        elif text == self._common:
            self._same += 1

    def of_file(self) -> Iterator[Problem]:
        if self._count >= _FEWEST and self._same >= _SAME_SHARE * self._count:
            message = f"{self._value.field.label} is the same in {self._same:,} of {self._count:,} rows"
            hint = f"check the column {in_mapping(self._value.place)}"
            yield Problem("answer-same-for-all", message, hint, self._place)


# --- numbers a thousand times too large or too small ------------------------------------------------

_NUMBERS: Final = (Kind.INTEGER, Kind.DECIMAL)
_STEPS: Final = 4  # of a power of ten
_FAR, _GAP = 3 * _STEPS, _STEPS  # a thousand times the median, and ten times away from any other number
_OUTLIERS: Final = 0.05  # more are no mistakes, but another kind of number


class _Magnitudes:
    """Counts numbers by their order of magnitude."""

    def __init__(self, value: ResolvedValue) -> None:
        self._value = value
        self._cells: defaultdict[int, _Cells] = defaultdict(_Cells)

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
        count = sum(self._cells[step].count for step in far)
        is_alone = all(abs(step - other) >= _GAP for step in far for other in steps if other not in far)
        if not far or total < _FEWEST or count > _OUTLIERS * total or not is_alone:
            return
        cells = _Cells(count, [place for step in far for place in self._cells[step].first][:_SHOWN])
        message = f"the number is about 1,000 times {which} than the median of its column{cells.others}"
        hint = "correct it, or check decimal: and thousands: " + in_mapping(self._value.place)
        yield Problem("number-far-off", message, hint, cells.first[0])


# --- columns of which most cells are dropped ------------------------------------------------------

# Words that say that there is nothing; to declare them as missing drops no data.
_NOTHING: Final = frozenset(("n/a", "na", "n.a.", "none", "null", "nil", "nan", "unknown", "empty", "not available"))


def _can_drop_cells(value: ResolvedValue) -> bool:
    """Whether a filled cell can be left out without a problem."""
    blanks = value.table is not None and (
        value.table.otherwise is Otherwise.BLANK or "" in value.table.targets.values()
    )
    return (
        value.separator is None
        and value.lookup is None
        and (blanks or len(value.columns) > 1 or not value.missing <= _NOTHING)
    )


class _Dropped:
    """Counts the cells of each column that are filled in, and those that give no value."""

    def __init__(self, value: ResolvedValue, mapping: ResolvedMapping) -> None:
        self._value = value
        alone = [replace(value, columns=(column,), default=None) for column in value.columns]
        self._readers = [(one.columns[0], ValueReader(one, mapping.wire), _Cells()) for one in alone]
        self._filled: Counter[Column] = Counter()

    def add(self, row: Row) -> None:
        filled = [one for one in self._readers if _says_something(row.cells[one[0].index])]
        for number, (column, reader, dropped) in enumerate(filled, start=1):
            self._filled[column] += 1
            # The row is valid: of several columns, the last that is filled in was used.
            if (number < len(filled) or len(self._readers) == 1) and reader.read(row, []) is None:
                dropped.add(reader.value, row)
            else:
                break

    def of_file(self) -> Iterator[Problem]:
        for column, _, dropped in self._readers:
            filled = self._filled[column]
            if filled >= _FEWEST and 2 * dropped.count > filled:
                message = f"{dropped.count:,} of {filled:,} filled cells of this column are not sent{dropped.others}"
                hint = f"check missing:, values: and the order of the columns {in_mapping(self._value.place)}"
                yield Problem("cells-dropped", message, hint, dropped.first[0])


@lru_cache(maxsize=4096)
def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text) and normalize(stripped(text)) not in _NOTHING


# --- e-mail domains -------------------------------------------------------------------------------

_COMMON: Final = (
    *("gmail.com", "googlemail.com", "hotmail.com", "hotmail.co.uk", "outlook.com", "yahoo.com", "yahoo.co.uk"),
    *("icloud.com", "protonmail.com", "yandex.com", "yandex.ru"),
)
# Other domains that exist, and that one edit makes of a common one.
_EXISTING: Final = frozenset(
    (*_COMMON, "mail.com", "email.com", "ymail.com", "gail.com", "cloud.com", "yandex.by", "hotmail.co", "yahoo.ca")
)
_MOST_DOMAINS: Final = 5_000  # kept; later ones are not compared
_FREQUENT, _FREQUENT_SHARE, _RARE = 20, 0.05, 2  # rows with a domain that is surely right, and with one that may not be
_LONG_LABEL: Final = 5  # characters; shorter names that differ in one letter may both be right


class _Domains:
    """Finds domains that differ in one letter from a common one, or from a frequent one of this file."""

    def __init__(self, email: ResolvedValue) -> None:
        self._email = email
        self._rows = 0
        self._cells: dict[str, _Cells] = {}

    def of_row(self, row: Row, address: str) -> Iterator[Problem]:
        domain = address.rpartition("@")[2]
        self._rows += 1
        cells = self._cells.get(domain)
        if cells is None and len(self._cells) < _MOST_DOMAINS:
            cells = self._cells[domain] = _Cells()
        if cells is not None:
            cells.add(self._email, row)
        if meant := _common_domain(domain):
            yield _mistyped(domain, meant, _place(self._email, row))

    def of_file(self) -> Iterator[Problem]:
        least = max(_FREQUENT, _FREQUENT_SHARE * self._rows)
        frequent = [domain for domain, cells in self._cells.items() if cells.count >= least]
        for domain, cells in self._cells.items():
            if cells.count <= _RARE and domain not in _EXISTING and not _common_domain(domain):
                meant = next((other for other in frequent if _is_other_spelling(domain, other)), None)
                if meant:
                    yield from (_mistyped(domain, meant, place) for place in cells.first)


def _mistyped(domain: str, meant: str, place: CellPlace) -> Problem:
    message = f"the domain {quoted(domain)} looks like a typing error of {meant}"
    return Problem(DOMAIN_MISTYPED, message, "correct the e-mail address if it is one", place)


@lru_cache(maxsize=4096)
def _common_domain(domain: str) -> str | None:
    """The common domain that this one was probably meant to be."""
    if domain in _EXISTING:
        return None
    return next((common for common in _COMMON if _is_one_edit(domain, common)), None)


def _is_other_spelling(domain: str, frequent: str) -> bool:
    """Whether one letter differs, in a long part of the domain before its ending."""
    labels, others = domain.split("."), frequent.split(".")
    if len(labels) != len(others) or labels[-1] != others[-1]:
        return False
    differing = [(label, other) for label, other in zip(labels, others, strict=True) if label != other]
    return len(differing) == 1 and len(differing[0][1]) >= _LONG_LABEL and _is_one_edit(*differing[0])


def _is_one_edit(text: str, other: str) -> bool:
    """Whether one letter is added, left out or replaced, or two neighbors are swapped; a digit distinguishes."""
    if abs(len(text) - len(other)) > 1 or text == other:
        return False
    start = 0
    while start < min(len(text), len(other)) and text[start] == other[start]:
        start += 1
    text, other = text[start:], other[start:]
    while text and other and text[-1] == other[-1]:
        text, other = text[:-1], other[:-1]
    is_edit = max(len(text), len(other)) == 1 or (len(text) == len(other) == 2 and text == other[::-1])
    return is_edit and (text + other).isalpha()


# --- one person with two e-mail addresses ---------------------------------------------------------


class _People:
    """Finds a person who is in the file twice, with the same name and phone number or date of birth."""

    def __init__(self, varying: list[tuple[int | str, ResolvedValue]], email: ResolvedValue, first: FirstRows) -> None:
        self._email, self._first = email, first
        nouns = {Kind.PHONE: "phone number", Kind.DATE: "date of birth"}
        self._keys = [(key, nouns[value.field.kind]) for key, value in varying if value.field.kind in nouns]

    def of_row(self, row: Row, texts: Texts) -> Iterator[Problem]:
        """Two rows with the same e-mail address are not both sent: that of a second row is another one."""
        for key, noun in self._keys:
            if text := texts.get(key):
                name = normalize(f"{texts['first_name']} {texts['last_name']}")
                first = self._first.setdefault(hidden_key(f"{key} {text} {name}"), row.number)
                if first != row.number:
                    message = f"name and {noun} are the same as in row {first}, but the e-mail address is another"
                    hint = "if this is one person, keep one of the two rows"
                    yield Problem("person-twice", message, hint, _place(self._email, row))
                    return
