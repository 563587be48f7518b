"""What a mapping file may fill: the fields of the candidate and the questions of the job post."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from importer.mapping import EntryKind, FieldSpec, spec_of_candidate, spec_of_question
from importer.models import AnswerType, Operation, Question, Target
from importer.suggest.header_meaning import likely_concept
from importer.suggest.header_words import CONCEPTS, OF_QUESTION_TYPE
from importer.suggest.views import concept_of

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
    required = ("email", "first_name", "last_name", "cv")
    return tuple(Goal(name, spec_of_candidate(name), name, (name,), name in required) for name in names)


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
