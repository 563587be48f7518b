"""An XLSX workbook as streams of records, one for each worksheet, read through openpyxl."""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # it has no stubs
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from importer.errors import UnusableInput
from importer.extract.cell_text import Value, cell_text
from importer.extract.clean_text import clean, flaw_of
from importer.extract.record import Flaw, Record
from importer.extract.xlsx_formulas import formulas_without_value
from importer.extract.xlsx_package import SheetPart, sheet_parts
from importer.models import FilePlace, Problem

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
# What zipfile, the XML parser and openpyxl raise for a damaged workbook.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    InvalidFileException,
    ParseError,
    DefusedXmlException,
    OSError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class XlsxFile:
    """A workbook. `name` is how the person knows the file."""

    path: Path
    name: str

    def sheets(self) -> tuple[SheetPart, ...]:
        """The worksheets in tab order.

        Raises:
            UnusableInput: the workbook is damaged.
        """
        with self._told(), zipfile.ZipFile(self.path) as archive:
            return sheet_parts(archive)

    def records(self, sheet: SheetPart) -> Generator[Record, None, None]:
        """Every row of a worksheet, blank ones too.

        Raises:
            UnusableInput: the workbook is damaged.
        """
        with self._told():
            with zipfile.ZipFile(self.path) as archive:
                unstored = formulas_without_value(archive, sheet.path)
            # openpyxl warns of parts that it leaves out (data validation, drawings); none holds cells.
            warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
            book = load_workbook(self.path, read_only=True, data_only=True, keep_links=False)
            with closing(book):
                worksheet = book[sheet.title]
                worksheet.reset_dimensions()  # a wrong <dimension> would hide rows without a word
                for number, cells in enumerate(worksheet.iter_rows(), 1):
                    yield _record(number, cells, unstored)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGED as error:
            raise UnusableInput(
                Problem(
                    "workbook-damaged",
                    f"the workbook is damaged and cannot be read ({type(error).__name__}: {error})",
                    "open it in a spreadsheet program and save it again",
                    FilePlace(self.name),
                )
            ) from error


def _record(number: int, cells: Sequence[Any], unstored: Mapping[int, frozenset[int]]) -> Record:
    texts: list[str] = []
    typed: list[int] = []
    flaws: list[Flaw] = []
    for index, cell in enumerate(cells):
        value: Value | None = cell.value
        if value is None:
            texts.append("")
            continue
        text = _unescaped(value) if isinstance(value, str) else cell_text(value, cell.number_format)
        if not isinstance(value, str):
            typed.append(index)
        problem = _error_cell(text) if cell.data_type == "e" else flaw_of(text)
        if problem:
            flaws.append(Flaw(index, problem))
        texts.append(clean(text))
    flaws.extend(Flaw(index, _NO_STORED_VALUE) for index in sorted(unstored.get(number, ())))
    return Record(number, tuple(texts), frozenset(typed), tuple(flaws))


_NO_STORED_VALUE = Problem(
    "formula-without-value",
    "the formula has no stored result",
    "open the workbook in a spreadsheet program, save it and run again",
)


def _error_cell(text: str) -> Problem:
    return Problem("error-cell", f"the cell holds the error {text}", "mend the formula or clear the cell")


def _unescaped(text: str) -> str:
    """Workbooks write a control character, and an underscore that begins what looks like one, as `_x000D_`."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text
