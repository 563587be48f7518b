"""A copy of a source in which only the corrected cells are changed: of a CSV in its text, of an XLSX in its XML.

All other bytes stay: the quotes and the encoding of a CSV, the formats, formulas and pictures of a workbook. The copy
is read once before it gets its name, and it is refused if one of its rows is not as the corrections say.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import islice, zip_longest
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from importer.atomic_files import open_private
from importer.extract.csv_file import CsvFile
from importer.extract.csv_records import cell_spans
from importer.extract.opening import open_csv, open_sheet
from importer.extract.sheet import ReadingLimits, Sheet
from importer.extract.xlsx_package import read_package
from importer.models import CorrectedCell, Row, SourceOptions
from importer.problems import UnusableInput, column_index, column_letter, unusable_file
from importer.text.results_cells import escape_formula

_TEXT_FILES: Final = (".csv", ".tsv", ".tab", ".txt")
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_ByRow = Mapping[int, Mapping[int, CorrectedCell]]
"""The corrections by row number, then by the index of the cell in its sheet."""
_USE_THE_LIST: Final = "import the file with --corrections instead"


def refuse_corrected_copy(source: Path, out: Path) -> None:
    """Check, before the source is read, that it can be copied with its corrections.

    Raises:
        UnusableInput: it has another format, `out` has another extension, or is the source.
    """
    suffix = source.suffix.lower()
    if suffix not in (*_TEXT_FILES, *_WORKBOOKS):
        raise _failed(source, "only a CSV, .xlsx or .xlsm file can be copied with its corrections", _USE_THE_LIST)
    if out.suffix.lower() != suffix:
        raise _failed(out, f"the corrected copy is a {suffix} file too", f"give a name that ends in {suffix}")
    if source.exists() and out.exists() and source.samefile(out):
        raise _failed(out, "this is the file itself, which is never overwritten", "choose another name")


def write_corrected(source: Path, sheet: Sheet, options: SourceOptions, limits: ReadingLimits, out: Path) -> None:
    """Write the copy of a source (its private copy) with the corrections of its sheet.

    Raises:
        UnusableInput: it cannot be written, or would not be read as the corrections say.
    """
    by_row: dict[int, dict[int, CorrectedCell]] = {}
    for one in sheet.corrections:
        by_row.setdefault(one.row, {})[one.column.index + sheet.origin.first] = one
    draft = out.with_name(f".{out.stem}.tmp{out.suffix}")
    try:
        os.close(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        if source.suffix.lower() in _WORKBOOKS:
            _write_workbook(source, sheet, by_row, draft)
        else:
            _write_csv(open_csv(source, sheet.origin.file, options, limits), by_row, draft)
        _refuse_other_rows(open_sheet(draft, options, limits, shown_as=str(out)), sheet, out)
        draft.replace(out)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _failed(out, f"the corrected copy cannot be written: {error}", _USE_THE_LIST) from None
    finally:
        draft.unlink(missing_ok=True)


def _failed(path: Path, message: str, hint: str) -> UnusableInput:
    return unusable_file("corrected-copy-failed", message, hint, path)


def _refuse_other_rows(copy: Sheet, sheet: Sheet, out: Path) -> None:
    for one, other in zip_longest(map(_read, copy.rows()), map(_read, sheet.rows())):
        if one != other:
            number = (other or one or (0,))[0]
            raise _failed(out, f"row {number} of the corrected copy would not be read as corrected", _USE_THE_LIST)


def _read(row: Row) -> tuple[int, tuple[str, ...], frozenset[int]]:
    return row.number, row.cells, row.typed


# --- CSV --------------------------------------------------------------------------------------------


def _write_csv(file: CsvFile, by_row: _ByRow, draft: Path) -> None:
    codec, done = file.survey.encoding.codec, 0
    with (
        file.lines() as records,
        file.path.open(encoding=codec, newline="") as lines,
        draft.open("w", encoding=codec, newline="") as copy,
    ):
        if file.has_sep_line:
            copy.write(next(lines))
            done = 1
        for number, _ in enumerate(records, 1):
            text = "".join(islice(lines, records.lines - done))
            done = records.lines
            copy.write(_with_cells(text, by_row[number], file) if number in by_row else text)


def _with_cells(text: str, cells: Mapping[int, CorrectedCell], file: CsvFile) -> str:
    """The text of a record with other cells in it. Cells that it does not have are added."""
    spans = cell_spans(text, file.delimiter)
    parts = [text[start:end] for start, end in spans]
    end = text[spans[-1][1] :] if spans else ""
    parts += [""] * (1 + max(cells) - len(parts))
    for index, one in cells.items():
        new = escape_formula(one.new) if file.formula_escaped else one.new
        is_quoted = parts[index].lstrip().startswith('"') or new != new.strip() or set(new) & {file.delimiter, *'"\r\n'}
        parts[index] = f'"{new.replace(chr(34), chr(34) * 2)}"' if is_quoted else new
    return file.delimiter.join(parts) + end


# --- XLSX -------------------------------------------------------------------------------------------

_ROW: Final = re.compile(rb"<row\b([^>]*?)(?:/>|>(.*?)</row\s*>)", re.DOTALL)
_CELL: Final = re.compile(rb"<c\b([^>]*?)(?:/>|>(.*?)</c\s*>)", re.DOTALL)
_REFERENCE: Final = re.compile(rb"""\br\s*=\s*["']([A-Z]*)(\d+)["']""")
_STYLE: Final = re.compile(rb"""\bs\s*=\s*["']\d+["']""")
_FORMULA: Final = re.compile(rb"<f\b([^>]*)")
# The order of formulas, which programs make again: its parts and the references to it.
_CALC_CHAIN: Final = re.compile(rb"<(?:Override|Relationship)\b[^>]*calcChain\.xml[^>]*/>")
_FROM_1904: Final = re.compile(rb"""\bdate1904\s*=\s*["'](?:1|true|on)["']""")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")


def _write_workbook(source: Path, sheet: Sheet, by_row: _ByRow, draft: Path) -> None:
    typed = {row.number: row.typed for row in sheet.rows() if row.number in by_row}
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(draft, "w") as copy:
        part = read_package(archive).paths[sheet.origin.sheet or ""]
        books = (name for name in archive.namelist() if name.lower().endswith("xl/workbook.xml"))
        edit = _WorkbookEdit(by_row, typed, any(_FROM_1904.search(archive.read(name)) for name in books))
        content = _ROW.sub(edit.row, archive.read(part))
        for member in archive.infolist():
            is_chain = member.filename.endswith("calcChain.xml")
            if not (is_chain and edit.replaced_formula):
                data = content if member.filename == part else archive.read(member)
                is_list = edit.replaced_formula and member.filename.endswith((".rels", "[Content_Types].xml"))
                copy.writestr(member, _CALC_CHAIN.sub(b"", data) if is_list else data)


class _WorkbookEdit:
    """Replaces cells in the XML of a sheet. A cell keeps its style. typed: the indexes of the values of each row."""

    def __init__(self, by_row: _ByRow, typed: Mapping[int, frozenset[int]], from_1904: bool) -> None:
        self._by_row, self._typed = by_row, typed
        self._first_day = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)
        self._row = 0
        self.replaced_formula = False

    def row(self, match: re.Match[bytes]) -> bytes:
        reference = _REFERENCE.search(match[1])
        self._row = int(reference[2]) if reference else self._row + 1
        cells = self._by_row.get(self._row)
        if not cells:
            return match[0]
        return b"<row%s>%s</row>" % (match[1], b"".join(self._cells(match[2] or b"", dict(cells))))

    def _cells(self, text: bytes, left: dict[int, CorrectedCell]) -> Iterator[bytes]:
        """The cells of a row in the order of their columns; one that the sheet does not have is put in its place."""
        index, end = -1, 0
        for match in _CELL.finditer(text):
            yield text[end : match.start()]
            reference, end = _REFERENCE.search(match[1]), match.end()
            index = column_index(reference[1].decode()) if reference else index + 1
            for before in sorted(each for each in left if each < index):
                yield self._cell(left.pop(before), before, b"")
            yield self._changed(left.pop(index), index, match) if index in left else match[0]
        yield from (self._cell(left[each], each, b"") for each in sorted(left))
        yield text[end:]

    def _changed(self, one: CorrectedCell, index: int, match: re.Match[bytes]) -> bytes:
        if formula := _FORMULA.search(match[2] or b""):
            if b"ref=" in formula[1]:
                raise ValueError(f"the formula of {column_letter(index)}{one.row} is that of several cells")
            self.replaced_formula = True
        style = _STYLE.search(match[1])
        return self._cell(one, index, b" " + style[0] if style else b"")

    def _cell(self, one: CorrectedCell, index: int, style: bytes) -> bytes:
        start = f'<c r="{column_letter(index)}{one.row}"'.encode() + style
        if not one.new:
            return start + b"/>"
        if one.column.index in self._typed[one.row]:
            kind = b' t="b"' if one.new in ("TRUE", "FALSE") else b""
            return start + kind + f"><v>{self._value(one.new)}</v></c>".encode()
        text = escape(one.new).encode("utf-8", "strict")
        return start + b' t="inlineStr"><is><t xml:space="preserve">' + text + b"</t></is></c>"

    def _value(self, text: str) -> str:
        """What the XML of a cell has for a number, a date, a percentage or TRUE."""
        if text in ("TRUE", "FALSE"):
            return str(int(text == "TRUE"))
        if _DATE.fullmatch(text):
            passed = datetime.fromisoformat(text) - self._first_day
            return repr(passed.days + passed.seconds / 86_400) if passed.seconds else str(passed.days)
        return str(Decimal(text[:-1]) / 100) if text.endswith("%") else text
