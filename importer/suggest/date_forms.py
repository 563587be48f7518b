"""Which date formats the values of a column are written in, found from the values themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from importer.suggest.header_words import read_table
from importer.text.dates import FORMATS, MONTHS, formats_of, month_languages, short_year_of
from importer.text.normalize import normalize

_ISO = re.compile(r"(19|20)\d\d(-\d\d(-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?)?")
_AHEAD = 5  # years: a date further in the future is rather one of a hundred years before
_FEW = 0.05  # of the cells: faults of single rows, not a second way to write dates
_OPEN_END_WORDS = frozenset(map(normalize, read_table("value_words")["open_end"]))


@dataclass(frozen=True, slots=True)
class DateForms:
    """How the dates of some columns are written.

    `formats` are those beside YYYY-MM-DD (and its shorter forms), which is always read. `unsure` says why the order of
    day and month is not certain, "" where it is. `open_ends` are words of an open end, as written.
    """

    formats: tuple[str, ...]
    share: float  # of the values that can be read, open ends left out
    unread: tuple[tuple[str, int], ...] = ()  # those that cannot, with their counts
    unsure: str = ""
    open_ends: tuple[str, ...] = ()
    lacks_day: bool = False
    lacks_month: bool = False
    total: int = 0  # of the values that should be dates
    months: tuple[str, ...] = ()  # the languages of month names, where they are not English
    pivot: int | None = None  # the first of the hundred years that years of two digits are likely in


def date_forms(values: Iterable[tuple[str, int]], day_first: bool | None = None) -> DateForms:
    """The forms of these values (text, count).

    day_first: how other columns of the file write `3/4/2021`, None where nothing says it.
    """
    counts = Counter(dict(values))
    open_ends = {normalize(text): text for text in counts if normalize(text) in _OPEN_END_WORDS}
    dates = {text: count for text, count in counts.items() if normalize(text) not in open_ends}
    fits = {text: formats_of(text) for text in dates if not _ISO.fullmatch(text)}
    clear = Counter[str]()
    for text, formats in fits.items():
        if len(formats) == 1:
            clear[formats[0]] += dates[text]
    chosen, unsure = _chosen(fits, clear, dates, day_first)
    read = {text for text in dates if text not in fits or set(fits[text]) & set(chosen)}
    total = sum(dates.values())
    years = {short_year_of(text, form) for text, forms in fits.items() for form in forms if form in chosen} - {None}
    pivot = _pivot({year for year in years if year is not None}, date.today().year) if years else None
    if pivot is not None and not unsure:
        unsure = f"years of two digits are taken for {pivot} to {pivot + 99}"
    return DateForms(
        formats=chosen,
        share=sum(dates[text] for text in read) / total if total else 0.0,
        unread=tuple((text, count) for text, count in dates.items() if text not in read),
        unsure=unsure,
        open_ends=tuple(open_ends.values()),
        lacks_day=any(_lacks_day(text, fits.get(text, ()), chosen) for text in read),
        lacks_month=any(len(text) == 4 for text in read),
        total=total,
        months=_months([text for text in read if text in fits], chosen),
        pivot=pivot,
    )


def _months(texts: Sequence[str], formats: Sequence[str]) -> tuple[str, ...]:
    named = any("%b" in form or "%B" in form for form in formats)
    languages = month_languages(texts) if named else ()
    return () if languages == ("en",) else languages


def _pivot(years: set[int], this_year: int) -> int:
    """The first of the hundred years, from a decade's beginning, that hold years of two digits.

    The years lie together: they end before the widest gap among them. That end is in the past, or little after.
    """
    ordered = sorted(years)
    gaps = [(after - year) % 100 or 100 for year, after in zip(ordered, [*ordered[1:], ordered[0]], strict=True)]
    last = ordered[gaps.index(max(gaps))]
    latest = this_year + _AHEAD - (this_year + _AHEAD - last) % 100
    return max(this_year, latest) // 10 * 10 - 90


def day_first_votes(values: Iterable[tuple[str, int]]) -> int:
    """How many values say that the day comes first, less those that say that the month does (`25/12/2020`)."""
    votes = 0
    for text, count in values:
        formats = formats_of(text)
        if len(formats) == 1 and re.match(r"\d+[/-]\d+[/-]", text):
            votes += count if formats[0].startswith("%d") else -count if formats[0].startswith("%m") else 0
    return votes


def _chosen(
    fits: Mapping[str, tuple[str, ...]], clear: Counter[str], dates: Mapping[str, int], day_first: bool | None
) -> tuple[tuple[str, ...], str]:
    chosen, unsure = set(clear), ""
    for text, formats in fits.items():
        if len(formats) > 1 and not set(formats) & chosen:
            first = "%m" if day_first is False else "%d"
            chosen.add(next((form for form in formats if form.startswith(first)), formats[0]))
            unsure = f"'{text}' can be read with the day or the month first, and no value of the column tells"
    minority = _minority(chosen, clear)
    if minority:
        chosen -= minority
        few = sum(clear[form] for form in minority) < _FEW * sum(dates.values())
        unsure = unsure if few else "some values have the day first, others the month"
    order = {form: position for position, form in enumerate(FORMATS)}
    return tuple(sorted(chosen, key=order.__getitem__)), unsure


def _minority(chosen: set[str], clear: Counter[str]) -> set[str]:
    """The formats that contradict the others of the column in whether the day or the month comes first."""
    day, month = ({form for form in chosen if form.startswith(code)} for code in ("%d", "%m"))
    # 25.12.2020 beside 12/2020 is no contradiction: a month with a year can be misread by nobody.
    month -= set(MONTHS)
    if not day or not month:
        return set()
    return min(day, month, key=lambda forms: sum(clear[form] for form in forms))


def _lacks_day(text: str, formats: tuple[str, ...], chosen: tuple[str, ...]) -> bool:
    if not formats:
        return len(text) < 8  # YYYY or YYYY-MM
    return any(form in MONTHS for form in formats if form in chosen)
