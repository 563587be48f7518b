"""Numbered column groups of a header, and which field of which kind of entry each column is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from importer.mapping import PLACEHOLDER, EntryKind
from importer.suggest.header_meaning import is_held, likely_field
from importer.suggest.header_text import key_of, words_of
from importer.suggest.header_words import ENTRY_FIELDS, ENTRY_QUALIFIERS
from importer.suggest.views import LIKE_IT, ColumnView
from importer.text.normalize import normalize_name

_NUMBER = re.compile(r"[0-9]{1,2}")
_CURRENT = {EntryKind.EDUCATION: "currently_pursuing", EntryKind.EXPERIENCE: "currently_employed"}
_NAMED_BY = {EntryKind.EDUCATION: "school_name", EntryKind.EXPERIENCE: "company_name"}
# A column without a number is taken for a field of an entry only where its header can hardly mean anything else.
_MOST_ALONE = 1
_WHOLE = "it may hold a degree, or all of them"
_APPLIED_FOR = "it may be the position that was applied for"
# What these say is clear only beside a school.
_MAJOR_BESIDE_A_SCHOOL = frozenset(map(key_of, ("field", "program", "programme", "department", "Programm")))


@dataclass(frozen=True, slots=True)
class EntryRole:
    """What a header says of entries; `kind` is None where the word fits either kind."""

    kind: EntryKind | None
    field: str
    doubt: str = ""


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
    first_unnumbered: bool


def _index(fields: Mapping[str, Mapping[str, tuple[str, ...]]]) -> dict[str, str]:
    return {
        key_of(word): name for name, by_language in fields.items() for words in by_language.values() for word in words
    }


_FIELDS = {kind: _index(ENTRY_FIELDS[kind.value]) for kind in EntryKind}
_EITHER = _index(ENTRY_FIELDS[""])


def role_of(header: str) -> EntryRole | None:
    """The field of an entry that a header names, numbers left aside; None where it names none."""
    header = header.replace(PLACEHOLDER, " ")
    key = key_of(header)
    for kind in EntryKind:
        if key in _FIELDS[kind]:
            return EntryRole(kind, _FIELDS[kind][key])
    if key in _EITHER:
        return EntryRole(None, _EITHER[key])
    words = words_of(header)
    for length in range(len(words) - 1, 0, -1):
        for kind in EntryKind:
            field = _qualified(kind, words[-length:], words[:-length]) or _qualified(
                kind, words[:length], words[length:]
            )
            if field is not None:
                return EntryRole(kind, field)
    likely = likely_field(header)
    return EntryRole(*likely, LIKE_IT) if likely else None


def _qualified(kind: EntryKind, named: Sequence[str], others: Sequence[str]) -> str | None:
    """The field that some words name where the others only say of which kind of entry it is."""
    if not set(others) <= ENTRY_QUALIFIERS[kind.value]:
        return None
    key = "".join(named)
    return _FIELDS[kind].get(key) or _EITHER.get(key)


def families(views: Sequence[ColumnView]) -> dict[str, dict[int, ColumnView]]:
    """The columns whose names differ in one number only, by the name with `{n}`; 0 is the one without a number.

    A name that two columns have is of no group: a mapping could not say which of them it means.
    """
    names = Counter(normalize_name(seen.name) for seen in views)
    found: dict[str, dict[int, ColumnView]] = defaultdict(dict)
    templates: dict[str, str] = {}
    for seen in (seen for seen in views if names[normalize_name(seen.name)] == 1):
        for match in _NUMBER.finditer(seen.name):
            template = seen.name[: match.start()] + PLACEHOLDER + seen.name[match.end() :]
            written = templates.setdefault(_folded(template), template)
            found[written].setdefault(int(match.group()), seen)
    for template, columns in found.items():
        bare = normalize_name(template.replace(PLACEHOLDER, ""))
        unnumbered = [seen for seen in views if seen.name and normalize_name(seen.name) == bare]
        if len(unnumbered) == 1 and 1 not in columns:
            columns[0] = unnumbered[0]
    return {template: columns for template, columns in found.items() if len(columns) > 1 or role_of(template)}


def _folded(template: str) -> str:
    return "\0".join(normalize_name(part) for part in template.split(PLACEHOLDER))


def entry_groups(views: Sequence[ColumnView], taken: frozenset[int]) -> tuple[EntryGroups, ...]:
    """The entries that a header holds: numbered groups, else single columns (`University`, `Degree`)."""
    numbered = _numbered_fields(views)
    used = taken | {seen.column.index for field in numbered for seen in field.views}
    found = []
    for kind in EntryKind:
        fields = _once([field for field in numbered if field.kind is kind])
        if _is_whole(kind, fields):
            unnumbered = any(_is_unnumbered(field) for field in fields)
            found.append(EntryGroups(kind, fields, numbered=True, first_unnumbered=unnumbered))
            continue
        single = _once([field for field in _single_fields(views, used) if field.kind is kind])
        if _is_whole(kind, single):
            found.append(EntryGroups(kind, single, numbered=False, first_unnumbered=False))
    return tuple(found)


def _is_unnumbered(field: EntryColumns) -> bool:
    return any(
        normalize_name(seen.name) == normalize_name(field.template.replace(PLACEHOLDER, "")) for seen in field.views
    )


def _is_whole(kind: EntryKind, fields: Sequence[EntryColumns]) -> bool:
    return any(field.field == _NAMED_BY[kind] for field in fields)


def _once(fields: Sequence[EntryColumns]) -> tuple[EntryColumns, ...]:
    """Each field once: the first columns that hold it."""
    first: dict[str, EntryColumns] = {}
    for field in fields:
        first.setdefault(field.field, field)
    return tuple(first.values())


def _numbered_fields(views: Sequence[ColumnView]) -> list[EntryColumns]:
    found = families(views)
    template_of = {seen.column.index: template for template, columns in found.items() for seen in columns.values()}
    fields, done = [], set[str]()
    kind: EntryKind | None = None
    for seen in sorted(views, key=lambda seen: seen.column.index):
        template = template_of.get(seen.column.index)
        role = role_of(template) if template else None
        if template is None or role is None:
            continue
        # A word that fits either kind belongs to the entry that was begun before it: School 1, From 1, To 1.
        kind = role.kind or kind
        if kind is not None and template not in done:
            done.add(template)
            columns = found[template]
            members = tuple(columns[number] for number in sorted(columns))
            fields.append(EntryColumns(kind, _field(kind, role), template, members, role.doubt))
    return fields


def _single_fields(views: Sequence[ColumnView], used: frozenset[int]) -> list[EntryColumns]:
    fields = []
    kind: EntryKind | None = None
    before = -1
    for seen in sorted(views, key=lambda seen: seen.column.index):
        role = _role_beside(seen, kind) if seen.column.index not in used else None
        if role is None:
            continue
        beside = seen.column.index - before <= _MOST_ALONE
        if not beside and (role.kind is None or not seen.imported):
            continue  # a lone "Start" may be anything, and a lone "Bölüm" is most likely a department
        if beside and not seen.imported and role.kind is not kind:
            continue
        kind = role.kind or kind
        before = seen.column.index
        if kind is not None:
            doubt = role.doubt or LIKE_IT * (not seen.imported) or _WHOLE * (seen.concept == kind.value)
            fields.append(EntryColumns(kind, _field(kind, role), seen.name, (seen,), doubt))
    return _with_doubt_about_position(fields)


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


def _role_beside(seen: ColumnView, kind: EntryKind | None) -> EntryRole | None:
    """What a header says of entries, behind a column of this kind."""
    if kind is EntryKind.EDUCATION and seen.key in _MAJOR_BESIDE_A_SCHOOL:
        return EntryRole(None, "major", LIKE_IT)
    return role_of(seen.name)


def _field(kind: EntryKind, role: EntryRole) -> str:
    return _CURRENT[kind] if role.field == "current" else role.field
