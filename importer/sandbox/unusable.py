"""What stops a sandbox from starting, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable


class SandboxUnusable(Exception):
    """The sandbox cannot start: a file, an address or a setting is wrong. Nothing was served.

    Carries every problem that was found, each one readable line that says what, where and what to do.
    """

    def __init__(self, problems: Iterable[str] | str) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))
