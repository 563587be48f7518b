"""`importer mapping test`: rows that stand in a file beside a mapping, and what it makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import FrontDoor, Served, serve

__all__ = ["serve"]

_QUESTIONS = [
    {"id": 1, "question_text": "Level", "is_required": False, "answer_type": "single_choice",
     "options": '["Junior", "Senior"]', "question_key": "level", "question_type": None},
    {"id": 2, "question_text": "Skills", "is_required": False, "answer_type": "multiple_choice",
     "options": '["SQL", "Go"]', "question_key": None, "question_type": None},
    {"id": 3, "question_text": "Jobs", "is_required": False, "answer_type": "long_text", "options": None,
     "question_key": "jobs", "question_type": None},
]  # fmt: skip
_MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {dates: "%d.%m.%Y"}
candidate:
  email: E-mail
  first_name: First
  last_name: Last
  cv: {value: "4711"}
  terms_of_use: {value: "yes"}
answers:
  level: {column: Level, values: {Sr: Senior}}
  "text: Skills": {column: Skills, split: ";"}
  jobs:
    experience:
      sheet: {name: Jobs, key: ID, equals: E-mail}
      company_name: Company
      start_date: From
"""
_ROWS = """\
questions: m.questions.json
tables:
  Jobs:
    - {ID: ada@example.com, Company: Acme, From: 01.05.2020}
    - {ID: ada@example.com, Company: Öz, From: ""}
rows:
  - name: a senior
    given: {E-mail: ada@example.com, First: Ada, Last: Nur, Level: Sr, Skills: SQL; go}
    expect:
      email: ada@example.com
      terms_of_use: true
      answers:
        level: Senior
        "text: Skills": [SQL, Go]
        jobs:
          - {company_name: Acme, start_date: 2020-05-01}
          - {company_name: Öz}
  - given: {E-mail: bob@example.com, First: Bob, Last: Nur, Level: ""}
    expect: {answers: {level: "", jobs: ""}}
  - given: {E-mail: none, First: Bob, Last: Nur, Level: Chief}
    problem: [email-invalid, not-an-option]
"""


@pytest.fixture
def tested(front_door: FrontDoor, tmp_path: Path) -> FrontDoor:
    """A mapping with test rows that are as expected, and the file with its questions."""
    (tmp_path / "m.yaml").write_text(_MAPPING, encoding="utf-8")
    (tmp_path / "m.test.yaml").write_text(_ROWS, encoding="utf-8")
    (tmp_path / "m.questions.json").write_text(json.dumps({"questions": _QUESTIONS}), encoding="utf-8")
    return front_door


def test_rows_that_are_as_expected(tested: FrontDoor) -> None:
    """Values, choices, entries of another table, what is not sent and problems are compared; no service is asked."""
    ran = tested("mapping", "test", "m.yaml")
    assert (ran.code, ran.out, ran.err) == (0, "m.yaml: 3 test rows, all as expected.\n", "")


def test_every_difference_is_told_at_its_line(tested: FrontDoor, tmp_path: Path) -> None:
    """Each difference has the line of what was expected; the name of its row says which one it is."""
    changed = (
        _ROWS.replace("level: Senior", "level: Junior")
        .replace("{company_name: Öz}", "{company_name: Oz, position_title: Lead}")
        .replace("terms_of_use: true", "phone: 1")
        .replace("problem: [email-invalid, not-an-option]", "problem: email-invalid")
        .replace('{level: "", jobs: ""}', '{level: "", jobs: []}')
    )
    (tmp_path / "m.test.yaml").write_text(changed, encoding="utf-8")
    ran = tested("mapping", "test", "m.yaml", "--verbose")
    found = [line.partition(" [")[0] for line in ran.err.splitlines() if line.startswith("m.test.yaml")]
    assert (ran.code, found) == (
        3,
        [
            "m.test.yaml:11:7: not as expected: a senior: the mapping has no 'phone'; it has email, first_name, "
            "last_name, cv, terms_of_use",
            "m.test.yaml:13:16: not as expected: a senior: level is 'Senior' and not 'Junior'",
            "m.test.yaml:17:28: not as expected: a senior: jobs[2].company_name is 'Öz' and not 'Oz'",
            "m.test.yaml:17:48: not as expected: a senior: jobs[2].position_title is not sent and not 'Lead'",
            "m.test.yaml:19:41: not as expected: jobs is not sent and not",
            "m.test.yaml:21:14: not as expected: the problems are email-invalid ('none' is not a valid e-mail address: "
            "an email address must have an @-sign); not-an-option ('Chief' is not an option of level)",
        ],
    )


