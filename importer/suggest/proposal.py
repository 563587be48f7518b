"""The fields and questions of a mapping file, and the values that are proposed for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.mapping import CANDIDATE_FIELDS, EntryKind, FieldSpec, spec_of_question
from importer.models import AnswerType, Operation, Question, Target
from importer.problems import Column
from importer.suggest.columns import ColumnView
from importer.suggest.header_words import CONCEPT_OF_QUESTION_TYPE, CONCEPTS, concept_of, likely_concept

# --- goals: the fields of the candidate and the questions of the job post --------------------------

_TEXTS = (AnswerType.SHORT_TEXT, AnswerType.LONG_TEXT)
_SPECIAL = ("photo", "phone", "address")


@dataclass(frozen=True, slots=True)
class Goal:
    """A field of the candidate (`question` is None) or a question."""

    name: str
    spec: FieldSpec
    concept: str | None
    names: tuple[str, ...]  # possible column names: key and text of the question
    question: Question | None = None
    guessed: bool = False  # the concept is only likely


def candidate_goals(target: Target) -> tuple[Goal, ...]:
    """The fields of the request body except the answers (service description 4.2 and 4.3)."""
    applies = target.operation is Operation.APPLY
    names = ("email", "first_name", "last_name", "cv", "terms_of_use" if applies else "source_platform")
    return tuple(Goal(name, CANDIDATE_FIELDS[name], name, (name,)) for name in names)


def question_goals(questions: Sequence[Question]) -> tuple[Goal, ...]:
    """The questions with a single value, without questions for entries and questions of unknown types."""
    goals = []
    for question in questions:
        spec = spec_of_question(question)
        if spec is not None and entry_kind(question) is None:
            names = tuple(name for name in (question.key or "", question.text) if name)
            concept = _concept(question)
            likely = None if concept else likely_concept(question.text)
            likely = likely if likely in CONCEPTS else None
            goals.append(Goal(question.label, spec, concept or likely, names, question, bool(likely)))
    return tuple(goals)


def entry_kind(question: Question) -> EntryKind | None:
    """The kind of entries that a question asks for, by its name; None if it does not ask for entries."""
    if question.answer_type not in _TEXTS or question.type in _SPECIAL:
        return None
    found = {concept_of(text or "") for text in (question.key, question.type, question.text)}
    return next((kind for kind in EntryKind if kind.value in found), None)


def _concept(question: Question) -> str | None:
    special = question.type if question.type in _SPECIAL else None
    return (
        special
        or concept_of(question.text)
        or concept_of((question.key or "").replace("_", " "))
        or CONCEPT_OF_QUESTION_TYPE.get(question.type or "")
    )


@dataclass(frozen=True, slots=True)
class NameStyle:
    """How full names are written: whether last names are in capitals or come first, whether people have two of them,
    and words that belong to them."""

    in_capitals: bool = False
    is_last_name_first: bool = False
    particles: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    has_two_last_names: bool = False

    @property
    def rule(self) -> str | None:
        """The `surname:` of a mapping; None for the last word, which nothing in the file shows to be right."""
        if self.in_capitals:
            return "capitals"
        if self.has_two_last_names:
            return "before_comma" if self.is_last_name_first else "last_two_words"
        return "first_word" if self.is_last_name_first else None


PLAIN_STYLE = NameStyle()


@dataclass(frozen=True, slots=True)
class Match:
    """A goal and its columns: alternatives in this order, or all joined with `joined`."""

    goal: Goal
    views: tuple[ColumnView, ...]
    review_reason: str = ""
    joined: str | None = None
    part: str | None = None  # of a full name: first or last
    style: NameStyle = PLAIN_STYLE  # of a full name


# --- the proposal ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """How the file was read; the mapping states it, so that the next file is read the same way.

    `header_row` is the first of the header's rows. `missing`: words that are read as an empty cell. `hidden`: how many
    of these cells would be answers of a choice, by its column. `is_skipping`: the skipped rows are a guess. `group_by`:
    the column of which equal cells are one candidate; `continues`: also the rows below in which it is blank.
    """

    file: str
    sheet: str | None = None
    header_row: int | None = None
    header_rows: int = 1
    skip_rows: str | None = None  # as in a mapping file: 3, 5-6
    stop_at: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    hidden: tuple[tuple[str, int], ...] = ()
    is_skipping: bool = False
    group_by: str | None = None
    continues: bool = False

    @property
    def has_missing_words(self) -> bool:
        """Whether a word, and not only signs such as -, is read as an empty cell: it may be an answer."""
        return any(character.isalnum() for text in self.missing for character in text)


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a value table: the text of cells and their number; without a target it is a comment to complete."""

    cell: str
    target: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A key in addition to the column (`dates`, `split`, `part`, ...) and its value."""

    key: str
    value: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedValue:
    """Columns by their name in the mapping (a header, `=C`, or a name with `{n}`), as alternatives in this order, or
    joined with `joined`.

    `review_reason`: why a person should review it, or "". `note`: a comment for the person. `child`: the table that has
    the columns, if it is another one.
    """

    names: tuple[str, ...] = ()
    taken: tuple[Column, ...] = ()
    joined: str | None = None
    settings: tuple[Setting, ...] = ()
    table: tuple[TableLine, ...] = ()
    review_reason: str = ""
    note: str = ""
    child: ProposedChild | None = None

    def with_setting(self, key: str, words: tuple[str, ...]) -> ProposedValue:
        """With these words for a key too."""
        known = [word for one in self.settings if one.key == key for word in one.value]
        others = tuple(one for one in self.settings if one.key != key)
        return replace(self, settings=(*others, Setting(key, (*known, *words))))


@dataclass(frozen=True, slots=True)
class ProposedField:
    """A field of the candidate or of an entry."""

    name: str
    value: ProposedValue


@dataclass(frozen=True, slots=True)
class ProposedChild:
    """The other sheet or file with entries or a value: `key` is the name of its column, `equals` of the column here.

    `unused`: the columns there that have values and are not proposed.
    """

    name: str
    key: str
    equals: str
    is_file: bool = False
    encoding: str | None = None
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedEntries:
    """Proposed entries. `numbered`: from numbered column groups. `first_unnumbered`: the first group has no number.
    `json`: the name of the column whose cells contain them as lists of objects. `lists`: how lists in several columns
    are split. `is_row`: each row of a candidate is one.
    """

    kind: EntryKind
    fields: tuple[ProposedField, ...]
    numbered: bool
    first_unnumbered: bool = False
    review_reason: str = ""
    child: ProposedChild | None = None
    json: str | None = None
    lists: tuple[Setting, ...] = ()
    is_row: bool = False


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """A question and what answers it."""

    question: Question
    content: ProposedValue | ProposedEntries


@dataclass(frozen=True, slots=True)
class Open:
    """Something without a match, and the closest columns or goals."""

    name: str
    closest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A whole mapping file. `open_fields` and `open_questions` have no column, `open_columns` have no goal."""

    target: Target
    source: SourceFacts
    candidate: tuple[ProposedField, ...]
    answers: tuple[ProposedAnswer, ...] = ()
    region: str | None = None
    names: tuple[Setting, ...] = ()  # how full names are split
    open_fields: tuple[Open, ...] = ()
    open_questions: tuple[tuple[Question, Open], ...] = ()
    open_columns: tuple[Open, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def values(self) -> tuple[ProposedValue, ...]:
        """All values, including those of entries."""
        contents = [answer.content for answer in self.answers]
        inside = [field.value for item in contents if isinstance(item, ProposedEntries) for field in item.fields]
        plain = [item for item in contents if isinstance(item, ProposedValue)]
        return (*(field.value for field in self.candidate), *plain, *inside)

    @property
    def children(self) -> tuple[ProposedChild, ...]:
        """The other tables with entries."""
        contents = (answer.content for answer in self.answers)
        return tuple(one.child for one in contents if isinstance(one, ProposedEntries) and one.child)


@dataclass(frozen=True, slots=True)
class OpenPoints:
    """The number of matched values, of "please check" marks, and what has no match yet."""

    matched: int
    to_review: int
    missing_required: tuple[str, ...]
    unmatched_values: int = 0  # cell values without a certain option in a value table


def open_points(proposal: Proposal) -> OpenPoints:
    """What a person still has to do."""
    matched = sum(not value.review_reason for value in proposal.values)
    contents = [answer.content for answer in proposal.answers]
    joined = sum(isinstance(content, ProposedEntries) and bool(content.review_reason) for content in contents)
    to_review = len(proposal.values) - matched + joined
    source = proposal.source
    to_review += (proposal.region is not None) + source.has_missing_words + source.is_skipping
    to_review += source.group_by is not None
    fields = tuple(item.name for item in proposal.open_fields if CANDIDATE_FIELDS[item.name].required)
    questions = tuple(question.label for question, _ in proposal.open_questions if question.required)
    unmatched_values = sum(line.target is None for value in proposal.values for line in value.table)
    return OpenPoints(matched, to_review, fields + questions, unmatched_values)
