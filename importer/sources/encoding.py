"""The encoding of a CSV: by its BOM, as declared, or UTF-8; checked over the whole file, never guessed.

If the file is not in that encoding, the message proposes likely ones, each with sample cells. A person chooses.
"""

from __future__ import annotations

import codecs
import difflib
import locale
import re
from collections.abc import Sequence
from pathlib import Path

from importer.problems import FilePlace, LikelyEncoding, LinePlace, Problem, UnusableInput, unusable_file
from importer.sources.csv_file import Encoding, Survey, Undecodable, survey
from importer.sources.likelihood import letters_of, likelihood

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
    "mac-turkish", "cp932", "gb18030", "big5", "cp949", "koi8-r",
)
# fmt: on


UTF8 = Encoding("utf-8", "UTF-8")


def find_encoding(path: Path, name: str, declared: str | None, wanted: Sequence[str]) -> Survey:
    """Scan a CSV in its encoding. A byte-order mark takes precedence over the declared encoding. wanted: names of
    columns that the mapping reads.

    Raises UnusableInput: the declared encoding is unknown, or the file is not in the encoding; the message proposes
    likely ones, each with sample cells.
    """
    mark = byte_order_mark(path)
    encoding = mark or (declared_encoding(declared) if declared else UTF8)
    found = survey(path, encoding)
    if declared and not mark and not encoding.codec.startswith("utf") and (changed := _words_of_utf8(path, encoding)):
        message = f"the mapping says {encoding.label}, but the file is UTF-8"
        hint = f"remove `encoding:` from the mapping; then {', '.join(changed)}"
        utf8 = LikelyEncoding(("utf-8",), changed)
        raise UnusableInput(Problem("encoding-wrong", message, hint, FilePlace(name), encodings=(utf8,)))
    if found.undecodable is not None:
        raise UnusableInput(_undecodable(path, name, encoding, found.undecodable, wanted))
    if not mark and not declared and (reading := _unmarked_wide_reading(path)):
        # It decodes as UTF-8 full of NULs, in wrong rows.
        message = "the file looks like UTF-16 without a byte-order mark"
        hint = f"set its encoding under source: in the mapping: {reading}"
        raise UnusableInput(Problem("encoding-wrong", message, hint, FilePlace(name), encodings=(reading,)))
    return found


def doubtful_encoding(path: Path, name: str, encoding: Encoding) -> Problem | None:
    """The warning that another encoding reads the letters of one language where this one, of single bytes, reads
    others; None if this one may be right.
    """
    foreign = survey(path, Encoding("ascii", "ASCII")).undecodable if _SINGLE_BYTE.fullmatch(encoding.codec) else None
    if foreign is None:
        return None
    raw = _around(path, foreign.offset)
    text = raw.decode(encoding.codec, "replace")
    readings = {other: _decoded(raw, other) for other in _NARROW if _SINGLE_BYTE.fullmatch(other)}
    better = {other: reading for other, reading in readings.items() if reading and _is_likelier(reading, text)}
    if not better:
        return None
    likeliest = max(better, key=lambda other: likelihood(better[other]))
    pairs = zip(_cells(text), _cells(better[likeliest]), strict=True)
    words = [f"{was.strip()[:30]!r} ({now.strip()[:30]!r})" for was, now in dict.fromkeys(pairs) if was != now]
    if len(words) < _SHOWN:
        return None
    message = f"the mapping says {encoding.label}, but {likeliest} reads more likely words: {', '.join(words[:_SHOWN])}"
    hint = f"if the words in parentheses are right, set `encoding: {likeliest}` under source: in the mapping"
    return Problem("encoding-doubtful", message, hint, FilePlace(name))


