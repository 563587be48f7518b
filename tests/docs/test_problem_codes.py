"""docs/problems.md explains every problem code as the code reports it."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import pytest

from tests.docs.messages_in_code import Raised, Template, fits, python_files, raised_in, texts_in
from tests.docs.problems_page import ProblemCode, areas, page
from tests.samples.sample import ROOT

CODES = [each for area in areas() for each in area.codes]
BY_CODE = {each.code: each for each in CODES}
_COMPUTED = {(None,)}  # the message is a variable that no text is assigned to: it comes from another file


@functools.cache
def files() -> dict[str, str]:
    """The files of the package. The sandbox is the service, not the importer: its texts come in its responses."""
    return {name: text for name, text in python_files(ROOT / "importer").items() if not name.startswith("sandbox/")}


@functools.cache
def raised() -> tuple[Raised | str, ...]:
    return tuple(raised_in(files()))


@functools.cache
def all_texts() -> tuple[Template, ...]:
    return tuple(text for text in texts_in(python_files(ROOT / "importer")) if any(text))


def wrong_codes(table: Iterable[str], found: Iterable[Raised | str]) -> dict[str, list[str]]:
    """Codes that are not explained, not raised, or computed."""
    known = set(table)
    found = list(found)
    problems = [each for each in found if isinstance(each, Raised)]
    return {
        "not explained": [f"{each.where}: {each.code}" for each in problems if each.code not in known],
        "not raised": sorted(known - {each.code for each in problems}),
        "computed": [each for each in found if isinstance(each, str)],
    }


def is_reported(code: ProblemCode, found: Iterable[Raised | str]) -> bool:
    """Whether the example is a message that is reported with this code."""
    templates = {one for each in found if isinstance(each, Raised) and each.code == code.code for one in each.templates}
    return any(fits(code.example, one) for one in (all_texts() if templates == _COMPUTED else templates))


def test_the_page_is_generated_from_the_table() -> None:
    """After a change: `python -m tests.docs.problems_page > docs/problems.md`."""
    assert (ROOT / "docs" / "problems.md").read_text(encoding="utf-8") == page()


def test_every_code_is_explained_and_every_explained_code_is_reported() -> None:
    """And every code is written out, so that a search finds the place that reports it."""
    assert wrong_codes(BY_CODE, raised()) == {"not explained": [], "not raised": [], "computed": []}


def test_an_example_is_a_message_of_its_code() -> None:
    """Each example has the words of a message that is reported with its code."""
    assert [f"{code.code}: {code.example}" for code in CODES if not is_reported(code, raised())] == []


def test_the_reasons_of_a_stop_are_marked() -> None:
    """`kind = "stop"` marks the codes that only end a run early."""
    found = [each for each in raised() if isinstance(each, Raised)]
    of_rows = {each.code for each in found if each.by != "Stop"}
    assert {each.code for each in CODES if each.kind == "stop"} == {
        each.code for each in found if each.by == "Stop" and each.code not in of_rows
    }


def test_codes_and_texts_are_written_alike() -> None:
    """A code is in one area only, an example has no full stop, and the other texts are whole sentences."""
    assert len(BY_CODE) == len(CODES)
    assert [each.code for each in CODES if each.example.endswith(".")] == []
    assert [each.code for each in CODES if not (each.cause.endswith(".") and each.action.endswith("."))] == []


# --- the checks can fail ---

PLANTED = """
class Problem:
    code: str
    message: str
    hint: str = ""

_TABLE = {1: ("file-old", "is too old"), 2: ("file-new", "is too new")}

def check(number, name, part):
    code, verb = _TABLE[number]
    Problem(code, f"the file {name} {verb}")
    Problem("row-odd" if part else "row-even", "the row is wrong" + part)
    Problem(f"row-{part}", "computed")
    Problem("empty", f"{name}: {part}")
"""


def test_codes_and_messages_are_read_from_conditions_and_tables() -> None:
    """A code of a table row belongs to the words of that row."""
    found = {each.code: each.templates for each in raised_in({"a.py": PLANTED}) if isinstance(each, Raised)}
    assert found == {
        "file-old": (("the file ", None, " ", "is too old"),),
        "file-new": (("the file ", None, " ", "is too new"),),
        "row-odd": (("the row is wrong", None),),
        "row-even": (("the row is wrong", None),),
        "empty": ((None, ": ", None),),
    }


def test_a_code_that_is_missing_left_over_or_computed_is_found() -> None:
    """Each in its list."""
    assert wrong_codes(["file-old", "row-odd", "row-even", "empty", "gone"], raised_in({"a.py": PLANTED})) == {
        "not explained": ["a.py:11: file-new"],
        "not raised": ["gone"],
        "computed": ["a.py:13: f'row-{part}'"],
    }


@pytest.mark.parametrize(
    ("code", "example", "expected"),
    [
        pytest.param("file-old", "the file a.csv is too old", True, id="the message"),
        pytest.param("file-old", "the file a.csv is too new", False, id="the message of another code"),
        pytest.param("row-odd", "the row is right", False, id="other words"),
        pytest.param("empty", "a.csv: the row is wrong", False, id="no words that are literal in the code"),
    ],
)
def test_an_example_with_other_words_is_found(code: str, example: str, expected: bool) -> None:
    """An example fits only a message of its own code, and not one without words."""
    assert is_reported(ProblemCode(code, example, "", ""), raised_in({"a.py": PLANTED})) is expected
