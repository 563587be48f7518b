"""The file summary.json and the value it is made from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from importer.models import Operation, Outcome, OutcomeKind, Row, Stop, Target
from importer.problems import CellPlace, Column, Origin, Problem, UnusableInput
from importer.report.accounting import MOST_GROUPS
from importer.report.summary import read_summary
from importer.report.write import write_report, write_unfinished_summary
from tests.report.building import FACTS, MOBILE, ORIGIN, bad_degree, created, facts_with, files_in, refused, row, rows

NO_ROWS = dict.fromkeys((kind.value for kind in OutcomeKind), 0)


def _read(folder: Path) -> object:
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_summary_json_whole(tmp_path: Path) -> None:
    """summary.json holds the run, its source, every outcome with 0 too, the requests and the grouped problems."""
    bad = [row(number, "1", "a@example.com", "", degree) for number, degree in [(6, "bachelor"), (7, "bachelor")]]
    outcomes = [
        *created([4]),
        Outcome(5, OutcomeKind.ALREADY_EXISTS, 409, attempts=3),
        *(Outcome(each.number, OutcomeKind.INVALID, problems=(bad_degree(each),)) for each in bad),
    ]

    write_report(tmp_path, facts_with(exit_code=4, warnings=("inspect",)), [row(4), row(5), *bad], outcomes)

    assert _read(tmp_path) == {
        "version": 2,
        "run": "20261121-021503-7f3a",
        "finished": True,
        "exit_code": 4,
        "source": {
            "file": "candidates.xlsx",
            "sheet": "Candidates",
            "sha256": "ab" * 32,
            "rows": 4,
            "blank_rows": 0,
            "reading": "XLSX, sheet Candidates, header in row 3, 4 columns",
            "taken": None,
        },
        "target": {"job_post": "4f2c9a"},
        "mapping": "mappings/zoho.yaml",
        "outcomes": {**NO_ROWS, "created": 1, "already_exists": 1, "invalid": 2},
        "requests": {"sent": 4, "retried": 2},
        "problems": [
            {
                "code": "value-unknown",
                "column": "Degree 1",
                "count": 2,
                "example_row": 6,
                "message": "candidates.xlsx, Candidates!D6: 'bachelor' is not a degree that the service accepts;"
                " add it under values: in mappings/zoho.yaml:41",
                "outcome": "invalid",
                "what": "'bachelor' is not a degree that the service accepts",
                "hint": "add it under values: in mappings/zoho.yaml:41",
                "places": ["D6", "D7"],
                "severity": "error",
            }
        ],
        "warnings": ["inspect"],
        "stopped": None,
        "sandbox": False,
        "dry_run": False,
        "files": [
            *("201_created.csv", "409_already_exists.csv", "400_rejected.csv", "invalid.csv"),
            *("report.xlsx", "report.html", "summary.json"),
        ],
        "started_at": "2026-11-21T02:15:03+03:00",
        "ended_at": "2026-11-21T02:19:40+03:00",
        "flags": {},
        "continues": None,
    }


def test_a_talent_pool_is_named_as_such(tmp_path: Path) -> None:
    """The target of a pool import is `talent_pool`."""
    target = Target(Operation.ADD_TO_POOL, "17")

    assert write_report(tmp_path, facts_with(target=target), [], []).to_json()["target"] == {"talent_pool": "17"}
    assert read_summary(tmp_path).target == target


def test_unfinished_summary_says_so(tmp_path: Path) -> None:
    """The summary of a run that has started is unfinished and without counts."""
    folder = tmp_path / "results" / "run"

    summary = write_unfinished_summary(folder, FACTS)

    assert files_in(folder) == {"summary.json"}
    assert (summary.finished, summary.exit_code, summary.ended_at, summary.source.rows) == (False, None, None, None)
    assert read_summary(folder) == summary


def test_a_problem_of_a_candidate_is_counted_once(tmp_path: Path) -> None:
    """Each row of a candidate has all of its problems; a group has as many as there are cells."""
    problems = tuple(Problem("number-shortened", "it is shortened", "", row(n).place(MOBILE)) for n in (4, 5, 6))
    outcomes = [Outcome(number, OutcomeKind.INVALID, problems=problems) for number in (4, 5, 6)]
    (group,) = write_report(tmp_path, FACTS, rows([4, 5, 6]), outcomes).problems
    assert (group.count, group.places) == (3, ("C4", "C5", "C6"))


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        facts_with(stopped=Stop("token-refused", "the token is refused", "renew it"), finished=False, exit_code=5),
        facts_with(dry_run=True, sandbox=True, ended_at=None),
        facts_with(origin=Origin("cand\udcfd.csv"), blank_rows=3),
    ],
    ids=["plain", "stopped", "dry run", "a name that is not Unicode"],
)
def test_summary_comes_back_from_its_file(tmp_path: Path, facts: type(FACTS)) -> None:  # type: ignore[valid-type]
    """A summary that is read equals the one that was written."""
    rejected = Outcome(5, OutcomeKind.REJECTED, 400, 1, (refused("no"),))

    summary = write_report(tmp_path, facts, rows([4, 5]), [*created([4]), rejected])

    assert read_summary(tmp_path) == summary


def test_refusals_are_grouped_by_what_the_service_said(tmp_path: Path) -> None:
    """Rejections are grouped by message, our own problems by code and column.

    Each unknown value is its own group, so that it can be added to the value table; the largest group first.
    """
    reasons = {4: "salary is required", 5: "city is unknown", 6: "city is unknown"}
    bad = [row(number, "1", "a@example.com", "", degree) for number, degree in ((7, "B"), (8, "B"), (9, "M"))]
    outcomes = [
        *(Outcome(n, OutcomeKind.REJECTED, 400, problems=(refused(message),)) for n, message in reasons.items()),
        *(Outcome(each.number, OutcomeKind.INVALID, problems=(bad_degree(each),)) for each in bad),
    ]

    summary = write_report(tmp_path, FACTS, [*rows([4, 5, 6]), *bad], outcomes)

    assert [(group.what, group.count, group.example_row) for group in summary.problems] == [
        ("city is unknown", 2, 5),
        ("'B' is not a degree that the service accepts", 2, 7),
        ("salary is required", 1, 4),
        ("'M' is not a degree that the service accepts", 1, 9),
    ]


def test_a_cell_is_counted_once_and_another_file_is_named_once(tmp_path: Path) -> None:
    """Both dates of a period can be wrong in one cell; the cells of another file have its name only in the first."""
    period, others = row(4), row(5, "1", "a@example.com", "", "B")
    elsewhere = [replace(bad_degree(row(number)), place=_cell("jobs.csv", number)) for number in (7, 9, 9, 11)]
    outcomes = [
        Outcome(4, OutcomeKind.INVALID, problems=(bad_degree(period), replace(bad_degree(period), message="its end"))),
        Outcome(5, OutcomeKind.INVALID, problems=tuple(replace(each, code="date-invalid") for each in elsewhere)),
    ]

    groups = {group.code: group for group in write_report(tmp_path, FACTS, [period, others], outcomes).problems}

    assert groups["value-unknown"].count == 1
    dates = groups["date-invalid"]
    assert (dates.count, dates.places) == (3, ('jobs.csv, row 7, column "ID"', "row 9", "row 11"))


def _cell(file: str, number: int) -> CellPlace:
    return CellPlace(Origin(file), number, Column(0, "A", "ID"))


REFUSALS = {
    "names and numbers": "rejected (400: {first} {last} <{email}> was refused before)",
    "the name alone": "{last}, {first}: on the list",
    "owned": "{first}’s application is closed",
    "JSON": '{{"email":"{email}","reason":"blocked"}}',
    "signs": "email={email}: `{first}` #{number} is blocked",
}


@pytest.mark.parametrize("message", REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals_in_everybodys_own_words_are_one_group(tmp_path: Path, message: str) -> None:
    """Messages that differ only in what is of one row are one group, with the first of them as its example."""
    numbers, outcomes, read = range(1, 20), [], []
    for n in numbers:
        first, last, email = f"Ada{'bcdefghijk'[n % 10]}", f"Lovelace{chr(97 + n % 26)}-Okon", f"ada{n}@example.com"
        first += chr(97 + n // 10 % 10) + chr(97 + n // 100)
        read.append(Row(ORIGIN, n, (f"{first} van {last}", email, "Salary", f"{n}4711")))
        said = message.format(first=first, last=f"van {last}", email=email, number=f"{n}4711")
        outcomes.append(Outcome(n, OutcomeKind.REJECTED, 400, problems=(refused(said),)))
    outcomes[9] = replace(outcomes[9], problems=(refused("the salary is too low"),))
    outcomes[-1] = replace(outcomes[-1], problems=(refused("the salary is too low"),))
    outcomes[8] = replace(outcomes[8], problems=(refused("the visa is too low"),))

    summary = write_report(tmp_path, FACTS, read, outcomes)

    first = outcomes[0].problems[0].message
    assert [(group.what, group.count, group.example_row, group.places) for group in summary.problems] == [
        (first, 16, 1, ("row 1", "row 2", "row 3", "row 4", "row 5")),
        ("the salary is too low", 2, 10, ("row 10", "row 19")),
        ("the visa is too low", 1, 9, ("row 9",)),
    ]


def test_a_quoted_cell_is_not_of_the_message(tmp_path: Path) -> None:
    """Where it has another word of a cell, unquoted, it stays: `Phone is required`."""
    cities, wishes = ("Ankara", "Bursa", "New York"), ("Phone", "Email", "Phone")
    read = [Row(ORIGIN, n, ("A", "a@example.com", city, wishes[n])) for n, city in enumerate(cities)]
    said = [refused(f"'{city}' is not in the list of cities") for city in cities]
    asked = [refused(f"{wish} is required") for wish in wishes]
    pairs = enumerate(zip(said, asked, strict=True))
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, problems=pair) for n, pair in pairs]

    groups = write_report(tmp_path, FACTS, read, outcomes).problems

    assert [(group.what, group.count) for group in groups] == [
        ("'Ankara' is not in the list of cities", 3),
        ("Phone is required", 2),
        ("Email is required", 1),
    ]


def test_groups_do_not_grow_without_end(tmp_path: Path) -> None:
    """If the messages differ in more than names, the number of groups is limited, plus one for the rest."""
    numbers = range(MOST_GROUPS + 10)
    words = [f"no {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in numbers]
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, problems=(refused(word),)) for n, word in enumerate(words)]

    summary = write_report(tmp_path, FACTS, rows(numbers), outcomes)

    assert len(summary.problems) == MOST_GROUPS + 1
    assert [(group.what, group.count, len(group.places)) for group in summary.problems[:2]] == [
        ("the messages differ; the report has that of each row", 10, 5),
        ("no aaa", 1, 1),
    ]


UNREADABLE = {
    "missing": (None, "this folder does not contain a summary"),
    "no JSON": ("{", "the summary of this run cannot be read: JSONDecodeError Expecting property name"),
    "of a later version": (
        '{"version": 3}',
        "the summary of this run cannot be read: ValueError it was written by another version of importer",
    ),
    "a part missing": ('{"version": 2}', "the summary of this run cannot be read: KeyError 'target'"),
}


@pytest.mark.parametrize(("text", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_summary_that_cannot_be_read_is_told(tmp_path: Path, text: str | None, message: str) -> None:
    """A missing or damaged summary is reported with its file and how to create it again."""
    folder = tmp_path / "20261121-021503-7f3a"
    folder.mkdir()
    if text is not None:
        (folder / "summary.json").write_text(text, encoding="utf-8")

    with pytest.raises(UnusableInput) as caught:
        read_summary(folder)

    assert str(caught.value).startswith(f"{folder}/summary.json: {message}")
    assert str(caught.value).endswith(f"; create it again with: importer report {folder.name} --out {folder.parent}")


def test_refusals_of_two_fields_are_two_groups(tmp_path: Path) -> None:
    """What a message quotes is left out only where it is of the row itself: a field is a cause of its own."""
    messages = [
        "'last_name' is too long (at most 50)",
        "'cv' is too long (at most 10)",
        "'cv' is too long (at most 10)",
    ]
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, problems=(refused(one),)) for n, one in enumerate(messages, 4)]
    summary = write_report(tmp_path, FACTS, rows([4, 5, 6]), outcomes)
    assert [(group.what, group.count) for group in summary.problems] == [(messages[1], 2), (messages[0], 1)]