def _is_likelier(reading: str, text: str) -> bool:
    """Whether a reading has letters of its language where another has letters that its own language does not write."""
    if len(reading) != len(text):
        return False
    differing = frozenset(index for index, pair in enumerate(zip(text, reading, strict=True)) if len(set(pair)) > 1)
    whole, here, there = likelihood(reading), likelihood(text, differing), likelihood(reading, differing)
    if whole < _OF_ONE_LANGUAGE:
        return whole >= _OF_ONE_ALPHABET and likelihood(text) <= _OF_NONE
    return there >= _OF_ONE_LANGUAGE and (here <= _FOREIGN or whole >= likelihood(text) + _CLEARLY)


def byte_order_mark(path: Path) -> Encoding | None:
    """The encoding by the byte-order mark of a file; None if it has none."""
    with path.open("rb") as file:
        head = file.read(4)
    return next((Encoding(*names) for mark, names in _MARKS.items() if head.startswith(mark)), None)


def declared_encoding(declared: str) -> Encoding:
    """The encoding that a mapping's `encoding:` means.

    Raises UnusableInput: it is unknown, or not an encoding of files.
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
        raise unusable_file("encoding-wrong", message, hint, "encoding: in the mapping")
    return Encoding(codec.name, declared.strip())


def _undecodable(path: Path, name: str, encoding: Encoding, bad: Undecodable, wanted: Sequence[str]) -> Problem:
    """The problem of a file that is not in an encoding: which one to set instead, or that a character is damaged."""
    if encoding.codec.startswith("utf-8") and _is_utf8_elsewhere(path, bad.offset):
        message = f"a character is damaged (byte 0x{bad.byte:02X}); the rest of the file is {encoding.label}"
        hint = "fix the character in that line, or export the file again"
        return Problem("character-damaged", message, hint, LinePlace(name, bad.line))
    hint = "set its encoding under source: in the mapping"
    if readings := _likely_readings(_around(path, bad.offset), wanted):
        hint += ": " + " or ".join(map(str, readings))
    hint += '; or save it as UTF-8 in the program that made it (in Excel: Save As, "CSV UTF-8")'
    message = f"the file is not {encoding.label}: the byte 0x{bad.byte:02X} cannot be read"
    return Problem("encoding-wrong", message, hint, LinePlace(name, bad.line), encodings=readings)


def _words_of_utf8(path: Path, declared: Encoding) -> tuple[str, ...]:
    """How UTF-8 changes words of a file that is UTF-8, although a single-byte encoding, which decodes any bytes, was
    declared; () if it is not UTF-8.
    """
    foreign = survey(path, Encoding("ascii", "ASCII")).undecodable
    if foreign is None or survey(path, UTF8).undecodable is not None:
        return ()
    raw = _around(path, foreign.offset)
    text, wrong = (raw.decode(codec, "ignore") for codec in ("utf-8", declared.codec))
    if likelihood(text) <= likelihood(wrong):
        return ()
    pairs = zip(_words(wrong), _words(text), strict=False)
    return tuple(f"{before[:30]!r} becomes {after[:30]!r}" for before, after in list(pairs)[:2])


# --- likely encodings -------------------------------------------------------------------------------


# fmt: off
_NARROW = (
    "cp1252", "cp1254", "cp1250", "cp1251", "cp1253", "cp1256", "cp1255", "cp1257", "cp857", "cp850", "mac-turkish",
    "iso-8859-2", "mac-roman", "koi8-r", "iso-8859-5", "cp866", "mac-cyrillic", "cp932", "gb18030", "big5", "cp949",
)
_WIDE = ("utf-16-le", "utf-16-be")
_SINGLE_BYTE = re.compile(r"cp(125|4|7|8)\d+|iso8859-\d+|mac-\w+|koi8-\w")  # names of Python's codecs
# fmt: on
_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")  # of ISO 8859, in no text; \x85 is a line break
_PROPOSED = _SHOWN = 3
_FOREIGN, _OF_ONE_LANGUAGE = 0.5, 1.5  # by likelihood: nearly no letter of a language, and nearly only those of one
_OF_ONE_ALPHABET, _OF_NONE = 0.95, 0.65  # another than the Latin one: all letters are of it; they are mixed
_CLEARLY = 0.3  # of two readings with letters of one language each
_OF_SPOKEN = 1.2  # of two readings that are about as likely, the one in the language of the mapping or the machine
_SAMPLE = 1 << 16  # bytes before and after the first undecodable byte


def _likely_readings(raw: bytes, wanted: Sequence[str]) -> tuple[LikelyEncoding, ...]:
    """Up to three different readings, the likeliest first, with the words that differ. A reading with names that the
    mapping wants comes first, then encodings that can write these names or else the machine's language are favored.
    """
    foreign = [name for name in wanted if not name.isascii()]
    spoken = "".join(foreign) or letters_of(locale.getlocale()[0] or "")
    wide = raw.count(0) * 5 > len(raw)  # two bytes for each character
    candidates = _WIDE if wide else sorted(_NARROW, key=lambda encoding: not _can_write(encoding, spoken))
    encodings: dict[str, list[str]] = {}  # by the text that they read
    for encoding in candidates:
        text = _decoded(raw, encoding)
        if text is not None and likelihood(text) > 0 and _words(text) and not _CONTROL.search(text):
            encodings.setdefault(text, []).append(encoding)

    def rank(text: str) -> tuple[int, float]:
        favor = _OF_SPOKEN if spoken and _can_write(encodings[text][0], spoken) else 1.0
        return sum(name in text for name in foreign), favor * likelihood(text)

    likeliest = sorted(encodings, key=rank, reverse=True)[:_PROPOSED]
    return tuple(
        LikelyEncoding(tuple(encodings[text][: 2 if text is likeliest[0] else 1]), tuple(word[:30] for word in words))
        for text, words in zip(likeliest, _telling_words(likeliest), strict=True)
    )


def _can_write(encoding: str, letters: str) -> bool:
    return len(letters.encode(encoding, "ignore").decode(encoding)) == len(letters)


def _unmarked_wide_reading(path: Path) -> LikelyEncoding | None:
    """The most likely UTF-16 reading of a file without a mark: nearly every second byte is NUL, and no other byte."""
    with path.open("rb") as file:
        raw = file.read(_SAMPLE)
    for encoding, high, low in (("utf-16-le", raw[1::2], raw[::2]), ("utf-16-be", raw[::2], raw[1::2])):
        is_wide = high.count(0) > 0.6 * len(high) and low.count(0) < 0.01 * len(low)
        if is_wide and (text := _decoded(raw, encoding)) is not None:
            cells = dict.fromkeys(cell.strip() for cell in _cells(text))
            return LikelyEncoding((encoding,), tuple(cell[:30] for cell in list(cells)[:3] if cell))
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


def _cells(text: str) -> list[str]:
    return re.split(r"[,;\t|\r\n\"]+", text)


def _words(text: str) -> list[str]:
    """The different cells that are not ASCII."""
    return [word for word in dict.fromkeys(cell.strip() for cell in _cells(text) if not cell.isascii()) if word]


def _telling_words(texts: Sequence[str]) -> list[list[str]]:
    """Up to three non-ASCII cells of each reading of the same bytes: the same cells, those first that differ most."""
    if len({len(_cells(text)) for text in texts}) > 1:  # an encoding of several bytes reads separators as letters
        shared = set.intersection(*(set(_words(text)) for text in texts))
        return [sorted(_words(text), key=lambda word: word in shared)[:3] for text in texts]
    places = zip(*([cell.strip() for cell in _cells(text)] for text in texts), strict=True)
    cells = [each for each in dict.fromkeys(places) if all(each) and not all(map(str.isascii, each))]
    chosen = list[tuple[str, ...]]()
    for _ in range(3):  # each next one tells most readings apart that the others do not
        if not (left := [each for each in cells if each not in chosen]):
            break
        chosen.append(max(left, key=lambda each: (len({*zip(*chosen, each, strict=True)}), len({*each}))))
    return [list(words) for words in zip(*chosen, strict=True)]
