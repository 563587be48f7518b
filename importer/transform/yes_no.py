"""Reads yes and no in the words of several languages and of the mapping."""

from __future__ import annotations

from collections.abc import Callable

from importer.mapping import NO_WORDS, YES_WORDS, ResolvedValue
from importer.text.normalize import normalize
from importer.transform.refusal import Refusal, in_mapping, quoted


def flag_reader(value: ResolvedValue) -> Callable[[str, bool], bool | Refusal]:
    """A reader of booleans; the words that the mapping declares go before the built-in ones."""
    meanings = {normalize(word): True for word in YES_WORDS} | {normalize(word): False for word in NO_WORDS}
    meanings |= {normalize(word): True for word in value.formats.yes or ()}
    meanings |= {normalize(word): False for word in value.formats.no or ()}

    def read(text: str, typed: bool) -> bool | Refusal:
        meaning = meanings.get(normalize(text))
        if meaning is None:
            hint = f"write yes or no, or declare its words under yes: and no: {in_mapping(value.place)}"
            return Refusal("yes-no-unreadable", f"{quoted(text)} is neither yes nor no", hint)
        return meaning

    return read


def yes_no_reader(value: ResolvedValue, words: tuple[str, str]) -> Callable[[str, bool], str | Refusal]:
    """A reader of yes/no answers into the words that the service is sent."""
    read_flag = flag_reader(value)
    yes, no = words

    def read(text: str, typed: bool) -> str | Refusal:
        flag = read_flag(text, typed)
        if isinstance(flag, Refusal):
            return flag
        return yes if flag else no

    return read
