"""The texts of all pages, from texts.toml: the one file to translate."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class PageText(str):
    """A text of a page; called with values, with these in the places that it names."""

    __slots__ = ()

    def __call__(self, **values: Any) -> str:
        return self.format(**values)


class Counted:
    """A text with a number in it: one form for 1, another for the others."""

    def __init__(self, one: str, other: str) -> None:
        self._one, self._other = one, other

    def __call__(self, *, count: int, **values: Any) -> str:
        return (self._one if count == 1 else self._other).format(count=count, **values)


def read_texts() -> SimpleNamespace:
    """The texts by page, as attributes: `texts.file.title`."""
    found = tomllib.loads((Path(__file__).parent / "texts.toml").read_text("utf-8"))
    return SimpleNamespace(**{page: SimpleNamespace(**dict(_texts(texts))) for page, texts in found.items()})


def _texts(page: dict[str, Any]) -> Any:
    for key, text in page.items():
        yield key, Counted(**text) if isinstance(text, dict) else PageText(text)
