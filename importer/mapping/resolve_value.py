"""One value of the mapping against the header: its columns found, its words folded, its formats complete."""

from __future__ import annotations

from dataclasses import dataclass

from importer.mapping.children import Children
from importer.mapping.constants import check_constants
from importer.mapping.findings import Findings
from importer.mapping.header import Header
from importer.mapping.model import Constant, Formats, Joined, Mapping, Otherwise, Text, ValueSpec, ValueTable
from importer.mapping.read_formats import overlay
from importer.mapping.resolved import Kind, ResolvedTable, ResolvedValue, Wanted
from importer.models import Column
from importer.text.normalize import normalize

_NAME, _RANGE = ("first", "last"), ("start", "end")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What values are resolved against."""

    mapping: Mapping
    header: Header
    findings: Findings
    children: Children


def resolve_value(spec: ValueSpec, wanted: Wanted, around: Surroundings) -> ResolvedValue | None:
    """The value ready to be read, or None where a column of it was not found; what is wrong with it is told."""
    check_value(spec, wanted, around)
    columns = resolve_columns(spec, around)
    if columns is None:
        return None
    return with_columns(spec, wanted, columns, around.mapping)


def columns_named(spec: ValueSpec) -> tuple[Text, ...]:
    """The columns that a value names."""
    return () if isinstance(spec.source, Constant) else spec.source.columns


def resolve_columns(spec: ValueSpec, around: Surroundings) -> tuple[Column, ...] | None:
    """The columns of a value, or None where one was not found; every one that was not is told."""
    found = [around.header.find(name, around.findings) for name in columns_named(spec)]
    columns = tuple(column for column in found if column is not None)
    return columns if len(columns) == len(found) else None


def with_columns(spec: ValueSpec, wanted: Wanted, columns: tuple[Column, ...], mapping: Mapping) -> ResolvedValue:
    """The value with columns that were found before."""
    words = mapping.missing if spec.missing is None else spec.missing
    return ResolvedValue(
        wanted=wanted,
        place=spec.place,
        columns=columns,
        separator=spec.source.separator if isinstance(spec.source, Joined) else None,
        constant=spec.source.text.value if isinstance(spec.source, Constant) else None,
        pattern=spec.pattern,
        split=spec.split,
        take=spec.take,
        table=_table(spec.table),
        part=spec.part,
        before=spec.before,
        after=spec.after,
        default=spec.default.value if spec.default else None,
        missing=frozenset(normalize(word) for word in words),
        present=frozenset(normalize(word) for word in spec.present),
        formats=overlay(spec.formats, mapping.formats),
    )


def check_value(spec: ValueSpec, wanted: Wanted, around: Surroundings) -> None:
    """Tells what of a value its target cannot take."""
    formats, findings = overlay(spec.formats, around.mapping.formats), around.findings
    if spec.split is not None and not (spec.take or spec.part in _RANGE or wanted.kind is Kind.CHOICES):
        message = f"split has no effect on {wanted.label}: it takes one value"
        findings.mistake("idle-key", message, "say which piece, as take: first, or take split: out", spec.place)
    if spec.take is not None and wanted.kind is Kind.CHOICES:
        message = f"take leaves choices of {wanted.label} out: it takes several"
        findings.mistake("idle-key", message, "take take: out", spec.place)
    if spec.part in _NAME and wanted.kind not in (Kind.NAME, Kind.TEXT, Kind.LINE):
        message = f"part: {spec.part} has no effect on {wanted.label}: it is no name"
        findings.mistake("idle-key", message, "take part: out", spec.place)
    if spec.part in _RANGE and wanted.kind not in (Kind.DATE, Kind.INTEGER, Kind.DECIMAL):
        message = f"part: {spec.part} has no effect on {wanted.label}: it is no date or number"
        findings.mistake("idle-key", message, "take part: out", spec.place)
    if formats.decimal is not None and formats.decimal == formats.thousands and spec.formats != Formats():
        message = f"decimal and thousands are both '{formats.decimal}'"
        findings.mistake("same-sign", message, "declare both here", spec.place)
    if wanted.kind is Kind.DATE and formats.short_year is not None and formats.pivot is None:
        message = "%y is a year of two digits, and which century it is in is not said"
        hint = "declare the first of the hundred years that it lies in, as pivot: 1950, or export years of four digits"
        findings.mistake("pivot-missing", message, hint, formats.short_year)
    check_constants(spec, wanted, formats, findings)


def _table(table: ValueTable | None) -> ResolvedTable | None:
    if table is None:
        return None
    targets = {normalize(entry.cell.value): entry.target.value for entry in table.entries}
    replacement = table.replacement.value if table.replacement and table.otherwise is Otherwise.VALUE else None
    return ResolvedTable(targets, table.otherwise, replacement, table.place)
