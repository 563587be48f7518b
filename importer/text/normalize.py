"""Texts as they are compared, corrected, taken apart and shown to a person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# --- compared: without regard to case, spacing and the dots of Turkish i --------------------------

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_NO_LETTER_OR_DIGIT = re.compile(r"[\W_]+")


def normalize(text: str) -> str:
    """The text by which two texts are the same: `İSTANBUL`, `ıstanbul` and `istanbul` give one.

    Case, the kind and number of spaces, zero-width characters and the dots of Turkish i are taken out.
    Punctuation stays, for `C`, `C++` and `C#` are three values.
    """
    if text.isascii():
        return " ".join(text.casefold().split())
    text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    # casefold turns İ into i + combining dot and leaves ı alone, so that both are mapped by hand.
    folded = text.replace("İ", "i").replace("ı", "i").casefold().replace("i\u0307", "i")
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def normalize_name(text: str) -> str:
    """The looser form by which a column is found: `E-posta`, `e posta` and `Eposta` give one.

    Beside what `normalize` takes out, punctuation and spaces are. A name of nothing else gives "".
    """
    return _NO_LETTER_OR_DIGIT.sub("", normalize(text))


# --- corrected: the "did you mean" of messages ---------------------------------------------------

_NEAR_ENOUGH = 65  # of 100: below it, a proposal is more often wrong than right
_LONG_ENOUGH = 4  # letters
_SHOWN = 200  # characters of a word in a message


def closest(typed: str, known: Iterable[str]) -> str | None:
    """The known word most like the typed one, or None where none is like it."""
    from rapidfuzz import fuzz, process  # takes a while to load, and is wanted where something is wrong

    words = list(known)
    folded = normalize(typed)
    # A part is enough where it is long: "degree" finds "bachelors_degree", but "C" is no part of "Cobol".
    whole = process.extractOne(folded, words, scorer=fuzz.ratio, processor=normalize, score_cutoff=_NEAR_ENOUGH)
    if whole is None and len(folded) >= _LONG_ENOUGH:
        long_words = [word for word in words if len(normalize(word)) >= _LONG_ENOUGH]
        whole = process.extractOne(
            folded, long_words, scorer=fuzz.WRatio, processor=normalize, score_cutoff=_NEAR_ENOUGH
        )
    return str(whole[0]) if whole else None


def did_you_mean(typed: str, known: Iterable[str], listed: int = 12) -> str:
    """A hint that names the closest known word where there is one, and what is known: at most `listed` words."""
    words = [word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…" for word in known]
    near = closest(typed, words)
    shown = ", ".join(words[:listed]) + (", ..." if len(words) > listed else "")
    use = f"use one of {shown}" if words else ""
    if near is None:
        return use
    return f"did you mean '{near}'? {use}"


# --- taken apart ------------------------------------------------------------------------------------

# Tried in this order; a bare hyphen comes last, for it also stands inside dates.
_RANGE_SEPARATORS = tuple(
    map(re.compile, (r"\s+[-–—]\s+", r"\s*[–—]\s*", r"\s+(?:to|bis)\s+", r"\s+-|-\s+", r"\s*-\s*"))
)


def range_pieces(text: str) -> list[str]:
    """The pieces of a range such as `Sep 2021 - Present` or `2019-2023`: two where it is one; either may be blank."""
    padded = f" {text} "  # an end that is left open: `2021 -`
    for separator in _RANGE_SEPARATORS:
        found = separator.split(padded)
        if len(found) > 1:
            return [piece.strip() for piece in found]
    return [text]


# --- shown to a person --------------------------------------------------------------------------------

_NOT_PLAIN = re.compile(r"[^\w\t\n -~]")
# Control and format characters (those that turn the direction of text among them), half letters, line separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """A text of others with all that would move the cursor, recolor or turn a line around written as JSON escapes it.

    What --json prints is the same text after it. Tabs and line feeds stay.
    """
    return text if text.isprintable() else _NOT_PLAIN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if unicodedata.category(character) not in _STEERING:
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
