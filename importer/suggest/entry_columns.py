"""Finds the columns with entries: numbered groups or single columns, or another sheet or file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from importer.mapping import ENTRY_FIELDS, PLACEHOLDER, EntryKind
from importer.suggest.columns import SIMILAR, ColumnView, ListedItems, listed_items
from importer.suggest.header_words import (
    EITHER_KIND,
    ENTRY_PHRASES,
    ENTRY_QUALIFIERS,
    FALLBACK_CONCEPTS,
    index_of,
    is_current,
    key_of,
    likely_field,
    words_of,
)
from importer.suggest.proposal import Goal
from importer.suggest.value_settings import is_like
from importer.text.normalize import normalize_name

_MAX_DISTANCE = 1  # of columns of one entry in the table of candidates; another table has nothing else


@dataclass(frozen=True, slots=True)
class EntryColumns:
    """The columns of one field; `template` is a name with `{n}` for numbered columns, else the column name."""

    kind: EntryKind
    field: str
    template: str
    views: tuple[ColumnView, ...]
    review_reason: str = ""

    @property
    def combined(self) -> ColumnView:
        """Its columns as one column."""
        values = tuple(pair for one in self.views for pair in one.values)
        return ColumnView(self.views[0].column, values, sum(one.filled for one in self.views))


@dataclass(frozen=True, slots=True)
class EntryGroups:
    """The fields of one kind of entries in a header."""

    kind: EntryKind
    fields: tuple[EntryColumns, ...]
    numbered: bool
    first_unnumbered: bool = False
    lists: ListedItems | None = None  # one of the columns, if these are lists


def entry_groups(
    views: Sequence[ColumnView], taken: frozenset[int], distance: int = _MAX_DISTANCE
) -> tuple[EntryGroups, ...]:
    """The entries in a header: numbered groups, else lists in several columns, else single columns (`University`).

    distance: between two columns of one entry, at most.
    """
    numbered = _numbered_fields(views)
    lists = {one.column.index: items for one in views if (items := listed_items(one))}
    used = taken | {one.column.index for field in numbered for one in field.views}
    found = []
    for kind in EntryKind:
        fields = _unique_fields(kind, numbered)
        if _is_whole(kind, fields):
            found.append(EntryGroups(kind, fields, numbered=True, first_unnumbered=any(map(_is_unnumbered, fields))))
            continue
        listed = _unique_fields(kind, _list_fields([one for one in views if one.column.index not in used], lists))
        if _is_whole(kind, listed):
            first = lists[listed[0].views[0].column.index]
            found.append(EntryGroups(kind, listed, numbered=False, lists=first))
            continue
        several = {one.column.index for one in views if one.numbered_items >= _SOME or _has_whole_entries(one)}
        single = _unique_fields(kind, _single_fields(views, used.union(lists, several), distance))
        if _is_whole(kind, single):
            found.append(EntryGroups(kind, single, numbered=False))
    return tuple(found)


_SOME = 0.5
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NAMES = ("first_name", "last_name", "full_name", "bare_name")


def _has_whole_entries(view: ColumnView) -> bool:
    """Whether a cell has a whole entry or several, and not one field: `Example Uni, BSc, 2010-2013; Example School`."""
    whole = [text for text in view.texts if _YEAR.search(text) and not {*",;|\n"}.isdisjoint(text)]
    return len(whole) >= _SOME * max(len(view.texts), 1)


def _is_whole(kind: EntryKind, fields: Sequence[EntryColumns]) -> bool:
    """Whether the fields contain the one that names an entry."""
    return any(field.field == ENTRY_FIELDS[kind][0] for field in fields)


def _is_unnumbered(field: EntryColumns) -> bool:
    bare = _bare(field.template)
    return any(normalize_name(one.name) == bare for one in field.views)


def _bare(template: str) -> str:
    return normalize_name(template.replace(PLACEHOLDER, ""))


def _unique_fields(kind: EntryKind, fields: Sequence[EntryColumns]) -> tuple[EntryColumns, ...]:
    """Each field of a kind once, with its first columns; `Current job` only if it says yes or no."""
    first: dict[str, EntryColumns] = {}
    for field in fields:
        is_title = field.field == ENTRY_FIELDS[kind][-1] and all(one.total and one.yes_no < 0.5 for one in field.views)
        if field.kind is kind and not is_title:
            first.setdefault(field.field, field)
    return tuple(first.values())


# --- the field of an entry that a header names ----------------------------------------------------

_FIELDS = {kind: index_of(ENTRY_PHRASES[kind.value]) for kind in EntryKind}
_EITHER = index_of(ENTRY_PHRASES[EITHER_KIND])


@dataclass(frozen=True, slots=True)
class _Role:
    """The field that a header names; `kind` is None if it fits both kinds."""

    kind: EntryKind | None
    field: str
    review_reason: str = ""

    def field_of(self, kind: EntryKind) -> str:
        return ENTRY_FIELDS[kind][-1] if self.field == "current" else self.field


def _role_of(header: str) -> _Role | None:
    """The field of an entry that a header names, ignoring numbers, or None."""
    header = header.replace(PLACEHOLDER, " ")
    key = key_of(header)
    for kind in EntryKind:
        if key in _FIELDS[kind]:
            return _Role(kind, _FIELDS[kind][key])
    if key in _EITHER:
        return _Role(None, _EITHER[key])
    words = words_of(header)
    for length in range(len(words) - 1, 0, -1):
        for kind in EntryKind:
            field = _qualified(kind, words[-length:], words[:-length]) or _qualified(
                kind, words[:length], words[length:]
            )
            if field is not None:
                return _Role(kind, field)
    likely = likely_field(header)
    return _Role(*likely, SIMILAR) if likely else None


def _qualified(kind: EntryKind, named: Sequence[str], others: Sequence[str]) -> str | None:
    """The field that some words name, if the other words only name the kind of entry."""
    if not set(others) <= ENTRY_QUALIFIERS[kind.value]:
        return None
    key = "".join(named)
    return _FIELDS[kind].get(key) or _EITHER.get(key)


# --- numbered groups ------------------------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]{1,2}")


def _numbered_fields(views: Sequence[ColumnView]) -> list[EntryColumns]:
    families = _families(views)
    template_of = {one.column.index: template for template, columns in families.items() for one in columns.values()}
    fields, done = [], set[str]()
    kind: EntryKind | None = None
    for one in sorted(views, key=lambda one: one.column.index):
        template = template_of.get(one.column.index)
        role = _role_of(template) if template else None
        if template is None or role is None:
            continue
        # A word that fits both kinds belongs to the kind before it: School 1, From 1, To 1.
        kind = role.kind or kind
        if kind is not None and template not in done:
            done.add(template)
            members = tuple(column for _, column in sorted(families[template].items()))
            fields.append(EntryColumns(kind, role.field_of(kind), template, members, role.review_reason))
    return fields


def _families(views: Sequence[ColumnView]) -> dict[str, dict[int, ColumnView]]:
    """The columns whose names differ only in one number, by the name with `{n}`; 0 is the column without a number.

    Columns with the same name are not in a group, because a mapping could not distinguish them.
    """
    names = Counter(normalize_name(one.name) for one in views)
    found: dict[str, dict[int, ColumnView]] = defaultdict(dict)
    templates: dict[tuple[str, ...], str] = {}
    for one in (one for one in views if names[normalize_name(one.name)] == 1):
        for match in _NUMBER.finditer(one.name):
            around = (one.name[: match.start()], one.name[match.end() :])
            template = templates.setdefault(tuple(map(normalize_name, around)), PLACEHOLDER.join(around))
            found[template].setdefault(int(match.group()), one)
    for template, columns in found.items():
        unnumbered = [one for one in views if one.name and normalize_name(one.name) == _bare(template)]
        if len(unnumbered) == 1 and 1 not in columns:
            columns[0] = unnumbered[0]
    return {template: columns for template, columns in found.items() if len(columns) > 1 or _role_of(template)}


# --- lists in several columns ---------------------------------------------------------------------


def _list_fields(views: Sequence[ColumnView], lists: Mapping[int, ListedItems]) -> list[EntryColumns]:
    """The columns whose cells are lists of the same form as the first one's: `employment_titles`."""
    fields: list[EntryColumns] = []
    form = None
    kind: EntryKind | None = None
    for one in views:
        found = lists.get(one.column.index)
        role = _role_of(_singular(one.name)) if found else None
        if found is None or role is None or form not in (None, (found.split, found.numbered)):
            continue
        kind = role.kind or kind
        if kind is not None:
            form = found.split, found.numbered
            fields.append(EntryColumns(kind, role.field_of(kind), one.name, (found.column,), role.review_reason))
    return fields


