"""Writes tables as files: CSV by the standard library, XLSX by two libraries and from raw XML."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from xml.sax.saxutils import escape

import openpyxl
import xlsxwriter

Cell = str | int | float | bool | date | datetime | time | timedelta | None
Table = Sequence[Sequence[Cell]]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_MAIN = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_STRICT_RELATIONS = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def csv_text(table: Table, delimiter: str = ",", line_end: str = "\r\n", quoted: bool = False) -> str:
    """A table as CSV, quoted where necessary or everywhere."""
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, lineterminator=line_end, quoting=quoting).writerows(table)
    return out.getvalue()


def openpyxl_bytes(table: Table, title: str = "Sheet") -> bytes:
    """A table as a workbook by openpyxl."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for number, row in enumerate(table, 1):
        for index, value in enumerate(row, 1):
            if value is not None and value != "":
                cell = sheet.cell(number, index, value)
                if isinstance(value, str):
                    cell.data_type = "s"  # `=x` is a text here
    return _saved(book)


def _saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def edited(table: Table, edit: object) -> bytes:
    """A table by openpyxl, changed by `edit(book, sheet)` before it is saved."""
    book = openpyxl.load_workbook(io.BytesIO(openpyxl_bytes(table)))
    edit(book, book.active)  # type: ignore[operator]  # any callable
    return _saved(book)


def xlsxwriter_bytes(table: Table, title: str = "Sheet") -> bytes:
    """A table as a workbook by XlsxWriter."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet(title)
        formats = {
            datetime: book.add_format({"num_format": "dd.mm.yyyy hh:mm"}),
            date: book.add_format({"num_format": "dd.mm.yyyy"}),
            time: book.add_format({"num_format": "hh:mm:ss"}),
            timedelta: book.add_format({"num_format": "[hh]:mm:ss"}),
        }
        for number, row in enumerate(table):
            for index, value in enumerate(row):
                if isinstance(value, str):
                    if value:
                        sheet.write_string(number, index, value)
                elif value is not None:
                    sheet.write(number, index, value, formats.get(type(value)))
    return out.getvalue()


def raw_xlsx(
    rows: str,
    *,
    strings: Sequence[str] | None = None,
    styles: str = "",
    dimension: str = "",
    strict: bool = False,
    after: str = "",
    book: str = "",
    sheet_path: str = "xl/worksheets/sheet1.xml",
    worksheet: str | None = None,
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """A workbook of one sheet from the XML of its rows, for unusual XML that libraries do not write.

    `book` goes into the workbook before its sheets, `after` behind the sheet's rows, `styles` into the stylesheet.
    `worksheet` replaces the whole XML of the sheet. `extra` adds or replaces parts.
    """
    main, relations = (_STRICT_MAIN, _STRICT_RELATIONS) if strict else (_MAIN, _RELATIONS)
    ref = f'<dimension ref="{dimension}"/>' if dimension else ""
    parts = {
        "[Content_Types].xml": _content_types(sheet_path, strings is not None),
        "_rels/.rels": _rels(("rId1", f"{relations}/officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}">{book}'
        '<sheets><sheet name="Sheet" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _rels(
            ("rId1", f"{relations}/worksheet", f"/{sheet_path}"),
            ("rId2", f"{relations}/styles", "styles.xml"),
            *([("rId3", f"{relations}/sharedStrings", "sharedStrings.xml")] if strings is not None else []),
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}</styleSheet>',
        sheet_path: worksheet
        if worksheet is not None
        else f'<worksheet xmlns="{main}">{ref}<sheetData>{rows}</sheetData>{after}</worksheet>',
    }
    if strings is not None:
        items = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings)
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{main}">{items}</sst>'
    return zipped({name: text.encode() for name, text in parts.items()} | (extra or {}))


def with_backslashes(content: bytes) -> bytes:
    """A package whose parts have Windows paths."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return zipped({name.replace("/", "\\"): archive.read(name) for name in archive.namelist()})


def zipped(parts: dict[str, bytes]) -> bytes:
    """Parts as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _content_types(sheet_path: str, with_strings: bool) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/{sheet_path}" ContentType="{kind}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/>'
        + (f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/>' * with_strings)
        + "</Types>"
    )


def _rels(*relations: tuple[str, str, str]) -> str:
    items = "".join(f'<Relationship Id="{id_}" Type="{kind}" Target="{target}"/>' for id_, kind, target in relations)
    return f'<Relationships xmlns="{_PACKAGE}">{items}</Relationships>'
