"""Warnings about rows that can be sent, but whose values are likely not what was meant.

One pass in bounded memory. Each detector is conservative: ordinary data must give no warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from importer.mapping import FromRow, Kind, ResolvedMapping, ResolvedValue
from importer.models import Application, PoolCandidate, Row
from importer.problems import Problem
from importer.text.damage import code_in
from importer.text.normalize import is_one_letter_off
from importer.transform.likely_columns import Countries, Doubtful, counters_of, place_of
from importer.transform.texts import quoted

SentTexts = Mapping[int | str, str | None]  # what is sent, by the ID of the question or the name of the field


class Seen(NamedTuple):
    """What the detectors need to know of a row that can be sent, and the warnings that need no other row."""

    texts: SentTexts
    warnings: tuple[Problem, ...]


class LikelyErrors:
    """Looks at each row that can be sent."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        values = tuple(_values(mapping))
        self._email = mapping.candidate["email"]
        self._answers = [(key, one) for key, value in values for one in counters_of(value, self._email)]
        cells = tuple(_values_of_cells(mapping))
        self._names = tuple(mapping.candidate[name] for name in ("first_name", "last_name"))
        of_texts = (Kind.LINE, Kind.TEXT)  # \u00e9 is right in JSON
        self._texts = [one for one in cells if one.field.kind in of_texts and one.spec.split != "json"]
        countries = [Countries(value) for value in cells if value.field.kind is Kind.PHONE and value.formats.region]
        doubtful = [Doubtful(value) for value in cells if value.field.kind in _COUNTED]
        self._counters: list[Countries | Doubtful] = [*countries, *doubtful]
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
        """A mistyped domain, what is probably not part of a name, and what a program wrote into a text."""
        domain = body.email.rpartition("@")[2]
        if meant := common_domain(domain):
            message = f"the domain {quoted(domain)} looks like a typing error of {meant}"
            hint = "correct the e-mail address if it is one"
            yield Problem("email-domain-mistyped", message, hint, place_of(self._email, row))
        for value, name in zip(self._names, (body.first_name, body.last_name), strict=True):
            found = _NO_NAME.search(_OF_NAME.sub("", name))
            if value.columns and (sign := found[0] if found else '"' * (name.count('"') == 1)):
                message = f"{quoted(name)} has {quoted(sign)}, which is probably not part of {value.field.label}"
                yield Problem("name-doubtful", message, "correct the name if so", place_of(value, row))
        first, last = body.first_name, body.last_name
        is_split = self._names[0].spec.part is not None
        word = first.partition(" ")[0]
        if is_split and len(word) > 1 and word.isalpha() and word.isupper() and not last.isupper():  # ÖZ Ali Can
            message = f"{quoted(word)} is in capitals and {quoted(last)} is not, so it may be the last name"
            yield Problem("name-doubtful", message, "correct the name if so", place_of(self._names[0], row))
        if is_split and _ONLY_INITIALS.fullmatch(last):  # Smith J. R.
            message = f"the last name is {quoted(last)}, so {quoted(first)} may be it"
            yield Problem("name-doubtful", message, "write the name as 'Last, First'", place_of(self._names[1], row))
        for value in self._texts:
            text = row.cells[value.columns[0].index]
            lost = _LOST.search(text) if value.field.kind is Kind.LINE and "/" not in text else None
            if code := lost[0] if lost else code_in(text):
                message = f"{quoted(text)} has {quoted(code)}, which a program probably wrote for another character"
                yield Problem("text-damaged", message, "write it as a person reads it", place_of(value, row))

    def of_row(self, row: Row, seen: Seen) -> tuple[Problem, ...]:
        """The warnings about the next row, each at its cell; answers that are left out among them."""
        for key, column in self._answers:
            if (text := seen.texts.get(key)) is not None:
                column.add(text, row)
        for one in self._counters:
            one.add(row)
        return tuple([replace(problem, severity="warning") for problem in seen.warnings])

    def of_file(self) -> tuple[Problem, ...]:
        """The warnings about the file as a whole, after its last row."""
        counters = (*(one for _, one in self._answers), *self._counters)
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


_COUNTED: Final = (Kind.TEXT, Kind.LINE, Kind.NAME, Kind.CHOICE, Kind.DATE)
_LOST: Final = re.compile(r"[^\W\d_]\?[^\W\d_]|(?<!\S)\?[^\W\d_]{2}")  # W?jcik, ?stanbul
_OF_NAME: Final = re.compile(r"\b[DSAWC]/[OLP]\b|,? (?:jr|sr|ii|iii|iv)\b", re.IGNORECASE)  # D/O Raman: daughter of
_ONLY_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.[ -]?)+")
_NO_NAME: Final = re.compile(  # N/A | Unknown, May-24, Ana (she/her), Ana 🚀, Dr. Ana, Ana PhD
    r"[/|<>=~^*#@$%{}\[\]\\_;:&+,]|(?:^|-)\d|\((?:she|he|they)\b|[\u2190-\u2bff\U0001f000-\U0001faff]|^(?-i:TRUE|FALSE)$|"
    r"^(?:dr|prof|mrs?|ms|mme|mlle|herr|frau|ing|sayın|pani|señora?|madame|monsieur|signora?)\.?\s|\s(?-i:Ph\.?D|MBA|[MB]Sc|Esq|CPA|PMP)\.?$",
    re.IGNORECASE,
)


# --- common e-mail domains ----------------------------------------------------------------------


_NO_ENDING = re.compile(r"\.(?:con|cmo|comm|cim|vom)$")
_COMMON: Final = (
    *("gmail.com", "googlemail.com", "hotmail.com", "hotmail.co.uk", "outlook.com", "yahoo.com", "yahoo.co.uk"),
    *("icloud.com", "protonmail.com", "yandex.com", "yandex.ru"),
)
# Other domains that exist, and that one edit makes of a common one.
EXISTING: Final = frozenset(
    (*_COMMON, "mail.com", "email.com", "ymail.com", "gail.com", "cloud.com", "yandex.by", "hotmail.co", "yahoo.ca")
)


@lru_cache(maxsize=4096)
def common_domain(domain: str) -> str | None:
    """The common domain that this one was probably meant to be."""
    if domain in EXISTING:
        return None
    if _NO_ENDING.search(domain):
        return _NO_ENDING.sub(".com", domain)
    return next((common for common in _COMMON if is_one_letter_off(domain, common)), None)
