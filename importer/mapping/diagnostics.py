"""Collects what is wrong with a mapping, so that everything is reported at once."""

from __future__ import annotations

from collections.abc import Collection

from importer.errors import UnusableInput
from importer.models import Place, Problem


class Diagnostics:
    """The errors and warnings so far, in the order in which they were found."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self._warnings: list[Problem] = []

    def error(self, code: str, message: str, hint: str, place: Place) -> Problem:
        """Note an error; it is given back for `retract`."""
        error = Problem(code, message, hint, place)
        self.errors.append(error)
        return error

    def retract(self, errors: Collection[Problem]) -> None:
        """Forget these: another one says them all."""
        self.errors = [error for error in self.errors if error not in errors]

    def warning(self, code: str, message: str, hint: str, place: Place) -> None:
        self._warnings.append(Problem(code, message, hint, place))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(self._warnings)

    def raise_errors(self) -> None:
        """Raise UnusableInput with every error once, where there is one."""
        if self.errors:
            raise UnusableInput(tuple(dict.fromkeys(self.errors)))
