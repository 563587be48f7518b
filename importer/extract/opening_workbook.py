"""Opens a workbook: has it read, and finds its table."""

from __future__ import annotations

from importer.errors import UnusableInput
from importer.extract.sheet import Sheet
from importer.extract.table import open_table
from importer.extract.workbook_process import WorkbookSource, read_workbook
from importer.extract.workbook_sheet import WorkbookSheet
from importer.models import FilePlace, Problem, SourceOptions

__all__ = ["WorkbookSource", "open_workbook"]


def open_workbook(source: WorkbookSource, options: SourceOptions) -> Sheet:
    """Open a workbook.

    Raises:
        UnusableInput: it is damaged or too large, has no such sheet, or no header can be told.
    """
    frames = read_workbook(source)
    if frames.head.unchecked and options.hidden_rows == "skip":
        raise UnusableInput(
            Problem(
                "hidden-rows-unknown",
                f"which rows are hidden could not be read ({frames.head.unchecked}), and the mapping leaves them out",
                "open it in a spreadsheet program, save it as .xlsx and use that, or take hidden_rows: out of the "
                "mapping",
                FilePlace(f"{source.name}, {frames.head.title}"),
            )
        )
    return open_table(WorkbookSheet(source.name, source.kind, frames), options)
