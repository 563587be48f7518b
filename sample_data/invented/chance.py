"""A seeded source of choices, with the same results on every Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Choices based only on `random.random()`: Python promises a stable sequence for no other method of `random`."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, each as likely as the others."""
        return choices[int(self._random() * len(choices))]

    def between(self, lowest: int, highest: int) -> int:
        """A whole number from lowest to highest, both included."""
        return lowest + int(self._random() * (highest - lowest + 1))

    def odds(self, share: float) -> bool:
        """True in this share of the cases."""
        return self._random() < share

    def some(self, choices: Sequence[T], number: int) -> list[T]:
        """So many different choices, in their original order."""
        left = list(choices)
        while len(left) > number:
            left.pop(int(self._random() * len(left)))
        return left
