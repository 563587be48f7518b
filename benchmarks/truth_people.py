# ruff: noqa: E501  (tables: one case on one line)
"""Cells of people whose meaning is known: phone numbers, names, addresses, web addresses, and the entries of a career.

Like `truth_cells`, of which it is the second half: nothing of importer is used here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from random import Random
from typing import Any

from benchmarks.truth_cells import UNKNOWN, WELL_FORMED, Cell, Form, disturbed, mixed, some_day, written
from benchmarks.truth_locales import Locale

# --- phone numbers --------------------------------------------------------------------------------

_PHONE = ("short_text", (), "phone")


def _grouped(rng: Random, digits: str) -> str:
    """The digits in groups of two to four, as people write them."""
    groups, sign = [], rng.choice((" ", "-", ".", "\u00a0", ""))
    while digits:
        size = len(digits) if len(digits) < 5 else rng.choice((2, 3, 4))
        groups.append(digits[:size])
        digits = digits[size:]
    return sign.join(groups)


def phones(locale: Locale) -> Iterator[Form]:
    """National and international numbers, with the region declared."""

    def number(rng: Random) -> tuple[str, str, str]:
        code, trunk, form = rng.choice(locale.phones)
        return code, trunk, "".join(str(rng.randrange(10)) if sign == "N" else sign for sign in form)

    def plain(rng: Random) -> tuple[str, str]:
        code, trunk, national = number(rng)
        text = _grouped(rng, national)
        international = f"+{code} {text}", f"+{code}{text}", f"+{code}-{text}"
        local = (f"{trunk}{text}", f"({trunk}{text[:3]}){text[3:]}" if text[:3].isdigit() else f"{trunk}{text}")
        return rng.choice((*international, *local)), f"+{code}{national}"

    def broken(rng: Random) -> tuple[str, Any, str]:
        (text, meaning), (second, _) = plain(rng), plain(rng)
        code, trunk, national = number(rng)
        known = f"+{code}{national}"
        other = rng.choice(("/", " / ", ";", ",", " or ", "\n", " | ", " "))
        foreign = rng.choice(("442079460123", "905550000001", "12025550123", "493023125001", "33199001234"))
        return rng.choice(
            (
                (f"{text}{other}{second}", UNKNOWN, "two phones"),
                (f"{trunk}{national[:6]} / {trunk}{national[:6]}1", UNKNOWN, "two short phones"),
                (f"{text} ext. 12", UNKNOWN, "extension"),
                (f"{text} x12", UNKNOWN, "extension"),
                (f"{text} (work)", meaning, "word behind"),
                (f"Tel. {text}", meaning, "word in front"),
                (f"00{code}{national}" if locale.region not in ("US", "JP") else text, f"+{code}{national}" if locale.region not in ("US", "JP") else meaning, "dialled with 00"),
                (f"+{code} (0){national}" if trunk == "0" else text, known if trunk == "0" else meaning, "zero in parentheses"),
                (foreign, f"+{foreign}", "country code of another country without +"),
                (national[: 3 if locale.region in ("IT", "DE", "FI") else -3], UNKNOWN, "digits are missing"),
                (national[3:], UNKNOWN, "area code is missing"),
                (f"{text}1234567890", UNKNOWN, "digits too many"),
                ("2024-05-31", UNKNOWN, "date"),
                ("31.12.1985", UNKNOWN, "date"),
                (f"{national[0]},{national[1:3]}E+{len(national) - 1}", UNKNOWN, "shortened by a spreadsheet program"),
                (f"{code}{national}.0" if len(national) > 7 else text, known if len(national) > 7 else meaning, "float"),
                (text.replace("0", "O"), UNKNOWN if "0" in text else meaning, "letters for digits"),
                (f"{text}?", UNKNOWN, "question mark"),
            )
        )  # fmt: skip

    digits = locale.digits if locale.digits != "0123456789" else ""
    yield Form("phone", locale.code, f"{{column: Cell, region: {locale.region}}}", mixed(plain, broken, digits),
               question=_PHONE)  # fmt: skip


# --- names ----------------------------------------------------------------------------------------

_TITLES = ("Dr.", "Prof. Dr.", "Mr", "Frau", "Ing.")
_SUFFIXES = ("Jr.", "III", "PhD", "MBA")
_UNDECLARED = ("von der", "Van", "de la", "dos", "bin", "De")


def names(locale: Locale) -> Iterator[Form]:
    """Full names by the usual order of the locale, and `Last, First`."""

    def person(rng: Random) -> tuple[str, str]:
        last = rng.choice(locale.last_names)
        if locale.particles and rng.random() < 0.4:
            last = f"{rng.choice(locale.particles)} {last}"
        return rng.choice(locale.first_names), last

    def full(first: str, last: str, order: str) -> tuple[str, tuple[str, str]]:
        if order == "before_comma":
            return f"{last}, {first}", (first, last)
        if order == "capitals":
            last = last.replace("i", "İ").upper() if locale.code == "tr-TR" else last.upper()
            return f"{first} {last}", (first, last)
        return f"{last} {first}" if order == "first_word" else f"{first} {last}", (first, last)

    def make(rng: Random, order: str) -> Cell:
        first, last = person(rng)
        text, meaning = full(first, last, order)
        turn = rng.random()
        if turn < 0.7:
            return Cell((text,), meaning)
        if turn < 0.8:
            text, kind = disturbed(rng, text)
            return Cell((text,), meaning, kind)
        particle = rng.choice([word for word in _UNDECLARED if word not in locale.particles])
        title, suffix = rng.choice(_TITLES), rng.choice(_SUFFIXES)
        text, known, kind = rng.choice(
            (
                (text + "2", UNKNOWN, "digit"),
                (f"{text} 34", UNKNOWN, "number"),
                (first, UNKNOWN, "one word" if " " not in first else "first name alone"),
                (f"{first}@example.com", UNKNOWN, "e-mail address"),
                (f"{text} & {first} {last}", UNKNOWN, "two people"),
                (f"{text} / {first}", UNKNOWN, "two people"),
                (f"{text} (Ex)", UNKNOWN, "parentheses"),
                (f"{title} {text}", UNKNOWN, "title"),
                (f"{text}, {suffix}", UNKNOWN, "suffix after a comma"),
                (f"{text} {suffix}", UNKNOWN, "suffix"),
                (full(first, f"{particle} {last}", order)[0], (first, f"{particle} {last}"), "particle that is not declared"),
                (text.replace(" ", "\u00a0"), meaning, "no-break space between"),
                ("?", UNKNOWN, "sign"),
            )
        )  # fmt: skip
        if kind == "first name alone" or (kind.startswith("particle") and order == "capitals"):
            return Cell((full(first, last, order)[0],), meaning)
        return Cell((text,), known, kind)

    for order in dict.fromkeys((locale.surname, "before_comma")):
        rule = f"surname: {order}"
        if locale.particles and order != "before_comma":
            rule += f", particles: {json.dumps(locale.particles, ensure_ascii=False)}"
        yield Form("name", locale.code, "", partial(make, order=order), defaults=f"names: {{{rule}}}")


# --- texts: addresses, web addresses, patterns ----------------------------------------------------

_PATTERN = "{column: Cell, pattern: '(?P<city>[^/]+) / (?P<country>[^/]+)', group: city}"


def texts(locale: Locale) -> Iterator[Form]:
    """Addresses joined from columns, a part of a cell by a pattern, web addresses."""

    def address(rng: Random) -> Cell:
        street, number, city = (
            f"{rng.choice(locale.last_names)} 1",
            str(rng.randrange(1, 99)),
            rng.choice(locale.first_names),
        )
        cells = [street, number, city]
        if rng.random() < 0.3:
            cells[rng.randrange(3)] = rng.choice(("", "\u00a0", "\u200b"))
        kept = [cell for cell in cells if cell.strip("\u00a0\u200b")]
        return Cell(tuple(cells), ", ".join(kept))

    yield Form("address", locale.code, '{join: [Street, No, City], with: ", "}', address, ("Street", "No", "City"),
               ("short_text", (), "address"))  # fmt: skip

    def city(rng: Random) -> Cell:
        name, country = rng.choice(locale.first_names), rng.choice(locale.last_names)
        if rng.random() < 0.8:
            return Cell((f"{name} / {country}",), name)
        text, meaning = rng.choice(
            ((name, UNKNOWN), (f"{name}/{country}", UNKNOWN), (f"{name} / {country} / x", UNKNOWN))
        )
        return Cell((text,), meaning, "does not match")

    yield Form("pattern", locale.code, _PATTERN, city)

    domain = f"example.{locale.region.lower() if locale.region != 'GB' else 'co.uk'}"

    def link(rng: Random) -> tuple[str, str]:
        path = rng.choice(
            (
                "",
                "/",
                f"/in/ada-{rng.randrange(99)}",
                "/a?b=c&d=%C3%A7",
                "/@ada",
                "/x_(y)",
                f"/{locale.first_names[0]}".replace(" ", "-"),
            )
        )
        host = rng.choice((f"www.{domain}", domain, "linkedin.example.com", "ada.example.dev"))
        scheme = rng.choice(("https://", "http://", ""))
        return f"{scheme}{host}{path}", f"{scheme or 'https://'}{host}{path}"  # fmt: skip

    def broken(rng: Random) -> tuple[str, Any, str]:
        (text, meaning), (second, _) = link(rng), link(rng)
        return rng.choice(
            (
                (f"ada@{domain}", UNKNOWN, "e-mail address"),
                (f"https://ada:x@{domain}/", UNKNOWN, "password"),
                (f"{text}{rng.choice((',', ';', ' ', ', ', '|', ' / '))}{second}", UNKNOWN, "two addresses"),
                (f"{meaning}{'' if meaning.endswith('/') else 'x'}https://{domain}/b", UNKNOWN, "two addresses without a separator")
                if not meaning.endswith("/") else (f"{meaning},", UNKNOWN, "comma behind"),
                (f"{meaning},", UNKNOWN, "comma behind"),
                (f"<{meaning}>", UNKNOWN, "angle brackets"),
                (f"[site]({meaning})", UNKNOWN, "markup"),
                ("ada.nur", UNKNOWN, "user name"),
                ("cv.pdf", UNKNOWN, "file name"),
                ("Node.js", UNKNOWN, "product"),
                ("10.2.3.4", UNKNOWN, "version"),
                ("C:\\cv\\ada.docx", UNKNOWN, "path"),
                ("@ada", UNKNOWN, "handle"),
                ("linkedin: ada-nur", UNKNOWN, "words"),
                (f"htp://{domain}", UNKNOWN, "mistyped scheme"),
                (f"https:/{domain}", UNKNOWN, "mistyped scheme"),
                (meaning.replace(".", ". ", 1), UNKNOWN, "space inside"),
            )
        )  # fmt: skip

    yield Form("URL", locale.code, "{column: Cell}", mixed(link, broken), question=("url", (), None))


# --- ranges ---------------------------------------------------------------------------------------


def ranges(locale: Locale) -> Iterator[Form]:
    """Both ends of a range of dates in one cell, as an entry; and the start alone."""
    form = locale.dates[0] if "-" not in locale.dates[0] else "%d/%m/%Y"
    quoted = json.dumps([form, "%Y"], ensure_ascii=False)
    settings = f"dates: {quoted}, missing_day: first, missing_month: first"
    both = (
        f"{{experience: {{company_name: Cell, start_date: {{column: Years, part: start, {settings}}}, "
        f"end_date: {{column: Years, part: end, {settings}, present: [now]}}}}}}"
    )

    def pair(rng: Random) -> tuple[str, date, date | None, str]:
        start = some_day(rng)
        end = start + timedelta(rng.randrange(400, 4000)) if rng.random() < 0.8 else None
        if end is not None and end > date(2026, 6, 30):
            end = None
        years = rng.random() < 0.4
        sign = rng.choice((" - ", " – ", "–", "-") if years else (" - ", " – ", " — "))
        texts = [str(day.year) if years else written(day, form) for day in (start, end) if day]
        if years:
            start = start.replace(month=1, day=1)
            end = end.replace(month=1, day=1) if end else None
        return sign.join([*texts, *([] if end else ["now"])]), start, end, sign

    def entry(rng: Random) -> Cell:
        text, start, end, _ = pair(rng)
        found: dict[str, Any] = {"company_name": "Example", "start_date": start.isoformat()}
        found |= {"end_date": end.isoformat()} if end else {"currently_employed": True}
        if rng.random() < 0.75:
            return Cell(("Example", text), [found])
        year = start.year
        text, kind = rng.choice(
            (
                (f"{year}-05", "month, not a range"), (f"{year}-{year % 100 + 1:02}", "short second year"),
                (f"{text} - 1999", "three ends"), (f"{year}", "one end"), (f"{year} / {year + 1}", "another separator"),
                (f"{year + 3} - {year}", "reversed"), (f"{year} - soon", "word"), ("-", "sign"),
            )
        )  # fmt: skip
        return Cell(("Example", text), UNKNOWN, kind)

    yield Form("range", locale.code, both, entry, ("Cell", "Years"), ("long_text", (), None))

    def start_alone(rng: Random) -> Cell:
        text, start, _, _ = pair(rng)
        if rng.random() < 0.75:
            return Cell((text,), start.isoformat())
        if rng.random() < 0.3:
            return Cell((f"{start.year} - soon",), f"{start.year}-01-01", "other end is a word")
        text = rng.choice((f"{start.year}-05", f"{start.year}-{start.year + 1}?"))
        return Cell((text,), UNKNOWN, "other end is not a date")

    yield Form("range", locale.code, f"{{column: Cell, part: start, {settings}}}", start_alone,
               question=("date", (), None))  # fmt: skip


# --- entries --------------------------------------------------------------------------------------


def entries(locale: Locale) -> Iterator[Form]:
    """Experience in numbered columns, in one cell, in JSON, in parallel lists, in child rows and in rows of a group."""
    form = locale.dates[0]
    dates = f"dates: {json.dumps(form, ensure_ascii=False)}"
    asked = ("long_text", (), None)

    def fields(company: str, title: str, since: str) -> str:
        return f"company_name: {company}, position_title: {title}, start_date: {{column: {since}, {dates}}}"

    def job(rng: Random) -> tuple[str, str, date]:
        return f"{rng.choice(locale.last_names)} & Co.", rng.choice(locale.first_names), some_day(rng)

    def jobs(rng: Random) -> tuple[list[tuple[str, str, str]], list[dict[str, str]]]:
        found = [job(rng) for _ in range(rng.randrange(1, 4))]
        cells = [(company, title, written(day, form)) for company, title, day in found]
        sent = [
            {"company_name": company, "position_title": title, "start_date": day.isoformat()}
            for company, title, day in found
        ]
        return cells, sent

    def groups(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        filled = [cell for group in cells for cell in group]
        if rng.random() < 0.1:
            return Cell((*filled[:-1], "?", *("",) * (9 - len(filled))), UNKNOWN, "a date that cannot be read")
        return Cell((*filled, *("",) * (9 - len(filled))), sent)

    columns = tuple(f"{name} {number}" for number in (1, 2, 3) for name in ("Company", "Title", "From"))
    answer = '{experience: {repeat: "{n}", ' + fields('"Company {n}"', '"Title {n}"', '"From {n}"') + "}}"
    yield Form("entries in groups", locale.code, answer, groups, columns, asked)

    def one_cell(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        pieces = [f"{title} @ {company} ({day})" for company, title, day in cells]
        if rng.random() < 0.15:
            pieces[-1] = rng.choice((pieces[-1][:-1], "on leave", f"{pieces[-1]} x"))
            return Cell(("\n".join(pieces),), UNKNOWN, "does not match")
        return Cell(("\n".join(pieces),), sent)

    answer = (
        "{experience: {cell: {column: Cell, split: newline, "
        "pattern: '(?P<title>[^@]+) @ (?P<company>[^(]+) [(](?P<since>[^)]+)[)]'}, "
        + fields("company", "title", "since") + "}}"
    )  # fmt: skip
    yield Form("entries in a cell", locale.code, answer, one_cell, question=asked)

    def in_json(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        items = [{"company": company, "title": title, "since": day} for company, title, day in cells]
        text = rng.choice((json.dumps(items, ensure_ascii=rng.random() < 0.5), repr(items)))
        if rng.random() < 0.2:
            first = json.dumps(items[0], ensure_ascii=False)
            text, kind = rng.choice(
                (
                    (f'[{{"company": "Other", {first[1:]}]', "key twice"), (text[:-2], "cut off"),
                    (text.replace("&", "\\d"), "unknown escape"), (f"{text} {text}", "two lists"),
                )
            )  # fmt: skip
            return Cell((text,), UNKNOWN, kind)
        return Cell((text,), sent)

    answer = "{experience: {json: Cell, " + fields("company", "title", "since") + "}}"
    yield Form("entries in JSON", locale.code, answer, in_json, question=asked)

    def lists(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        columns = ["|".join(column) for column in zip(*cells, strict=True)]
        if rng.random() < 0.15:
            return Cell((f"{columns[0]}|x", *columns[1:]), UNKNOWN, "lengths differ")
        return Cell(tuple(columns), sent)

    answer = '{experience: {lists: {split: "|"}, ' + fields("Company", "Title", "From") + "}}"
    yield Form("entries in lists", locale.code, answer, lists, ("Company", "Title", "From"), asked)

    def child(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        if rng.random() < 0.1:
            cells[0] = (*cells[0][:2], "soon")
            return Cell((), UNKNOWN, "a date that cannot be read", tuple(cells))
        return Cell((), sent, WELL_FORMED, tuple(cells))

    answer = (
        "{experience: {file: {name: child.csv, key: Person, equals: ID}, " + fields("Company", "Title", "From") + "}}"
    )
    yield Form("entries in child rows", locale.code, answer, child, (), asked, source="child")

    def rows(rng: Random) -> Cell:
        cells, sent = jobs(rng)
        distinct = [entry for index, entry in enumerate(sent) if entry not in sent[:index]]
        return Cell(cells[0], distinct, WELL_FORMED, tuple(cells[1:]))

    answer = "{experience: {rows: all, " + fields("Company", "Title", "From") + "}}"
    yield Form("entries in rows", locale.code, answer, rows, ("Company", "Title", "From"), asked, source="rows")
