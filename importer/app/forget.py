"""Removes one person from a results folder: copies of files, reports, rows of runs, drafts of the page."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile

from importer.app.cleanup import cannot_remove
from importer.app.connection import sandbox_memory
from importer.app.earlier_runs import EarlierRun, rewrite_report
from importer.app.run_log import LOG_FILE
from importer.files import INTERNAL
from importer.ledger import Ledger, open_existing_ledger
from importer.problems import Busy, UsageError
from importer.report import EDITS_FILE
from importer.runs.manifest import (
    MANIFEST,
    RunManifest,
    manifests_in,
    part_folders,
    read_manifest,
    whole_of,
    write_manifest,
)
from importer.runs.presences import Presences
from importer.runs.private_copies import ASKED
from importer.runs.results_folder import MARKER, folders_in, is_run_folder, refuse_untrusted, remove_folder
from importer.runs.run_report import rewrite_report as write_again
from importer.runs.table import TABLE, RunTable
from importer.settings import Settings

# Files of a run's folder without a cell of its source: the table is blanked, the log has row numbers.
_KEPT: Final = (MARKER, MANIFEST, ASKED, TABLE, LOG_FILE, "mapping", "questions")
_AGAIN: Final = "run importer forget again"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Person:
    """A person, by the e-mail address; texts and files are searched for it, whatever the case of its letters.

    Raises:
        UsageError: the text is not an e-mail address.
    """

    email: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", self.email):
            raise UsageError(f"{self.email!r} is not an e-mail address")

    def is_in(self, text: str) -> bool:
        """Whether a text has the address, and not only as a part of a longer one."""
        return re.search(self._pattern, text.casefold()) is not None

    @property
    def _pattern(self) -> str:
        return rf"(?<![\w.+-]){re.escape(self.email.casefold())}(?![\w-]|\.\w)"

    def is_in_file(self, path: Path) -> bool:
        """Whether a file has the address: a text in UTF-8 or UTF-16, a workbook or a page."""
        if not path.is_file() or path.is_symlink():
            return False
        # In an .xls the length of the next text follows, and may look like a letter.
        pattern = re.escape(self.email.casefold()) if path.suffix == ".xls" else self._pattern
        wanted = re.compile(pattern.encode())
        try:
            with ZipFile(path) as archive:
                return any(_has(archive.open(name), wanted) for name in archive.namelist())
        except BadZipFile:
            return _has(path.open("rb"), wanted)


def _has(stream: IO[bytes], wanted: re.Pattern[bytes]) -> bool:
    before = b""
    with stream:
        while chunk := stream.read(_CHUNK):
            text = before + chunk.lower()
            if wanted.search(text) or wanted.search(text.replace(b"\0", b"")):  # the latter is UTF-16
                return True
            before = text[-1000:]  # an address is shorter
    return False


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was done. rows: that were blanked, over all runs; running: runs that were skipped; outside: files elsewhere
    that have the address, such as the original; known: keyed hashes of the person in the ledger, removed or not.
    """

    rows: int
    running: tuple[str, ...]
    outside: tuple[str, ...]
    known: int
    notes: tuple[str, ...]


def find_person(settings: Settings, person: Person) -> tuple[Path, ...]:
    """The folders of drafts, and of runs without those of their targets, that have the address in a file; also of
    other runs of the same file, in which a cell of the person may have had another text.

    Raises:
        UnusableInput: others could change the results folder.
    """
    refuse_untrusted(settings)
    runs = {folder: manifest for folder, manifest in manifests_in(settings.out) if whole_of(folder) == folder}
    drafts = [folder for folder in folders_in(settings.out / INTERNAL) if is_run_folder(folder)]
    found = {folder for folder in (*runs, *drafts) if any(map(person.is_in_file, _files_of(folder)))}
    files = {runs[folder].sha256 for folder in found & runs.keys()}
    return tuple(folder for folder in (*runs, *drafts) if folder in found or _sha256(runs.get(folder)) in files)


def _sha256(manifest: RunManifest | None) -> str:
    return manifest.sha256 if manifest else ""


def _files_of(folder: Path) -> Iterator[Path]:
    """The files of a run and of its targets, or of a draft."""
    for each in (folder, *folder.parent.glob(f"{folder.name}.*")):
        yield from (Path(parent) / name for parent, _, names in os.walk(each) for name in names)


