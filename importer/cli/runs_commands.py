"""`importer runs`, `show`, `report`, `purge` and `doctor`."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from importer.app.cleanup import PurgeOrder, find_old, parse_age, unmarked_runs
from importer.app.cleanup import purge as remove_old
from importer.app.connection import examine
from importer.app.earlier_runs import EarlierRun, rewrite_report, running_runs
from importer.cli import options
from importer.cli.app import next_command
from importer.cli.messages import print_message, print_result
from importer.cli.terminal import confirm_address, is_interactive
from importer.models import ManyTargets
from importer.problems import UnusableInput, UsageError
from importer.report import Summary, outcome_text, read_summary, summary_lines
from importer.runs.manifest import find_run, read_manifest, runs_in
from importer.runs.results_folder import MARKER, refuse_untrusted
from importer.settings import load_settings
from importer.text.dates import in_words


def runs(context: typer.Context, out: options.Out = None, as_json: options.AsJson = False) -> None:
    """List the runs in the results folder, newest first."""
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    found = []
    for folder in reversed(runs_in(settings.out)):
        try:
            found.append(read_summary(folder))
        except UnusableInput as damaged:
            print_message(str(damaged))
    if as_json:
        print_result(json.dumps([summary.to_json() for summary in found], ensure_ascii=False, indent=1))
        return
    running = running_runs(settings)
    for summary in found:
        print_result(_line(summary, running))
    if found:
        print_message(f"\nNext: {next_command(context, 'show', found[0].run)}")
    else:
        check = next_command(context, "check", "FILE", "--mapping", "MAPPING")
        print_message(f"There are no runs in {settings.out}. Next: {check}")


def _line(summary: Summary, running: Collection[str]) -> str:
    """One run in one line: ID, state, time, target, file, counts."""
    if summary.ended_at is None:
        state = "running" if summary.run in running else "killed"
    elif summary.dry_run:
        state = "checked"
    else:
        state = "finished" if summary.finished else "stopped"
    counts = _counts(summary) or ("no rows" if summary.ended_at else "no report yet")
    return f"{summary.run}  {state:<8}  {_when(summary)}  {_where(summary)}  {summary.source.file}: {counts}"


def _where(summary: Summary) -> str:
    return f"{summary.target}{' (sandbox)' if summary.sandbox else ''}"


def _when(summary: Summary) -> str:
    """When a run was started, and how long it took."""
    started = f"{summary.started_at:%Y-%m-%d %H:%M %Z}"
    if summary.ended_at is None:
        return started
    seconds = max(round((summary.ended_at - summary.started_at).total_seconds()), 1)
    return f"{started}, {in_words(seconds)}"


def _counts(summary: Summary) -> str:
    counted = [(outcome_text(kind, dry_run=summary.dry_run).label, count) for kind, count in summary.outcomes.items()]
    return ", ".join(f"{count} {label}" for label, count in counted if count)


def show(
    context: typer.Context, run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False
) -> None:
    """Show the summary of a run."""
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    summary = read_summary(folder)
    if not as_json:
        print_result(f"{summary.source.file}, for {_where(summary)}, with {summary.mapping}")
        print_result(f"Run {summary.run}: {_when(summary)}\n")
        if summary.ended_at is None and summary.run in running_runs(settings):
            print_message("The run is running now.")
    present(context, folder, summary, as_json)


def report(
    context: typer.Context, run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False
) -> None:
    """Write the report of a run again, even if the run was killed."""
    finished = rewrite_report(EarlierRun(run, load_settings(out=out)))
    present(context, finished.folder, finished.summary, as_json)


def present(context: typer.Context, folder: Path, summary: Summary, as_json: bool) -> None:
    """Print a summary on stdout, as text or as JSON."""
    if as_json:
        print_result(json.dumps(summary.to_json(), ensure_ascii=False))
        return
    for line in summary_lines(summary, folder):
        print_result(line)
    if isinstance(summary.target, ManyTargets):
        for target in read_manifest(folder).targets:
            if target.blocked:
                print_result(f"{target.target}: nothing was sent: {target.blocked}")
            else:
                counts = _counts(read_summary(folder.parent / target.run)) or "no report yet"
                print_result(f"{target.target}: {counts} ({next_command(context, 'show', target.run)})")


def purge(
    older_than: Annotated[
        str, typer.Option("--older-than", help="Remove runs that ended earlier than this: 90d or 12w.")
    ],
    out: options.Out = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs.")] = False,
    yes: options.Yes = False,
) -> None:
    """Permanently remove the reports and copies of old runs. Imported candidates stay in the ledger."""
    order = PurgeOrder(load_settings(out=out), parse_age(older_than), datetime.now(UTC))
    found = find_old(order)
    for old in found:
        print_result(f"{old.folder}  ended {old.at:%Y-%m-%d}")
    for folder in unmarked_runs(order.settings):
        print_message(f"{folder}: skipped, because it does not contain the file {MARKER}; remove it manually")
    if dry_run:
        print_message(f"{_counted(len(found))} would be removed.")
        return
    if found and not yes:
        if not is_interactive():
            raise UsageError("nothing was removed: add --yes to remove these runs without being asked")
        if not typer.confirm("Remove these runs permanently?", err=True):
            print_message("Nothing was removed.")
            return
    purged = remove_old(order, found)
    for old in purged.running:
        print_message(
            f"{old.folder}: skipped, because a run for the same target is running; purge again when it has ended"
        )
    for note in purged.notes:
        print_message(note)
    print_message(f"{_counted(purged.removed)} removed.")


def _counted(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def doctor(
    out: options.Out = None,
    as_json: options.AsJson = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Confirm that your token may be sent to the address set in this folder.")
    ] = False,
) -> None:
    """Check the settings, token, connection, folders and ledger."""
    settings = load_settings(out=out)
    findings = list(examine(settings, confirm_address, trust=trust))
    if as_json:
        print_result(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            mark = "ERROR" if not finding.ok else "note " if finding.hint else "ok   "
            print_result(f"{mark}  {finding.check}: {finding.result}")
            if finding.hint:
                print_result(f"         -> {finding.hint}")
        failed = sum(not finding.ok for finding in findings)
        problems = "1 problem" if failed == 1 else f"{failed} problems"
        print_result(
            f"\n{problems} found. The sandbox still works: importer run FILE ... --sandbox"
            if failed
            else "\nNo problems."
        )
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 3)
