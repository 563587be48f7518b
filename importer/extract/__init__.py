"""Extract: a CSV or workbook becomes a Sheet of Rows of text. The public names of the room."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importer.extract.cell_text import is_canonical
    from importer.extract.opening import open_sheet
    from importer.extract.results_file import run_of_report
    from importer.extract.results_reader import ResultsTable, is_results_file, results_tables
    from importer.extract.sheet import ReadingLimits, Sheet
    from importer.extract.source_file import STANDARD_INPUT, SourceCopy, copy_source, share_copy

__all__ = [
    "STANDARD_INPUT",
    "ReadingLimits",
    "ResultsTable",
    "Sheet",
    "SourceCopy",
    "copy_source",
    "is_canonical",
    "is_results_file",
    "open_sheet",
    "results_tables",
    "run_of_report",
    "share_copy",
]

# Imported on first use: the child process that reads a workbook imports this package too and needs none of them.
# Each import would delay every workbook.
_MODULES = {
    "ReadingLimits": "sheet",
    "ResultsTable": "results_reader",
    "Sheet": "sheet",
    "is_canonical": "cell_text",
    "is_results_file": "results_reader",
    "open_sheet": "opening",
    "results_tables": "results_reader",
    "run_of_report": "results_file",
} | dict.fromkeys(("STANDARD_INPUT", "SourceCopy", "copy_source", "share_copy"), "source_file")


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
