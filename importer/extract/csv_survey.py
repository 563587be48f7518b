"""Looks through a CSV once, whole, before it is read: can it be decoded, and may its cells be taken as they are?"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK = 1 << 18
_UTF8: Final = ("utf-8", "utf-8-sig")
_LONG = 1 << 20  # bytes: no line that lies in one block of any reader is longer
# ASCII that needs no care: no control characters, and no # that begins what a spreadsheet leaves of an error.
_PLAIN_ASCII = bytes([9, 10, 13, *range(0x20, 0x23), *range(0x24, 0x7F)])
# The bytes of UTF-8 that can only be letters, composed ones: no blanks, no invisible or combining signs.
_PLAIN_LETTERS = bytes([*range(0x80, 0xC0), *range(0xC3, 0xCC), 0xD0, 0xD1])


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The first bytes that an encoding cannot read: their offset in the file, from 0, and line, from 1."""

    offset: int
    line: int
    byte: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a whole CSV is like.

    `plain`: no cell needs care but trimming. `lines`: about how many there are. `longest`: about how many bytes the
    longest has, as UTF-8, and `longest_line` its number; 0 where none is longer than a block. `size` and `changed`
    (nanoseconds) tell whether the file is still the one that was looked at.
    """

    undecodable: Undecodable | None
    plain: bool
    lines: int
    longest: int
    longest_line: int
    size: int
    changed: int

    def holds_for(self, path: Path) -> bool:
        """Whether the file is still the same."""
        status = path.stat()
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


def survey(path: Path, codec: str, known: Survey | None = None) -> Survey:
    """Read the whole file, a block at a time. `known`: a survey of it as UTF-8, given where it still holds."""
    if codec in _UTF8 and known is not None and known.holds_for(path):
        return known
    look = _Utf8Look() if codec in _UTF8 else _OtherLook(codec)
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        try:
            while block := file.read(_BLOCK):
                look.at(block)
            look.at(b"", final=True)
        except UnicodeDecodeError:
            return look.survey(status, first_undecodable(path, codec))
    return look.survey(status)


class SurveyOfCopy:
    """A survey of a file while it is copied, for whoever opens the copy.

    It earns a fifth of the time that a large CSV takes before its first row is sent. Nearly every CSV is UTF-8. Where
    this one is not, or is no CSV at all, it is looked at no further.
    """

    def __init__(self) -> None:
        self._look: _Utf8Look | None = _Utf8Look()

    def at(self, block: bytes, final: bool = False) -> None:
        """The next bytes of the file."""
        if self._look is None:
            return
        try:
            self._look.at(block, final)
        except UnicodeDecodeError:
            self._look = None

    def survey(self, copy: Path) -> Survey | None:
        """The survey of the complete copy; None where it is no UTF-8."""
        self.at(b"", final=True)
        return self._look.survey(copy.stat()) if self._look is not None else None


def first_undecodable(path: Path, codec: str) -> Undecodable | None:
    """Where the file cannot be decoded; None if all of it can."""
    decoder = codecs.getincrementaldecoder(codec)()
    end = 0
    with path.open("rb") as file:
        while True:
            block = file.read(_BLOCK)
            end += len(block)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                offset = end - len(error.object) + error.start
                return Undecodable(offset, _line_at(path, offset), error.object[error.start])
            if not block:
                return None


def first_foreign_byte(path: Path) -> int | None:
    """The offset of the first byte that is no ASCII."""
    start = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            if not block.isascii():
                return start + next(at for at, byte in enumerate(block) if byte > 0x7F)
            start += len(block)
    return None


class _Look:
    def __init__(self) -> None:
        self.plain = True
        self._last = b""
        self._lines = self._longest = self._longest_line = 0
        self._open = 0  # bytes of the line that the last piece did not end

    def survey(self, status: os.stat_result, undecodable: Undecodable | None = None) -> Survey:
        """What was seen of a file of this status."""
        plain = self.plain and undecodable is None
        sizes = (self._lines, self._longest, self._longest_line, status.st_size, status.st_mtime_ns)
        return Survey(undecodable, plain, *sizes)

    def _note(self, text: bytes, plain: bool) -> None:
        """The next piece of the text, which may begin in the middle of a number."""
        is_cut = self._last == b"E" and text.startswith(b"+")
        self.plain = self.plain and plain and not is_cut and not _has_exponent(text)
        self._last = text[-1:]
        self._measure(text)

    def _measure(self, text: bytes) -> None:
        end = b"\n" if b"\n" in text else b"\r"
        first, last = text.find(end), text.rfind(end)
        length = self._open + (first if first >= 0 else len(text))
        if length > max(self._longest, _LONG):
            self._longest, self._longest_line = length, self._lines + 1
        self._open = len(text) - 1 - last if last >= 0 else length
        self._lines += text.count(b"\n")


class _Utf8Look(_Look):
    """Looks at UTF-8. Only what is not plain ASCII is decoded, which is little of most files.

    It may take broken UTF-8 for good where ASCII stands inside a letter; reading decodes strictly and finds it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._first = True

    def at(self, block: bytes, final: bool = False) -> None:
        if self._first:
            block, self._first = block.removeprefix(codecs.BOM_UTF8), False
        rest = block.translate(None, _PLAIN_ASCII)
        self._decoder.decode(rest, final)
        self._note(block, not rest.translate(None, _PLAIN_LETTERS))


class _OtherLook(_Look):
    """Looks at text in any other encoding."""

    def __init__(self, codec: str) -> None:
        super().__init__()
        self._decoder = codecs.getincrementaldecoder(codec)()

    def at(self, block: bytes, final: bool = False) -> None:
        utf8 = self._decoder.decode(block, final).encode("utf-8", "surrogatepass")
        self._note(utf8, not utf8.translate(None, _PLAIN_ASCII + _PLAIN_LETTERS))


def _has_exponent(block: bytes) -> bool:
    return b"+" in block and b"E+" in block


def _line_at(path: Path, offset: int) -> int:
    lines, left = 1, offset
    with path.open("rb") as file:
        while left and (block := file.read(min(left, _BLOCK))):
            lines += block.count(b"\n")
            left -= len(block)
    return lines
