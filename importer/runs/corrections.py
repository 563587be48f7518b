"""Corrections: what a person fixed, as a list of cells (row, column, old and new text) over the rows of a run.

They come from a fixed report.xlsx or from the grid of the page. The file itself stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Final

from importer.files import read_private, write_json
from importer.mapping import ResolvedGrouping
from importer.models import CorrectedCell, Row
from importer.problems import CellPlace, Column, FilePlace, Problem, UnusableInput, unusable_file
from importer.sources import find_problem, is_canonical
from importer.text.normalize import join_key


def write_corrections(path: Path, corrections: Iterable[CorrectedCell], sha256: str) -> None:
    """Keep a list in a private file. sha256: of the file whose cells these are. Raises OSError."""
    listed = [astuple(one) for one in sorted(corrections, key=lambda one: (one.row, one.column.index))]
    write_json(path, {"sha256": sha256, "cells": listed})


def read_corrections(path: Path) -> tuple[tuple[CorrectedCell, ...], str]:
    """The list in a file, and the SHA-256 as above; ((), "") if there is none. Raises UnusableInput: it was changed."""
    try:
        kept = json.loads(read_private(path))
        listed = (CorrectedCell(row, Column(*column), *texts) for row, column, *texts in kept["cells"])
        return tuple(listed), str(kept["sha256"])
    except FileNotFoundError:
        return (), ""
    except (OSError, ValueError, TypeError, KeyError):
        message, hint = "the list of corrections cannot be read", "remove it, and correct the cells again"
        raise unusable_file("correction-invalid", message, hint, path) from None


def by_row(corrections: Iterable[CorrectedCell]) -> dict[int, list[CorrectedCell]]:
    """Corrections by the number of their row."""
    found: dict[int, list[CorrectedCell]] = {}
    for one in corrections:
        found.setdefault(one.row, []).append(one)
    return found


def over(rows: Iterable[Row], corrections: Mapping[int, Sequence[CorrectedCell]]) -> Iterator[Row]:
    """Rows with their corrections, by row number."""
    return (corrected(row, cells) if (cells := corrections.get(row.number)) else row for row in rows)


def refusing_other_texts(rows: Iterable[Row], corrections: dict[int, list[CorrectedCell]]) -> Iterator[Row]:
    """The rows; of the corrections, those that were not among them are left. Raises UnusableInput if a cell has another
    text than a correction says.
    """
    for row in rows:
        _refuse_other_texts(row, corrections.pop(row.number, ()) if corrections else ())
        yield row


def refuse_missing(rows: Iterable[int], file: str) -> None:
    """Raise UnusableInput if rows with corrections were not among those that were read."""
    if missing := sorted(rows)[:3]:
        raise UnusableInput(_outdated(f"it has no row {', '.join(map(str, missing))}", file))


def _refuse_other_texts(row: Row, cells: Iterable[CorrectedCell]) -> None:
    for one in cells:
        if (text := row.cells[one.column.index]) != one.old:
            message = f"{row.place(one.column)} has the text '{text[:80]}', not '{one.old[:80]}'"
            raise UnusableInput(_outdated(message, row.origin.file))


def _outdated(message: str, file: str) -> Problem:
    hint = "check the file again, and correct the cells that still have a problem"
    return Problem(
        "correction-invalid", f"the corrections are for another version of the file: {message}", hint, FilePlace(file)
    )


def corrected(row: Row, cells: Iterable[CorrectedCell]) -> Row:
    """A row with the new texts of some of its cells."""
    cells = tuple(cells)
    values = frozenset(one.column.index for one in cells if one.is_value)
    return with_texts(row, {one.column: one.new for one in cells}, values)


AMBIGUOUS: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}(?= \D+$|$)")  # one or a thousand, if a person types it


def with_texts(row: Row, texts: Mapping[Column, str], values: frozenset[int] = frozenset()) -> Row:
    """A row with other texts in some cells, checked like those of the file. A number, a date or TRUE stays a value if
    its new text has the format of `Row` and one meaning; values: the indexes of new texts that are values.
    """
    new = {column.index: text for column, text in texts.items()}
    found = [replace(one, place=row.place(column)) for column, text in texts.items() if (one := find_problem(text))]
    units = {index: row.cells[index].partition(" ")[1:] for index in new}  # the currency behind an amount
    texts_now = {
        index
        for index, text in new.items()
        if AMBIGUOUS.match(text) or not is_canonical(text.removesuffix("".join(units[index])))
    }
    typed = (row.typed - texts_now) | values
    return replace(
        row,
        cells=tuple(new.get(index, text) for index, text in enumerate(row.cells)),
        typed=frozenset(index for index in typed if index not in new or new[index]),
        problems=(*(problem for problem in row.problems if not problem.is_in(new)), *found),
        links=tuple(link for link in row.links if link[0] not in new),
    )


def refuse_split_candidates(
    rows: Iterable[Row], corrections: Iterable[CorrectedCell], grouping: ResolvedGrouping
) -> None:
    """Raise UnusableInput if the key of a candidate was corrected in some of its rows only, or became that of another
    one: then half a candidate would be sent, or one person twice. rows: with their corrections.
    """
    index = grouping.column.index
    was = {one.row: one.old for one in corrections if one.column.index == index}
    links: dict[tuple[bool, str], dict[str, CellPlace]] = {}  # of an old key its new ones, of a new key its old ones
    old = new = ""
    for row in rows if was else ():
        if not grouping.continues(row):
            old = new = ""
        old = join_key(was.get(row.number, row.cells[index]), grouping.missing) or old
        new = grouping.key_of(row) or new
        own = f"\0{row.number}"  # of a row without any key, which is a candidate of its own
        place = CellPlace(row.origin, row.number, grouping.column)
        links.setdefault((True, old or own), {}).setdefault(new or own, place)
        links.setdefault((False, new or own), {}).setdefault(old or own, place)
    problems = []
    for (is_split, key), found in links.items():
        are_blank = all(one.startswith("\0") for one in found)  # rows without a key may be filled in alike
        if len(found) > 1 and not are_blank:
            one, other = list(found.values())[:2]
            changes = "are one candidate, and would be two" if is_split else "are two candidates, and would be one"
            message = f"rows {one.row} and {other.row} {changes}: '{key}'"
            hint = "correct this column alike in all rows of the candidate; or correct your own file, and run that"
            problems.append(Problem("selection-splits-candidate", message, hint, other))
    if problems:
        raise UnusableInput(problems)
