"""The mapping file: its model, reading it with line and column, and resolving it against a header and questions."""

from __future__ import annotations

from importer.mapping.model import Mapping
from importer.mapping.reader import read_mapping, read_mappings
from importer.mapping.resolve import resolve
from importer.mapping.resolved import ResolvedMapping

__all__ = ["Mapping", "ResolvedMapping", "read_mapping", "read_mappings", "resolve"]
