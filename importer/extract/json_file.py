"""A list of JSON objects, or JSON Lines: each object is a row, its keys are columns. Memory holds one object."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TextIO

from importer.extract.cell_text import clean, find_problem, header_text
from importer.extract.csv_file import Survey, file_changed, survey
from importer.extract.encoding import UTF8, byte_order_mark
from importer.extract.header import place_of
from importer.extract.results_file import is_canonical
from importer.extract.sheet import CellProblem, FileKind, Layout, ReadingLimits, Record, Sheet
from importer.extract.table import counted
from importer.models import SourceOptions
from importer.problems import CellPlace, Column, LinePlace, Origin, Problem, UnusableInput, unusable_file

_CHUNK: Final = 1 << 18  # characters that are read at once
_DEEPEST: Final = 20  # levels within an object
_SHOWN: Final = 32_000  # characters of a broken line that are kept; a cell of a workbook has at most 32,767
_MOST_DIGITS: Final = 30  # of a number that is written without its exponent
_BLANK: Final = " \t\r\n"
_HINT: Final = "correct it, or export the file again"
_AS_LIST: Final = "export the rows as a list of objects [{...}, {...}], or one object on each line as .jsonl"


def open_json(path: Path, name: str, kind: FileKind, options: SourceOptions, limits: ReadingLimits) -> Sheet:
    """Open a JSON or JSON Lines file; its columns are the keys of all objects, in the order of their first appearance.

    A row's number is that of its object in the list, or of its line. `Row.typed`: numbers and booleans.

    Raises:
        UnusableInput: it is not UTF-8, not valid JSON, not a list of objects, or too large in one object.
    """
    found = survey(path, byte_order_mark(path) or UTF8)
    if found.undecodable is not None:
        byte = found.undecodable.byte
        message = f"the file is not {found.encoding.label}: the byte 0x{byte:02X} cannot be read"
        place = LinePlace(name, found.undecodable.line)
        raise UnusableInput(Problem("encoding-wrong", message, "export the file again as UTF-8", place))
    file = _JsonFile(path, Origin(name), kind, found, limits)
    count, keys = 0, dict[str, int]()
    for each in file.objects():
        count += 1
        for key in each.pairs:
            keys.setdefault(key, len(keys))
        if len(keys) > limits.columns:
            raise UnusableInput(file.too_many_columns(each.number, len(keys)))
    if not keys:
        raise unusable_file("table-empty", "the table is empty", "export it again", place_of(file.origin))
    columns = tuple(Column.at(index, header_text(clean(key))) for key, index in keys.items())
    skipped, stop_at = frozenset(options.skip_rows), options.stop_at
    layout = Layout(file.origin, 0, len(columns), columns, even=False, left_out=skipped, stop_at=stop_at)
    return Sheet(
        file.origin,
        0,
        columns,
        f"{kind}, {found.encoding.label}, {counted(len(columns), 'column')}",
        warnings=(),
        delimiter=",",
        lines=count,
        knows_types=True,
        has_links=False,
        header_rows=1,
        _read=lambda: layout.rows(file.records(keys)),
    )


class _Number(str):
    """The text of a number, exactly as the file has it."""


class _Refused(ValueError):
    """An object that JSON's grammar allows, but that has no one meaning; or a constant that JSON does not have."""


