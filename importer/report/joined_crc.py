"""The checksum of two pieces put together, from theirs: zlib has it, and Python does not offer it."""

from __future__ import annotations

from typing import Final

_POLYNOMIAL: Final = 0xEDB88320
_ONE: Final = 1 << 31  # the polynomial 1, lowest power in the highest bit
_X: Final = 1 << 30


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of what has `first`, followed by `size` bytes that have `second`."""
    shift, power, bits = _ONE, _X, size * 8
    while bits:
        if bits & 1:
            shift = _product(power, shift)
        power = _product(power, power)
        bits >>= 1
    return _product(shift, first) ^ second


def _product(one: int, other: int) -> int:
    """Of two polynomials, modulo that of CRC-32."""
    product = 0
    for bit in range(31, -1, -1):
        if one >> bit & 1:
            product ^= other
        other = other >> 1 ^ (_POLYNOMIAL if other & 1 else 0)
    return product
