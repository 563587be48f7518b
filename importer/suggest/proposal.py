"""What a mapping file may fill, and what is proposed for it: values, each with what makes it doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from importer.mapping import EntryKind, FieldSpec, spec_of_candidate, spec_of_question
from importer.models import AnswerType, Operation, Question, Target
from importer.problems import Column
from importer.suggest.header_words import CONCEPTS, OF_QUESTION_TYPE, concept_of, likely_concept

# --- what may be filled: the fields of the candidate and the questions of the job post -------------

_REQUIRED = ("email", "first_name", "last_name", "cv")  # of the candidate (service description 4.2 and 4.3)
_TEXTS = (AnswerType.SHORT_TEXT, AnswerType.LONG_TEXT)
_SPECIAL = ("photo", "phone", "address")


@dataclass(frozen=True, slots=True)
class Goal:
    """A field of the candidate (`question` is None) or a question, and what it asks for."""

    name: str
    wanted: FieldSpec
    concept: str | None
    names: tuple[str, ...]  # what a column may be called: key and text of the question
    required: bool
    question: Question | None = None
    guessed: bool = False  # the concept is only likely


def candidate_goals(target: Target) -> tuple[Goal, ...]:
    """The fields of the body beside answers (service description 4.2 and 4.3)."""
    applies = target.operation is Operation.APPLY
    names = ("email", "first_name", "last_name", "cv", "terms_of_use" if applies else "source_platform")
    return tuple(Goal(name, spec_of_candidate(name), name, (name,), name in _REQUIRED) for name in names)


def question_goals(questions: Sequence[Question]) -> tuple[Goal, ...]:
    """The questions that one value answers; those for entries and of unknown types are left out."""
    goals = []
    for question in questions:
        wanted = spec_of_question(question)
        if wanted is not None and entry_kind(question) is None:
            names = tuple(name for name in (question.key or "", question.text) if name)
            concept = _concept(question)
            likely = None if concept else likely_concept(question.text)
            likely = likely if likely in CONCEPTS else None
            goals.append(
                Goal(question.label, wanted, concept or likely, names, question.required, question, bool(likely))
            )
    return tuple(goals)


def entry_kind(question: Question) -> EntryKind | None:
    """Whether a question asks for education or experience entries: a text question of that name."""
    if question.answer_type not in _TEXTS or question.type in _SPECIAL:
        return None
    found = {concept_of(question.key or ""), concept_of(question.text)}
    return next((kind for kind in EntryKind if kind.value in found), None)


def _concept(question: Question) -> str | None:
    special = question.type if question.type in _SPECIAL else None
    return (
        special
        or concept_of(question.text)
        or concept_of((question.key or "").replace("_", " "))
        or OF_QUESTION_TYPE.get(question.type or "")
    )


# --- what is proposed -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """How the file was read, so that the mapping says it: the next file of this kind is read the same way.

    `missing` holds the words that stand for an empty cell.
    """

    file: str
    sheet: str | None = None
    header_row: int | None = None
    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a value table: what cells say and how many do; `target` is None where nothing is near."""

    cell: str
    target: str | None
    count: int
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Setting:
    """A key beside the column (`dates`, `split`, `part`, ...) and its value."""

    key: str
    value: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedValue:
    """Columns by the name that the mapping gives them (a header, `=C`, or a name with `{n}`), first filled one first,
    or all of them joined with `joined`; or a constant.

    `doubt` says why a person should look at it, "" where it is certain. `note` is for reading only.
    """

    names: tuple[str, ...] = ()
    taken: tuple[Column, ...] = ()
    joined: str | None = None
    constant: str | None = None
    settings: tuple[Setting, ...] = ()
    table: tuple[TableLine, ...] = ()
    doubt: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProposedField:
    """A field of the candidate or of an entry."""

    name: str
    value: ProposedValue


@dataclass(frozen=True, slots=True)
class ProposedChild:
    """The other sheet that entries come from: `key` is the column there, `equals` the column here, by their names."""

    sheet: str
    key: str
    equals: str


@dataclass(frozen=True, slots=True)
class ProposedEntries:
    """Entries: numbered column groups where `numbered`, their first without a number where `first_unnumbered`."""

    kind: EntryKind
    fields: tuple[ProposedField, ...]
    numbered: bool
    first_unnumbered: bool = False
    doubt: str = ""
    child: ProposedChild | None = None


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """A question and what answers it."""

    question: Question
    content: ProposedValue | ProposedEntries


@dataclass(frozen=True, slots=True)
class Open:
    """Something that nothing certain or likely was found for, and what comes nearest (columns or targets)."""

    name: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A whole mapping file. `open_fields` and `open_questions` have no column, `open_columns` no target."""

    target: Target
    source: SourceFacts
    candidate: tuple[ProposedField, ...]
    answers: tuple[ProposedAnswer, ...] = ()
    region: str | None = None
    names: tuple[Setting, ...] = ()  # how full names are taken apart
    open_fields: tuple[Open, ...] = ()
    open_questions: tuple[tuple[Question, Open], ...] = ()
    open_columns: tuple[Open, ...] = ()
    questions: tuple[Question, ...] = ()

    @property
    def values(self) -> tuple[ProposedValue, ...]:
        """Every value, those inside entries too."""
        contents = [answer.content for answer in self.answers]
        inside = [field.value for item in contents if isinstance(item, ProposedEntries) for field in item.fields]
        plain = [item for item in contents if isinstance(item, ProposedValue)]
        return (*(field.value for field in self.candidate), *plain, *inside)


@dataclass(frozen=True, slots=True)
class OpenPoints:
    """How far a proposal got: values that are certain, marks that say "please check", and what has nothing yet."""

    certain: int
    to_check: int
    lacking: tuple[str, ...]
    words_open: int = 0  # words of cells that a value table has no option for


def open_points(proposal: Proposal) -> OpenPoints:
    """The figures by which a person sees how much there is to do."""
    certain = sum(not value.doubt for value in proposal.values)
    lines = sum(line.target is not None and not line.sure for value in proposal.values for line in value.table)
    contents = [answer.content for answer in proposal.answers]
    joined = sum(isinstance(content, ProposedEntries) and bool(content.doubt) for content in contents)
    to_check = len(proposal.values) - certain + lines + joined + (proposal.region is not None)
    fields = tuple(item.name for item in proposal.open_fields if item.name in _REQUIRED)
    questions = tuple(question.label for question, _ in proposal.open_questions if question.required)
    words_open = sum(line.target is None for value in proposal.values for line in value.table)
    return OpenPoints(certain, to_check, fields + questions, words_open)
