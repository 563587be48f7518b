"""A JSON Schema (2020-12) validator for the keywords that our schema uses; an unknown keyword is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any] | bool
_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
_SAYS_NOTHING = {"$schema", "title", "description", "$defs"}


class Validator:
    """Validates values against a schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema

    def accepts(self, value: Any) -> bool:
        return self._fits(value, self._root)

    def _fits(self, value: Any, schema: Schema) -> bool:
        if isinstance(schema, bool):
            return schema
        rest = {key: rule for key, rule in schema.items() if key not in _SAYS_NOTHING}
        condition = rest.pop("if", None)
        then, otherwise = rest.pop("then", True), rest.pop("else", True)
        if condition is not None and not self._fits(value, then if self._fits(value, condition) else otherwise):
            return False
        return all(self._keeps(value, key, rule, schema) for key, rule in rest.items())

    def _keeps(self, value: Any, key: str, rule: Any, schema: Mapping[str, Any]) -> bool:
        if key == "$ref":
            return self._fits(value, self._root["$defs"][rule.removeprefix("#/$defs/")])
        if key in ("anyOf", "allOf", "oneOf"):
            count = sum(self._fits(value, option) for option in rule)
            return {"anyOf": count > 0, "allOf": count == len(rule), "oneOf": count == 1}[key]
        if key == "type":
            return any(_TYPES[name](value) for name in ([rule] if isinstance(rule, str) else rule))
        if key == "enum":
            return any(value == option and type(value) is type(option) for option in rule)
        return {str: self._text, dict: self._object, list: self._list}.get(type(value), self._number)(
            value, key, rule, schema
        )

    def _text(self, value: str, key: str, rule: Any, schema: Mapping[str, Any]) -> bool:
        if key == "pattern":
            return re.search(rule, value) is not None
        return len(value) >= rule if key == "minLength" else _of_another_type(key)

    def _number(self, value: Any, key: str, rule: Any, schema: Mapping[str, Any]) -> bool:
        return bool(value >= rule) if key == "minimum" else _of_another_type(key)

    def _list(self, value: list[Any], key: str, rule: Any, schema: Mapping[str, Any]) -> bool:
        if key == "items":
            return all(self._fits(item, rule) for item in value)
        return len(value) >= rule if key == "minItems" else _of_another_type(key)

    def _object(self, value: dict[str, Any], key: str, rule: Any, schema: Mapping[str, Any]) -> bool:
        if key == "properties":
            return all(self._fits(value[name], rule[name]) for name in rule if name in value)
        if key == "additionalProperties":
            more = [name for name in value if name not in schema.get("properties", {})]
            return all(self._fits(value[name], rule) for name in more)
        if key == "required":
            return all(name in value for name in rule)
        if key == "dependentRequired":
            return all(needed in value for name in rule if name in value for needed in rule[name])
        if key in ("minProperties", "maxProperties"):
            return len(value) >= rule if key == "minProperties" else len(value) <= rule
        return _of_another_type(key)


_KNOWN = {
    "pattern", "minLength", "minimum", "items", "minItems", "properties", "additionalProperties", "required",
    "dependentRequired", "minProperties", "maxProperties",
}  # fmt: skip


def _of_another_type(key: str) -> bool:
    """Whether a keyword is for another type and is ignored, for example one for texts and a number."""
    assert key in _KNOWN, f"the schema uses {key}, which this check does not know"
    return True
