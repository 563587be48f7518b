"""A cell of a results file that is not what it was, and what a spreadsheet program may have done to it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from importer.extract.possible_values import DATE, Moment, possible_values, readings, same
from importer.extract.results_file import is_canonical
from importer.text.results_cells import CUT_NOTE, truncated

# What no person writes to fix a cell: another form of a date or word; in other cells also a number without its zeros.
_ONLY_A_PROGRAM = re.compile(r"\d{4}-\d\d?-\d.*|[^\d]*", re.DOTALL)
_ONLY_A_PROGRAM_ELSEWHERE = re.compile(r"0\d+|\d{16,}")
_MONTH_FIRST = re.compile(r"[^\W\d]")  # the name of a month comes first
# What a text is before and after a program drops something of it, so that 50 is perhaps 50.000, and 805 is 0805; or it
# turns a date round, unless it has one reading.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[.,' ]\d{3})+")
_DROPPED = {
    "zeros": (re.compile(r"[+-]?0\d+"), re.compile(r"[+-]?(?:[1-9]\d*|0)")),
    "decimals": (_GROUPED, re.compile(r"[+-]?\d{1,3}(?:[.,]\d{1,2})?")),
    "separators": (_GROUPED, re.compile(r"[+-]?\d{4,}(?:[.,]\d+)?")),
    "order": (re.compile(r"\d{4}-\d\d-\d\d(?: .*)?"), DATE),
}


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A cell of a results file beside its source: its text and whether it is typed, before and now.

    `mark`: what TYPED_COLUMN listed for it, "" if it was not typed.
    `is_named`: the report names it. `may_be_fixed`: it does, or the row as a whole was refused. `was_refused`: as one
    that a program has perhaps changed. `was_wrong`: what it was is itself a problem.
    """

    index: int
    was: str
    mark: str
    now: str
    now_typed: bool
    is_named: bool
    may_be_fixed: bool
    was_refused: bool
    was_wrong: bool

    @property
    def was_typed(self) -> bool:
        return bool(self.mark)

    @property
    def is_cut(self) -> bool:
        """Whether it only has the beginning of its text, since a workbook cannot hold all of it."""
        return self.now.endswith(CUT_NOTE) and self.now == truncated(self.was)

    @property
    def is_kept(self) -> bool:
        return self.now == self.was and self.now_typed == self.was_typed

    @property
    def is_explained(self) -> bool:
        """Whether it can only be what the program made of it: as a date, a number or a word, whatever the locale."""
        return any(all(found) for found in self._same_values().values())

    @property
    def is_told_form(self) -> bool:
        """Whether a value in a form that is refused is now the same one in the form that its problem told to write.

        What it was had only this value, so it does not matter who wrote it.
        """
        is_rewritten = self.was_typed and is_canonical(self.now) and not is_canonical(self.was)
        return is_rewritten and self.is_explained and len(possible_values(self.was)) == 1

    @property
    def is_perhaps_explained(self) -> bool:
        """Whether it can be what the program made of it, in some locale."""
        return any(any(found) for found in self._same_values().values())

    def _same_values(self) -> dict[type, list[bool]]:
        """For each value that it may have now, by kind, whether the program may have made it of what the cell was."""
        before = possible_values(self.was)
        months = _MONTH_FIRST.match(self.now) and any(
            isinstance(one, Moment) and len(one.year) == 4 and not one.day for one in before
        )
        found: dict[type, list[bool]] = {}
        for after in possible_values(self.now):
            if months and isinstance(after, Moment) and not after.year:
                continue  # Oct-14 is 10/2014: of a month and its year a program makes no day without a year
            found.setdefault(type(after), []).append(any(same(each, after) for each in before))
        return found

    @property
    def is_fixed_perhaps(self) -> bool:
        if not self.may_be_fixed or _ONLY_A_PROGRAM.fullmatch(self.was):
            return False
        return self.is_named or not _ONLY_A_PROGRAM_ELSEWHERE.fullmatch(self.was)

    @property
    def may_be_dropped(self) -> list[str]:
        """What a program perhaps dropped of what a person typed."""
        found = [name for name, (_, after) in _DROPPED.items() if after.fullmatch(self.now)]
        return [name for name in found if name != "order" or len(set(readings(self.now).values())) != 1]

    @property
    def value_before(self) -> str | None:
        """The text of the value that the cell was in every locale; None if that depends on the locale."""
        if self.was_typed or re.match(r"\d{4}-\d\d-\d\d", self.was):
            return self.was
        if not DATE.fullmatch(self.was) or (self.may_be_fixed and not self.is_kept):
            return None
        dates = set(readings(self.was).values())
        return dates.pop() if len(dates) == 1 else None  # 09/18/2027 has one, 09/08/2027 two


@lru_cache(maxsize=65_536)
def droppable(text: str) -> tuple[str, ...]:
    """What a program could drop of a text."""
    return tuple(name for name, (before, _) in _DROPPED.items() if before.fullmatch(text))


@lru_cache(maxsize=65_536)
def shows_format(text: str) -> bool:
    """Whether a text shows, also where it is kept, what a program does to it: it could drop something, or is a date."""
    return bool(droppable(text) or DATE.fullmatch(text))


# --- months that a program names --------------------------------------------------------------------

_MONTH = re.compile(r"\d{1,2}([./-])(\d{4})|(\d{4})([./-])\d{1,2}")
_NAMED = re.compile(r"[^\W\d]+(\W*)\d\d")
_NEAR = 50  # years: of two years a century apart, only one is so near to another


class NamedMonth(NamedTuple):
    """A month that a program has named: how it was written, what is now between its name and its year, and its year."""

    before: str
    between: str
    year: int


def named_month(was: str, now: str) -> NamedMonth | None:
    """The form of a month and of its name: of `10/2014` and `Oct-14`, which are the same; None for other texts."""
    month, named = _MONTH.fullmatch(was), _NAMED.fullmatch(now)
    if month is None or named is None:
        return None
    before = f"{{month:02}}{month[1]}{{year}}" if month[1] else f"{{year}}{month[4]}{{month:02}}"
    return NamedMonth(before, named[1], int(month[2] or month[3]))


def unnamed_month(now: str, known: Collection[NamedMonth]) -> str | None:
    """The month that a person typed and the program named, written as the other months of its column were.

    None unless these have one form, and years near to only one year that ends with its two digits.
    """
    named, forms = _NAMED.fullmatch(now), {(each.before, each.between) for each in known}
    if named is None or len(forms) != 1:
        return None
    ((before, between),) = forms
    found = (one for one in possible_values(now) if isinstance(one, Moment))
    months = {one.month for one in found if len(one.year) == 2 and not one.day}
    years = (century + int(now[-2:]) for century in (1900, 2000))
    near = [year for year in years if all(abs(year - each.year) < _NEAR for each in known)]
    is_proven = named[1] == between and len(months) == 1 and near
    return before.format(month=months.pop(), year=near[0]) if is_proven else None
