"""Writes the report of a run to its results folder, in one pass over rows and outcomes.

The files are written to a private folder inside the results folder and then renamed, so that they appear complete or
not at all. XlsxWriter's temporary files, which contain personal data, are there too.
"""

from __future__ import annotations

import filecmp
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from importer.files import file_mode, make_folder, make_subfolder, set_mode, sync_folder
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import StoppedEarly
from importer.report.accounting import SummaryCounter, pair
from importer.report.csv_files import CsvFiles
from importer.report.next_steps import next_steps
from importer.report.outcomes import PAGE_FILE, SUMMARY_FILE, WORKBOOK_FILE, csv_file
from importer.report.summary import RunFacts, Summary, write_summary
from importer.report.text import headline, moment, run_details, title_of
from importer.report.workbook import ReportWorkbook
from importer.text.normalize import visible
from importer.text.terminal import command_line

_PREFIX, _EDITED = ".writing-", "_edited"


def write_report(folder: Path, facts: RunFacts, rows: Iterable[Row], outcomes: Iterable[Outcome]) -> Summary:
    """Write the results folder (docs/results.md) and return its summary.

    rows: those that were read, in source order; outcomes: ordered by row, exactly one for each row. Both are streamed;
    memory stays flat in their number. Files of an earlier report of the run that have no rows now are removed; those
    that a person has changed are kept under another name (`edited_files`). The files appear complete or not at all,
    summary.json last.

    Raises:
        StoppedEarly: the folder cannot be written; what was sent is still recorded.
        AssertionError: a row does not have exactly one outcome, a bug of ours.
    """
    with (
        _as_stopped_early(folder, facts.run),
        _staging(folder) as staged,
        CsvFiles(staged, facts) as csv_files,
        closing(ReportWorkbook(staged, facts)) as workbook,
    ):
        counter = SummaryCounter(facts.identity)
        for reported in pair(rows, outcomes):
            counter.add(reported)
            outcome = reported.outcome
            is_ready = facts.dry_run and outcome.kind is OutcomeKind.NOT_SENT and not outcome.problems
            if is_ready and not facts.continues:  # nobody has to look at it; of a fixed report, it is sent by this one
                continue
            csv_files.add(reported)
            workbook.add(reported)
        files = [*csv_files.finish(), WORKBOOK_FILE, PAGE_FILE, SUMMARY_FILE]
        summary = counter.summary(facts, files)
        workbook.finish(summary, folder)
        text = page(summary, folder)
        (staged / PAGE_FILE).write_text(text, "utf-8", errors="backslashreplace")  # a file name may not be UTF-8
        write_summary(staged, summary)
        _keep_edited(staged, folder)
        _publish(staged, folder, files)
        for name in {*map(csv_file, OutcomeKind)} - {*files}:
            (folder / name).unlink(missing_ok=True)
    return summary


def write_unfinished_summary(folder: Path, facts: RunFacts) -> Summary:
    """Write only a summary.json with `finished: false`, correct if the run is killed. Raises OSError."""
    begun = replace(facts, finished=False, exit_code=None, ended_at=None)
    with _staging(folder) as staged:
        summary = SummaryCounter().summary(begun, (SUMMARY_FILE,), rows_are_read=False)
        write_summary(staged, summary)
        _publish(staged, folder, summary.files)
    return summary


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A private temporary folder, which is always deleted at the end.

    Leftovers of a killed process are removed first: only one process writes a run's report.
    """
    make_folder(folder)
    for left_over in folder.glob(f"{_PREFIX}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    staged = folder / f"{_PREFIX}{secrets.token_hex(4)}"
    make_subfolder(staged)
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def _as_stopped_early(folder: Path, run: str) -> Iterator[None]:
    """An error of the disk, with what to do: rows may have been sent."""
    try:
        yield
    except OSError as error:
        raise StoppedEarly(
            f"{folder}: the report cannot be written: {error.strerror or error}; what was sent is recorded; fix this"
            f" (free disk space, or close files that are open in another program), then run: "
            f"{command_line('report', run, flags={'--out': str(folder.parent)})}"
        ) from error


def _publish(staged: Path, folder: Path, names: Sequence[str]) -> None:
    """Move the named files to the results folder, in this order, after syncing them to disk and setting their mode.

    If a file cannot be moved, for example because it is open in another program, no file is incomplete.
    """
    for name in names:
        path = staged / name
        set_mode(path, file_mode(path.parent))
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    for name in names:
        (staged / name).replace(folder / name)
    sync_folder(folder)


def edited_files(folder: Path) -> list[Path]:
    """The results files in a run's folder that were changed by a person before its report was written again."""
    return sorted(path for path in folder.glob(f"*{_EDITED}*") if path.suffix in (".csv", ".xlsx"))


def changed_files(folder: Path) -> list[Path]:
    """The results files in a run's folder that were changed since its report was written."""
    if not (written := folder / SUMMARY_FILE).exists():  # it is written last
        return []
    paths = (folder / name for name in (*map(csv_file, OutcomeKind), WORKBOOK_FILE))
    return [path for path in paths if path.is_file() and path.stat().st_mtime_ns > written.stat().st_mtime_ns]


def _keep_edited(staged: Path, folder: Path) -> None:
    """Rename the results files that were changed since the earlier report was written: `invalid_edited.csv`."""
    for path in changed_files(folder):
        new = staged / path.name
        if not (new.is_file() and filecmp.cmp(path, new, shallow=False)):
            names = (path.with_stem(f"{path.stem}{_EDITED}{number}") for number in ("", *range(2, 1_000)))
            path.rename(next(each for each in names if not each.exists()))


# --- report.html: what happened, what to fix and why, for people who open no workbook ----------


_FIRST_CAUSES: Final = 8  # of a section; a click shows the others, and paper has only these
_MOST_CAUSES: Final = 100  # the workbook has all


def page(summary: Summary, folder: Path) -> str:
    """The HTML of the page. folder: the results folder as it appears in commands."""
    return _template().render(
        title=title_of(summary),
        sentence=headline(summary),
        when=moment(summary.started_at),
        summary=summary,
        outcomes=[(csv_file(kind), summary.words(kind), count) for kind, count in summary.outcomes.items() if count],
        steps=next_steps(summary, folder),
        first=_FIRST_CAUSES,
        most=_MOST_CAUSES,
        details=run_details(summary),
    )


@cache
def _template() -> Template:
    loader = PackageLoader(__package__, ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_shown)
    return environment.get_template("report.html.j2")


def _shown(value: Any) -> Any:
    """A text without control characters, which a cell or a response could contain."""
    return visible(value) if type(value) is str else value  # not of Markup, which is escaped already
