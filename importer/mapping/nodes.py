"""Converts a YAML file to texts, lists and keys, each with its line and column, and collects problems."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode as YamlMapping
from ruamel.yaml.nodes import Node as YamlNode
from ruamel.yaml.nodes import SequenceNode as YamlSequence
from ruamel.yaml.reader import ReaderError

from importer.mapping.yaml_mistakes import SYNTAX_HINT, syntax_problem
from importer.models import Operation
from importer.problems import FilePlace, LinePlace, Place, Problem, UnusableInput

MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 20


class Text(str):
    """A text of the file with its place; `name` is the key above it, for messages. in_braces: between { } or [ ].

    is_absent: nothing is written, not even "".
    """

    __slots__ = ("in_braces", "is_absent", "name", "place")
    in_braces: bool
    is_absent: bool
    name: str
    place: LinePlace

    def __new__(cls, value: str, place: LinePlace, name: str = "", *, in_braces: bool = False) -> Text:
        text = super().__new__(cls, value)
        text.place, text.name, text.in_braces, text.is_absent = place, name, in_braces, False
        return text

    def __getnewargs__(self) -> tuple[str, LinePlace, str]:  # type: ignore[override]  # as a value for a worker
        return str(self), self.place, self.name


class Items(list["Node"]):
    """A list of the file."""

    def __init__(self, items: Iterable[Node], place: LinePlace, name: str) -> None:
        super().__init__(items)
        self.place, self.name = place, name


class Keys(dict[Text, "Node"]):
    """Keys and values of the file, in the order of the file; each key is unique. in_braces: between { }, or within.

    lines, end: the lines of the file, and the number of the last one before the next key behind these keys.
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Text, Node]],
        place: LinePlace,
        name: str,
        *,
        in_braces: bool = False,
        lines: Sequence[str] = (),
        end: int = 0,
    ) -> None:
        super().__init__(pairs)
        self.place, self.name, self.in_braces = place, name, in_braces
        self._lines, self._end = lines, end

    @property
    def comments(self) -> Iterator[LinePlace]:
        """The lines in and behind these keys that are only a comment."""
        for number, text in enumerate(self._lines[self.place.line - 1 : self._end], start=self.place.line):
            if text.lstrip().startswith("#"):
                yield LinePlace(self.place.file, number, 1, text)

    def key(self, name: str) -> Text:
        """The key with its place; it must exist."""
        return next(key for key in self if key == name)

    def place_of(self, name: str) -> LinePlace:
        """The place of the value of a key, which must exist."""
        return self[self.key(name)].place

    def value(self, name: str) -> Node | None:
        """The value of a key; None if the key is missing."""
        return self.get(cast(Text, name))


Node = Text | Items | Keys


def texts_in(node: Node | None) -> list[Text]:
    """The texts of a list, or a single text; other nodes are skipped."""
    items = node if isinstance(node, Items) else [node]
    return [text for text in items if isinstance(text, Text)]


# --- problems and files ------------------------------------------------------------------------------


class Diagnostics:
    """The errors and warnings so far, in the order they were found."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._warnings: list[Problem] = []

    def error(self, code: str, message: str, hint: str, place: Place) -> Problem:
        """Add an error; the result can be passed to `retract`."""
        error = Problem(code, message, hint, place)
        self.errors.append(error)
        return error

    def retract(self, errors: Collection[Problem]) -> None:
        """Remove these errors: one other error replaces them."""
        self.errors = [error for error in self.errors if error not in errors]

    def warning(self, code: str, message: str, hint: str, place: Place) -> None:
        self._warnings.append(Problem(code, message, hint, place))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(dict.fromkeys(self._warnings))

    def raise_error(self, code: str, message: str, hint: str, place: Place) -> NoReturn:
        """Raise UnusableInput with this error alone: the file cannot be read any further."""
        raise UnusableInput(Problem(code, message, hint, place)) from None

    def raise_errors(self) -> None:
        """Raise UnusableInput with every error once, if there are errors."""
        if self.errors:
            raise UnusableInput(tuple(dict.fromkeys(self.errors)))


OUTSIDE_HINT = "move it there, or add its folder to the setting IMPORTER_MAPPING_FOLDERS"


def is_within(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file is inside one of the folders, after following links. False for an invalid path."""
    try:
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, RuntimeError, ValueError):  # a circle of links; a NUL character
        return False


