"""Orders for a run that goes on with an earlier one, from the private copies of its source and its mapping."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from importer.app.planning import Order
from importer.errors import UsageError
from importer.models import OutcomeKind, WireFormat
from importer.runs.batch_folder import MAPPINGS, BatchManifest
from importer.runs.folder import RunManifest
from importer.runs.journal import RunJournal
from importer.runs.row_selection import Selection

RETRIED = (OutcomeKind.REJECTED, OutcomeKind.FAILED, OutcomeKind.UNCLEAR)


def parse_outcomes(text: str) -> tuple[OutcomeKind, ...]:
    """`rejected,failed` as a person writes it.

    Raises:
        UsageError: there is another word among them.
    """
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    known = {kind.value: kind for kind in RETRIED}
    strange = [word for word in words if word not in known]
    if strange or not words:
        raise UsageError(f"--only {text!r} names no outcomes to send again; give some of: {','.join(known)}")
    return tuple(known[word] for word in words)


def resume_order(folder: Path, manifest: RunManifest, out: Path, wire: WireFormat) -> Order:
    """All rows of an earlier run once more: those that are done are found in the ledger.

    Raises:
        UsageError: the run was only a check, or keeps no copies.
    """
    return _order(folder, manifest, out, wire, manifest.selection)


def retry_order(
    folder: Path, manifest: RunManifest, out: Path, wire: WireFormat, kinds: Collection[OutcomeKind]
) -> Order | None:
    """The rows of an earlier run that had one of these outcomes; None where there is none.

    Raises:
        UsageError: the run was only a check, or keeps no copies.
    """
    with RunJournal(folder) as journal:
        selection = Selection.of_rows(outcome.row for outcome in journal.outcomes() if outcome.kind in kinds)
    return _order(folder, manifest, out, wire, selection) if selection.ranges else None


def resume_batch_order(folder: Path, batch: BatchManifest, out: Path, wire: WireFormat) -> Order:
    """All rows of an earlier batch once more, those of blocked targets too.

    Raises:
        UsageError: the batch was only a check, or keeps no copies.
    """
    return _batch_order(folder, batch, out, wire, batch.selection)


def retry_batch_order(
    folder: Path, batch: BatchManifest, out: Path, wire: WireFormat, kinds: Collection[OutcomeKind]
) -> Order | None:
    """The rows of an earlier batch that had one of these outcomes; None where there is none.

    Raises:
        UsageError: the batch was only a check, or keeps no copies.
    """
    rows: list[int] = []
    for run in batch.runs:
        if not run.blocked:
            with RunJournal(folder.parent / run.run) as journal:
                rows += (outcome.row for outcome in journal.outcomes() if outcome.kind in kinds)
    selection = Selection.of_rows(sorted(rows))
    return _batch_order(folder, batch, out, wire, selection) if selection.ranges else None


def _batch_order(folder: Path, batch: BatchManifest, out: Path, wire: WireFormat, selection: Selection) -> Order:
    refuse_unsent(batch)
    source, mappings = folder / batch.source, folder / MAPPINGS
    if not mappings.is_dir() or not source.is_file():
        raise UsageError(_no_copies(folder))
    return Order(
        file=source,
        mapping=mappings,
        out=out,
        selection=selection,
        service=batch.service,
        wire=wire,
        dry_run=False,
        file_shown_as=batch.file,
        mapping_shown_as=batch.mapping,
    )


def refuse_unsent(manifest: RunManifest | BatchManifest) -> None:
    """Raises UsageError where a run was only a check, and nothing of it can go on."""
    if manifest.dry_run:
        raise UsageError(f"{manifest.run} was only a check and sent nothing; use: importer run FILE --mapping MAPPING")


def _no_copies(folder: Path) -> str:
    return (
        f"the folder {folder} does not hold the copies of the file and the mapping any more; "
        "run the file itself again: importer run FILE --mapping MAPPING"
    )


def _order(folder: Path, manifest: RunManifest, out: Path, wire: WireFormat, selection: Selection) -> Order:
    refuse_unsent(manifest)
    source = folder / manifest.source
    mapping = folder / manifest.mapping_copy if manifest.mapping_copy else None
    if mapping is None or not mapping.is_file() or not source.is_file():
        raise UsageError(_no_copies(folder))
    return Order(
        file=source,
        mapping=mapping,
        out=out,
        selection=selection,
        service=manifest.service,
        wire=wire,
        dry_run=False,
        file_shown_as=manifest.file,
        mapping_shown_as=manifest.mapping,
    )
