"""Warnings about rows that can be sent, but whose values are likely not what was meant.

One pass in bounded memory. Each detector is conservative: ordinary data must give no warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from importer.mapping import (
    NUMBERS,
    FromRow,
    Kind,
    Otherwise,
    ResolvedEntries,
    ResolvedMapping,
    ResolvedTable,
    ResolvedValue,
)
from importer.models import Application, PoolCandidate, Row
from importer.problems import CellPlace, LinePlace, Problem
from importer.text.damage import code_in
from importer.text.normalize import normalize
from importer.transform.candidates import FirstRows, hidden_key
from importer.transform.email_domains import EXISTING, common_domain, is_other_spelling
from importer.transform.likely_columns import Cells, Doubtful, Dropped, can_drop_cells, counters_of, must_vary, place_of
from importer.transform.row import Invalid, transform_row
from importer.transform.texts import in_mapping, quoted

DOMAIN_MISTYPED: Final = "email-domain-mistyped"
"""A warning about a row, which may be found only after the last row."""

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
        varying = [(key, value) for key, value in values if must_vary(value)]
        self._last_name = mapping.candidate["last_name"]
        self._otherwise = _Otherwise(mapping)
        self._domains = _Domains(mapping.candidate["email"])
        self._people = _People(varying, mapping.candidate["email"], people)
        self._answers = [(key, one) for key, value in values for one in counters_of(value)]
        dropped: list[Dropped | Doubtful] = [Dropped(value, mapping) for _, value in values if can_drop_cells(value)]
        cells = tuple(_values_of_cells(mapping))
        self._names = tuple(mapping.candidate[name] for name in ("first_name", "last_name"))
        self._texts = [value for value in cells if value.field.kind in (Kind.LINE, Kind.TEXT)]
        self._counters = [*dropped, *(Doubtful(value) for value in cells if value.field.kind in _COUNTED)]
        self._looked_at = frozenset(key for key, _ in (*varying, *self._answers))

    def look(self, row: Row, body: Application | PoolCandidate) -> Seen:
        """Look at one row by itself; remembers nothing, so that another process can do it."""
        texts: dict[int | str, str | None] = {"first_name": body.first_name, "last_name": body.last_name}
        if "cv" in self._looked_at:
            texts["cv"] = body.cv
        if isinstance(body, Application):
            for answer in body.answers:
                asked = answer.job_post_question
                key = asked if isinstance(asked, int) else asked["id"]
                if key in self._looked_at:
                    texts[key] = answer.answer or answer.answer_file
        doubts = (*self._same_names(row, body), *self._doubts(row, body))
        return Seen(texts, (*body.left_out, *self._otherwise.of_row(row), *doubts))

    def _same_names(self, row: Row, body: Application | PoolCandidate) -> Iterator[Problem]:
        """A name of several words in both columns is the full name; of one word, it may be meant so."""
        if normalize(body.first_name) == normalize(body.last_name):
            message = f"first and last name are both {quoted(body.last_name)}"
            hint = "if it is a full name, write each name in its own column"
            yield Problem("names-repeated", message, hint, place_of(self._last_name, row))

    def _doubts(self, row: Row, body: Application | PoolCandidate) -> Iterator[Problem]:
        """What is probably not part of a name, and what a program wrote into a text."""
        for value, name in zip(self._names, (body.first_name, body.last_name), strict=True):
            if value.columns and (found := _NO_NAME.search(_OF_NAME.sub("", name))):
                message = f"{quoted(name)} has {quoted(found[0])}, which is probably not part of {value.field.label}"
                yield Problem("name-doubtful", message, "correct the name if so", place_of(value, row))
        for value in self._texts:
            text = row.cells[value.columns[0].index]
            lost = _LOST.search(text) if value.field.kind is Kind.LINE and "/" not in text else None
            if code := lost[0] if lost else code_in(text):
                message = f"{quoted(text)} has {quoted(code)}, which a program probably wrote for another character"
                yield Problem("text-damaged", message, "write it as a person reads it", place_of(value, row))

    def of_row(self, row: Row, email: str, seen: Seen) -> tuple[Problem, ...]:
        """The warnings about the next row, each at its cell; answers that are left out among them."""
        for key, column in self._answers:
            if (text := seen.texts.get(key)) is not None:
                column.add(text, row)
        for one in self._counters:
            one.add(row)
        found = [*seen.warnings, *self._domains.of_row(row, email), *self._people.of_row(row, seen.texts)]
        return tuple([replace(problem, severity="warning") for problem in found])

    def of_file(self) -> tuple[Problem, ...]:
        """The warnings about the file as a whole, after its last row."""
        counters = (*(one for _, one in self._answers), *self._counters, self._domains)
        return tuple(problem for one in counters for problem in one.of_file())


def _values(mapping: ResolvedMapping) -> Iterator[tuple[int | str, ResolvedValue]]:
    """Each value that is read from columns, by the key of what is sent; entries are left out."""
    for name, value in mapping.candidate.items():
        if value.columns:
            yield name, value
    for answer in mapping.answers:
        if isinstance(answer.content, ResolvedValue) and answer.content.columns:
            yield answer.question.id, answer.content


def _values_of_cells(mapping: ResolvedMapping) -> Iterator[ResolvedValue]:
    """The values in cells of the candidate's own row, also those of entries, each with one column."""
    entries = (value for each in mapping.entry_sources if isinstance(each.source, FromRow) for value in each.values)
    own = (value for value in (*mapping.single_values, *entries) if value.lookup is None)
    return (replace(value, columns=(column,)) for value in own for column in value.columns)


