"""Collects what is wrong with a mapping, so that everything is reported at once."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from importer.errors import UnusableInput
from importer.models import Place, Problem


class Diagnostics:
    """The mistakes and warnings found so far, in the order in which they were found.

    folder: that of the mapping file, below which the files lie that it and its shared parts name.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._mistakes: list[Problem] = []
        self._warnings: list[Problem] = []

    def error(self, code: str, message: str, hint: str, place: Place) -> Problem:
        """Note a mistake; it is given back for `retract`."""
        mistake = Problem(code, message, hint, place)
        self._mistakes.append(mistake)
        return mistake

    def retract(self, mistakes: Collection[Problem]) -> None:
        """Forget these: another one says them all."""
        self._mistakes = [mistake for mistake in self._mistakes if mistake not in mistakes]

    def warning(self, code: str, message: str, hint: str, place: Place) -> None:
        self._warnings.append(Problem(code, message, hint, place))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(self._warnings)

    def raise_errors(self) -> None:
        """Raise UnusableInput with every mistake once, where there is one."""
        if self._mistakes:
            raise UnusableInput(tuple(dict.fromkeys(self._mistakes)))
