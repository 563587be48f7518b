"""The problem codes with general texts, for reports without personal data and for docs/problems.md.

They are kept in problem_codes.toml; a message is written where its problem is found, and a test compares both.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from typing import Final

from importer.models import Stop
from importer.problems import LinePlace, Problem
from importer.report.outcomes import WORKBOOK_FILE
from importer.report.summary import ProblemGroup, Summary


class GeneralTexts:
    """The general text of each code in place of a message, which may quote a cell or a response."""

    def __init__(self) -> None:
        listed = tomllib.loads((files("importer.report") / "problem_codes.toml").read_text(encoding="utf-8"))
        self._codes = {code: texts for area in listed["area"] for code, texts in area["codes"].items()}

    def of(self, code: str) -> tuple[str, str]:
        """What a code means, and what to do; plain text."""
        known = self._codes.get(code)
        return (_plain(known["cause"]), _plain(known["action"])) if known else ("The message is left out.", "")

    def causes(self, groups: Iterable[ProblemGroup]) -> tuple[ProblemGroup, ...]:
        """Groups that differ only in their messages become one, with all their places."""
        merged: dict[tuple[object, ...], ProblemGroup] = {}
        for group in groups:
            key = group.code, group.column, group.outcome
            if (other := merged.get(key)) is None:
                what, hint = self.of(group.code)
                merged[key] = replace(group, what=what, hint=hint)
            else:
                merged[key] = replace(other, count=other.count + group.count, places=(*other.places, *group.places))
        return tuple(sorted(merged.values(), key=lambda group: -group.count))

    def summary(self, summary: Summary, *, with_stop: bool = False) -> Summary:
        """A summary with the general texts of its problems, its warnings and its stop.

        with_stop: not of a stop whose reason quotes nobody; on this machine, it may name a path.
        """
        stopped = summary.stopped
        if stopped is not None and not (with_stop and stopped.code.startswith(_QUOTES_NOBODY)):
            stopped = Stop(stopped.code, *self.of(stopped.code))
        count = len(summary.warnings)
        of_file = f"{count:,} warning{'' if count == 1 else 's'} about the file or the mapping: see {WORKBOOK_FILE}."
        warnings = (of_file,) if count else ()
        return replace(summary, problems=self.causes(summary.problems), stopped=stopped, warnings=warnings)

    def problem(self, problem: Problem) -> Problem:
        """The problem of a file that cannot be used; one of a line of the mapping or the settings quotes no cell."""
        is_declared = isinstance(problem.place, LinePlace) and problem.place.file.endswith((".yaml", ".yml", ".toml"))
        if is_declared or problem.code.startswith(_QUOTES_NOBODY):
            return problem
        what, hint = self.of(problem.code)
        return replace(problem, message=what, hint=hint)


OF_THE_MACHINE: Final = (
    *("base-url-", "ca-file-", "not-writable", "ledger-", "results-folder-untrusted", "sandbox-start-", "setting"),
    *("token-", "transport-", "trust-"),
)
"""Codes that begin like these are about the settings or this machine, and not about the file."""
_QUOTES_NOBODY: Final = (
    *OF_THE_MACHINE,
    *("column-not-found", "file-empty", "file-not-found", "mapping-unreadable", "run-stalled", "service-unreachable"),
    "time-over",
)
_MARKDOWN: Final = re.compile(r"`([^`]*)`|\[([^\]]*)\]\([^)]*\)|\*\*([^*]*)\*\*")


def _plain(markdown: str) -> str:
    return _MARKDOWN.sub(lambda found: found[1] or found[2] or found[3] or "", markdown)
