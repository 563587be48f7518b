"""Private copies of a run's source, its mapping, and other tables that the mapping names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from importer import __version__
from importer.atomic_files import open_private
from importer.extract import ReadingLimits, Sheet, SourceCopy, copy_source, open_sheet, restore_values
from importer.mapping import OUTSIDE_HINT, ChildSource, Mapping, is_within
from importer.models import Question, SourceOptions
from importer.problems import DamagedRun, Place, Problem, UnusableInput
from importer.runs.manifest import ChildCopy, RunManifest, is_run, part_folders, read_manifest
from importer.runs.row_selection import Selection
from importer.settings import WireFormat

_LARGEST = 1 << 30  # bytes of a file that is joined with the source
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")


@dataclass(frozen=True, slots=True)
class Source:
    """The source as the user named it, and its private copy."""

    file: Path
    copy: Path

    @property
    def earlier_runs(self) -> tuple[Path, ...]:
        """If this is a results file: the folders of its runs, which contain the other tables that belong to it."""
        folder = self.file.parent
        if not is_run(folder):
            return ()
        try:
            return part_folders(folder, read_manifest(folder))
        except DamagedRun:  # then it is an ordinary file
            return ()


@dataclass(frozen=True, slots=True)
class ChildTables:
    """The opened tables, by their names in the mapping, and the copies of their files."""

    tables: dict[ChildSource, Sheet]
    copies: tuple[ChildCopy, ...]


def copy_of_source(file: Path, folder: Path, options: SourceOptions, limits: ReadingLimits) -> SourceCopy:
    """Create the private copy of a run's source. In a results file, values that a spreadsheet program has reformatted
    are restored, where the file's own run proves them.

    Raises:
        UnusableInput: the file cannot be read.
    """
    copy = copy_source(file, folder, limits)
    runs = Source(file, copy.path).earlier_runs
    if not runs:
        return copy
    return restore_values(copy, lambda: sheet_of(runs[0], read_manifest(runs[0]), limits), options, limits)


def sheet_of(folder: Path, manifest: RunManifest, limits: ReadingLimits) -> Sheet:
    """Open the source of a run, from its private copy."""
    return open_sheet(folder / manifest.source, manifest.options, limits, shown_as=manifest.file)


def keep_mapping(mapping: Mapping, folder: Path, stem: str = "mapping") -> str:
    """Save a copy of a mapping file in a folder, as it was read; return its name."""
    name = f"{stem}{mapping.path.suffix.lower() or '.yaml'}"
    with os.fdopen(open_private(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(mapping.content)
    return name


def corrected_run(file: Path, *, is_copy: bool) -> str | None:
    """The run whose results file this is; None for any other file. is_copy: the file is the private copy of a run."""
    try:
        manifest = read_manifest(file.parent) if is_run(file.parent) else None
    except DamagedRun:
        return None
    if manifest is None:
        return None
    return manifest.corrects if is_copy else manifest.run


def keep_questions(file: Path | None, folder: Path) -> str | None:
    """Save a copy of the questions that a sandbox was started with, if there are any; return its name."""
    if file is None:
        return None
    name = "questions.json"
    with os.fdopen(open_private(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as copy:
        copy.write(file.read_bytes())
    return name


def open_children(mapping: Mapping, source: Source, folder: Path, limits: ReadingLimits) -> ChildTables:
    """Open every other table of the mapping. File names are relative to the folder of the source; the files are
    copied to `folder`. For a results file, the copies of its own run are used.

    Raises:
        UnusableInput: with the problems of all tables.
    """
    tables: dict[ChildSource, Sheet] = {}
    copies: dict[str, ChildCopy] = {}
    problems: list[Problem] = []
    for child, place in mapping.child_sources.items():
        try:
            tables[child] = _open(child, place, source, folder, copies, mapping, limits)
        except UnusableInput as error:
            problems.extend(error.problems)
    if problems:
        raise UnusableInput(problems)
    return ChildTables(tables, tuple(copies.values()))


def fingerprint(
    copy: SourceCopy,
    mapping_copy: Path,
    children: ChildTables,
    questions: Iterable[Question],
    wire: WireFormat,
    selection: Selection,
    sheet: str | None,
    *,
    strict: bool,
) -> str:
    """A digest of everything that the outcomes of a run depend on: equal if the outcomes will be equal.

    mapping_copy: the mapping, including what it takes from other files; sheet: the one that is read.
    """
    digest = hashlib.sha256(mapping_copy.read_bytes())
    for part in (__version__, copy.sha256, children.copies, tuple(questions), wire, selection, sheet, strict):
        digest.update(f"\0{part!r}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _open(
    child: ChildSource,
    place: Place,
    source: Source,
    folder: Path,
    copies: dict[str, ChildCopy],
    mapping: Mapping,
    limits: ReadingLimits,
) -> Sheet:
    if child.file is None:
        workbook = _workbook_of(source, folder, copies, limits)
        if workbook.suffix.lower() not in _WORKBOOKS:
            message = f"the source is not a workbook, so it has no sheet '{child.options.sheet}'"
            hint = "import the workbook, or use file: instead of sheet:"
            raise UnusableInput(Problem("source-not-a-workbook", message, hint, place))
        return open_sheet(workbook, child.options, limits, shown_as=str(source.file))
    if child.file not in copies:
        path = _file_of(child.file, source, mapping.folders, place)
        try:
            copied = copy_source(path, folder, limits, f"child-{len(copies) + 1}")
        except UnusableInput as error:  # reported at the place in the mapping
            raise UnusableInput(
                [replace(each, message=f"'{child.file}': {each.message}", place=place) for each in error.problems]
            ) from None
        copies[child.file] = ChildCopy(child.file, copied.path.name, copied.sha256)
    return open_sheet(
        folder / copies[child.file].copy, child.options, limits, shown_as=str(source.file.parent / child.file)
    )


def _workbook_of(source: Source, folder: Path, copies: dict[str, ChildCopy], limits: ReadingLimits) -> Path:
    """The workbook with the child sheets: the source itself, or for a results file that of its run."""
    if not source.earlier_runs:
        return source.copy
    earlier = source.earlier_runs[0]
    manifest = read_manifest(earlier)
    workbook = next((child.copy for child in manifest.children if child.name == _SOURCE), manifest.source)
    if _SOURCE not in copies:
        copied = copy_source(earlier / workbook, folder, limits, "child-source")
        copies[_SOURCE] = ChildCopy(_SOURCE, copied.path.name, copied.sha256)
    return folder / copies[_SOURCE].copy


_SOURCE = "(source)"  # in a manifest: the workbook of the run whose rows were fixed


def _file_of(name: str, source: Source, folders: tuple[Path, ...], place: Place) -> Path:
    for earlier in source.earlier_runs:
        for child in read_manifest(earlier).children:
            if child.name == name:
                return earlier / child.copy
    path = source.file.parent / name
    if not is_within(path, [source.file.parent, *folders]):
        message = f"'{name}' is neither in the folder of the source nor in the folder of this mapping"
        raise UnusableInput(Problem("file-outside-folder", message, OUTSIDE_HINT, place))
    if path.is_file() and path.stat().st_size > _LARGEST:
        message = f"'{name}' is larger than {_LARGEST:,} bytes, the limit for files with entries"
        raise UnusableInput(Problem("entries-file-too-large", message, "export fewer columns or rows", place))
    return path
