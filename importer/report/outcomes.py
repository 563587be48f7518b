"""The table of outcomes: label, meaning, next step, and the names of the CSV file and the sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from importer.models import OutcomeKind

SUMMARY_FILE: Final = "summary.json"
WORKBOOK_FILE: Final = "report.xlsx"
PAGE_FILE: Final = "report.html"

SHEET_LIMIT: Final = 100_000  # rows of a sheet in report.xlsx; the CSV file has all
NO_ACTION_SHEET_LIMIT: Final = 10_000  # of one whose outcome needs no action

COLORS: Final = {"good": "#6AA889", "there": "#9AB3A5", "wrong": "#D98E73", "open": "#D9B26F", "idle": "#AEB8C2"}


@dataclass(frozen=True, slots=True)
class OutcomeText:
    """The texts for an outcome, in lower case.

    `color`: of its tab, one of COLORS; report.html has its own ones of these names. `status`: a prefix of the names of
    file and sheet; with it, the CSV file is always written, even without rows.
    """

    label: str
    meaning: str
    next_step: str
    color: str
    status: str = ""

    @property
    def sheet_limit(self) -> int:
        """The maximum of its rows in report.xlsx."""
        return NO_ACTION_SHEET_LIMIT if self.next_step in (_NONE, _SEND) else SHEET_LIMIT


_NONE, _AGAIN, _SEND = "no action needed", "run the same command again", "run the import"

OUTCOMES: Final[dict[OutcomeKind, OutcomeText]] = {
    OutcomeKind.CREATED: OutcomeText("created", "the service accepted it (201)", _NONE, "good", "201"),
    OutcomeKind.ALREADY_EXISTS: OutcomeText(
        "already exists", "the service already had this person (409)", _NONE, "there", "409"
    ),
    OutcomeKind.REJECTED: OutcomeText(
        "rejected", "the service refused it (400)", "fix the row, run it again", "wrong", "400"
    ),
    OutcomeKind.INVALID: OutcomeText(
        "invalid",
        "our own checks refused it; nothing was sent",
        "fix the highlighted cells, run the row again",
        "wrong",
    ),
    OutcomeKind.FAILED: OutcomeText("failed", "it was not accepted when the run ended", _AGAIN, "open"),
    OutcomeKind.UNCONFIRMED: OutcomeText(
        "unconfirmed", "sent, but no response confirms that it arrived", _AGAIN, "open"
    ),
    OutcomeKind.NOT_SENT: OutcomeText("not sent", "the run stopped before its turn", _AGAIN, "idle"),
    OutcomeKind.ALREADY_IMPORTED: OutcomeText(
        "already imported", "an earlier run imported it; nothing was sent", _NONE, "there"
    ),
    OutcomeKind.FILTERED: OutcomeText("filtered", "excluded by where: or route:, or a repeated header", _NONE, "idle"),
}


def outcome_text(kind: OutcomeKind, *, dry_run: bool = False) -> OutcomeText:
    """The texts for an outcome; in a dry run, a row that is not sent is ready."""
    words = OUTCOMES[kind]
    if dry_run and kind is OutcomeKind.NOT_SENT:
        return replace(words, label="ready", meaning="passed every check; nothing was sent", next_step=_SEND)
    return words


def by_color(counts: Mapping[OutcomeKind, int]) -> dict[str, int]:
    """How many rows are created, already there, with problems, and not sent, as narrow tables and progress show it."""
    names = {"created": ("good",), "existing": ("there",), "problems": ("wrong", "open"), "unsent": ("idle",)}
    return {
        name: sum(count for kind, count in counts.items() if OUTCOMES[kind].color in colors)
        for name, colors in names.items()
    }


def sheet_title(kind: OutcomeKind) -> str:
    """The title of the outcome's sheet in report.xlsx: `409 already exists`."""
    words = OUTCOMES[kind]
    return f"{words.status} {words.label}".strip()


def csv_file(kind: OutcomeKind) -> str:
    """The name of the outcome's CSV file: `409_already_exists.csv`."""
    return f"{sheet_title(kind).replace(' ', '_')}.csv"
