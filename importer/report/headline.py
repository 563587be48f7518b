"""The one sentence that says how a run went."""

from __future__ import annotations

from importer.models import OutcomeKind
from importer.report.summary import Summary
from importer.report.words import words_for


def headline(summary: Summary) -> str:
    """`Finished: 300 rows read, 251 created, 30 already there, 19 invalid`."""
    if summary.source.rows is None:
        return f"{_ending(summary)}: no rows are counted yet"
    counts = [
        f"{summary.outcomes[kind]:,} {words_for(kind, dry_run=summary.dry_run).label}"
        for kind in OutcomeKind
        if summary.outcomes[kind]
    ]
    return f"{_ending(summary)}: {', '.join([f'{rows(summary.source.rows)} read', *counts])}"


def rows(count: int) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def _ending(summary: Summary) -> str:
    if summary.stopped:
        return "Stopped early"
    if not summary.finished:
        return "Not finished"
    return "Dry run, nothing sent" if summary.dry_run else "Finished"
