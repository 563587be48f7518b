"""A sheet, its rows, and problems with their places as JSON: what a run's table keeps of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from importer.models import Row
from importer.problems import Column, Origin, Problem
from importer.sources import Sheet

Stored = tuple[int, str, str]
"""A row's number, its cells, and what most rows do not have, "" if it has none of it."""


_FACTS: Final = ("header_row", "header_rows", "reading", "delimiter", "sheets")


def sheet_to_stored(sheet: Sheet) -> str:
    """What is known of a sheet, without its rows."""
    facts = {name: getattr(sheet, name) for name in _FACTS}
    columns, origin = [asdict(one) for one in sheet.columns], asdict(sheet.origin)
    return _dumps({**facts, "columns": columns, "origin": origin, "warnings": problems_to_json(sheet.warnings)})


def sheet_from_stored(stored: str, read: Callable[[], Iterator[Row]]) -> Sheet:
    """The sheet again, whose rows `read` gives."""
    values = json.loads(stored)
    return Sheet(
        **{name: values[name] for name in _FACTS if name != "sheets"},
        sheets=tuple(values["sheets"]),
        columns=tuple(Column(**one) for one in values["columns"]),
        origin=Origin(**values["origin"]),
        warnings=problems_from_json(values["warnings"]),
        _read=read,
    )


def row_to_stored(row: Row) -> Stored:
    """A row as it was read; without its members, which have rows of their own."""
    more = {"typed": sorted(row.typed), "problems": _dumped(row.problems), "links": row.links}
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
        _adapter().validate_python(values.get("problems", ())),
        links=tuple((index, text) for index, text in values.get("links", ())),
    )


def _dumps(value: object) -> str:
    # Escaped: SQLite takes no text with half a surrogate pair, which a broken file may have.
    return json.dumps(value, separators=(",", ":"))


def problems_to_json(problems: Iterable[Problem]) -> str:
    found = _dumped(problems)
    return json.dumps(found) if found else ""


def problems_from_json(text: str) -> tuple[Problem, ...]:
    return _adapter().validate_python(json.loads(text)) if text else ()


def _dumped(problems: Iterable[Problem]) -> Any:
    without = {"__all__": {"encodings"}}  # of a file that cannot be read
    return _adapter().dump_python(tuple(problems), mode="json", exclude=without)


@cache
def _adapter() -> TypeAdapter[tuple[Problem, ...]]:
    return TypeAdapter(tuple[Problem, ...])
