"""Proposes a whole mapping file from a header, its values and the live questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from importer.mapping import ENTRY_FIELDS, PLACEHOLDER, Kind, spec_of_entry
from importer.models import Operation, Question, Target
from importer.suggest.columns import (
    MISSING_OR_NAME,
    MISSING_WORDS,
    ColumnNames,
    ColumnView,
)
from importer.suggest.date_forms import DateForms, date_forms, day_first_votes
from importer.suggest.entry_columns import (
    ChildEntries,
    EntryColumns,
    EntryGroups,
    OtherSheet,
    child_entries,
    entry_groups,
)
from importer.suggest.header_words import language_of
from importer.suggest.matching import Match, Matcher
from importer.suggest.proposal import (
    Goal,
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
from importer.suggest.value_settings import PLAIN_STYLE, Reading, date_reading, mismatch_reason, reading_of
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
    names = ColumnNames([one.column for one in views])
    # A file beside this one may show what the columns here leave open, and the other way round.
    everywhere = _day_first([*views, *(one for other in others for one in other.columns)], None)
    day_first = _day_first(views, everywhere)
    candidate, asked = candidate_goals(target), question_goals(questions)
    entries, reserved, unused = _entries(questions, views, names, day_first)
    entries |= _on_other_sheets([q for q in questions if q.id not in entries], views, names, others, everywhere)
    matcher = Matcher((*candidate, *asked), views, reserved)
    matches = matcher.run()
    values = {match.goal: _value(match, names, day_first) for match in matches}
    answers = {goal.question.id: values[goal] for goal in asked if goal.question and goal in values}
    contents: dict[int, ProposedValue | ProposedEntries] = {**answers, **entries}
    goal_of = {goal.question.id: goal for goal in asked if goal.question}

    def closest(goal: Goal | None) -> tuple[str, ...]:
        return tuple(names.of(one.column) for one in matcher.closest_columns(goal)) if goal else ()

    return Proposal(
        target=target,
        source=_with_missing_words(source, views, questions, values),
        candidate=tuple(ProposedField(goal.name, values[goal]) for goal in candidate if goal in values),
        answers=tuple(ProposedAnswer(q, contents[q.id]) for q in questions if q.id in contents),
        region=_region(values, views),
        names=_names_setting(matches),
        open_fields=tuple(Open(goal.name, closest(goal)) for goal in candidate if goal not in values),
        open_questions=tuple((q, Open(q.label, closest(goal_of.get(q.id)))) for q in questions if q.id not in contents),
        open_columns=_open_columns(matcher, names, views, unused),
        questions=tuple(questions),
    )


def finds_candidates(views: Sequence[ColumnView]) -> bool:
    """Whether the columns are those of candidates: one of them has e-mail addresses."""
    goals = [goal for goal in candidate_goals(Target(Operation.ADD_TO_POOL, "1")) if goal.name == "email"]
    return bool(Matcher(goals, views, frozenset()).run())


def _day_first(views: Sequence[ColumnView], otherwise: bool | None) -> bool | None:
    """Whether these columns write the day first (`3/4/2021`); `otherwise` if they do not show it; None: unknown."""
    votes = sum(day_first_votes(one.counts) for one in views)
    return otherwise if votes == 0 else votes > 0


def _value(match: Match, names: ColumnNames, day_first: bool | None) -> ProposedValue:
    columns = tuple(one.column for one in match.views)
    reading = reading_of(match.goal.spec, match.views, day_first, " ".join(match.goal.names))
    part = (Setting("part", match.part),) if match.part else ()
    return ProposedValue(
        names=tuple(map(names.of, columns)),
        taken=columns,
        joined=match.joined,
        settings=(*part, *reading.settings),
        table=reading.table,
        review_reason=match.review_reason or reading.review_reason,
        note=reading.note,
    )


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


# --- entries --------------------------------------------------------------------------------------

_RANGE = "range"
_MIN_RANGES = 0.6  # of the cells
_DATES = ("start_date", "end_date")


def _entries(
    questions: Sequence[Question], views: Sequence[ColumnView], names: ColumnNames, day_first: bool | None
) -> tuple[dict[int, ProposedEntries], frozenset[int], frozenset[int]]:
    """The entries by question, the columns that belong to entries even if no question asks for them, and those of them
    for which no field is proposed."""
    asked = {kind: question for question in questions if (kind := entry_kind(question))}
    plain = {one.column.index for goal in question_goals(questions) for one in views if _named_by(goal, one)}
    found = entry_groups([one for one in views if one.column.index not in plain], frozenset(plain))
    wanted = [groups for groups in found if groups.kind in asked or groups.numbered]
    reserved = {one.column.index for groups in wanted for field in groups.fields for one in field.views}
    entries = {groups.kind: _entries_of(groups, names, day_first) for groups in wanted if groups.kind in asked}
    taken = {column.index for one in entries.values() for field in one.fields for column in field.value.taken}
    for one in views:
        for groups in entry_groups(one.inside, frozenset()) if one.column.index not in plain else ():
            if groups.kind in asked and groups.kind not in entries:
                keys = ColumnNames([key.column for key in one.inside])
                entries[groups.kind] = replace(_entries_of(groups, keys, day_first), json=names.of(one.column))
                reserved, taken = reserved | {one.column.index}, taken | {one.column.index}
    return {asked[kind].id: one for kind, one in entries.items()}, frozenset(reserved), frozenset(reserved - taken)


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
    found = {}
    for question in questions:
        kind = entry_kind(question)
        child = child_entries(kind, views, others) if kind is not None else None
        if child is not None:
            found[question.id] = _entries_of_child(child, names, day_first)
    return found


def _entries_of_child(child: ChildEntries, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries of another sheet. `names`: the columns of the main sheet."""
    there = ColumnNames([one.column for one in child.sheet.columns])
    entries = _entries_of(child.groups, there, _day_first(child.sheet.columns, day_first))
    join, sheet = child.join, child.sheet
    used = {join.key.column, *(column for field in entries.fields for column in field.value.taken)}
    unused = tuple(there.of(one.column) for one in sheet.columns if one.filled and one.column not in used)
    proposed = ProposedChild(sheet.name, there.of(join.key.column), names.of(join.equals.column), sheet.is_file, unused)
    noun = "file" if sheet.is_file else "sheet"
    review_reason = "" if join.found == 1 else f"{join.found:.0%} of the keys in that {noun} are found in this {noun}"
    return replace(entries, child=proposed, review_reason=review_reason)


