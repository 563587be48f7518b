"""The cells of results files: quoted where they look like a formula, cut to what a cell holds, links as one cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

# --- cells that a spreadsheet program could run -----------------------------------------------------

_FORMULA: Final = re.compile(r"'*[=+\-@＝＋－＠\t\r]")
_ESCAPED: Final = re.compile(r"'+[=+\-@＝＋－＠\t\r]")


def escape_formula(text: str) -> str:
    """The text for a results CSV, so that no spreadsheet program reads it as a formula.

    A cell that begins with `=`, `+`, `-`, `@` (also full-width), tab or CR gets a leading `'`. One with quotes before
    such a character gets one more, so that removing one quote is the exact inverse.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """A cell of a results file without that quote."""
    return text[1:] if _ESCAPED.match(text) else text


# --- texts that are too long ------------------------------------------------------------------------

MAX_CELL_LENGTH: Final = 32_767  # in UTF-16 units, as Excel counts
CUT_NOTE: Final = " ... (cut here; see the CSV file for the full text)"


def truncated(text: str) -> str:
    """The text, cut to the length of a cell, with a note. What a workbook cannot hold is replaced."""
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        text = text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")  # XML does not allow them
    if len(text) <= MAX_CELL_LENGTH // 2 or len(text.encode("utf-16-le")) // 2 <= MAX_CELL_LENGTH:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MAX_CELL_LENGTH - len(CUT_NOTE))]
    return kept.decode("utf-16-le", "ignore") + CUT_NOTE


# --- hyperlinks -------------------------------------------------------------------------------------

Links = tuple[tuple[int, str], ...]
"""The indexes of cells with a hyperlink, each with its address."""


def is_web_link(address: str) -> bool:
    return address.lower().startswith(("http://", "https://"))


def links_text(cells: Sequence[str], links: Iterable[tuple[int, str]], letters: Sequence[str]) -> str:
    """`{"H": ["LinkedIn", "https://example.com/ada"]}`: by column letter, the text of the cell and its web address.

    "" if the row has none. A link that is the text of its cell is left out.
    """
    found = {
        letters[index]: [cells[index].strip(), address]
        for index, address in links
        if index < len(letters) and is_web_link(address) and cells[index].strip() not in ("", address)
    }
    return json.dumps(found, ensure_ascii=False) if found else ""


def read_links(text: str, cells: Sequence[str], own: Links, letters: Sequence[str]) -> Links:
    """The listed links of the cells that still have the text that they had (an edited cell has none), and the row's
    own ones, which a person set in a results workbook.

    Raises:
        ValueError: it is not a text of `links_text`.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError(text) from error
    if not isinstance(found, dict) or not all(map(_is_link, found.values())):
        raise ValueError(text)
    listed = ((index, found[letter]) for index, letter in enumerate(letters) if letter in found)
    kept = {index: address for index, (shown, address) in listed if cells[index].strip() == shown}
    return tuple((kept | dict(own)).items())


def _is_link(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
