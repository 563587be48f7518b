"""Finds columns by name or letter in the header of a sheet, and reports names that are not there or not clear."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.nodes import Text
from importer.models import Column, Problem
from importer.text.normalize import closest, normalize, normalize_name

_SEVERAL = 3
_LETTER = re.compile(r"=\s*([A-Za-z]{1,3})")


class Header:
    """The columns of a sheet by name; remembers which of them were asked for.

    noun: what a message calls a column, where it is the group of a pattern; table: the name of a table that is not the
    source itself.
    """

    def __init__(self, columns: Sequence[Column], noun: str = "column", table: str = "") -> None:
        self.table = table
        self._columns = tuple(columns)
        self._noun = noun
        self._by_letter = {column.letter: column for column in columns}
        self._by_normalized: dict[str, list[Column]] = defaultdict(list)
        self._by_name: dict[str, list[Column]] = defaultdict(list)
        for column in columns:
            self._by_normalized[normalize(column.name)].append(column)
            self._by_name[normalize_name(column.name)].append(column)
        self._used: set[int] = set()
        self.unknown: list[Problem] = []  # the errors about columns that are not there

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    def candidates(self, name: str) -> tuple[Column, ...]:
        """The columns that a name may mean: none, one, or several that are normalized alike."""
        letter = _LETTER.fullmatch(name.strip())
        if letter:
            column = self._by_letter.get(letter.group(1).upper())
            return (column,) if column else ()
        normalized, bare = normalize(name), normalize_name(name)
        if not normalized:
            return ()
        # Punctuation counts where it tells two columns apart (C++ and C#), and only there.
        return tuple(self._by_normalized.get(normalized) or (self._by_name.get(bare) if bare else None) or ())

    def find(self, name: Text, diagnostics: Diagnostics) -> Column | None:
        """The one column of that name; an error is reported where there is none or more than one."""
        found = self.candidates(name)
        if len(found) == 1:
            self._used.add(found[0].index)
            return found[0]
        if found:
            described = " and ".join(f"'{column.name}' (column {column.letter})" for column in found)
            hint = "name the one you mean by its letter, as " + " or ".join(f'"={column.letter}"' for column in found)
            diagnostics.error("column-ambiguous", f"'{name}' means {described}", hint, name.place)
        else:
            hint = self.proposal(name)
            where = f" in '{self.table}'" if self.table else ""
            message = f"there is no {self._noun} '{name}'{where}"
            self.unknown.append(diagnostics.error("column-unknown", message, hint, name.place))
        return None

    def is_another_row(self) -> bool:
        """Whether of several columns that were asked for none is there: then it is most likely not the header."""
        return bool(self._columns) and len(self.unknown) >= _SEVERAL and not self._used

    def unused(self) -> tuple[Column, ...]:
        """The columns with a name that nothing asked for."""
        return tuple(c for c in self._columns if c.index not in self._used and c.name.strip())

    def unread(self) -> frozenset[int]:
        """The indexes of all columns that nothing asked for, also those without a name."""
        return frozenset(column.index for column in self._columns if column.index not in self._used)

    def numbers(self) -> tuple[str, ...]:
        """The numbers that occur in column names, as written (`1`, `01`), in order of size."""
        found = {digits for column in self._columns for digits in re.findall(r"[0-9]+", column.name)}
        return tuple(sorted((digits for digits in found if len(digits) <= 4), key=lambda digits: (int(digits), digits)))

    def proposal(self, typed: str) -> str:
        """What to do about a name that no column has: the nearest one, or all of them."""
        if _LETTER.fullmatch(typed.strip()) and self._columns:
            return f"the last column is ={self._columns[-1].letter}"
        names = [column.name for column in self._columns if column.name.strip()]
        near = closest(typed, names)
        if near is not None:
            return f"did you mean '{near}'?"
        shown = ", ".join(f"'{name}'" for name in names[:12]) + (", ..." if len(names) > 12 else "")
        if not shown:
            return "the header row is blank; declare header_row: under source:"
        return f"the columns are {shown}" if self._noun == "column" else f"its groups are {shown}"
