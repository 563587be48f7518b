"""The container of an XLS ([MS-CFB]): streams in chains of sectors."""

from __future__ import annotations

import struct
from itertools import pairwise

from importer.extract.binary_cells import long, short
from importer.extract.cell_flags import DamagedError, UnknownFormError

_END = 0xFFFFFFFA  # sector numbers from here on are markers
_IN_HEADER = 109  # FAT sectors that the header lists


class CompoundFile:
    """The streams of a container.

    Raises:
        ValueError, struct.error: the container is damaged.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._size = 1 << short(content, 30)
        self._small_size = 1 << short(content, 32)
        if not 64 <= self._size <= 4096 or not 16 <= self._small_size <= 4096:
            raise UnknownFormError("the container's header is damaged")
        self._fat = self._numbers(b"".join(map(self._sector, self._fat_sectors())))
        self._directory = self._chain(long(content, 48))
        self._cutoff = long(content, 56)

    def stream(self, names: tuple[str, ...]) -> bytes:
        """The stream with the first of the names that exists, in any case.

        Raises:
            DamagedError: its end is missing.
            KeyError: no stream has one of the names.
            ValueError, struct.error: the container is damaged.
        """
        entries = [self._directory[at : at + 128] for at in range(0, len(self._directory) - 127, 128)]
        named = {_name(entry): entry for entry in reversed(entries)}  # the first entry of each name wins
        entry = next((named[name.lower()] for name in names if name.lower() in named), None)
        if entry is None:
            raise KeyError(names[0])
        start, size = struct.unpack_from("<II", entry, 116)
        content = self._small(entries[0], start) if size < self._cutoff else self._chain(start)
        if len(content) < size:
            raise DamagedError("the file is cut off")
        return content[:size]

    def _small(self, root: bytes, start: int) -> bytes:
        """A short stream, stored in small sectors of the root's stream."""
        container = self._chain(long(root, 116))
        small_fat = self._numbers(self._chain(struct.unpack_from("<I", self._content, 60)[0]))
        parts = [container[n * self._small_size : (n + 1) * self._small_size] for n in _followed(small_fat, start)]
        return b"".join(parts)

    def _chain(self, start: int) -> bytes:
        sectors = _followed(self._fat, start)
        ends = [at for at, (one, other) in enumerate(pairwise(sectors), 1) if other != one + 1]
        runs = pairwise((0, *ends, len(sectors)))  # mostly one, or few
        return b"".join(
            self._content[(sectors[first] + 1) * self._size : (sectors[end - 1] + 2) * self._size]
            for first, end in runs
            if first < end
        )

    def _sector(self, number: int) -> bytes:
        return self._content[(number + 1) * self._size : (number + 2) * self._size]

    def _fat_sectors(self) -> list[int]:
        listed = list(struct.unpack_from(f"<{_IN_HEADER}I", self._content, 76))
        following, count = struct.unpack_from("<II", self._content, 68)
        for _ in range(min(count, len(self._content) // self._size)):
            if following >= _END:
                break
            *more, following = self._numbers(self._sector(following))
            listed.extend(more)
        return [number for number in listed if number < _END]

    def _numbers(self, content: bytes) -> tuple[int, ...]:
        count = len(content) // 4
        return struct.unpack(f"<{count}I", content[: 4 * count])


def _name(entry: bytes) -> str:
    length = short(entry, 64)
    return entry[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()


def _followed(table: tuple[int, ...], start: int) -> list[int]:
    """The sectors of a chain.

    Raises:
        ValueError: the chain is circular or leaves the table.
    """
    chain: list[int] = []
    while start < _END:
        if start >= len(table) or len(chain) > len(table):
            raise UnknownFormError("a chain of sectors is damaged")
        chain.append(start)
        start = table[start]
    return chain
