"""The source file: its type, by its extension and first bytes, and a private copy of it.

With a copy, a run does not depend on a file that may be open in a spreadsheet program.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import unicodedata
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from importer.files import open_private
from importer.problems import FilePlace, Problem, UnusableInput, unusable_file
from importer.sources.sheet import USUAL_LIMITS, FileKind, ReadingLimits

_ENDINGS = {
    ".csv": FileKind.CSV,
    ".tsv": FileKind.CSV,
    ".tab": FileKind.CSV,
    ".txt": FileKind.CSV,
    ".xlsx": FileKind.XLSX,
    ".xlsm": FileKind.XLSX,
    ".xls": FileKind.XLS,
}
_NOT_READ = (".xlsb", ".ods")
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DOCUMENTS = (b"%PDF", b"{\\rtf")  # both may begin with text alone
_HTML = (b"<!doctype html", b"<html", b"<table", b"<meta", b"<head")
_SAVE = "open it in a spreadsheet program and save it as .xlsx"
_UNPACK = "unpack it and give the path of the file in it"
_EXPORT = "export the table as .xlsx or .csv"


def kind_by_name(path: Path) -> FileKind | None:
    """The type that the extension of a file says; None if it is none that is read."""
    return _ENDINGS.get(path.suffix.lower())


def file_kind(path: Path, name: str, max_bytes: int) -> FileKind:
    """The type of a supported file of at most `max_bytes`. `name` is the file name for messages.

    Raises UnusableInput: the file does not exist, is a folder, empty or too large, has an unsupported extension, or
    contents of another type.
    """
    _require_file(path, name, max_bytes)
    if path.name.startswith("~$"):
        message = "this is not the workbook, but the mark of a program that has it open"
        raise unusable_file("file-format-unsupported", message, f"name the workbook: {path.name[2:]}", name)
    if (suffix := path.suffix.lower()) in _NOT_READ:
        raise UnusableInput(replace(_not_read(suffix), place=FilePlace(name)))
    kind = kind_by_name(path)
    if kind is None:
        ending = f"the file extension {path.suffix!r}" if path.suffix else "a file without an extension"
        hint = _UNPACK if suffix == ".zip" else f"save it as one of {' '.join(_ENDINGS)}"
        raise unusable_file("file-format-unsupported", f"{ending} is not supported", hint, name)
    if mismatch := _type_mismatch(path, kind):
        raise UnusableInput(replace(mismatch, place=FilePlace(name)))
    return kind


def _require_file(path: Path, name: str, max_bytes: int) -> None:
    """Check that a file exists, can be read, is not empty, and has at most so many bytes.

    Raises UnusableInput: it fails one of these checks, or is a folder, a pipe or a device.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            hint = "give the path of the file in it"
            raise unusable_file("file-unreadable", "this is a folder, not a file", hint, name)
        if not stat.S_ISREG(status.st_mode):
            hint = "save its output to a file"
            raise unusable_file("file-unreadable", "this is a pipe or a device, not a regular file", hint, name)
        if status.st_size == 0:
            raise unusable_file("file-empty", "the file is empty", "export it again", name)
        if status.st_size > max_bytes:
            message = f"the file has {status.st_size >> 20:,} MB; the limit is {max_bytes >> 20:,} MB"
            hint = "check that it is the right file; split one that is"
            raise unusable_file("limit-exceeded", message, hint, name)
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        hint = "save standard input to a file, and name that" if name == "-" else "check the path"
        raise unusable_file("file-not-found", "the file does not exist", hint, name) from None
    except PermissionError:
        hint = "close the program that has it open, or change its permissions"
        raise unusable_file("file-unreadable", "you do not have permission to read this file", hint, name) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise unusable_file("file-unreadable", message, "check the path and the disk", name) from None


def _type_mismatch(path: Path, kind: FileKind) -> Problem | None:
    """The problem, without its place, of a file whose contents do not match its extension."""
    with path.open("rb") as file:
        head = file.read(4096)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(_HTML):
        return Problem("file-format-unsupported", "this is a web page, not a spreadsheet", _SAVE)
    if start.startswith(b"<?xml") and b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        return Problem("file-format-unsupported", "this is an Excel 2003 XML file, which is not supported", _SAVE)
    if head.startswith(_DOCUMENTS):
        return Problem("file-not-a-table", "this is a document, not a table", _EXPORT)
    if head.startswith(_OLE):
        return _ole_mismatch(path, kind)
    if head.startswith(_ZIP):
        return _zip_mismatch(path, kind)
    if kind is FileKind.CSV:
        return Problem("file-not-a-table", "this is binary data, not text", _EXPORT) if _is_binary(head) else None
    hint = f"{_SAVE}; a text file needs the extension .csv"
    return Problem("file-format-unsupported", "this is not a workbook, although its extension says so", hint)


