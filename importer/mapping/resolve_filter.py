"""A filter against the header: its column found, its words folded."""

from __future__ import annotations

from importer.mapping.findings import Findings
from importer.mapping.header import Header
from importer.mapping.model import Filter
from importer.mapping.resolved import ResolvedFilter
from importer.text.normalize import normalize


def resolve_filter(spec: Filter, header: Header, findings: Findings, label: str) -> ResolvedFilter | None:
    """The filter ready for rows, or None where its column is not there, and told."""
    column = header.find(spec.column, findings)
    if column is None:
        return None
    return ResolvedFilter(column, frozenset(normalize(word) for word in spec.words), spec.negated, label)
