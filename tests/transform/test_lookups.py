"""A value that is looked up in another file."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from importer.mapping import ResolvedMapping
from importer.models import Application, Question
from importer.problems import UnusableInput
from importer.transform import join_warnings, trace_row, transform_row
from tests.transform.cells import answer_of, mapping_of, problems_of, question, row

_THERE = "file: {name: there.csv, key: Person, equals: ID}"


def _mapping(
    there: str, answer: str = "column: City", asked: Question | None = None, extra: str = ""
) -> ResolvedMapping:
    """The answer is looked up in a file with the columns Person, City and Note."""
    files = {"there.csv": f"Person,City,Note\n{there}"}
    return mapping_of(f"{{{answer}, {_THERE}}}", ("ID",), asked, extra=extra, files=files)


@pytest.mark.parametrize(
    ("there", "answer", "sent"),
    [
        pytest.param("7,İzmir,\n8,Van,\n", "column: City", "İzmir", id="one row"),
        pytest.param("8,Van,\n", "column: City", None, id="no row"),
        pytest.param("8,Van,\n", "column: City, default: unknown", "unknown", id="no row, and a default"),
        pytest.param(",Van,\n", "column: City", None, id="no row, and a blank key there"),
        pytest.param("7,,\n7,İzmir,\n7, İzmir,\n", "column: City", "İzmir", id="equal and blank values"),
        pytest.param("7,,Van\n", "column: [City, Note]", "Van", id="second column"),
        pytest.param("7,35,Van\n", "join: [Note, City]", "Van 35", id="joined"),
        pytest.param("7,35,\n", "column: City, values: {'35': İzmir}", "İzmir", id="value table"),
    ],
)
def test_a_value_of_another_file(there: str, answer: str, sent: str | None) -> None:
    """The row there with the candidate's key has the value; without such a row it is blank."""
    found = answer_of(_mapping(there, answer), row("7"))
    assert (found and found.answer) == sent


@pytest.mark.parametrize(
    ("there", "asked", "problems"),
    [
        pytest.param(
            "7,İzmir,\n8,x,\n7,Van,\n7,Bursa,\n7,Van,\n",
            question(),
            [
                "there.csv, row 4, column \"City\": 'Van' differs from 'İzmir' in row 2, which has the same "
                "'Person'; keep one of these rows, or correct the key",
                "there.csv, row 5, column \"City\": 'Bursa' differs from 'İzmir' in row 2, which has the same "
                "'Person'; keep one of these rows, or correct the key",
            ],
            id="different values",
        ),
        pytest.param(
            "7,many,\n",
            question("integer"),
            [
                "there.csv, row 2, column \"City\": 'many' is not a whole number; write it in digits; to "
                "leave it out, add it under missing: in m.yaml:4"
            ],
            id="an invalid value",
        ),
        pytest.param(
            "007,İzmir,\n",
            question(),
            [
                "c.csv, row 5, column \"ID\": '7' is not in the column 'Person' of there.csv, but '007' is; if both "
                "are of one person, write them alike; if not, clear this cell: nothing is looked up for it then"
            ],
            id="a key with zeros in front",
        ),
        pytest.param(
            "8,x,\n",
            question(required=True),
            [
                "c.csv, row 5, column \"ID\": the required question q has no answer; in there.csv, fill in 'City' in a "
                "row with '7' as 'Person'"
            ],
            id="no row for a required question",
        ),
    ],
)
def test_a_problem_of_another_file(there: str, asked: Question, problems: Sequence[str]) -> None:
    """A problem is reported at its own cell in that file; what is missing there, at the key of the candidate."""
    assert problems_of(_mapping(there, asked=asked), row("7")) == problems


def test_an_error_in_another_column_there_does_not_matter() -> None:
    """Only the cells that are looked up, and the key, must be readable."""
    sent = answer_of(_mapping("7,İzmir,=A1\n"), row("7"))
    assert sent
    assert sent.answer == "İzmir"


def test_an_ambiguous_optional_answer_is_left_out() -> None:
    """With `optional: leave_out` the row is valid without the answer."""
    mapping = _mapping("7,İzmir,\n7,Van,\n", "optional: leave_out, column: City")
    body = transform_row(row("7"), mapping)
    assert isinstance(body, Application)
    assert (body.answers, [problem.code for problem in body.left_out]) == ((), ["lookup-ambiguous"])


