"""Reads the text of one cell by the steps that the mapping declares, and then by the kind of its value."""

from __future__ import annotations

from typing import Any

from importer.mapping import Kind, Otherwise, Pattern, ResolvedTable, ResolvedValue, Take
from importer.models import WireFormat
from importer.text.closest import did_you_mean
from importer.text.normalize import normalize
from importer.transform.choices import joined_choices
from importer.transform.kinds import reader_of
from importer.transform.names import part_of_name
from importer.transform.ranges import part_of_range
from importer.transform.refusal import Refusal, in_mapping, quoted
from importer.transform.texts import stripped

_SPARE = 20  # folding takes spaces out, so that a missing word may be written this much longer
_LONGEST_MATCHED = 10_000  # characters of a cell that a pattern is tried on


class OpenEnd:
    """What an end date with a word such as Present reads as."""


OPEN_END = OpenEnd()


class Interpreter:
    """Reads texts for one value; made once for a mapping, remembers nothing."""

    def __init__(self, value: ResolvedValue, wire: WireFormat) -> None:
        self._value = value
        self._wire = wire
        self._read_kind = reader_of(value, wire)
        self._several = value.field.kind is Kind.CHOICES
        self._bare = not (value.before or value.after)
        self._missing = value.missing
        self._longest_missing = max(map(len, value.missing), default=0) + _SPARE
        self.blank_is_open = "" in value.present
        steps = (value.pattern, value.present, value.part, value.split, value.take, value.table)
        self.is_plain = self._bare and not self._several and not any(steps)

    def is_missing(self, text: str) -> bool:
        """Whether the text, without spaces around it, says nothing."""
        return not text or (len(text) <= self._longest_missing and normalize(text) in self._missing)

    def read_fixed(self, text: str) -> Any:
        """A text of the mapping file itself, which no missing word or table applies to."""
        return self._read_choices(text, typed=False) if self._several else self._read_kind(text.strip(), True)

    def read(self, text: str, typed: bool) -> Any:
        """The value of a text without spaces around it; None where it says nothing, else OPEN_END or a Refusal."""
        value = self._value
        if len(text) <= self._longest_missing and self.is_missing(text):
            return None
        if self.is_plain:
            return self._read_kind(text, typed)
        if value.pattern is not None:
            found = _matched(text, value.pattern)
            if isinstance(found, Refusal):
                return found
            if self.is_missing(found):
                return None
            text, typed = found, False
        if value.present and normalize(text) in value.present:
            return OPEN_END
        if value.part == "start" or value.part == "end":
            found = part_of_range(text, value.part, value.split)
            if isinstance(found, Refusal):
                return found
            if self.is_missing(found):
                return None
            if value.present and normalize(found) in value.present:
                return OPEN_END
            return self._read_one(found, typed=False)
        if self._several:
            return self._read_choices(text, typed)
        return self._read_piece(text, typed)

    def _read_piece(self, text: str, typed: bool) -> Any:
        take = self._value.take
        if take is None or self._value.split is None:
            return self._read_named(text, typed)
        pieces = [piece for piece in map(stripped, text.split(self._value.split)) if not self.is_missing(piece)]
        if not pieces:
            return None
        read = self._read_named(pieces[0], typed=False)
        if take is Take.FIRST or not isinstance(read, Refusal):
            return read
        others = (self._read_named(piece, typed=False) for piece in pieces[1:])
        return next((other for other in others if not isinstance(other, Refusal)), read)

    def _read_named(self, text: str, typed: bool) -> Any:
        part = self._value.part
        if part != "first" and part != "last":
            return self._read_one(text, typed)
        name = part_of_name(text, part, self._value.formats.names)
        return name if isinstance(name, Refusal) else self._read_one(name, typed)

    def _read_choices(self, text: str, typed: bool) -> Any:
        split = self._value.split
        pieces = [stripped(piece) for piece in text.split(split)] if split else [text]
        read = [self._read_one(piece, typed) for piece in pieces if not self.is_missing(piece)]
        refusals = [found for found in read if isinstance(found, Refusal)]
        if refusals:
            return self._unsplit_hint(text, refusals[0])
        chosen = [found for found in read if found is not None]
        return joined_choices(chosen, self._wire.multiple_choice) if chosen else None

    def _unsplit_hint(self, text: str, refusal: Refusal) -> Refusal:
        sign = next((sign for sign in (";", ",", "|", "\n", "/") if sign in text), None)
        if self._value.split is not None or sign is None:
            return refusal
        hint = f"if these are several choices, declare split: {in_mapping(self._value.place)}; {refusal.hint}"
        return Refusal(refusal.code, refusal.message, hint)

    def _read_one(self, text: str, typed: bool) -> Any:
        table = self._value.table
        if table is None:
            return self._read_kind(text, typed) if self._bare else self._read_kind(self._with_affixes(text), False)
        target = table.targets.get(normalize(text))
        if target is not None:
            return self._read_kind(target, True) if target.strip() else None
        return self._read_otherwise(text, typed, table)

    def _with_affixes(self, text: str) -> str:
        return f"{self._value.before}{text}{self._value.after}"

    def _read_otherwise(self, text: str, typed: bool, table: ResolvedTable) -> Any:
        # An option needs no line in the table, and is never replaced.
        if self._value.field.options and not isinstance(option := self._read_kind(text, typed), Refusal):
            return option
        if table.otherwise is Otherwise.KEEP:
            return self._read_kind(text, typed)
        if table.otherwise is Otherwise.BLANK:
            return None
        if table.otherwise is Otherwise.VALUE:
            return self._read_kind(table.replacement or "", True)
        if self._value.field.options:
            return self._read_kind(text, typed)
        return Refusal(
            "value-unknown",
            f"{quoted(text)} is not in the value table",
            f"{did_you_mean(text, table.targets)}, or add it under values: {in_mapping(table.place)}",
        )


def _matched(text: str, pattern: Pattern) -> str | Refusal:
    groups = pattern.expression.groups_of(text) if len(text) <= _LONGEST_MATCHED else None
    if groups is None:
        hint = f"correct it, or widen pattern: {in_mapping(pattern.place)}"
        return Refusal("pattern-unmatched", f"{quoted(text)} does not fit the pattern", hint)
    return stripped(groups[pattern.group] or "")