def _singular(header: str) -> str:
    """`employment_companies` is `employment company`."""
    words = re.findall(r"[^\W_]+", header)
    return " ".join(
        re.sub(r"ies$", "y", word) if word.endswith("ies") else re.sub(r"(?<=[^s])s$", "", word) for word in words
    )


# --- single columns -------------------------------------------------------------------------------

# A column without a number is a field of an entry only if its header is unlikely to mean anything else.
_WHOLE_HISTORY = "it may contain one degree or the whole history"
_BEFORE_ENTRY = "it may belong to something else than the columns after it"
_MAYBE_APPLIED_FOR = "it may be the position that was applied for"
# These are clear only next to a school.
_AFTER_SCHOOL = dict.fromkeys(map(key_of, ("field", "program", "programme", "department", "Programm")), "major")
_AFTER_SCHOOL |= dict.fromkeys(map(key_of, ("level", "уровень", "рівень", "Stufe", "seviye")), "degree")


def _single_fields(views: Sequence[ColumnView], used: frozenset[int], distance: int) -> list[EntryColumns]:
    fields = []
    kind: EntryKind | None = None
    before = -1
    dates: list[tuple[ColumnView, _Role]] = []  # whose kind the next column may show: Start, End, School
    for one in sorted(views, key=lambda one: one.column.index):
        role = _role_after(one, kind) if one.column.index not in used else None
        if role is None:
            continue
        adjacent = kind is not None and one.column.index - before <= distance
        if dates and one.column.index - dates[-1][0].column.index > distance:
            dates = []
        if not adjacent and role.kind is None and one.imported and one.concept is None:
            dates.append((one, role))
        if not adjacent and (role.kind is None or not one.imported):
            continue  # "Start" alone may be anything, and "Bölüm" alone is most likely a department
        if role.kind is not None:
            for date, its in dates:
                fields.append(EntryColumns(role.kind, its.field_of(role.kind), date.name, (date,), _BEFORE_ENTRY))
            dates = []
        if adjacent and not one.imported and role.kind is not kind:
            continue
        kind = role.kind or kind
        before = one.column.index
        if kind is not None:
            review_reason = (
                role.review_reason
                or ("" if one.imported else SIMILAR)
                or (_WHOLE_HISTORY if one.concept == kind.value else "")
            )
            fields.append(EntryColumns(kind, role.field_of(kind), one.name, (one,), review_reason))
    return _with_position_check(fields)


