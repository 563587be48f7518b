"""Resolves the entries of an answer against the header: their source and their columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from importer.mapping.entries import (
    PLACEHOLDER,
    CellPieces,
    EntriesAnswer,
    EntriesSpec,
    EntryFile,
    EntrySheet,
    ParallelLists,
)
from importer.mapping.fields import spec_of_entry
from importer.mapping.header import ColumnLookup, Context
from importer.mapping.nodes import Text
from importer.mapping.resolve_values import check_value, resolve_filter, resolve_join, resolve_value, with_columns
from importer.mapping.resolved import (
    EntriesFrom,
    FromGroup,
    FromJson,
    FromLists,
    FromPieces,
    FromRow,
    ResolvedEntries,
    ResolvedGroup,
    ResolvedSource,
    ResolvedValue,
)
from importer.mapping.tables import Filter
from importer.mapping.values import ValueSpec
from importer.problems import Column
from importer.text.normalize import normalized

_UNNUMBERED = 0  # the number of the group whose column names have no number; it comes first


def resolve_entries(answer: EntriesAnswer, context: Context) -> ResolvedEntries | None:
    """The entries, ready to be read; None if a source is not found. Problems are reported."""
    found = [_resolve_source(spec, context) for spec in answer.sources]
    sources = tuple(source for source in found if source is not None)
    return ResolvedEntries(answer.kind, sources, answer.entry_order) if len(sources) == len(found) else None


def _resolve_source(spec: EntriesSpec, context: Context) -> ResolvedSource | None:
    missing = normalized(context.mapping.missing)
    if spec.repeat is not None:
        return ResolvedSource(FromRow(), _numbered_groups(spec, context), missing)
    inner = replace(context, header=_inner_header(spec, context))
    group = _group(
        {
            name: resolve_value(value, spec_of_entry(spec.kind, name), inner)
            for name, value in spec.fields.items()
            if spec.source is not None or not _report_placeholders(value, context)
        }
    )
    source = _source(spec, group, inner.header, context)
    return ResolvedSource(source, (group,), missing) if source else None


def _group(values: dict[Text, ResolvedValue | None]) -> ResolvedGroup:
    return {str(name): value for name, value in values.items() if value is not None}


def _report_placeholders(spec: ValueSpec, context: Context) -> bool:
    numbered = [name for name in spec.own_columns if PLACEHOLDER in name]
    for name in numbered:
        message, hint = f"'{name}' is numbered, but repeat: is missing", f'add repeat: "{PLACEHOLDER}" above it'
        context.error("mapping-value-invalid", message, hint, name.place)
    return bool(numbered)


# --- where entries come from --------------------------------------------------------------------


def _inner_header(spec: EntriesSpec, context: Context) -> ColumnLookup:
    """The header that contains the fields of the entries."""
    match spec.source:
        case EntrySheet(source=source) | EntryFile(source=source):
            return context.child_header(source)
        case CellPieces(pattern=pattern):
            return ColumnLookup([_part(i, name) for i, name in enumerate(pattern.names)], noun="group of the pattern")
        case Text():
            names = dict.fromkeys(str(name) for value in spec.fields.values() for name in value.own_columns)
            return ColumnLookup([_part(index, name) for index, name in enumerate(names)])
        case _:
            return context.header


def _part(index: int, name: str) -> Column:
    """A part of a cell as a column without a letter."""
    return Column(index, "", name)


def _source(spec: EntriesSpec, group: ResolvedGroup, inner: ColumnLookup, context: Context) -> EntriesFrom | None:
    match spec.source:
        case EntrySheet() | EntryFile() as rows:
            return resolve_join(rows, context, rows.order_by)
        case Text() as cell:
            column = context.find(cell)
            return FromJson(column, tuple(key.name for key in inner.columns)) if column else None
        case "all" | Filter():
            return _from_group(spec, context)
        case CellPieces() as cell:
            column = context.find(cell.column)
            return FromPieces(column, cell.split, cell.pattern, cell.node.key("pattern").place) if column else None
        case ParallelLists() as lists:
            columns = {column.index: column for value in group.values() for column in value.columns}
            split = None if lists.split == "json" else lists.split
            return FromLists(tuple(columns.values()), split, lists.numbered == "true")
        case _:
            return FromRow()


def _from_group(spec: EntriesSpec, context: Context) -> FromGroup | None:
    if context.mapping.group_by is None:
        message = "rows: needs group_by:, which groups the rows of a candidate"
        hint = "add group_by: COLUMN under source:"
        context.error("key-missing", message, hint, spec.node.place_of("rows"))
        return None
    if not isinstance(spec.rows, Filter):
        return FromGroup(None)
    where = resolve_filter(spec.rows, context, "rows")
    return FromGroup(where) if where else None


# --- with repeat: groups counted from the header ------------------------------------------------

_ColumnsByGroup = dict[int, tuple[Column, ...]]


def _numbered_groups(spec: EntriesSpec, context: Context) -> tuple[ResolvedGroup, ...]:
    unnumbered = spec.repeat is not None and spec.repeat.first is not None
    found = {name: _columns_by_group(value, context, unnumbered=unnumbered) for name, value in spec.fields.items()}
    for name, value in spec.fields.items():
        check_value(value, spec_of_entry(spec.kind, name), context)
    numbers = sorted({number for columns in found.values() for number in columns})
    return tuple(
        _group(
            {
                name: with_columns(value, spec_of_entry(spec.kind, name), found[name].get(number, ()), context)
                for name, value in spec.fields.items()
                if number in found[name] or value.value is not None
            }
        )
        for number in numbers
    )


def _columns_by_group(spec: ValueSpec, context: Context, *, unnumbered: bool) -> _ColumnsByGroup:
    found: dict[int, list[Column]] = defaultdict(list)
    for template in spec.own_columns:
        if PLACEHOLDER not in template:
            message, hint = f"'{template}' has no {PLACEHOLDER}", f"write {PLACEHOLDER} in place of the number"
            context.error("mapping-value-invalid", message, hint, template.place)
            continue
        names = _names(template, context, unnumbered=unnumbered)
        if not names:
            hint = context.header.proposal(template.replace(PLACEHOLDER, "1"))
            context.error("column-not-found", f"no column matches '{template}'", hint, template.place)
        for number, name in names.items():
            column = context.find(name)
            if column is not None:
                found[number].append(column)
    return {number: tuple(columns) for number, columns in found.items()}


def _names(template: Text, context: Context, *, unnumbered: bool) -> dict[int, Text]:
    """The column names of this header that match a template, by group number."""
    header = context.header
    numbers = [(int(digits), digits) for digits in header.numbers()]
    numbers += [(_UNNUMBERED, "")] if unnumbered else []
    found: dict[int, Text] = {}
    for number, digits in numbers:
        name = Text(template.replace(PLACEHOLDER, digits), template.place)
        if not header.candidates(name):
            continue
        if number in found:
            message = f"'{found[number]}' and '{name}' have the same number"
            context.error("column-ambiguous", message, "rename one of the columns", template.place)
        found[number] = name
    return found
