"""How a file is read that has no mapping yet, and what is in its columns and beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from importer.models import Row, SourceOptions
from importer.problems import Column, Problem, UnusableInput
from importer.sources import Sheet, kind_by_name, open_sheet
from importer.suggest import (
    ColumnKind,
    ColumnProfile,
    Join,
    OtherSheet,
    SheetProfile,
    SourceFacts,
    finds_candidates,
    join_of,
    profile_sheet,
    sample_columns,
)

# Re-exported for the command, together with what is defined here.
__all__ = ["ColumnKind", "ColumnProfile"]

_MAX_SHEETS = 8  # of a workbook are tried
_MAX_FILES = 30  # beside the file are tried
_LARGEST_BESIDE = 64 << 20  # bytes of such a file
_IN_MAPPING = "under source: in the mapping"  # the text in hints of `sources` that names the place of a declaration
_FLAGS = {
    "encoding-wrong": "--encoding",
    "delimiter-not-found": "--delimiter",
    "header-not-found": "--header-row",
    "file-empty": "--sheet",
    "sheets-not-read": "--sheet",
    "sheet-chosen": "--sheet",
    "sheet-undecided": "--sheet",
}


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A file as it is read: the table that is read, and what is in it.

    instead_of: the sheet that would be read without `sheet:`, but contains no candidates. others: the other sheets, and
    the files beside it.
    """

    sheet: Sheet
    profile: SheetProfile
    others: tuple[OtherSheet, ...] = ()
    instead_of: str | None = None

    @property
    def joins(self) -> Iterator[tuple[OtherSheet, Join]]:
        """The other tables whose rows belong to rows of this one, each with its join; not other lists of candidates."""
        for other in self.others:
            if not finds_candidates(other.columns) and (join := join_of(other.columns, self.profile.views)) is not None:
                yield other, join

    @property
    def not_read(self) -> tuple[str, ...]:
        """The other sheets that have candidates."""
        return tuple(each.name for each in self.others if not each.is_file and finds_candidates(each.columns))

    def facts(self, source: SourceOptions) -> SourceFacts:
        """How the file is read, for a mapping file; source: as declared."""
        sheet = self.sheet
        first = sheet.header_row - sheet.header_rows + 1
        skipped = ", ".join(map(str, source.skip_rows or self.profile.instructions)) or None
        name, stop = Path(sheet.origin.file).name, self.profile.total and self.profile.total[1]
        return SourceFacts(
            name,
            sheet.origin.sheet,
            first,
            sheet.header_rows,
            skipped,
            stop,
            source.encoding,
            source.delimiter,
            is_skipping=bool(self.profile.instructions),
        )


def inspect_file(file: Path, source: SourceOptions, shown_as: str | None = None) -> InspectedFile:
    """How a file is read, and what is in its columns and beside it. If the first sheet
    contains no candidates, another sheet that does is read. shown_as: its name for a person, if that is not its path.

    Raises UnusableInput: it cannot be read; the hints contain flags.
    """
    try:
        sheet, instead_of = open_candidates(file, source, shown_as or str(file))
    except UnusableInput as error:
        raise UnusableInput([with_flag(problem) for problem in error.problems]) from None
    profile = profile_sheet(sheet.columns, sheet.rows(), sheet.header_row)
    others = *_other_sheets(file, sheet), *_files_beside(file)
    return InspectedFile(sheet, profile, others, instead_of)


def open_candidates(path: Path, source: SourceOptions, shown_as: str) -> tuple[Sheet, str | None]:
    """The sheet that is read, and the one that comes first if it has no candidates and another one has."""
    sheet = open_sheet(path, source, shown_as=shown_as)
    is_only = source.sheet is not None or len(sheet.sheets) < 2
    if is_only or finds_candidates(sample_columns(sheet.columns, sheet.rows())):
        return sheet, None
    others = _other_sheets(path, sheet)
    better = next((other.name for other in others if finds_candidates(other.columns)), None)
    if better is None:
        return sheet, None
    return open_sheet(path, replace(source, sheet=better), shown_as=shown_as), sheet.origin.sheet


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The table of a file as it is read, with its first rows. sheet: its name in a workbook, one of `sheets`;
    instead_of: the first of them, if it contains no candidates.
    """

    reading: str
    header_row: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    warnings: tuple[Problem, ...]
    sheet: str | None
    sheets: tuple[str, ...]
    instead_of: str | None


def first_rows(file: Path, source: SourceOptions, count: int, shown_as: str) -> FirstRows:
    """How a file is read, by its first rows alone: for a CSV in the time that it takes to decode it. shown_as: its name
    for a person.

    Raises UnusableInput: it cannot be read.
    """
    sheet, instead_of = open_candidates(file, source, shown_as)
    rows, title = tuple(islice(sheet.rows(), count)), sheet.origin.sheet
    warnings = tuple(each for each in sheet.warnings if each.code != "sheets-not-read")  # `sheets` says it
    return FirstRows(sheet.reading, sheet.header_row, sheet.columns, rows, warnings, title, sheet.sheets, instead_of)


def _other_sheets(file: Path, main: Sheet) -> Iterator[OtherSheet]:
    """The first few other visible sheets of the workbook that contain a table."""
    for title in [one for one in main.sheets if one != main.origin.sheet][:_MAX_SHEETS]:
        with suppress(UnusableInput):
            sheet = open_sheet(file, SourceOptions(title))
            yield OtherSheet(title, sample_columns(sheet.columns, sheet.rows()))


def _files_beside(file: Path) -> Iterator[OtherSheet]:
    """The first few other tables in the folder of a file; those that cannot be read as they are, are skipped."""
    beside = [path for path in sorted(file.parent.iterdir()) if kind_by_name(path) and path.suffix.lower() != ".txt"]
    beside = [path for path in beside if path.is_file() and not path.samefile(file)]
    for path in beside[:_MAX_FILES]:
        if not path.is_symlink() and path.stat().st_size <= _LARGEST_BESIDE:
            with suppress(UnusableInput):
                sheet, encoding = _open_beside(path)
                columns = sample_columns(sheet.columns, sheet.rows())
                yield OtherSheet(path.name, columns, is_file=True, encoding=encoding)


def _open_beside(path: Path) -> tuple[Sheet, str | None]:
    """A file, and its most likely encoding if it is not in UTF-8: a person checks it in the mapping."""
    try:
        return open_sheet(path, SourceOptions()), None
    except UnusableInput as error:
        likely = next((one.names[0] for problem in error.problems for one in problem.encodings), None)
        if likely is None:
            raise
        return open_sheet(path, SourceOptions(encoding=likely)), likely


# --- hints that name flags -------------------------------------------------------


def with_flag(problem: Problem) -> Problem:
    """The problem, with the flag that corresponds to a declaration in a mapping added to its hint."""
    flag = _FLAGS.get(problem.code)
    if flag is None or _IN_MAPPING not in problem.hint:
        return problem
    return replace(problem, hint=f"{problem.hint}; for this command use {flag}")
