"""Which worksheet of a workbook is read: the one named, or the first visible one that holds rows."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from importer.errors import UnusableInput
from importer.models import FilePlace, Problem


@dataclass(frozen=True, slots=True)
class SheetName:
    """A worksheet: its title, and whether a person sees its tab."""

    title: str
    visible: bool = True


def named_sheet(name: str, sheets: Sequence[SheetName], wanted: str) -> SheetName:
    """The sheet of that title, upper and lower case alike, or of that number among the visible ones.

    A hidden sheet is read when it is named. `name` is the file's.

    Raises:
        UnusableInput: there is none.
    """
    for form in (str, _folded):
        for sheet in sheets:
            if form(sheet.title) == form(wanted):
                return sheet
    visible = [sheet for sheet in sheets if sheet.visible]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(visible):
        return visible[int(wanted) - 1]
    titles = {_folded(sheet.title): sheet.title for sheet in sheets}
    near = difflib.get_close_matches(_folded(wanted), list(titles), n=1)
    hint = f"did you mean {titles[near[0]]!r}? " if near else ""
    raise UnusableInput(
        Problem("sheet-missing", f"there is no sheet {wanted!r}", f"{hint}{_list_of(sheets)}", FilePlace(name))
    )


def first_sheet(name: str, sheets: Sequence[SheetName], holds_rows: Callable[[SheetName], bool]) -> SheetName:
    """The first visible sheet that holds anything.

    Raises:
        UnusableInput: no visible sheet does.
    """
    for sheet in sheets:
        if sheet.visible and holds_rows(sheet):
            return sheet
    hidden = any(not sheet.visible for sheet in sheets)
    hint = "name one of them as sheet: under source: in the mapping to read it; " if hidden else ""
    raise UnusableInput(
        Problem("sheets-empty", "no visible sheet holds anything", f"{hint}{_list_of(sheets)}", FilePlace(name))
    )


def other_sheets_warning(name: str, chosen: str, others: Sequence[str]) -> tuple[Problem, ...]:
    """A warning that names the visible sheets that are not read, if there are any."""
    if not others:
        return ()
    return (
        Problem(
            "other-sheets",
            f"only the sheet {chosen!r} is read, not {', '.join(map(repr, others))}",
            "name the right one as sheet: under source: in the mapping",
            FilePlace(name),
        ),
    )


def _list_of(sheets: Sequence[SheetName]) -> str:
    titles = [repr(sheet.title) + ("" if sheet.visible else " (hidden)") for sheet in sheets]
    return f"the sheets are {', '.join(titles)}" if titles else "the workbook has no worksheet"


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).replace("İ", "i").replace("ı", "i").casefold().split())