def test_a_row_that_is_held_back_is_told(tested: FrontDoor, tmp_path: Path) -> None:
    """A row that should be sent and is held back is told with its reason."""
    (tmp_path / "m.test.yaml").write_text(_ROWS.replace("E-mail: bob@example.com", "E-mail: bob"), encoding="utf-8")
    ran = tested("mapping", "test", "m.yaml")
    assert "m.test.yaml:18:5: not as expected: the row is held back: 'bob' is not a valid e-mail address" in ran.err


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("rows:\n", "row:\n", "m.test.yaml:6:1: 'row' is an unknown key in the file"),
        ("    expect: {answers", "    expected: {answers", "'expected' is an unknown key in a test row"),
        ("    problem:", "    expect: {}\n    problem:", "a test row has both expect and problem"),
        ("given: {E-mail: bob", "given: [E-mail, bob]\n    x: {y: bob", "must be columns and cells"),
        ("m.questions.json", "gone.json", "the questions in 'gone.json' cannot be read: no such file or directory"),
    ],
)
def test_wrong_test_rows_are_refused(old: str, new: str, problem: str, tested: FrontDoor, tmp_path: Path) -> None:
    """A mistake in the file of test rows is told at its line."""
    (tmp_path / "m.test.yaml").write_text(_ROWS.replace(old, new), encoding="utf-8")
    ran = tested("mapping", "test", "m.yaml")
    assert (ran.code, problem in " ".join(ran.err.split())) == (3, True), ran.err


def test_without_test_rows_the_way_to_the_first_is_told(tested: FrontDoor, tmp_path: Path) -> None:
    """A mapping without test rows is refused with the command that writes the first."""
    (tmp_path / "m.test.yaml").unlink()
    ran = tested("mapping", "test", "m.yaml")
    assert (ran.code, "importer mapping test m.yaml FILE" in ran.err) == (3, True)


def test_a_proposed_mapping_gets_its_first_test_rows(serve: Callable[..., Served], tmp_path: Path) -> None:
    """`mapping new` writes two candidates as test rows, with invented people and without what is personal."""
    (tmp_path / "q.json").write_text(json.dumps({"job_posts": {"4f2c9a": {"questions": _QUESTIONS}}}), encoding="utf-8")
    (tmp_path / "c.csv").write_text(
        "E-mail,First name,Last name,CV,Level,Phone\n"
        "rosa@example.org,Rosa,Real,A17,Senior,+90 532 123 45 67\nnone,Nil,No,A18,Junior,\n",
        encoding="utf-8",
    )
    served = serve(questions=tmp_path / "q.json")
    assert served("mapping", "new", "c.csv", "--job-post", "4f2c9a").code == 0
    written = (tmp_path / "c.test.yaml").read_text(encoding="utf-8")
    assert written.partition("questions:")[2].splitlines()[:20] == [
        " c.questions.json",
        "rows:",
        "- given:",
        '    E-mail: "ada.nur0@example.com"',
        "    First name: Ada",
        "    Last name: Nur",
        '    CV: "4711"',
        "    Level: Senior",
        "  expect:",
        '    email: "ada.nur0@example.com"',
        "    first_name: Ada",
        "    last_name: Nur",
        '    cv: "4711"',
        "    answers:",
        "      level: Senior",
        "- given:",
        '    E-mail: "can.kaya1@example.com"',
        "    First name: Can",
        "    Last name: Kaya",
        '    CV: "4711"',
    ]
    assert not {"Rosa", "Real", "rosa", "532", "A17"} & set(written.replace("@", " ").split())
    assert served("mapping", "test", "c.yaml").out == "c.yaml: 2 test rows, all as expected.\n"
    assert "already exists" in served("mapping", "test", "c.yaml", "c.csv").err