def test_the_trace_shows_the_cell_there() -> None:
    """What will be sent is shown beside the cell of the other file that it comes from."""
    mapping = _mapping("8,Van,\n7,İzmir,\n")
    body = transform_row(row("7"), mapping)
    assert isinstance(body, Application)
    (cell,) = trace_row(row("7"), mapping)[-1].cells
    assert (str(cell.place), cell.text) == ('there.csv, row 3, column "City"', "İzmir")


def test_a_lookup_that_never_matches_is_a_warning() -> None:
    """If no key of the source is in the file, the columns are most likely wrong; unmatched rows there are normal."""
    rows = [row("7"), row("8", number=6)]
    assert [str(one) for one in join_warnings(_mapping("007,Van,\n"), lambda: rows)] == [
        "no row of the source matches a row of there.csv, so nothing is looked up there; check 'Person' there, and "
        "'ID' in the source"
    ]
    assert [str(one) for one in join_warnings(_mapping("8,Van,\n9,Bursa,\n"), lambda: rows)] == [
        "1 key is not in there.csv, such as '7': nothing is looked up for them; check 'Person' there, and 'ID' in the "
        "source"
    ]
    assert join_warnings(_mapping("7,Van,\n8,Bursa,\n9,Izmir,\n"), lambda: rows) == ()


# --- values of entries ------------------------------------------------------------------------------

_CODES = "Code,Degree\n1,masters_degree\n2,bachelors_degree\n3,diploma\n4,doctorate_degree\n4,masters_degree\n"
_DEGREES = [("MIT", "masters_degree"), ("ETH", "bachelors_degree"), ("TU", None)]
_LOOKUP = "{column: Degree, file: {name: codes.csv, key: Code, equals: '%s'}}"


def _entries(source: str, equals: str, names: Sequence[str]) -> ResolvedMapping:
    """Entries with a school, and a degree that is looked up by its code."""
    school = "School {n}" if "{n}" in equals else "School"
    fields = f"school_name: '{school}', degree: {_LOOKUP % equals}"
    jobs = "Person,School,Code\n7,MIT,1\n7,ETH,2\n7,TU,9\n"
    answer = ", ".join(filter(None, (source, fields)))
    return mapping_of(
        f"{{education: {{{answer}}}}}", names, question("long_text"), files={"codes.csv": _CODES, "jobs.csv": jobs}
    )


@pytest.mark.parametrize(
    ("source", "equals", "names", "cells"),
    [
        pytest.param("", "Code", ["School", "Code"], ["MIT", "1"], id="in the row"),
        pytest.param(
            "repeat: '{n}'",
            "Code {n}",
            ["School 1", "Code 1", "School 2", "Code 2", "School 3", "Code 3"],
            ["MIT", "1", "ETH", "2", "", ""],
            id="numbered",
        ),
        pytest.param("file: {name: jobs.csv, key: Person, equals: ID}", "Code", ["ID"], ["7"], id="in a file"),
        pytest.param(
            "cell: {column: All, split: ';', pattern: '(?P<School>[^,]*),(?P<Code>.*)'}", "Code", ["All"],
            ["MIT,1;ETH,2"], id="in one cell",
        ),
        pytest.param("json: All", "Code", ["All"], ['[{"School": "MIT", "Code": 1}, {"School": "ETH", "Code": 2}]'],
                     id="in a list of objects"),
        pytest.param("lists: {split: ';'}", "Code", ["School", "Code"], ["MIT;ETH", "1;2"], id="in lists"),
    ],
)  # fmt: skip
def test_a_value_of_each_entry(source: str, equals: str, names: list[str], cells: list[str]) -> None:
    """Each entry has the value of the row with its own key, wherever the entries come from."""
    found = answer_of(_entries(source, equals, names), row(*cells))
    assert found
    entries = json.loads(str(found.answer))
    assert {entry["school_name"]: entry.get("degree") for entry in entries} == dict(_DEGREES[: len(entries)])


