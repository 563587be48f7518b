"""The answer types and special question types, each with good cells and bad ones."""

from __future__ import annotations

from dataclasses import dataclass

from importer.models import Question
from tests.transform.cells import question

LEVELS = question("single_choice", options=("Junior", "Senior", "Staff engineer"))
SKILLS = question("multiple_choice", options=("Python", "C", "C++", "Go"))
PHONE = question("short_text", type="phone")
PHOTO = question("file_upload", type="photo")

_DATES = '{column: Cell, dates: ["%d.%m.%Y", "%m/%Y", "%Y", "%d %b %Y"]}'
_PARTIAL = '{column: Cell, dates: ["%d.%m.%Y", "%m/%Y", "%Y"], missing_day: last, missing_month: first}'
_SIGNS = '{column: Cell, decimal: ",", thousands: "."}'
_LAST_NAME_FIRST = "{{column: Cell, part: {}, names: {{surname: first_word}}}}"
_EUROS = '{column: Cell, decimal: ",", thousands: ".", currency: [EUR, "€", Euro]}'
_TR = "{column: Cell, region: TR}"
_PROFILE = "{column: Cell, before: https://example.com/in/}"
_OTHERWISE = "{{column: Cell, values: {{Jr.: Junior}}, otherwise: {}}}"


@dataclass(frozen=True, slots=True)
class Good:
    """A valid cell, and what is sent for it; None: no answer is sent."""

    name: str
    asked: Question
    cell: str
    sent: str | None
    answer: str = "Cell"
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """A cell that is not valid, and its problem after the place."""

    name: str
    asked: Question
    cell: str
    problem: str
    answer: str = "Cell"
    typed: bool = False


_DATE, _INTEGER, _DECIMAL = question("date"), question("integer"), question("decimal")
_YES_NO, _URL, _FILE = question("yes_no"), question("url"), question("file_upload")
_TEXT, _LONG, _ADDRESS = question(), question("long_text"), question(type="address")

