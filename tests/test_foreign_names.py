"""Private names of other libraries that we use: listed here for each room, with an upper bound on the version."""

from __future__ import annotations

import ast
import codecs
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent

PRIVATE = {
    # Of Python; `.ci/run` tests each version that we support.
    "sources": {
        "_is_text_encoding",  # codecs.CodecInfo
        # Of openpyxl's read-only workbook and its worksheets: what its own reader of a worksheet is made of.
        *("_archive", "_cell_styles", "_date_formats", "_timedelta_formats"),
        *("_get_source", "_shared_strings", "_worksheet_path"),
        "_sheet_visibility",  # of xlrd's book: visibility without loading a sheet
    }
}
OWN = {"_replace", "_asdict", "_exit", "_node", "_check", "_set_by", "_done", "_open"}
OWN |= {"_corrections", "_lines", "_block", "_with", "_in_section", "_without_empty"}
"""Of namedtuple and os, which are documented, and between classes of one of our files."""

BOUNDED = {"requests", "openpyxl", "urllib3", "pycurl", "psycopg[binary]", "XlsxWriter"}
"""Subclassed or configured in depth: a new major version must be reviewed first."""


def private_names(text: str) -> set[str]:
    """Attributes with an underscore, except those of `self`."""
    attributes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
    return {
        node.attr
        for node in attributes
        if re.match(r"_[^_]", node.attr) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }


def test_private_names_of_other_libraries_are_these() -> None:
    """Each room uses the names that are listed for it, and the libraries still have them."""
    used: dict[str, set[str]] = {}
    for file in (ROOT / "importer").rglob("*.py"):
        room = file.relative_to(ROOT / "importer").parts[0]
        used.setdefault(room, set()).update(private_names(file.read_text("utf-8")) - OWN)
    assert {room: names for room, names in used.items() if names} == PRIVATE
    assert codecs.lookup("utf-8")._is_text_encoding is True  # type: ignore[attr-defined]


def test_the_check_finds_a_private_name() -> None:
    """The check can fail."""
    assert private_names("self._ours; response._theirs; super()._close()") == {"_theirs", "_close"}


def test_libraries_that_we_depend_on_closely_have_an_upper_bound() -> None:
    """Each of them is declared with a highest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["fast"], *extras["postgres"]]
    names = {re.split(r"[<>=]", line)[0]: line for line in declared}
    assert {name for name in BOUNDED if "<" in names[name]} == BOUNDED
    assert {"certifi", "tenacity", "pydantic"} <= set(names)
