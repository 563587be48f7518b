"""The file summary.json: a Summary on disk."""

from __future__ import annotations

import json
from pathlib import Path

from importer.atomic_files import read_private
from importer.errors import DamagedRun
from importer.models import FilePlace, Problem
from importer.report.names import SUMMARY_FILE
from importer.report.summary import Summary


def write_summary(staged: Path, summary: Summary) -> None:
    """Write summary.json into the folder (UTF-8, no BOM).

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps(summary.to_json(), ensure_ascii=False, indent=2)
    # JSON spells a lone surrogate as Python does, so that a file name that is no UTF-8 is escaped, not refused.
    (staged / SUMMARY_FILE).write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


def read_summary(folder: Path) -> Summary:
    """The summary in a run's results folder.

    Raises:
        DamagedRun: there is none, or it is damaged or from another version of importer.
    """
    path = folder / SUMMARY_FILE
    try:
        return Summary.from_json(json.loads(read_private(path)))
    except FileNotFoundError:
        message = "there is no summary in this folder"
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the summary of this run cannot be read: {type(error).__name__} {error}"
    hint = f"write it again: importer report {folder}"
    raise DamagedRun(Problem("summary-unreadable", message, hint, FilePlace(str(path))))
