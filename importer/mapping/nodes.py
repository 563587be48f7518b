"""A YAML file becomes texts, lists and mappings, each with its line and column; no text is taken for anything else."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode as YamlMapping
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.nodes import SequenceNode as YamlSequence
from ruamel.yaml.reader import ReaderError

from importer.errors import UnusableInput
from importer.mapping.diagnostics import Diagnostics
from importer.mapping.model import Text
from importer.models import FilePlace, LinePlace, Problem

MAX_BYTES = 1_000_000
MAX_NODES = 50_000  # aliases of aliases make a small file large
MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list of the file."""

    items: tuple[Node, ...]
    place: LinePlace


@dataclass(frozen=True, slots=True)
class Pair:
    """A key and its value."""

    key: Text
    value: Node


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Keys and values of the file, in its order, each key once."""

    pairs: tuple[Pair, ...]
    place: LinePlace


Node = Text | ListNode | MappingNode


def read_nodes(path: Path) -> Node:
    """The file as nodes; every plain scalar is the text that was typed (`NO`, `012`, `2024-01-02`).

    Raises:
        UnusableInput: the file cannot be read, is too large, is no UTF-8 or no YAML, or uses tags or a key twice.
    """
    text = _text_of(path)
    lines = text.splitlines()
    try:
        diagnostics = Diagnostics()
        _check_events(text, path, lines, diagnostics)
        root = _compose(text)
    except YAMLError as error:
        raise UnusableInput(_syntax_problem(error, path, text)) from None
    if root is None:
        raise UnusableInput(
            Problem("mapping-empty", "the mapping file is empty", "begin it with version: 1", FilePlace(str(path)))
        )
    node = _Converter(path, lines, diagnostics).convert(root, depth=0)
    diagnostics.raise_errors()
    return node


_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how workbooks begin


def _text_of(path: Path) -> str:
    try:
        content = first_bytes(path, MAX_BYTES + 1)
    except OSError as error:
        message = f"the mapping file cannot be read: {(error.strerror or str(error)).lower()}"
        raise UnusableInput(
            Problem("mapping-unreadable", message, "check its name and permissions", FilePlace(str(path)))
        ) from None
    if content.startswith(_SPREADSHEETS):
        message = "this is a spreadsheet, and a mapping file (.yaml) is wanted"
        hint = "give the two the other way round"
        raise UnusableInput(Problem("mapping-is-spreadsheet", message, hint, FilePlace(str(path))))
    if len(content) > MAX_BYTES:
        message = f"the mapping file is larger than {MAX_BYTES:,} bytes"
        raise UnusableInput(Problem("mapping-too-large", message, "give a mapping file", FilePlace(str(path))))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise UnusableInput(
            Problem(
                "mapping-not-utf8",
                f"the byte 0x{content[error.start]:02x} is no UTF-8",
                "save the file as UTF-8",
                LinePlace(str(path), line, column),
            )
        ) from None


def first_bytes(path: Path, most: int) -> bytes:
    """The beginning of a file.

    Raises:
        OSError: it cannot be opened or is no regular file; a pipe is not waited for.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is a pipe or a device, which may never end")
        return file.read(most)


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _compose(text: str) -> YamlNode | None:
    node: YamlNode | None = YAML(typ="safe", pure=True).compose(text)
    return node


def _check_events(text: str, path: Path, lines: list[str], diagnostics: Diagnostics) -> None:
    """Tells tags, and refuses what is too deep before the composer, which calls itself for each level, sees it."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        place = _place(path, lines, event.start_mark)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise UnusableInput(_too_deep(place))
        if getattr(event, "tag", None) is not None:
            diagnostics.error("yaml-tag", "a YAML tag (!) has no meaning here", "take it out", place)


def _place(path: Path, lines: list[str], mark: object) -> LinePlace:
    line, column = getattr(mark, "line", 0), getattr(mark, "column", 0)
    return LinePlace(str(path), line + 1, column + 1, lines[line] if line < len(lines) else "")


def _too_deep(place: LinePlace) -> Problem:
    return Problem("yaml-too-deep", f"lists and keys lie more than {MAX_DEPTH} deep", "write it flatter", place)


_SYNTAX_HINT = "check indentation and brackets, and put texts with : # { [ or @ in quotes"


def _syntax_problem(error: YAMLError, path: Path, text: str) -> Problem:
    if isinstance(error, MarkedYAMLError):
        place = _place(path, text.splitlines(), error.problem_mark or error.context_mark)
        return Problem("yaml-syntax", f"this is no YAML: {error.problem or error.context}", _SYNTAX_HINT, place)
    if isinstance(error, ReaderError):
        before = text[: error.position]
        place = LinePlace(str(path), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        message = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML"
        return Problem("yaml-syntax", message, "take it out", place)
    return Problem("yaml-syntax", "this is no YAML", _SYNTAX_HINT, FilePlace(str(path)))


class _Converter:
    """Turns the parser's nodes into ours; refuses what never ends."""

    def __init__(self, path: Path, lines: list[str], diagnostics: Diagnostics) -> None:
        self._path = path
        self._lines = lines
        self._findings = diagnostics
        self._count = 0

    def convert(self, node: YamlNode, depth: int) -> Node:
        self._count += 1
        place = _place(self._path, self._lines, node.start_mark)
        if self._count > MAX_NODES:
            message = f"the file stands for more than {MAX_NODES:,} values"
            raise UnusableInput(Problem("mapping-too-large", message, "use fewer aliases (*)", place))
        if depth > MAX_DEPTH:
            raise UnusableInput(_too_deep(place))
        if isinstance(node, YamlMapping):
            return MappingNode(self._pairs(node, depth + 1), place)
        if isinstance(node, YamlSequence):
            return ListNode(tuple(self.convert(item, depth + 1) for item in node.value), place)
        return Text(str(node.value), place)

    def _pairs(self, node: YamlMapping, depth: int) -> tuple[Pair, ...]:
        pairs: dict[str, Pair] = {}
        for yaml_key, yaml_value in node.value:
            key = self.convert(yaml_key, depth)
            if not isinstance(key, Text):
                self._findings.error("key-no-text", "a key must be a text", "put it in quotes", key.place)
            elif key.value in pairs:
                first = pairs[key.value].key.place.line
                self._findings.error(
                    "duplicate-key",
                    f"'{key.value}' is given twice",
                    f"keep one; the other is in line {first}",
                    key.place,
                )
            else:
                pairs[key.value] = Pair(key, self._value(yaml_value, key, depth))
        return tuple(pairs.values())

    def _value(self, node: YamlNode, key: Text, depth: int) -> Node:
        value = self.convert(node, depth)
        # The parser sees a value that is left out only where the next thing begins: tell it at its key.
        if isinstance(value, Text) and not value.value and getattr(node, "style", None) is None:
            return Text("", key.place)
        return value
