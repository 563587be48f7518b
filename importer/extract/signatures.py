"""What a file that is no table is, by its first bytes: whatever its ending says, a person must be told."""

from __future__ import annotations

import codecs
import unicodedata

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


def known_kind(head: bytes) -> str | None:
    """What a file is that begins so, in words; None where it may be a table.

    >>> known_kind(b"%PDF-1.7"), known_kind(b"Name,City")
    ('a PDF', None)
    """
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[4:8] in _PICTURES_IN_BOXES:
        return "a film or a picture of a phone"
    if head.startswith(b"RIFF") and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "a picture, a film or a sound"
    if head.startswith(b"MZ") and b"\0" in head:
        return "a program"
    return None


def is_binary(head: bytes) -> bool:
    """Whether bytes are no text in any encoding: full of control characters, and not letters of two bytes each."""
    if head.startswith(_MARKS):
        return False
    strange = len(head.translate(None, _TEXT_AND_BELL))
    return strange > _STRANGE * len(head) and not any(_reads_as(head, codec) for codec in ("utf-16-le", "utf-16-be"))


def _reads_as(head: bytes, codec: str) -> bool:
    """Whether bytes are text in an encoding of two bytes a letter; the last may be cut."""
    text = head[: len(head) // 4 * 4 - 2].decode(codec, "replace")
    senseless = sum(1 for sign in text if sign == "\ufffd" or unicodedata.category(sign) in ("Cn", "Co", "Cs"))
    return senseless <= _STRANGE * len(text)
