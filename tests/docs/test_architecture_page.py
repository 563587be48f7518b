"""docs/architecture.md is one page, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_it_is_one_page() -> None:
    """A page is at most 120 lines."""
    assert len(PAGE.splitlines()) <= 120


def test_every_file_that_it_names_exists() -> None:
    """Each name of a Python file is that of a file, in its room if it is named with it."""
    files = [path.relative_to(ROOT / "importer").as_posix() for path in (ROOT / "importer").rglob("*.py")]
    files += [f"tests/{path.name}" for path in (ROOT / "tests").glob("*.py")]
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE))
    assert len(named) > 40
    assert [name for name in sorted(named) if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_every_room_has_its_line() -> None:
    """Each package of importer is a room of the table."""
    rooms = {path.parent.name for path in (ROOT / "importer").glob("*/__init__.py")}
    assert set(re.findall(r"^\| \*\*(\w+)\*\*", PAGE, re.M)) == rooms
