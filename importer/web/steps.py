"""The steps of an import in the browser, and what makes each one done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from importer.web.imports import Draft

_DONE: Final[dict[str, Callable[[Draft], bool]]] = {
    "file": lambda draft: draft.is_read,
    "target": lambda draft: bool(draft.asked),
    "match": lambda draft: bool(draft.mapping),
    "documents": lambda draft: all(name in draft.documents for name in draft.folders),
    "check": lambda draft: bool(draft.check),
    "send": lambda draft: bool(draft.run),
    "result": lambda draft: False,
}
_NEEDS_RUN: Final = ("send", "result")  # they show a run that there is, whatever was changed since
NAMES: Final = tuple(_DONE)


@dataclass(frozen=True, slots=True)
class StepLink:
    """A step in the frame. state: done, current or open."""

    name: str
    number: int
    state: str


def links(draft: Draft, current: str) -> Iterator[StepLink]:
    for number, name in enumerate(_of(draft, current), start=1):
        state = "current" if name == current else "done" if _DONE[name](draft) else "open"
        yield StepLink(name, number, state)


def _of(draft: Draft, current: str) -> list[str]:
    """The steps of a draft: documents are one only where the mapping names files."""
    return [name for name in NAMES if name != "documents" or draft.folders or name == current]


def lacking(draft: Draft, name: str) -> str | None:
    """The step that must be done before this one; None if it is ready."""
    if name in _NEEDS_RUN and draft.run:
        return None
    earlier = NAMES[: NAMES.index(name)]
    return next((step for step in earlier if not _DONE[step](draft)), None)


def before(draft: Draft, name: str) -> str | None:
    """The step that the way back leads to."""
    found = _of(draft, name)
    index = found.index(name)
    return found[index - 1] if index else None