def _ole_mismatch(path: Path, kind: FileKind) -> Problem | None:
    with path.open("rb") as file:
        encrypted = _ENCRYPTED in file.read(4 << 20)
    if encrypted:
        hint = "open it with its password and save it without a password"
        return Problem("workbook-encrypted", "the workbook is protected with a password", hint)
    return None if kind is FileKind.XLS else _misnamed(FileKind.XLS)


def _zip_mismatch(path: Path, kind: FileKind) -> Problem | None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.replace("\\", "/").lstrip("/").lower() for member in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Problem(
            "workbook-damaged", "the workbook is damaged: its zip archive cannot be read", "save or copy it again"
        )
    if "xl/workbook.bin" in members:
        return _not_read(".xlsb")
    if members & {"[content_types].xml", "xl/workbook.xml"}:
        return None if kind is FileKind.XLSX else _misnamed(FileKind.XLSX)
    if "content.xml" in members:
        return _not_read(".ods")
    return Problem("file-not-a-table", "this is a zip archive, not a workbook", _UNPACK)


def _not_read(ending: str) -> Problem:
    return Problem("file-format-unsupported", f"this is an {ending} file, which is not read", _SAVE)


def _misnamed(kind: FileKind) -> Problem:
    hint = f"rename it with the extension .{kind.lower()}"
    return Problem("file-extension-wrong", f"the extension is wrong: this is an {kind} workbook", hint)


# --- by the first bytes -----------------------------------------------------------------------------


# Beside blanks: bell, escape, and the line breaks of word processors and databases (VT, and GS of repeated fields).
_TEXT = bytes({7, 8, 9, 10, 11, 12, 13, 27, 29, *range(0x20, 0x100)} - {0x7F})
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8, codecs.BOM_UTF32_BE)
_MAX_CONTROLS = 0.05  # share of control characters in a text


def _is_binary(head: bytes) -> bool:
    """Whether bytes are not text in any encoding: many control characters, and not UTF-16 without a mark."""
    if head.startswith(_MARKS):
        return False
    controls = len(head.translate(None, _TEXT))
    is_text = controls <= _MAX_CONTROLS * len(head)
    return not is_text and not any(_reads_as(head, codec) for codec in ("utf-16-le", "utf-16-be"))


def _reads_as(head: bytes, codec: str) -> bool:
    """Whether bytes are text in a UTF-16 codec; the last character may be cut."""
    text = head[: len(head) // 4 * 4 - 2].decode(codec, "replace")
    invalid = sum(1 for one in text if one == "\ufffd" or unicodedata.category(one) in ("Cn", "Co", "Cs"))
    return invalid <= _MAX_CONTROLS * len(text)


# --- the private copy ---------------------------------------------------------------------------


_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """The path of the copy, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str


def copy_source(
    path: Path, folder: Path, limits: ReadingLimits = USUAL_LIMITS, *, stem: str = "source", shown_as: str | None = None
) -> SourceCopy:
    """Copy `path` to `folder/<stem>.<extension>`, readable by its owner only, and hash it.

    shown_as: the name for messages, if it is not the path.

    Raises UnusableInput: the file cannot be read, or it changed while it was copied.
    """
    name = shown_as if shown_as is not None else str(path)
    _require_file(path, name, limits.source)
    with path.open("rb") as source:
        before = os.fstat(source.fileno())
        # One byte more shows that the file grew, and a file that keeps growing is not copied for ever.
        copy = _copied(source, folder / f"{stem}{path.suffix.lower()}", before.st_size + 1)
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        copy.path.unlink()
        hint = "close the program that writes to it, then run the same command again"
        raise unusable_file("file-changed", "the file changed while it was being read", hint, name)
    return copy


def share_copy(copy: SourceCopy, folder: Path) -> SourceCopy:
    """The same private copy in another folder: a hard link, or a second copy where the disk has no links."""
    shared = folder / copy.path.name
    try:
        os.link(copy.path, shared)
    except OSError:
        with copy.path.open("rb") as source:
            return _copied(source, shared)
    return SourceCopy(shared, copy.sha256)


def _copied(source: IO[bytes], target: Path, limit: int | None = None) -> SourceCopy:
    """A copy of the source, or of its first bytes up to a limit."""
    digest = hashlib.sha256()
    left = limit
    with os.fdopen(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as copy:
        while block := source.read(_BLOCK if left is None else min(left, _BLOCK)):
            digest.update(block)
            copy.write(block)
            left = left - len(block) if left is not None else None
    return SourceCopy(target, digest.hexdigest())