def _entries_of(groups: EntryGroups, names: ColumnNames, day_first: bool | None) -> ProposedEntries:
    """The entries with the settings for their values; start and end dates share their formats."""
    by_field = {field.field: field for field in groups.fields}
    dated = [pair for field in groups.fields if field.field in _DATES for pair in _combined(field).counts]
    forms = date_forms(dated, day_first)
    order = ENTRY_FIELDS[groups.kind]
    found = {name: _field_value(by_field[name], names, forms, day_first) for name in order if name in by_field}
    if _RANGE in by_field and not found.keys() & set(_DATES):
        found |= _range_values(by_field[_RANGE], names, day_first)
    fields = tuple(ProposedField(name, found[name]) for name in order if name in found)
    return ProposedEntries(groups.kind, fields, groups.numbered, groups.first_unnumbered)


def _field_value(field: EntryColumns, names: ColumnNames, forms: DateForms, day_first: bool | None) -> ProposedValue:
    spec, combined = spec_of_entry(field.kind, field.field), _combined(field)
    is_date = spec.kind is Kind.DATE
    reading = _date_reading(forms, field.field) if is_date else reading_of(spec, [combined], day_first)
    review_reason = "" if is_date and not reading.review_reason else mismatch_reason(spec, combined)
    return _proposed(field, names, reading, review_reason=reading.review_reason or review_reason)


def _range_values(field: EntryColumns, names: ColumnNames, day_first: bool | None) -> dict[str, ProposedValue]:
    """Start and end of a range in one cell; empty if the values do not look like ranges."""
    combined = _combined(field)
    split = [(range_pieces(text), count) for text, count in combined.counts]
    ranges = [(pieces, count) for pieces, count in split if len(pieces) == 2]
    if sum(count for _, count in ranges) < _MIN_RANGES * combined.total or not ranges:
        return {}
    forms = date_forms([(piece, count) for pieces, count in ranges for piece in pieces if piece], day_first)
    found = {}
    for name in _DATES:
        reading = _date_reading(forms, name)
        settings = (Setting("part", name.removesuffix("_date")), *reading.settings)
        found[name] = _proposed(field, names, replace(reading, settings=settings), review_reason=reading.review_reason)
    return found


def _date_reading(forms: DateForms, field: str) -> Reading:
    is_end = field == "end_date"
    reading = date_reading(forms, "last" if is_end else "first", is_end=is_end)
    few = forms.share < 0.6 and forms.total
    return replace(
        reading, review_reason=reading.review_reason or (f"only {forms.share:.0%} look like a date" if few else "")
    )


def _proposed(field: EntryColumns, names: ColumnNames, reading: Reading, review_reason: str) -> ProposedValue:
    name = field.template if PLACEHOLDER in field.template else names.of(field.views[0].column)
    return ProposedValue(
        names=(name,),
        taken=tuple(one.column for one in field.views),
        settings=reading.settings,
        table=reading.table,
        review_reason=review_reason or field.review_reason,
        note=reading.note,
    )