class Reader(Diagnostics):
    """The state of reading one mapping file and the files that it names: problems, and the bytes of each file.

    folders: the folder of the mapping file and other allowed folders; files that it names must be inside these.
    operation: the operation of the target; None until the target is read.
    """

    def __init__(self, folders: tuple[Path, ...]) -> None:
        super().__init__()
        self.folders = folders
        self.contents: dict[Path, bytes] = {}
        self.operation: Operation | None = None

    def named_file(self, name: Text) -> Path | None:
        """The path of a file that a mapping file names; None, and a problem, if it is outside the allowed folders."""
        path = relative_path(name)
        if is_within(path, self.folders):
            return path
        self.error("file-outside-folder", f"'{name}' is not in the folder of this mapping", OUTSIDE_HINT, name.place)
        return None

    def raise_errors_in_order(self) -> None:
        """Raise UnusableInput, if there are errors, with each once, in the order of the files and their lines."""
        files = [str(path) for path in self.contents]

        def position(error: Problem) -> tuple[int, int, int]:
            at = error.place
            return (files.index(at.file), at.line, at.column) if isinstance(at, LinePlace) else (0, 0, 0)

        self.errors.sort(key=position)
        self.raise_errors()

    def content(self, path: Path, limit: int) -> bytes:
        """The first `limit` bytes of a file, read only once.

        Raises OSError: it cannot be opened or is not a regular file. Opening a pipe does not block.
        """
        if path not in self.contents:
            with open(path, "rb", opener=_nonblocking) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise OSError(0, "it is a pipe or a device, not a regular file")
                self.contents[path] = file.read(limit)
        return self.contents[path]


def relative_path(name: Text) -> Path:
    """The path, relative to the folder of the file that names it."""
    return Path(name.place.file).parent / name


