"""Reads texts, lists and words of a mapping file, and reports what has another shape, where it stands."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.linear_pattern import LinearPattern, NotLinear, linear_pattern
from importer.mapping.model import Pattern, Text
from importer.mapping.nodes import ListNode, MappingNode, Node
from importer.text.closest import did_you_mean

_T = TypeVar("_T")
_Word = TypeVar("_Word", bound=StrEnum)


class Fields:
    """The keys of one mapping in the file, each read at most once with the reader that its value needs."""

    def __init__(self, node: MappingNode, name: str, diagnostics: Diagnostics) -> None:
        self.place = node.place
        self.name = name
        self._findings = diagnostics
        self._pairs = {pair.key.value: pair for pair in node.pairs}

    def only(self, known: Sequence[str]) -> Fields:
        """Tells each key that is not known."""
        for typed, pair in self._pairs.items():
            if typed not in known:
                self._findings.error(
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

    def read(self, key: str, reader: Callable[[Node, str, Diagnostics], _T | None]) -> _T | None:
        """The value of a key through a reader, None where the key is absent or its value is wrong (and told)."""
        pair = self._pairs.get(key)
        if pair is None:
            return None
        return reader(pair.value, key, self._findings)

    def require(self, key: str, reader: Callable[[Node, str, Diagnostics], _T | None], hint: str) -> _T | None:
        """Like read, but an absent key is a mistake, told at the start of this mapping."""
        if key not in self._pairs:
            self._findings.error("missing-key", f"{self.name} has no {key}", hint, self.place)
        return self.read(key, reader)


def read_fields(node: Node, name: str, diagnostics: Diagnostics) -> Fields | None:
    """Keys and values."""
    if isinstance(node, MappingNode):
        return Fields(node, name, diagnostics)
    if isinstance(node, Text) and not node.value:
        _wrong_type(
            node, f"nothing stands under {name}", "write 'key: value' below it, one to a line, indented", diagnostics
        )
    else:
        _wrong_type(node, f"{name} must be keys and values", "write 'key: value', one to a line, indented", diagnostics)
    return None


def read_text(node: Node, name: str, diagnostics: Diagnostics) -> Text | None:
    """A text that may be blank (`""`)."""
    if isinstance(node, Text):
        return node
    hint = "write it in quotes" if isinstance(node, MappingNode) else "give one text"
    _wrong_type(node, f"{name} must be a text", hint, diagnostics)
    return None


def read_filled(node: Node, name: str, diagnostics: Diagnostics) -> Text | None:
    """A text that is not blank."""
    text = read_text(node, name, diagnostics)
    if text is not None and not text.value.strip():
        _wrong_type(text, f"{name} is blank", "give a text, or take the key out", diagnostics)
        return None
    return text


def read_texts(node: Node, name: str, diagnostics: Diagnostics) -> tuple[Text, ...] | None:
    """A text, or a list of texts; at least one."""
    if isinstance(node, Text):
        return (node,)
    if isinstance(node, ListNode):
        if not node.items:
            _wrong_type(node, f"{name} is an empty list", "give at least one text", diagnostics)
            return None
        texts = [read_text(item, f"each item of {name}", diagnostics) for item in node.items]
        return tuple(text for text in texts if text is not None) if all(texts) else None
    _wrong_type(node, f"{name} must be a text or a list of texts", "write it in quotes, or as [a, b]", diagnostics)
    return None


def read_word(kind: type[_Word]) -> Callable[[Node, str, Diagnostics], _Word | None]:
    """A reader of one of a few words."""

    def read(node: Node, name: str, diagnostics: Diagnostics) -> _Word | None:
        text = read_text(node, name, diagnostics)
        if text is None:
            return None
        words = [str(word) for word in kind]
        if text.value not in words:
            message = f"'{text.value}' is no value of {name}"
            diagnostics.error("unknown-word", message, did_you_mean(text.value, words), text.place)
            return None
        return kind(text.value)

    return read


def read_number(node: Node, name: str, diagnostics: Diagnostics) -> int | None:
    """A whole number from 1."""
    text = read_text(node, name, diagnostics)
    if text is None:
        return None
    if not (text.value.isascii() and text.value.isdigit() and len(text.value) <= 9 and int(text.value) > 0):
        diagnostics.error("no-number", f"{name} must be a whole number from 1", "write it in digits", text.place)
        return None
    return int(text.value)


def _wrong_type(node: Node, message: str, hint: str, diagnostics: Diagnostics) -> None:
    diagnostics.error("wrong-type", message, hint, node.place)


_WORDS = {"newline": "\n"}


def read_sign(node: Node, name: str, diagnostics: Diagnostics) -> str | None:
    """The sign as it stands in cells; None where it is wrong, and told."""
    text = read_text(node, name, diagnostics)
    if text is not None and not text.value:
        diagnostics.error("wrong-type", f"{name} is blank", 'write the sign in quotes, as ";"', text.place)
        return None
    return sign_of(text) if text else None


def sign_of(text: Text) -> str:
    """The sign that a text stands for."""
    return _WORDS.get(text.value, text.value)


_ROW_RANGE = re.compile(r"([1-9][0-9]{0,6})(?:\s*-\s*([1-9][0-9]{0,6}))?")
_MOST_ROWS = 10_000  # rows that one mapping may leave out by number


def read_row_numbers(node: Node, name: str, diagnostics: Diagnostics) -> tuple[int, ...] | None:
    """Row numbers as a spreadsheet program shows them, single ones and ranges: `[2, 4-6]`."""
    texts = read_texts(node, name, diagnostics)
    if texts is None:
        return None
    numbers: set[int] = set()
    for text in texts:
        found = _ROW_RANGE.fullmatch(text.value.strip())
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not 0 < first <= last < first + _MOST_ROWS:
            message, hint = f"'{text.value}' is no row number and no range of them", "write it like 2 or 4-6"
            diagnostics.error("no-row-number", message, hint, text.place)
            return None
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


_PATTERN_HINT = "name the part you want, as (?P<city>.+), and put the pattern in single quotes"


def read_expression(node: Node, name: str, diagnostics: Diagnostics) -> LinearPattern | None:
    """A regular expression with at least one named group, which no text keeps busy for long."""
    text = read_filled(node, name, diagnostics)
    if text is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python may read otherwise one day is refused today
            expression = re.compile(text.value)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning) as error:
        message = f"{name} is no regular expression: {error}"
        diagnostics.error("pattern-broken", message, _PATTERN_HINT, text.place)
        return None
    if not expression.groupindex:
        diagnostics.error("pattern-groupless", f"{name} has no named group", _PATTERN_HINT, text.place)
        return None
    try:
        return linear_pattern(expression)
    except NotLinear as error:
        message = f"{name} cannot be matched in bounded time: {error}"
        diagnostics.error("pattern-unbounded", message, error.hint, text.place)
        return None


def read_pattern(fields: Fields, diagnostics: Diagnostics) -> Pattern | None:
    """The keys `pattern` and `group` of a value; `group` may be left out where there is but one."""
    expression = fields.read("pattern", read_expression)
    group = fields.read("group", read_filled)
    if group is not None and not fields.has("pattern"):
        diagnostics.error("idle-key", "group has no effect without pattern", "take it out", fields.key("group").place)
    if expression is None:
        return None
    place = fields.key("pattern").place
    names = expression.names
    if group is None and len(names) > 1:
        message = f"the pattern has the groups {', '.join(names)}"
        diagnostics.error("pattern-groups", message, f"say which one is the value, as group: {names[0]}", place)
        return None
    chosen = group or Text(names[0], place)
    if chosen.value not in names:
        message = f"'{chosen}' is no group of the pattern"
        diagnostics.error("pattern-groups", message, did_you_mean(chosen.value, names), chosen.place)
        return None
    return Pattern(expression, chosen.value, place)


_REGIONS = (
    "AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC "
    "CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB "
    "GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH "
    "KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV "
    "MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB "
    "SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US "
    "UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"
)
REGIONS = frozenset(_REGIONS.split())
