"""Opens a CSV: settles its encoding and delimiter, those of a results file by its own rules."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from importer.errors import UnusableInput
from importer.extract.csv_dialect import DELIMITERS, declared_delimiter, found_delimiter, marked_delimiter
from importer.extract.csv_file import CsvFile, first_lines, row_too_long
from importer.extract.csv_survey import survey
from importer.extract.encoding import UTF8, SurveyedEncoding, byte_order_mark, find_encoding, undecodable
from importer.extract.limits import ReadingLimits
from importer.extract.results_file import added_columns
from importer.extract.sheet import Sheet
from importer.extract.table import open_table
from importer.models import LinePlace, Origin, Problem, SourceOptions

_ONE_COLUMN = ","  # the delimiter of a file that has none: what result CSVs are written with


def open_csv(path: Path, name: str, options: SourceOptions, limits: ReadingLimits) -> Sheet:
    """Open a CSV.

    Raises:
        UnusableInput: its encoding, delimiter or header cannot be told, or those declared do not fit.
    """
    if options.longest_cell:  # which is in characters, of up to four bytes
        limits = replace(limits, row=max(limits.row, 4 * options.longest_cell))
    file = results_file(path, name, limits) or _settled(path, name, options, limits)
    if file.survey.longest > limits.row:
        raise UnusableInput(row_too_long(LinePlace(name, file.survey.longest_line), limits))
    return open_table(file, options)


def _settled(path: Path, name: str, options: SourceOptions, limits: ReadingLimits) -> CsvFile:
    problems: list[Problem] = []
    delimiter: str | None = None
    found: SurveyedEncoding | None = None
    try:
        delimiter = declared_delimiter(options.delimiter) if options.delimiter is not None else None
    except UnusableInput as error:
        problems.extend(error.problems)
    try:
        found = find_encoding(path, name, options.encoding)
    except UnusableInput as error:
        problems.extend(error.problems)
    if problems or found is None:
        raise UnusableInput(problems)
    try:
        lines = first_lines(path, found.encoding)
    except UnicodeDecodeError as error:
        raise UnusableInput(undecodable(path, name, found.encoding)) from error
    marked = marked_delimiter(lines)
    chosen = delimiter or marked or found_delimiter(lines, name)
    cell_limit = options.longest_cell or limits.cell_characters
    return CsvFile(
        path,
        Origin(name),
        found.encoding,
        chosen or _ONE_COLUMN,
        found.survey,
        cell_limit,
        limits,
        marked=marked is not None,
        delimited=chosen is not None,
    )


def results_file(path: Path, name: str, limits: ReadingLimits) -> CsvFile | None:
    """The file, if it is one of our results: UTF-8, perhaps saved by a spreadsheet program with another delimiter."""
    encoding = byte_order_mark(path) or UTF8
    try:
        lines = first_lines(path, encoding)
    except UnicodeDecodeError:
        return None
    for delimiter in DELIMITERS:
        try:
            header = next(csv.reader(lines, delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue  # with this delimiter the first row is no row
        if added_columns(header):
            seen = survey(path, encoding.codec)
            if seen.undecodable is None:
                return CsvFile(
                    path, Origin(name), encoding, delimiter, seen, limits.cell_characters, limits, guarded=True
                )
    return None
