"""What a value of a mapping gives for the first rows: samples, results, unknown texts, forms of dates, entries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Any, Final

from importer.mapping import ENTRY_SOURCES, EntryKind, Kind, ResolvedEntries
from importer.models import Row
from importer.problems import Problem
from importer.settings import WireFormat
from importer.suggest import date_forms
from importer.transform import EntriesReader, ValueReader
from importer.web.models.mapping_changes import shown_words
from importer.web.models.matched import DateForm, Entries, Matched, SampledRow, UnknownText

_SHOWN: Final = 5  # results
_SAMPLES: Final = 3
_UNKNOWN: Final = 50  # texts
_WORDS: Final = ("not-an-option", "value-unknown", "yes-no-invalid")  # codes of texts for a value table
_SETTINGS: Final[dict[tuple[Kind, ...], dict[str, tuple[str, ...]]]] = {
    (Kind.INTEGER, Kind.DECIMAL): {"decimal": ("", ".", ","), "thousands": ("", ".", ",", "'")},
    (Kind.NAME,): {"part": ("", "first", "last")},
    (Kind.CHOICES,): {"split": ("", ";", ",", "|", "/", "newline", "json")},
    (Kind.CV, Kind.DOCUMENT): {"folder": ("", "documents")},
}

LISTS: Final = ("missing", "yes", "no", "currency")
"""The keys of `TEXTS` that are lists."""
TEXTS: Final[dict[str, tuple[Kind, ...]]] = {
    "missing": tuple(Kind),
    "default": tuple(one for one in Kind if one is not Kind.EMAIL),
    "pick": (Kind.TEXT, Kind.LINE, Kind.EMAIL, Kind.PHONE, Kind.URL),
    "before": (Kind.TEXT, Kind.LINE, Kind.URL),
    "after": (Kind.TEXT, Kind.LINE, Kind.URL),
    "region": (Kind.PHONE,),
    "currency": (Kind.INTEGER, Kind.DECIMAL),
    "yes": (Kind.YES_NO, Kind.FLAG),
    "no": (Kind.YES_NO, Kind.FLAG),
}
"""Keys of how the texts of a kind are read that are typed."""


def with_results(shown: Matched, reader: ValueReader, rows: Sequence[Row], wire: WireFormat) -> Matched:
    """A value with what the rows give."""
    results: list[SampledRow] = []
    unknown: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    texts: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    filled, held, blank, columns = 0, 0, 0, reader.columns
    for row in rows:
        problems: list[Problem] = []
        sent = reader.read(row, problems)
        cells = " | ".join(row.cells[column.index] for column in columns if row.cells[column.index])
        filled += reader.from_cells(row)
        read = reader.filled(row)
        if read:
            texts[" | ".join(row.cells[column.index] for column in read)] += 1
        missing.update(row.cells[column.index] for column in columns if column not in read and row.cells[column.index])
        held += bool(problems)
        blank += sent is None and not problems
        for problem in problems:
            text = problem.unread.text if problem.unread else cells
            unknown[text, problem.message, shown.options if problem.code in _WORDS else ()] += 1
        if len(results) < _SHOWN and (cells or shown.constant):
            text = "" if sent is None or not isinstance(sent, str | bool) else str(sent)
            results.append(SampledRow(row.number, cells, text, problems[0].message if problems else ""))
    return replace(
        shown,
        filled=filled,
        held=held,
        blank=blank,
        missing=tuple(text for text, _ in missing.most_common(_SAMPLES)),
        samples=tuple(text for text, _ in texts.most_common(_SAMPLES)),
        results=tuple(results),
        unknown=tuple(
            UnknownText(text, count, problem, options)
            for (text, problem, options), count in unknown.most_common(_UNKNOWN)
        ),
        dates=tuple(_date_forms(reader, rows, wire)) if reader.value.field.kind is Kind.DATE else (),
    )


def _date_forms(reader: ValueReader, rows: Sequence[Row], wire: WireFormat) -> Iterator[DateForm]:
    """The forms that may read the column, each with a cell on which it differs from the others, if there is one. Those
    in use are always among them.
    """
    used = tuple(map(str, reader.value.formats.dates or ()))
    counts = Counter(row.cells[column.index] for row in rows for column in reader.columns)
    del counts[""]
    found = [*used, *date_forms(counts.items(), True).formats, *date_forms(counts.items(), False).formats]
    forms = tuple(dict.fromkeys((*found, *map(_turned, found))))[: max(6, len(used))]
    read: dict[str, dict[str, str]] = {form: {} for form in forms}
    for form in forms:
        value = replace(reader.value, formats=reader.value.formats.model_copy(update={"dates": (form,)}))
        own = ValueReader(value, wire)
        for row in islice(rows, 500):
            if isinstance(day := own.read(row, []), str):
                read[form].setdefault(row.cells[reader.columns[0].index] if reader.columns else "", day)
    for form, days in read.items():
        others = [other for name, other in read.items() if name != form]
        telling = [cell for cell, day in days.items() if any(other.get(cell, day) != day for other in others)]
        cell = next(iter([*telling, *days]), "")
        if cell or form in used:
            yield DateForm(form, cell, _day_in_words(days[cell]) if cell else "", form in used)


def _turned(form: str) -> str:
    """A form of dates with day and month exchanged; the form itself if it has not both in digits."""
    if "%d" not in form or "%m" not in form:
        return form
    return form.replace("%d", "%\0").replace("%m", "%d").replace("%\0", "%m")


def _day_in_words(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B} {day.year}"


def settings_of(kind: Kind, keys: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The keys of how texts of a kind are read, with their usual values and the one that is set."""
    found = {
        key: choices for kinds, choices_of in _SETTINGS.items() if kind in kinds for key, choices in choices_of.items()
    }
    return {key: tuple(dict.fromkeys((*choices, str(keys.get(key, ""))))) for key, choices in found.items()}


