"""Removes what runs left behind that were killed before they sent anything: copies of files that nobody asks for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from importer.atomic_files import INTERNAL
from importer.errors import UnusableInput
from importer.ledger import LedgerStore, Presences
from importer.runs.folder import BATCH, MANIFEST, read_manifest
from importer.runs.journal import JOURNAL
from importer.runs.results_folder import is_run_name, remove_folder


def remove_abandoned(out: Path, ledger: LedgerStore | None, presences: Presences) -> Iterator[str]:
    """Remove the folder of each run whose process is no more and which never began to send; give their names.

    A run that is being planned, waits for its lock or works now is not touched: its process says that it lives.
    """
    for run in presences.runs():
        folder = out / run
        if not is_run_name(run) or not presences.is_abandoned(run) or (folder.exists() and _has_begun(folder, ledger)):
            continue
        had_a_folder = folder.exists()
        remove_folder(folder)
        remove_folder(out / INTERNAL / run)  # what a command was given on standard input
        presences.forget(run)
        if had_a_folder:
            yield run


def _has_begun(folder: Path, ledger: LedgerStore | None) -> bool:
    """Whether there may be something of a run to report; where it cannot be told, there is."""
    batch = folder.with_name(folder.name.partition(".")[0])
    if (batch / BATCH).is_file():
        return True  # its report tells of each of its targets
    if not (folder / MANIFEST).is_file():
        return (folder / JOURNAL).exists()  # somebody took it away: nothing is known
    try:
        manifest = read_manifest(folder)
    except UnusableInput:
        return True
    if manifest.ending is not None:
        return True
    if manifest.dry_run:
        return False
    # Nothing is sent before there is a journal, nor before the ledger knows the run.
    return (folder / JOURNAL).exists() or (ledger is not None and ledger.run(manifest.run) is not None)
