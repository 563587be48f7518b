"""The questions as they were when a mapping was written (`questions_seen:`): as text, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from importer.mapping.model import SeenQuestion
from importer.mapping.nodes import Text
from importer.mapping.yaml_text import flow_list, scalar
from importer.models import LinePlace, Problem, Question
from importer.text.normalize import normalize

KEY = "questions_seen"
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


def with_seen(text: str, questions: Sequence[Question]) -> str:
    """The text of a mapping file with its section written anew, all else as it was."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"{KEY}:")), len(lines))
    end = next((number for number in range(start + 1, len(lines)) if lines[number][:1] not in ("", " ")), len(lines))
    if 0 < start < len(lines) and lines[start - 1].startswith(_REMARK[:30]):
        start -= 1
    return "\n".join([*lines[:start], *seen_lines(questions), *lines[end:]]) + "\n"


def changes(
    seen: Mapping[Text, SeenQuestion], questions: Sequence[Question], nowhere: LinePlace
) -> tuple[Problem, ...]:
    """What is other than it was, each at its line. `nowhere` is the place of questions that are new."""
    now = {seen_name(question): question for question in questions}
    found = [problem for name, question in seen.items() for problem in _changes_of(name, question, now.get(name))]
    found += [_new(name, question, nowhere) for name, question in now.items() if name not in seen]
    return tuple(found)


def _new(name: str, question: Question, place: LinePlace) -> Problem:
    required = "a required question" if question.required else "a question"
    message = f"{name} ('{question.text}', {question.answer_type}) is new: {required}"
    hint = "add it under answers:" if question.required else "add it under answers: if a column answers it"
    return Problem("question-new", message, hint, place)


def _changes_of(name: Text, then: SeenQuestion, now: Question | None) -> Iterator[Problem]:
    place, asked = name.place, then.text or ""
    if now is None:
        yield Problem("question-gone", f"{name} is not asked any more", "take it out under answers:", place)
        return
    if then.answer_type != now.answer_type:
        message = f"{name} was {then.answer_type} and is {now.answer_type} now"
        yield Problem("question-type-changed", message, _HINT, place)
    if (then.question_type or "") != (now.type or ""):
        message = f"the question_type of {name} was {then.question_type or 'none'} and is {now.type or 'none'} now"
        yield Problem("question-marker-changed", message, _HINT, place)
    if then.is_required != now.required:
        message = f"{name} is {'required' if now.required else 'not required any more'} now"
        yield Problem("question-required-changed", message, _HINT, place)
    if normalize(asked) != normalize(now.text):
        yield Problem("question-text-changed", f"{name} asked '{asked}' and asks '{now.text}' now", _HINT, place)
    if set(then.options) != set(now.options):
        yield Problem("question-options-changed", f"the options of {name} changed: {_options(then, now)}", _HINT, place)


def _options(then: SeenQuestion, now: Question) -> str:
    new = [f"'{option}' is new" for option in now.options if option not in then.options]
    gone = [f"'{option}' is gone" for option in then.options if option not in now.options]
    return ", ".join([*new, *gone])
