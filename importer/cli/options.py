"""Options that several commands share, each with its help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from importer.app import orders
from importer.app.run_options import RunOptions, given_options
from importer.cli.messages import print_everything
from importer.models import SourceOptions
from importer.problems import UsageError

File = Annotated[Path, typer.Argument(help="The file: CSV, XLSX or another spreadsheet.", show_default=False)]
MappingFile = Annotated[Path, typer.Option("--mapping", "-m", help="The mapping file, or a folder of mapping files.")]
MappingOfFile = Annotated[
    Path | None,
    typer.Option(
        "--mapping", "-m", help="The mapping file, or a folder of mapping files. [that of its run, for a results file]"
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="The results folder. [IMPORTER_OUT, or results]")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show only errors.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print everything, not only a screen.", callback=print_everything)
]
Rate = Annotated[float | None, typer.Option("--rate", help="Maximum requests per second. [no limit]")]
Concurrency = Annotated[int | None, typer.Option("--concurrency", help="Maximum requests at the same time. [8]")]
MaxErrors = Annotated[
    str | None,
    typer.Option(
        "--max-errors", help="Stop when more rows than this are rejected, failed or unconfirmed: 20 or 5%. [no limit]"
    ),
]
Resend = Annotated[
    orders.Resend,
    typer.Option(
        "--resend-unconfirmed",
        metavar="when",
        help="When to resend rows whose response was lost: now, at the end of the run, or never.",
    ),
]
GiveUpAfter = Annotated[
    str | None, typer.Option("--give-up-after", help="Stop when no row was completed for this long: 15m, 2h. [15m]")
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", help="Send until this time of day: 06:00. Until then, wait for a service that is down. [no limit]"
    ),
]
MaxRuntime = Annotated[
    str | None, typer.Option("--max-runtime", help="Send no more rows after this long: 4h, 90m. [no limit]")
]
Job = Annotated[
    str | None,
    typer.Option(
        "--job", help="The name of a scheduled job: notices, ping and metrics report how it ends. [docs/scheduling.md]"
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Treat warnings as errors: hold the rows back. [IMPORTER_STRICT]")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Rows = Annotated[str | None, typer.Option("--rows", help="Only these row numbers of the file: 10-40.")]
Part = Annotated[
    str | None,
    typer.Option("--part", help="Only this part of the candidates, beside other machines: 2/4. [docs/cluster.md]"),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first rows, at most this many.")]
UseSandbox = Annotated[bool, typer.Option("--sandbox", help="Use a local sandbox instead of the real service.")]
SandboxQuestions = Annotated[
    Path | None,
    typer.Option("--questions", help="Sandbox only: the questions, a file saved from importer questions --json."),
]
SandboxFaults = Annotated[
    Path | None, typer.Option("--faults", help="Sandbox only: the faults to simulate, a JSON file.")
]
Run = Annotated[str, typer.Argument(help="The run: its ID, the start of its ID, its folder, or last.")]

# How the file is read where no mapping file declares it.
Sheet = Annotated[str | None, typer.Option("--sheet", help="The sheet, by name or number. [first visible]")]
HeaderRow = Annotated[int | None, typer.Option("--header-row", min=1, help="The row with the column names. [detected]")]
HeaderRows = Annotated[
    int | None, typer.Option("--header-rows", min=1, help="How many rows the header has. [detected]")
]
SkipRows = Annotated[str | None, typer.Option("--skip-rows", help="Rows below the header to skip: 3,5-7.")]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="CSV only: the encoding, such as cp1254. [detected, or UTF-8]")
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="CSV only: the delimiter, such as ; or tab. [detected]")
]


def source_options(
    sheet: str | None,
    header_row: int | None,
    header_rows: int | None,
    skip_rows: str | None,
    encoding: str | None,
    delimiter: str | None,
) -> SourceOptions:
    """How the file is declared to be read.

    Raises UsageError: --skip-rows is not a list of row numbers, or --header-rows has no --header-row.
    """
    if (header_rows or 1) > 1 and header_row is None:
        raise UsageError("--header-rows needs --header-row, the first row of the header")
    rows = orders.parse_row_numbers(skip_rows, "--skip-rows") if skip_rows else ()
    return SourceOptions(sheet, header_row, encoding, delimiter, header_rows, rows)


def given(context: typer.Context, **more: Any) -> RunOptions:
    """The options of a run that the running command was given, or has by default.

    Raises UsageError: with every one that is not valid.
    """
    known = {name: value for name, value in {**context.params, **more}.items() if name in RunOptions.model_fields}
    set_ = {name: value for name, value in known.items() if value is not None}
    return given_options(set_, "--{flag} {value}")
