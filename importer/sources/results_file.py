"""How a results file of a run is recognized: by its header, or the title of its report.xlsx."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from importer.models import IMPORT_COLUMNS
from importer.problems import Origin, UnusableInput, unusable_file

_TITLE: Final = re.compile(r"<dc:title>Import (\d{8}-\d{6}-[0-9a-f]{4,5}(?:\.[^</\\]+)?)</dc:title>")
_LONGEST_PROPERTIES: Final = 1 << 16  # bytes


def is_results_header(cells: Sequence[str]) -> bool:
    """Whether this is the header of a results file: two of our columns, of which a person may have removed others."""
    return len(set(cells).intersection(IMPORT_COLUMNS)) > 1


def run_of_report(path: Path) -> str | None:
    """The run that a report.xlsx is of, by its title, which spreadsheet programs keep; None for other files."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("docProps/core.xml") as file:
            found = _TITLE.search(file.read(_LONGEST_PROPERTIES).decode("utf-8", "replace"))
    except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error):
        return None
    return found[1] if found else None


def results_file_elsewhere(origin: Origin) -> UnusableInput:
    """It is inspected like a source, or a person has moved it: which rows they were is not known any more."""
    message = "this is a results file of a run, not a source"
    hint = "check and run read what was fixed in it, if it is in the folder of its run. If that folder is gone, "
    hint += "remove the import_ columns: the rows are then imported as new ones, known by their e-mail address only"
    return unusable_file("results-file-elsewhere", message, hint, origin.file)
