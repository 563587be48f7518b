"""What reading one file may cost, so that a hostile or broken one ends in a message and not in a dead machine."""

from __future__ import annotations

from dataclasses import dataclass

from importer.settings import load_settings


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The limits of one `open_sheet`.

    `source`: bytes of a file. Of a CSV, `cell_characters`: the longest cell, `row`: bytes of the longest row,
    `columns`: the most cells of a row. The others hold for the child process that reads a workbook: `seconds` of time,
    `memory` in bytes, `unpacked` bytes of what the workbook unpacks to.
    """

    source: int = 4 << 30
    cell_characters: int = 16 << 20
    row: int = 16 << 20
    columns: int = 16_384
    seconds: float = 120.0
    memory: int = 2 << 30
    unpacked: int = 2 << 30


def limits_of_settings() -> ReadingLimits:
    """Those of this machine, for every file that is opened on it: by a run, by its report, by a look.

    They are no part of a mapping or a run: a report that is written again later, where the person has allowed more
    meanwhile, is read with more.

    Raises:
        UnusableInput: every setting that cannot be used, with its name.
    """
    settings = load_settings()
    return ReadingLimits(
        source=settings.source_megabytes << 20,
        row=settings.csv_row_megabytes << 20,
        columns=settings.csv_columns,
        seconds=settings.workbook_seconds,
        memory=settings.workbook_memory_megabytes << 20,
        unpacked=settings.workbook_unpacked_megabytes << 20,
    )
