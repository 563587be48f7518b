"""XLSX workbooks: stored values as a person sees them, sheets, hidden rows, errors, formulas, and unusual XML."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from importer.models import SourceOptions
from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import edited, raw_xlsx, with_backslashes, xlsxwriter_bytes

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_PEOPLE = (("Name", "City"), ("Ada", "London"), ("Alan", "Wilmslow"))
_ROWS = {2: ("Ada", "London"), 3: ("Alan", "Wilmslow")}
_COLUMNS = ("Name", "City")
_NONE = SourceOptions()
_EXPECTED = Expected(_COLUMNS, _ROWS)
_TEXT = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
_HEADER = f'<row r="1">{_TEXT.format("A1", "Name")}{_TEXT.format("B1", "City")}</row>'
_ROW_2 = f'<row r="2">{_TEXT.format("A2", "Ada")}{_TEXT.format("B2", "London")}</row>'
_ROW_3 = f'<row r="3">{_TEXT.format("A3", "Alan")}{_TEXT.format("B3", "Wilmslow")}</row>'
_ALL = _HEADER + _ROW_2 + _ROW_3


def _value(id_: str, promise: str, value: Any, text: str, number_format: str | None = None, typed: bool = True) -> Case:
    """A cell B2 with a stored value and a format."""

    def edit(book: Any, sheet: Any) -> None:
        sheet["B2"] = value
        if number_format is not None:
            sheet["B2"].number_format = number_format

    expected = Expected(("Name", "Value"), {2: ("x", text)}, typed={2: {1} if typed else set()})
    return Case(f"cell-{id_}", promise, "a.xlsx", lambda: edited((("Name", "Value"), ("x",)), edit), expected)


def _raw(id_: str, promise: str, expected: Expected = _EXPECTED, rows: str = _ALL, **parts: Any) -> Case:
    return Case(f"xlsx-{id_}", promise, "a.xlsx", lambda: raw_xlsx(rows, **parts), expected)


def _edit(id_: str, promise: str, edit: Any, expected: Expected, options: SourceOptions = _NONE) -> Case:
    return Case(f"xlsx-{id_}", promise, "a.xlsx", lambda: edited(_PEOPLE, edit), expected, options)


def _three_sheets(book: Any, sheet: Any) -> None:
    sheet.title = "Old"
    sheet.sheet_state = "hidden"
    for title, state in (("Adaylar", "visible"), ("Notes", "visible"), ("Secret", "veryHidden")):
        other = book.create_sheet(title)
        other.sheet_state = state
        for row in (("Name", "City"), (f"from {title}", "x")):
            other.append(row)


def _hide_row_2(book: Any, sheet: Any) -> None:
    sheet.row_dimensions[2].hidden = True


def _named(id_: str, promise: str, wanted: str, title: str) -> Case:
    expected = Expected(
        _COLUMNS, {2: (f"from {title}", "x")}, reading=f"XLSX, sheet '{title}', header found in row 1, 2 columns"
    )
    return _edit(id_, promise, _three_sheets, expected, SourceOptions(sheet=wanted))


_VALUES = (
    _value("integer", "shows a phone stored as number without .0", 442079460001, "442079460001"),
    _value("integer-float", "shows a whole float without .0", 5.0, "5"),
    _value("decimal", "shows a decimal number", 1234.5, "1234.5"),
    _value("decimal-15", "shows 15 digits, as a spreadsheet does", 0.1 + 0.2, "0.3"),
    _value("small", "shows a small number without exponent", 1e-7, "0.0000001"),
    _value("negative", "shows a negative number", -12.25, "-12.25"),
    _value("zero-format", "keeps the zeros that a format shows", 42, "00042", "00000"),
    _value(
        "phone-format", "shows a phone as its format does", 2079460001, "0207 946 0001", "0000 000 0000", typed=False
    ),
    _value("plus-format", "keeps the plus of a phone format", 442079460001, "+442079460001", '"+"0'),
    _value("month", "shows no day where the format has none", date(2020, 5, 1), "2020-05", "mmm-yy"),
    _value("thousands", "leaves out thousands separators, and keeps the currency", 1234567, "1234567 TL", '#,##0 "TL"'),
    _value("percent", "shows a percentage as one", 0.125, "12.5%", "0.0%"),
    _value("percent-built-in", "recognizes the percent format that no stylesheet lists", 0.5, "50%", "0%"),
    _value("true", "shows a boolean", True, "TRUE"),
    _value("false", "shows a false boolean", False, "FALSE"),
    _value("date", "shows a date as ISO", date(2021, 3, 15), "2021-03-15"),
    _value("date-format", "shows a date as ISO whatever its format", date(2021, 3, 15), "2021-03-15", "d/m/yy"),
    _value(
        "date-locale",
        "recognizes a date by a format of another language",
        date(2021, 3, 15),
        "2021-03-15",
        "[$-41F]d mmmm yyyy;@",
    ),
    _value("date-time", "shows a time where there is one", datetime(2021, 3, 15, 14, 30), "2021-03-15 14:30:00"),
    _value("midnight", "shows no time at midnight", datetime(2021, 3, 15), "2021-03-15"),
    _value("seconds", "rounds to whole seconds", datetime(2021, 3, 15, 14, 29, 59, 999_999), "2021-03-15 14:30:00"),
    _value("time", "shows a time", time(14, 30), "14:30:00"),
    _value("duration", "shows hours beyond a day", timedelta(hours=36, minutes=5), "36:05:00"),
    _value("text-digits", "keeps a text of digits", "0012", "0012", typed=False),
    _value("text-trimmed", "trims blanks, NBSP and zero-width signs of text", " \u00a0x\u200b ", "x", typed=False),
)

_CELL_PROBLEMS = (
    Case(
        "xlsx-digits-lost",
        "reports each number with more digits than a workbook keeps",
        "a.xlsx",
        lambda: xlsxwriter_bytes((("Name", "Id"), ("Ada", 12), ("Alan", 12345678901234567890))),
        Expected(
            ("Name", "Id"),
            {2: ("Ada", "12"), 3: ("Alan", "12345678901234600000")},
            (
                "a.xlsx, Sheet!B3: 12345678901234600000 has more than 15 digits, of which a spreadsheet keeps 15; in "
                "the original, format the column as text, then export it again; or type the number as text",
            ),
        ),
    ),
    _raw(
        "error-cells",
        "reports each error cell and keeps its text",
        Expected(
            _COLUMNS,
            {2: ("#N/A", "#REF!"), 3: ("Alan", "Wilmslow")},
            (
                "a.xlsx, Sheet!A2: the cell contains the error #N/A; fix the formula or clear the cell",
                "a.xlsx, Sheet!B2: the cell contains the error #REF!; fix the formula or clear the cell",
            ),
        ),
        _HEADER + '<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2" t="e"><f>X1</f><v>#REF!</v></c></row>' + _ROW_3,
    ),
    _raw(
        "error-only-row",
        "reports an error below the last value",
        Expected(
            _COLUMNS,
            {2: ("Ada", "London"), 4: ("", "#N/A")},
            ("a.xlsx, Sheet!B4: the cell contains the error #N/A; fix the formula or clear the cell",),
        ),
        _HEADER + _ROW_2 + '<row r="4"><c r="B4" t="e"><v>#N/A</v></c></row>',
    ),
    _raw(
        "formula-unstored",
        "reports a formula without a stored result, which readers return as blank",
        Expected(
            _COLUMNS,
            {2: ("Ada", "#NO_RESULT!"), 3: ("Alan", "Wilmslow")},
            (
                "a.xlsx, Sheet!B2: the formula has no stored result; open the workbook in a spreadsheet program, "
                "save it, then run the same command again",
            ),
        ),
        _HEADER + f'<row r="2">{_TEXT.format("A2", "Ada")}<c r="B2"><f>A1</f><v></v></c></row>' + _ROW_3,
    ),
    _raw(
        "formula-unstored-alone",
        "reports a row that has only formulas without results",
        Expected(
            _COLUMNS,
            {2: ("#NO_RESULT!", "")},
            (
                "a.xlsx, Sheet!A2: the formula has no stored result; open the workbook in a spreadsheet program, "
                "save it, then run the same command again",
            ),
        ),
        _HEADER + '<row r="2"><c r="A2"><f>A1</f></c></row>',
    ),
    _raw(
        "formula-stored",
        "reads the stored result of a formula, even an empty text",
        Expected(_COLUMNS, {2: ("Ada", "London"), 3: ("", "5")}),
        _HEADER
        + f'<row r="2">{_TEXT.format("A2", "Ada")}<c r="B2" t="str"><f>X1</f><v>London</v></c></row>'
        + '<row r="3"><c r="A3" t="str"><f>X1</f><v></v></c><c r="B3"><f>X1</f><v>5</v></c></row>',
    ),
    Case(
        "xlsx-formula-by-openpyxl",
        "reports the formulas of programs that store no results",
        "a.xlsx",
        lambda: edited(_PEOPLE, lambda book, sheet: sheet.__setitem__("B3", "=A1")),
        Expected(
            _COLUMNS,
            {2: ("Ada", "London"), 3: ("Alan", "#NO_RESULT!")},
            (
                "a.xlsx, Sheet!B3: the formula has no stored result; open the workbook in a spreadsheet program, "
                "save it, then run the same command again",
            ),
        ),
    ),
    _edit(
        "too-many-cells",
        "reports a cell right of the table",
        lambda book, sheet: sheet.__setitem__("D3", "stray"),
        Expected(
            _COLUMNS,
            _ROWS,
            (
                "a.xlsx, Sheet!D3: the row has 4 cells, but the header has 2; clear the extra cells, or give them a "
                "header; in a CSV, quote cells that contain the delimiter",
            ),
        ),
    ),
)

_SHEETS = (
    _named("sheet-by-name", "reads a sheet by its name", "Adaylar", "Adaylar"),
    _named("sheet-by-folded-name", "finds a name in another case", " adaylar ", "Adaylar"),
    _named("sheet-by-number", "counts only the visible sheets", "2", "Notes"),
    _named("sheet-very-hidden-named", "reads a very hidden sheet when it is named", "Secret", "Secret"),
    _edit(
        "sheet-first-visible",
        "reads the first visible sheet and lists the sheets that it does not read",
        _three_sheets,
        Expected(
            _COLUMNS,
            {2: ("from Adaylar", "x")},
            warnings=(
                "a.xlsx: only the sheet 'Adaylar' is read, not 'Notes'; to read another sheet, set sheet: under "
                "source: in the mapping",
                "a.xlsx: 2 hidden sheets have rows with the same columns and will not be read: 'Old', 'Secret'; to "
                "read one, set sheet: under source: in the mapping to its name",
            ),
        ),
    ),
    _edit(
        "sheet-first-with-rows",
        "passes over a visible sheet that is empty",
        lambda book, sheet: book.move_sheet(book.create_sheet("Empty"), -1),
        Expected(
            _COLUMNS,
            _ROWS,
            warnings=(
                "a.xlsx: only the sheet 'Sheet' is read, not 'Empty'; to read another sheet, set sheet: under "
                "source: in the mapping",
            ),
        ),
    ),
    _edit(
        "sheet-not-found",
        "rejects an unknown sheet and lists the sheets",
        _three_sheets,
        Expected(
            refused=(
                "a.xlsx: the sheet 'Adayler' does not exist; did you mean 'Adaylar'? the sheets are 'Old' (hidden), "
                "'Adaylar', "
                "'Notes', 'Secret' (hidden)",
            )
        ),
        SourceOptions(sheet="Adayler"),
    ),
    _edit(
        "file-empty",
        "reports that all visible sheets are empty",
        lambda book, sheet: (setattr(sheet, "sheet_state", "hidden"), book.create_sheet("Empty")),
        Expected(
            refused=(
                "a.xlsx: all visible sheets are empty; to read a hidden sheet, set sheet: under source: in the "
                "mapping; the sheets are 'Sheet' (hidden), 'Empty'",
            )
        ),
    ),
    _edit(
        "hidden-row-read",
        "reads hidden rows and mentions it",
        _hide_row_2,
        Expected(
            _COLUMNS,
            _ROWS,
            warnings=(
                "a.xlsx, Sheet: 1 hidden row is read like the others (2); to leave them out, set hidden_rows: skip "
                "under source: (or sheet:, file:) in the mapping; hidden_rows: read confirms them",
            ),
            reading="XLSX, sheet 'Sheet', header found in row 1, 1 hidden row read, 2 columns",
        ),
    ),
    _edit(
        "hidden-row-skipped",
        "leaves hidden rows out if the mapping skips them",
        _hide_row_2,
        Expected(
            _COLUMNS,
            {3: ("Alan", "Wilmslow")},
            reading="XLSX, sheet 'Sheet', header found in row 1, 1 hidden row left out, 2 columns",
        ),
        SourceOptions(hidden_rows="skip"),
    ),
)

_ERROR_ROW = f'<row r="2">{_TEXT.format("A2", "Ada")}<c r="B2" t="e"><v>#N/A</v></c></row>'
_ODD = '<cellXfs count="1"><xf numFmtId="odd"/></cellXfs>'
_UNREADABLE = (
    "a.xlsx: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
    "spreadsheet program and save it again"
)
_STRICT = (
    "a.xlsx: this is a workbook in the strict form of Open XML, which is not read; open it in a spreadsheet program "
    "and save it as an ordinary .xlsx"
)

_UNUSUAL = (
    Case(
        "xlsx-backslashes",
        "refuses a workbook whose parts have Windows paths",
        "a.xlsx",
        lambda: with_backslashes(raw_xlsx(_HEADER + _ERROR_ROW)),
        Expected(refused=(_UNREADABLE,)),
    ),
    _raw("styles-odd", "refuses a workbook whose styles cannot be read", Expected(refused=(_UNREADABLE,)), styles=_ODD),
    _raw("dimension-wrong", "reads all rows although <dimension> names one cell", dimension="A1"),
    _raw("dimension-huge", "is not misled by a huge <dimension>", dimension="A1:XFD1048576"),
    _raw("strict", "refuses a strict workbook", Expected(refused=(_STRICT,)), strict=True),
    _raw("inline-strings", "reads inline strings"),
    _raw(
        "shared-strings",
        "reads shared strings",
        rows='<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>' + _ROW_2 + _ROW_3,
        strings=("Name", "City"),
    ),
    _raw(
        "escapes",
        "reads the escape _x000D_ as a line break, and an escaped underscore as an underscore",
        Expected(_COLUMNS, {2: ("A\nB", "_x0041_")}),
        _HEADER + '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c></row>',
        strings=("A_x000D_\nB", "_x005F_x0041_"),
    ),
    _raw(
        "rich-text",
        "joins the runs of rich text and leaves out its reading aid",
        Expected(_COLUMNS, {2: ("Ada", "London")}),
        _HEADER + '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c></row>',
        strings=("", ""),
        extra={
            "xl/sharedStrings.xml": f"<sst {_MAIN}><si><r><t>A</t></r><r><t>da</t></r></si>"
            "<si><t>London</t><rPh sb='0' eb='1'><t>x</t></rPh></si></sst>".encode()
        },
    ),
    _raw(
        "no-addresses",
        "reads rows and cells without addresses",
        rows="<row><c t='inlineStr'><is><t>Name</t></is></c><c t='inlineStr'><is><t>City</t></is></c></row>"
        "<row><c t='inlineStr'><is><t>Ada</t></is></c><c t='inlineStr'><is><t>London</t></is></c></row>"
        "<row><c t='inlineStr'><is><t>Alan</t></is></c><c t='inlineStr'><is><t>Wilmslow</t></is></c></row>",
    ),
    _raw("single-quotes", "reads XML in single quotes", rows=_ALL.replace('"', "'")),
    _raw(
        "prefixes",
        "reads XML whose names have a prefix",
        worksheet=f"<x:worksheet xmlns:x={_MAIN[6:]}><x:sheetData>"
        + _ALL.replace("</", "</x:")
        .replace("<row", "<x:row")
        .replace("<c ", "<x:c ")
        .replace("<is>", "<x:is>")
        .replace("<t>", "<x:t>")
        + "</x:sheetData></x:worksheet>",
    ),
    _raw(
        "single-quotes-error",
        "reports an error in XML in single quotes",
        Expected(
            _COLUMNS,
            {2: ("#N/A", "")},
            ("a.xlsx, Sheet!A2: the cell contains the error #N/A; fix the formula or clear the cell",),
        ),
        (_HEADER + '<row r="2"><c r="A2" t="e"><v>#N/A</v></c></row>').replace('"', "'"),
    ),
    _raw("sheet-path-unusual", "follows the package to a sheet under another path", sheet_path="xl/tables/s.xml"),
    _raw(
        "far-row",
        "keeps the number of a row far below",
        Expected(_COLUMNS, {2: ("Ada", "London"), 90000: ("Alan", "Wilmslow")}),
        _HEADER + _ROW_2 + _ROW_3.replace('3"', '90000"'),
    ),
    _raw(
        "1904",
        "reads dates of a workbook with the 1904 date system",
        Expected(_COLUMNS, {2: ("Ada", "2021-03-15")}, typed={2: {1}}),
        _HEADER + f'<row r="2">{_TEXT.format("A2", "Ada")}<c r="B2" s="1"><v>42808</v></c></row>',
        book='<workbookPr date1904="1"/>',
        styles='<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
    ),
    Case(
        "xlsx-1904-counted-from-1900",
        "refuses numbers of days of a workbook with the other date system",
        "a.xlsx",
        lambda: raw_xlsx(_ALL, book='<workbookPr date1904="1"/>'),
        Expected(
            refused=(
                "a.xlsx: this workbook counts days from 1904, but the mapping reads numbers as days since 1900 "
                "(dates: excel); write dates: excel_1904 in the mapping",
            )
        ),
        SourceOptions(counts_from_1900=True),
    ),
    _raw(
        "odd-dates-2",
        "reads a date in a built-in format of East Asia, and the last moment that a spreadsheet knows, or a day has",
        Expected(
            _COLUMNS,
            {2: ("9999-12-31 23:59:59", "2020-06-18"), 3: ("2024-05-31 23:59:59", "2020-06-18")},
            typed={2: {0, 1}, 3: {0, 1}},
        ),
        _HEADER
        + '<row r="2"><c r="A2" s="1"><v>2958465.99999999</v></c><c r="B2" s="2"><v>44000</v></c></row>'
        + '<row r="3"><c r="A3" s="1"><v>45443.99999998843</v></c><c r="B3" s="2"><v>44000</v></c></row>',
        styles='<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="31"/></cellXfs>',
    ),
    _raw(
        "odd-values",
        "reports stored values that only Python reads as numbers",
        Expected(
            _COLUMNS,
            {2: ("1_000", "-1")},
            tuple(
                f"a.xlsx, Sheet!{cell}: '{stored}' is not a value that every program reads alike; type the right value "
                "into the cell, or clear the cell"
                for cell, stored in (("A2", "1_000"), ("B2", "-1"))
            ),
        ),
        _HEADER + '<row r="2"><c r="A2"><v>1_000</v></c><c r="B2" t="s"><v>-1</v></c></row>',
    ),
    _raw(
        "odd-look",
        "reads a sheet whose look openpyxl refuses",
        after='<dataValidations><dataValidation sqref="A:A"/></dataValidations><pageMargins left="x"/>',
    ),
    _raw(
        "iso-date",
        "reads a date stored as ISO text",
        Expected(_COLUMNS, {2: ("Ada", "2021-03-15")}),
        _HEADER + f'<row r="2">{_TEXT.format("A2", "Ada")}<c r="B2" s="1" t="d"><v>2021-03-15</v></c></row>',
        styles='<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
    ),
    _raw(
        "merged",
        "reports merged cells below the header only, and refuses those that may have the value of the row above",
        Expected(
            _COLUMNS,
            {4: ("Ada", "London"), 5: ("Alan", "")},
            (
                "a.xlsx, Sheet!B5: the cell is merged with B4: its value may be meant for this row too; "
                "unmerge the cells (B4:B5), and fill in each row",
            ),
            header_row=3,
            warnings=(
                "a.xlsx, Sheet: 2 ranges of cells are merged (B4:B5, A6:B6); only the first cell of each has the "
                "value, the others are blank; unmerge the cells and fill them in, unless blank is correct",
            ),
        ),
        _HEADER.replace('1"', '3"') + _ROW_2.replace('2"', '4"') + _ROW_3.replace('3"', '5"'),
        after='<mergeCells count="4"><mergeCell ref="A1:B1"/><mergeCell ref="B4:B5"/><mergeCell ref="A6:B6"/>'
        '<mergeCell ref="D4:D5"/></mergeCells>',
    ),
    _raw(
        "row-twice",
        "rejects a sheet with a duplicate row, of which each reader keeps one",
        Expected(
            refused=(
                "a.xlsx: the workbook is damaged and cannot be read (sheet 'Sheet': row 2 comes after row 2); open "
                "it in a spreadsheet program and save it again",
            )
        ),
        _HEADER + _ROW_2 + _ROW_2,
    ),
    _raw(
        "cell-twice",
        "rejects a sheet with a duplicate cell, of which each reader keeps one",
        Expected(
            refused=(
                "a.xlsx: the workbook is damaged and cannot be read (sheet 'Sheet': row 2 has a cell twice); open it "
                "in a spreadsheet program and save it again",
            )
        ),
        _HEADER + _ROW_2.replace("B2", "A2"),
    ),
)

XLSX_CASES = (*_VALUES, *_CELL_PROBLEMS, *_SHEETS, *_UNUSUAL)
