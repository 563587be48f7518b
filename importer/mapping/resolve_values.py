"""One value of the mapping against the header: its columns found, its words normalized, its formats complete."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field

from importer.mapping.entries import ChildRows, ChildSource, Filter
from importer.mapping.field_specs import FieldSpec, Kind, check_constants
from importer.mapping.header import Header
from importer.mapping.model import Mapping
from importer.mapping.nodes import Diagnostics, Text
from importer.mapping.resolved import (
    ChildIndex,
    Pattern,
    ResolvedFilter,
    ResolvedTable,
    ResolvedValue,
    Table,
    index_rows,
)
from importer.mapping.scalars import NEWLINE
from importer.mapping.values import Otherwise, Replacement, ValueSpec
from importer.models import Column
from importer.text.normalize import normalize


@dataclass(frozen=True, slots=True)
class Children:
    """The child tables of a run by how the mapping names them."""

    tables: Dictionary[ChildSource, Table]
    headers: dict[ChildSource, Header] = field(default_factory=dict)

    def header(self, source: ChildSource) -> Header:
        """The header of a child table; the same one for all answers that use it, so that unused columns are known."""
        if source not in self.headers:
            self.headers[source] = Header(self.tables[source].columns, table=str(source))
        return self.headers[source]

    def index(self, spec: ChildRows, diagnostics: Diagnostics) -> ChildIndex | None:
        """The rows by key, or None where a column is not there, and reported.

        Raises:
            UnusableInput: the table breaks off.
        """
        header, table = self.header(spec.source), self.tables[spec.source]
        key = header.find(spec.key_, diagnostics)
        order_by = header.find(spec.order_by, diagnostics) if spec.order_by else None
        if key is None or (spec.order_by is not None and order_by is None):
            return None
        return index_rows(table.origin, table.rows(), key, order_by)


_NAME, _RANGE = ("first", "last"), ("start", "end")


@dataclass(frozen=True, slots=True)
class Context:
    """What values are resolved against."""

    mapping: Mapping
    header: Header
    diagnostics: Diagnostics
    children: Children


def resolve_value(spec: ValueSpec, field: FieldSpec, context: Context) -> ResolvedValue | None:
    """The value ready to be read, or None where a column of it was not found; what is wrong with it is reported."""
    check_value(spec, field, context)
    columns = resolve_columns(spec, context)
    if columns is None:
        return None
    return with_columns(spec, field, columns, context.mapping)


def columns_named(spec: ValueSpec) -> tuple[Text, ...]:
    """The columns that a value names."""
    return spec.columns


def resolve_columns(spec: ValueSpec, context: Context) -> tuple[Column, ...] | None:
    """The columns of a value, or None where one was not found; every one that was not is reported."""
    found = [context.header.find(name, context.diagnostics) for name in columns_named(spec)]
    columns = tuple(column for column in found if column is not None)
    return columns if len(columns) == len(found) else None


def with_columns(spec: ValueSpec, field: FieldSpec, columns: tuple[Column, ...], mapping: Mapping) -> ResolvedValue:
    """The value with columns that were found before."""
    words = mapping.missing if spec.missing is None else spec.missing
    return ResolvedValue(
        field=field,
        place=spec.place,
        columns=columns,
        separator=NEWLINE.get(spec.with_, str(spec.with_)) if spec.with_ is not None else " " if spec.join else None,
        constant=None if spec.value is None else str(spec.value),
        pattern=_pattern(spec),
        split=spec.split,
        take=spec.take,
        table=_table(spec),
        part=spec.part,
        before=str(spec.before or ""),
        after=str(spec.after or ""),
        default=str(spec.default) if spec.default is not None else None,
        missing=frozenset(normalize(word) for word in words),
        present=frozenset(normalize(word) for word in getattr(spec, "present", None) or ()),
        formats=spec.over(mapping.defaults),
    )


def check_value(spec: ValueSpec, field: FieldSpec, context: Context) -> None:
    """Reports what of a value its target cannot take."""
    formats, diagnostics = spec.over(context.mapping.defaults), context.diagnostics
    if spec.split is not None and not (spec.take or spec.part in _RANGE or field.kind is Kind.CHOICES):
        message = f"split has no effect on {field.label}: it takes one value"
        diagnostics.error("idle-key", message, "say which piece, as take: first, or take split: out", spec.place)
    if spec.take is not None and field.kind is Kind.CHOICES:
        message = f"take leaves choices of {field.label} out: it takes several"
        diagnostics.error("idle-key", message, "take take: out", spec.place)
    if spec.part in _NAME and field.kind not in (Kind.NAME, Kind.TEXT, Kind.LINE):
        message = f"part: {spec.part} has no effect on {field.label}: it is no name"
        diagnostics.error("idle-key", message, "take part: out", spec.place)
    if spec.part in _RANGE and field.kind not in (Kind.DATE, Kind.INTEGER, Kind.DECIMAL):
        message = f"part: {spec.part} has no effect on {field.label}: it is no date or number"
        diagnostics.error("idle-key", message, "take part: out", spec.place)
    if formats.decimal is not None and formats.decimal == formats.thousands and formats is not context.mapping.defaults:
        message = f"decimal and thousands are both '{formats.decimal}'"
        diagnostics.error("same-sign", message, "declare both here", spec.place)
    if field.kind is Kind.DATE and formats.short_year is not None and formats.pivot is None:
        message = "%y is a year of two digits, and which century it is in is not said"
        hint = "declare the first of the hundred years that it lies in, as pivot: 1950, or export years of four digits"
        diagnostics.error("pivot-missing", message, hint, formats.short_year)
    check_constants(spec, field, formats, diagnostics)


def _pattern(spec: ValueSpec) -> Pattern | None:
    if spec.pattern is None:
        return None
    return Pattern(spec.pattern, str(spec.group or spec.pattern.names[0]), spec.key("pattern").place)


def _table(spec: ValueSpec) -> ResolvedTable | None:
    if spec.values is None:
        return None
    targets = {normalize(entry.cell): str(entry.target) for entry in spec.values}
    place = spec.key("values").place
    if isinstance(spec.otherwise, Replacement):
        return ResolvedTable(targets, Otherwise.VALUE, str(spec.otherwise.value), place)
    return ResolvedTable(targets, spec.otherwise or Otherwise.ERROR, None, place)


def resolve_filter(spec: Filter, header: Header, diagnostics: Diagnostics, label: str) -> ResolvedFilter | None:
    """The filter ready for rows, or None where its column is not there, and reported."""
    column = header.find(spec.column, diagnostics)
    if column is None:
        return None
    return ResolvedFilter(column, frozenset(normalize(word) for word in spec.words), spec.negated, label)
