"""A check proposes changes of the mapping that can be pasted as they are."""

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


def _checked(door: FrontDoor, answers: str, levels: list[str], starts: list[str]) -> tuple[dict[str, int], str]:
    """The counts of a check of rows with these levels and starts, and the changes that it proposes."""
    folder = door.folder
    rows = [f"a{number}@example.com,Ada,Nur,{level},{start}" for number, (level, start) in enumerate(
        zip(levels, starts, strict=True))]  # fmt: skip
    (folder / "a.csv").write_text("\n".join(["Email,First,Last,Level,Start", *rows]) + "\n", encoding="utf-8")
    (folder / "q.json").write_text(json.dumps(_QUESTIONS), encoding="utf-8")
    (folder / "m.yaml").write_text(_HEAD + answers, encoding="utf-8")
    checked = door(*_CHECK)
    changes = folder / "results" / str(checked.summary["run"]) / "mapping_changes.yaml"
    return checked.counts, changes.read_text("utf-8") if changes.exists() else ""


def test_changes_can_be_pasted_as_they_are(front_door: FrontDoor) -> None:
    """Lines of a value table and date formats that read the cells are written, with the place of each, from the end."""
    levels, starts = ["Sr", "Senoir", "Chief", "Senior", "Sr"], ["31.05.2024", "3 Haz 2024", "17 Eyl 2023", "", ""]
    answers = "  level: Level   # as in the old system\n  start: {column: Start, dates: '%d.%m.%Y'}\n"
    counts, changes = _checked(front_door, answers, levels, starts)
    assert counts == {"invalid": 4, "not_sent": 1}
    assert changes == (
        "# Proposed changes of the mapping: review them, then paste what is below the comments into the mapping file,\n"
        "# in this order, from its end to its start, so that the numbers of lines stay right.\n"
        "\n"
        '## m.yaml:6, the answer to start: dates: ["%d.%m.%Y", "%d %b %Y"], months: [en, tr] reads all 2 cells that '
        "are not dates now\n"
        "# Write instead of '%d.%m.%Y' in line 6, from character 33:\n"
        '["%d.%m.%Y", "%d %b %Y"]\n'
        "# Insert after start: { in line 6:\n"
        "months: [en, tr], \n"
        "\n"
        "## m.yaml:5, the answer to level: 3 unknown texts in 4 cells, 2 with a similar option\n"
        '# The options are: Junior, Senior; "" leaves a text out\n'
        "# Replace line 5 by:\n"
        "  level:   # as in the old system\n"
        "    column: Level\n"
        "    values:\n"
        "      Sr: Senior   # 2 cells\n"
        "      # Senoir: Senior   # 1 cell; similar: if it is right, remove the first #\n"
        "      # Chief: ...   # 1 cell; no similar option\n"
    )
    pasted = changes.split("# Replace line 5 by:\n")[1]
    pasted += '  start: {months: [en, tr], column: Start, dates: ["%d.%m.%Y", "%d %b %Y"]}\n'
    (front_door.folder / "m.yaml").write_text(_HEAD + pasted, encoding="utf-8")
    assert front_door(*_CHECK).counts == {"invalid": 2, "not_sent": 3}


@pytest.mark.parametrize(
    ("answers", "starts"),
    [
        pytest.param("  start: Start\n", ["03/04/2024", "05/06/2024"], id="day and month may be swapped"),
        pytest.param("  start: Start\n", ["31.05.2024", "in 2 weeks"], id="one is no date"),
        pytest.param("  start: Start\n", ["31.05.24"], id="years of two digits"),
        pytest.param("  start: Start\n", ["05/2024"], id="no day"),
        pytest.param("  start: {column: Start, dates: '%d/%m/%Y'}\n", ["12/31/2024"], id="the other order is declared"),
    ],
)
def test_a_date_format_that_is_not_certain_is_not_proposed(
    front_door: FrontDoor, answers: str, starts: list[str]
) -> None:
    """A format that reads only some of the cells, or may read them wrongly, is not proposed."""
    counts, changes = _checked(front_door, answers, [""] * len(starts), starts)
    assert (counts["invalid"], changes) == (len(starts), "")


def test_the_summary_names_the_changes(front_door: FrontDoor) -> None:
    """Before the next steps it is shown what each change does, and where the lines to paste are."""
    _checked(front_door, "  level: Level\n  start: Start\n", ["Snior", "Chief"], ["31.05.2024", "30.05.2024"])
    assert "mapping_changes.yaml (beside the report)" in front_door(*_CHECK[:-1]).out
    name = "Changes of the mapping that mapping_changes.yaml proposes"
    shown = front_door(*_CHECK[:-1], "--verbose").out.splitlines()
    found = shown.index(name)
    assert shown[found : found + 5] == [
        name,
        "  - m.yaml:5, the answer to level: 2 unknown texts in 2 cells, 1 with a similar",
        "    option",
        '  - m.yaml:6, the answer to start: dates: ["%d.%m.%Y"] reads all 2 cells that',
        "    are not dates now",
    ]


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
    first = (
        "  1. Make the changes of mapping_changes.yaml (beside the report) in m.yaml,\n"
        "     then run this again\n"
        "  2. Fix the rows in report.xlsx, then import it\n"
    )
    assert steps.startswith(first) == is_named, steps
    page = (front_door.folder / "results" / run / "report.html").read_text("utf-8")
    assert ("Make the changes of mapping_changes.yaml" in page) == is_named
    assert "<title>Check of a.csv for" in page


def test_the_questions_of_a_sandbox_file_are_listed(front_door: FrontDoor) -> None:
    """`importer questions --sandbox --questions FILE` lists the questions that a rehearsal with this file asks."""
    (front_door.folder / "q.json").write_text(json.dumps(_QUESTIONS), encoding="utf-8")
    ran = front_door("questions", "4f2c9a", "--sandbox", "--questions", "q.json", "--json")
    assert [one["question_key"] for one in json.loads(ran.out)["questions"]] == ["level", "start"]


def test_a_text_of_the_value_table_can_be_left_out(front_door: FrontDoor) -> None:
    """As the hint of an unknown text says: with "" as its value, the row is sent without it."""
    counts, _ = _checked(front_door, '  level: {column: Level, values: {x: ""}}\n', ["x", "Junior"], [""] * 2)
    assert counts == {"not_sent": 2}
