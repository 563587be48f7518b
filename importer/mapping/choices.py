"""Finds the option that a text means: its own spelling first, then the one that folds alike."""

from __future__ import annotations

from collections.abc import Sequence

from importer.text.normalize import normalize


class Options:
    """The options of a choice. Two that fold alike are told apart by their exact spelling only."""

    def __init__(self, options: Sequence[str]) -> None:
        self.spelled = tuple(options)
        self._exact = frozenset(options)
        self._folded: dict[str, str | None] = {}
        for option in options:
            folded = normalize(option)
            self._folded[folded] = None if folded in self._folded else option

    def find(self, text: str) -> str | None:
        """The option in its own spelling, or None."""
        return text if text in self._exact else self._folded.get(normalize(text))
