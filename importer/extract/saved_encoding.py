"""The encoding of a results file that was saved as "CSV" in place of "CSV UTF-8", in the encoding of the system.

The run's folder has what the cells were, so it is not guessed: it is the one in which the most cells are as they were.
Characters that it does not have became `?`, or letters without their marks.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import IO, Final

# The first of those that read a file the same is shown.
_ENCODINGS: Final = (
    *("cp1252", "cp1254", "cp1251", "cp1250", "cp1253", "cp1255", "cp1256", "cp1257", "mac-roman", "mac-turkish"),
    *("mac-cyrillic", "mac-latin2", "cp850", "cp857", "cp852", "cp866", "cp437", "koi8-r"),
    "iso-8859-5",
)
BYTES: Final = "latin-1"
"""The encoding that a file is read in until its own is known: every character is a byte."""
_BLOCK: Final = 1 << 20
_LETTERS: Final = dict(zip("ıłŁđĐ", "ilLdD", strict=True))  # Unicode does not decompose these


def proven_encodings(cells: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The encodings in which the most of these cells are what they were, at least one; there can be several.

    cells: each as it was, and as it is now in BYTES; one with other characters is not of the file.
    """
    agree: Counter[str] = Counter()
    for was, now in cells:
        if not (was.isascii() and now.isascii()) and has_character(BYTES, now):
            agree.update(each for each in _ENCODINGS if _is_saved(was, _decoded(now, each), each))
    most = max(agree.values(), default=0)
    return tuple(each for each in _ENCODINGS if most and agree[each] == most)


def decode(content: IO[bytes], encodings: Sequence[str], out: IO[bytes]) -> None:
    """Write a file as UTF-8 with BOM; U+FFFD for a byte that the encodings read as different characters."""
    table = {}
    for byte in range(0x80, 0x100):
        found = {_decoded(chr(byte), each) for each in encodings}
        table[byte] = found.pop() if len(found) == 1 else "\ufffd"
    out.write("\ufeff".encode())
    while block := content.read(_BLOCK):
        out.write(block.decode(BYTES).translate(table).encode())


def lost_characters(was: str, now: str) -> frozenset[str]:
    """The characters of a text in whose place there is `?` or their letter; none if anything else differs."""
    if was.isascii() or len(was) != len(now):
        return frozenset()
    pairs = {(before, after) for before, after in zip(was, now, strict=True) if before != after}
    is_lost = all(not before.isascii() and after in ("?", _letter(before)) for before, after in pairs)
    return frozenset(before for before, _ in pairs) if is_lost else frozenset()


def has_character(encoding: str, text: str) -> bool:
    """Whether an encoding can write all characters of a text."""
    return len(text.encode(encoding, "ignore").decode(encoding)) == len(text)


def _is_saved(was: str, now: str, encoding: str) -> bool:
    if was == now:
        return True
    lost = lost_characters(was, now)
    return bool(lost) and not any(has_character(encoding, each) for each in lost)


@lru_cache(maxsize=4096)
def _letter(character: str) -> str:
    """The letter without its marks, as Windows writes it where it cannot write the character."""
    return _LETTERS.get(character) or unicodedata.normalize("NFD", character)[0]


def _decoded(text: str, encoding: str) -> str:
    return unicodedata.normalize("NFC", text.encode(BYTES).decode(encoding, "replace"))
