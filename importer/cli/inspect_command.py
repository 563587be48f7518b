"""`importer inspect`: how a file is read, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from importer.app.mapping_files import Sheet, inspect_file, with_flag
from importer.cli import options
from importer.cli.app import next_command
from importer.cli.messages import print_message, print_result, problem_lines
from importer.models import SourceOptions
from importer.settings import load_settings
from importer.text.normalize import visible

_STANDARD_INPUT = "-"
if TYPE_CHECKING:
    from importer.app.mapping_files import ColumnProfile, SheetProfile


def inspect(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="The file: CSV, XLSX or another spreadsheet; - reads CSV from standard input.", show_default=False
        ),
    ],
    sheet: options.Sheet = None,
    header_row: options.HeaderRow = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Show how a file is read, its columns with samples, and its problems."""
    declared = SourceOptions(sheet=sheet, header_row=header_row, encoding=encoding, delimiter=delimiter)
    opened, profile = inspect_file(file, declared, load_settings(out=out))
    if as_json:
        print_result(json.dumps(_as_json(opened, profile), ensure_ascii=False, indent=1))
        return
    _show(opened, profile)
    _show_source(declared)
    source = "FILE" if str(file) == _STANDARD_INPUT else file
    print_message(f"Next: {next_command(context, 'mapping new', source, '--job-post', 'HASH')}")


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
    print_result(f"{sheet.origin.file}: {sheet.reading}, {_counted(profile.rows, 'row')}, last row {profile.last_row}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "column", "kind", "filled", "samples"):
        table.add_column(heading, overflow="fold")
    for each in profile.columns:
        filled = f"{each.filled / profile.rows:.0%}" if profile.rows else ""
        # Text, not str: rich would treat square brackets in a cell as markup.
        samples = Text(" | ".join(map(_short, each.samples)))
        table.add_row(each.column.letter, Text(visible(each.column.label)), Text(_kind(each)), filled, samples)
    Console().print(table)
    for warning in sheet.warnings:
        for line in problem_lines(with_flag(warning)):
            print_result(line)
    if profile.rows_with_problems:
        rows = _counted(profile.rows_with_problems, "row")
        print_result(f"{rows} cannot be sent; the first problems:")
        for problem in profile.problems:
            for line in problem_lines(problem):
                print_result(line)


def _options(declared: SourceOptions) -> dict[str, object]:
    """The declared reading options, by their keys in a mapping file."""
    keys = ("sheet", "header_row", "encoding", "delimiter")
    return {key: value for key in keys if (value := getattr(declared, key)) is not None}


def _show_source(declared: SourceOptions) -> None:
    """Print the `source:` section of a mapping file with the declared reading options, if there are any."""
    lines = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in _options(declared).items()]
    if lines:
        print_message("In a mapping file, these lines read the file in the same way:")
        print_message("\n".join(("source:", *lines)))


def _kind(profile: ColumnProfile) -> str:
    if not profile.formats:
        return profile.kind.value
    return f"{profile.kind} ({(' or ' if profile.ambiguous else ', ').join(profile.formats)})"


def _short(sample: str) -> str:
    line = visible(" ".join(sample.split()))
    return line if len(line) <= 30 else line[:27] + "..."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"
