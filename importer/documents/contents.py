"""What is in a document: its size, its kind by its first bytes, and its SHA-256."""

from __future__ import annotations

import hashlib
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final
from zipfile import BadZipFile

MOST_BYTES: Final = 100 * 1024 * 1024
UNREADABLE: Final = (OSError, BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)
"""What reading a file or an archive can raise; RuntimeError also for an unknown compression, ValueError for a name."""
_CHUNK: Final = 1 << 20
_HEAD: Final = 1024  # bytes; a PDF may begin with something else
# How the first member of a container of Word or another office program is named; that of any other .zip is not.
_OFFICE_MEMBERS: Final = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/", b"mimetype")
_WEB_PAGE: Final = re.compile(
    r"(?:\ufeff|\s|<!--.*?-->|<\?xml.*?\?>)*<(?:!doctype html|html|head|script)\b", re.IGNORECASE | re.DOTALL
)
_OF_WORD: Final = "schemas-microsoft-com:office"  # saves documents as HTML too
# Word and the others by the container that they are in.
_KINDS: Final[dict[bytes, str]] = {
    b"PK\x03\x04": "docx",
    b"\xd0\xcf\x11\xe0": "doc",
    b"{\\rtf": "rtf",
    b"\xff\xd8\xff": "jpg",
    b"\x89PNG": "png",
    b"GIF8": "gif",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a look into a file found. kind: `pdf`, `docx` (also odt), `doc`, `rtf`, `jpg`, `png`, `gif` or `txt`.

    problem: why it cannot be a document, after its name: `is empty`; "" if it can.
    """

    size: int
    kind: str
    sha256: str
    problem: str = ""


def look_into(open_file: Callable[[], IO[bytes]]) -> Contents:
    """Read a file once. Never raises for what it holds, or if it cannot be read."""
    size, digest, head = 0, hashlib.sha256(), b""
    try:
        with open_file() as file:
            while chunk := file.read(_CHUNK):
                head = head or chunk[:_HEAD]
                size += len(chunk)
                digest.update(chunk)
                if size > MOST_BYTES:  # also of a member of a .zip that says it is small
                    return Contents(size, "", "", f"is larger than {MOST_BYTES // 1024 // 1024} MB")
    except UNREADABLE as error:
        return Contents(0, "", "", f"cannot be read: {reason_of(error)}")
    kind = _kind(head)
    if kind == "docx" and not head[30:].startswith(_OFFICE_MEMBERS):
        kind = ""
    problem = "is empty" if not size else "" if kind else "is neither a document nor a picture, by its content"
    text = head.decode("utf-8", "replace") if kind == "txt" else ""
    if _WEB_PAGE.match(text) and _OF_WORD not in text:
        problem = "is a web page, perhaps one that asks to sign in"
    return Contents(size, kind, digest.hexdigest(), problem)


def reason_of(error: BaseException) -> str:
    """Why a file or an archive cannot be read, as a part of a sentence."""
    reason = str(getattr(error, "strerror", None) or str(error) or type(error).__name__)
    return reason[:1].lower() + reason[1:]


def _kind(head: bytes) -> str:
    before, is_pdf, _ = head.partition(b"%PDF-")
    if is_pdf and b"\0" not in before:
        return "pdf"
    for start, kind in _KINDS.items():
        if head.startswith(start):
            return kind
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(head) < _HEAD or error.start < _HEAD - 3:  # not only a letter that is cut at the end
            return ""
        text = head[: error.start].decode("utf-8")
    is_text = text.strip() and not any(ord(letter) < 32 and letter not in "\t\n\r\f" for letter in text)
    return "txt" if is_text else ""
