"""Removes the personal data of old runs, and keeps what prevents a second entry."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.app.connection import sandbox_memory
from importer.errors import UsageError
from importer.ledger import LedgerStore, open_existing_ledger, presences_in
from importer.runs.cleanup import OldRun, old_runs, remove_run
from importer.runs.manifest import runs_in
from importer.runs.results_folder import is_run_folder, refuse_untrusted
from importer.settings import Settings

_DAYS = {"d": 1, "w": 7}


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
class PurgeOrder:
    """Remove what ended longer ago than `age`, as of `now`."""

    settings: Settings
    age: timedelta
    now: datetime


@dataclass(frozen=True, slots=True)
class Purged:
    """removed: runs. at_work: left alone, because a run for the same target is at work. notes: what a person should
    know of what could not be removed."""

    removed: int
    at_work: tuple[OldRun, ...]
    notes: tuple[str, ...]


def find_old(order: PurgeOrder) -> tuple[OldRun, ...]:
    """The runs that `purge` would remove.

    Raises:
        UnusableInput: others could change the results folder.
    """
    refuse_untrusted(order.settings)
    presences = presences_in(order.settings.out, order.settings.ledger_address)
    return tuple(old_runs(order.settings.out, order.now, order.age, presences))


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
        at_work = tuple(old for old in found if not remove_run(old, ledger))
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
