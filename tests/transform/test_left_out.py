"""Invalid answers to optional questions are left out where the mapping says so."""

from __future__ import annotations

from dataclasses import replace

from importer.mapping import ResolvedMapping
from importer.models import Application, Row
from importer.problems import Column, Problem
from importer.transform import Invalid, trace_parts, transform_row
from tests.transform.cells import ORIGIN, answer_of, mapping_of, problems_of, question, row


def test_leave_out_on_a_required_question_is_a_warning() -> None:
    """The mapping can be used, and says that the key has no effect."""
    mapping = mapping_of("{column: Cell, optional: leave_out}", asked=question(required=True))
    assert [str(warning) for warning in mapping.warnings] == [
        "m.yaml:4:45: optional: leave_out has no effect on q, which is a required question; remove it"
    ]


def left_out(mapping: ResolvedMapping, source: Row) -> list[str]:
    """The problems of the answers that are left out; the row must be valid."""
    result = transform_row(source, mapping)
    assert isinstance(result, Application), result
    return [str(problem) for problem in result.left_out]


def test_an_invalid_optional_answer_is_left_out() -> None:
    """With `optional: leave_out` the row is valid without the answer, and the problem says so at its cell."""
    mapping = mapping_of("{column: Cell, optional: leave_out}", asked=question("date"))
    assert answer_of(mapping, row("soon")) is None
    (problem,) = left_out(mapping, row("soon"))
    assert problem.startswith(
        "c.csv, row 5, column \"Cell\": 'soon' is not a date in the format YYYY-MM-DD; the answer to q is left out; "
    )
    assert left_out(mapping, row("2024-01-02")) == left_out(mapping, row("")) == []
    without_email = replace(row("soon"), cells=("none", *row("soon").cells[1:]))
    held = transform_row(without_email, mapping)
    assert isinstance(held, Invalid)
    assert [one.severity for one in held.problems] == ["error", "warning"]  # of which only the first holds it back


def test_an_entry_is_left_out_and_choices_are_so_together() -> None:
    """One invalid choice leaves out the answer, one invalid field its entry; the other entries are sent."""
    skills = mapping_of(
        "{column: Cell, split: ';', optional: leave_out}", asked=question("multiple_choice", options=("Go", "C"))
    )
    assert answer_of(skills, row("Go; Cobol")) is None
    entries = mapping_of(
        "{optional: leave_out, education: {repeat: '{n}', school_name: 'School {n}', end_date: 'To {n}'}}",
        ("School 1", "To 1", "School 2", "To 2"),
        question("long_text"),
    )
    source = row("Ege", "2019-06-30", "ETH", "never")
    given = answer_of(entries, source)
    assert given is not None
    assert given.answer == '[{"school_name": "Ege", "end_date": "2019-06-30"}]'
    (problem,) = left_out(entries, source)
    assert problem.startswith("c.csv, row 5, column \"To 2\": 'never' is not a date")
    assert "; this entry is left out; " in problem
    (part,) = [one for one in trace_parts(source, entries) if one.question]
    assert ([len(entry) for entry in part.traced.entries], len(part.problems)) == ([2], 1)
    assert answer_of(entries, row("", "2019-06-30", "", "")) is None


def test_a_required_answer_and_the_person_are_never_left_out() -> None:
    """`optional: leave_out` under defaults does not apply to required questions, nor to the candidate's own fields."""
    mapping = mapping_of("Cell", asked=question("date", required=True), extra="defaults: {optional: leave_out}\n")
    assert len(problems_of(mapping, row("soon"))) == 1
    optional = mapping_of("Cell", asked=question("date"), extra="defaults: {optional: leave_out}\n")
    cells = ("ada", "Ada", "Nur", "70001", "soon")
    assert [text.split("; write")[0].split(": ")[1] for text in problems_of(optional, Row(ORIGIN, 5, cells))] == [
        "'ada' is not a valid e-mail address",
        "'soon' is not a date in the format YYYY-MM-DD; the answer to q is left out",
    ]


def test_an_error_value_in_an_optional_column_is_left_out() -> None:
    """A cell that cannot be read leaves out the answers that use it, and holds back the row if anything else does."""
    problem = Problem("cell-error", "#REF!", "fix the formula", row("").place(Column(4, "E", "Cell")))
    only = mapping_of("{column: Cell, optional: leave_out}")
    assert answer_of(only, row("", problems=[problem])) is None
    assert left_out(only, row("", problems=[problem])) == [
        'c.csv, row 5, column "Cell": #REF!; the answer to q is left out; fix the formula'
    ]
    shared = mapping_of("{column: Cell, optional: leave_out}", extra="source: {where: {column: Cell, is_not: x}}\n")
    assert len(problems_of(shared, row("", problems=[problem]))) == 1
