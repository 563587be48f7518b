"""A cell of a results file beside its source, and what the cells of its column show about the program that saved it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from importer.extract.possible_values import Moment, Number, Reading, Value, readings, same
from importer.extract.results_file import is_canonical
from importer.text.results_cells import CUT_NOTE, escape_formula, truncated, unescape_formula

# What no person writes to fix a cell: another form of a date or word; in other cells also a number without its zeros.
_ONLY_A_PROGRAM = re.compile(r"\d{4}-\d\d?-\d.*|[^\d]*", re.DOTALL)
_ONLY_A_PROGRAM_ELSEWHERE = re.compile(r"0\d+|\d{16,}")
_ISO = re.compile(r"\d{4}-\d\d-\d\d.*", re.DOTALL)
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[ ,]+\d.*)?", re.DOTALL)
# What a text is before and after a program drops something of it, so that 50 is perhaps 50.000, and 805 is 0805; or it
# turns a date round, unless it has one reading.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[.,' ]\d{3})+")
_DROPPED = {
    "zeros": (re.compile(r"[+-]?0\d+"), re.compile(r"[+-]?(?:[1-9]\d*|0)")),
    "decimals": (_GROUPED, re.compile(r"[+-]?\d{1,3}(?:[.,]\d{1,2})?")),
    "separators": (_GROUPED, re.compile(r"[+-]?\d{4,}(?:[.,]\d+)?")),
    "order": (_ISO, _DATE),
}
_YEAR = re.compile(r"\d{4}")
_NEAR = 50  # years: of two years a century apart, only one is so near to another


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A cell of a results file beside its source: its text and whether it is typed, before and now.

    `mark`: what TYPED_COLUMN listed for it, "" if it was not typed. `is_kept`: it is the same; a value perhaps as text.
    `is_named`: the report names it. `may_be_fixed`: it does, or the row as a whole was refused. `was_refused`: as one
    that a program has perhaps changed. `was_wrong`: what it was is itself a problem.
    """

    index: int
    was: str
    mark: str
    now: str
    now_typed: bool
    is_kept: bool
    is_named: bool
    may_be_fixed: bool
    was_refused: bool
    was_wrong: bool

    @property
    def is_as_it_was(self) -> bool:
        """Whether it has its text, perhaps with or without the quote of a formula; or the beginning of a long one."""
        if self.was in (self.now, unescape_formula(self.now), escape_formula(self.now)):
            return True
        return self.now.endswith(CUT_NOTE) and self.now == truncated(self.was)

    @property
    def origin(self) -> Origin:
        return origin_of(self.was, self.now)

    @property
    def is_fixed_perhaps(self) -> bool:
        """Whether a person, who had a reason to fix it, may have written what a program makes of it, too."""
        if _ONLY_A_PROGRAM.fullmatch(self.was):  # but a person may have given a year another century
            return self.is_named and bool(_YEAR.search(self.was)) and not _YEAR.search(self.now)
        return self.is_named or (self.may_be_fixed and not _ONLY_A_PROGRAM_ELSEWHERE.fullmatch(self.was))

    @property
    def is_requested_form(self) -> bool:
        """Whether a value in a form that is refused is now the same one in the form that its problem asked for.

        What it was had only this value, so it does not matter who wrote it.
        """
        is_rewritten = bool(self.mark) and is_canonical(self.now) and not is_canonical(self.was)
        return is_rewritten and bool(self.origin.readings) and len({each.value for each in readings(self.was)}) == 1

    @property
    def is_unambiguous(self) -> bool:
        """Whether no program made it of what it was, and everybody reads it as the same value, or as a text."""
        return not self.origin.is_possible and len({each.value for each in readings(self.now)}) < 2

    @property
    def may_be_dropped(self) -> list[str]:
        """What a program perhaps dropped of what a person typed."""
        found = [name for name, (_, after) in _DROPPED.items() if after.fullmatch(self.now)]
        return [name for name in found if name != "order" or date_of(self.now) is None]

    @property
    def shown_forms(self) -> frozenset[str]:
        """The forms in which the program writes values, if what this cell was has one value in every locale."""
        shown = self.origin.readings
        if not (_ISO.match(self.was) or (self.mark and is_canonical(self.was))):
            is_known = date_of(self.was) and (self.is_kept or not self.may_be_fixed)
            shown = tuple(each for each in shown if is_known and isinstance(each.value, Moment))
        return frozenset(each.form for each in shown if each.form)


@lru_cache(maxsize=65_536)
def droppable(text: str) -> tuple[str, ...]:
    """What a program could drop of a text, or turn round."""
    return tuple(name for name, (before, _) in _DROPPED.items() if before.fullmatch(text))


@lru_cache(maxsize=65_536)
def is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text))


def date_of(text: str) -> Moment | None:
    """The date or month of a text that can only be one: of 09/18/2027, not of 09/08/2027."""
    dates = {each.value for each in readings(text) if isinstance(each.value, Moment)}
    date = dates.pop() if len(dates) == 1 else None
    return date if date and len(date.year) == 4 else None


# --- where a text may come from ---------------------------------------------------------------------


