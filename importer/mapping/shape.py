"""Checks that a node has the shape that is expected, and tells what is wrong with it where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from importer.mapping.findings import Findings
from importer.mapping.model import Text
from importer.mapping.nodes import ListNode, MappingNode, Node
from importer.text.closest import did_you_mean

_T = TypeVar("_T")
_Word = TypeVar("_Word", bound=StrEnum)


class Fields:
    """The keys of one mapping in the file, each read at most once with the reader that its value needs."""

    def __init__(self, node: MappingNode, name: str, findings: Findings) -> None:
        self.place = node.place
        self.name = name
        self._findings = findings
        self._pairs = {pair.key.value: pair for pair in node.pairs}

    def only(self, known: Sequence[str]) -> Fields:
        """Tells each key that is not known."""
        for typed, pair in self._pairs.items():
            if typed not in known:
                self._findings.mistake(
                    "unknown-key", f"'{typed}' is no key of {self.name}", did_you_mean(typed, known, 32), pair.key.place
                )
        return self

    def has(self, key: str) -> bool:
        return key in self._pairs

    def key(self, key: str) -> Text:
        """The key itself as it stands in the file; the key must be there."""
        return self._pairs[key].key

    def node(self, key: str) -> Node:
        """The value of a key as it stands in the file; the key must be there."""
        return self._pairs[key].value

    def read(self, key: str, reader: Callable[[Node, str, Findings], _T | None]) -> _T | None:
        """The value of a key through a reader, None where the key is absent or its value is wrong (and told)."""
        pair = self._pairs.get(key)
        if pair is None:
            return None
        return reader(pair.value, key, self._findings)

    def require(self, key: str, reader: Callable[[Node, str, Findings], _T | None], hint: str) -> _T | None:
        """Like read, but an absent key is a mistake, told at the start of this mapping."""
        if key not in self._pairs:
            self._findings.mistake("missing-key", f"{self.name} has no {key}", hint, self.place)
        return self.read(key, reader)


def read_fields(node: Node, name: str, findings: Findings) -> Fields | None:
    """Keys and values."""
    if isinstance(node, MappingNode):
        return Fields(node, name, findings)
    if isinstance(node, Text) and not node.value:
        _wrong_type(
            node, f"nothing stands under {name}", "write 'key: value' below it, one to a line, indented", findings
        )
    else:
        _wrong_type(node, f"{name} must be keys and values", "write 'key: value', one to a line, indented", findings)
    return None


def read_text(node: Node, name: str, findings: Findings) -> Text | None:
    """A text that may be blank (`""`)."""
    if isinstance(node, Text):
        return node
    hint = "write it in quotes" if isinstance(node, MappingNode) else "give one text"
    _wrong_type(node, f"{name} must be a text", hint, findings)
    return None


def read_filled(node: Node, name: str, findings: Findings) -> Text | None:
    """A text that is not blank."""
    text = read_text(node, name, findings)
    if text is not None and not text.value.strip():
        _wrong_type(text, f"{name} is blank", "give a text, or take the key out", findings)
        return None
    return text


def read_texts(node: Node, name: str, findings: Findings) -> tuple[Text, ...] | None:
    """A text, or a list of texts; at least one."""
    if isinstance(node, Text):
        return (node,)
    if isinstance(node, ListNode):
        if not node.items:
            _wrong_type(node, f"{name} is an empty list", "give at least one text", findings)
            return None
        texts = [read_text(item, f"each item of {name}", findings) for item in node.items]
        return tuple(text for text in texts if text is not None) if all(texts) else None
    _wrong_type(node, f"{name} must be a text or a list of texts", "write it in quotes, or as [a, b]", findings)
    return None


def read_word(kind: type[_Word]) -> Callable[[Node, str, Findings], _Word | None]:
    """A reader of one of a few words."""

    def read(node: Node, name: str, findings: Findings) -> _Word | None:
        text = read_text(node, name, findings)
        if text is None:
            return None
        words = [str(word) for word in kind]
        if text.value not in words:
            message = f"'{text.value}' is no value of {name}"
            findings.mistake("unknown-word", message, did_you_mean(text.value, words), text.place)
            return None
        return kind(text.value)

    return read


def read_number(node: Node, name: str, findings: Findings) -> int | None:
    """A whole number from 1."""
    text = read_text(node, name, findings)
    if text is None:
        return None
    if not (text.value.isascii() and text.value.isdigit() and len(text.value) <= 9 and int(text.value) > 0):
        findings.mistake("no-number", f"{name} must be a whole number from 1", "write it in digits", text.place)
        return None
    return int(text.value)


def _wrong_type(node: Node, message: str, hint: str, findings: Findings) -> None:
    findings.mistake("wrong-type", message, hint, node.place)