def texts_of(kind: Kind, keys: Mapping[str, Any]) -> dict[str, str]:
    """The keys of how texts of a kind are read that are words, as they are typed: `;` is between those of a list."""
    return {key: shown_words(keys.get(key, "")) for key, kinds in TEXTS.items() if kind in kinds}


def shown_entries(
    reader: EntriesReader, entries: ResolvedEntries, keys: Mapping[str, Any], rows: Sequence[Row], *, leaves_out: bool
) -> Entries:
    """The groups of columns of an answer, and the entries of the first candidates that have some. leaves_out: without
    those that cannot be read.
    """
    kind = next(one for one in EntryKind if one.value in keys)
    own = keys[kind.value] if isinstance(keys[kind.value], list) else [keys[kind.value]]
    other = next((name for one in own for name in ENTRY_SOURCES if name in one and name != "repeat"), "")
    groups = [
        {field: ", ".join(column.label for column in value.columns) for field, value in group.items()}
        for source in entries.sources
        for group in source.groups
    ]
    choices = {
        value.place: (field, value.field.options)
        for source in entries.sources
        for group in source.groups
        for field, value in group.items()
    }
    candidates: list[tuple[int, tuple[dict[str, str], ...]]] = []
    unknown: Counter[tuple[str, str, str, tuple[str, ...]]] = Counter()
    held = blank = 0
    for row in rows:
        problems: list[Problem] = []
        text = reader.read(row, problems, problems if leaves_out else None)
        held += bool(problems)
        blank += text is None and not problems
        for problem in problems:
            field, options = choices.get(problem.unread.setting, ("", ())) if problem.unread else ("", ())
            cell = problem.unread.text if problem.unread else ""
            unknown[cell, problem.message, field, options if problem.code in _WORDS else ()] += 1
        if len(candidates) < _SAMPLES and isinstance(text, str):
            read = ({name: str(one) for name, one in entry.items()} for entry in json.loads(text))
            candidates.append((row.number, tuple(read)))
    texts = tuple(
        UnknownText(cell, count, problem, options, field)
        for (cell, problem, field, options), count in unknown.most_common(_UNKNOWN)
    )
    is_only = len(own) == 1  # of several sources, the others would be lost
    fields = groups[0] if other in ("rows", "sheet") and is_only else {}
    sheet = {key: str(text) for key, text in own[0]["sheet"].items()} if other == "sheet" and is_only else {}
    return Entries(kind, () if other else tuple(groups), tuple(candidates), other, fields, sheet, texts, held, blank)