class Origin(NamedTuple):
    """Whether a program may have made a text of what the cell was; if it can be nothing else, the readings that show
    how it did."""

    is_possible: bool
    readings: tuple[Reading, ...]


@lru_cache(maxsize=65_536)
def origin_of(was: str, now: str) -> Origin:
    """Of a cell that was one text and is now another.

    A text can only be the program's if all its values of one kind are those of what it was, except values that nobody
    comes to: the same with year and day exchanged, and of a month and its year (Oct-14) a day without a year. Only a
    person exchanges day and month of a date and leaves the rest.
    """
    if _is_turned(was, now):
        return Origin(False, ())
    before = {each.value for each in readings(was)}
    is_month = now[:1].isalpha() and any(_is_month(one) and len(one.year) == 4 for one in before)
    found: dict[type, list[tuple[Reading, bool]]] = {}
    for each in readings(now):
        value, comes = each.value, _comes_from(before, each.value)
        if isinstance(value, Moment) and not comes:
            turned = value._replace(year=f"{value.day:02}", day=int(value.year or 0))
            if (is_month and not value.year) or (len(value.year) == 2 and _comes_from(before, turned)):
                continue
        found.setdefault(type(value), []).append((each, comes))
    kinds = [found[kind] for kind in (bool, Number, Moment) if kind in found]
    sure = next((kind for kind in kinds if all(comes for _, comes in kind)), [])
    return Origin(any(comes for kind in kinds for _, comes in kind), tuple(each for each, _ in sure))


def _comes_from(before: Iterable[Value], after: Value) -> bool:
    return any(same(one, after) for one in before)


def _is_month(value: Value) -> TypeGuard[Moment]:
    return isinstance(value, Moment) and not value.day


def _is_turned(was: str, now: str) -> bool:
    """Whether two dates differ only in the order of day and month, which a program writes as it reads them."""
    dates = _DATE.fullmatch(was), _DATE.fullmatch(now)
    if not (dates[0] and dates[1]) or dates[0][1] != dates[1][1]:
        return False
    (*before, year), (*after, same_year) = (re.findall(r"\d+", text)[:3] for text in (was, now))
    if len(before[0]) == 4:  # the year comes first
        year, same_year, before, after = before[0], after[0], [before[1], year], [after[1], same_year]
    exchanged = [int(part) for part in before] == [int(part) for part in reversed(after)]
    is_same_year = len(year) > 1 and int(year) % 100 == int(same_year) % 100
    return is_same_year and exchanged and int(before[0]) != int(before[1])


# --- what the cells of a column show ----------------------------------------------------------------


@dataclass(slots=True)
class Habits:
    """What a program does to the texts of a column, as the cells show that are what they were.

    `is_rewritten`: it writes at least one in another form. `dropped`, `kept`: what it drops, and what it leaves there.
    """

    is_rewritten: bool = False
    dropped: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    _forms: dict[bool, frozenset[str]] = field(default_factory=dict)  # of months, and of other values
    _proven: set[bool] = field(default_factory=set)
    _months: frozenset[str] | None = None  # the forms that months had
    _years: set[int] = field(default_factory=set)

    def learn(self, cell: ChangedCell) -> None:
        if cell.is_kept:
            self.kept.update(droppable(cell.was))
        elif cell.now != cell.was and cell.origin.readings:
            self.is_rewritten = True
            self.dropped.update(name for name in droppable(cell.was) if name in cell.may_be_dropped)
        if not (forms := cell.shown_forms):
            return
        date = date_of(cell.was)
        is_month = date is not None and _is_month(date)
        self._forms[is_month] = self._forms.get(is_month, forms) & forms
        # A text that was left as it was does not prove a form, but another form is not proven beside it.
        if cell.mark or not cell.is_kept:
            self._proven.add(is_month)
        if date and is_month:
            before = frozenset(each.form for each in readings(cell.was) if each.value == date)
            self._months = before if self._months is None else self._months & before
            self._years.add(int(date.year))

    def proven_text(self, cell: ChangedCell) -> str | None:
        """What a changed cell means in the forms of its column: the text that Row writes for it, or what it was; a
        month as the others of the column were. None if that is not proven."""
        proven = {is_month: self._forms[is_month] for is_month in self._proven}
        found = [each for each in readings(cell.now) if each.form in proven.get(_is_month(each.value), ())]
        texts = {self._month(each.value) if _is_month(each.value) else each.text for each in found}
        if texts == {""} and not cell.may_be_fixed:  # a year of two digits
            before = {each.value for each in readings(cell.was)}
            return cell.was if all(_comes_from(before, each.value) for each in found) else None
        return texts.pop() or None if len(texts) == 1 else None

    def _month(self, month: Moment) -> str:
        """A month, written as the others were; "" if they had no common form, or its year may be two."""
        years = [int(month.year)] if len(month.year) == 4 else [century + int(month.year) for century in (1900, 2000)]
        near = [year for year in years if all(abs(year - one) < _NEAR for one in self._years)]
        if not (near and self._months):
            return ""
        form = max(self._months, key=len).replace("YYYY", str(near[0]))
        return form.replace("MM", f"{month.month:02}").replace("M", str(month.month))
