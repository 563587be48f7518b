"""The file that is read: what it is, by its ending and its first bytes; and a private copy of it.

With a copy, a run does not depend on somebody's open spreadsheet.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import sys
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from importer.atomic_files import open_private
from importer.extract.sheet import FileKind, ReadingLimits
from importer.problems import FilePlace, Problem, UnusableInput

_ENDINGS = {
    ".csv": FileKind.CSV,
    ".tsv": FileKind.CSV,
    ".tab": FileKind.CSV,
    ".txt": FileKind.CSV,
    ".xlsx": FileKind.XLSX,
    ".xlsm": FileKind.XLSX,
    ".xlsb": FileKind.XLSB,
    ".xls": FileKind.XLS,
    ".ods": FileKind.ODS,
}
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_HTML = (b"<!doctype html", b"<html", b"<table", b"<meta", b"<head")
_SAVE = "open it in a spreadsheet program and save it as .xlsx"


def file_kind(path: Path, name: str, most: int) -> FileKind:
    """The kind of a file that can be read. `name` is how the person knows the file, `most` the bytes it may have.

    Raises:
        UnusableInput: no such file, a folder, a file that is empty or too large, an ending we do not read, or contents
            of another kind.
    """
    _require_file(path, name, most)
    kind = _ENDINGS.get(path.suffix.lower())
    if kind is None:
        ending = f"the file extension {path.suffix!r}" if path.suffix else "a file without an extension"
        raise _unusable(
            name, "file-extension-unsupported", f"{ending} is not supported", f"save it as one of {' '.join(_ENDINGS)}"
        )
    problem = _type_mismatch(path, name, kind)
    if problem:
        raise UnusableInput(problem)
    return kind


def _require_file(path: Path, name: str, most: int) -> None:
    """Check that a file is there and holds something, and at most so many bytes.

    Raises:
        UnusableInput: no such file, a folder, a pipe or a device, empty or too large, or no right to read it.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise _unusable(name, "file-is-folder", "this is a folder, not a file", "give the path of the file in it")
        if not stat.S_ISREG(status.st_mode):
            hint = "save its output to a file, or pipe it into the command and give - as the file"
            raise _unusable(name, "file-not-regular", "this is a pipe or a device, not a regular file", hint)
        if status.st_size == 0:
            raise _unusable(name, "file-empty", "the file is empty", "export it again")
        if status.st_size > most:
            message = f"the file has {status.st_size >> 20:,} MB; the limit is {most >> 20:,} MB"
            hint = "check that it is the right file, or raise IMPORTER_SOURCE_MEGABYTES"
            raise _unusable(name, "file-too-large", message, hint)
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last of a name with a NUL
        raise _unusable(name, "file-not-found", "the file does not exist", "check the path") from None
    except PermissionError:
        raise _unusable(
            name,
            "file-unreadable",
            "you do not have permission to read this file",
            "close the program that has it open, or change its permissions",
        ) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise _unusable(name, "file-unreadable", message, "check the path and the disk") from None


def _type_mismatch(path: Path, name: str, kind: FileKind) -> Problem | None:
    """The problem of a file whose contents are not what its ending says."""
    head = _head(path)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(_HTML):
        return _problem(name, "file-is-html", "this is a web page, not a spreadsheet", _SAVE)
    if start.startswith(b"<?xml") and b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        return _problem(name, "file-is-xml", "this is an Excel 2003 XML file, which is not supported", _SAVE)
    if (known := _known_kind(head)) is not None:
        return _problem(name, "file-not-a-table", f"this is {known}, not a table", "export the table as .xlsx or .csv")
    if head.startswith(_OLE):
        return _ole_problem(path, name, kind)
    if head.startswith(_ZIP):
        return _zip_problem(path, name, kind)
    if kind is FileKind.CSV:
        hint = "export the table as .xlsx or .csv"
        return _problem(name, "file-not-a-table", "this is binary data, not text", hint) if _is_binary(head) else None
    hint = f"{_SAVE}; a text file needs the extension .csv"
    return _problem(name, "file-not-a-workbook", "this is not a workbook, although its extension says so", hint)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


def _ole_problem(path: Path, name: str, kind: FileKind) -> Problem | None:
    with path.open("rb") as file:
        encrypted = _ENCRYPTED in file.read(4 << 20)
    if encrypted:
        hint = "open it with its password and save it without a password"
        return _problem(name, "workbook-encrypted", "the workbook is protected with a password", hint)
    return None if kind is FileKind.XLS else _misnamed(name, FileKind.XLS)


def _zip_problem(path: Path, name: str, kind: FileKind) -> Problem | None:
    try:
        with zipfile.ZipFile(path) as archive:
            found = _zip_kind({member.replace("\\", "/").lstrip("/").lower() for member in archive.namelist()})
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        message = "the workbook is damaged: its zip archive cannot be read"
        return _problem(name, "workbook-damaged", message, "save or copy it again")
    if found is None:
        return _problem(
            name,
            "file-is-zip",
            "this is a zip archive, not a workbook",
            "unpack it and give the path of the file in it",
        )
    return None if found is kind else _misnamed(name, found)


def _zip_kind(members: set[str]) -> FileKind | None:
    if "[content_types].xml" in members:
        return FileKind.XLSB if "xl/workbook.bin" in members else FileKind.XLSX
    return FileKind.ODS if "content.xml" in members else None


