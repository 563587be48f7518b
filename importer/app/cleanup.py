"""Removes leftovers of runs that were killed before they sent anything, and the personal data of old runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from importer.files import INTERNAL
from importer.ledger import Ledger, open_existing_ledger
from importer.problems import StoppedEarly, UnusableInput, UsageError, unusable_file
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


class OldRun(NamedTuple):
    """The folder of an old run, and when the run ended, or else started."""

    folder: Path
    at: datetime


def find_old(settings: Settings, age: timedelta, now: datetime) -> tuple[list[OldRun], list[Path]]:
    """The runs that ended longer ago than `age`, and those that were killed before they sent anything; and those that
    are running, or were killed while they sent: these are kept. What may be a check on another machine is kept a day.

    Raises UnusableInput: others could change the results folder, or the ledger cannot be opened.
    """
    refuse_untrusted(settings)
    out, presences = settings.out, Presences(settings.out)
    with open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        sending = {one.run for one in ledger.runs() if one.ended_at is None} if ledger else set()
    sending |= {run for run in presences.runs() if not presences.is_abandoned(run)}
    ended = {folder: one.ending.at for folder, one in manifests_in(out) if one.ending}
    found = [*folders_in(out), *folders_in(out / INTERNAL)]
    old, kept = list[OldRun](), list[Path]()
    for folder in found:
        if (started_at := started_at_of(folder)) is None:
            continue
        one = OldRun(folder, ended.get(folder) or started_at)
        is_known = folder.name in sending or folder in ended or presences.is_abandoned(folder.name)
        if now - one.at < (age if is_known else max(age, _MAYBE_RUNNING)):
            continue
        if folder.name in sending:
            kept.append(folder)
        else:
            old.append(one)
    return old, kept


def unmarked_runs(settings: Settings) -> tuple[Path, ...]:
    """Folders of runs without the marker, which are therefore never removed."""
    return tuple(folder for folder in runs_in(settings.out) if not is_run_folder(folder))


def purge(found: Iterable[OldRun]) -> None:
    """Remove these runs. Raises UnusableInput: a file cannot be removed."""
    for old in found:
        try:
            remove_folder(old.folder)
        except OSError as error:
            raise cannot_remove(error, old.folder, "run purge again") from None


def cannot_remove(error: OSError, folder: Path, then: str) -> UnusableInput:
    """The problem of a file that cannot be removed. then: what to do when it can be."""
    hint = f"close the program that has it open, or get permission to delete it, then {then}"
    message = f"the file cannot be removed: {error.strerror or error}"
    return unusable_file("not-writable", message, hint, error.filename or folder)
