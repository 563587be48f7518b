"""Cells that a spreadsheet program shows otherwise than they are stored: codes, odd dates, old results."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.sources.corpus.binary_writers import BinaryTable, Formula, Shown, xls_bytes
from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import edited, raw_xlsx

_CODES = (  # the number format, the value, and what is read of it
    ('"EMP-"00000', 42, "EMP-00042"),
    ('"+90 "(000) 000 00 00', 5550000001, "+90 (555) 000 00 01"),
    ("+90 000 000 00 00", 5550000001, "+90 555 000 00 01"),
    ("000-00-0000", 12345678, "012-34-5678"),
    ('"No. "General', 12, "No. 12"),
    ("00000", -42, "-00042"),
    ('_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', 0, "0"),
    ("#,##0.00;(#,##0.00)", -12.5, "-12.5"),
    ('@"@example.com"', "ada", "ada@example.com"),
    ('"CAD-"00000', 42, "CAD-00042"),
    ("#\\.##", 450012, "4500.12"),
    ('0#" "##" "##" "##" "##', 612345678, "06 12 34 56 78"),
    ("0### ### ## ##", 5321234567, "0532 123 45 67"),
    ("#0000", 42, "0042"),
    ('"R"#,##0', 45, "45 R"),
    ('$0",000"', 45, "$45,000"),
    ("$0k", 45, "$45k"),
    ('"RM"#,##0', 45, "45 RM"),
    ("[$S/-280A] #,##0.00", 45, "45 S/"),
    ('_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', 0, "0 $"),
    ('_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)', 0, "0 $"),
    ('"$"0;"$"-0', -5, "-5 $"),
    ('"+"@', 905550000001, "+905550000001"),
    ('"@"@', "ada", "@ada"),
    ("@", 0, "0"),
    ("General;-General;0;General", "Ankara", "Ankara"),
    ('"€ 100"0', 45, "€ 10045"),
    ('0 "years"', 5, "5 years"),
    ('0"000 €"', 45, "45000 €"),
)
_UNITS = (
    (";;;", 6, "6"),
    ("0,", 50000, "50000"),
    ("00000", 12.7, "12.7"),
    ("0;0", -5, "-5"),
    ("0%;0%", -0.05, "-0.05"),
    ('#,##0 "k€"', 45, "45"),
    ('0.0 "Mio €"', 4.5, "4.5"),
    ('"RM"#,##0"k"', 45, "45"),
    ('-#,##0 "€"', 45, "45"),
    ('#,##0"+"', 45, "45"),
    ("aaaa", 45000, "45000"),
    ("yyyy", 2019, "1905-07-11"),
    ('[<1000]0"k";#,##0 "€"', 45, "45"),
    ("#,##0.0,", 45000, "45000"),
    (";;;", "hidden", "hidden"),
    ('0;0;0;"shown"', "hidden", "hidden"),
    ('[=1]"Yes";[=0]"No";General', 1, "1"),
    ('[=1]"Yes";[=0]"No";General', 7, "7"),
    ("[<=9999999]###-####;(###) ###-####", 5550000001, "5550000001"),
    ('"SR-"0', 42, "42"),
    (r"##\,##\,##0", 1234567, "1234567"),
    ("#\\.##0", 450012, "450012"),
    ('[>=1000]#,##0 "€";0 "$"', 45, "45"),
)


def _formatted(cells: tuple[tuple[str, Any, str], ...], id_: str, promise: str, problems: tuple[str, ...]) -> Case:
    """One cell of column B for each format."""

    def edit(book: Any, sheet: Any) -> None:
        for row, (number_format, value, _) in enumerate(cells, 2):
            sheet.cell(row, 1, "x")
            sheet.cell(row, 2, value).number_format = number_format

    rows = {row: ("x", text) for row, (*_, text) in enumerate(cells, 2)}
    content = partial(edited, (("Name", "Value"),), edit)
    return Case(id_, promise, "a.xlsx", content, Expected(("Name", "Value"), rows, problems))


def _not_read(row: int, number_format: str, text: str) -> str:
    return (
        f"a.xlsx, Sheet!B{row}: the cell has '{text}', but its number format {number_format!r} shows something else; "
        "give the column the format General or Text, and check what it shows then"
    )


_TYPE_IT = "type the right date into the cell, or clear the cell"
_NARROW = "the cell shows a date or time as ####, because its number, {}, {}"
_LEAP_DAY = "the cell shows the day 29 February 1900, which does not exist"
_BELOW = _NARROW.format(-3, "is below zero")
_SERIALS = (  # the number, what is read of it, and its problem
    (-3, "####", _BELOW),
    (0, "1900-01-00", "the cell shows the day 00.01.1900, which does not exist"),
    (60, "1900-02-29", _LEAP_DAY),
    (61, "1900-03-01", ""),
    (2958466, "####", _NARROW.format(2958466, "is after the last possible day")),
)
_FORMATS = '<numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs><xf/><xf numFmtId="14"/>'
_STYLES = _FORMATS + '<xf numFmtId="20"/><xf numFmtId="164"/></cellXfs>'
_HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>Born</t></is></c></row>'


def _dates(file: str, content: Any) -> Case:
    form = file.removeprefix("a.")
    problems = tuple(
        f"{file}, Sheet!A{row}: {problem}; {_TYPE_IT}" for row, (*_, problem) in enumerate(_SERIALS, 2) if problem
    )
    rows = {row: (text,) for row, (_, text, _) in enumerate(_SERIALS, 2)}
    return Case(f"{form}-odd-dates", "reports dates that are none", file, content, Expected(("Born",), rows, problems))


def _column(cells: tuple[str, ...], book: str = "") -> bytes:
    rows = "".join(f'<row r="{row}">{cell.format(row=row)}</row>' for row, cell in enumerate(cells, 2))
    return raw_xlsx(_HEADER + rows, styles=_STYLES, book=book)


def _xlsx(id_: str, promise: str, cells: tuple[str, ...], expected: Expected, book: str = "") -> Case:
    return Case(f"xlsx-{id_}", promise, "a.xlsx", lambda: _column(cells, book), expected)


_TABLE = [["Born"], *([Shown(serial, "date")] for serial, *_ in _SERIALS)]
_SERIAL_CELLS = tuple(f'<c r="A{{row}}" s="1"><v>{serial}</v></c>' for serial, *_ in _SERIALS)
_ISO = '<c r="A{{row}}" s="1" t="d"><v>{}</v></c>'

_FORMULAS: BinaryTable = [
    ["Name", "Note", "Score", "Born"],
    *([Formula("Ada", kind), Formula("short", kind), Formula(7.5, kind), Formula(44270.0, kind, "date")]
      for kind in (0x06, 0x206, 0x406)),
    ["Cy", Formula("Gül " * 5000), 8, Formula(-1.0, 0x406, "date")],
    ["Di", Formula("long", longest=4), Formula(7.0, 0x406, "00000"), Formula(0.5, 0x206)],
]  # fmt: skip
_OF_ADA = ("Ada", "short", "7.5", "2021-03-15")

SHOWN_CASES = (
    Case(
        "xls-formulas",
        "reads formulas in the records of Excel 3 and 4, and texts of formulas that continue over several records",
        "a.xls",
        lambda: xls_bytes(_FORMULAS),
        Expected(
            ("Name", "Note", "Score", "Born"),
            {
                **dict.fromkeys((2, 3, 4), _OF_ADA),
                5: ("Cy", ("Gül " * 5000).strip(), "8", "####"),
                6: ("Di", "long", "00007", "0.5"),
            },
            (f"a.xls, Sheet!D5: {_NARROW.format(-1, 'is below zero')}; {_TYPE_IT}",),
        ),
    ),
    Case(
        "xls-formulas-of-old-programs-only",
        "reads the texts of such formulas without others",
        "a.xls",
        lambda: xls_bytes([["Name", "Note"], ["Ada", Formula("old", 0x406)], ["Bob", Formula("new", 0x406)]]),
        Expected(("Name", "Note"), {2: ("Ada", "old"), 3: ("Bob", "new")}),
    ),
    _formatted(_CODES, "codes", "shows numbers as codes where their formats make codes of them", ()),
    _formatted(
        _UNITS,
        "units",
        "refuses numbers whose formats show something else, and names the formats",
        tuple(_not_read(row, each, text) for row, (each, _, text) in enumerate(_UNITS, 2)),
    ),
    _dates("a.xlsx", lambda: _column(_SERIAL_CELLS)),
    _dates("a.xls", lambda: xls_bytes(_TABLE)),
    _xlsx(
        "1904-days",
        "reads the first day of the 1904 date system, and a duration below zero",
        (
            '<c r="A{row}" s="1"><v>0</v></c>',
            '<c r="A{row}" s="1"><v>60</v></c>',
            '<c r="A{row}" s="3"><v>-0.5</v></c>',
        ),
        Expected(("Born",), {2: ("1904-01-01",), 3: ("1904-03-01",), 4: ("-12:00:00",)}),
        '<workbookPr date1904="1"/>',
    ),
    _xlsx(
        "last-moment-of-a-day",
        "keeps the end of a day in its day, and a second that is not stored exactly",
        ('<c r="A{row}" s="1"><v>45418.999999965</v></c>', '<c r="A{row}" s="1"><v>45418.6041666665</v></c>'),
        Expected(("Born",), {2: ("2024-05-06 23:59:59",), 3: ("2024-05-06 14:30:00",)}),
    ),
    _xlsx(
        "time-of-a-day",
        "reports a date of which only the time is shown",
        ('<c r="A{row}" s="2"><v>0.25</v></c>', '<c r="A{row}" s="2"><v>1.25</v></c>'),
        Expected(
            ("Born",),
            {2: ("06:00:00",), 3: ("1900-01-01 06:00:00",)},
            (
                "a.xlsx, Sheet!A3: the cell has '1900-01-01 06:00:00', but its number format 'h:mm' shows something "
                "else; type again what is meant, as text or as a date with its year",
            ),
        ),
    ),
    _xlsx(
        "negative-times",
        "reports times below zero",
        ('<c r="A{row}" s="2"><v>-3</v></c>', '<c r="A{row}" s="3"><v>-3</v></c>', '<c r="A{row}" s="2"><v>0</v></c>'),
        Expected(
            ("Born",),
            {2: ("####",), 3: ("####",), 4: ("00:00:00",)},
            tuple(f"a.xlsx, Sheet!A{row}: {_BELOW}; {_TYPE_IT}" for row in (2, 3)),
        ),
    ),
    _xlsx(
        "iso-dates",
        "reads dates stored as text, as they are written, and reports one with an offset",
        tuple(map(_ISO.format, ("2021-03-15T14:30:00.000Z", "2021-03-16T14:30:00", "2021-03-15T14:30:00+02:00"))),
        Expected(
            ("Born",),
            {2: ("2021-03-15 14:30:00",), 3: ("2021-03-16 14:30:00",), 4: ("2021-03-15T14:30:00+02:00",)},
            (
                "a.xlsx, Sheet!A4: '2021-03-15T14:30:00+02:00' is not a value that every program reads alike; "
                "type the right value into the cell, or clear the cell",
            ),
        ),
    ),
    _xlsx(
        "formulas-not-calculated",
        "reports results that no program has calculated: 0 or blank, where the workbook asks for a calculation",
        (
            '<c r="A{row}"><f>B1</f><v>0</v></c>',
            '<c r="A{row}" t="str"><f>B1</f><v></v></c>',
            '<c r="A{row}"><f>B1</f><v>5</v></c>',
        ),
        Expected(
            ("Born",),
            {2: ("#NO_RESULT!",), 3: ("#NO_RESULT!",), 4: ("5",)},
            tuple(
                f"a.xlsx, Sheet!A{row}: the formula has no stored result; open the workbook in a spreadsheet program, "
                "save it, then run the same command again"
                for row in (2, 3)
            ),
        ),
        '<calcPr fullCalcOnLoad="1"/>',
    ),
)
