"""docs/mapping.md shows every key, and each of its examples is true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from importer.mapping.schema import schema_text
from tests.docs.page import PAGE, Example, examples, outcome_of

EXAMPLES = tuple(examples())


def _keys(schema: Any) -> Iterator[str]:
    """Every key in the schema of mapping files, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from _keys(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _keys(inner)


SCHEMA = json.loads(schema_text())
_ELSEWHERE = ("QuestionSnapshot", "Candidate")  # written by importer; defined by the service description
KEYS = sorted(
    {*SCHEMA["properties"], *_keys([shape for name, shape in SCHEMA["$defs"].items() if name not in _ELSEWHERE])}
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line {example.line}")
def test_an_example_does_what_the_page_says(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent or reported for each row is what the page shows below the mapping."""
    monkeypatch.chdir(tmp_path)
    assert outcome_of(example, Path()) == example.expected


def test_every_key_is_on_the_page() -> None:
    """The page explains every key."""
    text = PAGE.read_text(encoding="utf-8")
    assert [key for key in KEYS if not re.search(rf"\b{key}\b[:`]", text)] == []
