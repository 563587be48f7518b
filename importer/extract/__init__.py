"""Extract: a CSV or workbook becomes a Sheet of Rows of text. What the rest of the importer may call."""

from __future__ import annotations

from importer.extract.limits import ReadingLimits
from importer.extract.opening import open_sheet
from importer.extract.sheet import Sheet
from importer.extract.source_copy import STANDARD_INPUT, STANDARD_INPUT_BYTES, SourceCopy, copy_source, share_copy

__all__ = [
    "STANDARD_INPUT",
    "STANDARD_INPUT_BYTES",
    "ReadingLimits",
    "Sheet",
    "SourceCopy",
    "copy_source",
    "open_sheet",
    "share_copy",
]
