"""Reads a list in one cell as JSON writes it, or as Python prints it; every value stays the text that was written."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LONGEST = 200_000  # characters
_DEEPEST = 10
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<sign>[\[\](){}:,])
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<word>[A-Za-z]+)
      | (?P<number>[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    )\s*""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"null": "", "None": "", "nan": "", "NaN": "", "true": "TRUE", "True": "TRUE", "false": "FALSE"} | {
    "False": "FALSE"
}
_ESCAPE = re.compile(r"\\(?:U([0-9A-Fa-f]{8})|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")

Written = str | Sequence["Written"] | Mapping[str, "Written"]


class Unreadable(ValueError):
    """The text is no such list; the message says where, counted in characters from 1."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def read_written(text: str) -> Written:
    """A value as texts, lists and dictionaries; null and None are "", booleans TRUE and FALSE.

    Raises:
        Unreadable: the text is neither JSON nor a Python literal, or too long or deep.
    """
    if len(text) > _LONGEST:
        raise Unreadable(f"it is longer than {_LONGEST:,} characters")
    tokens = list(_tokens(text))
    parser = _Parser(tokens, len(text))
    value = parser.value(0)
    parser.expect_end()
    return value


def _tokens(text: str) -> Sequence[_Token]:
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(f"it breaks at character {position + 1}")
        kind = match.lastgroup or "sign"
        found.append(_Token("text" if kind in ("double", "single") else kind, match[kind], match.start(kind)))
        position = match.end()
    return found


class _Parser:
    """Goes through the tokens once."""

    def __init__(self, tokens: Sequence[_Token], length: int) -> None:
        self._tokens = tokens
        self._length = length
        self._next = 0

    def value(self, depth: int) -> Written:
        if depth > _DEEPEST:
            raise Unreadable(f"lists lie more than {_DEEPEST} deep")
        token = self._take()
        if token.kind == "text":
            return _unescaped(token.text)
        if token.kind == "number":
            return token.text
        if token.kind == "word" and token.text in _WORDS:
            return _WORDS[token.text]
        if token.text in ("[", "("):
            return self._list("]" if token.text == "[" else ")", depth + 1)
        if token.text == "{":
            return self._pairs(depth + 1)
        raise self._breaks(token)

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._breaks(self._tokens[self._next])

    def _list(self, end: str, depth: int) -> Written:
        items: list[Written] = []
        while not self._is(end):
            items.append(self.value(depth))
            if not self._is(end):
                self._sign(",")
        self._take()
        return items

    def _pairs(self, depth: int) -> Written:
        pairs: dict[str, Written] = {}
        while not self._is("}"):
            key = self.value(depth)
            self._sign(":")
            pairs[key if isinstance(key, str) else str(key)] = self.value(depth)
            if not self._is("}"):
                self._sign(",")
        self._take()
        return pairs

    def _is(self, sign: str) -> bool:
        token = self._tokens[self._next] if self._next < len(self._tokens) else None
        return token is not None and token.kind == "sign" and token.text == sign

    def _sign(self, sign: str) -> None:
        token = self._take()
        if token.kind != "sign" or token.text != sign:
            raise self._breaks(token)

    def _take(self) -> _Token:
        if self._next == len(self._tokens):
            raise Unreadable(f"it ends too early, after character {self._length}")
        self._next += 1
        return self._tokens[self._next - 1]

    def _breaks(self, token: _Token) -> Unreadable:
        return Unreadable(f"it breaks at character {token.at + 1}")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    whole = _ESCAPE.sub(_escape, text)
    return _SURROGATES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), whole)


def _escape(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2) or match.group(3)
    if code is None:
        return _SHORT.get(match.group(4), match.group(0))
    return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else match.group(0)
