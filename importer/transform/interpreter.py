"""Reads the text of a cell by the steps that the mapping declares for a value, and then by its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from importer.documents.folder import NotFound, Pending, Several
from importer.mapping import NUMBERS, CellPattern, Kind, Otherwise, ResolvedTable, ResolvedValue, Take
from importer.problems import Unread
from importer.settings import WireFormat
from importer.text.damage import NULL_OR_ANSWER, NULL_WORDS
from importer.text.literals import InvalidLiteral, Number, read_literal
from importer.text.normalize import did_you_mean, normalize, normalized, pieces_with, range_pieces, site_of, stripped
from importer.transform.kinds import decimal_point, joined_choices, reader_of
from importer.transform.names import part_of_name
from importer.transform.texts import InvalidValue, in_mapping, into_table, matched, quoted


class OpenEnd:
    """The value of an end date such as Present."""


OPEN_END = OpenEnd()


_JSON = "json"  # as `split:`
_OF_CLOCK = re.compile(r"\d[-:]")  # in dates and times
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_THOUSANDS = re.compile(r"(\d{1,3})[.,'’ ]\d{3}(?!\d)")
_BETWEEN_CHOICES = r"([;,|\n])"
_OTHER_RULES = ("date-incomplete", "date-in-future")  # the other end of a range has its own
_SPARE = 20  # normalizing removes spaces, so a missing word may be written this much longer
_LONGEST_PICKED = 10_000  # characters of a cell


class Interpreter:
    """Reads texts by the steps that the mapping declares, and then by the kind of the value; caches nothing."""

    def __init__(self, value: ResolvedValue, wire: WireFormat) -> None:
        spec = value.spec
        self._value, self._spec = value, spec
        self._wire = wire
        self._read_kind = reader_of(value, wire)
        if spec.folder is not None:
            self._read_kind = partial(_read_file, value, self._read_kind)
        self._several = value.field.kind is Kind.CHOICES
        if self._several:
            self._separator = re.compile(f"({re.escape(spec.split)})" if spec.split else _BETWEEN_CHOICES)
            known = [*value.field.options, *(value.table.targets if value.table else ())]
            self._choices = normalized(known)
            self._longest_choice = max((len(self._separator.split(each)) // 2 + 1 for each in known), default=1)
        self._has_options = bool(value.field.options) or value.field.kind in (Kind.YES_NO, Kind.FLAG)
        self._is_number = value.field.kind in NUMBERS
        self._point = decimal_point(value) if self._is_number else "."
        self._bare = not (spec.before or spec.after)
        self._missing = value.missing
        self._longest_missing = max(map(len, value.missing), default=0) + _SPARE
        steps = (spec.pattern, spec.pick, value.present, spec.part, spec.split, spec.take, value.table)
        self.is_plain = self._bare and not self._several and not any(steps)

    def is_missing(self, text: str) -> bool:
        """Whether the stripped text counts as an empty cell."""
        return not text or (len(text) <= self._longest_missing and normalize(text) in self._missing)

    def written(self, text: str, typed: bool) -> str:
        """A text with the number of a cell as the mapping declares numbers; for steps that make another text of it."""
        return _POINT.sub(self._point, text) if typed else text

    def read_fixed(self, text: str) -> Any:
        """A text written in the mapping itself; missing words and value tables do not apply to it."""
        return self._read_choices(text, typed=False) if self._several else self._read_kind(text.strip(), True)

    def read(self, text: str, typed: bool, link: str = "") -> Any:
        """The value of a stripped text: None where it counts as empty; may be OPEN_END or a InvalidValue.

        link: the address behind its cell, which may be the piece that `pick:` means.
        """
        spec, present = self._spec, self._value.present
        if len(text) <= self._longest_missing and self.is_missing(text):
            return None
        if self.is_plain:
            return self._read_kind(text, typed)
        if typed and self._is_number and spec.part is None and _OF_CLOCK.search(text):  # 3-5, now a date
            return self._read_kind(text, typed)
        if spec.pattern is not None:
            found = self._matched(text, spec.pattern)
            if isinstance(found, InvalidValue):
                return found
            if self.is_missing(found):
                return None
            text, typed = (text, typed) if found == text else (self.written(found, typed), False)
        if spec.pick is not None:
            if len(text) > _LONGEST_PICKED:
                message = f"{quoted(text)} has {len(text):,} characters, of which pick: reads {_LONGEST_PICKED:,}"
                return InvalidValue("text-too-long", message, "shorten it")
            pieces = self._with_link(pieces_with(spec.pick, text), spec.pick, link)
            pieces = pieces and [piece for piece in pieces if not self.is_missing(piece)]
            if pieces is None or len(pieces) > 1:
                return self._not_one(pieces, text)
            if not pieces:
                return None
            text, typed = pieces[0], typed and pieces[0] == text
        if present and normalize(text) in present:
            return OPEN_END
        if spec.part == "start" or spec.part == "end":
            # What was typed as a number or a date is none: 10-40 may be October 1940 now
            return _no_range(text, spec.split) if typed else self._read_range(text, spec.part)
        if self._several:
            return self._read_choices(text, typed)
        return self._read_piece(text, typed)

    def _matched(self, text: str, pattern: CellPattern) -> str | InvalidValue:
        groups = matched(pattern, text, self._spec.node.key("pattern").place)
        if isinstance(groups, InvalidValue):
            return groups
        return stripped(groups[self._spec.group or pattern.names[0]] or "")

    def _with_link(self, pieces: list[str] | None, wanted: str, link: str) -> list[str] | None:
        """The pieces and the address behind the cell, if that is one too; an address that is both counts once."""
        if not link or pieces is None or site_of(wanted) is None or not pieces_with(wanted, link):
            return pieces
        same = pieces_with(wanted, f"{pieces[0]} {link}") if pieces else None
        return pieces if same == pieces[:1] and pieces else [*pieces, link]

    def _not_one(self, pieces: list[str] | None, text: str) -> InvalidValue:
        which = f"several pieces with '{self._spec.pick}': " + " and ".join(map(quoted, (pieces or [])[:2]))
        if pieces is None:
            which = f"'{self._spec.pick}', but not as a piece of its own"
        hint = f"write it as one piece, or change pick: {in_mapping(self._value.place)}"
        return InvalidValue("pick-ambiguous", f"{quoted(text)} has {which}", hint)

    def _read_range(self, text: str, part: Literal["start", "end"]) -> Any:
        """One end of a range. The other one must be valid too: `2019-05` may be a month, and `40 - 50k` is not 40."""
        ends = _ends_of_range(text, self._spec.split)
        if isinstance(ends, InvalidValue):
            return ends
        thousands = _THOUSANDS.search(ends[1]) if self._is_number and re.fullmatch(r"\d{1,3}", ends[0]) else None
        if thousands and int(ends[0]) <= int(thousands[1]):  # 40-50.000, but not 800-1.200
            return _no_range(text, self._spec.split)
        whole = self._read_kind(text, False)
        if not isinstance(whole, InvalidValue) or whole.code == "date-incomplete":
            return _no_range(text, self._spec.split)
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
        if take is None or self._spec.split is None or (typed and self._is_number):
            return self._read_named(text, typed)
        pieces = self._pieces(text)
        if isinstance(pieces, InvalidValue) or not pieces:
            return pieces or None
        read = self._read_named(pieces[0], typed and pieces[0] == text)
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
            items = found if isinstance(found, list) else []
            pieces = [self.written(item, isinstance(item, Number)) for item in items if isinstance(item, str)]
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
        split = self._spec.split
        if split is None and normalize(stripped(text)) in self._choices:
            return [stripped(text)]
        pieces = self._separator.split(text)  # and the separators between them
        count = len(pieces) // 2 + 1
        blank = [self.is_missing(stripped(piece)) for piece in pieces[::2]]
        # From each piece on: how few pieces are unknown, in how many ways (two at most), and where its choices end.
        unknown, ways, ends = [0] * (count + 1), [0] * count + [1], [[start + 1] for start in range(count)]
        for start in reversed(range(count)):
            found = {} if blank[start] else dict(self._choices_from(pieces, start, blank))
            cost = {end: unknown[end] + (not is_known) for end, is_known in found.items()} or {
                start + 1: unknown[start + 1]
            }
            unknown[start] = min(cost.values())
            ends[start] = [end for end, each in cost.items() if each == unknown[start]]
            ways[start] = min(2, sum(ways[end] for end in ends[start]))
        if split is None and unknown[0]:
            is_lost = self._value.table and self._value.table.otherwise in (Otherwise.BLANK, Otherwise.VALUE)
            if is_lost and unknown[0] < count - sum(blank):  # Python, Cobol
                message = f"{quoted(text)} has a choice that is not known, beside one that `otherwise:` would drop"
                hint = f"if these are several choices, set split: {in_mapping(self._value.place)}"
                return InvalidValue("not-an-option", message, hint)
            return [stripped(text)]
        one = self._way(pieces, ends, min)
        if ways[0] > 1:
            first, second = (" and ".join(f"'{each}'" for each in way) for way in (one, self._way(pieces, ends, max)))
            hint = f"separate choices by another character, and set it as split: {in_mapping(self._value.place)}"
            return InvalidValue("not-an-option", f"{quoted(text)} may be {first}, or {second}", hint)
        return one

    def _choices_from(self, pieces: list[str], start: int, blank: list[bool]) -> Iterator[tuple[int, bool]]:
        """Where a choice may end that begins with a piece, and whether it is known; alone, every piece may be one."""
        for end in range(start + 1, min(start + self._longest_choice, len(blank)) + 1):
            is_known = (
                not blank[end - 1] and normalize(stripped("".join(pieces[2 * start : 2 * end - 1]))) in self._choices
            )
            if is_known or end == start + 1:
                yield end, is_known

    def _way(self, pieces: list[str], ends: list[list[int]], which: Callable[[list[int]], int]) -> list[str]:
        chosen, start = [], 0
        while start < len(ends):
            end = which(ends[start])
            choice = stripped("".join(pieces[2 * start : 2 * end - 1]))
            if not self.is_missing(choice):
                chosen.append(choice)
            start = end
        return chosen

    def _with_hint_to_split(self, text: str, found: InvalidValue) -> InvalidValue:
        if self._spec.split is not None:
            others = (one for one in ";,|/\n" if one != self._spec.split and one in text)
            fits = (
                one for one in others if all(normalize(stripped(each)) in self._choices for each in text.split(one))
            )
            if (other := next(fits, None)) is None:
                return found
            split, other = ("newline" if each == "\n" else f"'{each}'" for each in (self._spec.split, other))
            hint = f"separate the choices by {split}, or set split: {other}"
            return replace(found, hint=f"{hint} {in_mapping(self._value.place)}")
        if not any(separator in text for separator in ";,|\n/"):
            return found
        hint = f"if these are several choices, set split: {in_mapping(self._value.place)}; {found.hint}"
        return replace(found, hint=hint)

    def _read_one(self, text: str, typed: bool) -> Any:
        table = self._value.table
        if table is None:
            if self._bare:
                return self._read_kind(text, typed)
            return self._read_completed(text, typed)
        target = table.targets.get(normalize(text))
        if target is not None:
            return self._read_kind(target, True) if target.strip() else None
        return self._read_otherwise(text, typed, table)

    def _read_completed(self, text: str, typed: bool) -> Any:
        """A cell with what the mapping writes before and after it, unless it says nothing or has that already."""
        before, after, kind = self._spec.before or "", self._spec.after or "", self._value.field.kind
        if not any(map(str.isdigit if self._is_number else str.isalnum, text)):  # with 000 after it, - would be zero
            return self._read_kind(text, typed)
        if self._is_number and after.startswith("0") and not text.lstrip("+-").isdecimal():  # 45,5 with 000 after it
            message = f"{quoted(text)} is not only digits, and the mapping writes {quoted(after)} after it"
            return InvalidValue("number-invalid", message, "write the whole number")
        unit = text.partition(" ")[2] if typed else ""
        if unit and not any(map(str.isdigit, unit)):  # 48000 €, by its number format
            message = f"{quoted(text)} has a currency, and the mapping writes {quoted(before or after)} beside it"
            hint = f"remove before: and after: {in_mapping(self._value.place)}, or give the cell the format General"
            return InvalidValue("number-invalid", message, hint)
        if "://" in before and normalize(text) in NULL_WORDS | NULL_OR_ANSWER:
            message = f"{quoted(text)} is what programs write for an empty cell, and no part of an address"
            return InvalidValue(
                "url-invalid", message, f"clear the cell, or list it under missing: {in_mapping(self._value.place)}"
            )
        digits, code = re.sub(r"\D", "", text), before.strip().removeprefix("+")
        has_code = kind is Kind.PHONE and code.isdigit() and digits.startswith(code)  # 0 and 0532, +49 and 49171
        if has_code and (code == "0" or not isinstance(self._read_kind(f"+{digits}", False), InvalidValue)):
            message = f"{quoted(text)} begins with {code}, and the mapping writes {quoted(before)} before it"
            return InvalidValue("phone-invalid", message, "remove it here, or before: from the mapping")
        completed = _completed(self.written(text, typed), before, after)
        return completed if isinstance(completed, InvalidValue) else self._read_kind(completed, False)

    def _read_otherwise(self, text: str, typed: bool, table: ResolvedTable) -> Any:
        # An option, also yes or no, needs no line in the value table and is never replaced.
        if self._has_options and not isinstance(option := self._read_kind(text, typed), InvalidValue):
            return option
        if table.otherwise is Otherwise.BLANK:
            return None
        if table.otherwise is Otherwise.VALUE:
            return self._read_kind(table.replacement or "", True)
        if table.otherwise is Otherwise.KEEP or self._value.field.options:
            return self._read_kind(text, typed)
        return InvalidValue(
            "value-unknown",
            f"{quoted(text)} is not in the value table",
            f"{did_you_mean(text, table.targets, is_value=True)}, {into_table(self._value)}",
            Unread(text, self._value.place),
        )


_ADDRESS = re.compile(r"/|https?:?/|[^@/?]+@[^/]*$")  # http:/..., ada@example.com
_OTHER_SITE = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}/")  # github.com/ada


def _completed(text: str, before: str, after: str) -> str | InvalidValue:
    """A text with what the mapping writes before and after it; a whole web address needs no beginning of one."""
    given, beginning = text.casefold(), before.casefold()
    if "://" not in beginning:
        return f"{before}{text}{after}"
    if not after and given.startswith(beginning):
        return text
    host, own = (
        one.rpartition("://")[2].partition("/")[0].removeprefix("www.") for one in (beginning, given)
    )  # linkedin.com of https://www.linkedin.com/in/
    is_own = bool(host) and f".{own}".endswith(f".{host}")
    path, _, folder = beginning.partition("://")[2].removesuffix("/").rpartition("/")  # linkedin.com and in
    is_folder = bool(path) and (given.startswith(f"{folder}/") or _OTHER_SITE.match(given))
    if "://" in given or is_own or (beginning.endswith("/") and (is_folder or _ADDRESS.match(given))):
        message = f"{quoted(text)} has the beginning of an address, and the mapping writes {quoted(before)} before it"
        return InvalidValue("url-invalid", message, "write only what comes behind that, or remove it from the mapping")
    return f"{before}{text}{after}"


def _read_file(value: ResolvedValue, read_id: Callable[[str, bool], Any], text: str, typed: bool) -> Any:
    """The document ID of the file that a text names; the text itself if the folder was not opened."""
    if value.documents is None:
        return text.replace("\0", "")
    spec = value.spec
    several = spec.several or Several.ERROR
    found = value.documents.document_of(text, is_pattern=spec.name is not None, several=several)
    if isinstance(found, Pending):
        return found.text
    return InvalidValue(*found) if isinstance(found, NotFound) else read_id(found, True)


def _ends_of_range(text: str, separator: str | None) -> list[str] | InvalidValue:
    """The texts before and after the separator, which must occur once; either may be blank, but not both.

    Without a declared separator it is a dash with spaces around it, else a long dash, else the word `to` or `bis`,
    else a hyphen.
    """
    pieces = text.split(separator) if separator else range_pieces(text)
    if len(pieces) != 2 or not any(piece.strip() for piece in pieces):
        return _no_range(text, separator)
    return [piece.strip() for piece in pieces]


def _no_range(text: str, separator: str | None) -> InvalidValue:
    between = {None: " - ", "\n": " newline "}.get(separator, separator)
    message = f"{quoted(text)} is not a valid range of two values"
    return InvalidValue("range-invalid", message, f"write it as START{between}END")