def forget(settings: Settings, person: Person, found: tuple[Path, ...], *, from_ledger: bool) -> Forgotten:
    """Remove a person from these folders, and from the sandbox.

    Copies of files and reports go, the person's rows are blanked in the tables of the runs, and the reports are written
    again from these. The ledger keeps keyed hashes, so that no one is entered twice; from_ledger: they go too.

    Raises:
        UnusableInput: a file cannot be removed.
    """
    from importer.sandbox import SandboxUnusable, forget  # only needed here

    blanked, running, outside, notes = 0, list[str](), dict[str, None](), list[str]()
    over: list[Path] = []
    own: dict[tuple[str, str], set[int]] = {}  # the person's rows, by file and sheet
    for folder in found:
        try:
            if folder.parent.name == INTERNAL:
                _remove_draft(folder, settings)
            elif _is_over(folder, settings):
                over.append(folder)
                outside |= dict.fromkeys(_outside(folder, person))
                for table, manifest in _tables_of(folder):
                    columns = next(iter(manifest.identity), ())
                    rows = own.setdefault((manifest.sha256, table.sheet.origin.sheet or ""), set())
                    rows |= table.rows_of_person(person.is_in, columns)
            else:
                remove_folder(folder)  # it was killed before it sent anything
        except Busy:
            running.append(folder.name)
        except OSError as error:
            raise cannot_remove(error, folder, _AGAIN) from None
    for folder in over:
        try:
            blanked += _forget_run(folder, person, own)
        except OSError as error:
            raise cannot_remove(error, folder, _AGAIN) from None
    try:
        forget(sandbox_memory(settings.out), lambda record: not person.is_in(record["email"]))
    except SandboxUnusable as error:
        notes += error.problems
    ledger = open_existing_ledger(settings.ledger_address)
    with ledger or nullcontext():
        known = _known(ledger, person, remove=from_ledger and not running) if ledger else 0
    return Forgotten(blanked, tuple(running), tuple(outside), known, tuple(notes))


def _remove_draft(folder: Path, settings: Settings) -> None:
    presences = Presences(settings.out)
    if folder.name in presences.runs() and not presences.is_abandoned(folder.name):
        raise Busy(folder.name)
    for path in folder.iterdir():  # remove_folder keeps what it cannot remove, without a word
        if path.is_file() and path.name != MARKER:
            path.unlink()
    remove_folder(folder)


def _outside(folder: Path, person: Person) -> Iterator[str]:
    """Files elsewhere that a run has read and that have the address: only a person may change those."""
    manifest = read_manifest(folder)
    names = (manifest.file, manifest.taken.file if manifest.taken else "", *(one.shown_as for one in manifest.children))
    for name in filter(None, names):
        if person.is_in_file(Path(name)):
            yield name


def _tables_of(folder: Path) -> Iterator[tuple[RunTable, RunManifest]]:
    """The tables of the runs of its targets, if it has several, and its own; each is closed after its turn."""
    for part in dict.fromkeys((*part_folders(folder, read_manifest(folder)), folder)):
        if (part / MANIFEST).is_file():  # else it never began
            with RunTable(part) as table:
                yield table, read_manifest(part)


def _forget_run(folder: Path, person: Person, own: dict[tuple[str, str], set[int]]) -> int:
    """Remove a person from a run and the runs of its targets; the number of rows that were blanked."""
    blanked = set[int]()
    for table, manifest in _tables_of(folder):
        rows = own[manifest.sha256, table.sheet.origin.sheet or ""]
        blanked |= table.blank_person(rows, person.is_in, read_manifest(folder).route_column)
        for path in table.path.parent.iterdir():
            if path.name == EDITS_FILE or not path.name.startswith(_KEPT):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        warnings = tuple(one for one in manifest.warnings if not person.is_in(one))
        write_manifest(table.path.parent, replace(manifest, warnings=warnings))
    write_again(folder)
    return len(blanked)


def _is_over(folder: Path, settings: Settings) -> bool:
    """Whether a run has ended. One that was killed after it began is ended first. Raises Busy if it is running."""
    manifest, presences = read_manifest(folder), Presences(settings.out)
    if manifest.ending is not None:
        return True
    if folder.name in presences.runs() and not presences.is_abandoned(folder.name):
        raise Busy(folder.name)
    try:
        rewrite_report(EarlierRun(str(folder), settings))
    except UsageError:
        return False
    return True


def _known(ledger: Ledger, person: Person, *, remove: bool) -> int:
    scopes = {record.scope for record in ledger.runs()}
    identities = [ledger.fingerprints.identity(scope, person.email) for scope in scopes]
    known = ledger.look_up(identities)
    if remove and known:
        ledger.forget_people(known)
        ledger.scrub()
    return len(known)
