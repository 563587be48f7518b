"""What the tests need of a Markdown page: its tables, code, links and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.samples.sample import ROOT

README = ROOT / "README.md"
_BESIDE = (ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))
PAGES = (README, *_BESIDE, *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def table(page: Path, first_heading: str, second_heading: str) -> dict[str, tuple[str, ...]]:
    """The only table of the page whose header starts with these cells: its first cells, with the other cells.

    First cells and headings are given without backticks.
    """
    found = [rows for rows in _tables(page.read_text("utf-8")) if rows[0][:2] == (first_heading, second_heading)]
    [rows] = found
    keys = [row[0].replace("`", "") for row in rows[2:]]
    assert len(set(keys)) == len(keys), f"{page.name} lists a key twice: {keys}"
    return {key: row[1:] for key, row in zip(keys, rows[2:], strict=True)}


def _tables(text: str) -> Iterator[list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    for line in [*_FENCE.sub("", text).splitlines(), ""]:
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in _CELL_BORDER.split(line)[1:-1]))
        elif rows:
            yield rows
            rows = []


def code(page: Path) -> Iterator[str]:
    """Every line of code blocks, and every piece of code in the text."""
    text = page.read_text("utf-8")
    for block in _FENCE.findall(text):
        yield from block.splitlines()
    for span in _SPAN.findall(_FENCE.sub("", text)):
        yield span.replace("\n", " ")


def links(page: Path) -> tuple[str, ...]:
    """The targets of links and pictures that lead to files of this project or to a heading."""
    found = _LINK.findall(_FENCE.sub("", page.read_text("utf-8")))
    return tuple(target for target in found if not re.match(r"[a-z]+:", target))


def anchors(page: Path) -> frozenset[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
