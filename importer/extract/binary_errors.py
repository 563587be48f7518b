"""The error values of the binary workbook formats, as a person sees them."""

from __future__ import annotations

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


def error_text(code: int) -> str:
    """The text of an error code of [MS-XLS] 2.5.10."""
    return _ERRORS.get(code, "#N/A")
