"""Options that several commands share, each with the help that a person reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

File = Annotated[
    Path,
    typer.Argument(
        help="The spreadsheet: CSV, XLSX or another kind; - is CSV from standard input.", show_default=False
    ),
]
MappingFile = Annotated[
    Path, typer.Option("--mapping", "-m", help="The mapping file: which column answers which question; or a folder.")
]
Out = Annotated[Path | None, typer.Option("--out", help="The results folder. [IMPORTER_OUT, else results]")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout, and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary; errors are still told.")]
Rate = Annotated[float | None, typer.Option("--rate", help="At most this many requests a second.")]
Concurrency = Annotated[int | None, typer.Option("--concurrency", help="At most this many requests at once. [8]")]
MaxErrors = Annotated[
    str | None,
    typer.Option("--max-errors", help="Stop when the service has refused or not taken so many rows: 20 or 5%."),
]
Resend = Literal["now", "end", "never"]
Settle = Annotated[
    Resend,
    typer.Option(
        "--resend-unconfirmed", help="When a row whose answer was lost is sent again: at once, at the end, not."
    ),
]
GiveUpAfter = Annotated[
    str | None,
    typer.Option("--give-up-after", help="End a run in which no row is settled for so long: 15m, 2h. [15m]"),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
Rows = Annotated[str | None, typer.Option("--rows", help="Only these rows, as the spreadsheet numbers them: 10-40.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most this many rows.")]
UseSandbox = Annotated[
    bool,
    typer.Option("--sandbox", help="Rehearse against a recruiting service on this machine. Nothing leaves it."),
]
SandboxQuestions = Annotated[
    Path | None,
    typer.Option("--questions", help="With --sandbox: its questions, as `importer questions HASH --json` prints them."),
]
SandboxFaults = Annotated[
    Path | None, typer.Option("--faults", help="With --sandbox: the faults it shall show, a JSON file.")
]
Run = Annotated[str, typer.Argument(help="A run: its id, the beginning of it, its folder, or `last`.")]
