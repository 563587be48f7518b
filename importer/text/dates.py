"""Dates as people write them: the codes of a format, the names of months, and which forms fit a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from importer.text.normalize import normalize

FIRST_YEAR, LAST_YEAR = 1900, 2100  # of every date that is sent

# --- formats: the codes of strptime that need no locale, or a word for a count -----------------

CODES: dict[str, str] = {
    "d": "day, 1 or 01",
    "m": "month, 1 or 01",
    "Y": "year, 2024",
    "y": "year, 24: which century is said by pivot",
    "b": "month by name, Jan or January",
    "B": "month by name, Jan or January",
    "H": "hour, 0 to 23",
    "I": "hour, 1 to 12",
    "M": "minute",
    "S": "second",
    "f": "fraction of a second",
    "p": "AM or PM",
}
# Formats that are no codes but one word: dates that are kept as a count.
COUNTS: dict[str, str] = {
    "excel": "days since 1900, as a spreadsheet keeps a date",
    "excel_1904": "days since 1904, as old spreadsheets of a Macintosh do",
    "epoch": "seconds since 1970, in UTC",
    "epoch_ms": "milliseconds since 1970, in UTC",
}
_TOKEN = re.compile(r"%(.?)|([^%]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FormatToken:
    """A piece of a format: a code letter, or a literal text."""

    code: str | None
    literal: str


def tokens(date_format: str) -> tuple[FormatToken, ...]:
    """The pieces of a format, in order; `%%` is the literal `%`.

    Raises:
        ValueError: the format has an unknown code, no year, or a part twice. The message says what, for a person.
    """
    found: list[FormatToken] = []
    for match in _TOKEN.finditer(date_format):
        code, literal = match.group(1), match.group(2)
        if literal is not None:
            found.append(FormatToken(None, literal))
        elif code == "%":
            found.append(FormatToken(None, "%"))
        elif code in CODES:
            found.append(FormatToken(code, ""))
        else:
            raise ValueError(f"the date format '{date_format}' has the unknown code '%{code}'")
    _check_parts(date_format, [token.code for token in found if token.code])
    return tuple(found)


def has_short_year(date_format: str) -> bool:
    """Whether a format that `tokens` takes, or one of COUNTS, has a year of two digits."""
    return date_format not in COUNTS and any(token.code == "y" for token in tokens(date_format))


def _check_parts(date_format: str, codes: list[str]) -> None:
    for name, letters in (("day", "d"), ("month", "mbB"), ("year", "Yy")):
        count = sum(code in letters for code in codes)
        if count > 1:
            raise ValueError(f"the date format '{date_format}' has the {name} twice")
        if name == "year" and not count:
            raise ValueError(f"the date format '{date_format}' has no year")
        if name == "month" and not count and "d" in codes:
            raise ValueError(f"the date format '{date_format}' has a day and no month")
    for code in set(codes):
        if codes.count(code) > 1:
            raise ValueError(f"the date format '{date_format}' has '%{code}' twice")


# --- months ---------------------------------------------------------------------------------------

# Each month with its forms; a short form may end in a point, which is not written here.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "en": (
        "january jan", "february feb", "march mar", "april apr", "may", "june jun",
        "july jul", "august aug", "september sep sept", "october oct", "november nov", "december dec",
    ),
    "tr": (
        "ocak oca", "şubat şub", "mart mar", "nisan nis", "mayıs may", "haziran haz",
        "temmuz tem", "ağustos ağu", "eylül eyl", "ekim eki", "kasım kas", "aralık ara",
    ),
    "de": (
        "januar jänner jan jän", "februar feber feb", "märz mär mrz", "april apr", "mai", "juni jun",
        "juli jul", "august aug", "september sep sept", "oktober okt", "november nov", "dezember dez",
    ),
    "fr": (
        "janvier janv jan", "février févr fév", "mars mar", "avril avr", "mai", "juin",
        "juillet juil", "août aoû", "septembre sept sep", "octobre oct", "novembre nov", "décembre déc",
    ),
    "es": (
        "enero ene", "febrero feb", "marzo mar", "abril abr", "mayo may", "junio jun",
        "julio jul", "agosto ago", "septiembre setiembre sep sept", "octubre oct", "noviembre nov", "diciembre dic",
    ),
    "it": (
        "gennaio gen", "febbraio feb", "marzo mar", "aprile apr", "maggio mag", "giugno giu",
        "luglio lug", "agosto ago", "settembre set sett", "ottobre ott", "novembre nov", "dicembre dic",
    ),
    "pt": (
        "janeiro jan", "fevereiro fev", "março mar", "abril abr", "maio mai", "junho jun",
        "julho jul", "agosto ago", "setembro set", "outubro out", "novembro nov", "dezembro dez",
    ),
    "nl": (
        "januari jan", "februari feb", "maart mrt", "april apr", "mei", "juni jun",
        "juli jul", "augustus aug", "september sep sept", "oktober okt", "november nov", "december dec",
    ),
    "pl": (
        "styczeń stycznia sty", "luty lutego lut", "marzec marca mar", "kwiecień kwietnia kwi", "maj maja",
        "czerwiec czerwca cze", "lipiec lipca lip", "sierpień sierpnia sie", "wrzesień września wrz",
        "październik października paź", "listopad listopada lis", "grudzień grudnia gru",
    ),
    "ru": (
        "январь января янв", "февраль февраля фев", "март марта мар", "апрель апреля апр", "май мая", "июнь июня июн",
        "июль июля июл", "август августа авг", "сентябрь сентября сен сент", "октябрь октября окт",
        "ноябрь ноября ноя нояб", "декабрь декабря дек",
    ),
}  # fmt: skip


def month_numbers(languages: Sequence[str]) -> dict[str, int]:
    """The number of a month by its folded name, in the given languages; of two, the language named first decides."""
    numbers: dict[str, int] = {}
    for language in languages:
        for number, forms in enumerate(LANGUAGES[language], start=1):
            for form in forms.split():
                numbers.setdefault(normalize(form), number)
    return numbers


# --- the forms that a file's own are found among ---------------------------------------------------

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
    forms = {normalize(name) for months in LANGUAGES.values() for forms in months for name in forms.split()}
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
    match = _pattern(date_format).fullmatch(normalize(text)) if "y" in codes else None
    return int(match[codes.index("y") + 1]) if match else None


def month_languages(texts: Sequence[str]) -> tuple[str, ...]:
    """The languages in which every month of these dates has its name: one if one will do, English first."""
    words = {word for text in texts for word in _WORD.findall(normalize(text))} - _NO_MONTHS
    knows = {
        language: {normalize(name) for forms in months for name in forms.split()}
        for language, months in LANGUAGES.items()
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
    if not 4 <= len(text) <= 30 or not any(character.isdigit() for character in text):
        return ()
    folded = normalize(text)
    return tuple(form for form in formats if _pattern(form).fullmatch(folded))


@lru_cache(maxsize=256)
def _pattern(date_format: str) -> re.Pattern[str]:
    pieces = (_PATTERNS[token.code] if token.code else re.escape(token.literal) for token in tokens(date_format))
    return re.compile("".join(pieces), re.IGNORECASE)
