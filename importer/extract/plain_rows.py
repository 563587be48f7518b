"""Passes over the rows of a worksheet's XML that are written as nearly all are, and hold nothing that needs care.

One regular expression takes a whole row: it is a large part of a reader's time otherwise. What it takes is well-formed,
has no error, no formula without a stored result and no cell far to the right, and is not hidden. Its cells may have
any style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from importer.extract.hazards import DamagedError, checked_row

ROW_END = b"</row>"

_TEXT = rb"[^<&\x00-\x08\x0b\x0c\x0e-\x1f]*+(?:&(?:amp|lt|gt|quot|apos);[^<&\x00-\x08\x0b\x0c\x0e-\x1f]*+)*+"
_ATTRIBUTES = rb'(?: (?!hidden=)(?:x14ac:)?+\w++="[^"<&]*+")*+'
_TYPE = rb' t="(?:s|n|b|d|str|inlineStr)"'
_STYLE = rb' s="[0-9]{1,6}+"'
_FORMULA = rb"<f" + _ATTRIBUTES + rb"(?:/>|>" + _TEXT + rb"</f>)"
_CONTENT = (
    rb"<v>" + _TEXT + rb"</v>"
    rb"|<is><t(?: xml:space=\"preserve\")?+>" + _TEXT + rb"</t></is>"
    rb"|" + _FORMULA + rb"<v>(?!<)" + _TEXT + rb"</v>"
)
_CELL = (
    rb'<c r="[A-Z]{1,2}+(?P=row)"(?:' + _STYLE + rb")?+(?:" + _TYPE + rb")?+(?:" + _STYLE + rb")?+"
    rb"(?:/>|>(?:" + _CONTENT + rb")?+</c>)"
)
_ROW = re.compile(
    rb'\s*+<row r="(?P<row>[0-9]{1,7}+)"' + _ATTRIBUTES + rb"(?:/>|>(?:" + _CELL + rb")*+</row>)",
)


@dataclass(slots=True)
class RowOrder:
    """The number of the last row: each must come after the one before."""

    last: int = 0

    def note(self, number: int) -> None:
        """Note the next row.

        Raises:
            DamagedError: it is not after the last, so that a reader might keep one of two, or no sheet has so many.
        """
        if number <= self.last:
            raise DamagedError(f"row {number} comes after row {self.last}")
        self.last = checked_row(number)


def other_parts(piece: bytes, order: RowOrder) -> Iterator[bytes]:
    """What is left of a piece without its plain rows, which are noted in `order`: each part ends where a row does.

    The caller notes the rows of a part before it asks for the next.
    """
    at = 0
    while at < len(piece):
        while row := _ROW.match(piece, at):
            order.note(int(row[1]))
            at = row.end()
        if at < len(piece):
            end = piece.find(ROW_END, at)
            end = end + len(ROW_END) if end >= 0 else len(piece)
            yield piece[at:end]
            at = end
