"""Removes the personal data of old runs, and keeps what prevents a second entry."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.atomic_files import open_private
from importer.errors import Busy, UnusableInput, UsageError
from importer.ledger import LedgerStore, Presences, Scope
from importer.models import FilePlace, Problem
from importer.runs.batch_folder import batches_in
from importer.runs.folder import BATCH, MANIFEST, leftovers_in, manifests_in
from importer.runs.results_folder import MARKER, is_run_folder

_DAYS = {"d": 1, "w": 7}
_MAYBE_AT_WORK = timedelta(days=1)  # a check holds no lock that would tell
_BLOCK = 1 << 20


def parse_age(text: str) -> timedelta:
    """`90d` or `12w` as a person writes it.

    Raises:
        UsageError: it is neither.
    """
    found = re.fullmatch(r"(\d{1,5})([dw])", text.strip().lower())
    if not found:
        raise UsageError(f"--older-than {text!r} is no age; write it in days or weeks: 90d or 12w")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


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
        needed = max(age, _MAYBE_AT_WORK) if manifest.dry_run and manifest.ending is None else age
        if now - at >= needed:
            yield OldRun(folder, at, None if manifest.dry_run else manifest.scope)
    for folder, batch in batches_in(out):
        if not is_run_folder(folder):
            continue
        at = batch.ending.at if batch.ending else batch.started_at
        if now - at >= (age if batch.ending else max(age, _MAYBE_AT_WORK)):
            yield OldRun(folder, at, None)
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


def forget_removed(ledger: LedgerStore, out: Path, now: datetime, age: timedelta) -> bool:
    """Take the names of old runs whose folders are gone from the ledger, and write its file anew.

    False where another process reads the ledger just now, so that its last bytes go only when it ends.
    """
    for record in ledger.runs():
        is_old = now - (record.ended_at or record.started_at) >= age
        is_gone = not (out / record.run).exists() and not Path(record.folder).exists()
        if is_old and is_gone and record.purged_at is None:
            ledger.forget_run(record.run, now)
    return ledger.scrub()


def erase(folder: Path) -> None:
    """Overwrite every file of a run's folder, then remove it; its manifest and marker last, so that a kill leaves it
    to be purged. A folder that no run made is left alone.
    """
    if not is_run_folder(folder):
        return
    last = {name: order for order, name in enumerate((MANIFEST, BATCH, MARKER), start=1)}
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
