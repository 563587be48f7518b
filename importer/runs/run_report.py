"""The report of a run, made from its table and its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from importer.models import Outcome, Row
from importer.problems import DamagedRun, file_problem, unusable_file
from importer.report.accounting import pair
from importer.report.csv_files import cells, header
from importer.report.summary import RunFacts, SourceSummary, Summary
from importer.report.write import write_report
from importer.runs.manifest import RunManifest, read_manifest
from importer.runs.table import RESTORE, TABLE, RunTable
from importer.sources import Sheet

if TYPE_CHECKING:
    import pandas

CONTINUE_HINT = "continue with importer resume, or run the same command again; completed rows are skipped"


def rewrite_report(folder: Path) -> Summary:
    """Write the report of a run from its table and its manifest.

    Raises UnusableInput: the table is missing or damaged; the existing report stays.
    """
    with _opened(folder, read_manifest(folder)) as (facts, rows, outcomes):
        return write_report(folder, facts, rows, outcomes)


def rows_as_frame(folder: Path) -> pandas.DataFrame:
    """Each row of a run with its outcome: the columns of its CSV files, all text, indexed by the row in the file.

    Raises UnusableInput: it is not the folder of a run that has ended, or its table is missing or damaged.
    """
    import pandas as pd  # imported late: it takes half a second

    manifest = read_manifest(folder)
    if manifest.ending is None:
        raise unusable_file("run-unreadable", "the run has not ended", CONTINUE_HINT, folder)
    with _opened(folder, manifest) as (facts, rows, outcomes):
        reported = list(pair(rows, outcomes))
        numbers = pd.Index([one.row.number for one in reported], name="row")
        return pd.DataFrame([cells(one, facts) for one in reported], numbers, header(facts), dtype=str)


@contextmanager
def _opened(folder: Path, manifest: RunManifest) -> Iterator[tuple[RunFacts, Iterator[Row], Iterator[Outcome]]]:
    """What reports are made from: the facts of a run, its rows, and an outcome for each of them."""
    refuse_missing(folder)
    with RunTable(folder) as table:
        yield facts_of(manifest, table.sheet), table.rows(), table.outcomes()


def refuse_missing(folder: Path) -> None:
    """Raise DamagedRun if the table of a run is missing: opening it would create an empty one."""
    if not (path := folder / TABLE).is_file():
        raise DamagedRun(file_problem("source-copy-changed", "the table of the run is missing", RESTORE, path))


def facts_of(manifest: RunManifest, sheet: Sheet) -> RunFacts:
    """The facts about a run for its report."""
    ending = manifest.ending
    return RunFacts(
        run=manifest.run,
        target=manifest.target,
        mapping=manifest.mapping,
        source=SourceSummary(
            sheet.origin.file,
            sheet.origin.sheet,
            manifest.sha256,
            sheet.reading,
            blank_rows=manifest.blank_rows,
            taken=manifest.taken,
        ),
        columns=sheet.columns,
        delimiter=sheet.delimiter,
        has_ids=not manifest.dry_run and manifest.target.key == "talent_pool",
        started_at=manifest.started_at,
        ended_at=ending.at if ending else None,
        finished=ending.finished if ending else False,
        exit_code=ending.exit_code if ending else None,
        stopped=ending.stopped if ending else None,
        sandbox=manifest.sandbox,
        dry_run=manifest.dry_run,
        warnings=manifest.warnings,
        identity=manifest.identity,
        flags=manifest.flags,
        continues=manifest.continues,
    )
