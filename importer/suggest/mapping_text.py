"""Changes a mapping file one value at a time: every line that does not belong to the value stays byte for byte.

Within the value, ruamel keeps comments, quotes and keys that nobody asked about. Values are plain texts, lists and
dictionaries of texts, as the mapping language reads every scalar as the text that was typed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tag import Tag

from importer.mapping import comment_text, scalar
from importer.problems import UsageError

CHECK: Final = "please check"
_REVIEW: Final = re.compile(rf"\s*(?:#|,|;)\s*{CHECK}\b:?\s*(?P<reason>.*)$", re.IGNORECASE)
_COUNT: Final = re.compile(rf'(?m)^# Look for "{CHECK}" \(\d+\):.*\n')
_SECTIONS: Final = ("source", "defaults", "candidate", "answers")
_NO_BLOCK: Final = "this value cannot be changed here; change it in the mapping file"


class CannotChange(UsageError):
    """The value is written in a way that only a person can change, such as with an anchor; the message says so."""


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of a value, from that of its key on, and the comment lines above it that ask to check it."""

    above: int
    start: int
    end: int
    indent: int
    node: Node


class MappingText:
    """The text of a mapping file. A change returns a new one. Raises CannotChange: it is not YAML."""

    def __init__(self, text: str) -> None:
        self.text = text if text.endswith("\n") else f"{text}\n"
        self._lines = self.text.splitlines(keepends=True)
        try:
            self._root = YAML(typ="safe", pure=True).compose(self.text)
        except YAMLError:
            raise CannotChange("the mapping file is not valid YAML") from None

    # --- reading ----------------------------------------------------------------------------------

    def values(self, section: str) -> dict[str, Any]:
        """The values of a section, by their keys as they are written."""
        found = _pairs(self._root).get(section)
        return {name: plain(node) for name, (_, node) in _nodes(found[1]).items()} if found else {}

    def top(self, name: str) -> Any:
        """The value of a key of the whole file; None if there is none."""
        found = _pairs(self._root).get(name)
        return plain(found[1]) if found else None

    def review(self, section: str, name: str) -> str | None:
        """Why a person should check a value, as `mapping new` has noted; None if nothing is noted."""
        block = self._block(section, name)
        _, reasons = _reviewed(self._lines[block.above : block.end]) if block else ([], [])
        return "; ".join(filter(None, reasons)) if reasons else None

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The IDs, such as `answers/level`, of what a person should check."""
        every = ((section, name) for section in _SECTIONS for name in self.values(section))
        return tuple(f"{section}/{name}" for section, name in every if self.review(section, name) is not None)

    def at(self, line: int) -> tuple[str, str] | None:
        """The section and the key of the value in a line, from 1."""
        for section in ("candidate", "answers"):
            for name in self.values(section):
                block = self._block(section, name)
                if block is not None and block.start < line <= block.end:
                    return section, name
        return None

    def written(self, section: str, name: str) -> list[str]:
        """The lines of a value that is there, without their indentation, for `put`."""
        text = self._in_blocks(section)
        block = text._block(section, name)
        return [line[block.indent :].rstrip() for line in text._lines[block.above : block.end]] if block else []

    def lines(self, section: str, name: str) -> tuple[int, int]:
        """The lines of a value: the index of its first line, and that behind its last one; 0, 0 if there is none."""
        block = self._block(section, name)
        return (block.above, block.end) if block else (0, 0)

    # --- changing ---------------------------------------------------------------------------------

    def put(self, section: str, name: str, lines: Sequence[str]) -> MappingText:
        """Set a value to these lines, of which the first has its key."""
        text = self._in_blocks(section)
        names = list(text.values(section))
        if (block := text._block(section, name)) is not None:
            start, end, indent = block.above, block.end, block.indent
        elif names and (last := text._block(section, names[-1])) is not None:
            start, end, indent = last.end, last.end, last.indent
        else:
            start, end, indent = text._in_section(section)
            return text._with(start, end, [f"{section}:\n", *(f"{' ' * indent}{line}\n" for line in lines)])
        return text._with(start, end, [f"{' ' * indent}{line}\n" for line in lines])

    def change(self, section: str, name: str, keys: Mapping[str, Any]) -> MappingText:
        """Set keys of a value, or remove those that are None; a column alone is its key `column`."""

        def edit(value: CommentedMap) -> None:
            for key, new in keys.items():
                if new is None:
                    value.pop(key, None)
                else:
                    value[key] = _written(new)

        return self.edit(section, name, edit)

    def edit(self, section: str, name: str, edit: Callable[[CommentedMap], None]) -> MappingText:
        """Change a value with its comments, by a function; dictionaries that it puts there are written as new ones."""
        text = self._in_blocks(section)
        block = text._block(section, name)
        if block is None:
            return text.put(section, name, [f"{scalar(name)}: {{}}"]).edit(section, name, edit)
        yaml = _yaml()
        own = "".join(line[block.indent :] or "\n" for line in text._lines[block.start : block.end])
        try:
            loaded = yaml.load(own)
        except YAMLError:
            raise CannotChange(_NO_BLOCK) from None
        (key,) = loaded
        if not isinstance(loaded[key], CommentedMap):
            is_list = isinstance(loaded[key], CommentedSeq)
            loaded[key] = _written({"column": list(loaded[key]) if is_list else loaded[key]})
        edit(loaded[key])
        _write_new(loaded[key])
        if set(loaded[key]) == {"column"} and isinstance(loaded[key]["column"], str):
            loaded[key] = loaded[key]["column"]
        lines = [f"{' ' * block.indent}{line}" for line in _dumped(yaml, loaded)]
        return text._with(block.start, block.end, lines)

    def drop(self, section: str, name: str) -> MappingText:
        """Remove a value, and with the last one its section."""
        text = self._in_blocks(section)
        block = text._block(section, name)
        if block is None:
            return text
        text = text._with(block.above, block.end, [])
        return text._without_empty(section)

    def put_section(self, name: str, lines: Sequence[str]) -> MappingText:
        """Set a whole section to these lines, of which the first has its key; without lines, it is removed."""
        found = _pairs(self._root).get(name)
        if found is None:
            return self._with(len(self._lines), len(self._lines), [f"{line}\n" for line in lines])
        later = [key.start_mark.line for key, _ in _pairs(self._root).values()]
        start = found[0].start_mark.line
        end = min((line for line in later if line > start), default=len(self._lines))
        while end > start + 1 and _is_between(self._lines[end - 1], 0):
            end -= 1
        return self._with(start, end, [f"{line}\n" for line in lines])

    def confirm(self, section: str, name: str) -> MappingText:
        """Remove the notes that ask to check a value."""
        if (block := self._block(section, name)) is None:
            return self
        kept, _ = _reviewed(self._lines[block.above : block.end])
        return self._with(block.above, block.end, kept)

    def forget(self, name: str, columns: Sequence[str]) -> MappingText:
        """Remove the comments in which `mapping new` has left a question without a column, and unused columns."""
        unused = "|".join(re.escape(comment_text(column)) for column in columns) or "$"
        open_one = rf"\s*#\s+(?:under \w+:\s+)?{re.escape(scalar(name))}: \.\.\."
        stale = re.compile(rf"{open_one}|#   (?:{unused})(?:   \(.*)?$")
        return MappingText("".join(line for line in self._lines if not stale.match(line.rstrip())))

    # --- lines ------------------------------------------------------------------------------------

    def _with(self, start: int, end: int, lines: Sequence[str]) -> MappingText:
        text = "".join([*self._lines[:start], *lines, *self._lines[end:]])
        count = sum(CHECK in line for line in text.splitlines()) - bool(_COUNT.search(text))
        note = f'# Look for "{CHECK}" ({count}): these values are likely, but not certain.\n' if count else ""
        return MappingText(_COUNT.sub(note, text))

    def _without_empty(self, section: str) -> MappingText:
        """Without the key of a section that has no value; its place is kept as a comment."""
        found = _pairs(self._root).get(section)
        if found is None or _nodes(found[1]):
            return self
        start = found[0].start_mark.line
        return self._with(start, start + 1, [f"# {section}:\n"])

    def _block(self, section: str, name: str) -> _Block | None:
        found = _pairs(self._root).get(section)
        nodes = _nodes(found[1]) if found else {}
        if name not in nodes:
            return None
        key, node = nodes[name]
        start, indent = key.start_mark.line, key.start_mark.column
        later = [each.start_mark.line for each, _ in (*nodes.values(), *_pairs(self._root).values())]
        end = min((line for line in later if line > start), default=len(self._lines))
        while end > start + 1 and _is_between(self._lines[end - 1], indent):
            end -= 1
        above = start
        while above and self._lines[above - 1].startswith(f"{' ' * indent}# "):
            above -= 1
            if self._lines[above].strip().startswith(f"# {CHECK}"):
                return _Block(above, start, end, indent, node)
        return _Block(start, start, end, indent, node)

    def _in_section(self, section: str) -> tuple[int, int, int]:
        """Where the first value of a section without values belongs: the lines to replace, and its indentation."""
        found = _pairs(self._root).get(section)
        if found is not None:
            return found[0].start_mark.line, found[1].end_mark.line + 1, 2
        commented = [at for at, line in enumerate(self._lines) if line.rstrip() == f"# {section}:"]
        at = commented[0] if commented else len(self._lines)
        return at, at + len(commented[:1]), 2

    def _in_blocks(self, section: str) -> MappingText:
        """The text with a line for each value of a section that is written between braces."""
        found = _pairs(self._root).get(section)
        if found is None or not _nodes(found[1]) or not getattr(found[1], "flow_style", False):
            return self
        start, end = found[0].start_mark.line, found[1].end_mark.line + 1
        yaml = _yaml()
        try:
            loaded = yaml.load("".join(self._lines[start:end]))
        except YAMLError:
            raise CannotChange(_NO_BLOCK) from None
        loaded[section].fa.set_block_style()
        return self._with(start, end, _dumped(yaml, loaded))


def _reviewed(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines without the notes that ask to check them, at their ends or above them; and the reasons in these."""
    kept: list[str] = []
    reasons: list[str] = []
    in_note = False
    for line in lines:
        found, is_comment = _REVIEW.search(line.rstrip()), line.lstrip().startswith("#")
        is_note = is_comment and (in_note or (found is not None and not line[: found.start()].strip()))
        if is_note and in_note:
            reasons[-1] += f" {line.strip().removeprefix('# ')}"
        elif found and (is_note or not is_comment):
            reasons.append(found["reason"])
        if not is_note:
            kept.append(f"{line[: found.start()]}\n" if found and not is_comment else line)
        in_note = is_note
    return kept, reasons


