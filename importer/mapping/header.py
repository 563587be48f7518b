"""Looks up columns by name: in the header of a table, and in those of the other tables of a mapping."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from importer.documents.folder import DocumentFolder
from importer.mapping.model import Mapping
from importer.mapping.nodes import Diagnostics, Text
from importer.mapping.resolved import ChildTable
from importer.mapping.tables import ChildSource
from importer.models import CELLS_MERGED, Row
from importer.problems import Column, Place, Problem, UnusableInput
from importer.text.normalize import closest, join_key, normalize, normalize_name, normalized

_MIN_UNKNOWN = 3
_MOST_NAMES = 12  # in a hint
_LETTER = re.compile(r"=\s*([A-Za-z]{1,3})")


class ColumnLookup:
    """The columns of a table by name; records which of them are used.

    noun: what messages call a column, for example the group of a pattern. table: the name of a table other than the
    source.
    """

    def __init__(self, columns: Sequence[Column], noun: str = "column", table: str = "") -> None:
        self.table = table
        self.columns = tuple(columns)
        self._noun = noun
        self._by_letter = {column.letter: column for column in columns}
        self._by_normalized: dict[str, list[Column]] = defaultdict(list)
        self._by_name: dict[str, list[Column]] = defaultdict(list)
        self._by_lower: dict[str, list[Column]] = defaultdict(list)
        for column in columns:
            self._by_normalized[normalize(column.name)].append(column)
            self._by_name[normalize_name(column.name)].append(column)
            self._by_lower[normalize_name(column.lower)].append(column)
        self._used: set[int] = set()
        self.unknown: list[Problem] = []  # the errors about missing columns

    def candidates(self, name: str) -> tuple[Column, ...]:
        """The columns that match a name: several if their normalized names are equal.

        In a header of two rows, the lower name is enough: `Email` for `Candidate / Email`.
        """
        letter = _LETTER.fullmatch(name.strip())
        if letter:
            column = self._by_letter.get(letter.group(1).upper())
            return (column,) if column else ()
        normalized, bare = normalize(name), normalize_name(name)
        if not normalized:
            return ()
        # Punctuation matters only where it distinguishes two columns (C++ and C#).
        found = self._by_normalized.get(normalized)
        if found is None and bare:
            found = self._by_name.get(bare) or self._by_lower.get(bare)
        return tuple(found or ())

    def find(self, name: Text, diagnostics: Diagnostics) -> Column | None:
        """The only column of that name; no match, or several, is reported."""
        found = self.candidates(name)
        if len(found) == 1:
            if (other := self._with_comment(name)) is not None:
                message = f"'{name}' may be '{other.name}': what follows # is a comment"
                diagnostics.error(
                    "column-ambiguous", message, "put the name in quotes, or remove the comment", name.place
                )
            self._used.add(found[0].index)
            return found[0]
        if found:
            described = " and ".join(f"'{column.name}' (column {column.letter})" for column in found)
            hint = "give the letter of the right column, " + " or ".join(f'"={column.letter}"' for column in found)
            diagnostics.error("column-ambiguous", f"'{name}' matches several columns: {described}", hint, name.place)
        else:
            message = f"the {self._noun} '{name}' does not exist" + (f" in '{self.table}'" if self.table else "")
            self.unknown.append(diagnostics.error("column-not-found", message, self.proposal(name), name.place))
        return None

    def _with_comment(self, name: Text) -> Column | None:
        """The column that has what follows a name in its line, ` #2`, in its own name."""
        rest = name.place.text[name.place.column - 1 :].removeprefix(name)
        written = f"{name}{rest}".strip()
        return next((each for each in self.columns if each.name == written), None) if rest.startswith(" #") else None

    def is_wrong_row(self) -> bool:
        """Whether several columns were looked up and none was found: most likely this is not the header row."""
        return bool(self.columns) and len(self.unknown) >= _MIN_UNKNOWN and not self._used

    def unused(self) -> tuple[Column, ...]:
        """The named columns that are not used."""
        return tuple(c for c in self.columns if c.index not in self._used and c.name.strip())

    def unread(self) -> frozenset[int]:
        """The indexes of all columns that are not used, including unnamed ones."""
        return frozenset(column.index for column in self.columns if column.index not in self._used)

    def numbers(self) -> tuple[str, ...]:
        """The numbers in column names, as written (`1`, `01`), in ascending order."""
        found = {digits for column in self.columns for digits in re.findall(r"[0-9]+", column.name)}
        return tuple(sorted((digits for digits in found if len(digits) <= 4), key=lambda digits: (int(digits), digits)))

    def proposal(self, typed: str) -> str:
        """The hint for an unknown column: the closest name, or all names."""
        if _LETTER.fullmatch(typed.strip()) and self.columns:
            return f"the last column is ={self.columns[-1].letter}"
        names = [column.name for column in self.columns if column.name.strip()]
        if not names:
            return "the header row is blank; set header_row: under source:"
        similar = closest(typed, names)
        if similar is not None:
            return f"did you mean '{similar}'?"
        shown = ", ".join(f"'{name}'" for name in names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        return f"the columns are {shown}" if self._noun == "column" else f"its groups are {shown}"


@dataclass(frozen=True, slots=True)
class Context:
    """The mapping, the header and the other tables that it is resolved against, and the problems found.

    today: dates that are later may be a problem; None: no date is. documents: the folders of `folder:`, by name.
    """

    mapping: Mapping
    header: ColumnLookup
    diagnostics: Diagnostics
    tables: Dictionary[ChildSource, ChildTable]
    today: date | None = None
    documents: Dictionary[str, DocumentFolder] = field(default_factory=dict)
    child_headers: dict[ChildSource, ColumnLookup] = field(default_factory=dict)
    child_rows: dict[tuple[ChildSource, int], tuple[dict[str, list[Row]], dict[str, list[Row]]]] = field(
        default_factory=dict
    )  # by column and key

    def error(self, code: str, message: str, hint: str, place: Place) -> None:
        self.diagnostics.error(code, message, hint, place)

    def find(self, name: Text) -> Column | None:
        """The only column of that name; no match, or several, is reported."""
        return self.header.find(name, self.diagnostics)

    def find_all(self, names: Sequence[Text]) -> tuple[Column, ...] | None:
        """The columns of these names; None, after all were reported, if one is not found."""
        found = [self.find(name) for name in names]
        columns = tuple(column for column in found if column is not None)
        return columns if len(columns) == len(found) else None

    def child_header(self, source: ChildSource) -> ColumnLookup:
        """The header of another table, shared by all answers that use it, so that it knows its unused columns."""
        if source not in self.child_headers:
            table = self.tables.get(source)
            self.child_headers[source] = ColumnLookup(table.columns if table else (), table=str(source))
        return self.child_headers[source]

    def rows_by_key(self, source: ChildSource, key: Column) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
        """The rows of another table by key, read into memory once; and those without a key, by the key above them.

        Raises UnusableInput: the table cannot be read to its end.
        """
        if (source, key.index) not in self.child_rows:
            by_key: dict[str, list[Row]] = defaultdict(list)
            without: dict[str, list[Row]] = defaultdict(list)
            own, above, last = "", 0, ""
            delimiter, missing = self.tables[source].delimiter, normalized(self.mapping.missing)
            for row in self.tables[source].rows():
                is_merged = any(one.code == CELLS_MERGED and one.is_in((key.index,)) for one in row.problems)
                if not is_merged or row.number != above + 1:  # the key may be in a row that is not read
                    own = _key_in(row, key, delimiter, missing)
                by_key[own].append(row)  # merged with the key above: that candidate is held back
                is_broken = any(one.is_in((key.index,)) for one in row.problems)
                if not is_merged and (not own or is_broken) and last:
                    without[last].append(row)
                last = own if own and not is_broken else last
                above = row.number
            self.child_rows[source, key.index] = dict(by_key), dict(without)
        return self.child_rows[source, key.index]


def _key_in(row: Row, key: Column, delimiter: str, missing: frozenset[str]) -> str:
    """The key of a row. One whose quotes are broken is a single cell: the key is in its text, so that its candidate is
    held back.

    Raises UnusableInput: it cannot be told where.
    """
    cell = row.cells[key.index]
    if broken := [one for one in row.problems if one.code == "quote-unclosed"]:
        before = row.cells[0].split(delimiter)[: key.index + 1]
        if len(before) <= key.index or '"' in "".join(before):
            raise UnusableInput(broken)
        cell = before[-1]
    return join_key(cell, missing)
