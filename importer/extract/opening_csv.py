"""Opens a CSV: settles its encoding and delimiter, those of a results file by its own rules."""

from __future__ import annotations

import csv
from pathlib import Path

from importer.errors import UnusableInput
from importer.extract.csv_dialect import DELIMITERS, declared_delimiter, found_delimiter, shown_delimiter
from importer.extract.csv_file import CsvFile, sample_lines
from importer.extract.encoding import UTF8, Encoding, byte_order_mark, find_encoding, first_undecodable
from importer.extract.results_file import added_columns
from importer.extract.sheet import Sheet
from importer.extract.table import Readable, open_table
from importer.models import Origin, Problem, SourceOptions


def open_csv(path: Path, name: str, options: SourceOptions) -> Sheet:
    """Open a CSV.

    Raises:
        UnusableInput: its encoding, delimiter or header cannot be told, or those declared do not fit.
    """
    file = _results_file(path, name) or _settled(path, name, options)
    how = f"CSV, {file.encoding.label}, delimiter {shown_delimiter(file.delimiter)}"
    return open_table(Readable(file.origin, file.records, how, True, file.delimiter), options.header_row)


def _settled(path: Path, name: str, options: SourceOptions) -> CsvFile:
    problems: list[Problem] = []
    encoding, delimiter = UTF8, options.delimiter
    try:
        delimiter = declared_delimiter(delimiter) if delimiter is not None else None
    except UnusableInput as error:
        problems.extend(error.problems)
    try:
        encoding = find_encoding(path, name, options.encoding)
    except UnusableInput as error:
        problems.extend(error.problems)
    if problems:
        raise UnusableInput(problems)
    if delimiter is None:
        delimiter = found_delimiter(sample_lines(path, encoding), name)
    return CsvFile(path, Origin(name), encoding, delimiter)


def _results_file(path: Path, name: str) -> CsvFile | None:
    """The file, if it is one of our results: UTF-8, perhaps saved by a spreadsheet program with another delimiter."""
    encoding: Encoding = byte_order_mark(path) or UTF8
    if first_undecodable(path, encoding.codec) is not None:
        return None
    lines = sample_lines(path, encoding)
    for delimiter in DELIMITERS:
        try:
            header = next(csv.reader(lines, delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue  # with this delimiter the first row is no row
        if added_columns(header):
            return CsvFile(path, Origin(name), encoding, delimiter, guarded=True)
    return None