def _yaml() -> YAML:
    """A reader and writer that keeps comments and quotes, and reads every scalar as the text that was typed."""
    yaml = YAML()
    yaml.Resolver = _Texts
    yaml.preserve_quotes = True
    yaml.width = 100_000
    return yaml


class _Texts(VersionedResolver):
    """Every plain scalar is a text: `NO`, `012` and `2024-01-02` are not read as values, and need no quotes."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        return Tag(suffix="tag:yaml.org,2002:str") if kind is ScalarNode else super().resolve(kind, value, implicit)


def _dumped(yaml: YAML, loaded: Any) -> list[str]:
    out = io.StringIO()
    yaml.dump(loaded, out)
    return out.getvalue().splitlines(keepends=True)


def _written(value: Any) -> Any:
    """A text, list or dictionary as it is written: in quotes where every YAML reader needs them, lists in brackets."""
    if isinstance(value, str):
        return DoubleQuotedScalarString(value) if scalar(value).startswith('"') else value
    if isinstance(value, Mapping):
        return CommentedMap({_written(key): _written(one) for key, one in value.items()})
    items = CommentedSeq([_written(one) for one in value])
    if not any(isinstance(one, Mapping) for one in value):
        items.fa.set_flow_style()
    return items


def _write_new(node: Any) -> None:
    """Give the plain dictionaries inside a loaded node the form of the file."""
    for key, one in list(node.items() if isinstance(node, CommentedMap) else enumerate(node)):
        if type(one) is dict:
            node[key] = _written(one)
        elif isinstance(one, CommentedMap | CommentedSeq):
            _write_new(one)


def plain(node: Node) -> Any:
    """A node of YAML as texts, lists and dictionaries."""
    if isinstance(node, MappingNode):
        return {name: plain(value) for name, (_, value) in _nodes(node).items()}
    return [plain(one) for one in node.value] if isinstance(node.value, list) else str(node.value)


def _pairs(root: Node | None) -> dict[str, tuple[Node, Node]]:
    return _nodes(root) if root is not None else {}


def _nodes(node: Node) -> dict[str, tuple[Node, Node]]:
    pairs = node.value if isinstance(node, MappingNode) else []
    return {str(key.value): (key, value) for key, value in pairs}


def _is_between(line: str, indent: int) -> bool:
    """Whether a line behind a value does not belong to it: it is blank, or a comment that is not indented further."""
    text = line.strip()
    return not text or (text.startswith("#") and len(line) - len(line.lstrip()) <= indent)
