"""`check --annotate` and `--corrected-copy`: copies of the file with notes at its problems, or with its corrections."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from importer.app.import_file import Finished, check_file
from importer.app.orders import Listener, Order, refuse_to_replace
from importer.extract import ReadingLimits
from importer.models import NEEDS_ATTENTION, OutcomeKind
from importer.problems import UsageError
from importer.report import import_command
from importer.runs import run_report
from importer.runs.manifest import RunManifest, read_manifest, write_manifest
from importer.runs.private_copies import sheet_of

if TYPE_CHECKING:
    from importer.extract import Annotated, Sheet


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of the checked file to write, each None if it is not wanted. force: those that exist are replaced."""

    annotated: Path | None = None
    corrected: Path | None = None
    force: bool = False


NO_COPIES: Final = Copies()


def check_and_copy(order: Order, listen: Listener, copies: Copies) -> tuple[Finished, Annotated | None]:
    """Like `check_file`; and write a copy of the file in which the cells with problems are colored and have notes, and
    one in which only the cells of its list of corrections are changed.

    Raises:
        UsageError: a copy exists, and not `force`; or there is no list of corrections; and as `check_file`.
        UnusableInput: a copy cannot be written; and as `check_file`.
    """
    if copies.corrected is not None:
        from importer.extract import refuse_corrected_copy, write_corrected

        if order.corrections is None:
            raise UsageError("--corrected-copy writes the file with its corrections; give them with --corrections")
        refuse_corrected_copy(order.file, copies.corrected)
        refuse_to_replace(copies.corrected, "--corrected-copy", force=copies.force)
    if copies.annotated is not None:
        from importer.extract import refuse_annotation  # loads openpyxl

        if order.corrections is not None:
            raise UsageError(
                "--annotate and --corrections cannot be used together; write a corrected copy with --corrected-copy, "
                "and annotate that"
            )
        refuse_annotation(order.file, copies.annotated)
        refuse_to_replace(copies.annotated, "--annotate", force=copies.force)
    checked = check_file(order, listen)
    if copies.annotated is None and copies.corrected is None:
        return checked, None
    folder, limits = checked.folder, ReadingLimits.of(order.settings)
    manifest = read_manifest(folder)
    sheet = sheet_of(folder, manifest, limits)
    if copies.corrected is not None:
        write_corrected(folder / manifest.source, sheet, manifest.options, limits, copies.corrected)
        with copies.corrected.open("rb") as copy:  # by which the rows of the copy are known
            sha256 = hashlib.file_digest(copy, "sha256").hexdigest()
        write_manifest(folder, replace(manifest, corrected_copy=sha256))
    return checked, _annotate(checked, manifest, sheet, copies.annotated) if copies.annotated else None


def _annotate(checked: Finished, manifest: RunManifest, sheet: Sheet, out: Path) -> Annotated:
    from importer.extract import Annotation, write_annotated

    folder, summary = checked.folder, checked.summary
    kinds = {*NEEDS_ATTENTION, OutcomeKind.NOT_SENT}
    with ExitStack() as stack:
        outcomes = run_report.outcomes_of(folder, manifest, sheet, stack)
        problems = [problem for outcome in outcomes if outcome.kind in kinds for problem in outcome.problems]
    bad = sum(summary.outcomes[kind] for kind in NEEDS_ATTENTION)
    rows = f"{summary.source.rows:,} rows read, {bad:,} with problems"
    title = f"{Path(manifest.file).name}, checked on {manifest.started_at.astimezone():%Y-%m-%d %H:%M}: {rows}"
    texts = Annotation(manifest.sha256, title, import_command(out, summary, folder, is_copy=True), manifest.warnings)
    return write_annotated(folder / manifest.source, sheet, problems, texts, manifest.options, out)
