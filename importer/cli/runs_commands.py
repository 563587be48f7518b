"""`importer runs`, `show` and `report`: what earlier runs did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from importer.cli import options
from importer.cli.messages import in_folder, say, tell

if TYPE_CHECKING:
    from importer.report import Summary


def runs(out: options.Out = None, as_json: options.AsJson = False) -> None:
    """List the runs of a results folder, the newest first."""
    from importer.errors import UnusableInput
    from importer.report import read_summary
    from importer.runs.folder import shown_in
    from importer.runs.results_folder import refuse_untrusted
    from importer.settings import load_settings

    settings = load_settings(out=out)
    refuse_untrusted(settings)
    found = []
    for folder in reversed(shown_in(settings.out)):
        try:
            found.append(read_summary(folder))
        except UnusableInput as damaged:
            say(str(damaged))
    if as_json:
        tell(json.dumps([summary.to_json() for summary in found], ensure_ascii=False, indent=1))
        return
    for summary in found:
        tell(_line(summary))
    if found:
        say(f"\nNext: importer show RUN{in_folder(settings.out)}")
    else:
        say(f"There are no runs in {settings.out}. Next: importer check FILE --mapping MAPPING")


def _line(summary: Summary) -> str:
    """One run in one line: id, how it ended, target, file, counts."""
    if summary.dry_run:
        state = "checked"
    elif summary.finished:
        state = "finished"
    else:
        state = "stopped" if summary.ended_at else "begun"  # at work, or killed: only the lock could tell
    counts = ", ".join(f"{count} {kind.value.replace('_', ' ')}" for kind, count in summary.outcomes.items() if count)
    counts = counts or ("no rows" if summary.ended_at else "no report yet")
    where = f"{summary.target}{' (sandbox)' if summary.sandbox else ''}"
    return f"{summary.run}  {state:<8}  {where}  {summary.source.file}: {counts}"


def show(run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False) -> None:
    """Show what became of a run."""
    from importer.report import read_summary
    from importer.runs.folder import find_run
    from importer.runs.results_folder import refuse_untrusted
    from importer.settings import load_settings

    settings = load_settings(out=out)
    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    present(folder, read_summary(folder), as_json)


def report(run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False) -> None:
    """Write the report of a run again, also of one that was killed."""
    from importer.app.batch import rewrite_batch_report
    from importer.cli.again_commands import close_runs
    from importer.errors import UsageError
    from importer.ledger import open_ledger
    from importer.runs.batch_folder import read_batch
    from importer.runs.finalize import close, rewrite_report
    from importer.runs.folder import BATCH, find_run, read_manifest
    from importer.runs.results_folder import refuse_untrusted
    from importer.settings import load_settings

    settings = load_settings(out=out)
    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    if (folder / BATCH).is_file():
        batch = read_batch(folder)
        if batch.dry_run and batch.ending is None:
            raise UsageError(f"the check {batch.run} did not come to its end; run importer check again")
        close_runs(folder, batch, settings)
        present(folder, rewrite_batch_report(folder), as_json)
        return
    manifest = read_manifest(folder)
    if manifest.ending is not None:
        present(folder, rewrite_report(folder), as_json)
        return
    if manifest.dry_run:
        raise UsageError(f"the check {manifest.run} did not come to its end; run importer check again")
    # It has no end: killed, or at work now. The lock tells which.
    with open_ledger(settings.ledger_address) as ledger, ledger.lock_target(manifest.scope):
        present(folder, close(folder, ledger), as_json)


def present(folder: Path, summary: Summary, as_json: bool) -> None:
    """A summary on stdout, for a person or as JSON."""
    from importer.cli.batch_command import tell_targets
    from importer.report import summary_lines
    from importer.runs.folder import BATCH

    if as_json:
        tell(json.dumps(summary.to_json(), ensure_ascii=False))
        return
    for line in summary_lines(summary, folder):
        tell(line)
    if (folder / BATCH).is_file():
        tell_targets(folder)


def register(app: typer.Typer) -> None:
    app.command()(runs)
    app.command()(show)
    app.command()(report)
