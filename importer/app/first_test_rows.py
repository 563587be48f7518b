"""Writes the first test rows of a mapping: candidates of a file, with an invented person in each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Final

from importer.app.mapping_files import ask_questions, question_list, unwritable
from importer.app.mapping_tests import sent_values, test_rows_file
from importer.app.orders import SandboxSetup
from importer.mapping import (
    NO_WORDS,
    NUMBERS,
    YES_WORDS,
    FromRow,
    Kind,
    ResolvedMapping,
    ResolvedValue,
    Surname,
    comment_text,
    read_mapping,
    resolve,
    scalar,
)
from importer.models import Application, PoolCandidate, Question, Row
from importer.problems import UsageError, unusable_file
from importer.settings import Settings
from importer.sources import open_sheet
from importer.text.normalize import normalize
from importer.transform import transform_row

_FIRST: Final = 2
_NUMBER: Final = re.compile(r"[^\W\d_]{0,4}\W{0,2}\d[\d\s.,'’]*\W{0,2}[^\W\d_]{0,4}\.?")
_DATE: Final = re.compile(r"[\d\s.,:/TZ-]{0,24}(?:[^\W\d_]{3,10}\.?)?[\d\s.,:/TZ-]{2,24}")
_INVENTED: Final = {
    Kind.CV: "4711",
    Kind.DOCUMENT: "4711",
    Kind.PHONE: "+90 555 000 00 01",
    Kind.URL: "https://example.com/ada",
    Kind.LINE: "Example",
    Kind.TEXT: "Example",
}
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
    message = f"no row of the first {_LOOKED_AT} can be sent with an invented person"
    hint = (
        f"write {beside} manually, as docs/mapping.md shows; so are rows for several tables, rows or letters of columns"
    )
    raise unusable_file("mapping-tests-missing", message, hint, file)


def write_test_rows(path: Path, file: Path, questions: tuple[Question, ...], settings: Settings) -> Path | None:
    """Write the first candidates of a file as test rows of a mapping; None if it has none that can be sent, or if its
    candidates are made of several rows or tables.

    Raises UnusableInput: the mapping does not fit, or a file cannot be written.
    """
    mapping = read_mapping(path, settings.mapping_folders)
    sheet = open_sheet(file, mapping.source)
    if mapping.child_sources or mapping.group_by or sheet.header_rows > 1:
        return None
    if any(name.startswith("=") for name in mapping.source.names):  # test rows have names
        return None
    resolved = resolve(mapping, sheet.columns, questions, settings.wire, today=date.today())
    rows = (_invented(row, resolved, number) for number, row in enumerate(islice(sheet.rows(), _LOOKED_AT)))
    bodies = ((row, transform_row(row, resolved)) for row in rows)
    found = [*islice(((row, each) for row, each in bodies if isinstance(each, Application | PoolCandidate)), _FIRST)]
    if not found:
        return None
    lines = [_HEAD.format(mapping=comment_text(path.name), file=comment_text(file.name))]
    try:
        if questions:
            asked = path.with_name(f"{path.stem}.questions.json")
            listed = json.dumps(question_list(mapping.target, questions), ensure_ascii=False, indent=1)
            asked.write_text(listed + "\n", encoding="utf-8")
            lines.append(f"questions: {scalar(asked.name)}")
        used = [column for column in sheet.columns if column.index not in resolved.unread]
        lines.append("rows:")
        for row, body in found:
            given = {column.name: row.cells[column.index] for column in used}
            lines += _lines([{"given": given, "expect": _without_blank(sent_values(body, resolved))}])
        test_rows_file(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable("the test rows", test_rows_file(path), error) from None
    return test_rows_file(path)


_LOOKED_AT: Final = 200  # rows


def _invented(row: Row, mapping: ResolvedMapping, number: int) -> Row:
    """The row of an invented person: what stays are dates, and words that the mapping or the service knows.

    A cell whose value is only a part of it, or has several entries, is blank.
    """
    entries = [source for source in mapping.entry_sources if isinstance(source.source, FromRow)]
    cells = [""] * len(row.cells)
    for one in mapping.filters:
        text = row.cells[one.column.index]
        cells[one.column.index] = "Example" if one.negated else text if normalize(text) in one.words else ""
    for value in (*mapping.single_values, *(value for source in entries for value in source.values)):
        for column in value.columns:
            if cell := row.cells[column.index].strip():
                is_first = value is mapping.candidate["first_name"]
                is_number = column.index in row.typed
                cells[column.index] = _invented_cell(value, cell, number, is_first=is_first, is_number=is_number)
    return Row(row.origin, row.number, tuple(cells), problems=row.problems)


def _invented_cell(value: ResolvedValue, cell: str, number: int, *, is_first: bool, is_number: bool) -> str:
    (first, last), kind, spec = _PEOPLE[number % len(_PEOPLE)], value.field.kind, value.spec
    domain = "@example.com" if spec.pick in (None, "@") else str(spec.pick)
    address = f"{first}.{last}{number}{domain}".lower()
    known = _known_words(value)
    if kind is Kind.EMAIL:
        return f"{first} {last} <{address}>" if spec.pick else address
    if kind is Kind.NAME:
        return _full_name(value, first, last) if spec.part else first if is_first else last
    if spec.pattern is not None or spec.pick is not None or spec.before or spec.after:
        return ""
    if value.field.is_birth:
        return "1990-01-01"
    if kind in NUMBERS:
        return "1000" if is_number else re.sub(r"\d", "1", cell) if _NUMBER.fullmatch(cell) else ""
    if kind is Kind.DATE:
        return cell if _DATE.fullmatch(cell) or normalize(cell) in value.present else ""
    if known is not None:
        pieces = cell.split(spec.split) if spec.split else [cell]
        return cell if all(normalize(piece) in known for piece in pieces) else ""
    return _INVENTED.get(kind, "")


def _known_words(value: ResolvedValue) -> frozenset[str] | None:
    """The words that the mapping or the service knows of a value; None if it takes any."""
    words = [*value.field.options, *(value.formats.yes or ()), *(value.formats.no or ()), *YES_WORDS, *NO_WORDS]
    table = value.table.targets if value.table else {}
    is_open = value.table is None and value.field.kind in _INVENTED
    return None if is_open else frozenset((*map(normalize, words), *table))


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
