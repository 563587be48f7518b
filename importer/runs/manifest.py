"""The manifest of a run (run.json in its folder): its inputs and its ending, from which it can be reported again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from importer.files import read_private, write_json
from importer.ledger import Scope
from importer.models import Route, SourceOptions, Stop, TakenFile, Target
from importer.problems import DamagedRun, StoppedEarly, UnusableInput, UsageError, file_problem
from importer.runs.results_folder import folders_in
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.text.terminal import command_line

MANIFEST = "run.json"
VERSION = 8


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. `finished` is False if it was stopped or killed."""

    at: datetime
    finished: bool
    exit_code: int | None
    stopped: Stop | None = None


@dataclass(frozen=True, slots=True)
class ChildCopy:
    """A file that entries are taken from: its name in the mapping, the name of its private copy in the folder, and its
    path in messages."""

    name: str
    copy: str
    sha256: str
    shown_as: str


@dataclass(frozen=True, slots=True)
class RunManifest:
    """The inputs of a run and, after its end, how it ended.

    file: the source as the user named it; source: the name of its private copy in the folder; mapping: the mapping file
    as the user named it; mapping_copy: the name of its private copy; service: the base URL, or `sandbox`; route: of a
    mapping of a folder;
    documents: the folders of documents, and the list of their IDs, each with its path, by the names in the mapping;
    rows: the number of selected rows, None until the source was read completely; blank_rows: blank lines between them;
    groups: the rows of each candidate with several rows, in order;
    flags: those of its command, with their values; taken: where the file is found, if an inbox has moved it; continues:
    the run that it continues; questions: the name of the private copy of the questions that a sandbox was started with;
    identity: the indexes of the columns of the e-mail, and those of the name; strict: rows with
    a warning are invalid, and a warning about the whole file stops the run before it sends.
    """

    run: str
    file: str
    source: str
    sha256: str
    options: SourceOptions
    selection: Selection
    mapping: str
    mapping_copy: str
    target: Target
    service: str
    dry_run: bool
    warnings: tuple[str, ...]
    started_at: datetime
    route: Route | None = None
    header_row: int = 1
    rows: int | None = None
    blank_rows: int = 0
    children: tuple[ChildCopy, ...] = ()
    documents: dict[str, str] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] = ()
    flags: dict[str, str] = field(default_factory=dict)
    taken: TakenFile | None = None
    continues: str | None = None
    questions: str | None = None
    identity: tuple[tuple[int, ...], ...] = ()
    strict: bool = False
    ending: Ending | None = None

    def read_to(self, rows: int, last_row: int) -> RunManifest:
        """The manifest with the number of rows that were read, and the last row number."""
        skipped = sum(self.header_row < number <= last_row for number in self.options.skip_rows)
        blank = max(last_row - self.header_row - rows - skipped, 0) if self.selection == ALL_ROWS else 0
        return replace(self, rows=rows, blank_rows=blank)

    @property
    def selected(self) -> Selection:
        """The rows of the run; of one that joins parts, those of all."""
        part = self.selection.part
        return ALL_ROWS if part is not None and not part.number else self.selection

    @property
    def scope(self) -> Scope:
        """The service and target of its rows, as in the ledger."""
        return Scope(self.service, self.target)

    @property
    def sandbox(self) -> bool:
        return self.service == "sandbox"

    def ended(self, ending: Ending) -> RunManifest:
        return replace(self, ending=ending)


def write_manifest(folder: Path, manifest: RunManifest) -> None:
    """Write the manifest atomically.

    Raises StoppedEarly: the folder cannot be written, usually because the disk is full.
    """
    values = _adapter().dump_python(manifest, mode="json")
    try:
        write_json(folder / MANIFEST, {**values, "version": VERSION})
    except OSError as error:
        raise StoppedEarly(
            f"{folder}: the results folder cannot be written ({error.strerror}). The ledger knows what was sent: "
            "free disk space, then run the same command again"
        ) from None


def read_manifest(folder: Path) -> RunManifest:
    """The manifest of a run's folder.

    Raises DamagedRun: it is missing, damaged, or from another version of importer.
    """
    try:
        return _manifest(json.loads(read_private(folder / MANIFEST)))
    except FileNotFoundError:
        message, hint = "this folder does not contain a run", "list the runs with: importer runs"
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        message, hint = f"the manifest of this run cannot be read: {reason}", "you can still open its CSV files"
    raise DamagedRun(file_problem("run-unreadable", message, hint, folder))


def _manifest(values: dict[str, Any]) -> RunManifest:
    if values.pop("version") != VERSION:
        raise ValueError("it was written by another version of importer")
    found = _adapter().validate_python(values)
    copies = [found.source, found.mapping_copy, *(child.copy for child in found.children)]
    _refuse_paths(found.run, *copies, *filter(None, [found.questions]))
    return found


@cache
def _adapter() -> TypeAdapter[RunManifest]:
    return TypeAdapter(RunManifest)


def _refuse_paths(*names: str) -> None:
    """Raise ValueError if a file name in a manifest points outside its folder."""
    for name in names:
        if name in ("", ".", "..") or {"/", "\\", "\0"} & set(name):
            raise ValueError(f"{name!r} is not a valid file name")


def manifests_in(out: Path) -> Iterator[tuple[Path, RunManifest]]:
    """The folders of all runs with a readable manifest, oldest first; `importer doctor` reports the others."""
    for folder in runs_in(out):
        with contextlib.suppress(UnusableInput, FileNotFoundError):
            found = (folder / MANIFEST).stat()
            yield folder, _read_once(folder, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=20_000)
def _read_once(folder: Path, *_: int) -> RunManifest:
    """The manifest of a folder, read again only after a change: a command looks through all runs several times."""
    return read_manifest(folder)


def runs_in(out: Path) -> list[Path]:
    """The folders of all runs in a results folder, oldest first."""
    return list(filter(is_run, folders_in(out)))


def find_run(out: Path, name: str) -> Path:
    """The folder of a run by its ID, the start of its ID, its path, or `last`.

    Raises UsageError: no run or several runs match.
    """
    direct = Path(name)
    if is_run(direct):
        return direct
    folders = runs_in(out)
    if name == "last" and folders:
        return folders[-1]
    found = [folder for folder in folders if folder.name.startswith(name)]
    meant = [folder for folder in found if folder.name == name] or found
    if len(meant) == 1:
        return meant[0]
    if found:
        raise UsageError(f"several runs start with {name!r}: {', '.join(folder.name for folder in found[:5])}")
    if not folders:
        raise UsageError(f"there are no runs in {out} yet; the first is made by importer check or importer run")
    runs = command_line("runs", flags={"--out": str(out)})
    raise UsageError(f"there is no run {name!r} in {out}; list the runs with: {runs}")


def is_run(folder: Path) -> bool:
    """Whether the folder contains a run."""
    return (folder / MANIFEST).is_file()