_COUNTED: Final = (Kind.TEXT, Kind.LINE, Kind.NAME, Kind.CHOICE, Kind.DATE, *NUMBERS)
_LOST: Final = re.compile(r"[^\W\d_]\?[^\W\d_]|(?<!\S)\?[^\W\d_]{2}")  # W?jcik, ?stanbul
_OF_NAME: Final = re.compile(r"\b[DSAWC]/[OLP]\b|,? (?:jr|sr|ii|iii|iv)\b", re.IGNORECASE)  # D/O Raman: daughter of
_NO_NAME: Final = re.compile(  # N/A | Unknown, Ana (she/her), Ana 🚀, Dr. Ana, Ana PhD
    r"[/|<>=~^*#@$%{}\[\]\\_;:&+,]|\((?:she|he|they)\b|[\u2190-\u2bff\U0001f000-\U0001faff]|^(?-i:TRUE|FALSE)$|"
    r"^(?:dr|prof|mrs?|ms|mme|mlle|herr|frau|ing|sayın)\.?\s|\s(?-i:Ph\.?D|MBA|[MB]Sc|Esq|CPA|PMP)\.?$",
    re.IGNORECASE,
)


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


# --- e-mail domains -------------------------------------------------------------------------------

_MOST_DOMAINS: Final = 5_000  # kept; later ones are not compared
_FREQUENT, _FREQUENT_SHARE, _RARE = 20, 0.05, 2  # rows with a domain that is surely right, and with one that may not be


class _Domains:
    """Finds domains that differ in one letter from a common one, or from a frequent one of this file."""

    def __init__(self, email: ResolvedValue) -> None:
        self._email = email
        self._rows = 0
        self._cells: dict[str, Cells] = {}

    def of_row(self, row: Row, address: str) -> Iterator[Problem]:
        domain = address.rpartition("@")[2]
        self._rows += 1
        cells = self._cells.get(domain)
        if cells is None and len(self._cells) < _MOST_DOMAINS:
            cells = self._cells[domain] = Cells()
        if cells is not None:
            cells.add(self._email, row)
        if meant := common_domain(domain):
            yield _mistyped(domain, meant, place_of(self._email, row))

    def of_file(self) -> Iterator[Problem]:
        least = max(_FREQUENT, _FREQUENT_SHARE * self._rows)
        frequent = [domain for domain, cells in self._cells.items() if cells.count >= least]
        for domain, cells in self._cells.items():
            if cells.count <= _RARE and domain not in EXISTING and not common_domain(domain):
                meant = next((other for other in frequent if is_other_spelling(domain, other)), None)
                if meant:
                    yield from (_mistyped(domain, meant, place) for place in cells.first)


def _mistyped(domain: str, meant: str, place: CellPlace) -> Problem:
    message = f"the domain {quoted(domain)} looks like a typing error of {meant}"
    return Problem(DOMAIN_MISTYPED, message, "correct the e-mail address if it is one", place)


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
                    yield Problem("person-twice", message, hint, place_of(self._email, row))
                    return
