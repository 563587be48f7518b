"""Removes runs: what those left that were killed before they sent anything, and the personal data of old ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.atomic_files import INTERNAL, open_private
from importer.errors import Busy, UnusableInput
from importer.ledger import LedgerStore, Presences, Scope
from importer.models import FilePlace, Problem
from importer.runs.journal import JOURNAL
from importer.runs.manifest import MANIFEST, is_run, leftovers_in, manifests_in, read_manifest
from importer.runs.results_folder import MARKER, is_run_folder, is_run_name, remove_folder

_MAYBE_AT_WORK = timedelta(days=1)  # a check holds no lock that would tell
_BLOCK = 1 << 20


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
    whole = folder.with_name(folder.name.partition(".")[0])
    if whole != folder and is_run(whole):
        return True  # its report tells of each of its targets
    if not (folder / MANIFEST).is_file():
        return (folder / JOURNAL).exists()  # somebody took it away: nothing is known
    try:
        manifest = read_manifest(folder)
    except UnusableInput:
        return True
    if manifest.ending is not None or manifest.is_split:
        return True
    if manifest.dry_run:
        return False
    # Nothing is sent before there is a journal, nor before the ledger knows the run.
    return (folder / JOURNAL).exists() or (ledger is not None and ledger.run(manifest.run) is not None)


# --- old runs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run's folder that is old enough, and when it ended. `scope` is None where nothing was ever sent from it."""

    folder: Path
    at: datetime
    scope: Scope | None


def old_runs(out: Path, now: datetime, age: timedelta, presences: Presences) -> Iterator[OldRun]:
    """The runs of a results folder that ended at least so long ago, and what killed ones left; see `is_run_folder`."""
    for folder, manifest in manifests_in(out):
        if not is_run_folder(folder):
            continue
        at = manifest.ending.at if manifest.ending else manifest.started_at
        has_no_lock = manifest.dry_run or manifest.is_split
        needed = max(age, _MAYBE_AT_WORK) if has_no_lock and manifest.ending is None else age
        if now - at >= needed:
            yield OldRun(folder, at, None if manifest.dry_run else manifest.scope)
    for folder, began in leftovers_in(out):
        if now - began >= (age if presences.is_abandoned(folder.name) else max(age, _MAYBE_AT_WORK)):
            yield OldRun(folder, began, None)


def remove_run(old: OldRun, ledger: LedgerStore | None) -> bool:
    """Erase a run's folder; false where a run of the same target is at work, which might be this one.

    Raises:
        UnusableInput: a file cannot be removed.
    """
    try:
        with ledger.lock_target(old.scope) if ledger and old.scope else nullcontext():
            erase(old.folder)
    except Busy:
        return False
    except OSError as error:
        raise UnusableInput(
            Problem(
                "purge-hindered",
                f"it cannot be removed: {error.strerror or error}",
                "close the program that has it open, or give yourself the right to it, then purge again",
                FilePlace(str(error.filename or old.folder)),
            )
        ) from None
    return True


def erase(folder: Path) -> None:
    """Overwrite every file of a run's folder, then remove it; its manifest and marker last, so that a kill leaves it
    to be purged. A folder that no run made is left alone.
    """
    if not is_run_folder(folder):
        return
    last = {name: order for order, name in enumerate((MANIFEST, MARKER), start=1)}
    files = [Path(parent) / name for parent, folders, names in os.walk(folder) for name in (*folders, *names)]
    for path in sorted(files, key=lambda path: last.get(path.name, 0)):
        if path.is_dir() and not path.is_symlink():
            continue
        if not path.is_symlink():
            _overwrite(path)
        path.unlink()
    for parent, _, _ in os.walk(folder, topdown=False):
        Path(parent).rmdir()


def _overwrite(path: Path) -> None:
    """Where the file system writes in place, nothing of the file is left on the disk."""
    with os.fdopen(open_private(path, os.O_RDWR), "r+b", buffering=0) as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(bytes(min(left, _BLOCK)))
        os.fsync(file.fileno())
        file.truncate(0)