def _role_after(one: ColumnView, kind: EntryKind | None) -> _Role | None:
    """The field that a header names, if it follows a column of this kind."""
    if kind is EntryKind.EDUCATION and one.key in _AFTER_SCHOOL:
        return _Role(None, _AFTER_SCHOOL[one.key], SIMILAR)
    return _role_of(one.name)


def _with_position_check(fields: list[EntryColumns]) -> list[EntryColumns]:
    """Marks `Position` for review: unless it belongs to a company column, it may be the one applied for."""
    company = next((field.views[0] for field in fields if field.field == "company_name"), None)
    return [
        replace(field, review_reason=field.review_reason or _MAYBE_APPLIED_FOR)
        if field.field == "position_title" and company is not None and not _belongs_to(field.views[0], company)
        else field
        for field in fields
    ]


def _belongs_to(position: ColumnView, company: ColumnView) -> bool:
    adjacent = abs(position.column.index - company.column.index) == 1
    return is_current(position.name) or (adjacent and not is_current(company.name))


# --- another table --------------------------------------------------------------------------------

_MIN_SHARE = 0.6  # of the keys of the other sheet must be found in this one; some candidates may not be exported
_MIN_KEYS = 2  # keys: a single key may match by chance
_COUNTED = 4  # digits of a number that may count rows


