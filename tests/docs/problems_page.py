"""docs/problems.md, which explains each problem code: `python -m tests.docs.problems_page > docs/problems.md`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tests.samples.sample import ROOT

_HEAD = """\
# Problem codes

Each problem has a code, such as `date-invalid`: in square brackets on the terminal, in the column Code of `report.xlsx`
and under `problems` in `summary.json`. This page shows an example message for each, why it appears, and what to do.
Codes do not change between versions, but the wording of a message may.

<!-- Written by `python -m tests.docs.problems_page > docs/problems.md`; edit importer/report/problem_codes.toml
instead. -->
"""


@dataclass(frozen=True, slots=True)
class ProblemCode:
    """One code. example: a message without its place and hint; cause, action: Markdown.

    kind: `stop` is the reason why a run ended early, `problem` is anything else. place: shown in front of the message,
    where it would not be clear without.
    """

    code: str
    example: str
    cause: str
    action: str
    kind: Literal["problem", "stop"] = "problem"
    place: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """A section of the page and its codes, in their order."""

    title: str
    codes: tuple[ProblemCode, ...]


def areas() -> tuple[Area, ...]:
    """All codes, as problem_codes.toml lists them."""
    listed = tomllib.loads((ROOT / "importer" / "report" / "problem_codes.toml").read_text(encoding="utf-8"))["area"]
    return tuple(
        Area(area["title"], tuple(ProblemCode(code, **texts) for code, texts in area["codes"].items()))
        for area in listed
    )


def page() -> str:
    """The text of docs/problems.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    listed = areas()
    yield _HEAD
    for area in listed:
        anchor = re.sub(r"[^\w -]", "", area.title.lower()).replace(" ", "-")
        yield f"- [{area.title}](#{anchor}): {len(area.codes)} codes"
    for area in listed:
        yield f"\n## {area.title}"
        for each in area.codes:
            place = f"{each.place}: " if each.place else ""
            example = f"{place}{each.example}".replace("`", "")
            yield f"\n### {each.code}\n`{example}`  \n{each.cause} **What to do:** {each.action}"
    yield ""


if __name__ == "__main__":
    sys.stdout.buffer.write(page().encode())
