"""Reads a list in one cell, in JSON or Python notation; every value stays the text that was written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from importer.text.damage import undamaged

_LONGEST = 200_000  # characters
_DEEPEST = 10
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<separator>[\[\](){}:,])
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<word>[A-Za-z]+)
      | (?P<number>[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    )\s*""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"null": "", "None": "", "nan": "", "NaN": ""} | dict.fromkeys(("true", "True"), "TRUE")
_WORDS |= dict.fromkeys(("false", "False"), "FALSE")
_CLOSING = {"[": "]", "(": ")"}
_ESCAPE = re.compile(r"\\(?:U([0-9A-Fa-f]{8})|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")

Parsed = str | Sequence["Parsed"] | Mapping[str, "Parsed"]


class Number(str):
    """A number that is not written as a text: its decimal point is one whatever the language."""


class InvalidLiteral(ValueError):
    """The text is not valid JSON or Python; the message gives the position in characters from 1."""


def read_literal(text: str) -> Parsed:
    """A value as texts, lists and dictionaries; null and None are "", booleans TRUE and FALSE.

    Raises InvalidLiteral: the text is neither JSON nor a Python literal, or too long or deep.
    """
    if len(text) > _LONGEST:
        raise InvalidLiteral(f"it is longer than {_LONGEST:,} characters")
    parser = _Parser(tuple(_tokens(text)))
    value = parser.value(0)
    parser.expect("end")
    return value


@dataclass(frozen=True, slots=True)
class _Token:
    """`kind` is text, word, number or end, or the separator itself; `at` counts characters from 0."""

    kind: str
    text: str
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise InvalidLiteral(f"it cannot be read from character {position + 1} on")
        name = match.lastgroup or ""
        kind = {"separator": match[name], "double": "text", "single": "text"}.get(name, name)
        yield _Token(kind, match[name], match.start(name))
        position = match.end()
    yield _Token("end", "", len(text))


class _Parser:
    """Parses the tokens in one pass."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def value(self, depth: int) -> Parsed:
        if depth > _DEEPEST:
            raise InvalidLiteral(f"it is nested more than {_DEEPEST} levels deep")
        token = self._take()
        if token.kind == "text":
            return _unescaped(token.text)
        if token.kind == "number":
            return Number(token.text)
        if token.kind == "word" and token.text in _WORDS:
            return _WORDS[token.text]
        if token.kind in _CLOSING:
            return self._list(_CLOSING[token.kind], depth + 1)
        if token.kind == "{":
            return self._pairs(depth + 1)
        raise _unexpected(token)

    def expect(self, kind: str) -> None:
        token = self._take()
        if token.kind != kind:
            raise _unexpected(token)

    def _list(self, closing: str, depth: int) -> Parsed:
        items: list[Parsed] = []
        while not self._at(closing):
            items.append(self.value(depth))
            if not self._at(closing):
                self.expect(",")
        self._take()
        return items

    def _pairs(self, depth: int) -> Parsed:
        pairs: dict[str, Parsed] = {}
        while not self._at("}"):
            key = self.value(depth)
            self.expect(":")
            name = key if isinstance(key, str) else str(key)
            if name in pairs:
                raise InvalidLiteral(f"the key '{name}' occurs twice")
            pairs[name] = self.value(depth)
            if not self._at("}"):
                self.expect(",")
        self._take()
        return pairs

    def _at(self, kind: str) -> bool:
        return self._tokens[self._next].kind == kind

    def _take(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]


def _unexpected(token: _Token) -> InvalidLiteral:
    if token.kind == "end":
        return InvalidLiteral(f"it ends too early, after character {token.at}")
    return InvalidLiteral(f"it cannot be read from character {token.at + 1} on")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    whole = _ESCAPE.sub(_escape, text)
    whole = _SURROGATES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), whole)
    if "\ufffd" in whole or undamaged(whole) is not None:  # in a cell, escapes hide it
        raise InvalidLiteral(f"'{whole}' in it was read in a wrong encoding by another program")
    return whole


def _escape(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2) or match.group(3)
    if code is None:
        if match.group(4) not in _SHORT:
            raise InvalidLiteral(f"the escape {match.group(0)} is not valid")
        return _SHORT[match.group(4)]
    if int(code, 16) > sys.maxunicode:
        raise InvalidLiteral(f"the escape {match.group(0)} is not valid")
    return chr(int(code, 16))
