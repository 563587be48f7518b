"""The forms that dates are written in, of which a file's own are found: the one list of them, and which fit a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from importer.mapping.date_format import tokens
from importer.mapping.fold import fold
from importer.mapping.months import LANGUAGES

YEAR = "%Y"
YEAR_AND_MONTH = "%Y-%m"
ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")
_DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y",
    "%d/%m/%y", "%m/%d/%y",
    "%d %b %Y", "%d %B %Y", "%d. %B %Y", "%d. %b %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%B-%Y", "%d-%b-%y",
    "%Y%m%d",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
MONTHS = ("%m/%Y", "%m.%Y", "%m-%Y", "%Y.%m", "%Y/%m", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b %y", "%b-%y")
FORMATS = tuple(day + time for day in _DAYS for time in _TIMES) + MONTHS
WRITTEN = (*ISO, *FORMATS, YEAR, YEAR_AND_MONTH)
_SHORT = 4  # letters of a month's short name, at most


def _names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The short and the long names of months in all languages; a name that is both, as May, is a short one."""
    forms = {fold(name) for months in LANGUAGES.values() for forms in months for name in forms.split()}
    short = {name for name in forms if len(name) <= _SHORT}
    return tuple(sorted(short, key=len, reverse=True)), tuple(sorted(forms - short, key=len, reverse=True))


_SHORT_NAMES, _LONG_NAMES = _names()
_PATTERNS = {
    "d": "(0?[1-9]|[12][0-9]|3[01])", "m": "(0?[1-9]|1[0-2])", "Y": "((?:19|20)[0-9]{2})", "y": "([0-9]{2})",
    "b": "((?:" + "|".join(_SHORT_NAMES) + ")\\.?)", "B": "(" + "|".join(_LONG_NAMES) + ")",
    "H": "([01]?[0-9]|2[0-3])", "I": "(0?[1-9]|1[0-2])", "M": "([0-5][0-9])", "S": "([0-5][0-9])",
    "p": "([ap]\\.?m\\.?)",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_NO_MONTHS = frozenset({"am", "pm", "a", "p", "m", "t"})


@lru_cache(maxsize=8192)
def formats_of(text: str) -> tuple[str, ...]:
    """The forms beside ISO that a text may be in: two where day and month may be either."""
    return _fitting(text, FORMATS)


@lru_cache(maxsize=8192)
def all_formats_of(text: str) -> tuple[str, ...]:
    """The forms that a text may be in, those of ISO among them."""
    return _fitting(text, WRITTEN)


def short_year_of(text: str, date_format: str) -> int | None:
    """The two-digit year that a text in this form says, None where the form has none or the text is no such date."""
    codes = [token.code for token in tokens(date_format) if token.code]
    match = _pattern(date_format).fullmatch(fold(text)) if "y" in codes else None
    return int(match[codes.index("y") + 1]) if match else None


def month_languages(texts: Sequence[str]) -> tuple[str, ...]:
    """The languages in which every month of these dates has its name: one if one will do, English first."""
    words = {word for text in texts for word in _WORD.findall(fold(text))} - _NO_MONTHS
    knows = {
        language: {fold(name) for forms in months for name in forms.split()} for language, months in LANGUAGES.items()
    }
    chosen: list[str] = []
    while words:
        best = max(knows, key=lambda language: len(words & knows[language]))
        if not words & knows[best]:
            break
        chosen.append(best)
        words -= knows[best]
    return tuple(chosen)


def _fitting(text: str, formats: Sequence[str]) -> tuple[str, ...]:
    if not 4 <= len(text) <= 30 or not any(sign.isdigit() for sign in text):
        return ()
    folded = fold(text)
    return tuple(form for form in formats if _pattern(form).fullmatch(folded))


@lru_cache(maxsize=256)
def _pattern(date_format: str) -> re.Pattern[str]:
    pieces = (_PATTERNS[token.code] if token.code else re.escape(token.literal) for token in tokens(date_format))
    return re.compile("".join(pieces), re.IGNORECASE)
