"""The routing column of an export to many targets, found in its header."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass

from importer.mapping.findings import Findings
from importer.mapping.header import Header
from importer.mapping.model import Mapping
from importer.models import Column
from importer.text.normalize import normalize


@dataclass(frozen=True, eq=False)
class RouteColumn:
    """The index of the column, and the folded words by which each mapping takes its rows."""

    index: int
    words: Dictionary[Mapping, tuple[str, ...]]


def route_column(mappings: Sequence[Mapping], columns: Sequence[Column]) -> RouteColumn:
    """The column that the routes of all these mappings name (see `read_mappings`, which made sure of that).

    Raises:
        UnusableInput: the header has no such column, or several.
    """
    findings = Findings()
    routes = {mapping: mapping.route for mapping in mappings if mapping.route}
    first = next(iter(routes.values()))
    column = Header(columns).find(first.column, findings)
    findings.refuse_mistakes()
    if column is None:
        raise AssertionError("a routing column was lost without being told")
    words = {mapping: tuple(normalize(word) for word in route.words) for mapping, route in routes.items()}
    return RouteColumn(column.index, words)
