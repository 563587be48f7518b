"""Proposes a whole mapping file from a header, its values and the live questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from importer.mapping import ENTRY_FIELDS, PLACEHOLDER, Kind, spec_of_entry
from importer.models import Operation, Question, Target
from importer.problems import Column
from importer.suggest.columns import ColumnNames, ColumnView
from importer.suggest.date_forms import DateForms, date_forms, day_first_votes
from importer.suggest.entry_columns import (
    ChildEntries,
    ChildValue,
    EntryColumns,
    EntryGroups,
    Join,
    OtherSheet,
    addresses_of_people,
    child_document,
    child_entries,
    entry_groups,
)
from importer.suggest.file_settings import names_setting, phone_region, with_missing_words
from importer.suggest.matching import Matcher
from importer.suggest.proposal import (
    Goal,
    Match,
    Open,
    Proposal,
    ProposedAnswer,
    ProposedChild,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
    candidate_goals,
    entry_kind,
    question_goals,
)
from importer.suggest.value_settings import date_reading, mismatch_reason, reading_of
from importer.text.normalize import normalize, range_pieces


def propose(
    target: Target,
    questions: Sequence[Question],
    views: Sequence[ColumnView],
    source: SourceFacts,
    others: Sequence[OtherSheet] = (),
) -> Proposal:
    """A mapping file for these columns; `questions` is empty for a talent pool.

    others: the other sheets of the workbook, and the files beside it, which may contain entries.

    Nothing is guessed silently: a value that is not certain has a review reason, and what is not found is open.
    """
    # A file beside this one may show what the columns here leave open, and the other way round.
    own = writes_day_first(views)
    everywhere = writes_day_first([*views, *(one for other in others for one in other.columns)])
    sheet = _Sheet(ColumnNames([one.column for one in views]), everywhere if own is None else own)
    candidate, asked = candidate_goals(target), question_goals(questions)
    entries, reserved, unused = _entries(questions, views, sheet)
    entries |= _on_other_sheets([q for q in questions if q.id not in entries], views, sheet.names, others, everywhere)
    matcher = Matcher((*candidate, *asked), views, reserved)
    matches = matcher.run()
    values = {match.goal: sheet.value(match) for match in matches}
    for goal in (
        one for one in (*candidate, *asked) if one not in values and one.spec.kind in (Kind.CV, Kind.DOCUMENT)
    ):
        if (document := child_document(goal, views, others)) is not None:
            values[goal] = _value_of_child(document, sheet.names)
    if (grouping := _grouping(entries, matches, views)) is not None:
        source = replace(source, group_by=sheet.names.of(grouping[0]), continues=grouping[1])
        entries |= {id: replace(one, is_row=True) for id, one in entries.items() if _is_in_row(one)}
    answers = {goal.question.id: values[goal] for goal in asked if goal.question and goal in values}
    contents: dict[int, ProposedValue | ProposedEntries] = {**answers, **entries}
    goal_of = {goal.question.id: goal for goal in asked if goal.question}

    def closest(goal: Goal | None) -> tuple[str, ...]:
        return tuple(sheet.names.of(one.column) for one in matcher.closest_columns(goal)) if goal else ()

    return Proposal(
        target=target,
        source=with_missing_words(source, views, questions, values),
        candidate=tuple(ProposedField(goal.name, values[goal]) for goal in candidate if goal in values),
        answers=tuple(ProposedAnswer(q, contents[q.id]) for q in questions if q.id in contents),
        region=phone_region(values, views),
        names=names_setting(matches),
        open_fields=tuple(Open(goal.name, closest(goal)) for goal in candidate if goal not in values),
        open_questions=tuple((q, Open(q.label, closest(goal_of.get(q.id)))) for q in questions if q.id not in contents),
        open_columns=_open_columns(matcher, sheet.names, views, unused),
        questions=tuple(questions),
    )


def propose_value(
    goal: Goal,
    chosen: Sequence[ColumnView],
    views: Sequence[ColumnView],
    day_first: bool | None,
    joined: str | None,
    part: str | None,
) -> ProposedValue:
    """The settings for the columns that a person chose for a goal. views: all columns; part: of a full name."""
    sheet = _Sheet(ColumnNames([one.column for one in views]), day_first)
    return sheet.value(Match(goal, tuple(chosen), joined=joined, part=part))


def finds_candidates(views: Sequence[ColumnView]) -> bool:
    """Whether the columns are those of candidates: one of them has e-mail addresses."""
    goals = [goal for goal in candidate_goals(Target(Operation.ADD_TO_POOL, "1")) if goal.name == "email"]
    return bool(Matcher(goals, views, frozenset()).run())


def writes_day_first(views: Sequence[ColumnView]) -> bool | None:
    """Whether these columns write the day first (`3/4/2021`); None if they do not show it."""
    votes = sum(day_first_votes(one.counts) for one in views)
    return None if votes == 0 else votes > 0


def _open_columns(
    matcher: Matcher, names: ColumnNames, views: Sequence[ColumnView], unused: frozenset[int]
) -> tuple[Open, ...]:
    """The columns without a match that have values. `unused`: columns of entries for which no field is proposed."""
    has_rows = any(one.filled for one in views)
    closest = {
        one.column.index: tuple(goal.name for goal in matcher.closest_goals(one)) for one in matcher.open_views()
    }
    return tuple(
        Open(names.of(one.column), closest.get(one.column.index, ()))
        for one in views
        if one.name.strip()
        and (one.filled or not has_rows)
        and (one.column.index in closest or one.column.index in unused)
    )


# --- which entries --------------------------------------------------------------------------------


def _entries(
    questions: Sequence[Question], views: Sequence[ColumnView], sheet: _Sheet
) -> tuple[dict[int, ProposedEntries], frozenset[int], frozenset[int]]:
    """The entries by question, the columns that belong to entries even if no question asks for them, and those of them
    for which no field is proposed."""
    asked = {kind: question for question in questions if (kind := entry_kind(question))}
    plain = {one.column.index for goal in question_goals(questions) for one in views if _named_by(goal, one)}
    found = entry_groups([one for one in views if one.column.index not in plain], frozenset(plain))
    wanted = [groups for groups in found if groups.kind in asked or groups.numbered]
    named = {normalize(one.name) for groups in wanted for field in groups.fields for one in field.views}
    reserved = {one.column.index for one in views if normalize(one.name) in named}  # also of a further group like it
    entries = {groups.kind: sheet.entries(groups) for groups in wanted if groups.kind in asked}
    taken = {column.index for one in entries.values() for field in one.fields for column in field.value.taken}
    for one in views:
        for groups in entry_groups(one.inside, frozenset()) if one.column.index not in plain else ():
            if groups.kind in asked and groups.kind not in entries:
                inside = _Sheet(ColumnNames([key.column for key in one.inside]), sheet.day_first)
                entries[groups.kind] = replace(inside.entries(groups), json=sheet.names.of(one.column))
                reserved, taken = reserved | {one.column.index}, taken | {one.column.index}
    unused = [one for one in views if one.filled and one.column.index in reserved - taken]
    found_entries = {asked[kind].id: _with_further(one, unused, sheet.names) for kind, one in entries.items()}
    return found_entries, frozenset(reserved), frozenset(reserved - taken)


def _with_further(entries: ProposedEntries, unused: Sequence[ColumnView], names: ColumnNames) -> ProposedEntries:
    """To be reviewed if further columns have the header of its first field: entries that would be lost."""
    for first in entries.fields[:1]:
        headers = {normalize(column.lower or column.name) for column in first.value.taken}
        if further := [one for one in unused if normalize(one.name) in headers]:
            header, columns = further[0].name, ", ".join(names.of(one.column) for one in further)
            reason = f"not read: {columns}, with the same header; number them in the file: {header} 1, {header} 2"
            value = replace(first.value, review_reason="; ".join(filter(None, (first.value.review_reason, reason))))
            return replace(entries, fields=(replace(first, value=value), *entries.fields[1:]))
    return entries


_REPEATED = 0.1  # of the e-mail addresses; fewer are duplicates
_CONTINUED = 0.05  # of the rows with an entry


def _is_in_row(entries: ProposedEntries) -> bool:
    """Whether a row has one such entry at most."""
    return not (entries.numbered or entries.child or entries.json or entries.lists)


def _grouping(
    entries: Mapping[int, ProposedEntries], matches: Sequence[Match], views: Sequence[ColumnView]
) -> tuple[Column, bool] | None:
    """The column of addresses if several rows seem to be entries of one candidate, and whether rows without one are.

    Not where there are more names or documents than addresses: these are other people.
    """
    found, filled = {match.goal.name: match.views[0] for match in matches}, {one.column: one.filled for one in views}
    fields = [field.value for one in entries.values() if _is_in_row(one) for field in one.fields]
    rows = max((filled.get(column, 0) for value in fields for column in value.taken), default=0)
    email, others = found.get("email"), [found[name] for name in ("first_name", "last_name", "cv") if name in found]
    if email is None or not rows or any(len(one.values) > len(email.values) for one in others):
        return None
    continues = rows - email.filled > _CONTINUED * rows
    is_repeated = sum(count - 1 for _, count in email.values) > _REPEATED * email.filled
    return (email.column, continues) if continues or is_repeated else None


def _named_by(goal: Goal, one: ColumnView) -> bool:
    """Whether a question has the name of the column: then the column answers it and is not a field of an entry."""
    return any(normalize(one.name) == normalize(name) for name in goal.names) or (
        goal.concept is not None and goal.concept == one.concept
    )


def _on_other_sheets(
    questions: Sequence[Question],
    views: Sequence[ColumnView],
    names: ColumnNames,
    others: Sequence[OtherSheet],
    day_first: bool | None,
) -> dict[int, ProposedEntries]:
    """The entries in other sheets, for questions that no column of this sheet answers. `day_first`: in all sheets."""
    kinds = {question.id: kind for question in questions if (kind := entry_kind(question))}
    found = {key: child_entries(kind, views, others) for key, kind in kinds.items()}
    return {key: _entries_of_child(child, names, day_first) for key, child in found.items() if child is not None}


def _entries_of_child(child: ChildEntries, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries of another sheet. `names`: the columns of the main sheet."""
    join, other = child.join, child.sheet
    own = writes_day_first(other.columns)
    there = _Sheet(ColumnNames([one.column for one in other.columns]), day_first if own is None else own)
    entries = there.entries(child.groups)
    used = {join.key.column, *(column for field in entries.fields for column in field.value.taken)}
    unused = tuple(there.names.of(one.column) for one in other.columns if one.filled and one.column not in used)
    child_of = replace(_child(other, join, there.names, names), unused=unused)
    return replace(entries, child=child_of, review_reason=_review(join, other))


