"""docs/mapping.md shows every key, and each of its examples does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from importer.mapping.read_sections import (
    CELL_KEYS,
    ENTRY_FIELDS,
    ENTRY_SOURCES,
    FILE_SOURCE_KEYS,
    FILTER_KEYS,
    GROUP_KEYS,
    LISTS_KEYS,
    REPEAT_KEYS,
    SOURCE_KEYS,
)
from importer.mapping.read_values import END_KEYS, NAME_KEYS
from importer.mapping.reader import DEFAULTS_KEYS, TOP_KEYS
from tests.docs.page import PAGE, Example, examples, outcome_of

EXAMPLES = tuple(examples())
KEYS = {
    *TOP_KEYS, *SOURCE_KEYS, *GROUP_KEYS, *FILTER_KEYS, *DEFAULTS_KEYS, *NAME_KEYS, *END_KEYS,
    *ENTRY_SOURCES,
    *REPEAT_KEYS, *FILE_SOURCE_KEYS, *CELL_KEYS, *LISTS_KEYS, "order",
    *(name for names in ENTRY_FIELDS.values() for name in names),
}  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line {example.line}")
def test_an_example_does_what_the_page_says(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent, or told, of each row is what stands below the mapping."""
    monkeypatch.chdir(tmp_path)
    assert outcome_of(example, Path()) == example.expected


def test_every_key_is_on_the_page() -> None:
    """No key of the language is left unexplained."""
    text = PAGE.read_text(encoding="utf-8")
    assert [key for key in sorted(KEYS) if not re.search(rf"\b{key}\b[:`]", text)] == []
