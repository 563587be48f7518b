"""What the transports use of other libraries beyond what those promise: named here, and bounded above."""

from __future__ import annotations

import ast
import http.client
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROOM = ROOT / "importer" / "service"

PRIVATE = {"_close_conn", "_read_status"}
"""Methods of http.client.HTTPResponse, which is Python's own: `.ci/run` tries each Python that we support."""

BOUNDED = {"requests", "urllib3", "pycurl"}
"""Subclassed or set up closely: a new major version is looked at before it is taken."""


def private_names(text: str) -> set[str]:
    """Attributes with an underscore of anything but `self`."""
    attributes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
    return {
        node.attr
        for node in attributes
        if re.match(r"_[^_]", node.attr) and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }


def test_private_names_of_other_libraries_are_these() -> None:
    """None of requests, urllib3 or pycurl; of Python's own the two that are named, and it still has them."""
    used = {name for file in ROOM.glob("*.py") for name in private_names(file.read_text("utf-8"))}
    assert used - {"_replace"} == PRIVATE  # a namedtuple's, which is documented
    assert all(callable(getattr(http.client.HTTPResponse, name)) for name in PRIVATE)


def test_the_check_finds_a_private_name() -> None:
    """The check can fail."""
    assert private_names("self._ours; response._theirs; super()._close()") == {"_theirs", "_close"}


def test_libraries_that_we_build_into_have_an_upper_bound() -> None:
    """And each library that the room imports is declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["fast"]]
    names = {re.split(r"[<>=]", line)[0]: line for line in declared}
    assert {name for name in BOUNDED if "<" in names[name]} == BOUNDED
    assert {"certifi", "tenacity", "pydantic"} <= set(names)
