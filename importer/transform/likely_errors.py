"""Warnings about rows that can be sent, but whose values are likely not what was meant.

One pass in bounded memory. Each detector is conservative: ordinary data must give no warning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from importer.mapping import NUMBERS, FromRow, Kind, ResolvedMapping, ResolvedValue
from importer.models import Application, PoolCandidate, Row
from importer.problems import CellPlace, Problem
from importer.text.damage import code_in
from importer.transform.likely_columns import Cells, Countries, Doubtful, Dropped, can_drop_cells, counters_of, place_of
from importer.transform.texts import quoted

DOMAIN_MISTYPED: Final = "email-domain-mistyped"
"""A warning about a row, which may be found only after the last row."""

SentTexts = Mapping[int | str, str | None]  # what is sent, by the ID of the question or the name of the field


class Seen(NamedTuple):
    """What the detectors need to know of a row that can be sent, and the warnings that need no other row."""

    texts: SentTexts
    warnings: tuple[Problem, ...]

    @property
    def name(self) -> str:
        return f"{self.texts['first_name']}\0{self.texts['last_name']}"


class LikelyErrors:
    """Looks at each row that can be sent."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        values = tuple(_values(mapping))
        self._domains = _Domains(mapping.candidate["email"])
        self._apart = _SortedApart(mapping.candidate["email"])
        self._answers = [(key, one) for key, value in values for one in counters_of(value)]
        droppable = [value for _, value in values if can_drop_cells(value)]
        dropped = [Dropped(one, [other for _, other in values if other is not one], mapping) for one in droppable]
        cells = tuple(_values_of_cells(mapping))
        self._names = tuple(mapping.candidate[name] for name in ("first_name", "last_name"))
        self._texts = [value for value in cells if value.field.kind in (Kind.LINE, Kind.TEXT)]
        countries = [Countries(value) for value in cells if value.field.kind is Kind.PHONE and value.formats.region]
        doubtful = [Doubtful(value) for value in cells if value.field.kind in _COUNTED]
        self._counters: list[Dropped | Countries | Doubtful] = [*dropped, *countries, *doubtful]
        self._looked_at = frozenset(key for key, _ in self._answers)

    def look(self, row: Row, body: Application | PoolCandidate) -> Seen:
        """Look at one row by itself; remembers nothing, so that another process can do it."""
        texts: dict[int | str, str | None] = {"first_name": body.first_name, "last_name": body.last_name}
        if "cv" in self._looked_at:
            texts["cv"] = body.cv
        if isinstance(body, Application):
            texts["terms_of_use"] = str(body.terms_of_use)
            for answer in body.answers:
                asked = answer.job_post_question
                key = asked if isinstance(asked, int) else asked["id"]
                if key in self._looked_at:
                    texts[key] = answer.answer or answer.answer_file
        return Seen(texts, (*body.left_out, *self._doubts(row, body)))

    def _doubts(self, row: Row, body: Application | PoolCandidate) -> Iterator[Problem]:
        """What is probably not part of a name, and what a program wrote into a text."""
        for value, name in zip(self._names, (body.first_name, body.last_name), strict=True):
            found = _NO_NAME.search(_OF_NAME.sub("", name))
            if value.columns and (sign := found[0] if found else '"' * (name.count('"') == 1)):
                message = f"{quoted(name)} has {quoted(sign)}, which is probably not part of {value.field.label}"
                yield Problem("name-doubtful", message, "correct the name if so", place_of(value, row))
        first, last = body.first_name, body.last_name
        is_split = self._names[0].spec.part is not None
        if is_split and len(first) > 1 and first.isupper() and not last.isupper():  # ÖZ Ali, or JD Miller
            message = f"{quoted(first)} is in capitals and {quoted(last)} is not, so it may be the last name"
            yield Problem("name-doubtful", message, "correct the name if so", place_of(self._names[0], row))
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
        self._apart.add(row, email, seen.name)
        found = [*seen.warnings, *self._domains.of_row(row, email)]
        return tuple([replace(problem, severity="warning") for problem in found])

    def of_file(self) -> tuple[Problem, ...]:
        """The warnings about the file as a whole, after its last row."""
        counters = (*(one for _, one in self._answers), *self._counters, self._domains, self._apart)
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


