"""`importer inspect`: how a file is read, and what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import typer

from importer.app.inspect_file import ColumnKind, ColumnProfile, InspectedFile, inspect_file, with_flag
from importer.cli import options
from importer.cli.app import next_command
from importer.cli.messages import counted, print_lines, print_lines_of, print_next, print_problems, print_result
from importer.text.normalize import visible

_MOST_EMPTY = 12  # empty columns that are named
_MOST_PROBLEMS = 3
_WIDEST = (7, 24, 18, 8)  # texts in the lines of columns; the sample has what is left


def inspect(
    context: typer.Context,
    file: options.File,
    sheet: options.Sheet = None,
    header_row: options.HeaderRow = None,
    header_rows: options.HeaderRows = None,
    skip_rows: options.SkipRows = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> None:
    """Show how a file is read, its columns with samples, and its problems."""
    declared = options.source_options(sheet, header_row, header_rows, skip_rows, encoding, delimiter)
    found = inspect_file(file, declared)
    _show(found, is_verbose=verbose)
    print_next("Next", next_command(context, "mapping new", file, "--job-post", "HASH"))


def _show(found: InspectedFile, *, is_verbose: bool) -> None:
    sheet, profile = found.sheet, found.profile
    print_lines(f"{sheet.origin.file}: {sheet.reading}, {counted(profile.rows, 'row')}, last row {profile.last_row}")
    print_result("")
    filled_columns = [each for each in profile.columns if each.filled]
    columns = filled_columns or profile.columns
    grouped = [[each] for each in columns] if is_verbose else _grouped(columns)
    lines = [[*_cells(like, profile.rows)] for like in grouped]
    print_lines_of([("", "column", "kind", "filled", "sample"), *lines], _WIDEST)
    print_result("")
    if filled_columns and (empty := [each.column.label for each in profile.columns if not each.filled]):
        names = ", ".join(map(_short, empty[:_MOST_EMPTY])) + (", ..." if len(empty) > _MOST_EMPTY else "")
        print_lines(f"{counted(len(empty), 'empty column')}: {names}")
    if found.instead_of is not None:
        print_lines(f"The sheet '{found.instead_of}' comes first, but contains no candidates.")
    if rows := profile.instructions:
        which = f"Row {rows[0]} seems" if len(rows) == 1 else f"Rows {rows[0]} to {rows[-1]} seem"
        print_lines(f"{which} to be instructions or an example, not candidates; left out above.")
    if profile.total is not None:
        number, text = profile.total
        print_lines(f"Row {number} begins with '{text}' and is most likely a total, not a candidate.")
    for other, join in found.joins:
        key, equals = join.key.column.label, join.equals.column.label
        where = other.name if other.is_file else f"sheet '{other.name}'"
        print_lines(f"{where}: its column '{key}' has values of '{equals}' ({join.found:.0%} of them are found here)")
    print_problems(map(with_flag, sheet.warnings), _MOST_PROBLEMS)
    if profile.rows_with_problems:
        print_lines(f"{counted(profile.rows_with_problems, 'row')} with cells that cannot be read; the first problems:")
        first_of_each = {one.code: one for one in reversed(profile.problems)}  # the same words once are enough
        print_problems(reversed(first_of_each.values()), _MOST_PROBLEMS)


def _grouped(columns: Sequence[ColumnProfile]) -> list[list[ColumnProfile]]:
    """The columns for each line of the table: one, or all of a kind whose names differ in their numbers."""
    found: dict[tuple[object, ColumnKind], list[ColumnProfile]] = {}
    for each in columns:
        plain = re.sub(r"\d+", "0", each.column.name)
        found.setdefault((each.column.index if plain == each.column.name else plain, each.kind), []).append(each)
    return [*found.values()]


def _cells(like: Sequence[ColumnProfile], rows: int) -> Iterator[str]:
    """The cells of a line: letters, names, kind, shares of filled cells, samples."""
    first, last = like[0], like[-1]
    yield "-".join(dict.fromkeys((first.column.letter, last.column.letter)))
    yield first.column.label if last is first else f"{first.column.label} to {last.column.label}"
    yield _kind(first)
    filled = [min(each.filled for each in like), max(each.filled for each in like)]
    yield "-".join(dict.fromkeys(f"{count / rows:.0%}" for count in filled if rows))
    yield first.samples[0] if first.samples else ""


def _kind(profile: ColumnProfile) -> str:
    """`date %d.%m.%Y +2`: how many more formats there are; where two read the same cells, both."""
    if not profile.formats:
        return profile.kind.value
    shown = " or ".join(profile.formats[: 2 if profile.ambiguous else 1])
    rest = len(profile.formats) - (2 if profile.ambiguous else 1)
    return f"{profile.kind} {shown}{f' +{rest}' if rest > 0 else ''}"


def _short(sample: str) -> str:
    line = visible(" ".join(sample.split()))
    return line if len(line) <= 60 else line[:59] + "…"
