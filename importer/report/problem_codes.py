"""The problem codes that this package reports, and docs/problems.md, which explains each of them.

They are kept in problem_codes.toml, which a run only reads for a page without personal data: a message is written where
its problem is found, and a test compares both. `python -m importer.report.problem_codes > docs/problems.md` writes the
page again.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

_HEAD = """\
# Problem codes

Each problem that the importer reports has a code, such as `date-invalid`. This page shows for each code an example
message, the cause and what to do. The importer shows the code

- in square brackets in the summary on the terminal,
- in the column Code of the sheet Summary in `report.xlsx`, and
- under `problems` in `summary.json`.

A problem that ends a command before it reads the rows is shown without its code: search for words of its message.

Codes do not change between versions, but the wording of a message may. Values such as `'31.02.2020'` are examples.

<!-- Written by `python -m importer.report.problem_codes > docs/problems.md`; edit importer/report/problem_codes.toml
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
    listed = tomllib.loads((files("importer.report") / "problem_codes.toml").read_text(encoding="utf-8"))["area"]
    return tuple(
        Area(area["title"], tuple(ProblemCode(code, **texts) for code, texts in area["codes"].items()))
        for area in listed
    )


def page() -> str:
    """The text of docs/problems.md."""
    return "\n".join(_lines(areas()))


def _lines(listed: tuple[Area, ...]) -> Iterator[str]:
    yield _HEAD
    for area in listed:
        yield f"- [{area.title}](#{_anchor(area.title)}): {len(area.codes)} codes"
    for area in listed:
        yield f"\n## {area.title}"
        for each in area.codes:
            yield f"\n### {each.code}\n"
            yield f"    {each.place}: {each.example}\n" if each.place else f"    {each.example}\n"
            yield f"{each.cause}\n"
            yield f"**What to do:** {each.action}"
    yield ""


def _anchor(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.stdout.buffer.write(page().encode())
