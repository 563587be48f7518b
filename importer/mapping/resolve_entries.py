"""The column groups of an entries answer against the header: how many there are, and which columns each has."""

from __future__ import annotations

from collections import defaultdict

from importer.mapping.header import Header
from importer.mapping.model import PLACEHOLDER, Constant, EntriesSpec, EntryField, Text
from importer.mapping.resolve_value import Surroundings, check_value, columns_named, resolve_value, with_columns
from importer.mapping.resolved import ResolvedEntries, ResolvedField, ResolvedGroup
from importer.mapping.wanted import wanted_of_entry
from importer.models import Column

_UNNUMBERED = 0  # the number of the group whose columns carry none: it comes first


def resolve_entries(spec: EntriesSpec, around: Surroundings) -> ResolvedEntries:
    """The entries with the groups found in the header; a column that is in no group is told."""
    groups = _numbered_groups(spec, around) if spec.groups else (_single_group(spec, around),)
    return ResolvedEntries(spec.kind, groups, spec.place)


# --- without repeat: one group ------------------------------------------------------------------


def _single_group(spec: EntriesSpec, around: Surroundings) -> ResolvedGroup:
    fields = []
    for field in spec.fields:
        if _tell_placeholders(field, around):
            continue
        value = resolve_value(field.value, wanted_of_entry(spec.kind, field.name.value), around)
        if value is not None:
            fields.append(ResolvedField(field.name.value, value))
    return ResolvedGroup(tuple(fields))


def _tell_placeholders(field: EntryField, around: Surroundings) -> bool:
    numbered = [name for name in columns_named(field.value) if PLACEHOLDER in name.value]
    for name in numbered:
        message, hint = f"'{name}' is numbered and there is no repeat", f'add repeat: "{PLACEHOLDER}" above it'
        around.findings.mistake("repeat-missing", message, hint, name.place)
    return bool(numbered)


# --- with repeat: groups counted from the header ------------------------------------------------

_ColumnsByGroup = dict[int, tuple[Column, ...]]


def _numbered_groups(spec: EntriesSpec, around: Surroundings) -> tuple[ResolvedGroup, ...]:
    found = {field.name.value: _columns_by_group(spec, field, around) for field in spec.fields}
    for field in spec.fields:
        check_value(field.value, wanted_of_entry(spec.kind, field.name.value), around)
    numbers = sorted({number for columns in found.values() for number in columns})
    return tuple(_group(spec, number, found, around) for number in numbers)


def _group(spec: EntriesSpec, number: int, found: dict[str, _ColumnsByGroup], around: Surroundings) -> ResolvedGroup:
    fields = []
    for field in spec.fields:
        columns = found[field.name.value].get(number, ())
        if columns or isinstance(field.value.source, Constant):
            wanted = wanted_of_entry(spec.kind, field.name.value)
            value = with_columns(field.value, wanted, columns, around.mapping)
            fields.append(ResolvedField(field.name.value, value))
    return ResolvedGroup(tuple(fields))


def _columns_by_group(spec: EntriesSpec, field: EntryField, around: Surroundings) -> _ColumnsByGroup:
    found: dict[int, list[Column]] = defaultdict(list)
    for template in columns_named(field.value):
        if PLACEHOLDER not in template.value:
            message, hint = f"'{template}' has no {PLACEHOLDER}", f"put {PLACEHOLDER} where the number of the column is"
            around.findings.mistake("placeholder-missing", message, hint, template.place)
            continue
        unnumbered = spec.groups is not None and spec.groups.first_unnumbered
        names = _names(template, around.header, unnumbered=unnumbered)
        if not names:
            hint = around.header.proposal(template.value.replace(PLACEHOLDER, "1"))
            message = f"there is no column like '{template}'"
            around.findings.mistake("column-unknown", message, hint, template.place)
        for number, name in names.items():
            column = around.header.find(name, around.findings)
            if column is not None:
                found[number].append(column)
    return {number: tuple(columns) for number, columns in found.items()}


def _names(template: Text, header: Header, *, unnumbered: bool) -> dict[int, Text]:
    """The names that a template stands for in this header, by the number of their group."""
    written = {int(digits): digits for digits in reversed(header.numbers()) if _fits(template, digits, header)}
    if unnumbered and _fits(template, "", header):
        written[_UNNUMBERED] = ""
    return {number: _numbered(template, digits) for number, digits in written.items()}


def _fits(template: Text, digits: str, header: Header) -> bool:
    return bool(header.candidates(_numbered(template, digits).value))


def _numbered(template: Text, digits: str) -> Text:
    return Text(template.value.replace(PLACEHOLDER, digits), template.place)
