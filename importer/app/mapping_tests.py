"""Tests a mapping with the rows that stand in a file beside it, without a service; and writes the first ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Final

from importer.app.mapping_files import ask_questions, question_list, saved_questions, unwritable
from importer.app.orders import SandboxSetup
from importer.mapping import (
    NUMBERS,
    TEST_ROWS,
    FromRow,
    Items,
    Keys,
    Kind,
    Node,
    ResolvedMapping,
    ResolvedValue,
    Surname,
    TestRow,
    TestRows,
    Text,
    read_mapping,
    read_test_rows,
    resolve,
    scalar,
)
from importer.models import Answer, Application, PoolCandidate, Question, Row
from importer.problems import Column, LinePlace, Origin, Problem, UnusableInput, UsageError, unusable_file
from importer.settings import Settings
from importer.sources import ReadingLimits, open_sheet
from importer.transform import Filtered, Invalid, candidate_rows, transform_row


def test_rows_file(mapping: Path) -> Path:
    """The file with the test rows of a mapping."""
    return mapping.with_name(mapping.stem + TEST_ROWS)


def check_test_rows(path: Path, settings: Settings) -> int:
    """Test a mapping with its test rows; the number of these rows.

    Raises:
        UnusableInput: the mapping or the rows cannot be read, or with what was not as expected, each at its line.
    """
    mapping, beside = read_mapping(path, settings.mapping_folders), test_rows_file(path)
    if not beside.exists():
        hint = f"write the first ones with: importer mapping test {path} FILE; docs/mapping.md shows their form"
        raise unusable_file("mapping-tests-missing", "there is no file with test rows of this mapping", hint, beside)
    tests = read_test_rows(beside)
    columns = _columns([row for test in tests.rows for row in test.given])
    tables = {source: _Table(str(source), tests.tables.get(str(source), ())) for source in mapping.child_sources}
    resolved = resolve(mapping, columns, _questions(tests), settings.wire, tables, date.today())
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

    def rows(self) -> Iterator[Row]:
        return map(_row, self.given, [self.columns] * len(self.given))


def _columns(given: Sequence[Keys]) -> tuple[Column, ...]:
    names = dict.fromkeys(str(name) for row in given for name in row)
    return tuple(Column.at(index, name) for index, name in enumerate(names))


def _row(given: Keys, columns: Sequence[Column]) -> Row:
    """A row, numbered by its line; a cell that is not given is blank."""
    cells = tuple(str(given.value(column.name) or "").strip() for column in columns)
    return Row(Origin(given.place.file), given.place.line, cells)


# --- what was expected --------------------------------------------------------------------------


def _differences(test: TestRow, columns: Sequence[Column], resolved: ResolvedMapping) -> Iterator[Problem]:
    given = [_row(row, columns) for row in test.given]
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
    sent = _sent(body, resolved)
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


def _sent(body: Application | PoolCandidate, mapping: ResolvedMapping) -> dict[str, Any]:
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


# --- the first test rows --------------------------------------------------------------------------

_FIRST: Final = 2
_PEOPLE: Final = (("Ada", "Nur"), ("Can", "Kaya"))
_HEAD: Final = """\
# Rows, and what {mapping} makes of them. To test it: importer mapping test {mapping}
# The first rows are from {file}, with invented people, texts and numbers. Add those that were wrong once.
# Only what is named under expect: is compared; "" means that nothing is sent. problem: has the codes of a row that is
# held back."""


def begin_test_rows(path: Path, file: Path, settings: Settings, sandbox_setup: SandboxSetup | None) -> Path:
    """Write the first test rows of a mapping, for the live questions.

    Raises:
        UsageError: there are test rows.
        UnusableInput: the mapping does not fit, the file has no candidate for a test row, or it cannot be written.
        StoppedEarly: the service does not return the questions.
    """
    if (beside := test_rows_file(path)).exists():
        raise UsageError(f"{beside} already exists; add rows to it, or remove it")
    mapping = read_mapping(path, settings.mapping_folders)
    questions = ask_questions(mapping.target, settings, sandbox_setup)
    if written := write_test_rows(path, file, questions, settings):
        return written
    message = f"no row of the first {_LOOKED_AT} could become a test row"
    hint = f"write {beside} manually, see docs/mapping.md: other tables, group_by: and pattern: need rows of their own"
    raise unusable_file("mapping-tests-missing", message, hint, file)


