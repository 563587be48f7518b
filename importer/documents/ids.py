"""documents.csv: the files that rows name, and the document ID of each, which a person fills in after the upload."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from importer.documents.folder import DocumentFolder
from importer.files import write_private
from importer.problems import FilePlace, LinePlace, Place, Problem, UnusableInput

IDS_FILE: Final = "documents.csv"
HEADER: Final = ("file", "rows", "kind", "size", "sha256", "service", "document_id")
_ID: Final = re.compile(r"(?=.*\d)[0-9A-Za-z_.:=+~-]{1,200}", re.ASCII)
# As a spreadsheet program shows numbers that it has changed.
_ROUNDED: Final = re.compile(r"\d+[.,][\d.,]*(?:E\+?\d+)?|\d+E\+?\d+", re.ASCII | re.IGNORECASE)
_SHA256: Final = re.compile("[0-9a-f]{64}")
_TOO_MANY: Final = "\0"  # in place of a name: what is in cells behind the named ones
_MOST_PROBLEMS: Final = 20
_BETWEEN: Final = " | "  # names of files with one content


def read_ids(path: Path, service: str = "") -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """The document IDs by the SHA-256 of their files, and the files that are named beside it; {} if there is no list.

    An ID belongs to a content, and to a service: after a file was replaced, its old ID is not used for it. service:
    the address of the one that gets the IDs, "" for the sandbox or if it does not matter. Only the columns for these
    are read, so the list may be saved by any program, in any of its encodings.

    Raises UnusableInput: it is no such list, is of another service, or has two IDs for one content; with every problem.
    """
    found: dict[str, str] = {}
    files: dict[str, str] = {}  # the content that each ID belongs to
    named: dict[str, frozenset[str]] = {}
    problems = []
    for line, one in _lines(path):
        sha256, of_service, given = one["sha256"].lower(), one.get("service", ""), one["document_id"]
        place = LinePlace(str(path), line)
        number = given.removesuffix(".0")  # of a spreadsheet program
        if _TOO_MANY in one:
            problems.append(_problem("has more cells in this line than in its first", place))
            continue
        if not _SHA256.fullmatch(sha256):
            problems.append(_problem(f"has the ID {given[:80]} beside '{sha256[:80]}', which is not a SHA-256", place))
            continue
        if not _ID.fullmatch(number) or _ROUNDED.fullmatch(number):
            problems.append(_problem(f"has '{given[:80]}', which is not a document ID", place))
            continue
        if service and of_service not in ("", service):
            raise UnusableInput(_of_another_service(of_service, service, place))
        named[sha256] = frozenset(filter(None, one.get("file", "").split(_BETWEEN)))
        if found.setdefault(sha256, number) != number:
            problems.append(_problem(f"has two document IDs for one content: {found[sha256]} and {number}", place))
        elif files.setdefault(number, sha256) != sha256:
            problems.append(_problem(f"has the document ID {number} for two different files", place))
    if problems:
        raise UnusableInput(problems[:_MOST_PROBLEMS])
    return found, named


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each line with an ID: its number, and its cells by the names in the first line."""
    if path.exists() and not path.is_file():
        raise UnusableInput(_problem("is not a regular file", FilePlace(str(path))))
    try:
        text = _decoded(path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnusableInput(_problem(f"cannot be read: {error.strerror}", FilePlace(str(path)))) from None
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("sep=")), "")
    lines = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    header: list[str] = []
    try:
        for cells in lines:
            named = [name.strip().lower() for name in cells]
            if not header and not {"sha256", "document_id"} <= {*named}:
                if any(named) and not named[0].startswith("sep="):
                    break
            elif not header:
                header = named
            else:
                texts = [cell.strip().removeprefix("'") for cell in cells]
                one = dict(zip(header, texts + [""] * len(header), strict=False))
                if any(texts[len(header) :]):
                    one[_TOO_MANY] = texts[-1]
                if one["document_id"]:
                    yield lines.line_num, one
    except csv.Error:
        header = []
    if not header:
        what = "has no columns sha256 and document_id in its first line"
        raise UnusableInput(_problem(what, FilePlace(str(path))))


def _decoded(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # hashes and IDs are ASCII


def service_of(path: Path) -> str:
    """The service whose IDs a list has; "" if it names none, or there is no list."""
    return next((service for _, one in _lines(path) if (service := one.get("service", ""))), "")


def _problem(what: str, place: Place) -> Problem:
    hint = "correct it; or rename the file, and write a new list with importer documents list"
    return Problem("document-ids-invalid", f"the list of document IDs {what}", hint, place)


def _of_another_service(theirs: str, ours: str, place: Place) -> Problem:
    message = f"the list of document IDs is of {theirs}, and not of {ours}: its IDs are other documents here"
    hint = "rename the file, and write a list for this service with importer documents list"
    return Problem("document-ids-invalid", message, hint, place)


def write_ids(path: Path, folders: Sequence[DocumentFolder], service: str) -> None:
    """Write the list of the documents of rows, a line for each content, with the IDs that are known.

    Raises OSError: it cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    ids = {sha256: known for folder in folders for sha256, known in folder.ids.items()}
    names: dict[str, list[str]] = {}
    rows: dict[str, list[int]] = {}
    kinds: dict[str, tuple[str, int]] = {}
    for folder in folders:
        for name, users in sorted(folder.users.items()):
            one = folder.contents.get(name)
            if one is not None and not one.problem:
                names.setdefault(one.sha256, []).append(f"{folder.shown_as.rstrip('/')}/{name}")
                rows.setdefault(one.sha256, []).extend(users.values())
                kinds[one.sha256] = one.kind, one.size
    for sha256, files in names.items():
        shown = _BETWEEN.join(dict.fromkeys(files)), " ".join(map(str, sorted({*rows[sha256]})))
        writer.writerow((*shown, *kinds[sha256], sha256, service, ids.pop(sha256, "")))
    for sha256, known in ids.items():  # of files that no row names now: a person has typed them
        writer.writerow(("", "", "", "", sha256, service, known))
    write_private(path, text.getvalue().encode("utf-8-sig", "backslashreplace"))
