"""Each answer with the cells that it comes from."""

from __future__ import annotations

import pytest

from importer.mapping import ResolvedMapping
from importer.models import Application, Question, Row
from importer.transform import TracedAnswer, trace_row, transform_row
from tests.transform.cells import mapping_of, question, row

_LONG = question("long_text")


def _answer(mapping: ResolvedMapping, source: Row) -> TracedAnswer:
    """The trace of the one question."""
    body = transform_row(source, mapping)
    assert isinstance(body, Application), body
    return trace_row(source, mapping)[-1]


def _line(answer: TracedAnswer) -> str:
    """`E5 yes + F5 no -> True (note; note)`."""
    cells = " + ".join(
        f"{cell.place.column.letter if cell.place.column else ''}{cell.place.row} {cell.text}" for cell in answer.cells
    )
    return f"{cells} -> {answer.sent}"


@pytest.mark.parametrize(
    ("answer", "asked", "cells", "line"),
    [
        pytest.param("A", question(), ("x", ""), "E5 x -> x", id="as it is"),
        pytest.param("A", question(), ("", ""), " -> None", id="blank"),
        pytest.param("{value: x}", question(), ("", ""), " -> x", id="constant"),
        pytest.param("{column: A, default: x}", question(), ("", ""), " -> x", id="default"),
        pytest.param("{column: A, default: x}", question(), ("y", ""), "E5 y -> y", id="no default"),
        pytest.param("{join: [A, B]}", question(), ("x", "y"), "E5 x + F5 y -> x y", id="joined"),
        pytest.param("{join: [A, B]}", question(), ("", "y"), "F5 y -> y", id="join of one"),
        pytest.param("{column: [A, B]}", question("integer"), ("", "2"), "F5 2 -> 2", id="second column"),
        pytest.param("{column: [A, B]}", question("integer"), ("x", "2"), "F5 2 -> 2", id="fallback"),
        pytest.param("{column: A, values: {a: x}}", question(), ("A", ""), "E5 A -> x", id="value table"),
        pytest.param("{column: A, values: {a: x}, otherwise: keep}", question(), ("b", ""), "E5 b -> b", id="kept"),
        pytest.param(
            "{column: A, values: {a: x}, otherwise: {value: z}}", question(), ("b", ""), "E5 b -> z", id="otherwise"
        ),
        pytest.param(
            "{column: A, values: {a: x}, otherwise: blank}", question(), ("b", ""), "E5 b -> None", id="otherwise blank"
        ),
        pytest.param(
            "{column: A, values: {a: x}, otherwise: {value: x}}",
            question("single_choice", options=["x", "y"]),
            ("y", ""),
            "E5 y -> y",
            id="an option is not replaced",
        ),
        pytest.param("{column: A, split: ';', take: first}", question(), ("a;b", ""), "E5 a;b -> a", id="split"),
        pytest.param("{column: A, split: ';', take: first}", question(), ("a", ""), "E5 a -> a", id="nothing to split"),
        pytest.param(
            "{column: A, dates: '%m/%y', pivot: 1950, missing_day: last}",
            question("date"),
            ("05/99", ""),
            "E5 05/99 -> 1999-05-31",
            id="short year",
        ),
        pytest.param(
            "{column: A, dates: ['%d.%m.%y', '%d.%m.%Y'], pivot: 1950}",
            question("date"),
            ("31.05.1999", ""),
            "E5 31.05.1999 -> 1999-05-31",
            id="whole date",
        ),
        pytest.param(
            "{column: A, region: TR}",
            question(type="phone"),
            ("0555 000 00 01", ""),
            "E5 0555 000 00 01 -> +905550000001",
            id="phone",
        ),
    ],
)
def test_an_answer_and_its_cells(answer: str, asked: Question, cells: tuple[str, ...], line: str) -> None:
    """An answer is traced to the cells that it comes from."""
    assert _line(_answer(mapping_of(answer, ("A", "B"), asked), row(*cells))) == line


def test_entries_of_numbered_columns() -> None:
    """Each field of an entry is traced to its cell, in the order in which the entries are sent."""
    content = (
        '{education: {repeat: "{n}", order: newest_first, school_name: "School {n}", '
        'end_date: {column: "To {n}", present: now}}}'
    )
    mapping = mapping_of(content, ("School 1", "To 1", "School 2", "To 2"), _LONG)
    traced = _answer(mapping, row("Ege", "2019-06-30", "ETH", "now"))
    assert [[f"{field.label}: {_line(field)}" for field in entry] for entry in traced.entries] == [
        ["school_name: G5 ETH -> ETH", "end_date: H5 now -> None", "currently_pursuing: H5 now -> True"],
        ["school_name: E5 Ege -> Ege", "end_date: F5 2019-06-30 -> 2019-06-30"],
    ]


def test_entries_of_one_cell() -> None:
    """The fields of entries that are split from a cell are traced to that cell, each with its own part."""
    cell = "{column: Jobs, split: ';', pattern: '(?P<t>.+) at (?P<c>.+)'}"
    content = f"{{experience: {{cell: {cell}, company_name: c, position_title: t}}}}"
    traced = _answer(mapping_of(content, ("Jobs",), _LONG), row("Clerk at A; Cook at B"))
    assert [[f"{field.label}: {_line(field)}" for field in entry] for entry in traced.entries] == [
        ["company_name: E5 A -> A", "position_title: E5 Clerk -> Clerk"],
        ["company_name: E5 B -> B", "position_title: E5 Cook -> Cook"],
    ]