_CHOICES_AND_COMMAS = question("multiple_choice", options=("Java", "Go, Rust", "C"))
_FIRST_OF_LIST = "{column: Cell, split: json, take: first}"
_ARABIC = '{column: Cell, decimal: "٫", thousands: "٬"}'
GOOD = (
    Good(
        "address of a site among others",
        _URL,
        "LinkedIn: https://linkedin.com/in/ada; https://github.com/ada?tab=a,b.",
        "https://github.com/ada?tab=a,b",
        "{column: Cell, pick: github.com}",
    ),
    Good("no address of the site", _URL, "https://example.com/ada", None, "{column: Cell, pick: github.com}"),
    Good(
        "the same address twice",
        _URL,
        "https://gist.github.com/ada https://gist.github.com/ada/",
        "https://gist.github.com/ada",
        "{column: Cell, pick: github.com}",
    ),
    Good(
        "address with brackets, a quote and a full stop behind it",
        _URL,
        "(see https://en.wikipedia.org/wiki/Ada's_(name)).",
        "https://en.wikipedia.org/wiki/Ada's_(name)",
        "{column: Cell, pick: wikipedia.org}",
    ),
    Good(
        "piece that goes on to the next label",
        _TEXT,
        "Home: Gül Sok. 5, Ankara; Work: 2",
        "Gül Sok. 5, Ankara",
        "{column: Cell, pick: home}",
    ),
    Good(
        "label behind a piece with brackets",
        PHONE,
        "(0212) 3 (work), +90 (555) 000 00 01 (Mobile)",
        "+905550000001",
        "{column: Cell, pick: mobile}",
    ),
    Good(
        "piece with a label before it",
        PHONE,
        "Tel. home: 0212 3 4, Mobile: +90 555 000 00 01\nFax: 1",
        "+905550000001",
        "{column: Cell, pick: mobile}",
    ),
    Good(
        "piece with a label behind it",
        PHONE,
        "0212 3 4 (home) | +90 555 000 00 01 (Mobile)",
        "+905550000001",
        "{column: Cell, pick: mobile}",
    ),
    Good("piece that is missing", _TEXT, "Notice: -, Salary: 100", None, "{column: Cell, pick: notice, missing: '-'}"),
    Good("choices without a declared separator", SKILLS, "Go|C; Python", '["Go", "C", "Python"]'),
    Good("choice with the separator inside", _CHOICES_AND_COMMAS, "Java, Go,  rust,,", '["Java", "Go, Rust"]'),
    Good(
        "choice with the separator inside, of the value table",
        _CHOICES_AND_COMMAS,
        "C, the language, Java",
        '["C", "Java"]',
        '{column: Cell, split: ",", values: {"C, the language": C}}',
    ),
    Good(
        "choice with the separator inside, beside one that is left out",
        _CHOICES_AND_COMMAS,
        "Zig, Go, Rust",
        '["Go, Rust"]',
        '{column: Cell, split: ",", values: {Zig: ""}, otherwise: blank}',
    ),
    Good(
        "date in Arabic digits with direction marks",
        _DATE,
        "٣١\u200f/٥\u200f/٢٠٢٤",
        "2024-05-31",
        '{column: Cell, dates: "%d/%m/%Y"}',
    ),
    Good("date in full-width signs", _DATE, "２０２４／０５／３１", "2024-05-31", '{column: Cell, dates: "%Y/%m/%d"}'),
    Good(
        "year and month in digits",
        _DATE,
        "2005",
        "2020-05-01",
        '{column: Cell, dates: "%y%m", pivot: 1950, missing_day: first}',
    ),
    Good("decimal in Arabic digits", _DECIMAL, "١٬٢٣٤٫٥", "1234.5", _ARABIC),
    Good("integer with Indian grouping", _INTEGER, "12,34,567", "1234567", '{column: Cell, thousands: ","}'),
    Good("integer with another apostrophe", _INTEGER, "1’234", "1234", '{column: Cell, thousands: "\'"}'),
    Good("integer with a minus sign of typography", _INTEGER, "\u22125", "-5"),
    Good("decimal without declared signs", _DECIMAL, "1234.567", "1234.567"),
    Good("slash behind an area code", PHONE, "030/23125001", "+493023125001", "{column: Cell, region: DE}"),
    Good(
        "name with a lower-case particle as listed", _TEXT, "Maria d'Esempio", "d'Esempio", "{column: Cell, part: last}"
    ),
    Good(
        "particle in capitals",
        _TEXT,
        "Ana DE LA CRUZ",
        "DE LA CRUZ",
        "{column: Cell, part: last, names: {surname: capitals}}",
    ),
    Good("initials", _TEXT, "A. B. Nur", "A. B.", "{column: Cell, part: first}"),
    Good("short text in quotes", _TEXT, '"Ada"', '"Ada"'),
    Good("short text", _TEXT, " İzmir\u00a0", "İzmir"),
    Good("short text of a number cell", _TEXT, "1234.5", "1234.5", typed=True),
    Good("short text in one line", _TEXT, "one \r\n two\tthree", "one two three"),
    Good("short text blank", _TEXT, " \u200b", None),
    Good("long text with lines", _LONG, "one\n\ntwo\t3", "one\n\ntwo\t3"),
    Good("date ISO", _DATE, "2021-03-15", "2021-03-15"),
    Good("date ISO with time", _DATE, "1989-07-17T00:00:00", "1989-07-17"),
    Good("date cell", _DATE, "2021-03-15 14:30:00", "2021-03-15", _DATES, typed=True),
    Good("date declared", _DATE, "5.3.2021", "2021-03-05", _DATES),
    Good("date with month name", _DATE, "05 SEP 2021", "2021-09-05", _DATES),
    Good("date of a leap year", _DATE, "29.02.2024", "2024-02-29", _DATES),
    Good("month by rule", _DATE, "02/2023", "2023-02-28", _PARTIAL),
    Good("ISO month by rule", _DATE, "2024-02", "2024-02-29", _PARTIAL),
    Good("year by rule", _DATE, "2019", "2019-01-31", _PARTIAL),
    Good("year cell by rule", _DATE, "2019", "2019-01-31", _PARTIAL, typed=True),
    Good("birth date", _DATE, "07.10.68", "1968-10-07", '{column: Cell, dates: "%d.%m.%y", pivot: 1930}'),
    Good("date with hours", _DATE, "8/4/2000 12:00 AM", "2000-08-04", '{column: Cell, dates: "%m/%d/%Y %H:%M %p"}'),
    Good("integer", _INTEGER, "007", "7"),
    Good("integer with thousands", _INTEGER, "45.000", "45000", _SIGNS),
    Good("integer with zero decimals", _INTEGER, "12.0", "12", '{column: Cell, decimal: "."}'),
    Good("integer with thousands and zero decimals", _INTEGER, "5.200,00", "5200", _SIGNS),
    Good("integer with spaces", _INTEGER, "45\u00a0000", "45000", '{column: Cell, thousands: " "}'),
    Good("integer cell", _INTEGER, "12.0", "12", typed=True),
    *(
        Good(
            f"number cell with {step}",
            _DECIMAL,
            "12.125",
            "12.125",
            f'{{column: Cell, decimal: ",", thousands: ".", {step}}}',
            typed=True,
        )
        for step in ("pattern: '(?P<n>[0-9.,]+)( h)?'", 'split: ";", take: first')
    ),
    *(
        Good(f"initial or first name: {cell}", _TEXT, cell, last, f"{{column: Cell, part: last, names: {rule}}}")
        for cell, last, rule in (
            ("Mary E. Smith", "Smith", "{}"),
            ("Alan Y Chen", "Chen", "{}"),
            ("John O. Brown", "Brown", "{}"),
            ("Ben SMITH", "SMITH", "{surname: capitals}"),
            ("Nguyen Le Minh", "Nguyen", "{surname: first_word}"),
            ("José Ortega y Cruz", "Ortega y Cruz", "{surname: last_two_words, particles: [y]}"),
            *(
                (name, name.partition(" ")[2], "{surname: last_two_words, particles: [de, la]}")
                for name in ("Ana García de la Vega", "José de la Cruz", "Ana de Souza Lima")
            ),
        )
    ),
    Good("name behind which nothing is", _TEXT, "João Neto", "Neto", "{column: Cell, part: last}"),
    Good("integer cell despite signs", _INTEGER, "45000", "45000", _SIGNS, typed=True),
    Good("integer negative", _INTEGER, "-3", "-3"),
    Good("currency before", _DECIMAL, "€ 48.500,50", "48500.50", _EUROS),
    Good("currency after", _INTEGER, "48.500,00\u00a0eur", "48500", _EUROS),
    Good("longer spelling of a currency", _INTEGER, "Euro48500", "48500", _EUROS),
    Good("currency declared, but missing", _INTEGER, "48.500", "48500", _EUROS),
    Good("currency and spaces", _INTEGER, "48 500 kr.", "48500", '{column: Cell, thousands: " ", currency: kr.}'),
    Good("currency of a range", _INTEGER, "40.000 - 50.000 €", "50000", _EUROS[:-1] + ", part: end}"),
    Good("decimal point", _DECIMAL, "12.50", "12.50"),
    Good("decimal comma", _DECIMAL, "1.234,10", "1234.10", _SIGNS),
    Good("decimal cell despite signs", _DECIMAL, "1234.5", "1234.5", _SIGNS, typed=True),
    Good("decimal with many digits", _DECIMAL, "0.1234567890123456789", "0.1234567890123456789"),
    Good("yes", _YES_NO, "EVET", "yes"),
    Good("no in Turkish capitals", _YES_NO, "HAYIR", "no"),
    Good("yes cell", _YES_NO, "TRUE", "yes", typed=True),
    Good("no in German", _YES_NO, "nein", "no"),
    Good("declared word before built-in", _YES_NO, "x", "no", "{column: Cell, no: [x]}"),
    Good("choice folded", LEVELS, "STAFF  engineer", "Staff engineer"),
    Good("choice by table", LEVELS, "sr.", "Senior", "{column: Cell, values: {Sr.: Senior}}"),
    Good("choice not in the table", LEVELS, "junior", "Junior", "{column: Cell, values: {Sr.: Senior}}"),
    Good("choice otherwise blank", LEVELS, "?", None, "{column: Cell, values: {S: Senior}, otherwise: blank}"),
    Good("choice otherwise value", LEVELS, "?", "Junior", "{column: Cell, values: {}, otherwise: {value: Junior}}"),
    Good("option, not otherwise value", LEVELS, "senior", "Senior", _OTHERWISE.format("{value: Junior}")),
    Good("option, not otherwise blank", LEVELS, "Senior", "Senior", _OTHERWISE.format("blank")),
    Good("option, not otherwise keep", LEVELS, "SENIOR", "Senior", _OTHERWISE.format("keep")),
    Good(
        "options among choices, not otherwise blank",
        SKILLS,
        "Py;C++;Cobol",
        '["Python", "C++"]',
        '{column: Cell, split: ";", values: {Py: Python}, otherwise: blank}',
    ),
    Good("choice default", LEVELS, "", "Junior", "{column: Cell, default: Junior}"),
    Good("choices", SKILLS, "go; C++ ;go;", '["Go", "C++"]', '{column: Cell, split: ";"}'),
    Good("choices of one", SKILLS, "c", '["C"]'),
    Good("url", _URL, "https://example.com/a?b=ç", "https://example.com/a?b=ç"),
    Good("url without scheme", _URL, "linkedin.com/in/ada", "https://linkedin.com/in/ada"),
    Good("url with port", _URL, "example.com:8080/x", "https://example.com:8080/x"),
    Good("file", _FILE, "80005", "80005"),
    Good("file of a number cell", _FILE, "80005.0", "80005", typed=True),
    Good("photo", PHOTO, "0042", "0042"),
    Good("phone national", PHONE, "0(532) 123 45 67", "+905321234567", _TR),
    Good("phone without plus", PHONE, "905321234567", "+905321234567", _TR),
    Good("phone dialled with 00", PHONE, "0090532 1234567", "+905321234567"),
    Good("phone international", PHONE, "+44 20 7946 0123", "+442079460123", _TR),
    Good("phone kept as a float", PHONE, "905321234567.0", "+905321234567", _TR),
    Good("phone after a word", PHONE, "Tel. 0532 123 45 67", "+905321234567", _TR),
    Good("phone after two words", PHONE, "Cep No: 0532 123 45 67", "+905321234567", _TR),
    Good("address", _ADDRESS, "Gül Sok. 5\nİzmir", "Gül Sok. 5 İzmir"),
    Good("date by Excel's days", _DATE, "43990", "2020-06-08", "{column: Cell, dates: excel}"),
    Good(
        "date by Excel's days, number cell", _DATE, "43990.75", "2020-06-08", "{column: Cell, dates: excel}", typed=True
    ),
    Good("first day of Excel", _DATE, "1", "1900-01-01", "{column: Cell, dates: excel}"),
    Good("Excel's day after the missing leap day", _DATE, "61", "1900-03-01", "{column: Cell, dates: excel}"),
    Good("date by days since 1904", _DATE, "42528", "2020-06-08", "{column: Cell, dates: excel_1904}"),
    Good("date by seconds", _DATE, "1591574400", "2020-06-08", "{column: Cell, dates: epoch}"),
    Good("date by milliseconds", _DATE, "1591660799999", "2020-06-08", "{column: Cell, dates: epoch_ms}"),
    Good("date ISO with zone", _DATE, "2020-06-08T23:30:00.000+03:00", "2020-06-08"),
    Good(
        "two digits by a pivot",
        _DATE,
        "49",
        "2049-01-01",
        '{column: Cell, dates: "%y", pivot: 1950, missing_month: first, missing_day: first}',
    ),
    Good(
        "two digits from the pivot on",
        _DATE,
        "50",
        "1950-01-01",
        '{column: Cell, dates: "%y", pivot: 1950, missing_month: first, missing_day: first}',
    ),
    Good("month in Turkish", _DATE, "3 ŞUBAT 2024", "2024-02-03", '{column: Cell, dates: "%d %B %Y"}'),
    Good("month in Russian, in the genitive", _DATE, "02-Мая-2025", "2025-05-02", '{column: Cell, dates: "%d-%b-%Y"}'),
    Good("month in German, short", _DATE, "3. Mrz. 2024", "2024-03-03", '{column: Cell, dates: "%d. %b %Y"}'),
    Good("month in the second language", _DATE, "3 June 2024", "2024-06-03", '{column: Cell, dates: "%d %B %Y"}'),
    Good(
        "start of a range",
        _DATE,
        "04/2022 - 05/2023",
        "2022-04-01",
        '{column: Cell, part: start, dates: "%m/%Y", missing_day: first}',
    ),
    Good(
        "end of a range with a long dash",
        _DATE,
        "2019–2023",
        "2023-12-31",
        '{column: Cell, part: end, dates: "%Y", missing_month: last, missing_day: last}',
    ),
    Good("end of a range of two days", _DATE, "2019-01-02 - 2019-03-04", "2019-03-04", "{column: Cell, part: end}"),
    Good(
        "end of a range by a declared sign",
        _DATE,
        "2019 bis 2023",
        "2023-01-01",
        '{column: Cell, part: end, split: bis, dates: "%Y", missing_month: first, missing_day: first}',
    ),
    Good("open start of a range", _DATE, "- 2023", None, '{column: Cell, part: start, dates: "%Y"}'),
    Good("lower end of a salary", _INTEGER, "40 - 50", "40", "{column: Cell, part: start}"),
    Good("range that ends in thousands", _INTEGER, "800 - 1.200", "800", _SIGNS[:-1] + ", part: start}"),
    Good("part of a number cell", _DECIMAL, "12.375%", "12.375", _SIGNS[:-1] + r", pattern: '(?P<n>.+)%'}", typed=True),
    Good("joined number cell", _DECIMAL, "22.375", "22.375", _SIGNS.replace("column: Cell", "join: [Cell]"), True),
    Good("number cell with an ending", _DECIMAL, "22.375", "22.3755", _SIGNS[:-1] + ", after: '5'}", typed=True),
    Good("number in a list", _DECIMAL, '[22.375, "1"]', "22.375", _SIGNS[:-1] + ", split: json, take: first}"),
    Good("text in a list", _DECIMAL, '["22.375", 1]', "22375", _SIGNS[:-1] + ", split: json, take: first}"),
    Good(
        "group of a pattern",
        _TEXT,
        "Kadıköy / İstanbul",
        "İstanbul",
        "{column: Cell, pattern: '(?P<district>.+) / (?P<city>.+)', group: city}",
    ),
    Good(
        "group with a Turkish name",
        _TEXT,
        "GÜL / İzmir",
        "İzmir",
        "{column: Cell, pattern: '(?i)gül / (?P<şehir>\\w+)'}",
    ),
    Good("group of a pattern that is blank", _TEXT, "34-", None, "{column: Cell, pattern: '34-(?P<rest>.*)'}"),
    Good(
        "group of a pattern that is missing",
        _TEXT,
        "34-yok",
        None,
        "{column: Cell, pattern: '34-(?P<rest>.*)', missing: yok}",
    ),
    Good("first piece", _TEXT, " a ; b", "a", '{column: Cell, split: ";", take: first}'),
    Good(
        "first piece that is valid",
        PHONE,
        "none;+90 532 123 45 67",
        "+905321234567",
        '{column: Cell, split: ";", take: first_valid}',
    ),
    Good("no piece", _TEXT, ";", None, '{column: Cell, split: ";", take: first}'),
    Good(
        "last name with particles",
        _TEXT,
        "Ursula von der Leyen",
        "von der Leyen",
        "{column: Cell, part: last, names: {particles: [von, der]}}",
    ),
    Good(
        "particle that begins the name",
        _TEXT,
        "Van Morrison",
        "Van",
        "{column: Cell, part: first, names: {particles: [van]}}",
    ),
    Good(
        "last name with a suffix",
        _TEXT,
        "Robert Downey Jr.",
        "Downey Jr.",
        "{column: Cell, part: last, names: {suffixes: [Jr.]}}",
    ),
    Good(
        "suffix after a comma",
        _TEXT,
        "Robert Downey, Jr.",
        "Robert",
        "{column: Cell, part: first, names: {suffixes: [Jr.]}}",
    ),
    Good(
        "last name first",
        _TEXT,
        "DOE JOHN PAUL",
        "JOHN PAUL",
        "{column: Cell, part: first, names: {surname: first_word}}",
    ),
    Good(
        "last name first with particles",
        _TEXT,
        "van den Berg Anna",
        "van den Berg",
        "{column: Cell, part: last, names: {surname: first_word, particles: [van, den]}}",
    ),
    Good(
        "last name in capitals at the end",
        _TEXT,
        "Ayşe Nur ÖZ KAYA",
        "ÖZ KAYA",
        "{column: Cell, part: last, names: {surname: capitals}}",
    ),
    Good(
        "last name before a comma",
        _TEXT,
        "Öz, Ali",
        "Ali",
        "{column: Cell, part: first, names: {surname: before_comma}}",
    ),
    Good("missing word", _TEXT, "N / A", None, "{column: Cell, missing: [n / a]}"),
    Good("name like a form of address", _TEXT, "Bey, Ali", "Bey", "{column: Cell, part: last}"),
    *(
        Good(
            f"first name like a listed particle: {name}",
            _TEXT,
            name,
            last,
            "{column: Cell, part: last, names: {particles: [ben, al]}}",
        )
        for name, last in (("Cohen, Ben", "Cohen"), ("Smith, Al", "Smith"))
    ),
    Good(
        "listed particle in capitals",
        _TEXT,
        "ANA GARCIA Y LOPEZ",
        "GARCIA Y LOPEZ",
        "{column: Cell, part: last, names: {surname: last_two_words, particles: [y]}}",
    ),
    *(
        Good(f"name that is usual in Chinese: {name}", _TEXT, name, last, "{column: Cell, part: last}")
        for name, last in (("Xiao-Di Chen", "Chen"), ("Mei-Lo Wong", "Wong"), ("Pan Anna Müller", "Müller"))
    ),
    *(
        Good(
            f"spelling of the declared currency: {cell}", _INTEGER, cell, "48000", f"{{column: Cell, currency: {code}}}"
        )
        for cell, code in (
            ("Rs. 48000", "INR"),
            ("48000 kroner", "NOK"),
            ("48000 Türk Lirası", "TRY"),
            ("$48000", "CAD"),
            ("EUR 48000", "EUR"),
        )
    ),
    Good("first name like a suffix, behind a comma", _TEXT, "Silva, Júnior", "Júnior", "{column: Cell, part: first}"),
    Good("first name like a suffix", _TEXT, "Junior Muster", "Junior", "{column: Cell, part: first}"),
    Good("last name like a title", _TEXT, "Steffi Graf", "Graf", "{column: Cell, part: last}"),
    Good(
        "form of address in capitals, as the last name is",
        _TEXT,
        "Ahmet BEY",
        "BEY",
        "{column: Cell, part: last, names: {surname: capitals}}",
    ),
    Good("first of a name", _TEXT, "Nur  Ada Su", "Nur Ada", "{column: Cell, part: first}"),
    Good(
        "first of a name with an invisible character", _TEXT, "Bülent\u200b Su", "Bülent", "{column: Cell, part: first}"
    ),
    Good("last name of East Asia", _TEXT, "김 민수", "김", _LAST_NAME_FIRST.format("last")),
    *(
        Good(f"{name}: either order", _TEXT, name, last, "{column: Cell, part: last}")
        for name, last in (
            *(("Hoàng Lê", "Lê"), ("Vũ Müller", "Müller"), ("Beth Ditto", "Ditto"), ("Phan Rajesh Kumar", "Kumar")),
            *(("Lê Anna Müller", "Müller"), ("Thị Lê Nguyễn", "Nguyễn"), ("Anh Nguyễn", "Nguyễn")),
        )
    ),
    Good("names in katakana", _TEXT, "マリア ガルシア", "ガルシア", "{column: Cell, part: last}"),
    Good("last name before a patronymic", _TEXT, "Иванова Анна Петровна", "Иванова", _LAST_NAME_FIRST.format("last")),
    Good(
        "first name with a patronymic",
        _TEXT,
        "Мамедов Эльчин Рашид оглы",
        "Эльчин Рашид оглы",
        _LAST_NAME_FIRST.format("first"),
    ),
    Good(
        "last name that ends like a patronymic",
        _TEXT,
        "Дмитрий Дмитриевич Шостакович",
        "Шостакович",
        "{column: Cell, part: last}",
    ),
    Good("last name in -oğlu", _TEXT, "Ayşe Nur Kadıoğlu", "Kadıoğlu", "{column: Cell, part: last}"),
    Good("first name in -ева", _TEXT, "Ева Ким", "Ким", "{column: Cell, part: last}"),
    Good("last of a name", _TEXT, "Nur Ada Su", "Su", "{column: Cell, part: last}"),
    *(
        Good(f"initials in front: {one}", _TEXT, f"{one} Miller", "Miller", "{column: Cell, part: last}")
        for one in ("JD", "KVS", "J-P", "J.P.")
    ),
    Good(
        "address without its scheme",
        _URL,
        "www.example.com/ada",
        "https://www.example.com/ada",
        "{column: Cell, before: https://}",
    ),
    Good(
        "handle that begins like a host",
        _URL,
        "t.melnyk",
        "https://t.me/t.melnyk",
        "{column: Cell, before: https://t.me/}",
    ),
    Good("last name in capitals, as the rule has it", _TEXT, "Ana GARCÍA", "GARCÍA", "{column: Cell, part: last}"),
    Good("all in capitals", _TEXT, "ANA GARCÍA", "GARCÍA", "{column: Cell, part: last}"),
    Good("handle behind an address", _URL, "ada", "https://example.com/in/ada", _PROFILE),
    *(
        Good(
            f"path behind a site: {path}",
            _URL,
            path,
            f"https://example.com/{path}",
            "{column: Cell, before: https://example.com/}",
        )
        for path in ("ada.nur/cv.pdf", "v1.2/home", "?q=a@example.org", "~ada/a@b", "ada.nur/")
    ),
    Good("number behind its country", PHONE, "0532 211 22 33", "+905322112233", "{column: Cell, before: '+90'}"),
    Good("address behind its beginning", _URL, "https://Example.com/in/ada", "https://Example.com/in/ada", _PROFILE),
    Good("last before a comma", _TEXT, "SU, Nur Ada", "SU", "{column: Cell, part: last}"),
    Good("constant", _DATE, "", "2024-01-02", "{value: 2024-01-02}"),
)

