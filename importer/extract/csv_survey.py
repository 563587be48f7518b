"""Looks through a CSV once, whole, before it is read: can it be decoded, and may its cells be taken as they are?"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 1 << 20
# The bytes of UTF-8 that can only be letters, digits and signs that need no care. Not among them: control characters,
# the first bytes of blanks, invisible and combining signs.
_HARMLESS = bytes([9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC3, 0xCC), 0xD0, 0xD1])
_PADDING = (b" ,", b" ;", b" |", b" \t", b", ", b"; ", b"| ", b"\t ", b' "', b'" ', b" \r", b" \n", b"\n ", b"\r ")


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The first bytes that an encoding cannot read: their offset in the file, from 0, and line, from 1."""

    offset: int
    line: int
    byte: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a whole CSV is like.

    `plain`: no cell needs care but trimming, and where not `padded` not even that. `size` and `changed` (nanoseconds)
    tell whether the file is still the one that was looked at.
    """

    undecodable: Undecodable | None
    plain: bool
    padded: bool
    size: int
    changed: int

    def holds_for(self, path: Path) -> bool:
        """Whether the file is still the same."""
        status = path.stat()
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


def survey(path: Path, codec: str) -> Survey:
    """Read the whole file, a block at a time."""
    plain, padded = True, False
    decoder = codecs.getincrementaldecoder(codec)()
    utf8 = codec in ("utf-8", "utf-8-sig")
    end = 0
    undecodable = None
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        last = b""
        while True:
            block = file.read(_BLOCK)
            end += len(block)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                offset = end - len(error.object) + error.start
                undecodable = Undecodable(offset, _line_at(path, offset), error.object[error.start])
                break
            probe = block if utf8 else text.encode("utf-8", "surrogatepass")
            if end == len(block):
                probe = probe.removeprefix(codecs.BOM_UTF8)
            plain = plain and not _needs_care(probe)
            padded = padded or any(pad in probe for pad in _PADDING) or last[-1:] == b" " or probe[:1] == b" "
            last = probe
            if not block:
                break
    return Survey(undecodable, plain, padded, status.st_size, status.st_mtime_ns)


def _needs_care(block: bytes) -> bool:
    return bool(block.translate(None, _HARMLESS)) or b"#" in block or b"E+" in block


def _line_at(path: Path, offset: int) -> int:
    with path.open("rb") as file:
        return file.read(offset).count(b"\n") + 1
