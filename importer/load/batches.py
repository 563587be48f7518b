"""Cuts a stream into batches without making its first items wait for a whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

_LARGEST = 32  # making them ready takes a few milliseconds, in which no new row is sent


def growing_batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Batches of 1, 2, 4, ... 32, 32, ...; reads no further than the batch it gives."""
    stream = iter(items)
    size = 1
    while batch := list(islice(stream, size)):
        yield batch
        size = min(size * 2, _LARGEST)
