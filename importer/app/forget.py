"""Removes one person from a results folder: copies of files, reports, rows of runs, drafts of the page."""

from __future__ import annotations

import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile

from importer.app.cleanup import cannot_remove, may_have_started
from importer.app.earlier_runs import end_killed
from importer.app.run_log import LOG_FILE
from importer.files import INTERNAL
from importer.ledger import Ledger, ledger_name, open_existing_ledger
from importer.models import OutcomeKind
from importer.problems import Busy, StoppedEarly, UnusableInput, UsageError, unusable_file
from importer.report.outcomes import csv_file
from importer.runs.manifest import MANIFEST, read_manifest, write_manifest
from importer.runs.presences import Presences
from importer.runs.private_copies import ASKED
from importer.runs.results_folder import MARKER, folders_in, is_run_folder, refuse_untrusted, remove_folder
from importer.runs.run_report import rewrite_report
from importer.runs.table import TABLE, RunTable
from importer.settings import Settings
from importer.store.lock import is_free

# Of a run's folder: files of its report, and files without a row of its source; the table is blanked.
_KEPT: Final = (MARKER, MANIFEST, ASKED, TABLE, LOG_FILE, "mapping", "questions")
_REPORT: Final = {"summary", "report", *(csv_file(kind).partition(".")[0] for kind in OutcomeKind)}
_AGAIN: Final = "run importer forget again"
_IN_XML: Final = {"&": b"&amp;", "'": b"&apos;"}
_CHUNK: Final = 1 << 20
_ENCODINGS: Final = ("utf-8", "cp1254", "cp1252", "cp1250")  # of letters that are not ASCII


@dataclass(frozen=True)
class Person:
    """A person, by the e-mail address; texts and files are searched for it, whatever the case of its letters.

    Raises UsageError: the text is not an e-mail address.
    """

    email: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", self.email):
            raise UsageError(f"{self.email!r} is not an e-mail address")

    def is_in(self, text: str) -> bool:
        """Whether a text has the address, and not only as a part of a longer one."""
        return "@" in text and self._in_text.search(text.casefold()) is not None

    @cached_property
    def _in_text(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w.+-]){re.escape(self.email.casefold())}(?![\w-]|\.\w)")

    def is_in_file(self, path: Path) -> bool:
        """Whether a file has the address: a text, a workbook or a page."""
        if not path.is_file() or path.is_symlink():
            return False
        # In an .xls the length of the next text follows, and may look like a letter.
        wanted = self._in_bytes(whole=path.suffix.lower() != ".xls")
        try:
            with ZipFile(path) as archive:
                return any(_has(archive.open(name), wanted) for name in archive.namelist())
        except (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError):  # none, or damaged
            return _has(path.open("rb"), wanted)

    def _in_bytes(self, *, whole: bool) -> re.Pattern[bytes]:
        forms = [
            b"".join(b"(?:" + b"|".join(_forms(character, encoding)) + b")" for character in self.email)
            for encoding in _ENCODINGS
        ]
        wanted = b"(?:" + b"|".join(dict.fromkeys(forms)) + b")"
        return re.compile(rb"(?<![\w.+-])" + wanted + rb"(?![\w-]|\.\w)" if whole else wanted)


def _forms(character: str, encoding: str) -> Iterator[bytes]:
    if character in _IN_XML:
        yield _IN_XML[character]
    for form in dict.fromkeys((character, character.lower(), character.upper(), character.casefold())):
        yield re.escape(form.encode(encoding, "ignore"))


