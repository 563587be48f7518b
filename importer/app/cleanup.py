"""Removes runs: what those left that were killed before they sent anything, and the personal data of old ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.app.connection import sandbox_memory
from importer.atomic_files import INTERNAL, open_private
from importer.ledger import LedgerStore, Presences, Scope, open_existing_ledger, presences_in
from importer.problems import Busy, FilePlace, Problem, UnusableInput, UsageError
from importer.runs.journal import JOURNAL
from importer.runs.manifest import MANIFEST, is_run, manifests_in, read_manifest, runs_in
from importer.runs.results_folder import (
    MARKER,
    begun_at,
    folders_in,
    is_run_folder,
    is_run_name,
    refuse_untrusted,
    remove_folder,
)
from importer.settings import Settings

_DAYS = {"d": 1, "w": 7}
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


def parse_age(text: str) -> timedelta:
    """`90d` or `12w` as a person writes it.

    Raises:
        UsageError: it is neither.
    """
    found = re.fullmatch(r"(\d{1,5})([dw])", text.strip().lower())
    if not found:
        raise UsageError(f"--older-than {text!r} is not a valid age; write it in days or weeks, for example 90d or 12w")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    """Remove what ended longer ago than `age`, as of `now`."""

    settings: Settings
    age: timedelta
    now: datetime

    def needed_age(self, *, maybe_at_work: bool) -> timedelta:
        """How old a run must be that may have no lock to tell that it is at work."""
        return max(self.age, _MAYBE_AT_WORK) if maybe_at_work else self.age


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run's folder that is old enough, and when it ended. `scope` is None where nothing was ever sent from it."""

    folder: Path
    at: datetime
    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Purged:
    """removed: runs. at_work: left alone, because a run for the same target is at work. notes: what a person should
    know of what could not be removed."""

    removed: int
    at_work: tuple[OldRun, ...]
    notes: tuple[str, ...]


def find_old(order: PurgeOrder) -> tuple[OldRun, ...]:
    """The runs that `purge` would remove: of the folders that a run made, those that ended at least so long ago, and
    what killed ones left.

    Raises:
        UnusableInput: others could change the results folder.
    """
    refuse_untrusted(order.settings)
    return tuple(_old_runs(order))


def _old_runs(order: PurgeOrder) -> Iterator[OldRun]:
    out = order.settings.out
    presences = presences_in(out, order.settings.ledger_address)
    readable = set()
    for folder, manifest in manifests_in(out):
        readable.add(folder)
        at = manifest.ending.at if manifest.ending else manifest.started_at
        has_no_lock = manifest.ending is None and (manifest.dry_run or manifest.is_split)
        if is_run_folder(folder) and order.now - at >= order.needed_age(maybe_at_work=has_no_lock):
            yield OldRun(folder, at, None if manifest.dry_run else manifest.scope)
    # Those whose manifest cannot be read, or that were killed before they had one or while they were purged.
    for folder in (*folders_in(out), *folders_in(out / INTERNAL)):
        began = begun_at(folder) if folder not in readable else None
        if began is None:
            continue
        if order.now - began >= order.needed_age(maybe_at_work=not presences.is_abandoned(folder.name)):
            yield OldRun(folder, began, None)


def unmarked_runs(settings: Settings) -> tuple[Path, ...]:
    """Folders with a run that lack the marker, and so are never removed."""
    return tuple(folder for folder in runs_in(settings.out) if not is_run_folder(folder))


def purge(order: PurgeOrder, found: tuple[OldRun, ...]) -> Purged:
    """Remove these runs, their names from the ledger, and what the sandbox remembers of their time.

    Raises:
        UnusableInput: a file cannot be removed.
    """
    from importer.sandbox import SandboxUnusable, forget  # only here

    notes: list[str] = []
    ledger = open_existing_ledger(order.settings.ledger_address)
    with ledger or nullcontext():
        at_work = tuple(old for old in found if not _remove(old, ledger))
        if ledger is not None and not _forget_removed(ledger, order):
            notes.append("Another run has the ledger open; purge again when it has ended, for its last traces to go.")
    try:
        forget(sandbox_memory(order.settings.out), order.now - order.age)
    except SandboxUnusable as error:
        notes += error.problems
    return Purged(len(found) - len(at_work), at_work, tuple(notes))


def _forget_removed(ledger: LedgerStore, order: PurgeOrder) -> bool:
    """Take the names of old runs whose folders are gone from the ledger, and write its file anew.

    False where another process reads the ledger just now, so that its last bytes go only when it ends.
    """
    for record in ledger.runs():
        is_old = order.now - (record.ended_at or record.started_at) >= order.age
        is_gone = not (order.settings.out / record.run).exists() and not Path(record.folder).exists()
        if is_old and is_gone and record.purged_at is None:
            ledger.forget_run(record.run, order.now)
    return ledger.scrub()


def _remove(old: OldRun, ledger: LedgerStore | None) -> bool:
    """Erase a run's folder; false where a run of the same target is at work, which might be this one.

    Raises:
        UnusableInput: a file cannot be removed.
    """
    try:
        with ledger.lock_target(old.scope) if ledger and old.scope else nullcontext():
            _erase(old.folder)
    except Busy:
        return False
    except OSError as error:
        raise UnusableInput(
            Problem(
                "purge-blocked",
                f"the file cannot be removed: {error.strerror or error}",
                "close the program that has it open, or get permission to delete it, then run purge again",
                FilePlace(str(error.filename or old.folder)),
            )
        ) from None
    return True


def _erase(folder: Path) -> None:
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
