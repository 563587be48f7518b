"""What a report tells about a run that its rows do not tell: who, when, what file, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from importer.models import Column, ManyTargets, Origin, Target


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of one run.

    mapping: the path of the mapping file as the user named it; origin: the source as the user named it; sha256: of the
    source, hexadecimal; reading: one line that says how the file was read; columns: the source's own, in its order;
    delimiter: of the source, and so of the result CSVs; knows_types: it is known which cells a workbook kept as values,
    the source being a workbook or a results file of one; started_at, ended_at: with a time zone; warnings: whole
    messages with their places; blank_rows: wholly blank rows that were passed over (they are no rows read).
    """

    run: str
    target: Target | ManyTargets
    mapping: str
    origin: Origin
    sha256: str
    reading: str
    columns: tuple[Column, ...]
    started_at: datetime
    ended_at: datetime | None = None
    finished: bool = False
    exit_code: int | None = None
    stop_reason: str | None = None
    stop_hint: str | None = None
    target_title: str | None = None
    delimiter: str = ","
    sandbox: bool = False
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    blank_rows: int = 0
    knows_types: bool = False