def _has(stream: IO[bytes], wanted: re.Pattern[bytes]) -> bool:
    before = b""
    with stream:
        while chunk := stream.read(_CHUNK):
            text = before + chunk
            if wanted.search(text) or wanted.search(text.replace(b"\0", b"")):  # the latter is UTF-16
                return True
            before = text[-1000:]  # an address is shorter
    return False


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was done. rows: that were blanked, over all runs; outside: files elsewhere that have the address, such as
    the original; left: what of the results folder could not be changed, and why; known: keyed hashes of the person in
    the ledger, removed or not.
    """

    rows: int
    outside: tuple[Path, ...]
    left: tuple[str, ...]
    known: int


def find_person(settings: Settings, person: Person) -> tuple[Path, ...]:
    """The folders of drafts and runs that have the address in a file; also of other runs of the same file, in which a
    cell of the person may have had another text.

    Raises UnusableInput: others could change the results folder, or a file cannot be read.
    """
    refuse_untrusted(settings)
    folders = [*filter(is_run_folder, (*folders_in(settings.out), *folders_in(settings.out / INTERNAL)))]
    try:
        found = {folder for folder in folders if any(map(person.is_in_file, _files_of(folder)))}
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        hint = f"get permission to read it, then {_AGAIN}"
        raise unusable_file("file-unreadable", message, hint, error.filename or settings.out) from None
    files = {_sha256(folder) for folder in found} - {""}
    return tuple(folder for folder in folders if folder in found or _sha256(folder) in files)


def _files_of(folder: Path) -> Iterator[Path]:
    return (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)


def _sha256(folder: Path) -> str:
    """Of the file of a run; "" of a draft, and of a run that cannot be read."""
    try:
        return read_manifest(folder).sha256
    except UnusableInput:
        return ""


def forget(settings: Settings, person: Person, found: tuple[Path, ...], *, from_ledger: bool) -> Forgotten:
    """Remove a person from these folders.

    The person's rows are blanked in the tables of the runs, the reports are written again from these, and copies of
    files go. The ledger keeps keyed hashes, so that no one is entered twice; from_ledger: they go too.

    Raises:
        Busy: one of the runs is running, and nothing was removed; or another run holds a target, and the hashes stay.
        UnusableInput: a file cannot be removed.
    """
    left, outside, over = list[str](), list[Path](), list[Path]()
    own: dict[tuple[str, str], set[int]] = {}  # the person's rows, by file and sheet
    with open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        for folder in found:
            _refuse_running(folder, settings)
        for folder in found:
            try:
                if _is_over(folder, settings, ledger):
                    has_rows = _find_own_rows(folder, person, own)
                    over.insert(len(over) if has_rows else 0, folder)
                else:
                    remove_folder(folder)
            except (UsageError, UnusableInput, StoppedEarly) as error:
                reason = error.problems[0].message if isinstance(error, UnusableInput) else str(error)
                left.append(f"{folder}: {reason}; when you do not need its report any more, delete the folder")
            except OSError as error:
                raise cannot_remove(error, folder, _AGAIN) from None
        blanked = 0
        # Those that show which rows are the person's come last: if this is killed, the next time knows the rows again.
        for folder in over:
            outside += _outside(folder, person)
            try:
                blanked += _forget_run(folder, person, own)
            except OSError as error:
                raise cannot_remove(error, folder, _AGAIN) from None
            left += (f"{path}: it still has the address" for path in _files_of(folder) if person.is_in_file(path))
        known = _known(ledger, person, remove=from_ledger) if ledger else 0
    return Forgotten(blanked, tuple(dict.fromkeys(outside)), tuple(left), known)


def _refuse_running(folder: Path, settings: Settings) -> None:
    """Raise Busy if the process of a run, or of a copy, is alive."""
    presences = Presences(settings.out)
    if folder.name in presences.runs() and not presences.is_abandoned(folder.name):
        raise Busy(f"{folder.name} is running, and nothing was removed; {_AGAIN} when it has ended")
    lock = settings.out / INTERNAL / f"{folder.name}.lock"  # of parts that are being joined
    if lock.exists() and not is_free(lock):
        raise Busy(f"the report of {folder.name} is being written, and nothing was removed; {_AGAIN} after that")


def _is_over(folder: Path, settings: Settings, ledger: Ledger | None) -> bool:
    """Whether a run has a report. One that was killed while it was sending is ended first.

    Raises:
        UsageError: it was killed, and sent rows with another ledger.
        UnusableInput, StoppedEarly: its files are damaged, or are those of another version of importer.
    """
    if folder.parent.name == INTERNAL or not may_have_started(folder, ledger):
        return False
    manifest = read_manifest(folder)
    if ledger is None and manifest.ending is None:
        raise UsageError(f"it was killed, and its ledger is not {ledger_name(settings.ledger_address)}")
    end_killed(folder, manifest, settings)
    return True


def _outside(folder: Path, person: Person) -> Iterator[Path]:
    """Files elsewhere that a run has read and that have the address: only a person may change those."""
    manifest = read_manifest(folder)
    names = (manifest.file, *(one.shown_as for one in manifest.children))
    paths = [place / name for place in (Path(), folder.parent.parent) for name in names]
    if manifest.taken is not None:  # inbox/attention/<folder>/<file>, or below done/ by now
        taken, *_, inbox = Path(manifest.taken.file).parents[:3]
        paths += [path for place in ("working", "done", "attention") for path in (inbox / place / taken.name).glob("*")]
    for path in dict.fromkeys(path.resolve() for path in paths):
        with suppress(OSError):  # not ours, and perhaps not for our eyes
            if person.is_in_file(path):
                yield path


def _find_own_rows(folder: Path, person: Person, own: dict[tuple[str, str], set[int]]) -> bool:
    """Add the person's rows that the table of a run shows; returns whether there are any."""
    manifest = read_manifest(folder)
    with RunTable(folder) as table:
        found = table.rows_of_person(person.is_in, next(iter(manifest.identity), ()))
        own.setdefault((manifest.sha256, table.sheet.origin.sheet or ""), set()).update(found)
    return bool(found)


def _forget_run(folder: Path, person: Person, own: dict[tuple[str, str], set[int]]) -> int:
    """Remove a person from a run; the number of rows that were blanked."""
    manifest = read_manifest(folder)
    with RunTable(folder) as table:
        blanked = table.blank_person(own[manifest.sha256, table.sheet.origin.sheet or ""], person.is_in)
    warnings = tuple(one for one in manifest.warnings if not person.is_in(one))
    write_manifest(folder, replace(manifest, warnings=warnings))
    rewrite_report(folder)
    # What has the address goes last, so that after a kill the rest is found again.
    for path in sorted(folder.iterdir(), key=person.is_in_file):
        if not (path.name.split(".")[0] in _REPORT or path.name.startswith(_KEPT)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return len(blanked)


def _known(ledger: Ledger, person: Person, *, remove: bool) -> int:
    """How many keyed hashes of the person there are; remove: under the locks of their targets, or Busy."""
    count = 0
    for scope in {record.scope for record in ledger.runs()}:
        identity = ledger.fingerprints.identity(scope, person.email)
        if ledger.look_up([identity]):
            count += 1
            with ledger.lock_target(scope) if remove else nullcontext():
                if remove:
                    ledger.forget_people([identity])
    if count and remove:
        ledger.scrub()
    return count
