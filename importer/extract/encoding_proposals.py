"""Proposes encodings for a CSV that is no UTF-8, each with cells of the file as it would read them. A person picks."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

# fmt: off
_CANDIDATES = (
    "cp1254", "cp1252", "cp1250", "cp1251", "cp1253", "cp1256", "cp857", "cp850", "mac-turkish", "mac-roman",
    "utf-16-le", "utf-16-be", "shift_jis", "gb18030", "big5", "euc-kr",
)
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
    with path.open("rb") as file:
        start = max(0, offset - _SAMPLE) // 4 * 4
        file.seek(start)
        raw = file.read(2 * _SAMPLE)
    scored = []
    for order, encoding in enumerate(_CANDIDATES):
        text = _decoded(raw, encoding)
        if text is not None:
            scored.append((-_likelihood(text), order, encoding, _sample(text)))
    seen: set[str] = set()
    readings = []
    for _, _, encoding, sample in sorted(scored):
        if sample and sample not in seen:
            seen.add(sample)
            readings.append(Reading(encoding, sample))
    return tuple(readings[:_PROPOSED])


def _decoded(raw: bytes, encoding: str) -> str | None:
    # The sample may begin or end inside a character of several bytes.
    for cut in range(4):
        try:
            return raw[: len(raw) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _likelihood(text: str) -> float:
    """Mean over the non-ASCII characters: letters of European names are likely, signs and controls are not."""
    foreign = [(before, sign) for before, sign in zip(" " + text, text, strict=False) if sign > "\x7f"]
    controls = text.count("\x00") * 4
    if not foreign:
        return -1.0 - controls
    return (sum(_weight(before, sign) for before, sign in foreign) - controls) / len(foreign)


def _weight(before: str, sign: str) -> float:
    if sign in _COMMON:
        # A capital inside a word ("GÝl") is what a wrong table makes of a small letter.
        return -1.0 if sign.isupper() and before.islower() else 2.0
    category = unicodedata.category(sign)
    if category in ("Ll", "Lo", "Mn"):
        return 0.8
    if category == "Lu":
        return -1.0 if before.islower() else 0.6
    return -3.0 if category in ("Cc", "Co", "Cn") else -0.7


def _sample(text: str) -> str:
    cells = re.split(r"[,;\t|\r\n\"]+", text)
    words = dict.fromkeys(cell.strip() for cell in cells if not cell.isascii())
    return ", ".join(repr(word[:30]) for word in list(words)[:3] if word)
