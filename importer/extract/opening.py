"""Opens a source: finds out what it is and settles how it is read; of a CSV its encoding and its delimiter."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from importer.extract.csv_file import CsvFile, Encoding, Survey, survey
from importer.extract.encoding import UTF8, byte_order_mark, find_encoding
from importer.extract.sheet import FileKind, ReadingLimits, Sheet
from importer.extract.source_file import STANDARD_INPUT, file_kind
from importer.extract.table import added_columns, open_table
from importer.models import SourceOptions
from importer.problems import FilePlace, Origin, Problem, UnusableInput

_DELIMITERS = (",", ";", "\t", "|")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_EVEN = 0.5  # share of the records that must have the same number of columns
_ONE_COLUMN = ","  # the delimiter of a file that has none: what result CSVs are written with


def open_sheet(path: Path, options: SourceOptions, limits: ReadingLimits, *, shown_as: str | None = None) -> Sheet:
    """Open a CSV or a workbook and find its table.

    `shown_as` is the name that messages use, where the person knows the file by another one than `path`. A workbook
    is read here, in a process of its own, and kept; a CSV is read by each `Sheet.rows`.

    Raises:
        UnusableInput: no such file, a format we do not read, an encoding that was not declared, no header, ...
    """
    name = shown_as if shown_as is not None else str(path)
    if name == STANDARD_INPUT:
        name = "standard input"
    kind = file_kind(path, name, limits.source)
    if kind is FileKind.CSV:
        return _open_csv(path, name, options, limits)
    from importer.extract.workbook import open_workbook  # nothing of it is needed for a CSV

    return open_workbook(path, name, kind, options, limits)


# --- CSV ----------------------------------------------------------------------------------------


def _open_csv(path: Path, name: str, options: SourceOptions, limits: ReadingLimits) -> Sheet:
    if options.longest_cell:  # which is in characters, of up to four bytes
        limits = replace(limits, row=max(limits.row, 4 * options.longest_cell))
    file = results_file(path, name, limits) or _settled(path, name, options, limits)
    return open_table(file.source(), options)


def results_file(path: Path, name: str, limits: ReadingLimits) -> CsvFile | None:
    """The file, if it is one of our results: UTF-8, perhaps saved by a spreadsheet program with another delimiter."""
    encoding = byte_order_mark(path) or UTF8
    lines = _first_lines(path, encoding)
    for delimiter in _DELIMITERS:
        try:
            header = next(csv.reader(lines, delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue  # with this delimiter the first row is no row
        if added_columns(header):
            seen = survey(path, encoding)
            if seen.undecodable is None:
                return CsvFile(path, Origin(name), seen, delimiter, limits.cell_characters, limits, guarded=True)
    return None


def _settled(path: Path, name: str, options: SourceOptions, limits: ReadingLimits) -> CsvFile:
    problems: list[Problem] = []
    delimiter: str | None = None
    found: Survey | None = None
    try:
        delimiter = _declared_delimiter(options.delimiter) if options.delimiter is not None else None
    except UnusableInput as error:
        problems.extend(error.problems)
    try:
        found = find_encoding(path, name, options.encoding)
    except UnusableInput as error:
        problems.extend(error.problems)
    if problems or found is None:
        raise UnusableInput(problems)
    lines = _first_lines(path, found.encoding)
    marked = _marked_delimiter(lines)
    chosen = delimiter or marked or _found_delimiter(lines, name)
    return CsvFile(
        path,
        Origin(name),
        found,
        chosen or _ONE_COLUMN,
        options.longest_cell or limits.cell_characters,
        limits,
        marked=marked is not None,
        delimited=chosen is not None,
    )


def _first_lines(path: Path, encoding: Encoding, limit: int = 200, characters: int = 1 << 18) -> list[str]:
    """The first lines of a file, to look for its delimiter; the last may be cut. What is no letter is a U+FFFD."""
    lines: list[str] = []
    with path.open(encoding=encoding.codec, errors="replace", newline="") as file:
        while len(lines) < limit and characters > 0 and (line := file.readline(characters)):
            lines.append(line)
            characters -= len(line)
    return lines


# --- the delimiter of a CSV ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Split:
    """What a delimiter makes of the sample: the most frequent number of columns and the share of records with it."""

    delimiter: str
    columns: int
    share: float


def _declared_delimiter(declared: str) -> str:
    """The character that a mapping's `delimiter:` means.

    Raises:
        UnusableInput: it is not one character, or one that cannot delimit.
    """
    delimiter = _NAMES.get(declared.strip().lower(), declared)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UnusableInput(
            Problem(
                "delimiter-invalid",
                f"{declared!r} is not a valid delimiter",
                'give one character, such as "," or ";" or "|", or tab',
                FilePlace("delimiter: in the mapping"),
            )
        )
    return delimiter


def _marked_delimiter(lines: list[str]) -> str | None:
    """The delimiter that a first line `sep=;` names, as spreadsheet programs write and understand it."""
    mark = lines[0].rstrip("\r\n") if lines else ""
    return mark[4] if len(mark) == 5 and mark.lower().startswith("sep=") and mark[4] in _DELIMITERS else None


def _found_delimiter(sample: Sequence[str], name: str) -> str | None:
    """The delimiter that splits the sample lines of a CSV most evenly; None where the file has one column.

    Raises:
        UnusableInput: the delimiters that occur make uneven columns.
    """
    splits = [split for split in (_split(sample, delimiter) for delimiter in _DELIMITERS) if split]
    even = [split for split in splits if split.columns > 1 and split.share >= _EVEN]
    if even:
        return max(even, key=lambda split: (round(split.share, 1), split.columns)).delimiter
    if not any(split.columns > 1 for split in splits):
        return None
    raise UnusableInput(
        Problem(
            "delimiter-not-found",
            "the delimiter cannot be detected: none of , ; tab | gives every row the same number of columns",
            'set it under source: in the mapping, such as `delimiter: ";"`',
            FilePlace(name),
        )
    )


def _split(sample: Sequence[str], delimiter: str) -> _Split | None:
    widths: Counter[int] = Counter()
    with suppress(csv.Error):  # the sample may end inside a quote, and a wrong delimiter breaks quotes
        for record in csv.reader(sample, delimiter=delimiter, strict=True):
            if any(record):
                widths[len(record)] += 1
    if not widths:
        return None
    wide = {width: count for width, count in widths.items() if width > 1} or widths
    columns = max(wide, key=lambda width: (wide[width], width))
    return _Split(delimiter, columns, widths[columns] / widths.total())
