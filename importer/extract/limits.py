"""What reading one file may cost, so that a hostile or broken one ends in a message and not in a dead machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The limits of one `open_sheet`.

    `cell_characters`: the longest cell of a CSV. The others hold for the child process that reads a workbook:
    `seconds` of time, `memory` in bytes, `unpacked` bytes of what the workbook unpacks to.
    """

    cell_characters: int = 16 << 20
    seconds: float = 120.0
    memory: int = 2 << 30
    unpacked: int = 2 << 30


DEFAULT_LIMITS = ReadingLimits()
