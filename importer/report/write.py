"""Writes the report of a run into its results folder, in one pass over rows and outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from importer.errors import StoppedEarly
from importer.models import Outcome, Row
from importer.report.csv_files import CsvFiles
from importer.report.facts import RunFacts
from importer.report.names import CSV_FILES, SUMMARY_FILE, WORKBOOK_FILE
from importer.report.pairing import Unaccounted, pair
from importer.report.reported import ReportedRow
from importer.report.staging import publish, staging
from importer.report.summary import SourceSummary, Stopped, Summary
from importer.report.summary_file import write_summary
from importer.report.tally import Tally


def write_report(
    folder: Path,
    facts: RunFacts,
    rows: Iterable[Row],
    outcomes: Iterable[Outcome],
    final_facts: Callable[[], RunFacts] | None = None,
) -> Summary:
    """Write the results folder (design, section 5) and return what it adds up to.

    rows: those that were read, in source order; outcomes: ordered by row, exactly one for each row. Both are streamed;
    memory stays flat in their number. Files of an earlier report of the run that have no rows any more are removed.
    The files appear whole or not at all, summary.json last. `final_facts` is asked when all rows are written: it waits
    for the end of a run that is still going on.

    Raises:
        StoppedEarly: the folder cannot be written; what was sent is not lost by it.
        Unaccounted: not every row has exactly one outcome, a bug of ours.
    """
    try:
        with staging(folder) as staged:
            summary = _write_files(staged, folder, facts, pair(rows, outcomes), final_facts or (lambda: facts))
            publish(staged, folder, summary.files)
            _remove_earlier(folder, summary.files)
    except OSError as error:
        raise _not_written(folder, facts.run, error) from error
    return summary


def write_unfinished_summary(folder: Path, facts: RunFacts) -> Summary:
    """Write only a summary.json that says `finished: false`, so that a run that is killed leaves a true folder.

    Raises:
        StoppedEarly: the folder cannot be written.
    """
    begun = replace(facts, finished=False, exit_code=None, ended_at=None)
    summary = _summary(begun, Tally(), None, (SUMMARY_FILE,))
    try:
        with staging(folder) as staged:
            write_summary(staged, summary)
            publish(staged, folder, summary.files)
    except OSError as error:
        raise _not_written(folder, facts.run, error) from error
    return summary


def _write_files(
    staged: Path,
    folder: Path,
    facts: RunFacts,
    reported_rows: Iterator[ReportedRow],
    final_facts: Callable[[], RunFacts],
) -> Summary:
    # XlsxWriter takes a while to load, and the report of a long run is written by another process.
    from importer.report.workbook import ReportWorkbook

    tally = Tally()
    with ReportWorkbook(staged, facts) as workbook:
        with CsvFiles(staged, facts) as csv_files:
            for reported in reported_rows:
                tally.add(reported)
                csv_files.add(reported)
                workbook.add(reported)
        counted = sum(tally.outcomes.values())
        if counted != tally.rows:
            raise Unaccounted(f"{tally.rows} rows were read, but {counted} outcomes counted")
        summary = _summary(final_facts(), tally, tally.rows, (*csv_files.names, WORKBOOK_FILE, SUMMARY_FILE))
        workbook.save(summary, folder)
    write_summary(staged, summary)
    return summary


def _summary(facts: RunFacts, tally: Tally, rows: int | None, files: tuple[str, ...]) -> Summary:
    stopped = facts.stop_reason is not None
    return Summary(
        run=facts.run,
        finished=facts.finished,
        exit_code=facts.exit_code,
        source=SourceSummary(
            file=facts.origin.file,
            sheet=facts.origin.sheet,
            sha256=facts.sha256,
            rows=rows,
            blank_rows=facts.blank_rows,
            reading=facts.reading,
        ),
        target=facts.target,
        target_title=facts.target_title,
        mapping=facts.mapping,
        outcomes=dict(tally.outcomes),
        requests=tally.requests,
        problems=tally.problems(),
        warnings=facts.warnings,
        stopped=Stopped(facts.stop_reason or "", facts.stop_hint or "") if stopped else None,
        sandbox=facts.sandbox,
        dry_run=facts.dry_run,
        files=files,
        started_at=facts.started_at,
        ended_at=facts.ended_at,
    )


def _remove_earlier(folder: Path, files: Sequence[str]) -> None:
    """Remove what an earlier report of the run wrote and this one did not: its rows have other outcomes now."""
    for name in CSV_FILES.values():
        if name not in files:
            (folder / name).unlink(missing_ok=True)


def _not_written(folder: Path, run: str, error: OSError) -> StoppedEarly:
    return StoppedEarly(
        f"{folder}: the report cannot be written: {error.strerror or error}; what was sent is kept, so mend that"
        f" (make room, or close a file that is open in another program), then: importer report {run}"
    )