_LONG_CELL = "x" * 200
_CAPITALS = "if the column has last names in capitals, set names: {surname: capitals} in the mapping"
_ALL_ARE_SO = "only if all names of the column are in this order, set names: {surname: first_word} in the mapping"
_LAST_NAME_IS_FIRST = "if the column has the last name first, set names: {surname: first_word} in the mapping"
_AS_LAST_FIRST = "write it as 'Last, First'"
_IF_NAME = ", or, if it is a name, as 'Last, First'"
_DOUBLE = ", or, in a double name, without the blanks beside it"
_PARTICLE_HINT = "write it as 'Last, First', or list it under particles: of names: in the mapping"
_SPLIT_HINT = "write both names without it, or list it under particles: or suffixes: of names: in the mapping"
_ELSEWHERE = (
    "may be a number of another area or country; write it with + and the country code, or as usual in DE, with its "
    "area code"
)
_REST_OF_RANGE = "write it as START - END"


def _unsplit(name: str, cell: str, reason: str, answer: str = "{column: Cell, part: last}") -> Bad:
    """A full name that is refused."""
    return Bad(name, _TEXT, cell, f"'{cell}' cannot be split into a first and a last name{reason}", answer)


BAD = (
    Bad("choices with another separator", SKILLS, "Go, C",
        "'Go, C' is not an option of q; separate the choices by ';', or set split: ',' in m.yaml:4",
        '{column: Cell, split: ";"}'),
    Bad("list that is not closed", _TEXT, '["a", "b',
        "'[\"a\", \"b' is not a valid list: it cannot be read from character 7 on; correct it", _FIRST_OF_LIST),
    Bad("list in a list", _TEXT, '["a", ["b"]]',
        "'[\"a\", [\"b\"]]' is not a list of texts; correct it", _FIRST_OF_LIST),
    Bad("key twice in a list", _TEXT, '[{"a": 1, "a": 2}]',
        "'[{\"a\": 1, \"a\": 2}]' is not a valid list: the key 'a' occurs twice; correct it", _FIRST_OF_LIST),
    *(Bad(f"ditto mark {text}", _TEXT, text, f"'{text}' refers to the cell above; write what it stands for")
      for text in ('"', '-"-', "〃", "same as above", "wie oben")),
    Bad("address of an e-mail", _URL, "ada@example.com",
        "'ada@example.com' is not a valid web address; write the address, such as https://example.com/ada"),
    Bad("two addresses", _URL, "https://example.com/a,https://example.com/b",
        "'https://example.com/a,https://example.com/b' is not a valid web address; write one address; to take one of "
        "several, set pick: or split: in the mapping"),
    Bad("address in brackets", _URL, "<https://example.com/a>",
        "'<https://example.com/a>' is not a valid web address; write it without the signs around it"),
    *(Bad(f"no site: {text}", _URL, text, f"'{text}' is not a valid web address; write it with https:// in front")
      for text in ("M.Sc", "www.example")),
    Bad("name of a file", _URL, "cv.pdf", "'cv.pdf' is not a valid web address; write it with https:// in front"),
    Bad("year and day without a separator", _DATE, "1112020",
        "'1112020' is not a date in the format %d%m%Y; write it as YYYY-MM-DD, or add its format under dates: "
        "in m.yaml:4",
        '{column: Cell, dates: "%d%m%Y"}'),
    Bad("day before the month after the year", _DATE, "2019-03-08",
        "'2019-03-08' can be read as 2019-03-08 and as 2019-08-03; write it as YYYY-MM-DD, or keep only one date "
        "format in m.yaml:4", '{column: Cell, dates: "%Y-%d-%m"}'),
    Bad("impossible time", _DATE, "2024-05-31 25:10",
        "'2024-05-31 25:10' is not a date in the format YYYY-MM-DD; write it as YYYY-MM-DD, or add its format under "
        "dates: in m.yaml:4"),
    Bad("seconds in a column of milliseconds", _DATE, "1591574400",
        "'1591574400' is not a date in the format epoch_ms; write it as YYYY-MM-DD, or add its format under dates: in "
        "m.yaml:4", "{column: Cell, dates: epoch_ms}"),
    Bad("year in a column of Excel's days", _DATE, "2019",
        "'2019' has no month; write the full date, or set missing_month: first or last in m.yaml:4",
        "{column: Cell, dates: excel}"),
    Bad("point of an undeclared meaning", _DECIMAL, "1.234",
        "'1.234' may have a thousands or a decimal separator; set decimal: and thousands: in m.yaml:4"),
    Bad("three zeros after the declared decimal sign", _INTEGER, "€71,000",
        "'€71,000' is not a whole number; write it in digits, with or without an apostrophe between thousands",
        '{column: Cell, decimal: ",", thousands: "\'", currency: "€"}'),
    Bad("three digits after the decimal sign of an amount", _DECIMAL, "71,500 EUR",
        "'71,500 EUR' may have a thousands or a decimal separator; write it without a separator", _EUROS),
    Bad("point between thousands is no decimal point", _DECIMAL, "1.5",
        "'1.5' is not a number with the decimal separator ','; write it in digits, or set decimal: and thousands: in "
        "m.yaml:4", '{column: Cell, thousands: "."}'),
    Bad("reversed digits", _INTEGER, "\u202e81",
        "'\\u202e81' is not a whole number; write it in digits"),
    Bad("reversed text", _TEXT, "a\u202eb",
        "'a\\u202eb' contains the character U+202E, which cannot be sent; remove it"),
    Bad("two short phones", PHONE, "01 5123 / 01 5124",
        "'01 5123 / 01 5124' contains several phone numbers; write one number, or set split: and take: first_valid in "
        "m.yaml:4",
        "{column: Cell, region: AT}"),
    Bad("two phones, of which none is valid", PHONE, "+49 1 23 / +49 1 24",
        "'+49 1 23 / +49 1 24' contains several phone numbers; write one number, or set split: and take: first_valid "
        "in m.yaml:4"),
    Bad("a plus too many", PHONE, "+90 555 000 00 (+)",
        "'+90 555 000 00 (+)' is not a valid phone number; check the country code and the number of digits"),
    Bad("phone without its area code", PHONE, "3023125",
        f"'3023125' {_ELSEWHERE}",
        "{column: Cell, region: DE}"),
    Bad("phone that is a date", PHONE, "2024-05-31",
        "'2024-05-31' is not a valid phone number; write it as +49 ..., or in the usual form for DE",
        "{column: Cell, region: DE}"),
    Bad("phone of another country without +", PHONE, "44 20 7946 0123",
        f"'44 20 7946 0123' {_ELSEWHERE}",
        "{column: Cell, region: DE}"),
    *(
        Bad(f"piece that cannot be told: {cell}", asked, cell,
            f"'{cell}' has '{pick}', but not as a piece of its own; write it as one piece, or change pick: in m.yaml:4",
            f"{{column: Cell, pick: {pick}}}")
        for asked, pick, cell in (
            (_URL, "github.com", "https://github.com.example.com/a https://notgithub.com/ada"),
            (_URL, "github.com", "github.com/ada,gitlab.com/ada"),
            (_URL, "github.com", "github.com/ada&github.com/bob"),
            (_URL, "wikipedia.org", "https://en.wikipedia.org/wiki/Ada,b.html"),
            (_TEXT, "city", "City: Ankara,Country: TR"),
            (PHONE, "mobile", "+90 555 000 00 01 (no mobile)"),
            (PHONE, "mobile", "+90 555 000 00 01 (mobile), +90 212 3"),
        )
    ),
    Bad("addresses that differ in case", _URL, "github.com/1aB github.com/1Ab",
        "'github.com/1aB github.com/1Ab' has several pieces with 'github.com': 'github.com/1aB' and 'github.com/1Ab'; "
        "write "
        "it as one piece, or change pick: in m.yaml:4", "{column: Cell, pick: github.com}"),
    *(Bad(f"phone of another person or kind: {word}", PHONE, f"{word}: 0532 123 45 67",
        f"'{word}: 0532 123 45 67' has '{shown}' before the number; if it is the candidate's, write only the "
        "number", _TR)
      for word, shown in (("Fax", "Fax"), ("Tel wife", "wife"), ("old number", "old"), ("acil tel", "acil"),
                          ("don't call", "don't"), ("Nachbarin", "Nachbarin"), ("Chef", "Chef"))),
    Bad("several choices of which one is dropped", SKILLS, "Python, Cobol",
        "'Python, Cobol' has a choice that is not known, beside one that `otherwise:` would drop; if these are several "
        "choices, set split: in m.yaml:4", "{column: Cell, values: {Py: Python}, otherwise: blank}"),
    Bad("decimals before thousands of the mapping", _DECIMAL, "45,5",
        "'45,5' is not only digits, and the mapping writes '000' after it; write the whole number",
        "{column: Cell, decimal: ',', after: '000'}"),
    Bad("hour after the last one of a day", _DATE, "2024-05-31 24:00",
        "'2024-05-31 24:00' is not a date in the format YYYY-MM-DD; write it as YYYY-MM-DD, or add its format "
        "under dates: in m.yaml:4"),
    Bad("phone with the country code and a digit too few", PHONE, "491511000000",
        "'491511000000' may be a number of another area or country; write it with + and the country code, or as usual "
        "in DE, with its area code", "{column: Cell, region: DE}"),
    *(Bad(f"no part of an address: {text}", _URL, text,
        f"'{text}' is what programs write for an empty cell, and no part of an address; clear the cell, or list it "
        "under missing: in m.yaml:4", _PROFILE) for text in ("none", "N/A", "null")),
    *(Bad(f"first or last name: {name}", _TEXT, name,
        f"'{name}' cannot be split into a first and a last name because of '{words}'; write it as 'Last, First'",
        "{column: Cell, part: last, names: {surname: last_two_words, particles: [de, la, del]}}")
      for name, words in (("María del Carmen García", "del Carmen"), ("Juan de Dios Peña", "de Dios"))),
    *(_unsplit(f"part of a last name: {cell}", cell, f" because of '{word}'; {hint}")
      for cell, word, hint in (
          ("Jan Vries, de", "de", "write what belongs to the last name before the comma"),
          ("de Vries Jan", "de", _PARTICLE_HINT), ("Sean Ó Briain", "Ó", _PARTICLE_HINT),
          ("Omar Abdel Fattah", "Abdel", _PARTICLE_HINT), ("Hocine Aït Ahmed", "Aït", _PARTICLE_HINT),
          ("Juan Pérez hijo", "hijo", f"{_AS_LAST_FIRST}, or list it under suffixes: of names: in the mapping"),
      )),
    *(_unsplit(f"initial in a last name: {cell}", cell, f" because of '{word}'; {_AS_LAST_FIRST}",
               f"{{column: Cell, part: last, names: {{surname: {rule}}}}}")
      for cell, word, rule in (
          ("José L. García", "L.", "last_two_words"), ("Ana Ruiz M.", "M.", "last_two_words"),
          ("A. P. J. Kalam", "A.", "first_word"),
      )),
    _unsplit("Irish particle", "Siobhán Ní Bhriain", f" because of 'Ní'; {_PARTICLE_HINT}"),
    Bad("several pieces", PHONE, "mobile: +90 555 000 00 01; mobile: +90 555 000 00 02",
        "'mobile: +90 555 000 00 01; mobile: +90 555 000 00 02' has several pieces with 'mobile': '+90 555 000 00 01' "
        "and '+90 555 000 00 02'; write it as one piece, or change pick: in m.yaml:4", "{column: Cell, pick: mobile}"),
    Bad("choice that is also two", question("multiple_choice", options=("R", "D", "R/D")), "R/D",
        "'R/D' may be 'R' and 'D', or 'R/D'; separate choices by another character, and set it as split: in "
        "m.yaml:4", '{column: Cell, split: "/"}'),
    Bad("phone that is not in use", PHONE, "+44 7700 900001",
        "'+44 7700 900001' is not a valid phone number; it has enough digits, but +44 has no number like this: correct "
        "the digits", "{column: Cell, region: GB}"),
    Bad("phone with a country code and no plus", PHONE, "905550000104",
        "'905550000104' is not a valid phone number; if its first digits are the country code, write a + in front: "
        "+905550000104", "{column: Cell, region: GB}"),
    Bad("phone in the usual form that is not in use", PHONE, "07700 900003",
        "'07700 900003' is not a valid phone number; it has enough digits, but +44 has no number like this: correct "
        "the digits", "{column: Cell, region: GB}"),
    _unsplit("particle that is not listed", "Ursula von Beispiel", f" because of 'von'; {_PARTICLE_HINT}"),
    _unsplit("title", "Dr. Ada Nur", " because of 'Dr.'; write both names without it"),
    Bad("title that is listed as a particle", _TEXT, "Dr. Ada Nur",
        "'Dr. Ada Nur' cannot be split into a first and a last name because of 'Dr.'; write both names without it",
        '{column: Cell, part: first, names: {particles: ["Dr."]}}'),
    Bad("fraction of a currency", _INTEGER, "1234.5 €",
        "'1234.5 €' is not a whole number; the question takes whole numbers: remove the decimals", _EUROS, typed=True),
    Bad("currency of a format, and another one of the mapping", _TEXT, "48000 $",
        "'48000 $' has a currency, and the mapping writes 'TL' beside it; remove before: and after: in m.yaml:4, or "
        "give the cell the format General", "{column: Cell, after: ' TL'}", typed=True),
    *(_unsplit(f"double name with a particle: {cell}", cell, f" because of '{word}'; {_AS_LAST_FIRST}")
      for cell, word in (("Anna Jansen-de Vries", "Jansen-de"), ("Eva Bakker-van der Meer", "Bakker-van"))),
    _unsplit("suffix that is not listed", "Ada Nur, PhD", f" because of 'PhD'; {_SPLIT_HINT}"),
    _unsplit("two people", "Ada & Bob Nur", " because of '&'; write both names without it"),
    *(_unsplit(f"form of address: {word}", cell, f" because of '{word}'; write both names without it{other}")
      for cell, word, other in (
          ("Max Muster M.A.", "M.A.", _IF_NAME), ("Max Muster M.A", "M.A", _IF_NAME),
          ("Muster, Max M.A.", "M.A.", _IF_NAME), ("Klaus Muster senior", "senior", _IF_NAME),
          ("Dipl.-Ing. Max Muster", "Dipl.-Ing.", ""), ("Av. Ada Nur", "Av.", ""),
          ("Ayşe Yılmaz - Kaya", "-", _DOUBLE), ("Ayşe Yılmaz -Kaya", "-", _DOUBLE),
          ("Ayşe Yılmaz Hanım", "Hanım", _IF_NAME), ("Ali Kaya Bey", "Bey", _IF_NAME),
          ("Doç Ali Can", "Doç", _IF_NAME), ("Sayın Ali Kaya", "Sayın", _IF_NAME), ("Bay Ali Kaya", "Bay", _IF_NAME),
          ("Pani Anna Nowak", "Pani", _IF_NAME),
      )),
    *(_unsplit(f"word of the last name, or behind it: {word}", cell, f" because of '{word}'; {_PARTICLE_HINT}")
      for cell, word in (
          ("Hans Freiherr von Beispiel", "Freiherr"), ("Marie Gräfin Muster", "Gräfin"), ("Maria Di Muster", "Di"),
          ("Omar El Muster", "El"), ("Jan 't Muster", "'t"),
      )),
    *(Bad(f"a listed particle in the first name, or at the end: {cell}", _TEXT, cell,
          f"'{cell}' cannot be split into a first and a last name because of '{word}'; {_AS_LAST_FIRST}",
          "{column: Cell, part: last, names: {particles: [van, von, der, de, la]}}")
      for cell, word in (
          ("Anna Jansen-van Berg", "Jansen-van"),
          ("van der Berg", "van"), ("de la Cruz", "de"), ("von Berg Anna", "von"), ("Anna Berg van der", "der"),
          ("Van der Berg", "Van"), ("Anna de", "de"), ("DE VRIES", "DE"),
      )),
    *(Bad(f"between two last names: {word}", _TEXT, cell, f"'{cell}' cannot be split into a first and a last name "
          f"because of '{word}'; {_AS_LAST_FIRST}", "{column: Cell, part: last, names: {particles: [de, e, y]}}")
      for cell, word in (("Maria de Souza e Silva", "e"), ("THAÍS DE SOUZA E SILVA", "E"), ("José Cruz y Paz", "y"))),
    _unsplit("behind the last name: Neto", "Luísa Pereira Neto", " because of 'Neto'; write it as 'Last, First', or "
             "list it under suffixes: of names: in the mapping"),
    Bad("name with lost letters", _TEXT, "?ucja Wo?niak",
        "'?ucja Wo?niak' has '?', which a program wrote in place of letters; write the name as a person reads it",
        "{column: Cell, part: first}"),
    _unsplit("patronymic as the last word", "Иванова Анна Петровна",
             f": 'Петровна' looks like a patronymic; {_AS_LAST_FIRST}; {_LAST_NAME_IS_FIRST}"),
    _unsplit("last name of East Asia in front", "王 伟",
             f": '王' looks like a last name; {_AS_LAST_FIRST}; {_ALL_ARE_SO}"),
    *(_unsplit(f"last name of Vietnam in front: {name}", name,
               f": '{name.split()[0]}' looks like a last name; {_AS_LAST_FIRST}; {_ALL_ARE_SO}")
      for name in ("Nguyễn Văn An", "Nguyễn Anh", "Trần Thị Lý", "Hoàng Thị Phan", "Lê Minh Tuấn", "Vũ Đình Lê")),
    _unsplit("two people in one cell", "AYŞE VE ALİ YILMAZ", " because of 'VE'; write a row for each person"),
    _unsplit("patronymic of two words", "Мамедов Эльчин Рашид оглы",
             f": 'оглы' looks like a patronymic; {_AS_LAST_FIRST}; {_LAST_NAME_IS_FIRST}"),
    _unsplit("Latin patronymic as the last word", "Ivanov Ivan Ivanovich",
             f": 'Ivanovich' looks like a patronymic; {_AS_LAST_FIRST}; {_LAST_NAME_IS_FIRST}"),
    _unsplit("patronymic without a last name", "Анна Петровна",
             f": 'Петровна' looks like a patronymic; {_AS_LAST_FIRST}"),
    _unsplit("last name as the first word", "Иванова Анна",
             f": 'Иванова' looks like a last name; {_AS_LAST_FIRST}; {_LAST_NAME_IS_FIRST}"),
    *(Bad(f"other address behind the beginning of one: {cell}", _URL, cell,
          f"'{cell}' has the beginning of an address, and the mapping writes 'https://example.com/in/' before it; "
          "write only what comes behind that, or remove it from the mapping", _PROFILE)
      for cell in ("https://example.org/in/ada", "www.example.com/in/ada", "tr.Example.com/in/ada", "/in/ada", "in/ada",
                   "github.com/ada", "http:/example.com/in/ada", "https//example.com/in/ada", "ada@example.org")),
    _unsplit("capitals in front", "MÜLLER Hans", f": 'MÜLLER' is in capitals; {_AS_LAST_FIRST}; {_CAPITALS}"),
    _unsplit("capitals of two words", "Ana GARCÍA LÓPEZ", f": 'GARCÍA' is in capitals; {_AS_LAST_FIRST}; {_CAPITALS}"),
    _unsplit("capitals at the end", "Hans MÜLLER", f": 'MÜLLER' is in capitals; {_AS_LAST_FIRST}; {_CAPITALS}",
             _LAST_NAME_FIRST.format("last")),
    _unsplit("patronymic before the last name", "Анна Петровна Ким",
             f": 'Петровна' looks like a patronymic; {_AS_LAST_FIRST}; if the column has the last name last, set "
             "names: {surname: last_word} in the mapping", _LAST_NAME_FIRST.format("last")),
    Bad("month that looks like a range", _DATE, "2019-05",
        f"'2019-05' is not a valid range of two values; {_REST_OF_RANGE}",
        '{column: Cell, part: start, dates: "%Y", missing_day: first, missing_month: first}'),
    *(Bad(f"range that became a date, with {step}", _INTEGER, "2026-05-03",
          "'2026-05-03' is not a whole number; write it in digits", f"{{column: Cell, {step}}}", typed=True)
      for step in ("split: '-', take: first", "pattern: '(?P<least>[0-9]+)(?:-.*)?'")),
    Bad("dash before 000", _INTEGER, "-",
        "'-' is not a whole number; write it in digits; to leave it out, add it under missing: in m.yaml:4",
        "{column: Cell, after: '000'}"),
    Bad("short range of thousands", _INTEGER, "40-50.000",
        f"'40-50.000' is not a valid range of two values; {_REST_OF_RANGE}",
        "{column: Cell, thousands: '.', part: start}"),
    Bad("phone number with its country behind it", PHONE, "49 171 1234567",
        "'49 171 1234567' begins with 49, and the mapping writes '+49' before it; remove it here, or before: from the "
        "mapping", "{column: Cell, before: '+49'}"),
    Bad("two pieces with labels behind them", _TEXT, "Ankara (work)/İzmir (home)",
        "'Ankara (work)/İzmir (home)' has 'home', but not as a piece of its own; write it as one piece, or change "
        "pick: in m.yaml:4", "{column: Cell, pick: home}"),
    _unsplit("listed particle beside capitals", "Charles de GAULLE", f" because of 'de'; {_AS_LAST_FIRST}",
             "{column: Cell, part: first, names: {surname: capitals, particles: [de]}}"),
    _unsplit("listed particle before two last names", "Maria da Silva Santos", f" because of 'da'; {_AS_LAST_FIRST}",
             "{column: Cell, part: first, names: {particles: [da]}}"),
    *(_unsplit(f"end of the last name behind the comma: {cell}", cell,
               f" because of '{cell.split()[-1]}'; write what belongs to the last name before the comma", answer)
      for cell, answer in (("Smith, Robert Jr.", "{column: Cell, part: first, names: {suffixes: [Jr.]}}"),
                           ("Goethe, Johann Wolfgang von", "{column: Cell, part: first}"))),
    Bad("range that became a date", _INTEGER, "1940-10-01",
        f"'1940-10-01' is not a valid range of two values; {_REST_OF_RANGE}", "{column: Cell, part: end}", typed=True),
    Bad("day and month beside Excel's days", _DATE, "31.05",
        "'31.05' is not a date in the format excel or %d.%m.%Y; write it as YYYY-MM-DD, or add its format under dates: "
        "in m.yaml:4", '{column: Cell, dates: [excel, "%d.%m.%Y"]}'),
    Bad("phone number with a zero behind another one", PHONE, "0532 211 22 33",
        "'0532 211 22 33' begins with 0, and the mapping writes '0' before it; remove it here, or before: from the "
        "mapping", "{column: Cell, region: TR, before: '0'}"),
    Bad("dash behind the beginning of an address", _URL, "-",
        "'-' is not a valid web address; write the address, such as https://example.com/ada", _PROFILE),
    Bad("range whose other end cannot be read", _INTEGER, "40 - 50k",
        "'50k' is not a whole number; write it in digits",
        "{column: Cell, part: start}"),
    Bad(
        "text with a control character", _TEXT, "a\x00b",
        "'a\\u0000b' contains the character U+0000, which cannot be sent; remove it",
    ),
    Bad(
        "formula escape left", _TEXT, "'=1+1",
        """''=1+1' begins with the quote that results files put before characters like = or +; remove the quote, """
        "or keep the import_ columns in the results file",
    ),
    Bad(
        "formula escape left in a long text", _LONG, "'- one\n- two",
        """''- one - two' begins with the quote that results files put before characters like = or +; remove the """
        "quote, or keep the import_ columns in the results file",
    ),
    Bad(
        "date invalid", _DATE, "soon",
        "'soon' is not a date in the format %d.%m.%Y or %m/%Y or %Y or %d %b %Y; write it as YYYY-MM-DD, or give "
        "it a date under values: (with otherwise: keep) in m.yaml:4; to leave it out, add it under missing:",
        _DATES,
    ),
    Bad(
        "date without a declared format", _DATE, "01.02.2024",
        "'01.02.2024' is not a date in the format YYYY-MM-DD; write it as YYYY-MM-DD, or add its format "
        "under dates: in m.yaml:4",
    ),
    Bad("day that does not exist", _DATE, "31.02.2020", "'31.02.2020' is a date that does not exist; correct the date",
        _DATES),
    Bad("day zero", _DATE, "00.03.2020", "'00.03.2020' is a date that does not exist; correct the date", _DATES),
    Bad("ISO day zero", _DATE, "2020-03-00", "'2020-03-00' is a date that does not exist; correct the date"),
    Bad("month that does not exist", _DATE, "2020-13-01",
    "'2020-13-01' has a month that does not exist; correct the date"),
    Bad("year out of range", _DATE, "01.01.0202", "'01.01.0202' is outside the years 1900 to 2100; "
        "correct the year; if it stands for no date, add it under missing: in m.yaml:4", _DATES),
    Bad(
        "month without a rule", _DATE, "2020-01",
        "'2020-01' has no day; write the full date, or set missing_day: first or last in m.yaml:4",
    ),
    Bad(
        "year without a rule", _DATE, "2019",
        "'2019' has no month; write the full date, or set missing_month: first or last in m.yaml:4",
        _DATES,
    ),
    Bad(
        "date of two readings", _DATE, "07/11/2017",
        "'07/11/2017' can be read as 2017-07-11 and as 2017-11-07; write it as YYYY-MM-DD, or keep only one date "
        "format in "
        "m.yaml:4",
        '{column: Cell, dates: ["%d/%m/%Y", "%m/%d/%Y"]}',
    ),
    Bad(
        "serial number of a date", _DATE, "43990",
        "'43990' is not a date in the format YYYY-MM-DD; write it as YYYY-MM-DD; or, if it is a number of days, add "
        "excel (of a workbook with the 1904 date system: excel_1904) under dates: in m.yaml:4",
        typed=True,
    ),
    Bad("integer with thousands and decimals", _INTEGER, "5.200,00",
        "'5.200,00' is not a whole number; write it in digits, with or without '.' between thousands; for numbers "
        "like 12,00 set decimal: in m.yaml:4", '{column: Cell, thousands: "."}'),
    Bad("integer with a comma between thousands and decimals", _INTEGER, "62,000.00",
        "'62,000.00' is not a whole number; write it in digits, with or without ',' between thousands; for numbers "
        "like 12.00 set decimal: in m.yaml:4", '{column: Cell, thousands: ","}'),
    Bad("amount with its currency and undeclared thousands", _INTEGER, "$61,000",
        "'$61,000' is not a whole number; write it in digits, or set thousands: in m.yaml:4",
        '{column: Cell, currency: "$"}'),
    Bad("integer that may be thousands", _INTEGER, "45.000",
        "'45.000' is not a whole number; write it in digits, or set thousands: in m.yaml:4",
        '{column: Cell, decimal: "."}'),
    Bad("integer with a declared separator and a fraction", _INTEGER, "5.200,50",
        "'5.200,50' is not a whole number; the question takes whole numbers: remove the decimals", _SIGNS),
    Bad("integer with a fraction", _INTEGER, "12,5",
        "'12,5' is not a whole number; the question takes whole numbers: remove the decimals"),
    Bad("integer cell with a fraction", _INTEGER, "12.5",
        "'12.5' is not a whole number; the question takes whole numbers: remove the decimals", typed=True),
    Bad("integer wrongly grouped", _INTEGER, "4.50",
        "'4.50' is not a whole number; the question takes whole numbers: remove the decimals", _SIGNS),
    Bad(
        "decimal with the other sign", _DECIMAL, "12,5",
        "'12,5' is not a number with the decimal separator '.'; write it in digits, or set decimal: and "
        "thousands: in "
        "m.yaml:4",
    ),
    Bad(
        "decimal with a currency", _DECIMAL, "12 TL",
        "'12 TL' is not a number with the decimal separator ','; write it in digits, or set currency: in m.yaml:4",
        _SIGNS,
    ),
    Bad("amount with undeclared currency and thousands", _INTEGER, "38\u202f500 €",
        "'38 500 €' is not a whole number; write it in digits, or set currency: and thousands: in m.yaml:4"),
    Bad("a word before a number", _INTEGER, "about 5", "'about 5' is not a whole number; write it in digits"),
    Bad("a word before a decimal number", _DECIMAL, "about 5",
        "'about 5' is not a number with the decimal separator '.'; write it in digits"),
    Bad("another currency", _INTEGER, "48.000 USD",
        "'48.000 USD' is not a whole number; write it in digits and in EUR, or correct currency: in m.yaml:4", _EUROS),
    Bad("a word that is not a currency", _INTEGER, "от 90000",
        "'от 90000' is not a whole number; write it in digits", '{column: Cell, thousands: " "}'),
    Bad("thousands that begin with zero", _DECIMAL, "0.875",
        "'0.875' is not a number with the decimal separator ','; write it in digits, like 1.234,50, or correct "
        "decimal: and thousands: in m.yaml:4", _EUROS),
    Bad("zeros behind a point", _INTEGER, "7.0",
        "'7.0' is not a whole number; write it without decimals, or set decimal: in m.yaml:4"),
    Bad("a number with a sign behind it", _INTEGER, "10+", "'10+' is not a whole number; write it in digits"),
    Bad("a word that multiplies", _INTEGER, "50 bin", "'50 bin' is not a whole number; write it in digits", _EUROS),
    Bad("two currencies", _INTEGER, "€ 48.000 EUR",
        "'€ 48.000 EUR' is not a whole number; write it in digits, with or without '.' between thousands", _EUROS),
    Bad("thousands of a currency", _INTEGER, "48k €",
        "'48k €' is not a whole number; write it in digits, with or without '.' between thousands", _EUROS),
    Bad("a currency within a number", _INTEGER, "48€000",
        "'48€000' is not a whole number; write it in digits, with or without '.' between thousands", _EUROS),
    Bad("a longer word than the currency", _DECIMAL, "48 Eurobonds",
        "'48 Eurobonds' is not a number with the decimal separator ','; write it in digits, like 1.234,50, or correct "
        "decimal: and thousands: in m.yaml:4", _EUROS),
    Bad("a word in place of a number", _DECIMAL, "VB",
        "'VB' is not a number with the decimal separator ','; write it in digits; to leave it out, add it under "
        "missing: in m.yaml:4", _EUROS),
    Bad(
        "neither yes nor no", _YES_NO, "maybe",
        "'maybe' is neither yes nor no; write yes or no, or add the word under yes: or no: in m.yaml:4; to leave "
        "it out, add it under missing:",
    ),
    Bad(
        "not an option", LEVELS, "Snior",
        "'Snior' is not an option of q; did you mean 'Senior'? use one of Junior, Senior, Staff engineer, or add it "
        'under values: in m.yaml:4; to leave it out, add it under missing:',
    ),
    *(Bad(f"says more than an option: {text}", LEVELS, text,
        f"'{text}' is not an option of q; use one of Junior, Senior, Staff engineer, or add it "
        'under values: in m.yaml:4; to leave it out, add it under missing:')
      for text in ("not senior", "Senior değil", "Mid/Senior", "Seniorlar")),
    Bad(
        "choices with one that is not an option", SKILLS, "Go;Cobol",
        "'Cobol' is not an option of q; use one of Python, C, C++, Go, or add it under values: in m.yaml:4; to leave "
        "it out, add it under missing:",
        '{column: Cell, split: ";"}',
    ),
    Bad(
        "choices not split, one of them unknown", SKILLS, "Go|Rust",
        "'Go|Rust' is not an option of q; if these are several choices, set split: in m.yaml:4; use "
        "one of Python, C, C++, Go, or add it under values: in m.yaml:4; to leave it out, add it under missing:",
    ),
    Bad(
        "not in the table of a text", _TEXT, "Istnbul",
        "'Istnbul' is not in the value table; did you mean 'istanbul'? use one of istanbul, or add it under values: in "
        "m.yaml:4; to leave it out, add it under missing:",
        "{column: Cell, values: {İstanbul: 34}}",
    ),
    Bad("url not an address", _URL, "none yet",
        "'none yet' is not a valid web address; write the address, such as https://example.com/ada"),
    Bad("url of another kind", _URL, "javascript:alert(1)",
        "'javascript:alert(1)' is not a valid web address: javascript: addresses cannot be sent; write the "
        "address, such as https://example.com/ada"),
    Bad("url broken", _URL, "http://[x",
        "'http://[x' is not a valid web address; write the address, such as https://example.com/ada"),
    Bad("url with port 0", _URL, "https://example.com:0",
        "'https://example.com:0' is not a valid web address; write the address, such as https://example.com/ada"),
    Bad("file name instead of an ID", _FILE, "cv.pdf",
        "'cv.pdf' is not a valid document ID; enter the ID of one uploaded document"),
    *(Bad(f"answer instead of an ID: {word}", _FILE, word,
          f"'{word}' is not a valid document ID; enter the ID of one uploaded document")
      for word in ("none", "Yok", "ja")),
    Bad("photo not an ID", PHOTO, "80.5",
        "'80.5' is not a valid document ID; enter the ID of one uploaded document", typed=True),
    *(Bad(f"a document ID with separators: {text}", kind, text,
        f"'{text}' is not a valid document ID; enter the ID of one uploaded document")
      for text in ("31.000", "31.038", "31038.00") for kind in (_FILE, PHOTO)),
    Bad("phone not a number", PHONE, "call me",
        "'call me' is not a valid phone number; write it as +90 ..., or in the usual form for TR", _TR),
    Bad("phone invalid", PHONE, "0532 12",
        "'0532 12' is not a valid phone number; write it as +90 ..., or in the usual form for TR", _TR),
    Bad("phone without region", PHONE, "0532 123 45 67",
        "'0532 123 45 67' is not a valid phone number; write it with + and the country code, or set region: in "
        "m.yaml:4"),
    Bad(
        "phone shortened", PHONE, "9.05E+11",
        "'9.05E+11' is a number that a spreadsheet program shortened; format the column as text and type the "
        "number "
        "again",
        _TR,
    ),
    Bad("phone with extension", PHONE, "+44 20 7946 0123 ext. 4",
        "'+44 20 7946 0123 ext. 4' has the extension 4, which cannot be sent; write the number without the extension"),
    Bad("phone in words", PHONE, "1-800-IRONMAN",
        "'1-800-IRONMAN' contains letters; write the number in digits", "{column: Cell, region: IN}"),
    Bad("phone with the letter O", PHONE, "0532 123 45 O7",
        "'0532 123 45 O7' contains letters; write the number in digits", _TR),
    Bad("phone before a word", PHONE, "+44 20 7946 0123 x",
        "'+44 20 7946 0123 x' contains letters; write the number in digits"),
    Bad("photo in other digits", PHOTO, "٣٤",
        "'٣٤' is not a valid document ID; enter the ID of one uploaded document"),
    Bad("Excel's missing leap day", _DATE, "60",
        "'60' is not a date in the format excel; write it as YYYY-MM-DD, or add its format under dates: in "
        "m.yaml:4",
        "{column: Cell, dates: excel}"),
    Bad("Excel's day after 2100", _DATE, "99999",
        "'99999' is not a date in the format excel; write it as YYYY-MM-DD, or add its format under dates: in "
        "m.yaml:4",
        "{column: Cell, dates: excel}"),
    Bad("range of one value", _DATE, "2021", "'2021' is not a valid range of two values; write it as START - END",
        '{column: Cell, part: start, dates: "%Y"}'),
    Bad("range of three values", _DATE, "2019 - 2020 - 2021",
        "'2019 - 2020 - 2021' is not a valid range of two values; write it as START - END", '{column: Cell, part: end, '
        'dates: "%Y"}'),
    Bad("text that does not fit its pattern", _TEXT, "x",
        "'x' does not match the pattern; correct it, or change pattern: in m.yaml:4", "{column: Cell, pattern: "
        "'(?P<a>[0-9]+)'}"),
    Bad("text that is slow in other regex engines", _TEXT, "a" * 40,
        f"'{'a' * 40}' does not match the pattern; correct it, or change pattern: in m.yaml:4",
        "{column: Cell, pattern: '(?P<a>(a+)+b)'}"),
    Bad("phone of another country", PHONE, "+44 7700 90",
        "'+44 7700 90' is not a valid phone number; check the country code and the number of digits", _TR),
    Bad("no valid piece", PHONE, "none;later", "'none' is not a valid phone number; write it with + and the "
                                               "country code, or "
        "set region: in m.yaml:4",
        '{column: Cell, split: ";", take: first_valid}'),
    Bad("name without capitals", _TEXT, "Ayşe Öz",
        "'Ayşe Öz' needs a last name in capitals, with a first name before or after it; write it as 'LAST First', or "
        "as 'Last, First'",
        "{column: Cell, part: last, names: {surname: capitals}}"),
    Bad("name all in capitals", _TEXT, "AYŞE ÖZ",
        "'AYŞE ÖZ' needs a last name in capitals, with a first name before or after it; write it as 'LAST First', or "
        "as 'Last, First'",
        "{column: Cell, part: last, names: {surname: capitals}}"),
    Bad("name without a comma", _TEXT, "Ayşe Öz", "'Ayşe Öz' has no comma after the last name; write it as 'Last, "
        "First'",
        "{column: Cell, part: last, names: {surname: before_comma}}"),
    Bad("name of particles", _TEXT, "van der", "'van der' cannot be split into a first and a last name; write it as "
        "'Last, First'",
        "{column: Cell, part: last, names: {surname: first_word, particles: [van, der]}}"),
    Bad("name of one word", _TEXT, "Madonna",
        "'Madonna' is one word and cannot be split into a first and a last name; write both names",
        "{column: Cell, part: last}"),
    Bad("name of two commas", _TEXT, "Su, Ada, Nur",
        "'Su, Ada, Nur' cannot be split into a first and a last name; write it as 'Last, First' or 'First Last'",
        "{column: Cell, part: last}"),
    Bad("long cell", _URL, _LONG_CELL,
        f"'{_LONG_CELL[:80]}…' is not a valid web address; write the address, such as https://example.com/ada"),
)  # fmt: skip
