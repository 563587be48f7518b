"""Removes leftovers of runs that were killed before they sent anything, and the personal data of old runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.files import INTERNAL
from importer.ledger import Ledger, Scope, open_existing_ledger
from importer.problems import Busy, StoppedEarly, UnusableInput, UsageError, unusable_file
from importer.runs.manifest import MANIFEST, manifests_in, read_manifest, runs_in
from importer.runs.presences import Presences
from importer.runs.results_folder import (
    folders_in,
    is_run_folder,
    is_run_name,
    refuse_untrusted,
    remove_folder,
    started_at_of,
)
from importer.runs.table import TABLE, RunTable
from importer.settings import Settings

_DAYS = {"d": 1, "w": 7}
_MAYBE_RUNNING = timedelta(days=1)  # a check holds no lock


def remove_abandoned(out: Path, ledger: Ledger | None, presences: Presences) -> Iterator[str]:
    """Remove the folder of each run whose process has ended before it started to send; yield their IDs.

    A run that is being planned, waits for its lock or is running is kept: its process announces that it is alive.
    """
    for run in presences.runs():
        folder = out / run
        if (
            not is_run_name(run)
            or not presences.is_abandoned(run)
            or (folder.exists() and may_have_started(folder, ledger))
        ):
            continue
        had_folder = folder.exists()
        for each in (folder, out / INTERNAL / run):  # the second one has temporary copies
            with suppress(OSError):
                remove_folder(each)
        presences.forget(run)
        if had_folder:
            yield run


def may_have_started(folder: Path, ledger: Ledger | None) -> bool:
    """Whether a run may have something to report; True if that is unknown."""
    try:
        if (folder / TABLE).exists():
            with RunTable(folder) as table:
                has_begun = table.has_begun
        else:
            has_begun = False
        if not (folder / MANIFEST).is_file():
            return has_begun  # the manifest was deleted: nothing is known
        manifest = read_manifest(folder)
    except (UnusableInput, StoppedEarly):
        return True
    if manifest.ending is not None:
        return True
    if manifest.dry_run:
        return False
    return has_begun or (ledger is not None and ledger.run(manifest.run) is not None)


# --- old runs -----------------------------------------------------------------------------------


def parse_age(text: str) -> timedelta:
    """Parse `90d` or `12w`. Raises UsageError: the text is not an age."""
    found = re.fullmatch(r"(\d{1,5})([dw])", text.strip().lower())
    if not found:
        raise UsageError(f"--older-than {text!r} is not a valid age; write it in days or weeks, for example 90d or 12w")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    """Remove the runs that ended longer ago than `age`, as of `now`."""

    settings: Settings
    age: timedelta
    now: datetime

    def needed_age(self, *, maybe_running: bool) -> timedelta:
        """The minimum age of a run. maybe_running: it has no lock that would show whether it is running."""
        return max(self.age, _MAYBE_RUNNING) if maybe_running else self.age


@dataclass(frozen=True, slots=True)
class OldRun:
    """The folder of an old run, and when the run ended. `scope` is None if it never sent anything."""

    folder: Path
    at: datetime
    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Purged:
    """removed: number of runs. running: skipped, because a run for the same target is running."""

    removed: int
    running: tuple[OldRun, ...]


def find_old(order: PurgeOrder) -> tuple[OldRun, ...]:
    """The runs that `purge` would remove: old ones, and the leftovers of killed ones.

    Raises UnusableInput: others could change the results folder.
    """
    refuse_untrusted(order.settings)
    return tuple(_old_runs(order))


def _old_runs(order: PurgeOrder) -> Iterator[OldRun]:
    out = order.settings.out
    presences = Presences(out)
    readable = set()
    for folder, manifest in manifests_in(out):
        readable.add(folder)
        at = manifest.ending.at if manifest.ending else manifest.started_at
        has_no_lock = manifest.ending is None and manifest.dry_run
        if is_run_folder(folder) and order.now - at >= order.needed_age(maybe_running=has_no_lock):
            yield OldRun(folder, at, None if manifest.dry_run else manifest.scope)
    # Runs whose manifest cannot be read, or that were killed before they wrote one or during a purge.
    for folder in (*folders_in(out), *folders_in(out / INTERNAL)):
        started = started_at_of(folder) if folder not in readable else None
        if started is None:
            continue
        if order.now - started >= order.needed_age(maybe_running=not presences.is_abandoned(folder.name)):
            yield OldRun(folder, started, None)


def unmarked_runs(settings: Settings) -> tuple[Path, ...]:
    """Folders of runs without the marker, which are therefore never removed."""
    return tuple(folder for folder in runs_in(settings.out) if not is_run_folder(folder))


def purge(order: PurgeOrder, found: tuple[OldRun, ...]) -> Purged:
    """Remove these runs, and the sandbox data of that time.

    Raises UnusableInput: a file cannot be removed.
    """
    ledger = open_existing_ledger(order.settings.ledger_address)
    with ledger or nullcontext():
        running = tuple(old for old in found if not _remove(old, ledger))
    return Purged(len(found) - len(running), running)


def _remove(old: OldRun, ledger: Ledger | None) -> bool:
    """Erase a run's folder; False if a run for the same target, perhaps this one, is running.

    Raises UnusableInput: a file cannot be removed.
    """
    try:
        with ledger.lock_target(old.scope) if ledger and old.scope else nullcontext():
            remove_folder(old.folder)
    except Busy:
        return False
    except OSError as error:
        raise cannot_remove(error, old.folder, "run purge again") from None
    return True


def cannot_remove(error: OSError, folder: Path, then: str) -> UnusableInput:
    """The problem of a file that cannot be removed. then: what to do when it can be."""
    hint = f"close the program that has it open, or get permission to delete it, then {then}"
    message = f"the file cannot be removed: {error.strerror or error}"
    return unusable_file("not-writable", message, hint, error.filename or folder)
