"""Private copies of a run's source, its mapping, and other tables that the mapping names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from importer import __version__
from importer.documents.contents import UNREADABLE
from importer.documents.folder import DocumentFolder
from importer.documents.ids import IDS_FILE
from importer.files import read_private, write_json, write_private
from importer.mapping import (
    IN_SOURCE,
    OUTSIDE_HINT,
    ChildSource,
    Mapping,
    ResolvedMapping,
    is_within,
    read_mapping,
    resolve,
)
from importer.models import Question
from importer.problems import DamagedRun, Place, Problem, UnusableInput
from importer.runs.manifest import ChildCopy, RunManifest, read_manifest
from importer.settings import WireFormat
from importer.sources import USUAL_LIMITS, FileKind, ReadingLimits, Sheet, copy_source, kind_by_name, open_sheet

_LONGEST_NAME = 255  # bytes
_LARGEST = 1 << 30  # bytes of a file that is joined with the source


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The source as the user named it, its private copy, and its name in messages, if that is another one."""

    file: Path
    copy: Path
    shown_as: str = ""

    @property
    def earlier_run(self) -> RunManifest | None:
        """If this is a file of a run: that run, whose folder has the other tables that belong to it."""
        with suppress(DamagedRun):  # then it is an ordinary file
            return read_manifest(self.file.parent)
        return None


@dataclass(frozen=True, slots=True)
class ChildTables:
    """The opened tables, by their names in the mapping, and the copies of their files, without that of the source."""

    tables: dict[ChildSource, Sheet]
    copies: tuple[ChildCopy, ...]


def keep_mapping(mapping: Mapping, folder: Path) -> str:
    """Save a copy of a mapping file in a folder, as it was read; return its name."""
    name = f"mapping{mapping.path.suffix.lower() or '.yaml'}"
    write_private(folder / name, mapping.content)
    return name


def keep_questions(file: Path | None, folder: Path) -> str | None:
    """Save a copy of the questions that a sandbox was started with, if there are any; return its name."""
    if file is None:
        return None
    write_private(folder / "questions.json", file.read_bytes())
    return "questions.json"


def open_children(
    mapping: Mapping, source: SourceFiles, folder: Path, limits: ReadingLimits = USUAL_LIMITS
) -> ChildTables:
    """Open every other table of the mapping. File names are relative to the folder of the source; the files are copied
    to `folder`. For a results file, those are the copies of its own run.

    Raises UnusableInput: with the problems of all tables.
    """
    children = _Children(source, folder, mapping.folders, limits)
    tables: dict[ChildSource, Sheet] = {}
    problems: list[Problem] = []
    for child, place in mapping.child_sources.items():
        try:
            tables[child] = children.open(child, place)
        except UnusableInput as error:
            where = f"under {'file' if child.file else 'sheet'}: in {place.file}:{place.line}"
            problems += (replace(each, hint=each.hint.replace(IN_SOURCE, where)) for each in error.problems)
    if problems:
        raise UnusableInput(problems)
    return ChildTables(tables, tuple(children.copies.values()))


