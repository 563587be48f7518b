"""The encoding of a CSV: by its BOM, as declared, or UTF-8; checked over the whole file, never guessed.

If the file is not in that encoding, the message proposes likely ones, each with sample cells. A person chooses.
"""

from __future__ import annotations

import codecs
import difflib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from importer.extract.csv_file import Encoding, Survey, Undecodable, survey
from importer.problems import LinePlace, Problem, UnusableInput, unusable_file

# UTF-32 comes first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: ("utf-8-sig", "UTF-8 with BOM"),
    codecs.BOM_UTF32_LE: ("utf-32", "UTF-32"),
    codecs.BOM_UTF32_BE: ("utf-32", "UTF-32"),
    codecs.BOM_UTF16_LE: ("utf-16", "UTF-16"),
    codecs.BOM_UTF16_BE: ("utf-16", "UTF-16"),
}
# Text encodings of Python that no spreadsheet program writes: "\\u0041" in a cell must stay as typed.
_NOT_FOR_FILES = frozenset(
    {"unicode-escape", "raw-unicode-escape", "idna", "punycode", "utf-7", "mbcs", "oem", "undefined"}
)
# fmt: off
_KNOWN = (
    "utf-8", "utf-16-le", "utf-16-be", "cp1254", "cp1252", "cp1250", "cp1251", "cp1253", "cp1255", "cp1256", "cp1257",
    "cp857", "cp850", "cp437", "iso-8859-1", "iso-8859-2", "iso-8859-5", "iso-8859-9", "iso-8859-15", "mac-roman",
    "mac-turkish", "shift_jis", "gb18030", "big5", "euc-kr", "koi8-r",
)
# fmt: on


UTF8 = Encoding("utf-8", "UTF-8")


def find_encoding(path: Path, name: str, declared: str | None) -> Survey:
    """Scan a CSV in its encoding. A byte-order mark takes precedence over the declared encoding.

    Raises:
        UnusableInput: the declared encoding is unknown, or the file is not in the encoding; the message proposes
            likely ones, each with sample cells.
    """
    mark = byte_order_mark(path)
    encoding = mark or (declared_encoding(declared) if declared else UTF8)
    found = survey(path, encoding)
    if found.undecodable is not None:
        raise UnusableInput(_undecodable(path, name, encoding, found.undecodable))
    if not mark and not declared and (reading := _unmarked_wide_reading(path)):
        # It decodes as UTF-8 full of NULs, in wrong rows.
        message = "the file looks like UTF-16 without a byte-order mark"
        hint = f"set its encoding under source: in the mapping: {reading}"
        raise unusable_file("encoding-wrong", message, hint, name)
    if declared and not encoding.codec.startswith("utf") and (changed := _words_of_utf8(path, encoding)):
        message = f"the mapping says {encoding.label}, but the file is UTF-8"
        hint = f"remove `encoding:` from the mapping; then {changed}"
        raise unusable_file("encoding-wrong", message, hint, name)
    return found


