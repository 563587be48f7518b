"""The questions as they were when a mapping was written (`questions_seen:`): as text, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from importer.mapping.diagnostics import Diagnostics
from importer.mapping.model import SeenQuestion, Text
from importer.mapping.nodes import Node
from importer.mapping.read_values import read_fields_node
from importer.mapping.scalars import read_fields, read_filled, read_text, read_texts
from importer.mapping.yaml_text import flow_list, scalar
from importer.models import LinePlace, Problem, Question
from importer.text.normalize import normalize

KEY = "questions_seen"
SEEN_KEYS = ("text", "answer_type", "question_type", "required", "options")
_REMARK = "# What the job post asked when this was written. `importer mapping check` compares; imports do not read it."
_HINT = "look at its line under answers:, then: importer mapping check MAPPING --accept"


def seen_name(question: Question) -> str:
    """How a question is named here: by its key, else `text: ...`."""
    return question.key or f"text: {question.text}"


def seen_lines(questions: Sequence[Question]) -> Iterator[str]:
    """The section as the lines of a mapping file."""
    yield _REMARK
    yield f"{KEY}:"
    for question in questions:
        pairs = [f"text: {scalar(question.text)}", f"answer_type: {scalar(question.answer_type)}"]
        if question.type:
            pairs.append(f"question_type: {scalar(question.type)}")
        if question.required:
            pairs.append("required: true")
        if question.options:
            pairs.append(f"options: {flow_list(question.options)}")
        yield f"  {scalar(seen_name(question))}: {{{', '.join(pairs)}}}"


def read_seen(node: Node, name: str, diagnostics: Diagnostics) -> tuple[SeenQuestion, ...] | None:
    """The section `questions_seen:`; None where it is wrong, and told."""
    mapping = read_fields_node(node, name, diagnostics)
    found = [_read_one(pair.key, pair.value, diagnostics) for pair in mapping.pairs] if mapping else []
    return tuple(seen for seen in found if seen is not None) if mapping else None


def with_seen(text: str, questions: Sequence[Question]) -> str:
    """The text of a mapping file with its section written anew, all else as it was."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"{KEY}:")), len(lines))
    end = next((number for number in range(start + 1, len(lines)) if lines[number][:1] not in ("", " ")), len(lines))
    if 0 < start < len(lines) and lines[start - 1].startswith(_REMARK[:30]):
        start -= 1
    return "\n".join([*lines[:start], *seen_lines(questions), *lines[end:]]) + "\n"


def _read_one(key: Text, node: Node, diagnostics: Diagnostics) -> SeenQuestion | None:
    fields = read_fields(node, f"'{key}' under {KEY}", diagnostics)
    if fields is None:
        return None
    fields.only(SEEN_KEYS)
    answer_type = fields.require("answer_type", read_filled, "give the question's answer type")
    text, marker = fields.read("text", read_text), fields.read("question_type", read_text)
    required, options = fields.read("required", read_text), fields.read("options", read_texts)
    if answer_type is None:
        return None
    return SeenQuestion(
        name=key,
        text=text.value if text else "",
        answer_type=answer_type.value,
        question_type=marker.value if marker else "",
        required=required is not None and normalize(required.value) in ("true", "yes"),
        options=tuple(option.value for option in options or ()),
    )


def changes(seen: Sequence[SeenQuestion], questions: Sequence[Question], nowhere: LinePlace) -> tuple[Problem, ...]:
    """What is other than it was, each at its line. `nowhere` is the place of questions that are new."""
    now = {seen_name(question): question for question in questions}
    then = {question.name.value for question in seen}
    found = [problem for question in seen for problem in _changes_of(question, now.get(question.name.value))]
    for name, question in now.items():
        if name not in then:
            found.append(_new(name, question, nowhere))
    return tuple(found)


def _new(name: str, question: Question, place: LinePlace) -> Problem:
    required = "a required question" if question.required else "a question"
    message = f"{name} ('{question.text}', {question.answer_type}) is new: {required}"
    hint = "add it under answers:" if question.required else "add it under answers: if a column answers it"
    return Problem("question-new", message, hint, place)


def _changes_of(then: SeenQuestion, now: Question | None) -> Iterator[Problem]:
    place, name = then.name.place, then.name.value
    if now is None:
        yield Problem("question-gone", f"{name} is not asked any more", "take it out under answers:", place)
        return
    if then.answer_type != now.answer_type:
        message = f"{name} was {then.answer_type} and is {now.answer_type} now"
        yield Problem("question-type-changed", message, _HINT, place)
    if then.question_type != (now.type or ""):
        message = f"the question_type of {name} was {then.question_type or 'none'} and is {now.type or 'none'} now"
        yield Problem("question-marker-changed", message, _HINT, place)
    if then.required != now.required:
        message = f"{name} is {'required' if now.required else 'not required any more'} now"
        yield Problem("question-required-changed", message, _HINT, place)
    if normalize(then.text) != normalize(now.text):
        yield Problem("question-text-changed", f"{name} asked '{then.text}' and asks '{now.text}' now", _HINT, place)
    if set(then.options) != set(now.options):
        yield Problem("question-options-changed", f"the options of {name} changed: {_options(then, now)}", _HINT, place)


def _options(then: SeenQuestion, now: Question) -> str:
    new = [f"'{option}' is new" for option in now.options if option not in then.options]
    gone = [f"'{option}' is gone" for option in then.options if option not in now.options]
    return ", ".join([*new, *gone])
