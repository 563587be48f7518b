"""The other tables that a mapping takes entries from: each opened once, its header kept beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from importer.mapping.child_index import ChildIndex, Table, index_rows
from importer.mapping.findings import Findings
from importer.mapping.header import Header
from importer.mapping.model import ChildRows, ChildSource


@dataclass(frozen=True, slots=True)
class Children:
    """The child tables of a run by how the mapping names them."""

    tables: Mapping[ChildSource, Table]
    headers: dict[ChildSource, Header] = field(default_factory=dict)

    def header(self, source: ChildSource) -> Header:
        """The header of a child table; the same one for all answers that use it, so that unused columns are known."""
        if source not in self.headers:
            self.headers[source] = Header(self.tables[source].columns, table=str(source))
        return self.headers[source]

    def index(self, spec: ChildRows, findings: Findings) -> ChildIndex | None:
        """The rows by key, or None where a column is not there, and told.

        Raises:
            UnusableInput: the table breaks off.
        """
        header, table = self.header(spec.source), self.tables[spec.source]
        key = header.find(spec.key, findings)
        order_by = header.find(spec.order_by, findings) if spec.order_by else None
        if key is None or (spec.order_by is not None and order_by is None):
            return None
        return index_rows(table.origin, table.rows(), key, order_by)
