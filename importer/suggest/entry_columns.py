"""Which columns hold entries: numbered groups or single columns of a header, or another sheet of the workbook."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.mapping import ENTRY_FIELDS, PLACEHOLDER, EntryKind
from importer.suggest.columns import SIMILAR, ColumnView
from importer.suggest.header_words import (
    EITHER_KIND,
    ENTRY_PHRASES,
    ENTRY_QUALIFIERS,
    index_of,
    is_held,
    key_of,
    likely_field,
    words_of,
)
from importer.text.normalize import normalize, normalize_name


@dataclass(frozen=True, slots=True)
class EntryColumns:
    """The columns of one field: by a name with `{n}` where numbered, else by the column's own name."""

    kind: EntryKind
    field: str
    template: str
    views: tuple[ColumnView, ...]
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class EntryGroups:
    """The fields of one kind of entries that a header holds."""

    kind: EntryKind
    fields: tuple[EntryColumns, ...]
    numbered: bool
    first_unnumbered: bool = False


def entry_groups(views: Sequence[ColumnView], taken: frozenset[int]) -> tuple[EntryGroups, ...]:
    """The entries that a header holds: numbered groups, else single columns (`University`, `Degree`)."""
    numbered = _numbered_fields(views)
    used = taken | {one.column.index for field in numbered for one in field.views}
    found = []
    for kind in EntryKind:
        fields = _once(kind, numbered)
        if _is_whole(kind, fields):
            found.append(EntryGroups(kind, fields, numbered=True, first_unnumbered=any(map(_is_unnumbered, fields))))
            continue
        single = _once(kind, _single_fields(views, used))
        if _is_whole(kind, single):
            found.append(EntryGroups(kind, single, numbered=False))
    return tuple(found)


def _is_whole(kind: EntryKind, fields: Sequence[EntryColumns]) -> bool:
    """Whether the field that names an entry is among them."""
    return any(field.field == ENTRY_FIELDS[kind][0] for field in fields)


def _is_unnumbered(field: EntryColumns) -> bool:
    bare = _bare(field.template)
    return any(normalize_name(one.name) == bare for one in field.views)


def _bare(template: str) -> str:
    return normalize_name(template.replace(PLACEHOLDER, ""))


def _once(kind: EntryKind, fields: Sequence[EntryColumns]) -> tuple[EntryColumns, ...]:
    """Each field of a kind once: the first columns that hold it."""
    first: dict[str, EntryColumns] = {}
    for field in fields:
        if field.kind is kind:
            first.setdefault(field.field, field)
    return tuple(first.values())


# --- what a header says of entries ----------------------------------------------------------------

_FIELDS = {kind: index_of(ENTRY_PHRASES[kind.value]) for kind in EntryKind}
_EITHER = index_of(ENTRY_PHRASES[EITHER_KIND])


@dataclass(frozen=True, slots=True)
class _Role:
    """What a header says of entries; `kind` is None where the word fits either kind."""

    kind: EntryKind | None
    field: str
    doubt: str = ""

    def field_of(self, kind: EntryKind) -> str:
        return ENTRY_FIELDS[kind][-1] if self.field == "current" else self.field


def _role_of(header: str) -> _Role | None:
    """The field of an entry that a header names, numbers left aside; None where it names none."""
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
    """The field that some words name where the others only say of which kind of entry it is."""
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
        # A word that fits either kind belongs to the entry that was begun before it: School 1, From 1, To 1.
        kind = role.kind or kind
        if kind is not None and template not in done:
            done.add(template)
            members = tuple(column for _, column in sorted(families[template].items()))
            fields.append(EntryColumns(kind, role.field_of(kind), template, members, role.doubt))
    return fields


