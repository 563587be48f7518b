"""Files that cannot be read, each with the message that gives the reason and what to do."""

from __future__ import annotations

from collections.abc import Callable

from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import openpyxl_bytes, raw_xlsx, zipped

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TABLE = (("Name", "City"), ("Ada", "London"))
_ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
    '<c r="A1" t="inlineStr"><is><t>&b;</t></is></c></row></sheetData></worksheet>'
)

_NO_TYPES = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_BINARIES = (
    ("jpeg", b"\xff\xd8\xff\xe0"),
    ("heic", b"\0\0\0\x18ftypheic"),
    ("windows-program", b"MZ\x90\0"),
    ("gzip", b"\x1f\x8b\x08"),
    ("sqlite", b"SQLite format 3\0"),
)


def _refused(id_: str, promise: str, file: str, content: Callable[[], bytes], message: str) -> Case:
    return Case(f"refused-{id_}", promise, file, content, Expected(refused=(message,)))


REFUSED_CASES = (
    _refused("empty", "reports an empty file", "a.csv", lambda: b"", "a.csv: the file is empty; export it again"),
    _refused(
        "ending",
        "lists the supported extensions if a file has another one",
        "a.numbers",
        lambda: b"x",
        "a.numbers: the file extension '.numbers' is not supported; save it as one of .csv .tsv .tab .txt .xlsx "
        ".xlsm .xls",
    ),
    _refused(
        "no-ending",
        "lists the supported extensions if a file has none",
        "candidates",
        lambda: b"x",
        "candidates: a file without an extension is not supported; save it as one of .csv .tsv .tab .txt .xlsx .xlsm "
        ".xls",
    ),
    _refused(
        "xlsb",
        "recognizes a binary workbook with the extension of another one",
        "a.xlsx",
        lambda: zipped({"[Content_Types].xml": b"<Types/>", "xl/workbook.bin": b"\x83\x01\0"}),
        "a.xlsx: this is an .xlsb file, which is not read; open it in a spreadsheet program and save it as .xlsx",
    ),
    _refused(
        "lock-file",
        "names the workbook of which a program has left its mark",
        "~$a.xlsx",
        lambda: b"\x03Ada" + bytes(161),
        "~$a.xlsx: this is not the workbook, but the mark of a program that has it open; name the workbook: a.xlsx",
    ),
    _refused(
        "ods",
        "refuses an OpenDocument spreadsheet by its extension",
        "a.ods",
        lambda: zipped({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b"<x/>"}),
        "a.ods: this is an .ods file, which is not read; open it in a spreadsheet program and save it as .xlsx",
    ),
    _refused(
        "early-excel",
        "recognizes a workbook of Excel 4",
        "a.xls",
        lambda: b"\x09\x04\x06\0\0\0\x10\0\0\0\x0a\0\0\0",
        "a.xls: this is not a workbook, although its extension says so; open it in a spreadsheet program and "
        "save it as .xlsx; a text file needs the extension .csv",
    ),
    _refused(
        "html",
        "recognizes a web page with the extension of a workbook",
        "a.xlsx",
        lambda: b"<html><table><tr><td>Name</td></tr></table></html>",
        "a.xlsx: this is a web page, not a spreadsheet; open it in a spreadsheet program and save it as .xlsx",
    ),
    _refused(
        "html-csv",
        "recognizes a web page with the extension of a CSV",
        "a.csv",
        lambda: b"\xef\xbb\xbf\n<!DOCTYPE html><html></html>",
        "a.csv: this is a web page, not a spreadsheet; open it in a spreadsheet program and save it as .xlsx",
    ),
    _refused(
        "pdf",
        "recognizes a PDF",
        "a.csv",
        lambda: b"%PDF-1.7\n",
        "a.csv: this is a document, not a table; export the table as .xlsx or .csv",
    ),
    *(
        _refused(
            f"binary-{name}",
            f"recognizes {name} with the extension of a CSV",
            "a.csv",
            lambda start=start: start + bytes(range(256)) * 4,
            "a.csv: this is binary data, not text; export the table as .xlsx or .csv",
        )
        for name, start in _BINARIES
    ),
    _refused(
        "binary-unknown",
        "offers no encodings for bytes that are no text in any",
        "a.csv",
        lambda: bytes(range(1, 256)) * 8,
        "a.csv: this is binary data, not text; export the table as .xlsx or .csv",
    ),
    _refused(
        "zip-as-csv",
        "recognizes a zip with the extension of a CSV",
        "a.csv",
        lambda: zipped({"candidates.csv": b"Name\n"}),
        "a.csv: this is a zip archive, not a workbook; unpack it and give the path of the file in it",
    ),
    _refused(
        "picture-as-xlsx",
        "recognizes a picture with the extension of a workbook",
        "a.xlsx",
        lambda: b"\x89PNG\r\n\x1a\n" + bytes(100),
        "a.xlsx: this is not a workbook, although its extension says so; open it in a spreadsheet program and save it "
        "as .xlsx; a text file needs the extension .csv",
    ),
    _refused(
        "csv-as-xlsx",
        "recognizes a text file with the extension of a workbook",
        "a.xlsx",
        lambda: b"Name,City\nAda,London\n",
        "a.xlsx: this is not a workbook, although its extension says so; open it in a spreadsheet program and save "
        "it as .xlsx; a text file needs the extension .csv",
    ),
    _refused(
        "xlsx-as-csv",
        "recognizes a workbook with the extension of a CSV",
        "a.csv",
        lambda: openpyxl_bytes(_TABLE),
        "a.csv: the extension is wrong: this is an XLSX workbook; rename it with the extension .xlsx",
    ),
    _refused(
        "encrypted",
        "recognizes an encrypted workbook",
        "a.xlsx",
        lambda: _OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600,
        "a.xlsx: the workbook is protected with a password; open it with its password and save it without a password",
    ),
    _refused(
        "zip",
        "recognizes a zip that is not a workbook",
        "a.xlsx",
        lambda: zipped({"candidates.csv": b"Name\n"}),
        "a.xlsx: this is a zip archive, not a workbook; unpack it and give the path of the file in it",
    ),
    _refused(
        "cut",
        "reports a workbook that was cut off",
        "a.xlsx",
        lambda: openpyxl_bytes(_TABLE)[:-400],
        "a.xlsx: the workbook is damaged: its zip archive cannot be read; save or copy it again",
    ),
    _refused(
        "entities",
        "rejects a workbook that declares entities",
        "a.xlsx",
        lambda: raw_xlsx("", worksheet=_ENTITIES),
        "a.xlsx: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
        "spreadsheet program and save it again",
    ),
    _refused(
        "xml-broken",
        "reports broken XML instead of reading half of a sheet",
        "a.xlsx",
        lambda: raw_xlsx(
            '<row r="1"><c r="A1" t="inlineStr"><is><t>Name</t></is></c></row><row r="2"><c r="A2"></row>'
        ),
        "a.xlsx: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
        "spreadsheet program and save it again",
    ),
    _refused(
        "no-workbook-part",
        "reports a workbook whose list of parts names none",
        "a.xlsx",
        lambda: raw_xlsx("", extra={"[Content_Types].xml": _NO_TYPES}),
        "a.xlsx: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
        "spreadsheet program and save it again",
    ),
    _refused(
        "part-twice",
        "rejects a workbook with a duplicate sheet, of which each reader uses one",
        "a.xlsx",
        lambda: raw_xlsx("", extra={"xl/worksheets/Sheet1.XML": b"<worksheet/>"}),
        "a.xlsx: the workbook is damaged and cannot be read (it has the part xl/worksheets/sheet1.xml twice); open "
        "it in a spreadsheet program and save it again",
    ),
    _refused(
        "shared-strings-missing",
        "reports a workbook without its shared strings",
        "a.xlsx",
        lambda: raw_xlsx('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'),
        "a.xlsx: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
        "spreadsheet program and save it again",
    ),
)
