"""Extract: a CSV or workbook becomes a Sheet of Rows of text. The public names of the room."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importer.extract.corrections import corrected_sheet, with_texts, write_corrections
    from importer.extract.numbered_rows import NumberedRows
    from importer.extract.opening import open_sheet
    from importer.extract.sheet import ReadingLimits, Sheet
    from importer.extract.source_file import STANDARD_INPUT, SourceCopy, copy_source, share_copy

__all__ = [
    "STANDARD_INPUT",
    "NumberedRows",
    "ReadingLimits",
    "Sheet",
    "SourceCopy",
    "copy_source",
    "corrected_sheet",
    "open_sheet",
    "share_copy",
    "with_texts",
    "write_corrections",
]

# Imported on first use: the child process that reads a workbook imports this package too and needs none of them.
# Each import would delay every workbook.
_MODULES = {
    "ReadingLimits": "sheet",
    "NumberedRows": "numbered_rows",
    "open_sheet": "opening",
    "Sheet": "sheet",
    "corrected_sheet": "corrections",
    "with_texts": "corrections",
    "write_corrections": "corrections",
} | dict.fromkeys(("STANDARD_INPUT", "SourceCopy", "copy_source", "share_copy"), "source_file")


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