def _families(views: Sequence[ColumnView]) -> dict[str, dict[int, ColumnView]]:
    """The columns whose names differ in one number only, by the name with `{n}`; 0 is the one without a number.

    A name that two columns have is of no group: a mapping could not say which of them it means.
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


# --- single columns -------------------------------------------------------------------------------

# A column without a number is taken for a field of an entry only where its header can hardly mean anything else.
_MOST_ALONE = 1
_WHOLE = "it may hold a degree, or all of them"
_APPLIED_FOR = "it may be the position that was applied for"
# What these say is clear only beside a school.
_MAJOR_BESIDE_A_SCHOOL = frozenset(map(key_of, ("field", "program", "programme", "department", "Programm")))


def _single_fields(views: Sequence[ColumnView], used: frozenset[int]) -> list[EntryColumns]:
    fields = []
    kind: EntryKind | None = None
    before = -1
    for one in sorted(views, key=lambda one: one.column.index):
        role = _role_beside(one, kind) if one.column.index not in used else None
        if role is None:
            continue
        beside = one.column.index - before <= _MOST_ALONE
        if not beside and (role.kind is None or not one.imported):
            continue  # a lone "Start" may be anything, and a lone "Bölüm" is most likely a department
        if beside and not one.imported and role.kind is not kind:
            continue
        kind = role.kind or kind
        before = one.column.index
        if kind is not None:
            doubt = role.doubt or ("" if one.imported else SIMILAR) or (_WHOLE if one.concept == kind.value else "")
            fields.append(EntryColumns(kind, role.field_of(kind), one.name, (one,), doubt))
    return _with_doubt_about_position(fields)


def _role_beside(one: ColumnView, kind: EntryKind | None) -> _Role | None:
    """What a header says of entries, behind a column of this kind."""
    if kind is EntryKind.EDUCATION and one.key in _MAJOR_BESIDE_A_SCHOOL:
        return _Role(None, "major", SIMILAR)
    return _role_of(one.name)


def _with_doubt_about_position(fields: list[EntryColumns]) -> list[EntryColumns]:
    """A lone `Position` may be the one applied for; beside a company, said in the same way, it is held."""
    company = next((field.views[0] for field in fields if field.field == "company_name"), None)
    return [
        replace(field, doubt=field.doubt or _APPLIED_FOR)
        if field.field == "position_title" and company is not None and not _goes_with(field.views[0], company)
        else field
        for field in fields
    ]


def _goes_with(position: ColumnView, company: ColumnView) -> bool:
    beside = abs(position.column.index - company.column.index) == 1
    return is_held(position.name) or (beside and not is_held(company.name))


# --- another sheet --------------------------------------------------------------------------------

_MOST = 0.6  # of the keys of the other sheet are found in this one: some belong to candidates who are not exported
_UNIQUE = 0.9  # of the keys of this sheet are there once
_FEWEST = 2  # keys: one alone may be found by chance


@dataclass(frozen=True, slots=True)
class OtherSheet:
    """Another sheet of the workbook with a look at its values."""

    name: str
    columns: tuple[ColumnView, ...]
    header_row: int = 1


@dataclass(frozen=True, slots=True)
class ChildEntries:
    """Entries on another sheet: `key` is the column there, `equals` the column here that says the same."""

    sheet: OtherSheet
    groups: EntryGroups
    key: ColumnView
    equals: ColumnView
    found: float  # share of the keys there that are found here


def child_entries(kind: EntryKind, views: Sequence[ColumnView], others: Sequence[OtherSheet]) -> ChildEntries | None:
    """The sheet that holds entries of a kind, joined to these columns; None where there is none."""
    for other in others:
        there = other.columns
        groups = next((found for found in entry_groups(there, frozenset()) if found.kind is kind), None)
        if groups is None or groups.numbered:
            continue
        taken = {one.column.index for field in groups.fields for one in field.views}
        keys = [one for one in there if one.column.index not in taken]
        pairs = [(_share_found(key, one), key, one) for key in keys for one in views if _is_unique(one)]
        best = max(pairs, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= _MOST:
            return ChildEntries(other, groups, best[1], best[2], best[0])
    return None


def _is_unique(one: ColumnView) -> bool:
    """Whether the values of a column tell the rows apart."""
    return len(one.values) >= _UNIQUE * one.filled > 0


def _share_found(key: ColumnView, one: ColumnView) -> float:
    there = {normalize(text) for text in key.texts}
    if len(there) < _FEWEST:
        return 0.0
    return len(there & {normalize(text) for text in one.texts}) / len(there)
