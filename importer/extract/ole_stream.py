"""Reads one stream of an OLE2 container ([MS-CFB]), in which XLS workbooks lie."""

from __future__ import annotations

import struct
from pathlib import Path

from importer.extract.hazards import DamagedError

_END = 0xFFFFFFFA  # from here on the numbers of sectors mean something else
_IN_HEADER = 109  # FAT sectors that the header lists


def read_stream(path: Path, names: tuple[str, ...]) -> bytes:
    """The stream that has the first of the names that is there, in capitals or not.

    Raises:
        DamagedError: its end is missing.
        KeyError: there is none.
        ValueError, struct.error: the container is damaged.
    """
    return _Container(path.read_bytes()).stream(names)


class _Container:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._size = 1 << struct.unpack_from("<H", content, 30)[0]
        self._small_size = 1 << struct.unpack_from("<H", content, 32)[0]
        if not 64 <= self._size <= 4096 or not 16 <= self._small_size <= 4096:
            raise ValueError("the container's header is damaged")
        self._fat = self._numbers(b"".join(map(self._sector, self._fat_sectors())))
        self._directory = self._chain(struct.unpack_from("<I", content, 48)[0])
        self._cutoff = struct.unpack_from("<I", content, 56)[0]

    def stream(self, names: tuple[str, ...]) -> bytes:
        entries = [self._directory[at : at + 128] for at in range(0, len(self._directory) - 127, 128)]
        named = {_name(entry): entry for entry in reversed(entries)}  # the first of a name counts
        entry = next((named[name.lower()] for name in names if name.lower() in named), None)
        if entry is None:
            raise KeyError(names[0])
        start, size = struct.unpack_from("<II", entry, 116)
        content = self._small(entries[0], start) if size < self._cutoff else self._chain(start)
        if len(content) < size:
            raise DamagedError("the file is cut off")
        return content[:size]

    def _small(self, root: bytes, start: int) -> bytes:
        """A short stream: it lies in small sectors of the root's own stream."""
        container = self._chain(struct.unpack_from("<I", root, 116)[0])
        small_fat = self._numbers(self._chain(struct.unpack_from("<I", self._content, 60)[0]))
        parts = [container[n * self._small_size : (n + 1) * self._small_size] for n in _followed(small_fat, start)]
        return b"".join(parts)

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, _followed(self._fat, start)))

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
    length = struct.unpack_from("<H", entry, 64)[0]
    return entry[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()


def _followed(table: tuple[int, ...], start: int) -> list[int]:
    """The sectors of a chain; a chain that bites its tail is damage."""
    chain: list[int] = []
    while start < _END:
        if start >= len(table) or len(chain) > len(table):
            raise ValueError("a chain of sectors is damaged")
        chain.append(start)
        start = table[start]
    return chain
