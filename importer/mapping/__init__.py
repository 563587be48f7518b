"""The mapping file: its language, reading it with line and column, and resolving it against header and questions."""

from __future__ import annotations

from importer.mapping.entries import (
    ENTRY_FIELDS,
    PLACEHOLDER,
    ChildRows,
    ChildSource,
    EntriesSpec,
    EntryKind,
    EntryOrder,
)
from importer.mapping.model import Mapping
from importer.mapping.nodes import OUTSIDE_HINT, lies_within
from importer.mapping.question_snapshot import (
    changes,
    flow_list,
    one_or_list,
    remark,
    scalar,
    seen_lines,
    with_seen,
)
from importer.mapping.reader import RouteColumn, read_mapping, read_mappings, route_column
from importer.mapping.resolve import check_against_columns, check_without_columns, resolve
from importer.mapping.resolve_values import NO_WORDS, YES_WORDS, Header
from importer.mapping.resolved import (
    EntriesFrom,
    FieldSpec,
    FromChild,
    FromGroup,
    FromJson,
    FromLists,
    FromPieces,
    FromRow,
    Kind,
    Options,
    Pattern,
    ResolvedAnswer,
    ResolvedEntries,
    ResolvedFilter,
    ResolvedGroup,
    ResolvedGrouping,
    ResolvedMapping,
    ResolvedTable,
    ResolvedValue,
    spec_of_candidate,
    spec_of_entry,
    spec_of_question,
)
from importer.mapping.values import Edge, NameRule, Otherwise, Repeated, Surname, Take, ValueSpec

__all__ = [
    "ENTRY_FIELDS", "NO_WORDS", "OUTSIDE_HINT", "PLACEHOLDER", "YES_WORDS", "ChildRows", "ChildSource", "Edge",
    "EntriesFrom", "EntriesSpec", "EntryKind", "EntryOrder", "FieldSpec", "FromChild", "FromGroup", "FromJson",
    "FromLists", "FromPieces", "FromRow", "Header", "Kind", "Mapping", "NameRule", "Options", "Otherwise", "Pattern",
    "Repeated", "ResolvedAnswer", "ResolvedEntries", "ResolvedFilter", "ResolvedGroup", "ResolvedGrouping",
    "ResolvedMapping", "ResolvedTable", "ResolvedValue", "RouteColumn", "Surname", "Take", "ValueSpec", "changes",
    "check_against_columns", "check_without_columns", "flow_list", "lies_within", "one_or_list", "read_mapping",
    "read_mappings", "remark", "resolve", "route_column", "scalar", "seen_lines", "spec_of_candidate",
    "spec_of_entry", "spec_of_question", "with_seen",
]  # fmt: skip
