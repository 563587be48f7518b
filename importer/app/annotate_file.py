"""Checks a file, and copies it with a note in each cell to fix."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from importer.app.import_file import Finished, check_file
from importer.app.orders import Listener, Order, refuse_to_replace
from importer.extract import ReadingLimits
from importer.models import NEEDS_ATTENTION, OutcomeKind
from importer.report import import_command
from importer.runs import run_report
from importer.runs.manifest import read_manifest
from importer.runs.private_copies import sheet_of

if TYPE_CHECKING:
    from importer.extract import Annotated


def check_and_annotate(
    order: Order, listen: Listener, out: Path | None, *, force: bool
) -> tuple[Finished, Annotated | None]:
    """Like `check_file`; and if `out` is given, write there a copy of the file in which the cells with problems are
    colored and have notes.

    Raises:
        UsageError: `out` exists, and not `force`; and as `check_file`.
        UnusableInput: the copy cannot be written; and as `check_file`.
    """
    if out is None:
        return check_file(order, listen), None
    from importer.extract import Annotation, refuse_annotation, write_annotated  # loads openpyxl

    refuse_annotation(order.file, out)
    refuse_to_replace(out, "--annotate", force=force)
    checked = check_file(order, listen)
    folder, summary = checked.folder, checked.summary
    manifest = read_manifest(folder)
    sheet = sheet_of(folder, manifest, ReadingLimits.of(order.settings))
    kinds = {*NEEDS_ATTENTION, OutcomeKind.NOT_SENT}
    with ExitStack() as stack:
        outcomes = run_report.outcomes_of(folder, manifest, sheet, stack)
        problems = [problem for outcome in outcomes if outcome.kind in kinds for problem in outcome.problems]
    bad = sum(summary.outcomes[kind] for kind in NEEDS_ATTENTION)
    rows = f"{summary.source.rows:,} rows read, {bad:,} with problems"
    title = f"{Path(manifest.file).name}, checked on {manifest.started_at.astimezone():%Y-%m-%d %H:%M}: {rows}"
    texts = Annotation(manifest.sha256, title, import_command(out, summary, folder, is_copy=True), manifest.warnings)
    return checked, write_annotated(folder / manifest.source, sheet, problems, texts, manifest.options, out)
