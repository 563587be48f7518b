"""`importer purge`: remove personal data of old runs."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from importer.cli import options
from importer.cli.messages import say, tell

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from importer.ledger import LedgerStore
    from importer.settings import Settings


def purge(
    older_than: Annotated[str, typer.Option("--older-than", help="How long ago they ended: 90d or 12w.")],
    out: options.Out = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list them.")] = False,
    yes: options.Yes = False,
) -> None:
    """Remove the reports and copies of old runs for good. Who was entered stays known, so nobody is entered twice."""
    from datetime import UTC, datetime

    from importer.app.purge import old_runs, parse_age, remove_run
    from importer.ledger import open_existing_ledger, presences_in
    from importer.runs.folder import shown_in
    from importer.runs.results_folder import MARKER, is_run_folder, refuse_untrusted
    from importer.settings import load_settings

    age = parse_age(older_than)
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    now = datetime.now(UTC)
    found = list(old_runs(settings.out, now, age, presences_in(settings.out, settings.ledger_address)))
    for old in found:
        tell(f"{old.folder}  ended {old.at:%Y-%m-%d}")
    for folder in shown_in(settings.out):
        if not is_run_folder(folder):
            say(f"{folder}: left alone, because it lacks the file {MARKER} of a run's folder; remove it yourself")
    if dry_run:
        say(f"{len(found)} runs would be removed. Nothing was.")
        return
    if found and not yes and sys.stdin.isatty() and not typer.confirm("Remove them for good?", err=True):
        say("Nothing was removed.")
        return
    ledger = open_existing_ledger(settings.ledger_address)
    with ledger or nullcontext():
        at_work = [old for old in found if not remove_run(old, ledger)]
        for old in at_work:
            say(
                f"{old.folder}: left alone, because a run for the same target is at work; purge again when it has ended"
            )
        _forget(settings, ledger, now, age)
    say(f"{len(found) - len(at_work)} runs were removed.")


def _forget(settings: Settings, ledger: LedgerStore | None, now: datetime, age: timedelta) -> None:
    """What the ledger and the sandbox's memory keep beside the folders."""
    from importer.app.purge import forget_removed
    from importer.cli.connection import sandbox_memory
    from importer.sandbox import SandboxUnusable, forget

    if ledger is not None and not forget_removed(ledger, settings.out, now, age):
        say("Another run has the ledger open; purge again when it has ended, for its last traces to go.")
    try:
        forget(sandbox_memory(settings.out), now - age)
    except SandboxUnusable as error:
        for problem in error.problems:
            say(problem)
