# ruff: noqa: E501  (tables: one case on one line)
"""Cells whose meaning is known, because each is written from a value, in the usual forms of a locale or messy.

Nothing of importer is used here, so that an error in a reader cannot hide in the expectation.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any, Final

from benchmarks.truth_locales import LOCALES, Locale

UNKNOWN: Final = object()  # no reader can know what was meant, so anything that is sent is false
WELL_FORMED: Final = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The cells of one answer, what the person meant, and the kind of mess ("" if it is well-formed).

    meaning: what has to be sent (a text, a Decimal, a tuple of first and last name, a list of entries), or UNKNOWN.
    more: cells of further rows: of the same candidate, or of the child file.
    """

    cells: tuple[Any, ...]
    meaning: Any
    kind: str = WELL_FORMED
    more: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a value, with the mapping that declares it. `make` gives a cell.

    answer: the answer in YAML; "" if `make` gives full names. source: how its rows are stored.
    """

    reader: str
    locale: str
    answer: str
    make: Callable[[Random], Cell]
    columns: tuple[str, ...] = ("Cell",)
    question: tuple[str, tuple[str, ...], str | None] = ("short_text", (), None)
    defaults: str = ""
    source: str = "csv"  # or workbook, child, rows


# --- how cells are disturbed without losing their meaning -----------------------------------------

_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")


def disturbed(rng: Random, text: str, *, digits: str = "") -> tuple[str, str]:
    """The text with what copying adds, and the name of that."""
    choices: list[tuple[str, Callable[[str], str]]] = [
        ("no-break spaces around", lambda t: f"\u00a0{t}\u00a0"),
        ("zero-width space at the end", lambda t: t + "\u200b"),
        ("direction mark in front", lambda t: "\u200e" + t),
        ("embedding marks around", lambda t: f"\u202a{t}\u202c"),
        ("spaces around", lambda t: f"  {t} "),
    ]
    if digits:
        choices += [
            ("full-width digits", lambda t: t.translate(_FULL_WIDTH)),
            ("direction marks inside", lambda t: "\u200e".join(t.partition(t[len(t) // 2]))),
            ("zero-width space inside", lambda t: t[: len(t) // 2] + "\u200b" + t[len(t) // 2 :]),
        ]
    name, change = rng.choice(choices)
    return change(text), name


def mixed(
    plain: Callable[[Random], tuple[str, Any]],
    broken: Callable[[Random], tuple[str, Any, str]] | None = None,
    digits: str = "",
) -> Callable[[Random], Cell]:
    """Seven of ten cells well-formed; the others disturbed, or of another meaning (`broken`)."""

    def make(rng: Random) -> Cell:
        turn = rng.random()
        if turn < 0.7 or (turn < 0.9 and broken is None):
            text, meaning = plain(rng)
            if digits and turn < 0.2:
                return Cell((text.translate(str.maketrans("0123456789", digits)),), meaning)
            return Cell((text,), meaning)
        if turn < 0.9 and broken is not None:
            text, meaning, kind = broken(rng)
            return Cell((text,), meaning, kind)
        text, meaning = plain(rng)
        text, kind = disturbed(rng, text, digits=digits or "0")
        return Cell((text,), meaning, kind)

    return make


def _digits(locale: Locale) -> str:
    return locale.digits if locale.digits != "0123456789" else ""


# --- dates ----------------------------------------------------------------------------------------

_FIRST, _LAST = date(1940, 1, 1), date(2026, 6, 30)
_LANGUAGES = {locale.months: locale for locale in LOCALES if locale.months}


def some_day(rng: Random, first: date = _FIRST) -> date:
    return first + timedelta(rng.randrange((_LAST - first).days))


def written(day: date, form: str, names: tuple[str, ...] = (), *, padded: bool = True) -> str:
    """A date in a form, written piece by piece."""
    two = "{:02}" if padded else "{}"
    pieces = {
        "%d": two.format(day.day), "%m": two.format(day.month), "%Y": str(day.year), "%y": f"{day.year % 100:02}",
        "%B": names[day.month - 1] if names else "", "%b": names[day.month - 1] if names else "", "%H:%M": "14:30",
    }  # fmt: skip
    for code, piece in pieces.items():
        form = form.replace(code, piece)
    return form


def dates(locale: Locale) -> Iterator[Form]:
    asked = ("date", (), None)
    for number, form in enumerate(locale.dates):
        settings = f"dates: {json.dumps(form, ensure_ascii=False)}, pivot: 1927"
        plain = lambda rng, form=form: _date(rng, form)  # noqa: E731
        broken = lambda rng, form=form: _broken_date(rng, form, locale)  # noqa: E731
        yield Form("date", locale.code, f"{{column: Cell, {settings}}}", mixed(plain, broken, _digits(locale)),
                   question=asked)  # fmt: skip
        if number == 0:
            timed = lambda rng, form=form: _date(rng, f"{form} %H:%M")  # noqa: E731
            yield Form("date", locale.code, f"{{column: Cell, dates: {json.dumps(f'{form} %H:%M')}}}",
                       mixed(timed, _broken_time), question=asked)  # fmt: skip
    if locale.months:
        form, names = locale.month_format, locale.month_names
        settings = f'dates: ["{form}", "%B %Y"], missing_day: first'
        yield Form("date", locale.code, f"{{column: Cell, {settings}}}",
                   mixed(lambda rng: _date(rng, form, names), lambda rng: _broken_month(rng, locale)),
                   question=asked)  # fmt: skip
    joined = '{join: [Day, Month, Year], with: ".", dates: ["%d.%m.%Y", "%m.%Y", "%Y"], missing_day: first, missing_month: first}'
    yield Form("join", locale.code, joined, _three_cells, ("Day", "Month", "Year"), asked)


def _date(rng: Random, form: str, names: tuple[str, ...] = ()) -> tuple[str, str]:
    day = some_day(rng)
    return written(day, form, names, padded=rng.random() < 0.7 or "%d%m" in form), day.isoformat()


def _broken_date(rng: Random, form: str, locale: Locale) -> tuple[str, Any, str]:
    day = some_day(rng)
    month = rng.choice((4, 6, 9, 11))
    leap = next(year for year in range(day.year, day.year + 2) if not calendar.isleap(year))
    other = "%m/%d/%Y" if form.startswith("%d") else "%d/%m/%Y"
    return rng.choice(
        (
            (_unreal(form, 31, month, day.year), UNKNOWN, "31st of a short month"),
            (_unreal(form, 29, 2, leap), UNKNOWN, "29 February of another year"),
            (_unreal(form, 0, 0, 0), UNKNOWN, "zeros"),
            (
                written(day, form.replace("%y", "%Y")).replace(str(day.year), str(day.year)[:3]),
                UNKNOWN,
                "year of three digits",
            ),
            (str(day.year), UNKNOWN, "year alone"),
            (f"{written(day, form)} - {written(day + timedelta(90), form)}", UNKNOWN, "two dates"),
            (f"{written(day, form)}?", UNKNOWN, "question mark"),
            (f"~{written(day, form)}", UNKNOWN, "about"),
            (written(day.replace(day=rng.randrange(13, 28)), other), UNKNOWN, "day and month in the other order"),
            (day.isoformat(), day.isoformat(), "ISO"),
            (f"{day.isoformat()}T23:30:00+03:00", day.isoformat(), "ISO with time"),
            (f"{day.isoformat()} 99:99", UNKNOWN, "impossible time"),
            (str((day - date(1899, 12, 30)).days), UNKNOWN, "number of a spreadsheet"),
            ("\u202e" + written(day, form), UNKNOWN, "override mark"),
            (written(day, form).replace("1", "l").replace("0", "O") + "l", UNKNOWN, "letters for digits"),
        )
    )


def _unreal(form: str, day: int, month: int, year: int) -> str:
    return form.replace("%d", f"{day:02}").replace("%m", f"{month:02}").replace("%Y", f"{year:04}").replace(
        "%y", f"{year % 100:02}")  # fmt: skip


def _broken_time(rng: Random) -> tuple[str, Any, str]:
    return f"{some_day(rng).isoformat()} {rng.randrange(25, 99)}:10", UNKNOWN, "impossible time"


def _broken_month(rng: Random, locale: Locale) -> tuple[str, Any, str]:
    day = some_day(rng)
    language = rng.choice([other for other in _LANGUAGES if other != locale.months])
    foreign = _LANGUAGES[language].month_names[day.month - 1]
    name = locale.month_names[day.month - 1]
    month_only = f"{name} {day.year}"
    return rng.choice(
        (
            (written(day, locale.month_format, (foreign,) * 12), day.isoformat(), "month name of another language"),
            (month_only, day.replace(day=1).isoformat(), "month and year"),
            (written(day, locale.month_format, (name[:2] + "x",) * 12), UNKNOWN, "mistyped month"),
            (f"{day.day} {name}", UNKNOWN, "no year"),
            (f"{day.year} {name} {day.day}", UNKNOWN, "other order"),
            (f"{name} {day.year}-{day.year + 1}", UNKNOWN, "range"),
        )
    )


def _three_cells(rng: Random) -> Cell:
    day = some_day(rng)
    cells = [str(day.day), str(day.month), str(day.year)]
    if rng.random() < 0.8:
        return Cell(tuple(cells), day.isoformat())
    blank = rng.randrange(3)
    cells[blank] = ""
    meaning = day.replace(day=1).isoformat() if blank == 0 else UNKNOWN
    return Cell(tuple(cells), meaning, f"{('day', 'month', 'year')[blank]} blank")


# --- numbers --------------------------------------------------------------------------------------


def number(value: Decimal, decimal: str, thousands: str) -> str:
    """A number with the separators of a locale, grouped in thousands."""
    whole, _, rest = f"{abs(value):f}".partition(".")
    groups: list[str] = []
    while len(whole) > 3:
        whole, group = whole[:-3], whole[-3:]
        groups.insert(0, group)
    text = thousands.join([whole, *groups]) + (decimal + rest if rest else "")
    return f"-{text}" if value < 0 else text


def _amount(rng: Random, places: int) -> Decimal:
    digits = rng.choice((1, 2, 3, 4, 5, 6, 7))
    whole = Decimal(rng.randrange(10 ** (digits - 1), 10**digits))
    return whole + Decimal(rng.randrange(10**places)).scaleb(-places) if places else whole


def numbers(locale: Locale) -> Iterator[Form]:
    point, group = locale.decimal, locale.thousands
    separators = f"decimal: {json.dumps(point, ensure_ascii=False)}, thousands: {json.dumps(group, ensure_ascii=False)}"
    space = rng_space if group == " " else lambda rng: group
    for kind, places in (("integer", 0), ("decimal", 2)):

        def plain(rng: Random, places: int = places) -> tuple[str, Decimal]:
            value = _amount(rng, places)
            used = space(rng) if rng.random() < 0.7 else ""
            return number(value, point, used), value

        broken = partial(_broken_number, locale=locale, places=places)
        yield Form(kind, locale.code, f"{{column: Cell, {separators}}}", mixed(plain, broken, _digits(locale)),
                   question=(kind, (), None))  # fmt: skip
        # Nothing declared: what a locale means by 1.234 is not known.
        yield Form(kind, locale.code, "{column: Cell}", partial(_undeclared, locale=locale, places=places),
                   question=(kind, (), None))  # fmt: skip
    if group != " ":
        yield Form("decimal", locale.code, f"{{column: Cell, thousands: {json.dumps(group, ensure_ascii=False)}}}",
                   partial(_undeclared, locale=locale, places=2), question=("decimal", (), None))  # fmt: skip


def rng_space(rng: Random) -> str:
    return rng.choice((" ", "\u00a0", "\u202f"))


def _undeclared(rng: Random, locale: Locale, places: int) -> Cell:
    if rng.random() < 0.5:
        value = Decimal(rng.randrange(1000))
        return Cell((str(value),), value)
    value = _amount(rng, rng.choice((places, 1, 3)))
    return Cell(
        (number(value, locale.decimal, locale.thousands),), value, "separators that the mapping does not declare"
    )


def _broken_number(rng: Random, locale: Locale, places: int) -> tuple[str, Any, str]:
    value = _amount(rng, places)
    point, group = locale.decimal, locale.thousands
    text = number(value, point, group)
    digits = str(rng.randrange(1_000_000, 99_999_999))
    lakh = f"{digits[:-5]}{group}{digits[-5:-3]}{group}{digits[-3:]}"
    return rng.choice(
        (
            (f"({text})", -value, "minus by parentheses"),
            (f"{text}-", -value, "minus behind"),
            (f"\u2212{text}", -value, "minus sign of typography"),
            (f"{text}%", UNKNOWN, "percent"),
            (f"{text} {point}", UNKNOWN, "lone separator"),
            (f"{text} km", value, "unit"),
            (f"{text}k", value * 1000, "thousands by a letter"),
            (f"{text} €", value, "currency"),
            (f"{text} - {number(value + 10, point, group)}", UNKNOWN, "range"),
            (f"{text}/{text}", UNKNOWN, "two numbers"),
            (lakh, Decimal(digits), "lakh grouping"),
            (f"12{group}34", UNKNOWN, "wrong grouping"),
            (f"1{group}234{group}56", UNKNOWN, "wrong grouping"),
            (f"1{point}234{point}567", UNKNOWN, "two decimal separators"),
            (number(_amount(rng, 2), ",", ".") if point == "." else number(_amount(rng, 2), ".", ","), UNKNOWN,
             "separators of another locale") if places == 0 else (f"{value:f}E+2", UNKNOWN, "exponent"),
            (f"{value:.0f}²", UNKNOWN, "superscript"),
            (f"{value:.0f}½", UNKNOWN, "fraction"),
            (f"l{value:.0f}O", UNKNOWN, "letters for digits"),
            (f"\u202e{value:.0f}1", UNKNOWN, "override mark"),
            (f"about {text}", UNKNOWN, "words"),
        )
    )  # fmt: skip


# --- yes and no, choices --------------------------------------------------------------------------


def yes_no(locale: Locale) -> Iterator[Form]:
    words = json.dumps(locale.yes, ensure_ascii=False), json.dumps(locale.no, ensure_ascii=False)

    def plain(rng: Random) -> tuple[str, str]:
        yes = rng.random() < 0.5
        return rng.choice(locale.yes if yes else locale.no), "yes" if yes else "no"

    def broken(rng: Random) -> tuple[str, Any, str]:
        word, meaning = plain(rng)
        return rng.choice(
            (
                (f"{word}?", UNKNOWN, "question mark"),
                (f"{locale.yes[0]} / {locale.no[0]}", UNKNOWN, "both"),
                (f"{word}, but", UNKNOWN, "words behind"),
                ("×", UNKNOWN, "sign"),
                ("2", UNKNOWN, "digit"),
                ("?", UNKNOWN, "sign"),
                (word.upper(), meaning, "capitals"),
                ("maybe", UNKNOWN, "another word"),
            )
        )

    yield Form("yes/no", locale.code, f"{{column: Cell, yes: {words[0]}, no: {words[1]}}}", mixed(plain, broken),
               question=("yes_no", (), None))  # fmt: skip


_LEVELS = {"junior": "Junior", "senior": "Senior", "lead": "Team lead, technical"}
_SKILLS = ("C", "C++", "C#", "R", "R/D", "D", "Go")


def choices(locale: Locale) -> Iterator[Form]:
    words = dict(zip((*locale.first_names, *locale.last_names), (*_LEVELS.values(),) * 3, strict=False))
    table = json.dumps(words, ensure_ascii=False)

    def plain(rng: Random) -> tuple[str, str]:
        word = rng.choice([*words, *_LEVELS.values()])
        return word, words.get(word, word)

    def broken(rng: Random) -> tuple[str, Any, str]:
        word, meaning = plain(rng)
        return rng.choice(
            (
                (f"{word}x", UNKNOWN, "mistyped"),
                (f"{word}; {word}", UNKNOWN, "two choices"),
                (f"  {word} ".replace(" ", "\u00a0"), meaning, "other spaces"),
                ("Sen", UNKNOWN, "shortened"),
            )
        )

    yield Form("choice", locale.code, f"{{column: Cell, values: {table}}}", mixed(plain, broken),
               question=("single_choice", tuple(_LEVELS.values()), None))  # fmt: skip

    def several(rng: Random) -> Cell:
        chosen = rng.sample(_SKILLS, rng.randrange(1, 4))
        text = rng.choice(("/", " / ")).join(chosen)
        return Cell((text,), chosen, "separator inside a choice" if "R/D" in text else WELL_FORMED)

    yield Form(
        "choices", locale.code, '{column: Cell, split: "/"}', several, question=("multiple_choice", _SKILLS, None)
    )


# --- without a locale -----------------------------------------------------------------------------


def without_locale() -> Iterator[Form]:
    """Dates stored as numbers or in digits only, the cells that a workbook stores as values, e-mails, document IDs."""
    asked = ("date", (), None)
    counts: dict[str, Callable[[date], int]] = {
        "excel": lambda day: (day - date(1899, 12, 30)).days,
        "epoch": lambda day: (day - date(1970, 1, 1)).days * 86_400 + 3_600,
        "epoch_ms": lambda day: ((day - date(1970, 1, 1)).days * 86_400 + 3_600) * 1000,
    }
    for name, count in counts.items():

        def counted(rng: Random, name: str = name, count: Callable[[date], int] = count) -> Cell:
            day = some_day(rng, date(1971, 1, 1))
            if rng.random() < 0.8:
                return Cell((str(count(day)),), day.isoformat())
            others = [(str(other(day)), other_name) for other_name, other in counts.items() if other_name != name]
            if name == "epoch":  # a number of milliseconds is far in the future, but one of days is early in 1970
                others.append(("0", "zero"))
            text, kind = rng.choice(
                [*others, (str(day.year), "year"), (f"{day:%Y%m%d}", "digits of a date"), ("-5", "minus")]
            )
            return Cell((text,), UNKNOWN, f"{kind} in a column of {name}")

        yield Form("date", "any", f"{{column: Cell, dates: {name}}}", counted, question=asked)
    for form, kept in (("%d%m%Y", True), ("%m%y", False), ("%y%m", False), ("%Y%m%d", True), ("%Y-%d-%m", True)):

        def in_digits(rng: Random, form: str = form, kept: bool = kept) -> Cell:
            day = some_day(rng, date(1990, 1, 1))
            text, meaning = written(day, form), (day if kept else day.replace(day=1)).isoformat()
            if rng.random() < 0.8:
                return Cell((text,), meaning, WELL_FORMED if form != "%Y-%d-%m" else "day before month after the year")
            return Cell((text.replace("-", "").lstrip("0")[:-1] or "1",), UNKNOWN, "a digit is missing")

        settings = f'dates: "{form}", pivot: 1950, missing_day: first, missing_month: first'
        yield Form("date", "any", f"{{column: Cell, {settings}}}", in_digits, question=asked)
    yield from _stored()
    for _ in LOCALES:
        yield Form("e-mail", "any", "", _email, columns=(), source="email")
        yield Form("document", "any", "{column: Cell}", _document, question=("file_upload", (), None))
        yield Form("document", "any", "", _cv, columns=(), source="cv")


def _stored() -> Iterator[Form]:
    """Cells that a workbook stores as dates, numbers and booleans, whatever the mapping declares for text."""

    def day(rng: Random) -> Cell:
        found = some_day(rng)
        return Cell((found,), found.isoformat())

    def amount(rng: Random) -> Cell:
        found = _amount(rng, 3)
        return Cell((float(found),), found)

    def whole(rng: Random) -> Cell:
        found = rng.randrange(10**9)
        return Cell((found,), Decimal(found))

    def flag(rng: Random) -> Cell:
        found = rng.random() < 0.5
        return Cell((found,), "yes" if found else "no")

    german = 'decimal: ",", thousands: "."'
    yield Form(
        "date",
        "workbook",
        '{column: Cell, dates: ["%m/%d/%Y", "%Y-%d-%m"]}',
        day,
        question=("date", (), None),
        source="workbook",
    )
    yield Form(
        "decimal", "workbook", f"{{column: Cell, {german}}}", amount, question=("decimal", (), None), source="workbook"
    )
    yield Form(
        "integer", "workbook", f"{{column: Cell, {german}}}", whole, question=("integer", (), None), source="workbook"
    )
    yield Form("yes/no", "workbook", "{column: Cell}", flag, question=("yes_no", (), None), source="workbook")


def _email(rng: Random) -> Cell:
    address = f"{rng.choice(('ada', 'a.nur', 'ada+job', 'o_neil'))}{rng.randrange(10**9)}@{rng.choice(('example.com', 'mail.example.org'))}"
    if rng.random() < 0.6:
        return Cell((address,), address)
    text, meaning, kind = rng.choice(
        (
            (f"Ada <{address}>", UNKNOWN, "display name"), (f"{address}; b{address}", UNKNOWN, "two addresses"),
            (f"mailto:{address}", UNKNOWN, "scheme"), (f"{address}.", UNKNOWN, "period behind"),
            (address.replace("@", "(at)"), UNKNOWN, "no @"), (address.replace("@", " @ "), UNKNOWN, "spaces"),
            (address.translate(_FULL_WIDTH), UNKNOWN, "full-width digits"), (f"\u200b{address}\u00a0", address, "spaces around"),
            (address.replace(".", ",", 1), UNKNOWN, "comma"), (address.replace("a", "\u0430", 1), UNKNOWN, "Cyrillic letter"),
            (address.replace("@", "@\u200b"), UNKNOWN, "zero-width space inside"), (address.partition("@")[0] + "@", UNKNOWN, "no domain"),
        )
    )  # fmt: skip
    return Cell((text,), meaning, kind)


def _document(rng: Random) -> Cell:
    number_ = str(rng.randrange(1, 10**6))
    if rng.random() < 0.7:
        return Cell((number_,), number_)
    text, kind = rng.choice(
        (
            (f"{number_}, {number_}", "two IDs"), (f"{number_[:1]},{number_}E+5", "shortened"), ("cv.pdf", "file name"),
            (f"#{number_}", "sign"), (f"-{number_}", "minus"), (f"1,{number_[:3]:0>3}", "grouped"), ("1.5", "fraction"),
        )
    )  # fmt: skip
    return Cell((text,), UNKNOWN, kind)


def _cv(rng: Random) -> Cell:
    number_ = f"{rng.randrange(1, 10**8):08}"
    known = rng.choice((number_, f"cv-{number_}", f"{number_}-4f2c-9a3b"))
    if rng.random() < 0.7:
        return Cell((known,), known)
    text, kind = rng.choice(
        (
            ("7.00E+11", "shortened"), ("7,1E+5", "shortened"), ("ada_nur.pdf", "file name"), ("CV.docx", "file name"),
            ("https://example.com/cv/7", "web address"), ("/srv/cv/7", "path"), ("ada@example.com", "e-mail address"),
            ("-", "sign"), ("N/A", "no value"), (f"{number_[:2]},{number_[2:5]}", "grouped"), ("yes;no", "two words"),
            (f"{number_},{number_}", "two IDs"), (f"{number_}|{number_}", "two IDs"), ("???", "signs"),
        )
    )  # fmt: skip
    return Cell((text,), UNKNOWN, kind)
