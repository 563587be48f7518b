"""The entries of an answer against the header: where each comes from, and which columns it has."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from importer.mapping.field_specs import spec_of_entry
from importer.mapping.header import Header
from importer.mapping.model import (
    PLACEHOLDER,
    CellPieces,
    ChildRows,
    Constant,
    EntriesSource,
    EntriesSpec,
    EntryField,
    GroupRows,
    JsonCell,
    NumberedGroups,
    OwnColumns,
    ParallelLists,
    Text,
)
from importer.mapping.resolve_values import (
    Context,
    check_value,
    columns_named,
    resolve_filter,
    resolve_value,
    with_columns,
)
from importer.mapping.resolved import (
    EntriesFrom,
    FromChild,
    FromGroup,
    FromJson,
    FromLists,
    FromPieces,
    FromRow,
    ResolvedEntries,
    ResolvedField,
    ResolvedGroup,
)
from importer.models import Column
from importer.text.normalize import normalize

_UNNUMBERED = 0  # the number of the group whose columns carry none: it comes first


def resolve_entries(spec: EntriesSpec, context: Context) -> ResolvedEntries | None:
    """The entries ready to be read, or None where their source is not there; a column that is in no group is told."""
    missing = frozenset(normalize(word) for word in context.mapping.missing)
    if isinstance(spec.source, NumberedGroups):
        return ResolvedEntries(spec.kind, FromRow(), _numbered_groups(spec, context), spec.order, missing, spec.place)
    inner = replace(context, header=_inner_header(spec, context))
    group = _single_group(spec, inner)
    source = _source(spec.source, group, inner.header, context)
    return ResolvedEntries(spec.kind, source, (group,), spec.order, missing, spec.place) if source else None


# --- where entries come from --------------------------------------------------------------------


def _inner_header(spec: EntriesSpec, context: Context) -> Header:
    """The columns that the fields of the entries are named from."""
    match spec.source:
        case ChildRows(source):
            return context.children.header(source)
        case CellPieces(pattern=pattern):
            return Header([_part(i, name) for i, name in enumerate(pattern.names)], noun="group of the pattern")
        case JsonCell():
            names = dict.fromkeys(name.value for field in spec.fields for name in columns_named(field.value))
            return Header([_part(index, name) for index, name in enumerate(names)])
        case _:
            return context.header


def _part(index: int, name: str) -> Column:
    """A part of a cell as a column: it has no letter."""
    return Column(index, "", name)


def _source(source: EntriesSource, group: ResolvedGroup, inner: Header, context: Context) -> EntriesFrom | None:
    match source:
        case ChildRows():
            return _from_child(source, context)
        case GroupRows():
            return _from_group(source, context)
        case CellPieces():
            column = context.header.find(source.column, context.diagnostics)
            return FromPieces(column, source.split, source.pattern, source.place) if column else None
        case JsonCell():
            column = context.header.find(source.column, context.diagnostics)
            return FromJson(column, tuple(key.name for key in inner.columns)) if column else None
        case ParallelLists():
            columns = {column.index: column for field in group.fields for column in field.value.columns}
            return FromLists(tuple(columns.values()), source.split, source.numbered)
        case _:
            return FromRow()


def _from_child(source: ChildRows, context: Context) -> FromChild | None:
    equals = context.header.find(source.equals, context.diagnostics)
    children = context.children.index(source, context.diagnostics)
    return FromChild(equals, children) if equals and children else None


def _from_group(source: GroupRows, context: Context) -> FromGroup | None:
    if context.mapping.group_by is None:
        message, hint = "rows needs to know which rows are one candidate", "add group_by: a column, under source:"
        context.diagnostics.error("group-missing", message, hint, source.place)
        return None
    if source.where is None:
        return FromGroup(None)
    where = resolve_filter(source.where, context.header, context.diagnostics, "rows")
    return FromGroup(where) if where else None


# --- without repeat: one group ------------------------------------------------------------------


def _single_group(spec: EntriesSpec, context: Context) -> ResolvedGroup:
    fields = []
    for field in spec.fields:
        if isinstance(spec.source, OwnColumns) and _report_placeholders(field, context):
            continue
        value = resolve_value(field.value, spec_of_entry(spec.kind, field.name.value), context)
        if value is not None:
            fields.append(ResolvedField(field.name.value, value))
    return ResolvedGroup(tuple(fields))


def _report_placeholders(field: EntryField, context: Context) -> bool:
    numbered = [name for name in columns_named(field.value) if PLACEHOLDER in name.value]
    for name in numbered:
        message, hint = f"'{name}' is numbered and there is no repeat", f'add repeat: "{PLACEHOLDER}" above it'
        context.diagnostics.error("repeat-missing", message, hint, name.place)
    return bool(numbered)


# --- with repeat: groups counted from the header ------------------------------------------------

_ColumnsByGroup = dict[int, tuple[Column, ...]]


def _numbered_groups(spec: EntriesSpec, context: Context) -> tuple[ResolvedGroup, ...]:
    found = {field.name.value: _columns_by_group(spec, field, context) for field in spec.fields}
    for field in spec.fields:
        check_value(field.value, spec_of_entry(spec.kind, field.name.value), context)
    numbers = sorted({number for columns in found.values() for number in columns})
    return tuple(_group(spec, number, found, context) for number in numbers)


def _group(spec: EntriesSpec, number: int, found: dict[str, _ColumnsByGroup], context: Context) -> ResolvedGroup:
    fields = []
    for field in spec.fields:
        columns = found[field.name.value].get(number, ())
        if columns or isinstance(field.value.source, Constant):
            wanted = spec_of_entry(spec.kind, field.name.value)
            value = with_columns(field.value, wanted, columns, context.mapping)
            fields.append(ResolvedField(field.name.value, value))
    return ResolvedGroup(tuple(fields))


def _columns_by_group(spec: EntriesSpec, field: EntryField, context: Context) -> _ColumnsByGroup:
    found: dict[int, list[Column]] = defaultdict(list)
    for template in columns_named(field.value):
        if PLACEHOLDER not in template.value:
            message, hint = f"'{template}' has no {PLACEHOLDER}", f"put {PLACEHOLDER} where the number of the column is"
            context.diagnostics.error("placeholder-missing", message, hint, template.place)
            continue
        unnumbered = isinstance(spec.source, NumberedGroups) and spec.source.first_unnumbered
        names = _names(template, context.header, unnumbered=unnumbered)
        if not names:
            hint = context.header.proposal(template.value.replace(PLACEHOLDER, "1"))
            message = f"there is no column like '{template}'"
            context.diagnostics.error("column-unknown", message, hint, template.place)
        for number, name in names.items():
            column = context.header.find(name, context.diagnostics)
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
