"""A problem, with its place, as JSON values and back."""

from __future__ import annotations

from typing import Any

from importer.models import CellPlace, Column, FilePlace, LinePlace, Origin, Place, Problem


def problem_to_json(problem: Problem) -> dict[str, Any]:
    """JSON values from which `problem_from_json` makes an equal problem."""
    return {
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "place": _place_to_json(problem.place),
    }


def problem_from_json(shown: dict[str, Any]) -> Problem:
    """The problem that `problem_to_json` was given."""
    return Problem(shown["code"], shown["message"], shown["hint"], _place_from_json(shown["place"]))


def _place_to_json(place: Place | None) -> dict[str, Any] | None:
    match place:
        case None:
            return None
        case CellPlace(origin, row, column):
            cell = {"kind": "cell", "file": origin.file, "sheet": origin.sheet, "row": row}
            return cell if column is None else {**cell, "column": [column.index, column.letter, column.name]}
        case LinePlace(file, line, column, text):
            return {"kind": "line", "file": file, "line": line, "column": column, "text": text}
        case FilePlace(name):
            return {"kind": "file", "name": name}


def _place_from_json(shown: dict[str, Any] | None) -> Place | None:
    match shown:
        case {"kind": "cell", "file": file, "sheet": sheet, "row": row, "column": [index, letter, name]}:
            return CellPlace(Origin(file, sheet), row, Column(index, letter, name))
        case {"kind": "cell", "file": file, "sheet": sheet, "row": row}:
            return CellPlace(Origin(file, sheet), row)
        case {"kind": "line", "file": file, "line": line, "column": column, "text": text}:
            return LinePlace(file, line, column, text)
        case {"kind": "file", "name": name}:
            return FilePlace(name)
        case _:
            return None
