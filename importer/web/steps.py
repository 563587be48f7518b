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
    for number, (name, is_done) in enumerate(_DONE.items(), start=1):
        state = "current" if name == current else "done" if is_done(draft) else "open"
        yield StepLink(name, number, state)


def lacking(draft: Draft, name: str) -> str | None:
    """The step that must be done before this one; None if it is ready."""
    if name in _NEEDS_RUN and draft.run:
        return None
    earlier = NAMES[: NAMES.index(name)]
    return next((step for step in earlier if not _DONE[step](draft)), None)


def before(name: str) -> str | None:
    """The step that the way back leads to."""
    index = NAMES.index(name)
    return NAMES[index - 1] if index else None
