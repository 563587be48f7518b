"""A mapping file changed value by value: what a person wrote beside the value stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from importer.suggest import CannotChange, MappingText

TEXT = """\
# Our mapping, kept by Ada.
version: 1
target: {job_post: 4f2c9a}   # Data Analyst

# Look for "please check" (2): these values are likely, but not certain.
defaults:
  unused_columns: ignore

candidate:
  email: E-mail        # the private one
  first_name: First
  # a comment between
  last_name:   Last

# The answers
answers:
  city: [Town, City]   # please check: the header is similar
  # please check: a long reason that did not fit on the line, and therefore stands above it, in
  # two lines
  level:
    column: Level   # from the old system
    values:
      Sr: Senior   # 3 cells
      # Chef: ...   # in 2 cells; choose an option
    optional: error
  no: 012
  # photo: ...   file_upload: Your photo

# Columns that this mapping does not use:
#   Photo   (perhaps for photo)
#   Other
questions_seen:
  city: {text: City, answer_type: short_text}
"""

Change = Callable[[MappingText], MappingText]


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        pytest.param(
            lambda text: text.put("candidate", "last_name", ["last_name: Surname"]),
            "  last_name:   Last\n",
            "  last_name: Surname\n",
            id="a value is replaced",
        ),
        pytest.param(
            lambda text: text.put("answers", "photo", ["photo: Photo   # new"]),
            "  no: 012\n",
            "  no: 012\n  photo: Photo   # new\n",
            id="a value is added behind the last one",
        ),
        pytest.param(
            lambda text: text.change("candidate", "email", {"default": "no"}),
            "  email: E-mail        # the private one\n",
            '  email:               # the private one\n    column: E-mail\n    default: "no"\n',
            id="a key is added to a column alone",
        ),
        pytest.param(
            lambda text: text.change("answers", "level", {"values": {"Sr": "Senior", "Chef": "Lead"}}),
            "      Sr: Senior   # 3 cells\n      # Chef: ...   # in 2 cells; choose an option\n",
            "      Sr: Senior\n      Chef: Lead\n",
            id="a value table is replaced, the keys beside it stay",
        ),
        pytest.param(
            lambda text: text.drop("candidate", "first_name"), "  first_name: First\n", "", id="a value is removed"
        ),
        pytest.param(
            lambda text: text.change("answers", "no", {"column": None, "value": "012"}),
            "  no: 012\n",
            '  no:\n    value: "012"\n',
            id="a text that looks like a number stays a text",
        ),
    ],
)
def test_only_the_lines_of_the_value_change(change: Change, before: str, after: str) -> None:
    """Comments, quotes, blanks and the order of everything else are as they were."""
    assert before in TEXT
    assert change(MappingText(TEXT)).text == TEXT.replace(before, after)


def test_a_list_of_columns_keeps_its_comment() -> None:
    """Also if a key is added beside it."""
    changed = MappingText(TEXT).change("answers", "city", {"missing": ["-", "?"]})
    assert changed.values("answers")["city"] == {"column": ["Town", "City"], "missing": ["-", "?"]}
    assert "# please check: the header is similar" in changed.text


def test_what_was_noted_for_review_is_read_and_removed() -> None:
    """At the end of the line or above it; the count at the top follows."""
    text = MappingText(TEXT)
    assert [text.review("answers", name) for name in ("city", "level", "no")] == [
        "the header is similar",
        "a long reason that did not fit on the line, and therefore stands above it, in two lines",
        None,
    ]
    confirmed = text.confirm("answers", "level")
    assert "(1): these values" in confirmed.text
    assert confirmed.review("answers", "level") is None
    assert "  level:\n    column: Level   # from the old system\n" in confirmed.text
    confirmed = confirmed.confirm("answers", "city")
    assert "Look for" not in confirmed.text
    assert "  city: [Town, City]\n" in confirmed.text


def test_all_notes_of_a_value_are_read_and_removed() -> None:
    """Several ones with their reasons, also above a key inside it and without a reason; other comments stay."""
    text = MappingText(
        "defaults:\n  region: TR   # Please check\nanswers:\n  edu:\n    education:\n"
        "      # please check: the dates are\n      # ambiguous\n      start_date: From   # please check: similar\n"
        "      degree:\n        column: Degree\n        values:\n          Sr: x   # 3 cells, please check\n"
        "          # Jr: y   # please check\n"
    )
    assert text.unreviewed == ("defaults/region", "answers/edu")
    assert (text.review("defaults", "region"), text.review("answers", "edu")) == (
        "",
        "the dates are ambiguous; similar",
    )
    text = text.confirm("defaults", "region").confirm("answers", "edu")
    assert text.unreviewed == ()
    assert text.text == (
        "defaults:\n  region: TR\nanswers:\n  edu:\n    education:\n      start_date: From\n      degree:\n"
        "        column: Degree\n        values:\n          Sr: x   # 3 cells\n          # Jr: y   # please check\n"
    )


def test_notes_about_open_questions_go_with_the_choice() -> None:
    """The commented line of a question and of its column are removed, other comments stay."""
    text = MappingText(TEXT).put("answers", "photo", ["photo: Photo"]).forget("photo", ["Photo"]).text
    assert "# photo: ..." not in text
    assert "#   Photo" not in text
    assert "#   Other\n" in text


@pytest.mark.parametrize(
    "text", ["version: 1\n", "version: 1\n# answers:\n", "version: 1\nanswers:\n", "version: 1\nanswers: {}\n"]
)
def test_the_first_value_of_a_section(text: str) -> None:
    """The section is added, or filled."""
    found = MappingText(text).put("answers", "city", ["city: City"])
    assert found.text == "version: 1\nanswers:\n  city: City\n"
    assert found.put("answers", "x", ["x: Y"]).text.endswith("  city: City\n  x: Y\n")


def test_a_section_in_braces_gets_lines() -> None:
    """So that one of its values can be changed."""
    found = MappingText("version: 1\nanswers: {city: City, level: {column: Level}}\nlast: x\n")
    changed = found.put("answers", "city", ["city: Town"])
    assert changed.text == "version: 1\nanswers:\n  city: Town\n  level: {column: Level}\nlast: x\n"


def test_what_only_a_person_can_change_is_said() -> None:
    """A value with an alias is not changed by half; nor is a file that is not YAML."""
    text = MappingText("answers:\n  one: &a {column: A}\n  two: {column: B, values: *a}\n")
    with pytest.raises(CannotChange, match="change it in the mapping file"):
        text.change("answers", "two", {"default": "x"})
    with pytest.raises(CannotChange, match="not valid YAML"):
        MappingText("answers: [")


def test_a_line_is_known_by_its_value() -> None:
    """The number of a line of the file gives the value that it belongs to."""
    text = MappingText(TEXT)
    lines = TEXT.splitlines()
    assert text.at(lines.index("    optional: error") + 1) == ("answers", "level")
    assert text.at(lines.index("  first_name: First") + 1) == ("candidate", "first_name")
    assert text.at(2) is None
