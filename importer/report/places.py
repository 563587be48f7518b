"""Where a problem is, in as few words as its reader needs: the file is known already."""

from __future__ import annotations

from importer.models import CellPlace, Place, Row


def place_in_row(place: Place | None, row: Row) -> str:
    """For a reader who has the row, though perhaps not at its old place: `Candidates!F7, column "Mobile"`.

    The whole place if it is elsewhere; "" for the row as such.
    """
    if place is None or (isinstance(place, CellPlace) and place == row.place()):
        return ""
    if isinstance(place, CellPlace) and place.origin == row.origin:
        where = str(place).removeprefix(f"{row.origin.file}, ")
        named = place.column is not None and place.origin.sheet is not None and place.column.name
        return f'{where}, column "{named}"' if named else where
    return str(place)


def place_in_list(place: Place | None, row: Row) -> str:
    """For a list of like problems under the name of their column: `F7` of a workbook, `row 7` of a CSV."""
    if place is None:
        return f"row {row.number}"
    if isinstance(place, CellPlace) and place.origin == row.origin:
        in_workbook = place.column is not None and place.origin.sheet is not None
        return f"{place.column.letter}{place.row}" if in_workbook and place.column else f"row {place.row}"
    return str(place)


def guilty_column(place: Place | None, row: Row) -> int | None:
    """The index of the row's own cell that the place names, if it names one."""
    if not isinstance(place, CellPlace) or place.column is None:
        return None
    return place.column.index if place == row.place(place.column) else None
