"""Reads the text of a cell by the steps that the mapping declares for a value, and then by its kind."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

from importer.mapping import Kind, LinearPattern, Otherwise, ResolvedTable, ResolvedValue, Take
from importer.problems import Unread
from importer.settings import WireFormat
from importer.text.literals import InvalidLiteral, read_literal
from importer.text.normalize import did_you_mean, normalize, pieces_with, range_pieces
from importer.transform.kinds import joined_choices, reader_of
from importer.transform.names import part_of_name
from importer.transform.texts import InvalidValue, in_mapping, into_table, quoted, stripped


class OpenEnd:
    """The value of an end date such as Present."""


OPEN_END = OpenEnd()


_JSON = "json"  # as `split:`
_BETWEEN_CHOICES = r"([;,|\n])"
_OTHER_RULES = ("date-incomplete", "date-in-future")  # the other end of a range has its own
_SPARE = 20  # normalizing removes spaces, so a missing word may be written this much longer
_LONGEST_MATCHED = 10_000  # characters of a cell that a pattern is tried on


class Interpreter:
    """Reads texts by the steps that the mapping declares, and then by the kind of the value; caches nothing."""

    def __init__(self, value: ResolvedValue, wire: WireFormat) -> None:
        spec = value.spec
        self._value, self._spec = value, spec
        self._wire = wire
        self._read_kind = reader_of(value, wire)
        self._several = value.field.kind is Kind.CHOICES
        if self._several:
            self._separator = re.compile(f"({re.escape(spec.split)})" if spec.split else _BETWEEN_CHOICES)
            known = [*value.field.options, *(value.table.targets if value.table else ())]
            self._choices = frozenset(map(normalize, known))
            self._longest_choice = max((len(self._separator.split(each)) // 2 + 1 for each in known), default=1)
        self._has_options = bool(value.field.options) or value.field.kind in (Kind.YES_NO, Kind.FLAG)
        self._bare = not (spec.before or spec.after)
        self._missing = value.missing
        self._longest_missing = max(map(len, value.missing), default=0) + _SPARE
        steps = (spec.pattern, spec.pick, value.present, spec.part, spec.split, spec.take, value.table)
        self.is_plain = self._bare and not self._several and not any(steps)
        self.tables_used: set[str] = set()  # `table` or `otherwise`, since it was last cleared

    def is_missing(self, text: str) -> bool:
        """Whether the stripped text counts as an empty cell."""
        return not text or (len(text) <= self._longest_missing and normalize(text) in self._missing)

    def read_fixed(self, text: str) -> Any:
        """A text written in the mapping itself; missing words and value tables do not apply to it."""
        return self._read_choices(text, typed=False) if self._several else self._read_kind(text.strip(), True)

    def read(self, text: str, typed: bool) -> Any:
        """The value of a stripped text: None where it counts as empty; may be OPEN_END or a InvalidValue."""
        spec, present = self._spec, self._value.present
        if len(text) <= self._longest_missing and self.is_missing(text):
            return None
        if self.is_plain:
            return self._read_kind(text, typed)
        if spec.pattern is not None:
            found = self._matched(text, spec.pattern)
            if isinstance(found, InvalidValue):
                return found
            if self.is_missing(found):
                return None
            text, typed = found, False
        if spec.pick is not None:
            pieces = [piece for piece in pieces_with(spec.pick, text) if not self.is_missing(piece)]
            if len(pieces) != 1:
                return self._not_one(pieces, text) if pieces else None
            text, typed = pieces[0], False
        if present and normalize(text) in present:
            return OPEN_END
        if spec.part == "start" or spec.part == "end":
            return self._read_range(text, spec.part)
        if self._several:
            return self._read_choices(text, typed)
        return self._read_piece(text, typed)

    def _matched(self, text: str, pattern: LinearPattern) -> str | InvalidValue:
        groups = pattern.groups_of(text) if len(text) <= _LONGEST_MATCHED else None
        if groups is None:
            hint = f"correct it, or change pattern: {in_mapping(self._spec.node.key('pattern').place)}"
            return InvalidValue("pattern-mismatch", f"{quoted(text)} does not match the pattern", hint)
        return stripped(groups[self._spec.group or pattern.names[0]] or "")

    def _not_one(self, pieces: list[str], text: str) -> InvalidValue:
        one, other, *_ = map(quoted, pieces)
        message = f"{quoted(text)} has several pieces with '{self._spec.pick}': {one} and {other}"
        hint = f"keep one of them, or change pick: {in_mapping(self._value.place)}"
        return InvalidValue("pick-ambiguous", message, hint)

    def _read_range(self, text: str, part: Literal["start", "end"]) -> Any:
        """One end of a range. The other one must be valid too: `2019-05` may be a month, and `40 - 50k` is not 40."""
        ends = _ends_of_range(text, self._spec.split)
        if isinstance(ends, InvalidValue):
            return ends
        whole = self._read_kind(text, False)
        if not isinstance(whole, InvalidValue) or whole.code == "date-incomplete":
            return _no_range(text)
        end, other = ends if part == "start" else reversed(ends)
        read, other_read = self._read_end(end), self._read_end(other)
        if not isinstance(other_read, InvalidValue) or other_read.code in _OTHER_RULES:
            return read
        return other_read if any(map(str.isdigit, other)) else read  # without digits, it may be a word for an open end

    def _read_end(self, text: str) -> Any:
        if self.is_missing(text):
            return None
        return OPEN_END if normalize(text) in self._value.present else self._read_one(text, typed=False)

    def _read_piece(self, text: str, typed: bool) -> Any:
        take = self._spec.take
        if take is None or self._spec.split is None:
            return self._read_named(text, typed)
        pieces = self._pieces(text)
        if isinstance(pieces, InvalidValue) or not pieces:
            return pieces or None
        read = self._read_named(pieces[0], typed=False)
        if take is Take.FIRST or not isinstance(read, InvalidValue):
            return read
        others = (self._read_named(piece, typed=False) for piece in pieces[1:])
        return next((other for other in others if not isinstance(other, InvalidValue)), read)

    def _pieces(self, text: str) -> list[str] | InvalidValue:
        """The values in a text, without those that count as an empty cell."""
        split = self._spec.split
        pieces = text.split(split) if split else [text]
        if split == _JSON:
            try:
                found = read_literal(text)
            except InvalidLiteral as error:
                return InvalidValue("list-invalid", f"{quoted(text)} is not a valid list: {error}", "correct it")
            pieces = [piece for piece in found if isinstance(piece, str)] if isinstance(found, list) else []
            if len(pieces) < len(found):
                return InvalidValue("list-invalid", f"{quoted(text)} is not a list of texts", "correct it")
        return [piece for piece in map(stripped, pieces) if not self.is_missing(piece)]

    def _read_named(self, text: str, typed: bool) -> Any:
        part = self._spec.part
        if part != "first" and part != "last":
            return self._read_one(text, typed)
        name = part_of_name(text, part, self._value.formats.names)
        return name if isinstance(name, InvalidValue) else self._read_one(name, typed)

    def _read_choices(self, text: str, typed: bool) -> Any:
        pieces = self._pieces(text) if self._spec.split == _JSON else self._chosen(text)
        if isinstance(pieces, InvalidValue):
            return pieces
        read = [self._read_one(piece, typed) for piece in pieces]
        invalid = [found for found in read if isinstance(found, InvalidValue)]
        if invalid:
            return self._with_hint_to_split(text, invalid[0])
        chosen = [found for found in read if found is not None]
        return joined_choices(chosen, self._wire) if chosen else None

    def _chosen(self, text: str) -> list[str] | InvalidValue:
        """The choices in a text. Those with the separator inside are found by the options and the value table.

        Without a declared separator, the text is split only if every piece is a known choice.
        """
        pieces = self._separator.split(text)  # and the separators between them
        ends = len(pieces) // 2 + 1
        ways: list[list[list[str]]] = [[] for _ in range(ends)] + [[[]]]  # from each piece on, two at most
        for start in reversed(range(ends)):
            if self.is_missing(stripped(pieces[2 * start])):
                ways[start] = ways[start + 1]
                continue
            for end in range(start + 1, min(start + self._longest_choice, ends) + 1):
                choice = stripped("".join(pieces[2 * start : 2 * end - 1]))
                if normalize(choice) in self._choices:
                    ways[start] = (ways[start] + [[choice, *rest] for rest in ways[end]])[:2]
        if len(ways[0]) > 1:
            one, other = (" and ".join(f"'{choice}'" for choice in way) for way in ways[0])
            hint = f"separate choices by another character, and set it as split: {in_mapping(self._value.place)}"
            return InvalidValue("not-an-option", f"{quoted(text)} may be {one}, or {other}", hint)
        if ways[0]:
            return ways[0][0]
        return [stripped(text)] if self._spec.split is None else self._with_unknown(pieces)

    def _with_unknown(self, pieces: list[str]) -> list[str]:
        """The choices from the first to the last, the longest known one first; what is not known is a piece alone."""
        chosen, start, ends = [], 0, len(pieces) // 2 + 1
        while start < ends:
            longest = range(min(start + self._longest_choice, ends), start, -1)
            found = {end: stripped("".join(pieces[2 * start : 2 * end - 1])) for end in longest}
            end = next((end for end, text in found.items() if normalize(text) in self._choices), start + 1)
            chosen.append(found[end])
            start = end
        return [choice for choice in chosen if not self.is_missing(choice)]

    def _with_hint_to_split(self, text: str, found: InvalidValue) -> InvalidValue:
        if self._spec.split is not None or not any(separator in text for separator in ";,|\n/"):
            return found
        hint = f"if these are several choices, set split: {in_mapping(self._value.place)}; {found.hint}"
        return replace(found, hint=hint)

    def _read_one(self, text: str, typed: bool) -> Any:
        table = self._value.table
        if table is None:
            if self._bare:
                return self._read_kind(text, typed)
            return self._read_kind(f"{self._spec.before or ''}{text}{self._spec.after or ''}", False)
        target = table.targets.get(normalize(text))
        if target is not None:
            self.tables_used.add("table")
            return self._read_kind(target, True) if target.strip() else None
        return self._read_otherwise(text, typed, table)

    def _read_otherwise(self, text: str, typed: bool, table: ResolvedTable) -> Any:
        # An option, also yes or no, needs no line in the value table and is never replaced.
        if self._has_options and not isinstance(option := self._read_kind(text, typed), InvalidValue):
            return option
        self.tables_used.add("otherwise")
        if table.otherwise is Otherwise.BLANK:
            return None
        if table.otherwise is Otherwise.VALUE:
            return self._read_kind(table.replacement or "", True)
        if table.otherwise is Otherwise.KEEP or self._value.field.options:
            return self._read_kind(text, typed)
        return InvalidValue(
            "value-unknown",
            f"{quoted(text)} is not in the value table",
            f"{did_you_mean(text, table.targets)}, {into_table(self._value)}",
            Unread(text, self._value.place),
        )


def _ends_of_range(text: str, separator: str | None) -> list[str] | InvalidValue:
    """The texts before and after the separator, which must occur once; either may be blank, but not both.

    Without a declared separator it is a dash with spaces around it, else a long dash, else the word `to` or `bis`,
    else a hyphen.
    """
    pieces = text.split(separator) if separator else range_pieces(text)
    if len(pieces) != 2 or not any(piece.strip() for piece in pieces):
        return _no_range(text)
    return [piece.strip() for piece in pieces]


def _no_range(text: str) -> InvalidValue:
    message = f"{quoted(text)} is not a valid range of two values"
    return InvalidValue("range-invalid", message, "write it as START - END")
