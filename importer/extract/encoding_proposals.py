"""Proposes encodings for a CSV that is no UTF-8, each with cells of the file as it would read them. A person picks."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# fmt: off
_NARROW = (
    "cp1254", "cp1252", "cp1250", "cp1251", "cp1253", "cp1256", "cp857", "cp850", "mac-turkish", "mac-roman",
    "shift_jis", "gb18030", "big5", "euc-kr",
)
_WIDE = ("utf-16-le", "utf-16-be")
# fmt: on
_PROPOSED = 3
_SAMPLE = 1 << 16  # bytes before and after the place where UTF-8 ends
_COMMON = frozenset("çğışöüÇĞİŞÖÜâîûäßéèêëàáíóúñãõåøæøÅØÆÄÉ’‘“”–—€…°·")


@dataclass(frozen=True, slots=True)
class Reading:
    """An encoding and up to three cells of the file as it reads them, quoted."""

    encoding: str
    sample: str


def likely_readings(path: Path, offset: int) -> tuple[Reading, ...]:
    """Up to three readings of the bytes around `offset`, the likeliest first, no two alike."""
    raw = _around(path, offset)
    wide = raw.count(0) * 5 > len(raw)  # two bytes for each letter
    candidates = _WIDE if wide else _NARROW
    scored = []
    for order, encoding in enumerate(candidates):
        text = _decoded(raw, encoding)
        if text is not None and (score := _likelihood(text)) > 0:
            scored.append((-score, order, Reading(encoding, _sample(text))))
    readings: dict[str, Reading] = {}
    for _, _, reading in sorted(scored, key=lambda each: each[:2]):
        if reading.sample:
            readings.setdefault(reading.sample, reading)
    return tuple(readings.values())[:_PROPOSED]


def unmarked_wide_reading(path: Path) -> Reading | None:
    """The UTF-16 that a file without a mark is most likely in: nearly every second byte is NUL, and no other one."""
    with path.open("rb") as file:
        raw = file.read(_SAMPLE)
    for encoding, high, low in (("utf-16-le", raw[1::2], raw[::2]), ("utf-16-be", raw[::2], raw[1::2])):
        text = _decoded(raw, encoding)
        if text is not None and high.count(0) > 0.6 * len(high) and low.count(0) < 0.01 * len(low):
            cells = dict.fromkeys(cell.strip() for cell in _cells(text))
            return Reading(encoding, ", ".join(repr(cell[:30]) for cell in list(cells)[:3] if cell))
    return None


def is_utf8_elsewhere(path: Path, offset: int) -> bool:
    """Whether the bytes around `offset` are UTF-8 but for a few: then the file is damaged, not in another encoding."""
    text = _around(path, offset).decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(1 for sign in text if sign > "\x7f") - wrong >= 4 * wrong


def is_likelier(path: Path, offset: int, encoding: str, other: str) -> bool:
    """Whether the bytes around `offset` make likelier text in one encoding than in another that reads them too."""
    raw = _around(path, offset)
    return _likelihood(raw.decode(encoding, "ignore")) > _likelihood(raw.decode(other, "ignore"))


def _around(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, offset - _SAMPLE) // 4 * 4)
        return file.read(2 * _SAMPLE)


def _decoded(raw: bytes, encoding: str) -> str | None:
    # The sample may end inside a letter of several bytes.
    for cut in range(4):
        try:
            return raw[: len(raw) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _likelihood(text: str) -> float:
    """The mean over the foreign letters: those of one script together are likely, signs and controls are not."""
    weights = [
        _weight(before, sign, after)
        for before, sign, after in zip(" " + text, text, text[1:] + " ", strict=False)
        if sign > "\x7f"
    ]
    # A few signs are enough to judge, and of a large sample there are many.
    return sum(weights) / len(weights) if weights else 0.0


def _weight(before: str, sign: str, after: str) -> float:
    if sign in _COMMON:
        if sign.isupper() and before.islower():
            return -1.0  # a capital inside a word is what a wrong table makes of a small letter
        return 0.4 if before in _COMMON or after in _COMMON else 2.0
    if not sign.isalpha() and before.isalpha() and after.isalpha():
        return -2.0  # a sign inside a word
    if not sign.isalpha():
        return -3.0 if unicodedata.category(sign) in ("Cc", "Co", "Cn") else -0.7
    if sign.isupper() and before.islower():
        return -1.0
    script = _script(sign)
    if script == "LATIN":
        return 0.3
    if any(near.isalpha() and _script(near) != script for near in (before, after)):
        return -2.0  # scripts mixed in one word
    return 1.0


@lru_cache(maxsize=1024)
def _script(sign: str) -> str:
    return unicodedata.name(sign, "UNKNOWN").partition(" ")[0]


def _cells(text: str) -> list[str]:
    return re.split(r"[,;\t|\r\n\"]+", text)


def _sample(text: str) -> str:
    words = dict.fromkeys(cell.strip() for cell in _cells(text) if not cell.isascii())
    return ", ".join(repr(word[:30]) for word in list(words)[:3] if word)
