"""`importer runs`, `show`, `report`, `purge` and `doctor`: what earlier runs did and keep, and what is wrong here."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from importer.app.cleanup import PurgeOrder, find_old, parse_age, unmarked_runs
from importer.app.cleanup import purge as remove_old
from importer.app.connection import examine
from importer.app.earlier_runs import EarlierRun, rewrite_report
from importer.cli import options
from importer.cli.messages import in_folder, say, tell
from importer.cli.terminal import confirm_address
from importer.models import ManyTargets
from importer.problems import UnusableInput
from importer.report import Summary, read_summary, summary_lines
from importer.runs.manifest import find_run, read_manifest, runs_in
from importer.runs.results_folder import MARKER, refuse_untrusted
from importer.settings import load_settings


def runs(out: options.Out = None, as_json: options.AsJson = False) -> None:
    """List the runs of a results folder, the newest first."""
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    found = []
    for folder in reversed(runs_in(settings.out)):
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
    counts = _counts(summary) or ("no rows" if summary.ended_at else "no report yet")
    where = f"{summary.target}{' (sandbox)' if summary.sandbox else ''}"
    return f"{summary.run}  {state:<8}  {where}  {summary.source.file}: {counts}"


def _counts(summary: Summary) -> str:
    return ", ".join(f"{count} {kind.value.replace('_', ' ')}" for kind, count in summary.outcomes.items() if count)


def show(run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False) -> None:
    """Show what became of a run."""
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    present(folder, read_summary(folder), as_json)


def report(run: options.Run = "last", out: options.Out = None, as_json: options.AsJson = False) -> None:
    """Write the report of a run again, also of one that was killed."""
    finished = rewrite_report(EarlierRun(run, load_settings(out=out)))
    present(finished.folder, finished.summary, as_json)


def present(folder: Path, summary: Summary, as_json: bool) -> None:
    """A summary on stdout, for a person or as JSON."""
    if as_json:
        tell(json.dumps(summary.to_json(), ensure_ascii=False))
        return
    for line in summary_lines(summary, folder):
        tell(line)
    if isinstance(summary.target, ManyTargets):
        for target in read_manifest(folder).targets:
            if target.blocked:
                tell(f"{target.target}: nothing was sent: {target.blocked}")
            else:
                counts = _counts(read_summary(folder.parent / target.run)) or "no report yet"
                tell(f"{target.target}: {counts} (importer show {target.run})")


def purge(
    older_than: Annotated[str, typer.Option("--older-than", help="How long ago they ended: 90d or 12w.")],
    out: options.Out = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list them.")] = False,
    yes: options.Yes = False,
) -> None:
    """Remove the reports and copies of old runs for good. Who was entered stays known, so nobody is entered twice."""
    order = PurgeOrder(load_settings(out=out), parse_age(older_than), datetime.now(UTC))
    found = find_old(order)
    for old in found:
        tell(f"{old.folder}  ended {old.at:%Y-%m-%d}")
    for folder in unmarked_runs(order.settings):
        say(f"{folder}: left alone, because it lacks the file {MARKER} of a run's folder; remove it yourself")
    if dry_run:
        say(f"{len(found)} runs would be removed. Nothing was.")
        return
    if found and not yes and sys.stdin.isatty() and not typer.confirm("Remove them for good?", err=True):
        say("Nothing was removed.")
        return
    purged = remove_old(order, found)
    for old in purged.at_work:
        say(f"{old.folder}: left alone, because a run for the same target is at work; purge again when it has ended")
    for note in purged.notes:
        say(note)
    say(f"{purged.removed} runs were removed.")


def doctor(
    out: options.Out = None,
    as_json: options.AsJson = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Confirm that your token may go to the address that this folder names.")
    ] = False,
) -> None:
    """Look at settings, token, connection, folders and ledger, and say what is wrong and what to do."""
    settings = load_settings(out=out)
    findings = list(examine(settings, confirm_address, trust=trust))
    if as_json:
        tell(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            mark = "WRONG" if not finding.well else "note " if finding.hint else "ok   "
            tell(f"{mark}  {finding.what}: {finding.found}")
            if finding.hint:
                tell(f"         -> {finding.hint}")
        wrong = sum(not finding.well for finding in findings)
        tell("\nAll is well." if not wrong else f"\n{wrong} to mend. Until then: importer run FILE ... --sandbox")
    raise typer.Exit(0 if all(finding.well for finding in findings) else 3)
