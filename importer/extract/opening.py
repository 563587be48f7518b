"""Opens a source: finds out what it is, and has it opened by the rules of its kind."""

from __future__ import annotations

from pathlib import Path

from importer.extract.file_kind import FileKind, file_kind
from importer.extract.limits import ReadingLimits, limits_of_settings
from importer.extract.opening_csv import open_csv
from importer.extract.sheet import Sheet
from importer.extract.source_copy import STANDARD_INPUT
from importer.models import SourceOptions


def open_sheet(
    path: Path, options: SourceOptions, shown_as: str | None = None, limits: ReadingLimits | None = None
) -> Sheet:
    """Open a CSV or a workbook and find its table.

    `shown_as` is the name that messages use, where the person knows the file by another one than `path`; `limits` are
    those of the settings where none are given. A workbook is read here, in a process of its own, and kept; a CSV is
    read by each `Sheet.rows`.

    Raises:
        UnusableInput: no such file, a format we do not read, an encoding that was not declared, no header, ...
    """
    name = shown_as if shown_as is not None else str(path)
    if name == STANDARD_INPUT:
        name = "standard input"
    limits = limits or limits_of_settings()
    kind = file_kind(path, name, limits.source)
    if kind is FileKind.CSV:
        return open_csv(path, name, options, limits)
    from importer.extract.opening_workbook import WorkbookSource, open_workbook  # nothing of it is needed for a CSV

    return open_workbook(WorkbookSource(path, name, kind, options.sheet, limits), options)
