"""Opens a workbook: has it read, and finds its table."""

from __future__ import annotations

from importer.extract.sheet import Sheet
from importer.extract.table import open_table
from importer.extract.workbook_process import WorkbookSource, read_workbook
from importer.extract.workbook_sheet import WorkbookSheet
from importer.models import SourceOptions

__all__ = ["WorkbookSource", "open_workbook"]


def open_workbook(source: WorkbookSource, options: SourceOptions) -> Sheet:
    """Open a workbook.

    Raises:
        UnusableInput: it is damaged or too large, has no such sheet, or no header can be told.
    """
    return open_table(WorkbookSheet(source.name, source.kind, read_workbook(source)), options)