def test_no_cell_that_may_be_about_a_person_is_written(serve: Callable[..., Served], tmp_path: Path) -> None:
    """Of the file only dates, options and words of the mapping stay; what has no meaning there is blank or invented."""
    asked = [
        *({**one, "is_required": one["id"] == 3} for one in _QUESTIONS),
        {"id": 4, "question_text": "Phone", "is_required": True, "answer_type": "short_text", "options": None,
         "question_key": "phone", "question_type": "phone"},
        {"id": 5, "question_text": "Salary", "is_required": False, "answer_type": "integer", "options": None,
         "question_key": "salary", "question_type": None},
        {"id": 6, "question_text": "Start", "is_required": False, "answer_type": "date", "options": None,
         "question_key": "start", "question_type": None},
    ]  # fmt: skip
    (tmp_path / "q.json").write_text(json.dumps({"job_posts": {"4f2c9a": {"questions": asked}}}), encoding="utf-8")
    (tmp_path / "m.yaml").write_text(
        "version: 1\ntarget: {job_post: 4f2c9a}\n"
        "source: {where: {column: Note, is_not: [x]}}\ndefaults: {region: TR, optional: leave_out}\n"
        "candidate: {email: E, first_name: F, last_name: L, cv: C, terms_of_use: {value: 'yes'}}\n"
        "answers:\n  level: {column: Level, values: {Sr: Senior}, otherwise: blank}\n"
        "  'text: Skills': {column: Skills, split: ';'}\n  jobs: About\n  phone: P\n  salary: S\n  start: D\n",
        encoding="utf-8",
    )
    (tmp_path / "c.csv").write_text(
        "E,F,L,C,Note,Level,Skills,About,P,S,D\n"
        "rosa@example.org,Rosa,Real,A17,secret1,secret2,SQL;secret3,secret4,0532 417 86 29,12345678,call secret5\n"
        "zoe@example.org,Zoe,Real,A18,secret6,Sr,SQL;Go,secret7,0532 417 86 28,2345,2024-05-01\n",
        encoding="utf-8",
    )
    served = serve(questions=tmp_path / "q.json")
    assert served("mapping", "test", "m.yaml", "c.csv").out == "m.yaml: 2 test rows, all as expected.\n"
    written = (tmp_path / "m.test.yaml").read_text(encoding="utf-8")
    kept = ("secret", "417", "345", "Rosa", "Zoe", "Real", "A17", "example.org")
    assert [word for word in kept if word in written.partition("rows:")[2]] == []
    assert all(word in written for word in ("SQL;Go", "Sr", "2024-05-01", 'start: "2024-05-01"'))


def test_rows_of_one_candidate_stand_in_several_lines(tested: FrontDoor, tmp_path: Path) -> None:
    """A row that continues the one above is directly below it, however many lines each has in the file."""
    mapping = _MAPPING.replace("defaults:", "source: {group_by: {column: ID, blank: continues}}\ndefaults:")
    mapping = mapping.partition("      sheet:")[0] + "      rows: all\n      company_name: Company\n"
    (tmp_path / "m.yaml").write_text(
        mapping.replace("level: {", "# {").replace('"text: Skills"', "# "), encoding="utf-8"
    )
    (tmp_path / "m.test.yaml").write_text(
        """\
questions: m.questions.json
rows:
  - given:
      - ID: "7"
        E-mail: ada@example.com
        First: Ada
        Last: Nur
        Company: Acme
      - ID: ""
        Company: Öz
    expect: {answers: {jobs: [{company_name: Acme}, {company_name: Öz}]}}
""",
        encoding="utf-8",
    )
    ran = tested("mapping", "test", "m.yaml")
    assert ran.code == 0, ran.err
