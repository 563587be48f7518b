"""Proposes a whole mapping file from a header, its values and the live questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from importer.mapping import Kind
from importer.models import Question, Target
from importer.suggest.child_sheets import OtherSheet, child_entries
from importer.suggest.column_groups import entry_groups
from importer.suggest.column_names import ColumnNames
from importer.suggest.date_forms import day_first_votes
from importer.suggest.entries import entries_of, entries_of_child
from importer.suggest.goals import Goal, candidate_goals, entry_kind, question_goals
from importer.suggest.matching import Match, Matcher
from importer.suggest.name_columns import PLAIN
from importer.suggest.phone_region import phone_region
from importer.suggest.proposal import (
    Open,
    Proposal,
    ProposedAnswer,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
)
from importer.suggest.sampled import SampledColumn
from importer.suggest.value_kinds import MISSING_WORDS, NAMES_TOO
from importer.suggest.value_settings import reading_of
from importer.suggest.views import ColumnView, language_of, view
from importer.text.normalize import normalize


def propose(
    target: Target,
    questions: Sequence[Question],
    columns: Sequence[SampledColumn],
    source: SourceFacts,
    others: Sequence[OtherSheet] = (),
) -> Proposal:
    """A mapping file for these columns; `questions` is empty for a talent pool.

    others: the other sheets of the workbook, which may hold entries.

    Nothing is guessed silently: what is not certain carries its doubt, and what is not found is named as open.
    """
    views = tuple(view(sampled) for sampled in columns)
    names = ColumnNames([sampled.column for sampled in columns])
    votes = sum(day_first_votes(seen.kinds.values) for seen in views)
    day_first = None if votes == 0 else votes > 0
    candidate, asked = candidate_goals(target), question_goals(questions)
    entries, reserved = _entries(questions, views, names, day_first)
    entries = {**_on_other_sheets(questions, views, names, others, entries), **entries}
    matcher = Matcher((*candidate, *asked), views, reserved)
    matches = matcher.run()
    values = {match.goal: _value(match, names, day_first) for match in matches}
    answers = {goal.question.id: values[goal] for goal in asked if goal.question and goal in values}
    contents: dict[int, ProposedValue | ProposedEntries] = {**answers, **entries}
    return Proposal(
        target=target,
        source=replace(source, missing=_missing_words(views, questions, values)),
        candidate=tuple(ProposedField(goal.name, values[goal]) for goal in candidate if goal in values),
        answers=tuple(ProposedAnswer(q, contents[q.id]) for q in questions if q.id in contents),
        region=_region(asked, values, views),
        names=_names_setting(matches),
        open_fields=tuple(
            Open(goal.name, _column_names(matcher.columns_near(goal), names))
            for goal in candidate
            if goal not in values
        ),
        open_questions=_open_questions([q for q in questions if q.id not in contents], asked, matcher, names),
        open_columns=_open_columns(matcher, names, views, reserved, entries),
        questions=tuple(questions),
    )


def _entries(
    questions: Sequence[Question], views: tuple[ColumnView, ...], names: ColumnNames, day_first: bool | None
) -> tuple[dict[int, ProposedEntries], frozenset[int]]:
    """The entries by question, and the columns that belong to entries, whether or not somebody asks for them."""
    asked = {kind: question for question in questions if (kind := entry_kind(question))}
    plain = {seen.column.index for goal in question_goals(questions) for seen in views if _named_by(goal, seen)}
    found = entry_groups([seen for seen in views if seen.column.index not in plain], frozenset(plain))
    wanted = [groups for groups in found if groups.kind in asked or groups.numbered]
    reserved = frozenset(seen.column.index for groups in wanted for field in groups.fields for seen in field.views)
    return {
        asked[groups.kind].id: entries_of(groups, names, day_first) for groups in wanted if groups.kind in asked
    }, reserved


def _on_other_sheets(
    questions: Sequence[Question],
    views: tuple[ColumnView, ...],
    names: ColumnNames,
    others: Sequence[OtherSheet],
    here: dict[int, ProposedEntries],
) -> dict[int, ProposedEntries]:
    """The entries that another sheet holds, of the questions that no column here answers."""
    found = {}
    for question in questions:
        kind = entry_kind(question)
        child = child_entries(kind, views, others) if kind is not None and question.id not in here else None
        if child is not None:
            votes = sum(day_first_votes(view(sampled).kinds.values) for sampled in child.sheet.columns)
            found[question.id] = entries_of_child(child, names, None if votes == 0 else votes > 0)
    return found


def _named_by(goal: Goal, seen: ColumnView) -> bool:
    """Whether a question has the very name of a column: then the column is its own, not a field of an entry."""
    return any(normalize(seen.name) == normalize(name) for name in goal.names) or (
        goal.concept is not None and goal.concept == seen.concept
    )


def _value(match: Match, names: ColumnNames, day_first: bool | None) -> ProposedValue:
    columns = tuple(seen.column for seen in match.views)
    reading = reading_of(match.goal.wanted, [seen.kinds for seen in match.views], day_first)
    part = (Setting("part", match.part),) if match.part else ()
    return ProposedValue(
        names=tuple(names.of(column) for column in columns),
        taken=columns,
        joined=match.joined,
        settings=(*part, *reading.settings),
        table=reading.table,
        doubt=match.doubt or reading.doubt,
        remark=reading.remark,
    )


def _column_names(views: Sequence[ColumnView], names: ColumnNames) -> tuple[str, ...]:
    return tuple(names.of(seen.column) for seen in views)


def _open_questions(
    questions: Sequence[Question], asked: Sequence[Goal], matcher: Matcher, names: ColumnNames
) -> tuple[tuple[Question, Open], ...]:
    goals = {goal.question.id: goal for goal in asked if goal.question}
    return tuple(
        (
            question,
            Open(
                question.label,
                _column_names(matcher.columns_near(goals[question.id]), names) if question.id in goals else (),
            ),
        )
        for question in questions
    )


def _open_columns(
    matcher: Matcher,
    names: ColumnNames,
    views: Sequence[ColumnView],
    reserved: frozenset[int],
    entries: dict[int, ProposedEntries],
) -> tuple[Open, ...]:
    here = [content for content in entries.values() if content.child is None]
    used = {column.index for content in here for field in content.fields for column in field.value.taken}
    near = {seen.column.index: tuple(goal.name for goal in matcher.goals_near(seen)) for seen in matcher.open_views()}
    idle = reserved - used
    return tuple(
        Open(names.of(seen.column), near.get(seen.column.index, ()))
        for seen in views
        if seen.name.strip() and (seen.column.index in near or seen.column.index in idle)
    )


def _names_setting(matches: Sequence[Match]) -> tuple[Setting, ...]:
    """How full names are taken apart, where it is not by their last word alone."""
    habits = next((match.habits for match in matches if match.part == "last"), PLAIN)
    lists = (("particles", habits.particles), ("suffixes", habits.suffixes))
    surname = (Setting("surname", "capitals"),) if habits.in_capitals else ()
    return (*surname, *(Setting(key, words) for key, words in lists if words))


def _region(asked: Sequence[Goal], values: dict[Goal, ProposedValue], views: tuple[ColumnView, ...]) -> str | None:
    phones = {
        column.index for goal in asked if goal.wanted.kind is Kind.PHONE and goal in values
        for column in values[goal].taken
    }  # fmt: skip
    numbers = [pair for seen in views if seen.column.index in phones for pair in seen.kinds.values]
    return phone_region(numbers, language_of(views)) if numbers else None


def _missing_words(
    views: Sequence[ColumnView], questions: Sequence[Question], values: dict[Goal, ProposedValue]
) -> tuple[str, ...]:
    """The words that stand for an empty cell, as written; not those that some question has as an option."""
    own = {
        column.index for value in values.values() if any(setting.key == "missing" for setting in value.settings)
        for column in value.taken
    }  # fmt: skip
    options = {normalize(option) for question in questions for option in question.options}
    columns = Counter[str]()
    written: dict[str, str] = {}
    for seen in views:
        if seen.column.index in own:
            continue
        words = {normalize(text): text for text in seen.sampled.texts if normalize(text) in MISSING_WORDS - options}
        columns.update(set(words))
        written = {**words, **written}
    return tuple(text for word, text in sorted(written.items()) if word not in NAMES_TOO or columns[word] > 1)
