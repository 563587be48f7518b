"""The JSON Schema of mapping files, which editors use to complete and check them.

It is generated from the models of the reader; `python -m importer.mapping.schema` writes it again.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from importer.mapping.model import MappingFile

SCHEMA_FILE = Path(".importer") / "mapping.schema.json"  # next to the mapping files that `mapping new` writes
_SHIPPED = "mapping.schema.json"


def schema_text() -> str:
    """The shipped schema as JSON (draft 2020-12)."""
    return (files("importer.mapping") / _SHIPPED).read_text(encoding="utf-8")


class _Generator(GenerateJsonSchema):
    """Leaves out null, defaults and titles: an unused key is simply not in the file."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def generated_schema() -> str:
    """The schema, generated from the models."""
    head = {"$schema": GenerateJsonSchema.schema_dialect, "title": "importer mapping file"}
    schema = MappingFile.model_json_schema(schema_generator=_Generator, by_alias=True)
    return json.dumps({**head, **schema}, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name(_SHIPPED).write_text(generated_schema(), encoding="utf-8")
