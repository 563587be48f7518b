"""A written proposal: the reader accepts it, and it shows a person what to do."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from importer.mapping import ValueSpec, flow_list, read_mapping, resolve, scalar
from importer.problems import Column
from importer.settings import WireFormat
from importer.suggest import write_proposal
from tests.mapping.mapping_files import FILE, HEAD, read
from tests.suggest.builders import asked, proposed, sampled

LEVELS = ("Junior", "Senior")


def test_a_whole_file() -> None:
    """Missing values come first, uncertain values are marked, unused columns are listed, with the closest names."""
    proposal = proposed(
        {
            "Mobil": ["0171 0000001", "+49 171 0000002"],
            "Level": ["Senior", "Sr.", "Guru"],
            "Verfügbar ab": ["01.03.2025", "15.04.2025", "sofort", "-"],
            "Source": ["Fair"],
            "Permitt": ["maybe"],
            "Remarks": ["x"],
        },
        asked("phone", type="phone", text="Phone number"),
        asked("level", "single_choice", options=LEVELS, id=8, text="Level"),
        asked("start", "date", id=9, text="Available from"),
        asked("permit", "yes_no", id=10, text="Work permit", required=True),
        asked("heard", id=11, text="How did you hear about us?"),
        asked("photo", "file_upload", id=12, text="Photo", type="photo"),
    )
    assert (
        write_proposal(proposal, "s.json")
        == """\
# yaml-language-server: $schema=s.json
# Proposed by importer for f.csv: maps its columns to job post 4f2c9a.
# Lines that start with # are comments. Do not change the indentation of other lines.
# Look for "please check" (2): these values are likely, but not certain.
#
# TO DO: these are required, but no column was found for them. Add each to its section.
#   under answers:     permit: ...   Work permit (perhaps Permitt)
#   Write the column name after the colon; for the same value in every row, write {value: "..."}.
version: 1

target: {job_post: "4f2c9a"}

# How to read the file.
source:
  header_row: 1   # the row with the column names
  missing: ["-"]   # read as an empty cell

defaults:
  region: DE   # please check: the country of phone numbers without +
  unused_columns: ignore   # or warn: list columns that this mapping does not use

# The candidate: on the left the field, on the right the column.
candidate:
  email: E-mail
  first_name: First name
  last_name: Last name
  cv: CV
  # terms_of_use: ...

# The answers: on the left the question, on the right the column.
answers:
  phone: Mobil   # Phone number
  level:
    column: Level
    values:
      Sr.: Senior
      # Guru: ...   # in 1 cell; choose an option
  # 1 cell is not a date ('sofort'): fix it, or list it under missing: [...] (Available from)
  start: {column: Verfügbar ab, dates: ["%d.%m.%Y"]}
  heard: Source   # please check: 'Source' is similar, but not identical (How did you hear about us?)
  # permit: ...   required, yes_no: Work permit (perhaps Permitt)
  # photo: ...   file_upload: Photo

# Columns that this mapping does not use:
#   Permitt   (perhaps for permit)
#   Remarks
"""
    )


def test_a_written_proposal_fits_its_header_and_questions() -> None:
    """A complete proposal needs no edit: it can be read and resolved."""
    columns = {
        "Mobile": ["+49 171 0000001"],
        "a: b # c": ["x"],
        "School 1": ["X"],
        "School 2": ["Y"],
        "From 1": ["2014"],
        "From 2": ["10/2015"],
        "Birth date": ["07.10.68"],
    }
    questions = (
        asked("phone", type="phone", required=True),
        asked("odd", text="a: b # c", id=8),
        asked("education", "long_text", id=9),
        asked("birth_date", "date", text="Birth date", id=10),
    )
    FILE.write_text(write_proposal(proposed(columns, *questions)), encoding="utf-8")
    header: tuple[Column, ...] = tuple(
        one.column for one in sampled({**{name: [] for name in ("E-mail", "First name", "Last name", "CV")}, **columns})
    )
    resolved = resolve(read_mapping(FILE), header, questions, WireFormat())
    assert [answer.question.key for answer in resolved.answers] == ["phone", "odd", "education", "birth_date"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip() != ""))
def test_every_text_survives_yaml(text: str) -> None:
    """Any column name can be written: quotes, colons, brackets, line ends, words of YAML."""
    mapping = read(HEAD + f"answers: {{q: {scalar(text)}, r: {{column: {flow_list([text, 'x'])}}}}}\n")
    first, second = (answer.content for answer in mapping.answers)
    assert isinstance(first, ValueSpec)
    assert isinstance(second, ValueSpec)
    assert (first.columns[0], second.columns[0]) == (text, text)


def test_comments_contain_no_line_end() -> None:
    """A header with two lines is written in one comment line, so that it cannot become part of the mapping."""
    text = write_proposal(proposed({"Odd\nanswers: {x: y}": ["1"]}))
    assert "#   Odd answers: {x: y}" in text.splitlines()
    assert Path("m.yaml").write_text(text, encoding="utf-8") > 0
    assert read_mapping(FILE).answers == ()
