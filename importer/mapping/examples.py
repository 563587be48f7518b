"""Test rows of a mapping, in a YAML beside it: rows as a file would have them, and what the mapping makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from importer.mapping.nodes import Items, Keys, Node, Reader, Text, read_nodes
from importer.mapping.shapes import Filled, Leaf, Section, Texts, invalid, key, read_keys, required_key

TEST_ROWS: Final = ".test.yaml"
"""`acme.test.yaml` has the test rows of `acme.yaml`."""


def _cells(node: Node) -> Keys:
    if not isinstance(node, Keys) or not all(isinstance(cell, Text) for cell in node.values()):
        raise invalid(f"{node.name} must be columns and cells", "write 'COLUMN: CELL', one per line")
    return node


def _rows(node: Node) -> tuple[Keys, ...]:
    return tuple(map(_cells, node if isinstance(node, Items) else [node]))


def _tables(node: Node) -> dict[str, tuple[Keys, ...]]:
    return {str(name): _rows(rows) for name, rows in read_keys(node).items()}


def _listed(node: Node) -> Items:
    if not isinstance(node, Items) or not node:
        raise invalid("rows must be a list", "write '- given: ...' for each row")
    return node


class TestRow(Section):
    """One candidate: its row, or its rows with `group_by:`, and what becomes of it."""

    __test__ = False  # for pytest

    name: Filled | None = key("What it shows.")
    given: Annotated[tuple[Keys, ...], Leaf(_rows, {})] = required_key("add given: with the cells of the row")
    expect: Annotated[Keys, Leaf(read_keys, {})] | None = key("What is sent: fields, and answers by question.")
    problem: Texts | None = key("The codes of the problems that hold it back.")

    @classmethod
    def name_of(cls, node: Node) -> str:
        return "a test row"

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        if ("expect" in node) == ("problem" in node):
            has = "both expect and problem" if "expect" in node else "neither expect nor problem"
            reading.error("keys-conflict", f"a test row has {has}", "write one of them", node.place)


class TestRows(Section):
    """The test rows of a mapping, the file with the questions, and the rows of the other tables of the mapping."""

    __test__ = False

    @classmethod
    def name_of(cls, node: Node) -> str:
        return "the file"

    questions: Filled | None = key("A file beside this one, written by importer questions JOB_POST --json.")
    tables: Annotated[dict[str, tuple[Keys, ...]], Leaf(_tables, {})] = Field(
        default={}, description="The rows of other sheets and files, by their names in the mapping."
    )
    rows: Annotated[tuple[TestRow, ...], BeforeValidator(_listed)] = required_key("add rows: with test rows")


def read_test_rows(path: Path) -> TestRows:
    """The test rows of a file. Raises UnusableInput: with every error of the file, each at its line and column."""
    reading = Reader((path.parent,))
    return TestRows.read(read_nodes(path, reading), reading)