def test_an_entry_with_a_key_that_is_not_there() -> None:
    """It has no such value; a key alone is an entry without a name only if something is found."""
    mapping = _entries("repeat: '{n}'", "Code {n}", ["School 1", "Code 1", "School 2", "Code 2"])
    found = answer_of(mapping, row("MIT", "9", "", "9"))
    assert found
    assert found.answer == '[{"school_name": "MIT"}]'
    assert problems_of(mapping, row("MIT", "9", "", "1")) == [
        'c.csv, row 5, column "School 2": the entry has no school_name; fill it in, or clear the cells of the entry'
    ]


def test_problems_of_a_value_of_an_entry() -> None:
    """They are at the cells of the other file, also if the entry itself is a part of a cell."""
    source = "cell: {column: All, split: ';', pattern: '(?P<School>[^,]*),(?P<Code>.*)'}"
    mapping = _entries(source, "Code", ["All"])
    assert [problem.split(";")[0] for problem in problems_of(mapping, row("MIT,3;ETH,4;,1"))] == [
        "codes.csv, row 4, column \"Degree\": 'diploma' is not a degree that the service accepts",
        "codes.csv, row 6, column \"Degree\": 'masters_degree' differs from 'doctorate_degree' in row 5, which has the "
        "same 'Code'",
        'c.csv, row 5, column "All": the entry has no school_name',
    ]


def test_the_trace_of_a_value_of_an_entry() -> None:
    """What is sent is shown beside the cell of the other file, and the rest of the entry beside its own cell."""
    mapping = _entries("cell: {column: All, split: ';', pattern: '(?P<School>[^,]*),(?P<Code>.*)'}", "Code", ["All"])
    body = transform_row(row("MIT,1"), mapping)
    assert isinstance(body, Application)
    ((school, degree),) = trace_row(row("MIT,1"), mapping)[-1].entries
    assert [(str(cell.place), cell.text) for cell in (*school.cells, *degree.cells)] == [
        ('c.csv, row 5, column "All"', "MIT"),
        ('codes.csv, row 2, column "Degree"', "masters_degree"),
    ]


def test_a_lookup_of_entries_that_never_matches_is_a_warning() -> None:
    """Otherwise those that match nothing are."""
    mapping = _entries("repeat: '{n}'", "Code {n}", ["School 1", "Code 1", "School 2", "Code 2"])
    assert [str(one) for one in join_warnings(mapping, lambda: [row("MIT", "01", "", "")])] == [
        "no row of the source matches a row of codes.csv, so nothing is looked up there; check 'Code' there, and "
        "'Code 1' in the source"
    ]
    assert [str(one) for one in join_warnings(mapping, lambda: [row("MIT", "01", "ETH", "2")])] == [
        "1 key is not in codes.csv, such as '01': nothing is looked up for them; check 'Code' there, and 'Code 1' in "
        "the source"
    ]
    assert join_warnings(mapping, lambda: [row("MIT", "1", "ETH", "2")]) == ()


@pytest.mark.parametrize(
    ("lookup", "problem"),
    [
        pytest.param(
            "column: Degre, file: {name: codes.csv, key: Code, equals: Code}",
            "the column 'Degre' does not exist in 'codes.csv'; did you mean 'Degree'?",
            id="column there",
        ),
        pytest.param(
            "column: Degree, file: {name: codes.csv, key: Cod, equals: Code}",
            "the column 'Cod' does not exist in 'codes.csv'; did you mean 'Code'?",
            id="key there",
        ),
        pytest.param(
            "column: Degree, file: {name: codes.csv, key: Code, equals: Codes}",
            "the column 'Codes' does not exist; did you mean 'Code'?",
            id="column of the entry",
        ),
    ],
)
def test_a_column_of_a_lookup_that_does_not_exist(lookup: str, problem: str) -> None:
    """Columns are checked in the table that they belong to."""
    answer = f"{{education: {{school_name: School, degree: {{{lookup}}}}}}}"
    with pytest.raises(UnusableInput) as refused:
        mapping_of(answer, ["School", "Code"], question("long_text"), files={"codes.csv": _CODES})
    (found,) = refused.value.problems
    assert str(found).partition(": ")[2] == problem


def test_a_missing_word_is_no_key() -> None:
    """The row there with this word would be of everybody who has no ID."""
    mapping = _mapping("-,Van,\n7,Bursa,\n", extra='source: {missing: ["-"]}\n')
    assert [answer_of(mapping, row(key)) is None for key in ("-", "7")] == [True, False]
