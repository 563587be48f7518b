"""The answers of the mapping against the live questions: each found, each required one answered."""

from __future__ import annotations

import json
from collections.abc import Sequence

from importer.mapping.model import AnswerSpec, Constant, EntriesSpec, QuestionBy, ValueSpec
from importer.mapping.resolve_entries import resolve_entries
from importer.mapping.resolve_value import Surroundings, resolve_value
from importer.mapping.resolved import Kind, ResolvedAnswer, Wanted
from importer.mapping.wanted import wanted_of_question
from importer.models import AnswerType, Question, WireFormat
from importer.text.closest import closest
from importer.text.normalize import normalize

_TEXT_TYPES = (AnswerType.SHORT_TEXT, AnswerType.LONG_TEXT)


def resolve_answers(
    questions: Sequence[Question], wire: WireFormat, around: Surroundings
) -> tuple[ResolvedAnswer, ...]:
    """The answers in the order of the questions; what does not fit is told."""
    answers: dict[int, ResolvedAnswer] = {}
    asked: dict[int, AnswerSpec] = {}
    for spec in around.mapping.answers:
        question = _find(spec, questions, around)
        if question is None:
            continue
        if question.id in asked:
            first = asked[question.id].question.place.line
            message, hint = f"{question.label} is answered twice", f"keep one; the other is in line {first}"
            around.findings.mistake("answered-twice", message, hint, spec.question.place)
            continue
        asked[question.id] = spec
        answer = _resolve(spec, question, wire, around)
        if answer is not None:
            answers[question.id] = answer
    _tell_unanswered([question for question in questions if question.id not in asked], around)
    return tuple(answers[question.id] for question in questions if question.id in answers)


def _find(spec: AnswerSpec, questions: Sequence[Question], around: Surroundings) -> Question | None:
    exact = [question for question in questions if _name(question, spec.by) == spec.question.value]
    found = exact or [q for q in questions if normalize(_name(q, spec.by)) == normalize(spec.question.value)]
    if len(found) > 1 and spec.by is QuestionBy.TEXT:
        # A text is how questions without a key are named.
        found = [question for question in found if not question.key] or found
    if len(found) == 1:
        return found[0]
    if found:
        ids = " or ".join(f'"id: {question.id}"' for question in found)
        message = f"'{spec.question}' means {len(found)} questions"
        around.findings.mistake("question-ambiguous", message, f"name the one you mean as {ids}", spec.question.place)
        return None
    hint = _proposal(spec, questions)
    around.findings.mistake(
        "question-unknown", f"there is no question with the {spec.by} '{spec.question}'", hint, spec.question.place
    )
    return None


def _name(question: Question, by: QuestionBy) -> str:
    if by is QuestionBy.KEY:
        return question.key or ""
    return question.text if by is QuestionBy.TEXT else str(question.id)


def _proposal(spec: AnswerSpec, questions: Sequence[Question]) -> str:
    if not questions:
        return "the job post has no questions"
    keys = [question.key for question in questions if question.key]
    typed = spec.question.value
    near = closest(typed, [_name(question, spec.by) for question in questions if _name(question, spec.by)])
    if near is not None:
        return f"did you mean '{near if spec.by is QuestionBy.KEY else f'{spec.by}: {near}'}'?"
    by_text = [question for question in questions if question.text]
    near_text = closest(typed, [question.text for question in by_text]) if spec.by is QuestionBy.KEY else None
    if near_text is not None:
        question = next(question for question in by_text if question.text == near_text)
        return f"did you mean '{question.key or f'text: {question.text}'}'?"
    return f"the keys are {', '.join(keys[:24])}" if keys else 'name a question as "text: ..." or "id: ..."'


def _resolve(spec: AnswerSpec, question: Question, wire: WireFormat, around: Surroundings) -> ResolvedAnswer | None:
    wanted = wanted_of_question(question)
    if wanted is None:
        around.findings.mistake(
            "answer-type-unknown",
            f"{question.label} has the answer type '{question.answer_type}', which this importer does not know",
            "leave the question out, or ask for a newer importer",
            spec.question.place,
        )
        return None
    if isinstance(spec.content, EntriesSpec):
        return _resolve_entries(spec.content, question, spec, around)
    _check_options(wanted, question, wire, spec, around)
    _check_document(spec.content, wanted, question, around)
    value = resolve_value(spec.content, wanted, around)
    return ResolvedAnswer(question, value) if value is not None else None


def _resolve_entries(
    entries: EntriesSpec, question: Question, spec: AnswerSpec, around: Surroundings
) -> ResolvedAnswer | None:
    if question.answer_type not in _TEXT_TYPES or question.type in ("photo", "phone", "address"):
        asked = question.type if question.type in ("photo", "phone", "address") else question.answer_type
        message = f"{question.label} asks for {asked} and cannot take {entries.kind} entries"
        hint = "entries go into a short_text or long_text question"
        around.findings.mistake("entries-unfit", message, hint, spec.question.place)
        return None
    resolved = resolve_entries(entries, around)
    return ResolvedAnswer(question, resolved) if resolved is not None else None


def _check_options(
    wanted: Wanted, question: Question, wire: WireFormat, spec: AnswerSpec, around: Surroundings
) -> None:
    if wanted.kind not in (Kind.CHOICE, Kind.CHOICES):
        return
    place = spec.question.place
    if not wanted.options:
        message = f"the service lists no options of {question.label}, so that its answers cannot be checked"
        around.findings.warning("options-unknown", message, "check the job post", place)
    sign = wire.choice_separator
    clashing = [option for option in wanted.options if sign and sign in option]
    if wanted.kind is Kind.CHOICES and clashing:
        message = f"the option '{clashing[0]}' of {question.label} holds the sign that choices are joined with"
        hint = "set multiple_choice to json or to another sign"
        around.findings.mistake("option-clash", message, hint, place)


def _check_document(spec: ValueSpec, wanted: Wanted, question: Question, around: Surroundings) -> None:
    if wanted.kind is Kind.DOCUMENT and isinstance(spec.source, Constant) and question.type == "photo":
        message = f"{question.label} would be the same photo for every row"
        around.findings.mistake("constant-photo", message, "name the column that holds the document ID", spec.place)


def _tell_unanswered(questions: Sequence[Question], around: Surroundings) -> None:
    for question in questions:
        if question.required:
            name = question.key or json.dumps(f"text: {question.text}", ensure_ascii=False)
            text = f" ('{question.text}')" if question.key and question.text else ""
            around.findings.mistake(
                "question-unanswered",
                f"the required question {question.label}{text}, {question.answer_type}, has no mapping",
                f"add it under answers:, as {name}: a column",
                around.mapping.answers_place,
            )
