"""A sheet, its rows, and problems with their places as JSON: what a run's table keeps of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from typing import Any, Final

from importer.models import Row
from importer.problems import CellPlace, Column, FilePlace, LinePlace, Origin, Place, Problem, Unread
from importer.sources import Sheet

Stored = tuple[int, str, str]
"""A row's number, its cells, and what most rows do not have, "" if it has none of it."""


_FACTS: Final = ("header_row", "header_rows", "reading", "delimiter", "sheets")


def sheet_to_stored(sheet: Sheet) -> str:
    """What is known of a sheet, without its rows."""
    facts = {name: getattr(sheet, name) for name in _FACTS}
    columns = [(one.index, one.letter, one.name) for one in sheet.columns]
    origin = (sheet.origin.file, sheet.origin.sheet, sheet.origin.first)
    warnings = problems_to_json(sheet.warnings)
    return _dumps({**facts, "columns": columns, "origin": origin, "warnings": warnings})


def sheet_from_stored(stored: str, read: Callable[[], Iterator[Row]]) -> Sheet:
    """The sheet again, whose rows `read` gives."""
    values = json.loads(stored)
    return Sheet(
        **{name: values[name] for name in _FACTS if name != "sheets"},
        sheets=tuple(values["sheets"]),
        columns=tuple(Column(*one) for one in values["columns"]),
        origin=Origin(*values["origin"]),
        warnings=problems_from_json(values["warnings"]),
        _read=read,
    )


def row_to_stored(row: Row) -> Stored:
    """A row as it was read; without its members, which have rows of their own."""
    more = {
        "typed": sorted(row.typed),
        "problems": [_problem_to_json(problem) for problem in row.problems],
        "links": row.links,
        "currencies": row.currencies,
    }
    filled = {name: value for name, value in more.items() if value}
    return row.number, _dumps(row.cells), _dumps(filled) if filled else ""


def row_from_stored(stored: Stored, origin: Origin) -> Row:
    """The row again. origin: of its sheet."""
    number, cells, more = stored
    if not more:
        return Row(origin, number, tuple(json.loads(cells)))
    values = json.loads(more)
    return Row(
        origin,
        number,
        tuple(json.loads(cells)),
        frozenset(values.get("typed", ())),
        tuple(map(_problem_from_json, values.get("problems", ()))),
        links=tuple((index, text) for index, text in values.get("links", ())),
        currencies=tuple((index, text) for index, text in values.get("currencies", ())),
    )


def _dumps(value: object) -> str:
    # Escaped: SQLite takes no text with half a surrogate pair, which a broken file may have.
    return json.dumps(value, separators=(",", ":"))


def problems_to_json(problems: Iterable[Problem]) -> str:
    found = [_problem_to_json(problem) for problem in problems]
    return json.dumps(found) if found else ""


def problems_from_json(text: str) -> tuple[Problem, ...]:
    return tuple(map(_problem_from_json, json.loads(text))) if text else ()


def _problem_to_json(problem: Problem) -> dict[str, Any]:
    place = _place_to_json(problem.place)
    found: dict[str, Any] = {"code": problem.code, "message": problem.message, "hint": problem.hint, "place": place}
    if problem.severity != "error":
        found["severity"] = problem.severity
    if unread := problem.unread:
        found["unread"] = [unread.text, *astuple(unread.setting)]
    return found


def _problem_from_json(values: dict[str, Any]) -> Problem:
    place, severity = _place_from_json(values["place"]), values.get("severity", "error")
    text, *setting = values.get("unread", [""])
    unread = Unread(text, LinePlace(*setting)) if setting else None
    return Problem(values["code"], values["message"], values["hint"], place, severity, unread)


def _place_to_json(place: Place | None) -> dict[str, Any] | None:
    match place:
        case None:
            return None
        case CellPlace(origin, row, column):
            cell = {"kind": "cell", "origin": [origin.file, origin.sheet, origin.first], "row": row}
            return cell if column is None else {**cell, "column": [column.index, column.letter, column.name]}
        case LinePlace(file, line, column, text):
            return {"kind": "line", "file": file, "line": line, "column": column, "text": text}
        case FilePlace(name):
            return {"kind": "file", "name": name}


def _place_from_json(values: dict[str, Any] | None) -> Place | None:
    match values:
        case {"kind": "cell", "origin": [*origin], "row": row, "column": [index, letter, name]}:
            return CellPlace(Origin(*origin), row, Column(index, letter, name))
        case {"kind": "cell", "origin": [*origin], "row": row}:
            return CellPlace(Origin(*origin), row)
        case {"kind": "line", "file": file, "line": line, "column": column, "text": text}:
            return LinePlace(file, line, column, text)
        case {"kind": "file", "name": name}:
            return FilePlace(name)
        case _:
            return None
