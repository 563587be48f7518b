"""`importer inspect`: what we see in a file, before anything else is decided."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from importer.app.mapping_files import Sheet, look_into, with_flag
from importer.cli import options
from importer.cli.messages import problem_lines, say, tell
from importer.models import SourceOptions
from importer.settings import load_settings
from importer.text.normalize import visible

_STANDARD_INPUT = "-"
if TYPE_CHECKING:
    from importer.app.mapping_files import ColumnProfile, SheetProfile

_Sheet = Annotated[str | None, typer.Option("--sheet", help="The sheet, by name or number. [the first visible one]")]
_HeaderRow = Annotated[int | None, typer.Option("--header-row", min=1, help="The header's row number. [found]")]
_Encoding = Annotated[str | None, typer.Option("--encoding", help="Of a CSV, such as cp1254. [its mark, or UTF-8]")]
_Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Of a CSV, such as ';' or tab. [found]")]


def inspect(
    file: Annotated[
        Path, typer.Argument(help="The spreadsheet, or - for CSV from standard input.", show_default=False)
    ],
    sheet: _Sheet = None,
    header_row: _HeaderRow = None,
    encoding: _Encoding = None,
    delimiter: _Delimiter = None,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what is in a file: how it is read, its columns with samples and kinds, and what is wrong in it."""
    wanted = SourceOptions(sheet=sheet, header_row=header_row, encoding=encoding, delimiter=delimiter)
    opened, profile = look_into(file, wanted, load_settings(out=out))
    if as_json:
        tell(json.dumps(_as_json(opened, profile), ensure_ascii=False, indent=1))
        return
    _show(opened, profile)
    _show_source(wanted)
    again = ["FILE" if str(file) == _STANDARD_INPUT else shlex.quote(str(file)), *_flags(wanted)]
    say(f"Next: importer mapping new {' '.join(again)} --job-post HASH proposes which column answers which question")


def _as_json(sheet: Sheet, profile: SheetProfile) -> dict[str, object]:
    return {
        "file": sheet.origin.file,
        "sheet": sheet.origin.sheet,
        "reading": sheet.reading,
        "header_row": sheet.header_row,
        "rows": profile.rows,
        "last_row": profile.last_row,
        "rows_with_problems": profile.rows_with_problems,
        "columns": [
            {
                "letter": each.column.letter,
                "name": each.column.name,
                "kind": each.kind.value,
                "formats": list(each.formats),
                "ambiguous": each.ambiguous,
                "filled": each.filled,
                "samples": list(each.samples),
            }
            for each in profile.columns
        ],
        "warnings": [str(with_flag(warning)) for warning in sheet.warnings],
        "problems": [str(problem) for problem in profile.problems],
    }


def _show(sheet: Sheet, profile: SheetProfile) -> None:
    tell(f"{sheet.origin.file}: {sheet.reading}, {_counted(profile.rows, 'row')}, the last in row {profile.last_row}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "column", "kind", "filled", "samples"):
        table.add_column(heading, overflow="fold")
    for each in profile.columns:
        filled = f"{each.filled / profile.rows:.0%}" if profile.rows else ""
        # Text, not str: a cell may hold square brackets, which rich would take for its own.
        samples = Text(" | ".join(map(_short, each.samples)))
        table.add_row(each.column.letter, Text(visible(each.column.label)), Text(_kind(each)), filled, samples)
    Console().print(table)
    for warning in sheet.warnings:
        for line in problem_lines(with_flag(warning)):
            tell(line)
    if profile.rows_with_problems:
        rows = _counted(profile.rows_with_problems, "row")
        as_is = "as it is" if profile.rows_with_problems == 1 else "as they are"
        tell(f"{rows} cannot be sent {as_is}; the first problems:")
        for problem in profile.problems:
            for line in problem_lines(problem):
                tell(line)


def _declared(wanted: SourceOptions) -> dict[str, object]:
    """What was said of how to read the file, by the key that a mapping file has for it."""
    keys = ("sheet", "header_row", "encoding", "delimiter")
    return {key: value for key in keys if (value := getattr(wanted, key)) is not None}


def _flags(wanted: SourceOptions) -> Iterator[str]:
    """The same as flags."""
    for key, value in _declared(wanted).items():
        yield f"--{key.replace('_', '-')} {shlex.quote(str(value))}"


def _show_source(wanted: SourceOptions) -> None:
    """The section for a mapping file that reads the file as it was read here, if anything was declared."""
    lines = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in _declared(wanted).items()]
    if lines:
        say("Put this into the mapping file, so that it is read the same way there:")
        say("\n".join(("source:", *lines)))


def _kind(profile: ColumnProfile) -> str:
    if not profile.formats:
        return profile.kind.value
    return f"{profile.kind} ({(' or ' if profile.ambiguous else ', ').join(profile.formats)})"


def _short(sample: str) -> str:
    line = visible(" ".join(sample.split()))
    return line if len(line) <= 30 else line[:27] + "..."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"