@dataclass(frozen=True, slots=True)
class OtherSheet:
    """Another sheet of the workbook, or another file in its folder, with a sample of its values. encoding: the likely
    one of a file that is not in UTF-8."""

    name: str
    columns: tuple[ColumnView, ...]
    is_file: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """`key`: the column of another table whose values are those of the column `equals` here."""

    key: ColumnView
    equals: ColumnView
    found: float  # the share of the keys there that are found here

    @property
    def has_short_numbers(self) -> bool:
        """As any table has that numbers its rows."""
        return all(text.isdecimal() and len(text) <= _COUNTED for text in self.key.texts)

    @property
    def why_unsure(self) -> str:
        """Why its values may be the same by chance, or ""."""
        if self.key.concept in _NAMES:
            return "several people may have the same name"
        if self.key.concept == "phone":
            return "joined by telephone numbers, which several people may share"
        if not self.has_short_numbers:
            return ""
        is_count = [*map(int, self.key.texts)] == [*range(1, len(self.key.texts) + 1)]
        if is_count and all(count == 1 for _, count in self.key.values):
            return "its numbers may only count the rows there"
        same = {*words_of(self.key.name)} & {*words_of(self.equals.name)}
        return "" if same else "its numbers are short: they may only count rows or entries"


@dataclass(frozen=True, slots=True)
class ChildEntries:
    """Entries in another table, and how its rows belong to those of this one."""

    sheet: OtherSheet
    groups: EntryGroups
    join: Join


def child_entries(kind: EntryKind, views: Sequence[ColumnView], others: Sequence[OtherSheet]) -> ChildEntries | None:
    """The table with entries of a kind that can be joined with these columns, or None."""
    for other in others:
        if has_other_people(other, views):
            continue
        there = other.columns
        groups = next((one for one in entry_groups(there, frozenset(), len(there)) if one.kind is kind), None)
        if groups is None or groups.numbered:
            continue
        taken = {one.column.index for field in groups.fields for one in field.views}
        join = join_of([one for one in there if one.column.index not in taken], views)
        if join is not None:
            return ChildEntries(other, groups, join)
    return None


@dataclass(frozen=True, slots=True)
class ChildValue:
    """A value in another table, and how its rows belong to those of this one."""

    sheet: OtherSheet
    value: ColumnView
    join: Join


def child_document(goal: Goal, views: Sequence[ColumnView], others: Sequence[OtherSheet]) -> ChildValue | None:
    """The only table with the document IDs that a goal asks for, joined with these columns; else None."""
    found = []
    for other in others:
        values = [one for one in other.columns if _is_document_of(goal, one)]
        if has_other_people(other, views):
            continue
        join = join_of([one for one in other.columns if one not in values], views) if len(values) == 1 else None
        if join is not None:
            found.append(ChildValue(other, values[0], join))
    return found[0] if len(found) == 1 else None


def _is_document_of(goal: Goal, one: ColumnView) -> bool:
    concept = one.concept or one.likely or ""
    return goal.concept in (concept, FALLBACK_CONCEPTS.get(concept)) and is_like(goal.spec, one)


def has_other_people(other: OtherSheet, views: Sequence[ColumnView]) -> bool:
    """Whether another table has names and e-mail addresses, and most are not those of this one: it is another export,
    and not entries with the address of a reference.
    """
    addresses = addresses_of_people(other)
    return bool(addresses) and not any(_share_found(key, one) >= _MIN_SHARE for key in addresses for one in views)


def addresses_of_people(other: OtherSheet) -> list[ColumnView]:
    """The e-mail addresses of another table that has names too, as a list of candidates has."""
    has_names = any(one.concept in _NAMES for one in other.columns)
    return [one for one in other.columns if has_names and one.concept == "email" and one.emails >= _SOME]


def join_of(there: Sequence[ColumnView], views: Sequence[ColumnView]) -> Join | None:
    """How the rows of another table belong to those of this one: by the columns that share most values, or None.

    A column that only counts rows fits any other one, and several people share a name or a telephone: these come last.
    """
    joins = [Join(key, one, _share_found(key, one)) for key in there for one in views]
    fitting = [join for join in joins if join.found >= _MIN_SHARE]
    return max(fitting, key=lambda join: (not join.why_unsure, join.found), default=None)


def _share_found(key: ColumnView, one: ColumnView) -> float:
    """The share of the keys that are in a column which identifies rows; compared exactly, as in a run."""
    if one.ids is None or len(key.texts) < _MIN_KEYS:
        return 0.0
    return sum(map(one.has_id, key.texts)) / len(key.texts)
