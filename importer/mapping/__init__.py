"""The mapping file: its language, reading it with line and column, and resolving it against header and questions.

Where to find a key: it is declared in the class of its section, with what editors show of it (`model`: the whole file;
`tables`: how tables are read; `values`: values; `entries`: education and experience). Its type reads and checks its
text (`scalars`, `shapes`); `check_keys` of the section checks it against other keys. `resolve` (`resolve_values`,
`resolve_entries`) looks up its columns and questions and checks that it suits them. `resolved` is what transform gets.
"""

from __future__ import annotations

from importer.mapping.entries import ENTRY_FIELDS, ENTRY_SOURCES, PLACEHOLDER, EntryKind, EntryOrder
from importer.mapping.examples import TEST_ROWS, TestRow, TestRows, read_test_rows
from importer.mapping.fields import (
    CANDIDATE_FIELDS,
    NO_WORDS,
    NUMBERS,
    YES_WORDS,
    ChoiceOptions,
    FieldSpec,
    Kind,
    spec_of_entry,
    spec_of_question,
)
from importer.mapping.header import ColumnLookup
from importer.mapping.model import IN_SOURCE, Mapping
from importer.mapping.nodes import OUTSIDE_HINT, Items, Keys, Node, Text, is_within
from importer.mapping.reader import mappings_in, read_mapping, read_mappings
from importer.mapping.resolve import check_without_columns, resolve
from importer.mapping.resolved import (
    EntriesFrom,
    FromChild,
    FromGroup,
    FromJson,
    FromLists,
    FromPieces,
    FromRow,
    Lookup,
    ResolvedAnswer,
    ResolvedEntries,
    ResolvedFilter,
    ResolvedGroup,
    ResolvedGrouping,
    ResolvedMapping,
    ResolvedSource,
    ResolvedTable,
    ResolvedValue,
    blank_words,
)
from importer.mapping.scalars import CellPattern
from importer.mapping.tables import ChildSource
from importer.mapping.values import DuplicatePolicy, Edge, NameRule, Otherwise, Surname, Take, ValueSpec
from importer.mapping.yaml_text import comment_text, flow_list, one_or_list, scalar