def _value_of_child(found: ChildValue, names: ColumnNames) -> ProposedValue:
    """The value of another table. `names`: the columns of the main sheet."""
    there = ColumnNames([one.column for one in found.sheet.columns])
    child = _child(found.sheet, found.join, there, names)
    reason = "; ".join(filter(None, ("which documents these are", _review(found.join, found.sheet))))
    return ProposedValue((there.of(found.value.column),), review_reason=reason, child=child)


def _child(other: OtherSheet, join: Join, there: ColumnNames, names: ColumnNames) -> ProposedChild:
    key, equals = there.of(join.key.column), names.of(join.equals.column)
    return ProposedChild(other.name, key, equals, other.is_file, other.encoding)


def _review(join: Join, other: OtherSheet) -> str:
    noun = "file" if other.is_file else "sheet"
    if other.encoding is not None:
        return "the encoding of that file"
    if other.is_file and addresses_of_people(other):
        return "that file has names and addresses of its own: it may be another list of candidates"
    if join.key.concept == "phone":
        return join.why_unsure
    if join.found < 1:
        return f"{join.found:.0%} of the keys in that {noun} are found in this {noun}"
    if other.is_file and join.has_short_numbers:
        return "both files may only count their rows alike: their numbers are short"
    return join.why_unsure


