"""Reads names, and takes a full name apart by a declared rule."""

from __future__ import annotations

from typing import Literal

from importer.mapping import NameRule, Surname
from importer.text.normalize import normalize
from importer.transform.refusal import Refusal, quoted
from importer.transform.texts import read_text

Side = Literal["first", "last"]
_DEFAULT = NameRule()
# Left by copying from web pages. Joiners (U+200C, U+200D) and direction marks mean something in some scripts.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def read_name(text: str, typed: bool) -> str | Refusal:
    """A name with single spaces; one without any letter is refused."""
    name = " ".join(_seen(text).split())
    if not any(sign.isalpha() for sign in name):
        return Refusal("name-unreadable", f"{quoted(text)} is no name", "write the name in letters")
    return read_text(name, typed)


def part_of_name(full_name: str, part: Side, rule: NameRule | None = None) -> str | Refusal:
    """The first or last name: before or after a comma as in `Ada, Nur`, else the words that the rule says.

    A single word is refused, for which of the two names it is would be a guess; so is what the rule does not fit.
    """
    rule = rule or _DEFAULT
    full_name = _seen(full_name)
    suffix_comma = full_name.rpartition(",")
    if (
        suffix_comma[1] and normalize(suffix_comma[2]) in rule.suffixes
    ):  # `Ada Nur, Jr.` has no last name before the comma
        full_name = f"{suffix_comma[0]} {suffix_comma[2]}"
    if "," in full_name:
        return _part_by_comma(full_name, part)
    if rule.surname is Surname.BEFORE_COMMA:
        message = f"{quoted(full_name)} has no comma after the last name"
        return Refusal("name-unsplit", message, "write it as 'Last, First'")
    words = full_name.split()
    suffixes = _ending(words, rule)
    count = _last_name_words(words[: len(words) - suffixes], rule)
    if count is None:
        return _unsplit(full_name, words, rule)
    begin, end = count
    last, first = words[begin:end] + words[len(words) - suffixes :], words[:begin] + words[end : len(words) - suffixes]
    return " ".join(last if part == "last" else first)


def _seen(text: str) -> str:
    return text if text.isprintable() else text.translate(_INVISIBLE)


def _ending(words: list[str], rule: NameRule) -> int:
    """How many words at the end are suffixes."""
    count = 0
    while count < len(words) and normalize(words[-1 - count]) in rule.suffixes:
        count += 1
    return count


def _last_name_words(words: list[str], rule: NameRule) -> tuple[int, int] | None:
    """Where the last name begins and ends among the words, or None where the rule leaves no first or no last name."""
    match rule.surname:
        case Surname.CAPITALS:
            found = _capitals(words)
        case Surname.FIRST_WORD:
            end = 0
            while end < len(words) - 1 and normalize(words[end]) in rule.particles:
                end += 1
            found = (0, end + 1)
        case _:
            begin = len(words) - 1
            while begin > 1 and normalize(words[begin - 1]) in rule.particles:
                begin -= 1
            found = (begin, len(words))
    if found is None or found[1] - found[0] >= len(words) or found[0] < 0:
        return None
    return found


def _capitals(words: list[str]) -> tuple[int, int] | None:
    """The run of words in capitals at the beginning or at the end; None where there is none, or one at each."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in words]
    begin = next((index for index, is_capital in enumerate(capital) if not is_capital), len(words))
    end = next((index for index, is_capital in enumerate(reversed(capital)) if not is_capital), len(words))
    if sum(capital) != max(begin, end) or not (begin or end):
        return None
    return (0, begin) if begin else (len(words) - end, len(words))


def _unsplit(full_name: str, words: list[str], rule: NameRule) -> Refusal:
    if len(words) < 2:
        message = f"{quoted(full_name)} is one word and cannot be split into first and last name"
        return Refusal("name-unsplit", message, "write both names")
    if rule.surname is Surname.CAPITALS:
        message = f"{quoted(full_name)} has no last name in capitals with a first name before or after it"
        return Refusal("name-unsplit", message, "write it as 'LAST First', or as 'Last, First'")
    message = f"{quoted(full_name)} cannot be split into first and last name"
    return Refusal("name-unsplit", message, "write it as 'Last, First'")


def _part_by_comma(full_name: str, part: Side) -> str | Refusal:
    pieces = [" ".join(piece.split()) for piece in full_name.split(",")]
    if len(pieces) != 2 or not all(pieces):
        message = f"{quoted(full_name)} cannot be split into first and last name"
        return Refusal("name-unsplit", message, "write it as 'Last, First' or 'First Last'")
    return pieces[0] if part == "last" else pieces[1]
