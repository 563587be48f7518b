"""Texts without personal data: the general text of each code in place of a message, which may quote a cell."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from importer.models import Stop
from importer.problems import Problem
from importer.report.outcomes import WORKBOOK_FILE
from importer.report.summary import ProblemGroup, Summary


class GeneralTexts:
    """The general text of each code in place of a message, which may quote a cell or a response."""

    def __init__(self) -> None:
        from importer.report.problem_codes import areas  # slow to load, rarely needed

        self._codes = {each.code: each for area in areas() for each in area.codes}

    def causes(self, groups: list[ProblemGroup]) -> list[ProblemGroup]:
        """Groups that differ only in their messages become one, with all their places."""
        merged: dict[tuple[str, ...], ProblemGroup] = {}
        for group in groups:
            key = group.code, group.column or "", group.outcome
            other = merged.get(key)
            if other is not None:
                places, count = (*other.places, *group.places), other.count + group.count
                merged[key] = replace(other, count=count, places=places)
            else:
                what, hint = self.of(group.code)
                merged[key] = replace(group, what=what, hint=hint)
        return sorted(merged.values(), key=lambda group: -group.count)

    def of(self, code: str) -> tuple[str, str]:
        """What a code means, and what to do; plain text."""
        known = self._codes.get(code)
        return (_plain(known.cause), _plain(known.action)) if known else ("The message is left out.", "")

    def summary(self, summary: Summary) -> Summary:
        """A summary with the general texts of its problems and its stop."""
        stopped = summary.stopped and Stop(summary.stopped.code, *self.of(summary.stopped.code))
        return replace(summary, problems=tuple(self.causes(list(summary.problems))), stopped=stopped)

    def problem(self, problem: Problem) -> Problem:
        """The problem of a file that cannot be used; a missing column is named by the mapping, not by a cell."""
        what, hint = self.of(problem.code)
        return problem if problem.code == "column-not-found" else replace(problem, message=what, hint=hint)

    def stop(self, summary: Summary) -> str:
        return self.of(summary.stopped.code)[0] if summary.stopped else ""

    def warnings(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        if not texts:
            return ()
        count = f"{len(texts):,} warning{'' if len(texts) == 1 else 's'}"
        return (f"{count} about the file or the mapping as a whole: see {WORKBOOK_FILE}.",)


_MARKDOWN: Final = re.compile(r"`([^`]*)`|\[([^\]]*)\]\([^)]*\)|\*\*([^*]*)\*\*")


def _plain(markdown: str) -> str:
    return _MARKDOWN.sub(lambda found: found[1] or found[2] or found[3] or "", markdown)
