"""Reads the sign between the pieces of a cell (`split`, `with`); a line break is written as the word `newline`."""

from __future__ import annotations

from importer.mapping.findings import Findings
from importer.mapping.model import Text
from importer.mapping.nodes import Node
from importer.mapping.shape import read_text

_WORDS = {"newline": "\n"}


def read_sign(node: Node, name: str, findings: Findings) -> str | None:
    """The sign as it stands in cells; None where it is wrong, and told."""
    text = read_text(node, name, findings)
    if text is not None and not text.value:
        findings.mistake("wrong-type", f"{name} is blank", 'write the sign in quotes, as ";"', text.place)
        return None
    return sign_of(text) if text else None


def sign_of(text: Text) -> str:
    """The sign that a text stands for."""
    return _WORDS.get(text.value, text.value)