def write_test_rows(path: Path, file: Path, questions: tuple[Question, ...], settings: Settings) -> Path | None:
    """Write the first candidates of a file as test rows of a mapping; None if it has none that can be sent, or if its
    candidates are made of several rows or tables.

    Raises:
        UnusableInput: the mapping does not fit, or a file cannot be written.
    """
    mapping = read_mapping(path, settings.mapping_folders)
    sheet = open_sheet(file, mapping.source, ReadingLimits.of(settings))
    if mapping.child_sources or mapping.group_by:
        return None
    resolved = resolve(mapping, sheet.columns, questions, settings.wire, today=date.today())
    rows = (_invented(row, resolved, number) for number, row in enumerate(islice(sheet.rows(), _LOOKED_AT)))
    bodies = ((row, transform_row(row, resolved)) for row in rows)
    found = [*islice(((row, each) for row, each in bodies if isinstance(each, Application | PoolCandidate)), _FIRST)]
    if not found:
        return None
    lines = [_HEAD.format(mapping=path.name, file=file.name)]
    try:
        if questions:
            asked = path.with_name(f"{path.stem}.questions.json")
            listed = json.dumps(question_list(mapping.target, questions), ensure_ascii=False, indent=1)
            asked.write_text(listed + "\n", encoding="utf-8")
            lines.append(f"questions: {scalar(asked.name)}")
        by_letter = any(name.startswith("=") for name in mapping.source.names)  # then each column must be there
        used = [column for column in sheet.columns if by_letter or column.index not in resolved.unread]
        lines.append("rows:")
        for row, body in found:
            given = {column.name: row.cells[column.index] for column in used}
            lines += _lines([{"given": given, "expect": _without_blank(_sent(body, resolved))}])
        test_rows_file(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable("the test rows", test_rows_file(path), error) from None
    return test_rows_file(path)


_LOOKED_AT: Final = 200  # rows


def _invented(row: Row, mapping: ResolvedMapping, number: int) -> Row:
    """The row of an invented person: only dates, choices and words of a value table stay; numbers get other digits.

    A cell whose value is a part of it (`pattern:`), or has several entries, is blank.
    """
    entries = [source for source in mapping.entry_sources if isinstance(source.source, FromRow)]
    kept = {one.column.index for one in mapping.filters}
    cells = [cell if index in kept else "" for index, cell in enumerate(row.cells)]
    for value in (*mapping.single_values, *(value for source in entries for value in source.values)):
        for column in value.columns:
            if cell := row.cells[column.index]:
                cells[column.index] = _invented_cell(
                    value, cell, number, is_first=value is mapping.candidate["first_name"]
                )
    return Row(row.origin, row.number, tuple(cells), problems=row.problems)


def _invented_cell(value: ResolvedValue, cell: str, number: int, *, is_first: bool) -> str:
    first, last = _PEOPLE[number % len(_PEOPLE)]
    address = f"{first}.{last}{number}@example.com".lower()
    invented = {
        Kind.EMAIL: f"{first} {last} <{address}>" if value.spec.pick else address,
        Kind.NAME: _full_name(value, first, last) if value.spec.part else first if is_first else last,
        Kind.CV: "4711",
        Kind.DOCUMENT: "4711",
        Kind.PHONE: "+90 555 000 00 01",
        Kind.URL: "https://example.com/ada",
        Kind.LINE: "Example",
        Kind.TEXT: "Example",
    }
    if value.spec.pattern is not None or (value.spec.pick is not None and value.field.kind is not Kind.EMAIL):
        return ""
    if value.table is not None:
        return cell
    if value.field.is_birth:
        return "1990-01-01"
    if value.field.kind in NUMBERS:
        return re.sub(r"\d", "1", cell)
    return invented.get(value.field.kind, cell)


def _full_name(value: ResolvedValue, first: str, last: str) -> str:
    surname = value.formats.names.surname if value.formats.names else None
    return f"{last}, {first}" if surname not in (None, Surname.LAST_WORD) else f"{first} {last}"


def _without_blank(sent: Any) -> Any:
    return {name: _without_blank(one) if isinstance(one, dict) else one for name, one in sent.items() if one}


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    """A value as YAML in blocks."""
    for name, one in value.items() if isinstance(value, dict) else [("-", each) for each in value]:
        key = f"{indent}-" if name == "-" else f"{indent}{scalar(name)}:"
        if not one or isinstance(one, str):
            yield f"{key} {scalar(one) if isinstance(one, str) else json.dumps(one)}"
        elif name == "-":
            first, *others = _lines(one, f"{indent}  ")
            yield from (f"{key} {first.strip()}", *others)
        else:
            yield key
            yield from _lines(one, f"{indent}  ")
