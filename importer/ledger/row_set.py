"""A set of row numbers in little memory."""

from __future__ import annotations


class RowSet:
    """Row numbers, one bit each: a million rows are 125 KB."""

    def __init__(self) -> None:
        self._bits = bytearray()

    def add(self, row: int) -> None:
        if row // 8 >= len(self._bits):
            self._bits.extend(bytes(row // 8 + 4096 - len(self._bits)))
        self._bits[row // 8] |= 1 << row % 8

    def __contains__(self, row: int) -> bool:
        return row // 8 < len(self._bits) and bool(self._bits[row // 8] >> row % 8 & 1)