class _Children:
    """Copies and opens the other tables of a source. folders: where their files may be, besides its own folder."""

    def __init__(self, source: SourceFiles, folder: Path, folders: tuple[Path, ...], limits: ReadingLimits) -> None:
        self._source, self._folder, self._folders, self._limits = source, folder, folders, limits
        self._earlier = source.earlier_run
        self.copies: dict[str, ChildCopy] = {}

    def open(self, child: ChildSource, place: Place) -> Sheet:
        """A table. place: where the mapping names it."""
        if child.file is None:
            if kind_by_name(self._source.copy) is FileKind.CSV:
                message = f"the source is not a workbook, so it has no sheet '{child.options.sheet}'"
                hint = "import the workbook, or use file: instead of sheet:"
                raise UnusableInput(Problem("source-not-a-workbook", message, hint, place))
            shown_as = self._earlier.file if self._earlier else self._source.shown_as or str(self._source.file)
            return open_sheet(self._source.copy, child.options, self._limits, shown_as=shown_as)
        name = child.file
        if name not in self.copies:
            path, shown_as = self._file(name, place)
            try:
                copied = copy_source(path, self._folder, self._limits, stem=f"child-{len(self.copies) + 1}")
            except UnusableInput as error:  # reported at the place in the mapping
                raise UnusableInput(
                    [replace(each, message=f"'{child}': {each.message}", place=place) for each in error.problems]
                ) from None
            self.copies[name] = ChildCopy(name, copied.path.name, copied.sha256, shown_as)
        copy = self.copies[name]
        return open_sheet(self._folder / copy.copy, child.options, self._limits, shown_as=copy.shown_as)

    def _earlier_copy(self, name: str) -> tuple[Path, str] | None:
        """The copy of a table in the runs of a results file, and its path in messages."""
        children = self._earlier.children if self._earlier else ()
        found = next((child for child in children if child.name == name), None)
        return (self._source.file.parent / found.copy, found.shown_as) if found else None

    def _file(self, name: str, place: Place) -> tuple[Path, str]:
        if (earlier := self._earlier_copy(name)) is not None:
            return earlier
        own = self._source.file.parent
        path = own / name
        if len(os.fsencode(Path(name).name)) > _LONGEST_NAME:
            raise UnusableInput(
                Problem("file-not-found", f"'{name[:40]}...' is too long for a file name", "correct it", place)
            )
        if not is_within(path, [own, *self._folders]):
            message = f"'{name}' is neither in the folder of the source nor in the folder of this mapping"
            raise UnusableInput(Problem("file-outside-folder", message, OUTSIDE_HINT, place))
        if path.is_file() and path.stat().st_size > _LARGEST:
            message = f"'{name}' is larger than {_LARGEST:,} bytes, the limit for files with entries"
            raise UnusableInput(Problem("limit-exceeded", message, "export fewer columns or rows", place))
        return path, str(path)


# --- what was sent, made again from the copies ---------------------------------------------------

ASKED = "asked.json"
"""In a run's folder: the questions of the job post, the formats of answers, and the version that made the answers."""


def keep_asked(questions: Iterable[Question], wire: WireFormat, folder: Path) -> None:
    """Save what the answers of a run depend on besides its file and its mapping; no personal data."""
    asked = [asdict(question) for question in questions]
    write_json(folder / ASKED, {"version": __version__, "wire": asdict(wire), "questions": asked})


def take_copy(copy: Path, folder: Path, path: str) -> Path:
    """A run's copy of a file, copied to a folder under the name that the file had. Raises UnusableInput."""
    return copy_source(copy, folder, stem=Path(path).stem).path


def asked_in(folder: Path) -> tuple[tuple[Question, ...], WireFormat, str]:
    """The questions of a run, the formats of answers, and the version that made them. Raises OSError, ValueError,
    KeyError, TypeError: they cannot be read.
    """
    asked = json.loads(read_private(folder / ASKED))
    wire = WireFormat(**{**asked["wire"], "yes_no": tuple(asked["wire"]["yes_no"])})
    questions = tuple(Question(**{**one, "options": tuple(one["options"])}) for one in asked["questions"])
    return questions, wire, asked["version"]


def resolve_again(folder: Path, manifest: RunManifest, sheet: Sheet) -> ResolvedMapping | None:
    """The mapping of a run, resolved as it was then, from its copies; with the folders of documents as they are now.

    None if the copies are missing, or another version of importer made the run: it may read a cell in another way.
    """
    try:
        questions, wire, version = asked_in(folder)
        if version != __version__:
            return None
        mapping = read_mapping(folder / manifest.mapping_copy)
        kept = {child.name: child for child in manifest.children}
        tables = {}
        for child in mapping.child_sources:
            copy = kept[child.file] if child.file else None
            path, name = (copy.copy, copy.shown_as) if copy else (manifest.source, manifest.file)
            tables[child] = open_sheet(folder / path, child.options, shown_as=name)
        today, documents = manifest.started_at.date(), _folders_now(manifest)
        return resolve(mapping, sheet.columns, questions, wire, tables, today, documents)
    except (OSError, ValueError, KeyError, TypeError, UnusableInput):
        return None


def _folders_now(manifest: RunManifest) -> dict[str, DocumentFolder]:
    """The folders of documents of a run that are still there: a row shows the path of its file in place of its ID."""
    found: dict[str, DocumentFolder] = {}
    for name, path in manifest.documents.items():
        if name != IDS_FILE:
            with suppress(*UNREADABLE):
                found[name] = DocumentFolder(Path(path), name)
                found[name].shows_paths = True
    return found
