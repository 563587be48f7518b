"""The table of outcomes: label, meaning, next step, and the names of the CSV file and the sheet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from importer.models import OutcomeKind

SUMMARY_FILE: Final = "summary.json"
WORKBOOK_FILE: Final = "report.xlsx"
PAGE_FILE: Final = "report.html"
EDITS_FILE: Final = "mapping_changes.yaml"

SHEET_LIMIT: Final = 100_000
NO_ACTION_SHEET_LIMIT: Final = 10_000
"""The maximum of rows of a sheet in report.xlsx, which is followed by another one, `invalid (2)`; and of the only sheet
of an outcome that needs no action: the CSV file has all rows."""


@dataclass(frozen=True, slots=True)
class OutcomeText:
    """The texts for an outcome, in lower case.

    `status` is a prefix of the names of file and sheet. `always_written`: the CSV file is written even without rows.
    """

    label: str
    meaning: str
    next_step: str
    tab_color: str
    status: str = ""
    sheet_limit: int = SHEET_LIMIT
    always_written: bool = False

    @property
    def is_split(self) -> bool:
        """Whether a full sheet is followed by another one: somebody acts on its rows."""
        return self.sheet_limit == SHEET_LIMIT

    @property
    def counted(self) -> str:
        """The label after a number: `5 already existed`."""
        return "already existed" if self.label == "already exists" else self.label


OUTCOMES: Final[dict[OutcomeKind, OutcomeText]] = {
    OutcomeKind.CREATED: OutcomeText(
        label="created",
        meaning="the service accepted it (201)",
        next_step="no action needed",
        tab_color="#6AA889",
        status="201",
        sheet_limit=NO_ACTION_SHEET_LIMIT,
        always_written=True,
    ),
    OutcomeKind.ALREADY_EXISTS: OutcomeText(
        label="already exists",
        meaning="the service already had this person (409)",
        next_step="no action needed",
        tab_color="#9AB3A5",
        status="409",
        sheet_limit=NO_ACTION_SHEET_LIMIT,
        always_written=True,
    ),
    OutcomeKind.REJECTED: OutcomeText(
        label="rejected",
        meaning="the service refused it (400)",
        next_step="fix the row, run it again",
        tab_color="#D98E73",
        status="400",
        always_written=True,
    ),
    OutcomeKind.INVALID: OutcomeText(
        label="invalid",
        meaning="our own checks refused it; nothing was sent",
        next_step="fix the highlighted cells, run the row again",
        tab_color="#D98E73",
    ),
    OutcomeKind.FAILED: OutcomeText(
        label="failed",
        meaning="it was not accepted when the run ended",
        next_step="run the same command again",
        tab_color="#D9B26F",
    ),
    OutcomeKind.UNCONFIRMED: OutcomeText(
        label="unconfirmed",
        meaning="sent, but no response confirms that it arrived",
        next_step="run the same command again",
        tab_color="#D9B26F",
    ),
    OutcomeKind.NOT_SENT: OutcomeText(
        label="not sent",
        meaning="the run stopped before its turn",
        next_step="run the same command again",
        tab_color="#AEB8C2",
        sheet_limit=NO_ACTION_SHEET_LIMIT,
    ),
    OutcomeKind.ALREADY_IMPORTED: OutcomeText(
        label="already imported",
        meaning="an earlier run imported it; nothing was sent",
        next_step="no action needed",
        tab_color="#9AB3A5",
        sheet_limit=NO_ACTION_SHEET_LIMIT,
    ),
    OutcomeKind.FILTERED: OutcomeText(
        label="filtered",
        meaning="excluded by where:, or a repeated header",
        next_step="no action needed",
        tab_color="#AEB8C2",
        sheet_limit=NO_ACTION_SHEET_LIMIT,
    ),
}


_READY: Final = replace(
    OUTCOMES[OutcomeKind.NOT_SENT],
    label="ready",
    meaning="passed every check; nothing was sent",
    next_step="run the import",
    sheet_limit=NO_ACTION_SHEET_LIMIT,
)


def outcome_text(kind: OutcomeKind, *, dry_run: bool = False) -> OutcomeText:
    """The texts for an outcome; in a dry run, a row that is not sent is ready."""
    return _READY if dry_run and kind is OutcomeKind.NOT_SENT else OUTCOMES[kind]


def sheet_title(kind: OutcomeKind, part: int = 1) -> str:
    """The title of the outcome's sheet in report.xlsx: `409 already exists`; of its second one `invalid (2)`."""
    words = OUTCOMES[kind]
    title = f"{words.status} {words.label}" if words.status else words.label
    return title if part == 1 else f"{title} ({part})"


def sheet_titles(kind: OutcomeKind, rows: int) -> list[str]:
    """The titles of all sheets of so many rows of an outcome on which somebody acts."""
    return [sheet_title(kind, part) for part in range(1, ceil(rows / OUTCOMES[kind].sheet_limit) + 1)]


def sheet_link(kind: OutcomeKind, nth: int, *, dry_run: bool) -> str:
    """The link to the nth row of an outcome (from 1) in its sheet; "" if only the CSV file has it."""
    words = outcome_text(kind, dry_run=dry_run)
    part, row = divmod(nth - 1, words.sheet_limit)
    if part and not words.is_split:
        return ""
    return f"internal:'{sheet_title(kind, part + 1)}'!A{row + 2}"


def csv_file(kind: OutcomeKind) -> str:
    """The name of the outcome's CSV file: `409_already_exists.csv`."""
    return f"{sheet_title(kind).replace(' ', '_')}.csv"
