"""The folder of a batch and the manifest in it (batch.json): one export, the run of each of its targets."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from importer.atomic_files import keep_json, read_private
from importer.errors import DamagedRun, UnusableInput
from importer.models import FilePlace, Operation, Problem, SourceOptions, Target
from importer.runs.folder import BATCH, Ending, options_from_json, refuse_paths, shown_in
from importer.runs.row_selection import Selection, selection_from_json

VERSION = 1
MAPPINGS = "mappings"  # in a batch's folder: copies of its mapping files, each with all that it takes from others


@dataclass(frozen=True, slots=True)
class BatchRun:
    """One target of a batch: its run, the mapping, and the folded words that rows for it say in the routing column.

    blocked: why nothing was sent to it, and what to do, where it has no run of its own.
    """

    run: str
    target: Target
    mapping: str
    words: tuple[str, ...]
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class BatchManifest:
    """What a batch set out to do and, once it is over, how it ended. Like RunManifest; `column` is the index of the
    routing column."""

    run: str
    file: str
    source: str
    sha256: str
    options: SourceOptions
    selection: Selection
    mapping: str
    column: int
    runs: tuple[BatchRun, ...]
    sandbox: bool
    dry_run: bool
    warnings: tuple[str, ...]
    started_at: datetime
    service: str = ""  # as in RunManifest; "" in a batch of an older importer
    ending: Ending | None = None


def write_batch(folder: Path, manifest: BatchManifest) -> None:
    """Keep the manifest in the folder, whole or not at all."""
    values = {**asdict(manifest), "version": VERSION}
    keep_json(folder / BATCH, values)


def read_batch(folder: Path) -> BatchManifest:
    """The manifest of a batch's folder.

    Raises:
        DamagedRun: there is none, or it is damaged or from a newer importer.
    """
    try:
        return _manifest(json.loads(read_private(folder / BATCH)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        message, hint = f"the manifest of this batch cannot be read: {error}", "its runs can still be shown one by one"
        raise DamagedRun(Problem("run-unreadable", message, hint, FilePlace(str(folder)))) from None


def batches_in(out: Path) -> Iterator[tuple[Path, BatchManifest]]:
    """The folders of all batches whose manifest can be read, oldest first."""
    for folder in shown_in(out):
        if (folder / BATCH).is_file():
            with contextlib.suppress(UnusableInput):
                yield folder, read_batch(folder)


def _manifest(values: dict[str, Any]) -> BatchManifest:
    if values.pop("version") != VERSION:
        raise ValueError("it was written by another version of importer")
    refuse_paths(values["run"], values["source"], *(run["run"] for run in values["runs"]))
    ending, options = values.pop("ending"), values.pop("options")
    return BatchManifest(
        **{
            **values,
            "options": options_from_json(options),
            "selection": selection_from_json(values["selection"]),
            "runs": tuple(_run(run) for run in values["runs"]),
            "warnings": tuple(values["warnings"]),
            "started_at": datetime.fromisoformat(values["started_at"]),
            "ending": Ending(**{**ending, "at": datetime.fromisoformat(ending["at"])}) if ending else None,
        }
    )


def _run(values: dict[str, Any]) -> BatchRun:
    target = Target(Operation(values["target"]["operation"]), values["target"]["id"])
    return BatchRun(**{**values, "target": target, "words": tuple(values["words"])})
