"""Detects the date formats of columns, and which of them a mapping must declare."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from importer.suggest.header_words import read_table
from importer.text.dates import MONTH_NUMBERS, tokens
from importer.text.normalize import normalize, normalized

# --- the known formats -----------------------------------------------------------------------------

_YEAR = "%Y"
_DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y",
    "%d %b %Y", "%d %B %Y", "%d. %B %Y", "%d. %b %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%B-%Y", "%d-%b-%y",
    "%Y%m%d",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
_MONTHS = ("%m/%Y", "%m.%Y", "%m-%Y", "%Y.%m", "%Y/%m", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b %y", "%b-%y")
_FORMATS = tuple(day + time for day in _DAYS for time in _TIMES) + _MONTHS
_ISO_DAYS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")
_ALL_FORMATS = (*_ISO_DAYS, *_FORMATS, _YEAR, "%Y-%m")
_SHORT = 4  # letters of a month's short name, at most


# The short and the long month names; one that is both, for example May, counts as short.
_NAMES = sorted(MONTH_NUMBERS, key=len, reverse=True)
_SHORT_NAMES, _LONG_NAMES = ([name for name in _NAMES if (len(name) <= _SHORT) is short] for short in (True, False))
_PATTERNS = {
    "d": "(0?[1-9]|[12][0-9]|3[01])", "m": "(0?[1-9]|1[0-2])", "Y": "((?:19|20)[0-9]{2})", "y": "([0-9]{2})",
    "b": "((?:" + "|".join(_SHORT_NAMES) + ")\\.?)", "B": "(" + "|".join(_LONG_NAMES) + ")",
    "H": "([01]?[0-9]|2[0-3])", "I": "(0?[1-9]|1[0-2])", "M": "([0-5][0-9])", "S": "([0-5][0-9])",
    "p": "([ap]\\.?m\\.?)",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_NOT_MONTHS = frozenset({"am", "pm", "a", "p", "m", "t"})
_KNOWN_WORDS = _NOT_MONTHS.union(*map(_WORD.findall, _NAMES))


def _short_year_of(text: str, date_format: str) -> int | None:
    """The two-digit year of a text in this format; None if the format has none or does not match."""
    codes = [token.code for token in tokens(date_format) if token.code]
    match = _pattern(date_format).fullmatch(normalize(text)) if "y" in codes else None
    return int(match[codes.index("y") + 1]) if match else None


def _is_nonexistent(text: str, formats: Iterable[str]) -> bool:
    """Whether formats read a day, month and year in digits, and none of them as a day that the month has."""
    found = []
    for one in formats:
        codes = [token.code for token in tokens(one) if token.code]
        if match := _pattern(one).fullmatch(normalize(text)):
            is_whole = {"d", "m", "Y"} <= set(codes)
            year, month, day = (int(match[codes.index(code) + 1]) if is_whole else 1 for code in "Ymd")
            found.append(day <= monthrange(year, month)[1])
    return bool(found) and not any(found)


@lru_cache(maxsize=16384)
def _fitting(text: str, formats: tuple[str, ...] = _FORMATS) -> tuple[str, ...]:
    """The formats that match a text, by default those except ISO; two if day and month are ambiguous."""
    if not 4 <= len(text) <= 30 or not any(character.isdigit() for character in text):
        return ()
    plain = normalize(text)
    if not _KNOWN_WORDS.issuperset(_WORD.findall(plain)):  # most texts; the patterns take a hundred times longer
        return ()
    return tuple(form for form in formats if _pattern(form).fullmatch(plain))


@lru_cache(maxsize=256)
def _pattern(date_format: str) -> re.Pattern[str]:
    pieces = (_PATTERNS[token.code] if token.code else re.escape(token.literal) for token in tokens(date_format))
    return re.compile("".join(pieces), re.IGNORECASE)


# --- the formats of a column ----------------------------------------------------------------------

_ISO = re.compile(r"(19|20)\d\d(-\d\d(-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|GMT|[+-]\d\d:?\d\d))?)?)?)?")
_MAX_YEARS_AHEAD = 5  # years: a later date is more likely in the century before
_MINORITY_SHARE = 0.05  # of the cells: below it, problems of single rows, not a second format
_OPEN_END_WORDS = normalized(read_table("value_words")["open_end"])


@dataclass(frozen=True, slots=True)
class DateForms:
    """The date formats of some columns.

    `formats`: without YYYY-MM-DD and its shorter forms, which are always read. `ambiguity`: why a person must review
    the formats, or "". `open_ends`: words for an open end, as written.
    """

    formats: tuple[str, ...]
    share: float  # of the values that can be read, without open ends
    unread: tuple[tuple[str, int], ...] = ()  # values that cannot be read, with their counts
    nonexistent: tuple[tuple[str, int], ...] = ()  # values that are in a format, but no day of a month: 2/30/2027
    ambiguity: str = ""
    open_ends: tuple[str, ...] = ()
    lacks_day: bool = False
    lacks_month: bool = False
    total: int = 0  # number of values that should be dates
    pivot: int | None = None  # the first of the hundred years that two-digit years likely belong to


def date_forms(values: Iterable[tuple[str, int]], day_first: bool | None = None) -> DateForms:
    """Detect the formats of these values (text, count).

    day_first: whether other columns of the file write the day first (`3/4/2021`); None: unknown.
    """
    counts = Counter[str]()
    for text, count in values:  # a text may occur in several columns
        counts[text] += count
    open_ends = {normalize(text): text for text in counts if normalize(text) in _OPEN_END_WORDS}
    dates = {text: count for text, count in counts.items() if normalize(text) not in open_ends}
    fits = {text: _fitting(text) for text in dates if not _ISO.fullmatch(text)}
    clear = Counter[str]()
    for text, formats in fits.items():
        if len(formats) == 1:
            clear[formats[0]] += dates[text]
    chosen, ambiguity = _chosen(fits, clear, dates, day_first)
    chosen_for = {
        text: [form for form in fits.get(text, _ISO_DAYS) if text not in fits or form in chosen] for text in dates
    }
    read = {text for text, forms in chosen_for.items() if forms}
    total = sum(dates.values())
    years = {_short_year_of(text, form) for text, forms in fits.items() for form in forms if form in chosen} - {None}
    pivot = _pivot({year for year in years if year is not None}, date.today().year) if years else None
    if pivot is not None and not ambiguity:
        ambiguity = f"two-digit years are read as {pivot} to {pivot + 99}"
    return DateForms(
        formats=chosen,
        share=sum(dates[text] for text in read) / total if total else 0.0,
        unread=tuple((text, count) for text, count in dates.items() if text not in read),
        nonexistent=tuple(
            (text, dates[text]) for text in dates if text in read and _is_nonexistent(text, chosen_for[text])
        ),
        ambiguity=ambiguity,
        open_ends=tuple(open_ends.values()),
        lacks_day=any(_lacks_day(text, fits.get(text, ()), chosen) for text in read),
        lacks_month=any(len(text) == 4 for text in read),
        total=total,
        pivot=pivot,
    )


def _pivot(years: set[int], this_year: int) -> int:
    """The first of the hundred years that two-digit years belong to; it is the first year of a decade.

    The years form a cluster that ends before the widest gap. This end is in the past or in the near future.
    """
    ordered = sorted(years)
    gaps = [(after - year) % 100 or 100 for year, after in zip(ordered, [*ordered[1:], ordered[0]], strict=True)]
    last = ordered[gaps.index(max(gaps))]
    latest = this_year + _MAX_YEARS_AHEAD - (this_year + _MAX_YEARS_AHEAD - last) % 100
    return max(this_year, latest) // 10 * 10 - 90


def day_first_votes(values: Iterable[tuple[str, int]]) -> int:
    """The number of values with the day first (`25/12/2020`), minus those with the month first."""
    votes = 0
    for text, count in values:
        formats = _fitting(text)
        if len(formats) == 1 and re.match(r"\d+[/-]\d+[/-]", text):
            votes += count if formats[0].startswith("%d") else -count if formats[0].startswith("%m") else 0
    return votes


def _chosen(
    fits: Mapping[str, tuple[str, ...]], clear: Counter[str], dates: Mapping[str, int], day_first: bool | None
) -> tuple[tuple[str, ...], str]:
    """The formats to declare, and why a person must review them, or "".

    Where nothing shows whether the day or the month comes first, both formats are chosen: then a run refuses the dates
    that they read differently, until a person has removed one format.
    """
    chosen, ambiguity = set(clear), ""
    minority = _minority(clear)
    if minority and sum(clear[form] for form in minority) < _MINORITY_SHARE * sum(clear.values()):
        chosen -= minority
    elif minority:
        ambiguity = "some values have the day first, others the month"
    for text, formats in fits.items():
        if len(formats) > 1 and not set(formats) & chosen:
            first = {True: "%d", False: "%m", None: ""}[day_first]
            chosen.update(form for form in formats if form.startswith(first))
            ambiguity = f"'{text}' is ambiguous: the day or the month may come first; keep the right format"
            if day_first is not None:
                ambiguity = f"'{text}' is ambiguous: the {'day' if day_first else 'month'} is first in other columns"
    order = {form: position for position, form in enumerate(_FORMATS)}
    return tuple(sorted(chosen, key=order.__getitem__)), ambiguity


def _minority(clear: Counter[str]) -> set[str]:
    """The less frequent formats, if the column mixes formats with the day first and with the month first."""
    day, month = ({form for form in clear if form.startswith(code)} for code in ("%d", "%m"))
    # 25.12.2020 and 12/2020 do not conflict: a month with a year is not ambiguous.
    month -= set(_MONTHS)
    return min(day, month, key=lambda forms: sum(clear[form] for form in forms)) if day and month else set()


def _lacks_day(text: str, formats: tuple[str, ...], chosen: tuple[str, ...]) -> bool:
    if not formats:
        return len(text) < 8  # YYYY or YYYY-MM
    return any(form in _MONTHS for form in formats if form in chosen)


# --- the formats for `importer inspect` -----------------------------------------------------------

_MIN_SHARE = 0.9  # of the cells must be dates
_MAX_FORMATS = 6  # formats that one column may mix


@dataclass(frozen=True, slots=True)
class FittingFormats:
    """The date formats of a column, including ISO, the most frequent first; empty if it does not contain dates.

    `ambiguous`: any one fits all dates, because day and month cannot be distinguished; otherwise all are needed.
    """

    formats: tuple[str, ...] = ()
    ambiguous: bool = False


def fitting_formats(values: Iterable[tuple[str, int]]) -> FittingFormats:
    """The formats of these values (text, count), without words for an open end."""
    counts = {text: count for text, count in values if normalize(text) not in _OPEN_END_WORDS}
    found = {text: formats for text in counts if (formats := _fitting(text, _ALL_FORMATS))}
    enough = max(1, _MIN_SHARE * sum(counts.values()))
    if sum(counts[text] for text in found) < enough:
        return FittingFormats()
    import pandas as pd  # imported late: it takes half a second, and only `inspect` of dates needs it

    occurring = {one for formats in found.values() for one in formats}
    cells = pd.Series({text: counts[text] for text in found})
    fits = pd.DataFrame(
        {one: [one in found[text] for text in found] for one in _ALL_FORMATS if one in occurring}, cells.index
    )
    fitting = fits.mul(cells, axis="index").sum()  # how many cells each format fits
    best = fitting.drop(_YEAR, errors="ignore").max()
    if best >= enough:
        formats = tuple(fitting.index[fitting == best])
        return FittingFormats(formats, len(formats) > 1)
    chosen: list[str] = []
    while len(chosen) < _MAX_FORMATS and cells.any():  # the fewest formats that together fit most cells
        chosen.append(str(fits.mul(cells, axis="index").sum().idxmax()))
        cells[fits[chosen[-1]]] = 0
    is_date = sum(counts[text] for text in found if set(found[text]) & set(chosen)) >= enough and chosen != [_YEAR]
    return FittingFormats(tuple(chosen)) if is_date else FittingFormats()  # years alone are not dates
