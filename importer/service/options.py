"""The `options` of a question, one string, taken apart: its form is not shown by the service description (2.1)."""

from __future__ import annotations

import json

SEPARATORS = ("\n", ";", "|", ",")  # tried in this order after a JSON array


def split_options(text: str | None, separator: str | None = None) -> tuple[str, ...]:
    """The options of a choice question in their order, outer blanks taken off, blank ones left out.

    With a declared separator only that is used. Otherwise a JSON array is read as such (of texts, numbers, or objects
    that name themselves by label, text, value, name or title), else the first of SEPARATORS that occurs.
    """
    if text is None or not text.strip():
        return ()
    if separator is None:
        listed = _json_options(text)
        if listed is not None:
            return listed
        separator = next((sign for sign in SEPARATORS if sign in text.strip()), "\n")
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _json_options(text: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # brackets in brackets
        return None
    if not isinstance(value, list):
        return None
    return tuple(name for name in map(_option_text, value) if name)


def _option_text(value: object) -> str:
    if isinstance(value, dict):
        for key in ("label", "text", "value", "name", "title"):
            if isinstance(value.get(key), str):
                return str(value[key]).strip()
    return str(value).strip()