def _misnamed(name: str, kind: FileKind) -> Problem:
    hint = f"rename it with the extension .{kind.lower()}"
    return _problem(name, "file-extension-wrong", f"the extension is wrong: this is an {kind} workbook", hint)


def _problem(name: str, code: str, message: str, hint: str) -> Problem:
    return Problem(code, message, hint, FilePlace(name))


def _unusable(name: str, code: str, message: str, hint: str) -> UnusableInput:
    return UnusableInput(_problem(name, code, message, hint))


# --- by the first bytes -----------------------------------------------------------------------------


_TEXT_AND_BELL = bytes({7, 8, 9, 10, 12, 13, 27, *range(0x20, 0x100)} - {0x7F})
# By their first bytes; the longer before the shorter that begins alike.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"\x7fELF", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x1f\x8b", "a file packed with gzip"),
    (b"BZh", "a file packed with bzip2"),
    (b"\xfd7zXZ\x00", "a file packed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"{\\rtf", "a rich text document"),
)
_PICTURES_IN_BOXES = (b"ftyp",)  # at 4: HEIC pictures and MP4 films
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8, codecs.BOM_UTF32_BE)
_STRANGE = 0.05  # of a text, so many are never control characters


def _known_kind(head: bytes) -> str | None:
    """What a file is that begins so, in words; None where it may be a table.

    >>> _known_kind(b"%PDF-1.7"), _known_kind(b"Name,City")
    ('a PDF', None)
    """
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[4:8] in _PICTURES_IN_BOXES:
        return "a video or a phone picture"
    if head.startswith(b"RIFF") and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "a picture, video or audio file"
    if head.startswith(b"MZ") and b"\0" in head:
        return "a program"
    return None


def _is_binary(head: bytes) -> bool:
    """Whether bytes are no text in any encoding: full of control characters, and not letters of two bytes each."""
    if head.startswith(_MARKS):
        return False
    strange = len(head.translate(None, _TEXT_AND_BELL))
    return strange > _STRANGE * len(head) and not any(_reads_as(head, codec) for codec in ("utf-16-le", "utf-16-be"))


def _reads_as(head: bytes, codec: str) -> bool:
    """Whether bytes are text in an encoding of two bytes a letter; the last may be cut."""
    text = head[: len(head) // 4 * 4 - 2].decode(codec, "replace")
    senseless = sum(1 for one in text if one == "\ufffd" or unicodedata.category(one) in ("Cn", "Co", "Cs"))
    return senseless <= _STRANGE * len(text)


# --- the private copy ---------------------------------------------------------------------------


STANDARD_INPUT = "-"  # the name by which a person asks for it
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """Where the copy lies, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str


def copy_source(path: Path, folder: Path, limits: ReadingLimits, stem: str = "source") -> SourceCopy:
    """Copy `path` to `folder/<stem>.<ending>`, readable by its owner only, and hash it on the way.

    `-` is standard input, and taken for a CSV; what gives more than its limit is taken for a stream that never ends.

    Raises:
        UnusableInput: the file cannot be read, it changed while it was copied, or standard input goes on and on.
    """
    if str(path) == STANDARD_INPUT:
        return _copied_input(folder / f"{stem}.csv", limits.standard_input)
    _require_file(path, str(path), limits.source)
    with path.open("rb") as source:
        before = os.fstat(source.fileno())
        # One byte more shows that the file grew; one that goes on growing would never be copied.
        copy = _copied(source, folder / f"{stem}{path.suffix.lower()}", before.st_size + 1)
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        copy.path.unlink()
        hint = "close the program that writes to it, then run the same command again"
        raise _unusable(str(path), "file-changed", "the file changed while it was being read", hint)
    return copy


def share_copy(copy: SourceCopy, folder: Path) -> SourceCopy:
    """The same private copy in another folder too: one file under two names where the disk can do that."""
    shared = folder / copy.path.name
    try:
        os.link(copy.path, shared)
    except OSError:
        with copy.path.open("rb") as source:
            return _copied(source, shared)
    return SourceCopy(shared, copy.sha256)


def replace_copy(copy: SourceCopy, content: IO[bytes]) -> SourceCopy:
    """The same copy with another content."""
    return _copied(content, copy.path)


def _copied_input(target: Path, limit: int) -> SourceCopy:
    if sys.stdin is None:  # Python's sign of one that is closed
        hint = "pipe a CSV into the command, or give the path of a file"
        raise _unusable("standard input", "standard-input-closed", "it is closed", hint)
    copy = _copied(sys.stdin.buffer, target, limit)
    if sys.stdin.buffer.read(1):
        copy.path.unlink()
        hint = "save it to a file and import that, or raise IMPORTER_STANDARD_INPUT_MEGABYTES"
        raise _unusable(
            "standard input", "standard-input-too-large", f"it has more than {limit:,} bytes, which is the limit", hint
        )
    return copy


def _copied(source: IO[bytes], target: Path, limit: int | None = None) -> SourceCopy:
    """A copy of all that the source gives, or of its first bytes up to a limit."""
    digest = hashlib.sha256()
    left = limit
    with os.fdopen(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as copy:
        while block := source.read(_BLOCK if left is None else min(left, _BLOCK)):
            digest.update(block)
            copy.write(block)
            left = left - len(block) if left is not None else None
    return SourceCopy(target, digest.hexdigest())
