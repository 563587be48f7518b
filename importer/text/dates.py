"""Dates as people write them: format codes and month names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from importer.text.normalize import normalize

FIRST_YEAR, LAST_YEAR = 1900, 2100  # the range of dates that are sent

# --- formats: the codes of strptime that need no locale, or the name of a count ----------------

CODES: dict[str, str] = {
    "d": "day, 1 or 01",
    "m": "month, 1 or 01",
    "Y": "year, 2024",
    "y": "year, 24; pivot sets the century",
    "b": "month by name, Jan or January",
    "B": "month by name, Jan or January",
    "H": "hour, 0 to 23",
    "I": "hour, 1 to 12",
    "M": "minute",
    "S": "second",
    "f": "fraction of a second",
    "p": "AM or PM",
}
# Formats without codes: dates that are stored as a count.
COUNTS: dict[str, str] = {
    "excel": "days since 1900, as spreadsheets store dates",
    "excel_1904": "days since 1904, as old Macintosh spreadsheets store dates",
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

    Raises ValueError: the format has an unknown code, no year, or a part twice. The message is for a person.
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
    """Whether a format that `tokens` accepts, or one of COUNTS, has a year of two digits."""
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

# The names of each month, normalized; a period after a short name is not written here.
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


MONTH_NUMBERS: Final = {  # no name means two months
    normalize(name): number
    for months in LANGUAGES.values()
    for number, names in enumerate(months, start=1)
    for name in names.split()
}
"""The numbers of the months by normalized name, in all these languages."""


def in_words(seconds: float) -> str:
    """A duration: `2.5 seconds`, `20 seconds`, `1 minute`, `1 minute 15 seconds`, `2 hours`."""
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f} seconds"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "hour"), (minutes, "minute"), (rest, "second"))
    return " ".join(f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n) or "0 seconds"
