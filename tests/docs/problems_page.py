"""docs/problems.md, which explains each problem code: `python -m tests.docs.problems_page > docs/problems.md`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from importer.report.problem_codes import areas

_HEAD = """\
# Problem codes

Each problem has a code, such as `date-invalid`: in square brackets on the terminal, in the column Code of `report.xlsx`
and under `problems` in `summary.json`. This page shows an example message for each, why it appears, and what to do.
Codes do not change between versions, but the wording of a message may.

<!-- Written by `python -m tests.docs.problems_page > docs/problems.md`; edit importer/report/problem_codes.toml
instead. -->
"""


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
