"""The names of the files and sheets of a results folder (design, section 5)."""

from __future__ import annotations

from typing import Final

from importer.models import OutcomeKind
from importer.report.words import WORDS

SUMMARY_FILE: Final = "summary.json"
WORKBOOK_FILE: Final = "report.xlsx"
SUMMARY_SHEET: Final = "Summary"

# The status that stands before an outcome's name in names of files and sheets, where it has just one.
_STATUS: Final = {OutcomeKind.CREATED: "201", OutcomeKind.ALREADY_THERE: "409", OutcomeKind.REJECTED: "400"}

SHEET_TITLES: Final[dict[OutcomeKind, str]] = {
    kind: f"{_STATUS[kind]} {WORDS[kind].label}" if kind in _STATUS else WORDS[kind].label for kind in OutcomeKind
}
CSV_FILES: Final[dict[OutcomeKind, str]] = {
    kind: f"{title.replace(' ', '_')}.csv" for kind, title in SHEET_TITLES.items()
}

# These CSV files are written even when they have no rows.
ALWAYS_WRITTEN: Final = (OutcomeKind.CREATED, OutcomeKind.ALREADY_THERE, OutcomeKind.REJECTED)
