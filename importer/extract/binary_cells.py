"""The cells of XLS: error codes, short numbers, dates, and how plain cells look."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from importer.extract.cell_flags import CellFlags, CellStyles
from importer.extract.date_cells import corrected_date

COLUMNS_HIDDEN = 0x01
# The error codes, as a person sees them.
_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}


Record = tuple[int, bytes]  # type and content


def short(body: bytes, at: int = 0) -> int:
    """The two bytes there, as a number."""
    number: int = struct.unpack_from("<H", body, at)[0]
    return number


def long(body: bytes, at: int = 0) -> int:
    """The four bytes there, as a number."""
    number: int = struct.unpack_from("<I", body, at)[0]
    return number


def error_text(code: int) -> str:
    """The text of an error code of [MS-XLS] 2.5.10."""
    return _ERRORS.get(code, "#N/A")


def rk_number(coded: int) -> float:
    """A number in the short form of [MS-XLS] 2.5.217."""
    is_whole, is_cents = coded & 2, coded & 1
    if is_whole:
        number = float((coded - (1 << 32) if coded >> 31 else coded) >> 2)
    else:
        (number,) = struct.unpack("<d", struct.pack("<II", 0, coded & ~3))
    return number / 100 if is_cents else number


def note_date(serial: float, styles: CellStyles, style: int, row: int, index: int, flags: CellFlags) -> None:
    """Note what is read of the number of a cell with the format of a date, if readers return it wrongly."""
    if (value := corrected_date(serial, styles, style)) is not None:
        flags.set_value(row, index, value)


# --- plain cells ----------------------------------------------------------------------------------

# Cells that calamine returns as they are need no look. One expression finds where a run of them ends, which takes a
# tenth of the time.
DATE_NUMBER = rb".{6}(?:[\x50-\xff]\x40|[\x00-\x45]\x41)"  # from 64 to 2,883,583: a day for every reader
NOTHING = re.compile(rb"(?!)")
_WHOLE = b"[" + re.escape(bytes(range(2, 256, 4))) + b"]"
DATE_RK = _WHOLE + rb"(?!\x00\x00).[\x00-\xaf]\x00"  # the same as a whole number in the short form


def plain_number_cell(styles: CellStyles, number: bytes, date: bytes) -> bytes:
    """The style of a cell and its number: any one without a format, or a date."""
    undated, unformatted = style_but((*styles.formats, *styles.dates)), style_but(styles.formats)
    return rb"(?:" + undated + number + rb"|" + unformatted + date + rb")"


def style_but(styles: Iterable[int]) -> bytes:
    """A style that is none of these."""
    listed = b"|".join(re.escape(style.to_bytes(2, "little")) for style in styles)
    return (b"(?!" + listed + b")" if listed else b"") + b".."