def _combined(field: EntryColumns) -> ColumnView:
    """The columns of one field as one column."""
    values = tuple(pair for one in field.views for pair in one.values)
    filled = sum(one.filled for one in field.views)
    return ColumnView(field.views[0].column, values, filled)


# --- settings of the whole file -------------------------------------------------------------------

_CHOICES = (Kind.CHOICE, Kind.CHOICES, Kind.YES_NO)


def _names_setting(matches: Sequence[Match]) -> tuple[Setting, ...]:
    """How full names are split, if not only by their last word."""
    style = next((match.style for match in matches if match.part == "last"), PLAIN_STYLE)
    lists = (("particles", style.particles), ("suffixes", style.suffixes))
    rule = "capitals" if style.in_capitals else "first_word" if style.is_last_name_first else None
    surname = (Setting("surname", rule),) if rule else ()
    return (*surname, *(Setting(key, words) for key, words in lists if words))


def _region(values: Mapping[Goal, ProposedValue], views: Sequence[ColumnView]) -> str | None:
    phones = {column.index for goal, value in values.items() if goal.spec.kind is Kind.PHONE for column in value.taken}
    numbers = [pair for one in views if one.column.index in phones for pair in one.counts]
    return _phone_region(numbers, language_of(one.name for one in views)) if numbers else None


def _with_missing_words(
    source: SourceFacts,
    views: Sequence[ColumnView],
    questions: Sequence[Question],
    values: Mapping[Goal, ProposedValue],
) -> SourceFacts:
    """The source with the words for an empty cell, as written, except those that are an option of a question."""
    own, choices = set[int](), set[int]()
    for goal, value in values.items():
        taken = {column.index for column in value.taken}
        own |= taken if any(setting.key == "missing" for setting in value.settings) else set()
        choices |= taken if goal.spec.kind in _CHOICES else set()
    options = {normalize(option) for question in questions for option in question.options}
    columns = Counter[str]()
    written: dict[str, str] = {}
    for one in (one for one in views if one.column.index not in own):
        words = {normalize(text): text for text in one.texts if normalize(text) in MISSING_WORDS - options}
        columns.update(set(words))
        written = {**words, **written}
    missing = {word: text for word, text in sorted(written.items()) if word not in MISSING_OR_NAME or columns[word] > 1}
    in_choices = ((one, one.count_of(missing)) for one in views if one.column.index in choices - own)
    hidden = tuple((one.name, count) for one, count in in_choices if count)
    return replace(source, missing=tuple(missing.values()), hidden=hidden)


# --- phone numbers --------------------------------------------------------------------------------

_NON_DIGIT = re.compile(r"\D+")
_FLOAT = re.compile(r"\.0$")
_REGION_OF_NUMBER = {"TR": re.compile(r"05\d{9}"), "GB": re.compile(r"07\d{9}"), "DE": re.compile(r"01[5-7]\d{7,10}")}
_REGION_OF_LANGUAGE = {"tr": "TR", "de": "DE"}


def _phone_region(counts: Iterable[tuple[str, int]], language: str) -> str | None:
    """The most likely region of the numbers without +, as two letters.

    None if every number has a country code or the region is unknown. language: the language of most headers.
    """
    clear, named, others = Counter[str](), Counter[str](), Counter[str]()
    for text, count in counts:
        digits = _NON_DIGIT.sub("", _FLOAT.sub("", text))
        if text.startswith(("+", "(+", "00")):
            named[_region_named_in(text)] += count
        elif region := next((name for name, form in _REGION_OF_NUMBER.items() if form.fullmatch(digits)), None):
            clear[region] += count
        elif len(digits) >= 7:
            others[digits] += count
    if clear:
        # 5XX XXX XX XX is a Turkish mobile number without its zero, if other numbers of the file have it.
        return "TR" if clear["TR"] else clear.most_common(1)[0][0]
    region = named.most_common(1)[0][0] if others and named else ""
    if region and (named.total() >= others.total() or all(_is_number_of(region, digits) for digits in others)):
        return region
    is_american = any(re.fullmatch(r"[2-9]\d{9}", digits) for digits in others)
    return (_REGION_OF_LANGUAGE.get(language) or ("US" if is_american else None)) if others else None


def _region_named_in(text: str) -> str:
    """The region of the country code that the number begins with, or ""."""
    import phonenumbers  # imported late: it is slow, and not every file has phone numbers

    try:
        number = phonenumbers.parse("+" + text.lstrip("(+0"), None)
    except phonenumbers.NumberParseException:
        return ""
    return phonenumbers.region_code_for_country_code(number.country_code or 0)


def _is_number_of(region: str, digits: str) -> bool:
    """Whether digits without a + begin with the country code of a region."""
    return _region_named_in(f"+{digits}") == region
