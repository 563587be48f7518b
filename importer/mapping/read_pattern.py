"""Reads a pattern: a regular expression whose named groups are the parts that are used."""

from __future__ import annotations

import re
import warnings

from importer.mapping.findings import Findings
from importer.mapping.linear_pattern import LinearPattern, NotLinear, linear_pattern
from importer.mapping.model import Pattern, Text
from importer.mapping.nodes import Node
from importer.mapping.shape import Fields, read_filled
from importer.text.closest import did_you_mean

_HINT = "name the part you want, as (?P<city>.+), and put the pattern in single quotes"


def read_expression(node: Node, name: str, findings: Findings) -> LinearPattern | None:
    """A regular expression with at least one named group, which no text keeps busy for long."""
    text = read_filled(node, name, findings)
    if text is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python may read otherwise one day is refused today
            expression = re.compile(text.value)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning) as error:
        message = f"{name} is no regular expression: {error}"
        findings.mistake("pattern-broken", message, _HINT, text.place)
        return None
    if not expression.groupindex:
        findings.mistake("pattern-groupless", f"{name} has no named group", _HINT, text.place)
        return None
    try:
        return linear_pattern(expression)
    except NotLinear as error:
        message = f"{name} cannot be matched in bounded time: {error}"
        findings.mistake("pattern-unbounded", message, error.hint, text.place)
        return None


def read_pattern(fields: Fields, findings: Findings) -> Pattern | None:
    """The keys `pattern` and `group` of a value; `group` may be left out where there is but one."""
    expression = fields.read("pattern", read_expression)
    group = fields.read("group", read_filled)
    if group is not None and not fields.has("pattern"):
        findings.mistake("idle-key", "group has no effect without pattern", "take it out", fields.key("group").place)
    if expression is None:
        return None
    place = fields.key("pattern").place
    names = expression.names
    if group is None and len(names) > 1:
        message = f"the pattern has the groups {', '.join(names)}"
        findings.mistake("pattern-groups", message, f"say which one is the value, as group: {names[0]}", place)
        return None
    chosen = group or Text(names[0], place)
    if chosen.value not in names:
        message = f"'{chosen}' is no group of the pattern"
        findings.mistake("pattern-groups", message, did_you_mean(chosen.value, names), chosen.place)
        return None
    return Pattern(expression, chosen.value, place)
