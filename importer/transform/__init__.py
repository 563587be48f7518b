"""A row becomes an application or a pool candidate, or problems; pure functions."""

from __future__ import annotations

from importer.transform.candidates import Duplicates, Filtered, candidate_rows
from importer.transform.dates import DATE_IN_FUTURE
from importer.transform.entry_rows import join_warnings
from importer.transform.likely_errors import LikelyErrors
from importer.transform.row import Invalid, encode, transform_row
from importer.transform.trace import (
    Note,
    PickedCandidate,
    SentLine,
    TracedAnswer,
    TracedCell,
    address,
    pick_candidates,
    sent_lines,
    sent_text,
    trace_row,
)

__all__ = [
    "DATE_IN_FUTURE",
    "Duplicates",
    "Filtered",
    "Invalid",
    "LikelyErrors",
    "Note",
    "PickedCandidate",
    "SentLine",
    "TracedAnswer",
    "TracedCell",
    "address",
    "candidate_rows",
    "encode",
    "join_warnings",
    "pick_candidates",
    "sent_lines",
    "sent_text",
    "trace_row",
    "transform_row",
]
