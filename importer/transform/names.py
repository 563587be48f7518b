"""Reads names, and takes a full name apart by a declared rule."""

from __future__ import annotations

from typing import Literal

from importer.mapping import NameRule, Surname
from importer.text.normalize import normalize
from importer.transform.texts import Refusal, quoted, read_text

Side = Literal["first", "last"]
_DEFAULT = NameRule()
# Left by copying from web pages. Joiners (U+200C, U+200D) and direction marks mean something in some scripts.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def read_name(text: str, typed: bool) -> str | Refusal:
    """A name with single spaces; one without any letter is refused."""
    name = " ".join(_visible(text).split())
    if not any(character.isalpha() for character in name):
        return Refusal("name-unreadable", f"{quoted(text)} is no name", "write the name in letters")
    return read_text(name, typed)


def part_of_name(full_name: str, part: Side, rule: NameRule | None = None) -> str | Refusal:
    """The first or last name: before or after a comma as in `Ada, Nur`, else the words that the rule says.

    A single word is refused, for which of the two names it is would be a guess; so is what the rule does not fit.
    """
    rule = rule or _DEFAULT
    full_name = _visible(full_name)
    before, comma, after = full_name.rpartition(",")
    if comma and normalize(after) in rule.suffixes:  # `Ada Nur, Jr.` has no last name before the comma
        full_name = f"{before} {after}"
    if "," in full_name:
        return _part_by_comma(full_name, part)
    if rule.surname is Surname.BEFORE_COMMA:
        message = f"{quoted(full_name)} has no comma after the last name"
        return Refusal("name-unsplit", message, "write it as 'Last, First'")
    words = full_name.split()
    without_suffixes = _without_suffixes(words, rule)
    found = _last_name_words(without_suffixes, rule)
    if found is None:
        return _unsplit(full_name, words, rule)
    begin, end = found
    if part == "first":
        return " ".join(without_suffixes[:begin] + without_suffixes[end:])
    return " ".join(without_suffixes[begin:end] + words[len(without_suffixes) :])


def _visible(text: str) -> str:
    return text if text.isprintable() else text.translate(_INVISIBLE)


def _without_suffixes(words: list[str], rule: NameRule) -> list[str]:
    """The words before the suffixes at the end."""
    count = len(words)
    while count and normalize(words[count - 1]) in rule.suffixes:
        count -= 1
    return words[:count]


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
