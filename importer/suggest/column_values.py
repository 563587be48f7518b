"""What the values of a column look like: e-mails, phone numbers, numbers, yes and no, and how its dates are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice

from importer.mapping import NO_WORDS, YES_WORDS
from importer.models import Column, Row
from importer.suggest.header_words import read_table
from importer.text.dates import FORMATS, MONTHS, formats_of, month_languages, short_year_of
from importer.text.normalize import normalize

# --- a look at the first rows ---------------------------------------------------------------------

_MOST_ROWS = 5_000
_MOST_DISTINCT = 1_000


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A column and its values: each distinct text once with its count, in order of first appearance; blanks left out.

    `filled` counts all cells that hold something, also those whose text is not kept because there are too many.
    """

    column: Column
    values: tuple[tuple[str, int], ...] = ()
    filled: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)


def sample_columns(columns: Sequence[Column], rows: Iterable[Row]) -> tuple[SampledColumn, ...]:
    """The columns with what the first 5,000 rows hold."""
    counts: list[Counter[str]] = [Counter() for _ in columns]
    filled = [0] * len(columns)
    for row in islice(rows, _MOST_ROWS):
        for index, cell in enumerate(row.cells):
            text = cell.strip()
            if text:
                filled[index] += 1
                if text in counts[index] or len(counts[index]) < _MOST_DISTINCT:
                    counts[index][text] += 1
    return tuple(
        SampledColumn(column, tuple(counts[position].items()), filled[position])
        for position, column in enumerate(columns)
    )


# --- what they look like --------------------------------------------------------------------------

_TABLE = read_table("value_words")
MISSING_OR_NAME = frozenset(map(normalize, _TABLE["missing_or_name"]))
MISSING_WORDS = frozenset(map(normalize, _TABLE["missing"])) | MISSING_OR_NAME
_YES = frozenset(map(normalize, (*YES_WORDS, *_TABLE["yes"])))
_NO = frozenset(map(normalize, (*NO_WORDS, *_TABLE["no"])))

NUMBER = re.compile(r"[+-]?\d[\d., '’\u00a0\u202f]*")
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]{2,}")
_URL = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}(/\S*)?", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?[\d][\d\s().\-/]{6,22}")
_WHOLE = re.compile(r"[+-]?\d{1,3}(?:([., '’\u00a0\u202f])\d{3})*|[+-]?\d+")
_DOCUMENT = re.compile(r"[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
_FILE_NAME = re.compile(r".*\.(pdf|docx?|odt|rtf|txt|jpe?g|png)", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnValues:
    """The values of one column (missing words left out) and what they look like. Shares are from 0 to 1."""

    sampled: SampledColumn

    @cached_property
    def counts(self) -> tuple[tuple[str, int], ...]:
        return tuple((text, count) for text, count in self.sampled.values if normalize(text) not in MISSING_WORDS)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.counts)

    @cached_property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    def share(self, test: Callable[[str], object]) -> float:
        """The share of cells whose text passes; 0 where there are none."""
        return sum(count for text, count in self.counts if test(text)) / self.total if self.total else 0.0

    @cached_property
    def emails(self) -> float:
        return self.share(_EMAIL.fullmatch)

    @cached_property
    def urls(self) -> float:
        return self.share(_URL.fullmatch)

    def urls_of(self, site: str) -> float:
        """The share of web addresses of a site (`linkedin`)."""
        return self.share(lambda text: _URL.fullmatch(text) and site in text.lower())

    @cached_property
    def phones(self) -> float:
        return self.share(_is_phone)

    @cached_property
    def numbers(self) -> float:
        return self.share(NUMBER.fullmatch)

    @cached_property
    def whole_numbers(self) -> float:
        return self.share(_WHOLE.fullmatch)

    @cached_property
    def documents(self) -> float:
        return self.share(_DOCUMENT.fullmatch)

    @cached_property
    def files(self) -> float:
        return self.share(_FILE_NAME.fullmatch)

    @cached_property
    def dates(self) -> DateForms:
        return date_forms(self.counts)

    @cached_property
    def yes_no(self) -> float:
        """The share of words of yes and no, of all cells: `yok` is such a word and no missing value here."""
        total = sum(count for _, count in self.sampled.values)
        found = sum(count for text, count in self.sampled.values if is_yes(text) or is_no(text))
        return found / total if total else 0.0

    @cached_property
    def several_words(self) -> float:
        return self.share(lambda text: len(text.split()) > 1)

    @cached_property
    def digits(self) -> float:
        """The share of texts with a digit: names have none."""
        return self.share(lambda text: any(character.isdigit() for character in text))


def is_yes(text: str) -> bool:
    return normalize(text) in _YES


def is_no(text: str) -> bool:
    return normalize(text) in _NO


def _is_phone(text: str) -> bool:
    return bool(_PHONE.fullmatch(text)) and 7 <= sum(character.isdigit() for character in text) <= 15


# --- how dates are written ------------------------------------------------------------------------

_ISO = re.compile(r"(19|20)\d\d(-\d\d(-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?)?")
_AHEAD = 5  # years: a date further in the future is rather one of a hundred years before
_FEW = 0.05  # of the cells: faults of single rows, not a second way to write dates
_OPEN_END_WORDS = frozenset(map(normalize, _TABLE["open_end"]))


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
