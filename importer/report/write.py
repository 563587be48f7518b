"""Writes the report of a run into its results folder: one pass over rows and outcomes, a list of writers.

The files are written in a private folder inside the results folder and renamed, so that they appear whole or not at
all, and renaming stays within one file system. XlsxWriter's own temporary files, which hold candidates' data, lie
there too.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from importer.atomic_files import file_mode, make_folder, make_subfolder, sync_folder
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import StoppedEarly
from importer.report.accounting import ReportedRow, SummaryCounter, pair
from importer.report.csv_files import CsvFiles
from importer.report.outcomes import SUMMARY_FILE, csv_file
from importer.report.summary import RunFacts, Summary, write_summary

_PREFIX: Final = ".writing-"


class ReportWriter(Protocol):
    """Writes some of the report's files into the folder that it was given when it was made.

    Memory must stay flat in the number of rows. A file that cannot be written is an OSError.
    """

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files, known once all rows are written."""

    def add(self, reported: ReportedRow) -> None:
        """Take one row; they come in the order of the source."""

    def finish(self, summary: Summary, folder: Path) -> None:
        """Complete the files. `folder`: the results folder, as commands are to name it."""

    def close(self) -> None:
        """Leave nothing open, however the report ended."""


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
        MissingOutcome: not every row has exactly one outcome, a bug of ours.
    """
    # XlsxWriter takes a while to load, and the report of a long run is written by another process.
    from importer.report.workbook import ReportWorkbook

    with _staging(folder, facts.run) as staged, ExitStack() as open_writers:
        counter = SummaryCounter()
        writers: list[ReportWriter] = []
        for make in (CsvFiles, ReportWorkbook):
            writers.append(make(staged, facts))
            open_writers.callback(writers[-1].close)
        for reported in pair(rows, outcomes):
            counter.add(reported)
            for writer in writers:
                writer.add(reported)
        files = [*(name for writer in writers for name in writer.files), SUMMARY_FILE]
        summary = counter.summary((final_facts or (lambda: facts))(), files)
        for writer in writers:
            writer.finish(summary, folder)
        write_summary(staged, summary)
        _publish(staged, folder, files)
        _remove_earlier(folder, files)
    return summary


def write_unfinished_summary(folder: Path, facts: RunFacts) -> Summary:
    """Write only a summary.json that says `finished: false`, so that a run that is killed leaves a true folder.

    Raises:
        StoppedEarly: the folder cannot be written.
    """
    begun = replace(facts, finished=False, exit_code=None, ended_at=None)
    with _staging(folder, facts.run) as staged:
        summary = SummaryCounter().summary(begun, (SUMMARY_FILE,), rows_are_read=False)
        write_summary(staged, summary)
        _publish(staged, folder, summary.files)
    return summary


@contextmanager
def _staging(folder: Path, run: str) -> Iterator[Path]:
    """A private folder to write in; gone with all that is left in it when the block ends, however it ends.

    What a killed process left behind is removed first: the one who writes a run's report is alone in its folder.
    """
    try:
        make_folder(folder)
        for left_over in folder.glob(f"{_PREFIX}*"):
            shutil.rmtree(left_over, ignore_errors=True)
        staged = folder / f"{_PREFIX}{secrets.token_hex(4)}"
        make_subfolder(staged)
        try:
            yield staged
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise StoppedEarly(
            f"{folder}: the report cannot be written: {error.strerror or error}; what was sent is recorded; fix this"
            f" (free disk space, or close files that are open in another program), then run: importer report {run}"
        ) from error


def _publish(staged: Path, folder: Path, names: Sequence[str]) -> None:
    """Move the named files to where they belong, in this order, each on disk and private before it shows.

    Where a file cannot be moved, say because another program holds it open, none is half written.
    """
    for name in names:
        path = staged / name
        path.chmod(file_mode(path.parent))
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for name in names:
        (staged / name).replace(folder / name)
    sync_folder(folder)


def _remove_earlier(folder: Path, files: Sequence[str]) -> None:
    """Remove what an earlier report of the run wrote and this one did not: its rows have other outcomes now."""
    for name in map(csv_file, OutcomeKind):
        if name not in files:
            (folder / name).unlink(missing_ok=True)
