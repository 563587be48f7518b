"""The hyperlinks of a row as the text of one cell, which results files are written with and read by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

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