@dataclass(frozen=True, slots=True)
class _Object:
    """An object with its number, from 1; or with a problem, and its text."""

    number: int
    pairs: dict[str, Any]
    problem: Problem | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class _JsonFile:
    """A file that can be decoded."""

    path: Path
    origin: Origin
    kind: FileKind
    survey: Survey
    limits: ReadingLimits

    def records(self, keys: dict[str, int]) -> Generator[Record, None, None]:
        """Every object as a record; a broken line of JSON Lines has its text in its first cell, and a problem."""
        for each in self.objects():
            if each.problem is not None:
                cells = (clean(each.text), *[""] * (len(keys) - 1))
                yield Record(each.number, cells, problems=(CellProblem(None, each.problem),))
                continue
            texts, typed, problems = [""] * len(keys), set(), list[CellProblem]()
            for key, value in each.pairs.items():
                index = keys[key]
                try:
                    texts[index] = text = _text(value)
                except RecursionError as error:
                    problems.append(CellProblem(index, self._invalid(error, each.number, "")))
                    continue
                if isinstance(value, _Number | bool):
                    if is_canonical(text):
                        typed.add(index)
                elif problem := find_problem(text):
                    problems.append(CellProblem(index, problem))
            yield Record(each.number, tuple(map(clean, texts)), frozenset(typed), tuple(problems))

    def objects(self) -> Iterator[_Object]:
        with self._opened() as file:
            yield from self._lines(file) if self.kind is FileKind.JSONL else self._items(file)

    @contextmanager
    def _opened(self) -> Iterator[TextIO]:
        changed = UnusableInput(file_changed(self.origin))
        if not self.survey.holds_for(self.path):
            raise changed
        try:
            with self.path.open(encoding=self.survey.encoding.codec, newline="") as file:
                yield file
        except UnicodeDecodeError as error:  # the scan could decode all of it
            raise changed from error

    def _lines(self, file: TextIO) -> Iterator[_Object]:
        is_first, number = True, 0
        while line := file.readline(self.limits.row):
            number += 1
            if len(line) == self.limits.row:
                raise UnusableInput(self._too_long(number))
            if not line.strip(_BLANK):
                continue
            try:
                value, end = _DECODER.raw_decode(line, len(line) - len(line.lstrip(_BLANK)))
                rest = line[end:].lstrip(_BLANK)
                if rest:
                    raise json.JSONDecodeError("Extra data", line, len(line) - len(rest))
                yield _Object(number, self._pairs(value, number))
            except (UnusableInput, ValueError, RecursionError) as error:
                if isinstance(error, UnusableInput):
                    problem = error.problems[0]
                else:
                    at = error.pos if isinstance(error, json.JSONDecodeError) else 0
                    problem = self._invalid(error, number, f" (line {number}, column {at + 1})")
                if is_first:  # most likely no line is JSON
                    raise UnusableInput(problem) from None
                yield _Object(number, {}, problem, line[:_SHOWN])
            is_first = False

    def _items(self, file: TextIO) -> Iterator[_Object]:
        window = _Window(file)
        if window.next() != "[":
            message = f"the file is not a list of objects: it begins with {window.shown()!r}"
            raise UnusableInput(Problem("json-not-a-list", message, _AS_LIST, window.place(self.origin)))
        window.at += 1
        number, end = 0, ","
        if window.next() == "]":
            window.at, end = window.at + 1, "]"
        while end == ",":
            number += 1
            window.next()
            yield _Object(number, self._pairs(self._item(window, number), number))
            end = window.next()
            if end not in (",", "]"):
                raise self._refusal(json.JSONDecodeError("Expecting ',' delimiter", "", 0), number, window)
            window.at += 1
        if window.next():
            raise self._refusal(json.JSONDecodeError("Extra data", "", 0), number, window)

    def _item(self, window: _Window, number: int) -> Any:
        """The next value, which begins at the start of the window's rest; more is read until it is complete."""
        while True:
            try:
                value, window.at = _DECODER.raw_decode(window.text, window.at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError):
                    if len(window.text) - window.at > self.limits.row:
                        raise UnusableInput(self._too_long(number)) from None
                    inside = error.pos - window.at
                    if window.more():
                        continue
                    window.at += inside
                raise self._refusal(error, number, window) from None
            return value

    def _pairs(self, value: Any, number: int) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        message = "the value is not an object with keys and values"
        raise UnusableInput(Problem("json-not-a-list", message, _AS_LIST, CellPlace(self.origin, number)))

    def _refusal(self, error: Exception, number: int, window: _Window) -> UnusableInput:
        line, at = window.position()
        return UnusableInput(self._invalid(error, number, f" (line {line}, column {at})"))

    def _invalid(self, error: Exception, number: int, where: str) -> Problem:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
        place = CellPlace(self.origin, number)
        return Problem("json-invalid", f"the JSON is not valid: {reason}{where}", _HINT, place)

    def _too_long(self, number: int) -> Problem:
        message = f"a row is longer than {self.limits.row >> 20:,} MB, which is the limit"
        hint = "check that the file is a list of candidates, or raise IMPORTER_CSV_ROW_MEGABYTES"
        return Problem("row-too-long", message, hint, CellPlace(self.origin, number))

    def too_many_columns(self, number: int, count: int) -> Problem:
        message = f"the objects up to this one have {count:,} different keys; the limit is {self.limits.columns:,}"
        hint = "check that the file is a list of candidates, or raise IMPORTER_CSV_COLUMNS"
        return Problem("too-many-columns", message, hint, CellPlace(self.origin, number))


class _Window:
    """A part of a text file: `text` from `at` on has not been used yet."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.text, self.at = "", 0
        self._line, self._column = 1, 1  # of the start of `text`

    def more(self) -> bool:
        """Read on, at least as much again as is left; False at the end of the file."""
        line, column_ = self.position()
        chunk = self._file.read(max(_CHUNK, len(self.text) - self.at))
        self.text, self.at, self._line, self._column = self.text[self.at :] + chunk, 0, line, column_
        return bool(chunk)

    def next(self) -> str:
        """The next character that is not blank, at which the window then is; "" at the end of the file."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _BLANK:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def position(self) -> tuple[int, int]:
        """The line and the column, both from 1."""
        lines = self.text.count("\n", 0, self.at)
        if not lines:
            return self._line, self._column + self.at
        return self._line + lines, self.at - self.text.rfind("\n", 0, self.at)

    def place(self, origin: Origin) -> LinePlace:
        return LinePlace(origin.file, *self.position())

    def shown(self) -> str:
        return self.text[self.at : self.at + 20]


# --- values -----------------------------------------------------------------------------------------


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"an object has the key {repeated[:80]!r} twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a JSON value")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object_of, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant
)


def _text(value: Any) -> str:
    """The text of a cell: "" for null and for empty lists; a list or an object with content is its JSON."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, _Number):
        return _number_text(value)
    return value if isinstance(value, str) else _json(value)


def _number_text(number: str) -> str:
    """The text as it is; `45.000` without the zeros, since text that looks like it may mean 45 thousand, and `4.5e4`
    without its exponent."""
    if is_canonical(number):
        return str(number)
    value = Decimal(number)
    if abs(value.adjusted()) > _MOST_DIGITS:
        return str(number)
    text = f"{value:f}"
    return text.rstrip("0").removesuffix(".") if "." in text else text


def _json(value: Any, depth: int = 0) -> str:
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key, ensure_ascii=False)}: {_json(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_json(each, depth + 1) for each in value)}]"
    return str(value) if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
