"""Tests a mapping with the rows that stand in a file beside it, without a service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from importer.app.mapping_files import saved_questions
from importer.mapping import (
    TEST_ROWS,
    Items,
    Keys,
    Node,
    ResolvedMapping,
    TestRow,
    TestRows,
    Text,
    read_mapping,
    read_test_rows,
    resolve,
)
from importer.models import Answer, Application, PoolCandidate, Question, Row
from importer.problems import Column, LinePlace, Origin, Problem, UnusableInput, unusable_file
from importer.settings import Settings
from importer.transform import Filtered, Invalid, candidate_rows, transform_row


def test_rows_file(mapping: Path) -> Path:
    """The file with the test rows of a mapping."""
    return mapping.with_name(mapping.stem + TEST_ROWS)


def check_test_rows(path: Path, settings: Settings) -> int:
    """Test a mapping with its test rows; the number of these rows.

    Raises UnusableInput: the mapping or the rows cannot be read, or with what was not as expected, each at its line.
    """
    mapping, beside = read_mapping(path, settings.mapping_folders), test_rows_file(path)
    if not beside.exists():
        hint = f"write the first ones with: importer mapping test {path} FILE; docs/mapping.md shows their form"
        raise unusable_file("mapping-tests-missing", "there is no file with test rows of this mapping", hint, beside)
    tests = read_test_rows(beside)
    columns = _columns([row for test in tests.rows for row in test.given])
    tables = {source: _Table(str(source), tests.tables.get(str(source), ())) for source in mapping.child_sources}
    try:
        resolved = resolve(mapping, columns, _questions(tests), settings.wire, tables, date.today())
    except UnusableInput as error:
        raise UnusableInput([_of_test_rows(problem, beside) for problem in error.problems]) from None
    unused = [column.name for column in columns if column.index in resolved.unread]
    problems = [
        _failed(test, f"the mapping does not use the column '{name}'", name.place)
        for test in tests.rows
        for row in test.given
        for name, cell in row.items()
        if name in unused and cell
    ]
    problems += [problem for test in tests.rows for problem in _differences(test, columns, resolved)]
    if problems:
        raise UnusableInput(problems)
    return len(tests.rows)


def _of_test_rows(problem: Problem, beside: Path) -> Problem:
    """A column that is not found is missing in the test rows, perhaps by a slip there."""
    if not problem.code.startswith("column-"):
        return problem
    hint = f"add it to the rows of {beside}, or correct the mapping: {problem.hint}"
    return replace(problem, message=f"{problem.message} in the test rows", hint=hint)


def _questions(tests: TestRows) -> tuple[Question, ...]:
    """Raises UnusableInput if the file with the questions cannot be read."""
    if tests.questions is None:
        return ()
    path = Path(tests.questions.place.file).parent / tests.questions
    try:
        return saved_questions(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not such a list"
        message = f"the questions in '{tests.questions}' cannot be read: {reason}"
        hint = f"write it with: importer questions JOB_POST --json > {tests.questions}"
        raise UnusableInput(Problem("questions-unreadable", message, hint, tests.questions.place)) from None


# --- rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """The rows of another table of the mapping."""

    name: str
    given: Sequence[Keys]

    @property
    def origin(self) -> Origin:
        return Origin(self.name)

    @property
    def columns(self) -> tuple[Column, ...]:
        return _columns(self.given)

    @property
    def delimiter(self) -> str:
        return ","

    def rows(self) -> Iterator[Row]:
        return (_row(row, self.columns, row.place.line) for row in self.given)


def _columns(given: Sequence[Keys]) -> tuple[Column, ...]:
    names = dict.fromkeys(str(name) for row in given for name in row)
    return tuple(Column.at(index, name) for index, name in enumerate(names))


def _row(given: Keys, columns: Sequence[Column], number: int) -> Row:
    """A cell that is not given is blank."""
    cells = tuple(str(given.value(column.name) or "").strip() for column in columns)
    return Row(Origin(given.place.file), number, cells)


# --- what was expected --------------------------------------------------------------------------


def _differences(test: TestRow, columns: Sequence[Column], resolved: ResolvedMapping) -> Iterator[Problem]:
    given = [_row(row, columns, number) for number, row in enumerate(test.given, test.place.line)]  # without gaps
    found = [
        row if isinstance(row, Filtered) else transform_row(row, resolved)
        for row in candidate_rows(lambda: iter(given), resolved)
    ]
    problems = [one for each in found if isinstance(each, Filtered | Invalid) for one in _problems_of(each)]
    if test.problem is not None:
        sent = len(found) - sum(isinstance(each, Filtered | Invalid) for each in found)
        if sent or {str(code) for code in test.problem} != {problem.code for problem in problems}:
            are = "; ".join(f"{problem.code} ({problem.message})" for problem in problems) or "none: it would be sent"
            yield _failed(test, f"the problems are {are}", test.problem[0].place)
    elif len(found) == 1 and isinstance(body := found[0], Application | PoolCandidate):
        yield from _of_body(test, body, resolved)
    elif problems:
        reasons = "; ".join(problem.message for problem in problems)
        yield _failed(test, f"the row is held back: {reasons}", test.place)
    else:
        yield _failed(test, f"the rows are {len(found)} candidates", test.place)


def _problems_of(result: Filtered | Invalid) -> Sequence[Problem]:
    return (result.problem,) if isinstance(result, Filtered) else result.problems


def _of_body(test: TestRow, body: Application | PoolCandidate, resolved: ResolvedMapping) -> Iterator[Problem]:
    sent = sent_values(body, resolved)
    answers = sent.pop("answers")
    for name, expected in (test.expect or {}).items():
        if name == "answers" and not isinstance(expected, Keys):
            yield _failed(test, "answers must be keys and values", name.place)
            continue
        for each, value in expected.items() if isinstance(expected, Keys) and name == "answers" else [(name, expected)]:
            known = answers if name == "answers" else sent
            if each in known:
                yield from _compared(test, each, value, known[each])
            else:
                yield _failed(test, f"the mapping has no '{each}'; it has {', '.join(known)}", each.place)


def sent_values(body: Application | PoolCandidate, mapping: ResolvedMapping) -> dict[str, Any]:
    """What is sent, as test rows write it: JSON as lists and keys, everything else as texts, nothing as ""."""
    fields, answers = body.payload(), body.answers if isinstance(body, Application) else ()
    found = {_id_of(one): one.answer if one.answer_file is None else one.answer_file for one in answers}
    return {
        **{name: _plain(fields.get(name)) for name in mapping.candidate},
        "answers": {_name_of(one.question): _plain(found.get(one.question.id)) for one in mapping.answers},
    }


def _name_of(question: Question) -> str:
    return question.key or (f"text: {question.text}" if question.text else f"id: {question.id}")


def _id_of(answer: Answer) -> int:
    asked = answer.job_post_question
    return asked if isinstance(asked, int) else int(asked["id"])


def _plain(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError):
            return _plain(json.loads(value))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _compared(test: TestRow, name: str, expected: Node, found: Any) -> Iterator[Problem]:
    if isinstance(expected, Keys) and isinstance(found, dict):
        for key in dict.fromkeys((*expected, *found)):
            if key in expected:
                yield from _compared(test, f"{name}.{key}", expected[expected.key(key)], found.get(key, ""))
            else:
                yield _failed(test, f"{name}.{key} is {_shown(found[key])} and not expected", expected.place)
    elif isinstance(expected, Items) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True), start=1):
            yield from _compared(test, f"{name}[{number}]", one, other)
    elif not isinstance(expected, Text) or expected != found:
        yield _failed(test, f"{name} is {_shown(found)} and not {_shown(expected)}", expected.place)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'" if value else "not sent"
    return json.dumps(value, ensure_ascii=False)


def _failed(test: TestRow, message: str, place: LinePlace) -> Problem:
    name = f"{test.name}: " if test.name else ""
    hint = "correct the mapping, or what is expected"
    return Problem("mapping-test-failed", f"not as expected: {name}{message}", hint, place)