def byte_order_mark(path: Path) -> Encoding | None:
    """The encoding by the byte-order mark of a file; None if it has none."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((Encoding(*names) for mark, names in _MARKS.items() if head.startswith(mark)), None)


def declared_encoding(declared: str) -> Encoding:
    """The encoding that a mapping's `encoding:` means.

    Raises:
        UnusableInput: it is unknown, or not an encoding of files.
    """
    wanted = declared.strip().lower().replace("windows-", "cp").replace("_", "-")
    try:
        codec = codecs.lookup(wanted)
    except LookupError:
        codec = None
    if codec is None or not codec._is_text_encoding or wanted in _NOT_FOR_FILES:
        near = difflib.get_close_matches(wanted, _KNOWN, n=1)
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else "most Turkish files are cp1254, most Western European files cp1252"
        )
        message = f"{declared!r} is not a known encoding"
        raise unusable_file("encoding-unknown", message, hint, "encoding: in the mapping")
    return Encoding(codec.name, declared.strip())


def _undecodable(path: Path, name: str, encoding: Encoding, bad: Undecodable) -> Problem:
    """The problem of a file that is not in an encoding: which one to set instead, or that a character is damaged."""
    if encoding.codec.startswith("utf-8") and _is_utf8_elsewhere(path, bad.offset):
        message = f"a character is damaged (byte 0x{bad.byte:02X}); the rest of the file is {encoding.label}"
        hint = "fix the character in that line, or export the file again"
        return Problem("character-damaged", message, hint, LinePlace(name, bad.line))
    hint = "set its encoding under source: in the mapping"
    if readings := _likely_readings(path, bad.offset):
        hint += ": " + " or ".join(readings)
    hint += '; or save it as UTF-8 in the program that made it (in Excel: Save As, "CSV UTF-8")'
    message = f"the file is not {encoding.label}: the byte 0x{bad.byte:02X} cannot be read"
    return Problem("encoding-wrong", message, hint, LinePlace(name, bad.line))


def _words_of_utf8(path: Path, declared: Encoding) -> str:
    """How UTF-8 changes words of a file that is UTF-8, although a single-byte encoding, which decodes any bytes, was
    declared; "" if it is not UTF-8.
    """
    foreign = survey(path, Encoding("ascii", "ASCII")).undecodable
    if foreign is None or survey(path, UTF8).undecodable is not None:
        return ""
    raw = _around(path, foreign.offset)
    text, wrong = (raw.decode(codec, "ignore") for codec in ("utf-8", declared.codec))
    if _likelihood(text) <= _likelihood(wrong):
        return ""
    pairs = zip(_words(wrong), _words(text), strict=False)
    return ", ".join(f"{before[:30]!r} becomes {after[:30]!r}" for before, after in list(pairs)[:2])


# --- likely encodings -------------------------------------------------------------------------------


# fmt: off
_NARROW = (
    "cp1252", "cp1254", "cp1250", "cp1251", "cp1253", "cp1256", "cp857", "cp850", "mac-turkish", "mac-roman",
    "koi8-r", "iso-8859-5", "cp866", "mac-cyrillic", "shift_jis", "gb18030", "big5", "euc-kr",
)
_WIDE = ("utf-16-le", "utf-16-be")
# fmt: on
_PROPOSED = 3
_SAMPLE = 1 << 16  # bytes before and after the first undecodable byte
_COMMON = frozenset("çğışöüÇĞİŞÖÜâîûäßéèêëàáíóúñãõåøæøÅØÆÄÉ’‘“”–—€…°·")


def _proposal(encodings: Sequence[str], sample: str) -> str:
    """Encodings that read the same text, with some of its cells."""
    names = " or ".join(f"`encoding: {encoding}`" for encoding in encodings)
    return f"{names} ({'reads' if len(encodings) == 1 else 'they read the same:'} {sample})"


def _likely_readings(path: Path, offset: int) -> list[str]:
    """Up to three different readings of the bytes around `offset`, the likeliest first, with the words that differ."""
    raw = _around(path, offset)
    wide = raw.count(0) * 5 > len(raw)  # two bytes for each character
    candidates = _WIDE if wide else _NARROW
    encodings: dict[str, list[str]] = {}  # by the text that they read
    for encoding in candidates:
        text = _decoded(raw, encoding)
        if text is not None and _likelihood(text) > 0 and _words(text):
            encodings.setdefault(text, []).append(encoding)
    likeliest = sorted(encodings, key=_likelihood, reverse=True)[:_PROPOSED]
    shared = set.intersection(*(set(_words(text)) for text in likeliest)) if len(likeliest) > 1 else set[str]()
    return [_proposal(encodings[text][: 2 if text is likeliest[0] else 1], _sample(text, shared)) for text in likeliest]


def _unmarked_wide_reading(path: Path) -> str | None:
    """The most likely UTF-16 reading of a file without a mark: nearly every second byte is NUL, and no other byte."""
    with path.open("rb") as file:
        raw = file.read(_SAMPLE)
    for encoding, high, low in (("utf-16-le", raw[1::2], raw[::2]), ("utf-16-be", raw[::2], raw[1::2])):
        is_wide = high.count(0) > 0.6 * len(high) and low.count(0) < 0.01 * len(low)
        if is_wide and (text := _decoded(raw, encoding)) is not None:
            cells = dict.fromkeys(cell.strip() for cell in _cells(text))
            return _proposal((encoding,), ", ".join(repr(cell[:30]) for cell in list(cells)[:3] if cell))
    return None


def _is_utf8_elsewhere(path: Path, offset: int) -> bool:
    """Whether nearly all bytes around `offset` are UTF-8: then the file is damaged, not in another encoding."""
    text = _around(path, offset).decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(1 for character in text if character > "\x7f") - wrong >= 4 * wrong


def _around(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, offset - _SAMPLE) // 4 * 4)
        return file.read(2 * _SAMPLE)


def _decoded(raw: bytes, encoding: str) -> str | None:
    # The sample may end inside a multi-byte character.
    for cut in range(4):
        try:
            return raw[: len(raw) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _likelihood(text: str) -> float:
    """The mean weight of the non-ASCII characters: letters of one script are likely, symbols and controls are not."""
    weights = [
        _weight(before, character, after)
        for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False)
        if character > "\x7f"
    ]
    return sum(weights) / len(weights) if weights else 0.0


def _weight(before: str, character: str, after: str) -> float:
    if character in _COMMON:
        if character.isupper() and before.islower():
            return -1.0  # a wrong encoding turns lower-case letters into capitals inside a word
        return 0.4 if before in _COMMON or after in _COMMON else 2.0
    if not character.isalpha() and before.isalpha() and after.isalpha():
        return -2.0  # a symbol inside a word
    if not character.isalpha():
        return -3.0 if unicodedata.category(character) in ("Cc", "Co", "Cn") else -0.7
    if character.isupper() and before.islower():
        return -1.0
    script = _script(character)
    if script == "LATIN":
        return 0.3
    if any(near.isalpha() and _script(near) != script for near in (before, after)):
        return -2.0  # mixed scripts in one word
    return 1.0


@lru_cache(maxsize=1024)
def _script(character: str) -> str:
    return unicodedata.name(character, "UNKNOWN").partition(" ")[0]


def _cells(text: str) -> list[str]:
    return re.split(r"[,;\t|\r\n\"]+", text)


def _words(text: str) -> list[str]:
    """The different cells that are not ASCII."""
    return [word for word in dict.fromkeys(cell.strip() for cell in _cells(text) if not cell.isascii()) if word]


def _sample(text: str, shared: set[str]) -> str:
    """Up to three cells, first those that other readings do not have."""
    words = sorted(_words(text), key=lambda word: word in shared)
    return ", ".join(repr(word[:30]) for word in words[:3])
