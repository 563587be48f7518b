"""The JSON Schema of mapping files, by which an editor completes and checks them while they are written."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

SCHEMA_FILE = Path(".importer") / "mapping.schema.json"  # beside the mapping files that `mapping new` writes


def schema_text() -> str:
    """The schema as it is shipped: draft 2020-12, JSON."""
    return (files("importer.mapping") / "mapping.schema.json").read_text(encoding="utf-8")
