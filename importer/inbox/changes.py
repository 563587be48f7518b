"""Compares a file with the last one of its pattern before anything of it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from importer.app.orders import Planned
from importer.inbox.records import Contents, History, Reason, Record
from importer.inbox.rules import Changes, Decision
from importer.models import Question
from importer.problems import FilePlace, Problem

_SMALL: Final = 10  # rows: a file of fewer may have any number the next time
_SHOWN: Final = 5  # names in a message


@dataclass(frozen=True, slots=True)
class Change:
    """A difference, and what the rules say about it."""

    decision: Decision
    reason: Reason


def contents_of(planned: Planned) -> Contents:
    """What is in a file, by its plan."""
    rows = [one.rows for one in planned.targets]
    return Contents(
        planned.service,
        planned.sha256,
        None if None in rows else sum(count or 0 for count in rows),
        planned.columns,
        tuple(map(_in_words, planned.questions)),
    )


def _in_words(question: Question) -> str:
    """A question as it is compared and shown; its ID differs between job posts, and its order does not matter."""
    required = ", required" if question.required else ""
    options = f": {', '.join(question.options)}" if question.options else ""
    return f"{question.label} ({question.answer_type}{required}{options})"


def changes_of(record: Record, contents: Contents, history: History, rules: Changes) -> list[Change]:
    """What differs from the last file of the pattern that was imported, and was not set to go on."""
    imported = history.imported_before(record, contents.service)
    before, last = imported[-1] if imported else (None, None)
    found: list[tuple[Decision, Problem]] = []
    same = next((one for one, known in imported if known.sha256 == contents.sha256), None)
    if same is not None:
        at = f"{same.taken_at:%Y-%m-%d} at {same.taken_at:%H:%M} UTC"
        message = f"it has the same content as {same.name}, which was imported on {at}"
        hint = "ask its sender for the file that was meant"
        found.append((rules.repeated, Problem("inbox-file-repeated", message, hint)))
    elif problem := _size(contents, last):
        found.append((rules.size, problem))
    if last is not None and before is not None:
        since = f"since {before.name}"
        if differences := list(_header(last.columns, contents.columns)):
            message = f"the header changed {since}: {'; '.join(differences)}"
            hint = "check that the mapping still fits"
            found.append((rules.header, Problem("inbox-header-changed", message, hint)))
        if differences := list(_differences(last.questions, contents.questions, "question")):
            message = f"the questions changed {since}: {'; '.join(differences)}"
            hint = "check that the mapping still answers them"
            found.append((rules.questions, Problem("inbox-questions-changed", message, hint)))
    place = FilePlace(record.name)
    return [
        Change(decision, Reason.of(Problem(problem.code, problem.message, problem.hint, place)))
        for decision, problem in found
        if decision != "go on"
    ]


def _size(contents: Contents, last: Contents | None) -> Problem | None:
    if contents.rows == 0:
        return Problem("inbox-file-smaller", "it has a header, but not a single row", "ask its sender if that is right")
    if last is None or contents.rows is None or (last.rows or 0) < _SMALL or contents.rows * 2 > (last.rows or 0):
        return None
    message = f"it has {contents.rows:,} rows, at most half of the {last.rows:,} rows of the last file"
    return Problem("inbox-file-smaller", message, "ask its sender if it is complete")


def _header(before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[str]:
    if before != now and sorted(before) == sorted(now):
        yield "the columns have another order"
    else:
        yield from _differences(before, now, "column")


def _differences(before: Iterable[str], now: Iterable[str], noun: str) -> Iterator[str]:
    """What is new and what is missing."""
    before, now = dict.fromkeys(before), dict.fromkeys(now)
    new, missing = [one for one in now if one not in before], [one for one in before if one not in now]
    for word, names in (("new", new), ("missing", missing)):
        if names:
            shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{word} {noun}{'' if len(names) == 1 else 's'} {shown}{more}"