def _nonblocking(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


# --- YAML to nodes ------------------------------------------------------------------------------


def read_nodes(path: Path, reading: Reader) -> Node:
    """The file as nodes; every plain scalar stays the text that was typed (`NO`, `012`, `2024-01-02`).

    Raises UnusableInput: the file cannot be read, is too large, is not UTF-8 or not YAML, or contains a tag or a
    duplicate key.
    """
    return _YamlFile(path, Diagnostics()).read(_content(path, reading))


_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # the first bytes of workbooks


def _content(path: Path, reading: Reader) -> str:
    place = FilePlace(str(path))
    try:
        content = reading.content(path, MAX_BYTES + 1)
    except OSError as error:
        message = f"the mapping file cannot be read: {(error.strerror or str(error)).lower()}"
        reading.raise_error("mapping-unreadable", message, "check its name and permissions", place)
    if content.startswith(_SPREADSHEETS):
        hint = "swap the two: FILE is the spreadsheet, --mapping is the mapping file"
        reading.raise_error("mapping-unreadable", "this is a spreadsheet, not a mapping file (.yaml)", hint, place)
    if len(content) > MAX_BYTES:
        message = f"the mapping file is larger than {MAX_BYTES:,} bytes"
        reading.raise_error("limit-exceeded", message, "check that this is a mapping file", place)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        at = LinePlace(str(path), line, error.start - content.rfind(b"\n", 0, error.start))
        message = f"the file is not UTF-8 (byte 0x{content[error.start]:02x})"
        reading.raise_error("mapping-unreadable", message, "save the file as UTF-8", at)


class _YamlFile:
    """Converts the nodes of the parser."""

    def __init__(self, path: Path, diagnostics: Diagnostics) -> None:
        self._path = path
        self._diagnostics = diagnostics
        self._lines: list[str] = []

    def read(self, text: str) -> Node:
        self._lines = text.splitlines()
        try:
            self._check_events(text)
            root = cast("YamlNode | None", YAML(typ="safe", pure=True).compose(text))
        except YAMLError as error:
            self._refuse_syntax(error, text)
        if root is None:
            place = FilePlace(str(self._path))
            self._diagnostics.raise_error(
                "mapping-unreadable", "the mapping file is empty", "start it with version: 1", place
            )
        node = self._convert(root, name="the mapping file")
        self._diagnostics.raise_errors()
        return node

    def _check_events(self, text: str) -> None:
        """Reports tags and anchors, and refuses a file that is too large for the composer, which is recursive."""
        depth = 0
        for count, event in enumerate(YAML(typ="safe", pure=True).parse(text)):
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            place = self._place(event.start_mark)
            if count > MAX_NODES:
                message = f"the file has more than {MAX_NODES:,} values"
                hint = "put a value table into a CSV file, values: NAME.csv"
                self._diagnostics.raise_error("limit-exceeded", message, hint, place)
            if depth > MAX_DEPTH:
                message = f"lists and keys are nested more than {MAX_DEPTH} levels deep"
                self._diagnostics.raise_error("yaml-syntax-error", message, "use fewer levels", place)
            if getattr(event, "tag", None) is not None:
                message, hint = "YAML tags (!) are not supported", "remove it, or put the text in quotes"
                self._diagnostics.error("yaml-syntax-error", message, hint, place)
            if getattr(event, "anchor", None) is not None:
                message = "YAML anchors (&) and aliases (*) are not supported"
                hint = "write the values here too, or put the text in quotes"
                self._diagnostics.error("yaml-syntax-error", message, hint, place)
        self._diagnostics.raise_errors()

    def _place(self, mark: object) -> LinePlace:
        line, column = getattr(mark, "line", 0), getattr(mark, "column", 0)
        return LinePlace(str(self._path), line + 1, column + 1, self._lines[line] if line < len(self._lines) else "")

    def _refuse_syntax(self, error: YAMLError, text: str) -> NoReturn:
        place: Place = FilePlace(str(self._path))
        message, hint = "this is not valid YAML", SYNTAX_HINT
        if isinstance(error, MarkedYAMLError):
            mark, message, hint = syntax_problem(error, self._lines)
            place = self._place(mark)
        elif isinstance(error, ReaderError):
            before = text[: error.position]
            place = LinePlace(str(self._path), before.count("\n") + 1, len(before) - before.rfind("\n"))
            message, hint = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML", "remove it"
        self._diagnostics.raise_error("yaml-syntax-error", message, hint, place)

    def _convert(self, node: YamlNode, name: str, *, in_braces: bool = False) -> Node:
        place = self._place(node.start_mark)
        inside = in_braces or bool(getattr(node, "flow_style", False))
        if isinstance(node, YamlMapping):
            pairs = self._pairs(node, inside)
            return Keys(pairs, place, name, in_braces=inside, lines=self._lines, end=node.end_mark.line)
        if isinstance(node, YamlSequence):
            of = f"each item of {name}"
            return Items([self._convert(item, of, in_braces=inside) for item in node.value], place, name)
        text = Text(str(node.value), place, name, in_braces=in_braces)
        text.is_absent = not text and getattr(node, "style", None) is None
        return text

    def _pairs(self, node: YamlMapping, in_braces: bool) -> Iterable[tuple[Text, Node]]:
        pairs: dict[Text, tuple[Text, Node]] = {}
        for yaml_key, yaml_value in node.value:
            key = self._convert(yaml_key, "")
            if not isinstance(key, Text):
                self._diagnostics.error("mapping-value-invalid", "a key must be a text", "put it in quotes", key.place)
            elif key in pairs:
                hint = f"keep one; the other is on line {pairs[key][0].place.line}"
                self._diagnostics.error("keys-conflict", f"duplicate key '{key}'", hint, key.place)
            else:
                value = self._convert(yaml_value, key, in_braces=in_braces)
                # The parser places a missing value at the next token: place it at its key instead.
                if isinstance(value, Text) and value.is_absent:
                    value = Text("", key.place, key, in_braces=in_braces)
                    value.is_absent = True
                pairs[key] = key, value
        return pairs.values()
