"""What a check says about values that the mapping cannot read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import FrontDoor

_QUESTIONS: dict[str, Any] = {
    "job_post": "4f2c9a",
    "questions": [
        {"id": 1, "question_text": "Level", "is_required": False, "answer_type": "single_choice",
         "options": '["Junior", "Senior"]', "question_key": "level", "question_type": None},
        {"id": 2, "question_text": "Start", "is_required": False, "answer_type": "date", "options": None,
         "question_key": "start", "question_type": None},
    ],
}  # fmt: skip
_HEAD = """\
version: 1
target: {job_post: 4f2c9a}
candidate: {email: Email, first_name: First, last_name: Last, cv: {value: "7"}}
answers:
"""
_CHECK = ("check", "a.csv", "--mapping", "m.yaml", "--sandbox", "--questions", "q.json", "--json")


def _checked(door: FrontDoor, answers: str, levels: list[str], starts: list[str]) -> dict[str, int]:
    """The counts of a check of rows with these levels and starts."""
    folder = door.folder
    rows = [f"a{number}@example.com,Ada,Nur,{level},{start}" for number, (level, start) in enumerate(
        zip(levels, starts, strict=True))]  # fmt: skip
    (folder / "a.csv").write_text("\n".join(["Email,First,Last,Level,Start", *rows]) + "\n", encoding="utf-8")
    (folder / "q.json").write_text(json.dumps(_QUESTIONS), encoding="utf-8")
    (folder / "m.yaml").write_text(_HEAD + answers, encoding="utf-8")
    return door(*_CHECK).counts


@pytest.mark.parametrize(("refused", "is_named"), [(4, True), (2, False)])
def test_the_first_step_is_the_mapping_if_nearly_all_rows_have_one_problem_there(
    front_door: FrontDoor, refused: int, is_named: bool
) -> None:
    """Where one line of the mapping refuses four of five rows, fixing the rows is not the first step."""
    dates = ["31.05.2024"] * refused + ["2024-05-31"] * (5 - refused)
    _checked(front_door, "  start: Start\n", [""] * 5, dates)
    ran = front_door(*_CHECK[:-1])
    steps = ran.out.partition("What to do next\n")[2]
    run = max((front_door.folder / "results").glob("2*"), key=lambda one: one.stat().st_mtime).name
    first = "  1. Correct m.yaml:5 first: 4 cells of Start have one problem [date-invalid];\n"
    assert steps.startswith(first) == is_named, steps
    page = (front_door.folder / "results" / run / "report.html").read_text("utf-8")
    assert ("Correct m.yaml:5 first" in page) == is_named
    assert "<title>Check of a.csv for" in page


def test_the_questions_of_a_sandbox_file_are_listed(front_door: FrontDoor) -> None:
    """`importer questions --sandbox --questions FILE` lists the questions that a rehearsal with this file asks."""
    (front_door.folder / "q.json").write_text(json.dumps(_QUESTIONS), encoding="utf-8")
    ran = front_door("questions", "4f2c9a", "--sandbox", "--questions", "q.json", "--json")
    assert [one["question_key"] for one in json.loads(ran.out)["questions"]] == ["level", "start"]


def test_a_text_of_the_value_table_can_be_left_out(front_door: FrontDoor) -> None:
    """As the hint of an unknown text says: with "" as its value, the row is sent without it."""
    counts = _checked(front_door, '  level: {column: Level, values: {x: ""}}\n', ["x", "Junior"], [""] * 2)
    assert counts == {"not_sent": 2}
