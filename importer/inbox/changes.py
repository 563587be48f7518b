"""Compares a file with the last one of its pattern before anything of it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from importer.app.orders import Planned
from importer.inbox.records import Contents, History, Reason, Record, Shown
from importer.inbox.rules import Changes, Decision
from importer.models import Question
from importer.problems import FilePlace, Problem
from importer.text.normalize import closest

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
    found: list[Change | None] = []
    same = next((one for one, known in imported if known.sha256 == contents.sha256), None)
    if same is not None:
        at = f"{same.taken_at:%Y-%m-%d} at {same.taken_at:%H:%M} UTC"
        message = f"it has the same content as {same.name}, which was imported on {at}"
        hint = "ask its sender for the file that was meant"
        found.append(_change(record, rules.repeated, Problem("inbox-file-repeated", message, hint), "all"))
    elif problem := _size(contents, last):
        found.append(_change(record, rules.size, problem, "all"))
    if last is not None and before is not None:
        found.append(_header_change(record, contents.columns, before, last, rules))
        if differences := list(_differences(last.questions, contents.questions, "question")):
            message = f"the questions changed since {before.name}: {'; '.join(differences)}"
            hint = "check that the mapping still answers them"
            found.append(_change(record, rules.questions, Problem("inbox-questions-changed", message, hint)))
    return [change for change in found if change is not None and change.decision != "go on"]


def of_misfit(
    record: Record, columns: Sequence[str], problems: Iterable[Problem], history: History, rules: Changes
) -> list[Change]:
    """Why a file does not fit its mapping: what changed in its header, then the problems.

    columns: of the file, () if they do not matter. A notice names those of the mapping, and those of the file only if
    it has a header like the last.
    """
    before, last = next(reversed(history.imported_before(record)), (None, None))
    is_known = last is not None and _is_known(columns, last)
    changed = _header_change(record, columns, before, last, rules) if columns and before and last else None
    reasons = [Reason.of(one, _shown(one, is_known=is_known)) for one in problems]
    return [*([changed] if changed else []), *(Change("hold", reason) for reason in reasons)]


def _shown(problem: Problem, *, is_known: bool) -> Shown:
    """The message of a missing column has its name in the mapping; the hint has names from the file."""
    return "code" if problem.code != "column-not-found" else "all" if is_known else "text"


def _change(record: Record, decision: Decision, problem: Problem, shown: Shown = "code") -> Change:
    return Change(decision, Reason.of(replace(problem, place=FilePlace(record.name)), shown))


def _header_change(
    record: Record, columns: Sequence[str], before: Record, last: Contents, rules: Changes
) -> Change | None:
    differences = "; ".join(_header(last.columns, tuple(columns)))
    if not differences:
        return None
    message = f"the header changed since {before.name}: {differences}"
    problem = Problem("inbox-header-changed", message, "check that the mapping still fits")
    return _change(record, rules.header, problem, "all" if _is_known(columns, last) else "code")


def _is_known(columns: Sequence[str], last: Contents) -> bool:
    """Whether a header has mostly the columns of the last one; otherwise it may be a row with personal data."""
    return 2 * len(set(columns) & set(last.columns)) >= len(columns)


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
        return
    renamed = dict(_renamed(before, now))
    for old, new in renamed.items():
        yield f"column '{old}' is gone, column '{new}' is new: most likely renamed"
    new_names = set(renamed.values())
    yield from _differences(
        [one for one in before if one not in renamed], [one for one in now if one not in new_names], "column"
    )


def _renamed(before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Names that are gone, each with the new one in its place, or one that is similar."""
    new = [one for one in now if one not in before]
    for tag, start, end, at, last in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        gone = [one for one in before[start:end] if one not in now] if tag in ("replace", "delete") else []
        is_single = end - start == last - at == 1 and now[at] in new
        for old in gone:
            name = now[at] if is_single else closest(old, new)
            if name in new:
                new.remove(name)
                yield old, name


def _differences(before: Iterable[str], now: Iterable[str], noun: str) -> Iterator[str]:
    """What is new and what is missing."""
    before, now = dict.fromkeys(before), dict.fromkeys(now)
    new, missing = [one for one in now if one not in before], [one for one in before if one not in now]
    for word, names in (("new", new), ("missing", missing)):
        if names:
            shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{word} {noun}{'' if len(names) == 1 else 's'} {shown}{more}"
