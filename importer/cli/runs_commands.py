"""`importer runs`, `show`, `status` and `report`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from importer.app.earlier_runs import EarlierRun, rewrite_report
from importer.app.shown_runs import ShownRow, not_begun, recent_runs, running_runs, show_row, state_of, status_of
from importer.cli import options
from importer.cli.app import next_command
from importer.cli.messages import print_lines, print_message, print_next, print_problems, print_result, print_row
from importer.models import NEEDS_ATTENTION, OutcomeKind
from importer.problems import UnusableInput
from importer.report.next_steps import import_again, steps_of_source
from importer.report.outcomes import by_color, outcome_text
from importer.report.summary import Summary, read_summary
from importer.report.text import summary_lines
from importer.report.write import edited_files
from importer.runs.manifest import find_run
from importer.runs.results_folder import refuse_untrusted
from importer.runs.source_status import SourceStatus
from importer.settings import load_settings
from importer.text.dates import in_words
from importer.text.normalize import visible

_MOST_RUNS: Final = 6
_LONGEST: Final = 120  # characters of a text
_LONGEST_SENT: Final = 1_000  # of one that was sent, such as all jobs; --json has it whole


def runs(
    context: typer.Context,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="List only sandbox runs.")] = False,
    out: options.Out = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
) -> None:
    """List the runs in the results folder, newest first."""
    settings = load_settings(out=out)
    found = []
    for summary in recent_runs(settings):
        if isinstance(summary, UnusableInput):
            print_message(str(summary))
        elif summary.sandbox or not sandbox:
            found.append(summary)
    if as_json:
        print_result(json.dumps([summary.to_json() for summary in found], ensure_ascii=False, indent=1))
        return
    running = running_runs(settings)
    if found:
        print_result(_HEADING)
    for summary in found if verbose else found[:_MOST_RUNS]:
        print_row(_numbers(summary, running), _details(summary))
    if len(found) > _MOST_RUNS and not verbose:
        print_lines(f"... and {len(found) - _MOST_RUNS:,} more; --verbose lists all")
    if found:
        print_message()
        print_next("Next", next_command(context, "show", found[0].run))
    else:
        check = next_command(context, "check", "FILE", "--mapping", "MAPPING")
        print_next(f"There are no {'sandbox ' if sandbox else ''}runs in {settings.out}. Next", check)


_HEADING: Final = "  ".join(
    (f"{'started':<20}", f"{'state':<8}", f"{'rows':>7}", *(f"{name:>8}" for name in by_color({})))
)


def _numbers(summary: Summary, running: Collection[str]) -> str:
    """When a run was started, its state, and its counts."""
    state = state_of(summary, running)
    counts = (summary.source.rows or 0, *by_color(summary.outcomes).values())
    rows, *others = (f"{count:,}" if count else "-" for count in counts)
    return "  ".join((_started(summary), f"{state:<8}", f"{rows:>7}", *(f"{other:>8}" for other in others)))


def _details(summary: Summary) -> str:
    return f"{summary.run}: {', '.join(filter(None, (summary.source.file, _where(summary), _duration(summary))))}"


def _where(summary: Summary) -> str:
    return f"{summary.target}{' (sandbox)' if summary.sandbox else ''}"


def _started(summary: Summary) -> str:
    return f"{summary.started_at:%Y-%m-%d %H:%M %Z}"


def _duration(summary: Summary) -> str:
    """How long a run took; "" if it has not ended."""
    if summary.ended_at is None:
        return ""
    return in_words(max(round((summary.ended_at - summary.started_at).total_seconds()), 1))


def show(
    context: typer.Context,
    run: options.Run = "last",
    row: Annotated[
        int | None, typer.Option("--row", min=1, help="Show one row: its cells, what was sent, its requests.")
    ] = None,
    out: options.Out = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
) -> None:
    """Show the summary of a run, or one row of it."""
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    if row is not None:
        _show_row(show_row(EarlierRun(run, settings), row), as_json=as_json)
        return
    folder = find_run(settings.out, run)
    summary = read_summary(folder)
    if not as_json and summary.ended_at is None and summary.run in running_runs(settings):
        print_message("The run is running now.")
    when = ", ".join(filter(None, (_started(summary), _duration(summary))))
    title = f"Run {summary.run} ({when}): {summary.source.file} for {_where(summary)}"
    present(context, folder, summary, as_json, title=title, is_verbose=verbose)


def status(
    file: options.File,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Show sandbox runs instead of real ones.")] = False,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what became of each row of a file, over all its runs."""
    found = status_of(file, load_settings(out=out), sandbox=sandbox)
    summaries, left = [one.summarize() for one in found], not_begun(found)
    if as_json:
        targets = [_status_json(one, summary) for one, (summary, _) in zip(found, summaries, strict=True)]
        source = {"file": str(file), "sha256": found[0].last.sha256}
        print_result(json.dumps({"version": 1, **source, "targets": targets, "not_begun": left}, ensure_ascii=False))
    else:
        for one, (summary, to_fix) in zip(found, summaries, strict=True):
            runs = "1 run:" if len(one.runs) == 1 else f"{len(one.runs)} runs, the last:"
            sheet = f", sheet {one.sheet.origin.sheet}" if one.sheet.origin.sheet else ""
            title = f"{file}{sheet}, for {_where(summary)}, over {runs} {one.runs[-1]}"
            newest = one.folder.parent / one.newest.run
            steps = steps_of_source(summary, newest, to_fix, is_corrected=one.is_corrected)
            all_in = f"importer status {file} --json has all"
            for line in summary_lines(summary, one.folder, title=title, steps=steps, all_in=all_in):
                print_result(line)
            print_result("")
        if left:
            print_lines(f"No run has begun with {', '.join(left)}. Import {file} with the folder again:")
            of_folder = next(each for each in found if "--mapping" in each.last.flags)
            summary = replace(summaries[0][0], flags=of_folder.last.flags)
            print_result(f"  {import_again(summary, of_folder.folder, file)}")
    raise typer.Exit(0 if not left and all(summary.is_complete for summary, _ in summaries) else 4)


