"""What is written into mapping files: texts as YAML, and the questions of that day (`questions_seen:`); changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from importer.mapping.model import SeenQuestion
from importer.mapping.nodes import Text
from importer.models import Question
from importer.problems import LinePlace, Problem
from importer.text.normalize import normalize

# --- texts: plain where every reader takes them for the same text, else in quotes -----------------

# Letters first, so that nothing is taken for a number, a date, a list or a tag; no character that YAML knows.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+?!-]*[\w./()+?!])?")
_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"])
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scalar(text: str) -> str:
    """The text as a YAML scalar, for a block or between brackets.

    >>> scalar("E-mail"), scalar("no"), scalar("a: b"), scalar("{n}")
    ('E-mail', '"no"', '"a: b"', '"{n}"')
    """
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return '"' + "".join(_ESCAPES.get(character) or _printable(character) for character in text) + '"'


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def flow_list(texts: Sequence[str]) -> str:
    """`[a, b]`."""
    return "[" + ", ".join(scalar(text) for text in texts) + "]"


def one_or_list(texts: Sequence[str]) -> str:
    """A text by itself where there is one, else a list."""
    return scalar(texts[0]) if len(texts) == 1 else flow_list(texts)


def remark(text: str) -> str:
    """A text inside a remark: one line, nothing that ends it."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


# --- the questions as they were when a mapping was written ----------------------------------------

KEY = "questions_seen"
_REMARK = "# The questions when this file was written. `importer mapping check` compares them; imports ignore them."
_HINT = "check its line under answers:, then run: importer mapping check MAPPING --accept"


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
    if now is None:
        yield Problem("question-removed", f"{name} is no longer asked", "remove it under answers:", name.place)
        return
    asked, marker = then.text or "", then.question_type or ""
    required = "now required" if now.required else "no longer required"
    compared = (
        ("type", then.answer_type, now.answer_type, f"the answer type of {name} changed from {then.answer_type} to "
                                                    f"{now.answer_type}"),
        ("marker", marker, now.type or "",
         f"the question_type of {name} changed from {marker or 'none'} to {now.type or 'none'}"),
        ("required", then.is_required, now.required, f"{name} is {required}"),
        ("text", normalize(asked), normalize(now.text), f"the text of {name} changed from '{asked}' to '{now.text}'"),
        ("options", set(then.options), set(now.options), f"the options of {name} changed: {_options(then, now)}"),
    )  # fmt: skip
    for part, before, after, message in compared:
        if before != after:
            yield Problem(f"question-{part}-changed", message, _HINT, name.place)


def _options(then: SeenQuestion, now: Question) -> str:
    new = [f"'{option}' is new" for option in now.options if option not in then.options]
    gone = [f"'{option}' was removed" for option in then.options if option not in now.options]
    return ", ".join([*new, *gone])
