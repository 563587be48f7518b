"""Writing YAML texts and the snapshot of the questions (`questions_seen:`), and the changes since a snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from importer.mapping.model import QuestionSnapshot
from importer.mapping.nodes import Text
from importer.mapping.resolved import ResolvedMapping, ResolvedValue
from importer.models import Question, Row
from importer.problems import LinePlace, Problem
from importer.text.normalize import normalize

# --- texts: unquoted where every YAML reader reads the same text, else in quotes ------------------

# Begins with a letter, so that nothing is read as a number, a date, a list or a tag; without YAML's own characters.
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
    """`a` for one text, else `[a, b]`."""
    return scalar(texts[0]) if len(texts) == 1 else flow_list(texts)


def comment_text(text: str) -> str:
    """The text as the content of a comment: one line, only printable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


# --- the snapshot of the questions ----------------------------------------------------------------

KEY = "questions_seen"
_COMMENT = (
    "# The questions when this file was written. `importer mapping check` reports all changes, an import those that "
    "matter."
)
_HINT = "check its line under answers:, then run: importer mapping check MAPPING --accept"


def snapshot_name(question: Question) -> str:
    """How a snapshot identifies a question: by its key, else `text: ...`."""
    return question.key or f"text: {question.text}"


def snapshot_lines(questions: Sequence[Question]) -> Iterator[str]:
    """The lines of the section."""
    yield _COMMENT
    yield f"{KEY}:"
    for question in questions:
        pairs = [f"text: {scalar(question.text)}", f"answer_type: {scalar(question.answer_type)}"]
        if question.type:
            pairs.append(f"question_type: {scalar(question.type)}")
        if question.required:
            pairs.append("required: true")
        if question.options:
            pairs.append(f"options: {flow_list(question.options)}")
        yield f"  {scalar(snapshot_name(question))}: {{{', '.join(pairs)}}}"


def with_snapshot(text: str, questions: Sequence[Question]) -> str:
    """The text of a mapping file with its snapshot replaced; all else is unchanged."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"{KEY}:")), len(lines))
    end = next((number for number in range(start + 1, len(lines)) if lines[number][:1] not in ("", " ")), len(lines))
    if 0 < start < len(lines) and lines[start - 1].startswith(_COMMENT[:30]):
        start -= 1
    return "\n".join([*lines[:start], *snapshot_lines(questions), *lines[end:]]) + "\n"


def changes(
    snapshots: Mapping[Text, QuestionSnapshot], questions: Sequence[Question], new_place: LinePlace
) -> tuple[Problem, ...]:
    """The changes since the snapshot, each at its line. new_place: the place of questions that are new."""
    current = {snapshot_name(question): question for question in questions}
    found = [
        problem for name, question in snapshots.items() for problem in _changes_of(name, question, current.get(name))
    ]
    found += [_new(name, question, new_place) for name, question in current.items() if name not in snapshots]
    return tuple(found)


def changes_that_matter(
    snapshots: Mapping[Text, QuestionSnapshot], mapping: ResolvedMapping, rows: Callable[[], Iterable[Row]]
) -> Iterator[Problem]:
    """The changes of questions that the mapping answers, as far as they can change what this file sends.

    Not: new options, a question that is no longer required. Removed options only if rows have them. A new required
    question, and one that is gone, are errors of `resolve`.
    """
    answers = {snapshot_name(answer.question): answer for answer in mapping.answers}
    for name, before in snapshots.items():
        answer = answers.get(name)
        if answer is None:
            continue
        for problem in _changes_of(name, before, answer.question):
            if problem.code == "question-options-changed":
                count = _rows_with({*map(str, before.options)} - set(answer.question.options), answer.content, rows)
                if count:
                    some = "1 row of this file has" if count == 1 else f"{count:,} rows of this file have"
                    yield replace(problem, message=f"{problem.message}; {some} a removed option and cannot be sent")
            elif problem.code != "question-required-changed" or answer.question.required:
                yield problem


def _rows_with(removed: set[str], content: object, rows: Callable[[], Iterable[Row]]) -> int:
    """How many rows have one of these texts where the value is read, and no line of a value table for it."""
    if not removed or not isinstance(content, ResolvedValue) or content.lookup:
        return 0
    wanted = set(map(normalize, removed)) - set(content.table.targets if content.table else ())

    def has_one(row: Row) -> bool:
        cells = [row.cells[column.index] for column in content.columns]
        pieces = [piece for cell in cells for piece in (cell.split(content.split) if content.split else [cell])]
        return any(normalize(piece) in wanted for piece in pieces)

    return sum(map(has_one, rows()))


def _new(name: str, question: Question, place: LinePlace) -> Problem:
    required = "a required question" if question.required else "a question"
    message = f"{name} ('{question.text}', {question.answer_type}) is new: {required}"
    hint = "add it under answers:" if question.required else "add it under answers: if a column answers it"
    return Problem("question-new", message, hint, place)


def _changes_of(name: Text, before: QuestionSnapshot, current: Question | None) -> Iterator[Problem]:
    if current is None:
        yield Problem("question-removed", f"{name} is no longer asked", "remove it under answers:", name.place)
        return
    asked, special_type = before.text or "", before.question_type or ""
    required = "now required" if current.required else "no longer required"
    compared = (
        (
            "answer-type-changed", before.answer_type, current.answer_type,
            f"the answer type of {name} changed from {before.answer_type} to {current.answer_type}",
        ),
        (
            "question-special-type-changed", special_type, current.type or "",
            f"the question_type of {name} changed from {special_type or 'none'} to {current.type or 'none'}",
        ),
        ("question-required-changed", before.is_required, current.required, f"{name} is {required}"),
        (
            "question-text-changed", normalize(asked), normalize(current.text),
            f"the text of {name} changed from '{asked}' to '{current.text}'",
        ),
        (
            "question-options-changed", set(before.options), set(current.options),
            f"the options of {name} changed: {_options(before, current)}",
        ),
    )  # fmt: skip
    for code, old, new, message in compared:
        if old != new:
            yield Problem(code, message, _HINT, name.place)


def _options(before: QuestionSnapshot, current: Question) -> str:
    new = [f"'{option}' is new" for option in current.options if option not in before.options]
    gone = [f"'{option}' was removed" for option in before.options if option not in current.options]
    return ", ".join([*new, *gone])