def _status_json(one: SourceStatus, summary: Summary) -> dict[str, object]:
    """The runs, the counts, and each row that is still to be done, with the run that reported it."""
    rows = []
    for reported, run in one.rows():
        number, kind = reported.row.number, reported.outcome.kind
        if kind in (*NEEDS_ATTENTION, OutcomeKind.NOT_SENT):
            told = {name: reported.import_cells[f"import_{name}"] for name in ("problem", "hint")}
            rows.append({"row": number, "outcome": kind.value, "run": run or None, **told})
    values = summary.to_json()
    kept = {key: values[key] for key in ("target", "outcomes", "problems", "warnings")}
    return {"service": one.scope.base, "sheet": one.sheet.origin.sheet, "runs": one.runs, **kept, "rows": rows}


def _show_row(shown: ShownRow, *, as_json: bool) -> None:
    outcome = shown.outcome
    kind = outcome_text(outcome.kind).label if outcome else "no outcome yet"
    status = f" ({outcome.status})" if outcome and outcome.status else ""
    if as_json:
        values = {
            "run": shown.run,
            shown.target.key: shown.target.id,
            "row": shown.row,
            "outcome": outcome.kind if outcome else None,
            "status": outcome.status if outcome else None,
            "candidate_id": shown.candidate_id,
            "imported_by": dict(zip(("run", "row"), shown.imported_by, strict=True)) if shown.imported_by else None,
            "problems": [str(problem) for problem in outcome.problems] if outcome else [],
            "cells": shown.cells,
            "corrected": sorted(shown.corrected),
            "body": json.loads(shown.body) if shown.body else None,
            "requests": [request._asdict() for request in shown.requests],
        }
        print_result(json.dumps(values, ensure_ascii=False, default=datetime.isoformat))
        return
    print_lines(f"Row {shown.row} of run {shown.run}, for {shown.target}: {kind}{status}")
    print_problems(outcome.problems if outcome else ())
    print_result("\nThe cells of the row:")
    for name, text in shown.cells.items():
        print_result(f"  {name}: {_shortened(text)}{' (corrected)' if name in shown.corrected else ''}")
    if shown.body:
        print_result("What was sent:" if shown.was_sent else "What its request would contain:")
        for name, text in _body_lines(json.loads(shown.body)):
            print_lines(f"{name}: {_shortened(text, _LONGEST_SENT)}", "  ", "    ")
    print_result("")
    if not shown.was_sent:
        print_lines("No request was sent for it in this run.")
    elif not shown.requests:
        print_lines("The log of the run does not list its requests.")
    if shown.imported_by is not None:
        run, row = shown.imported_by
        print_lines(f"It was imported by run {run}, row {row} there.")
    for request in shown.requests:
        answer = f"responded {request.status}" if request.status else "no response"
        print_result(f"Request of {request.time:%Y-%m-%d %H:%M:%S} UTC: {answer} after {request.seconds:.1f} s")
    if shown.candidate_id is not None:
        print_result(f"ID of the candidate in the service: {shown.candidate_id}")


def _body_lines(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of a request body and their values, then the questions and their answers."""
    for name, value in body.items():
        if name != "answers":
            yield name, value if isinstance(value, str) else json.dumps(value)
    for answer in body.get("answers", ()):
        asked = answer["job_post_question"]
        named = asked if isinstance(asked, dict) else {"id": asked}
        yield named.get("question_key") or f"question {named['id']}", answer.get("answer") or answer["answer_file"]


def _shortened(text: str, longest: int = _LONGEST) -> str:
    """A text on one line; a long one cut, with its length."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 20]}… ({len(text):,} characters)"


def report(
    context: typer.Context,
    run: options.Run = "last",
    out: options.Out = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
) -> None:
    """Write the report of a run again, even if the run was killed."""
    finished = rewrite_report(EarlierRun(run, load_settings(out=out)))
    present(context, finished.folder, finished.summary, as_json, is_verbose=verbose)
    show_edited(finished.folder)


def show_edited(folder: Path) -> None:
    """Name the results files of a run that a person had changed when its report was written again."""
    if found := edited_files(folder):
        print_message("Files that were changed since the report was written are kept; import them under these names:")
        for path in found:
            print_message(f"  {path}")


def present(
    context: typer.Context,
    folder: Path,
    summary: Summary,
    as_json: bool,
    *,
    title: str = "",
    is_verbose: bool = False,
    with_repeated: bool = True,
) -> None:
    """Print a summary on stdout, as text or as JSON."""
    if as_json:
        print_result(json.dumps(summary.to_json(), ensure_ascii=False))
        return
    for line in summary_lines(summary, folder, title=title, is_verbose=is_verbose, with_repeated=with_repeated):
        print_result(line)