# --- e-mail domains -------------------------------------------------------------------------------

_MOST_DOMAINS: Final = 5_000  # kept; later ones are not compared
_FEWEST_APART, _FITTING_AGAIN = 8, 3  # rows one after the other
_NEARLY_ALL, _MOST_RUNS = 0.9, 5  # a share of all rows; that are shown
_SHORTEST: Final = 3  # letters of a name, and of an address, that say something
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


class _SortedApart:
    """Finds rows one after the other whose addresses have no name of their row, as nearly all others have, but are in
    order: the column was sorted alone, and each of these people would get the messages of another.
    """

    def __init__(self, email: ResolvedValue) -> None:
        self._email = email
        self._others = self._fitting = self._fitting_now = 0
        self._run: tuple[CellPlace, CellPlace, int] | None = None
        self._last, self._order = "", 0
        self._found: list[tuple[CellPlace, CellPlace, int]] = []

    def add(self, row: Row, address: str, name: str) -> None:
        local = _letters(address.rpartition("@")[0])
        parts = [part for part in re.split(r"\W", name) if len(part) >= _SHORTEST]
        words = [word for word in map(_letters, parts) if word.isascii()]
        if not (self._email.columns and words and len(local) >= _SHORTEST):
            return
        if any(word in local for word in words):
            self._fitting += 1
            self._fitting_now += 1
            if self._fitting_now == _FITTING_AGAIN:  # one or two may fit by chance
                self._end_run()
            return
        order = (local > self._last) - (local < self._last)
        if order in (0, -self._order):
            self._end_run()
        here = place_of(self._email, row)
        first, _, count = self._run or (here, here, 0)
        self._order = order if self._run else 0
        self._run, self._last, self._fitting_now = (first, here, count + 1), local, 0

    def _end_run(self) -> None:
        if self._run is not None and (self._run[2] < _FEWEST_APART or len(self._found) == _MOST_RUNS):
            self._others += self._run[2]
        elif self._run is not None:
            self._found.append(self._run)
        self._run, self._order = None, 0

    def of_file(self) -> Iterator[Problem]:
        self._end_run()
        apart = sum(count for *_, count in self._found)
        if self._fitting >= max(2 * apart, _NEARLY_ALL * (self._fitting + self._others)):
            for first, last, count in self._found:
                message = f"in {count} rows, to row {last.row}, no address has a name of its row; most others do"
                hint = "check whether this column was sorted alone; if so, restore the file before you import it"
                yield Problem("emails-sorted-apart", message, hint, first)


@lru_cache(maxsize=1 << 14)
def _letters(text: str) -> str:
    """The letters of a text without accents; `ue` is `u`, as Müller may be muller or mueller."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ı", "i"))
    return re.sub("([aou])e", r"\1", "".join(filter(str.isalpha, plain)))


def _mistyped(domain: str, meant: str, place: CellPlace) -> Problem:
    message = f"the domain {quoted(domain)} looks like a typing error of {meant}"
    return Problem(DOMAIN_MISTYPED, message, "correct the e-mail address if it is one", place)


# --- common e-mail domains ---


_NO_ENDING = re.compile(r"\.(?:con|cmo|comm|cim|vom)$")
_COMMON: Final = (
    *("gmail.com", "googlemail.com", "hotmail.com", "hotmail.co.uk", "outlook.com", "yahoo.com", "yahoo.co.uk"),
    *("icloud.com", "protonmail.com", "yandex.com", "yandex.ru"),
)
# Other domains that exist, and that one edit makes of a common one.
EXISTING: Final = frozenset(
    (*_COMMON, "mail.com", "email.com", "ymail.com", "gail.com", "cloud.com", "yandex.by", "hotmail.co", "yahoo.ca")
)
_LONG_LABEL: Final = 5  # characters; shorter names that differ in one letter may both be right


@lru_cache(maxsize=4096)
def common_domain(domain: str) -> str | None:
    """The common domain that this one was probably meant to be."""
    if domain in EXISTING:
        return None
    if _NO_ENDING.search(domain):
        return _NO_ENDING.sub(".com", domain)
    return next((common for common in _COMMON if _is_one_edit(domain, common)), None)


def is_other_spelling(domain: str, frequent: str) -> bool:
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
