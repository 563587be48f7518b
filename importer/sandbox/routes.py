"""The paths of the service (part 4 of its description): which operation and target a request means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Operation(StrEnum):
    """What the sandbox can do."""

    HEALTH = "health"
    QUESTIONS = "questions"
    APPLY = "apply"
    ADD_TO_POOL = "add-candidate"


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, the target that the path names (a job post hash or a pool number, as text), and its methods."""

    operation: Operation
    target: str
    methods: tuple[str, ...]


_PATHS = (
    (re.compile(r"/_sandbox/health()"), Operation.HEALTH, ("GET", "HEAD")),
    (re.compile(r"/api/v1/client/job-posts/([^/]+)/questions/"), Operation.QUESTIONS, ("GET", "HEAD")),
    (re.compile(r"/api/v1/job-posts/([^/]+)/apply/"), Operation.APPLY, ("POST",)),
    (re.compile(r"/api/v1/talent-pools/([^/]+)/add-candidate/"), Operation.ADD_TO_POOL, ("POST",)),
)


def find_route(path: str) -> Route | None:
    """What a path (without its query) means; None for a path that the service does not have."""
    for pattern, operation, methods in _PATHS:
        found = pattern.fullmatch(path)
        if found:
            return Route(operation, found[1], methods)
    return None