# --- how values and entries are read ----------------------------------------------------------------

_RANGE = "range"
_MIN_RANGES = 0.6  # of the cells
_DATES = ("start_date", "end_date")
_CONSENT = "who has not accepted is sent too; to leave them out, add where: under source:"


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table: the names of its columns in a mapping, and whether it writes the day first (None: unknown)."""

    names: ColumnNames
    day_first: bool | None

    def value(self, match: Match) -> ProposedValue:
        reading = reading_of(match.goal.spec, match.views, self.day_first, " ".join(match.goal.names))
        is_consent = match.goal.spec.kind is Kind.FLAG
        return replace(
            reading,
            names=tuple(self.names.of(one.column) for one in match.views),
            taken=tuple(one.column for one in match.views),
            joined=match.joined,
            settings=(*((Setting("part", match.part),) if match.part else ()), *reading.settings),
            review_reason=_CONSENT if is_consent else match.review_reason or reading.review_reason,
        )

    def entries(self, groups: EntryGroups) -> ProposedEntries:
        """The entries with the settings for their values; start and end dates share their formats."""
        by_field = {field.field: field for field in groups.fields}
        dated = [pair for field in groups.fields if field.field in _DATES for pair in field.combined.counts]
        forms = date_forms(dated, self.day_first)
        order = ENTRY_FIELDS[groups.kind]
        found = {name: self._field(by_field[name], forms) for name in order if name in by_field}
        if _RANGE in by_field and not found.keys() & set(_DATES):
            found |= self._range(by_field[_RANGE])
        if _ends_blank_if_current(by_field) and order[-1] not in found:
            found["end_date"] = replace(found["end_date"], review_reason=_BLANK_END).with_setting("present", ("",))
        fields = tuple(ProposedField(name, found[name]) for name in order if name in found)
        lists: tuple[Setting, ...] = ()
        if (one := groups.lists) is not None:
            lists = (Setting("split", one.split), *((Setting("numbered", "true"),) if one.numbered else ()))
        return ProposedEntries(groups.kind, fields, groups.numbered, groups.first_unnumbered, lists=lists)

    def _field(self, field: EntryColumns, forms: DateForms) -> ProposedValue:
        spec = spec_of_entry(field.kind, field.field)
        if spec.kind is Kind.DATE:  # the formats of both dates; what cannot be read is told at its own column
            own = dict(field.combined.counts)
            unread, others = (
                tuple((text, own[text]) for text, _ in pairs if text in own)
                for pairs in (forms.unread, forms.nonexistent)
            )
            return self._proposed(field, _date_reading(replace(forms, unread=unread, nonexistent=others), field.field))
        reading = reading_of(spec, [field.combined], self.day_first)
        return self._proposed(field, reading, mismatch_reason(spec, field.combined))

    def _range(self, field: EntryColumns) -> dict[str, ProposedValue]:
        """Start and end of a range in one cell; empty if the values do not look like ranges."""
        split = [(range_pieces(text), count) for text, count in field.combined.counts]
        ranges = [(pieces, count) for pieces, count in split if len(pieces) == 2]
        if sum(count for _, count in ranges) < _MIN_RANGES * field.combined.total or not ranges:
            return {}
        forms = date_forms([(piece, count) for pieces, count in ranges for piece in pieces if piece], self.day_first)
        found = {}
        for name in _DATES:
            reading = _date_reading(forms, name)
            part = Setting("part", name.removesuffix("_date"))
            found[name] = self._proposed(field, replace(reading, settings=(part, *reading.settings)))
        return found

    def _proposed(self, field: EntryColumns, reading: ProposedValue, mismatch: str = "") -> ProposedValue:
        name = field.template if PLACEHOLDER in field.template else self.names.of(field.views[0].column)
        return replace(
            reading,
            names=(name,),
            taken=tuple(one.column for one in field.views),
            review_reason=reading.review_reason or mismatch or field.review_reason,
        )


def date_settings(views: Mapping[str, ColumnView], day_first: bool | None) -> dict[str, dict[str, Any]]:
    """How the dates of an entry are read, by field, as far as their columns leave no doubt. views: of its columns."""
    dated = {field: view for field, view in views.items() if field in _DATES}
    forms = date_forms([pair for view in dated.values() for pair in view.counts], day_first)
    readings = {field: _date_reading(forms, field) for field in dated}
    return {
        field: {one.key: one.value if isinstance(one.value, str) else [*one.value] for one in reading.settings}
        for field, reading in readings.items()
        if not reading.review_reason
    }


_BLANK_END = "a blank end means that it is the current one"


def _ends_blank_if_current(fields: Mapping[str, EntryColumns]) -> bool:
    """Whether only the first of several numbered entries, the newest, has blank ends beside its starts."""
    if "start_date" not in fields or "end_date" not in fields:
        return False
    starts, ends = fields["start_date"].views, fields["end_date"].views
    if len(starts) != len(ends) or len(starts) < _SEVERAL:
        return False
    blank = [start.filled - end.filled for start, end in zip(starts, ends, strict=True)]
    return blank[0] > 0 and not any(blank[1:]) and starts[1].filled > 0


_SEVERAL = 2


def _date_reading(forms: DateForms, field: str) -> ProposedValue:
    is_end = field == "end_date"
    reading = date_reading(forms, "last" if is_end else "first", is_end=is_end)
    few = f"only {forms.share:.0%} look like a date" if forms.share < 0.6 and forms.total else ""
    return replace(reading, review_reason=reading.review_reason or few)
