"""Warnings: the rows are sent, and a person is told which cells to look at; with --strict they are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.app.import_file import import_file
from importer.app.orders import Order, Planned, SandboxSetup, Sending
from importer.report.text import problem_lines
from importer.settings import Settings
from tests.cli.conftest import FrontDoor, candidate, read_csv, write_csv

TYPO = ("the domain 'gmial.com' looks like a typing error of gmail.com", "correct the e-mail address if it is one")
FAR = (
    'people.csv, row 9, column "Salary": the number is about 1,000 times larger than the median of its column; '
    "correct it, or check decimal: and thousands: in mapping.yaml:11"
)
LINES = """\
Warnings
     1  E-mail, row 5: the domain 'gmial.com' looks like a typing error of
        gmail.com [email-domain-mistyped]
        -> correct the e-mail address if it is one
"""
OF_FILE = """\
  - people.csv, row 9, column "Salary": the number is about 1,000 times larger
    than the median of its column; correct it, or check decimal: and thousands:
    in mapping.yaml:11
"""
ON_THE_SCREEN = f"""\
{LINES.rstrip()}
  - people.csv, row 9, column "Salary": the number is about 1,000 times larger
    than the median of its column; correct it, or check decimal: and thousands …
"""


@pytest.fixture
def people(front_door: FrontDoor) -> Path:
    """24 people: a mistyped e-mail domain in row 5, and a salary in row 9 that is far too large."""
    rows = [candidate(number, First=f"Ada{number}") for number in range(24)]
    rows[3] = candidate(3, First="Ada3", **{"E-mail": "person3@gmial.com"})
    rows[7] = candidate(7, First="Ada7", Salary="1000000")
    return write_csv(front_door.folder / "people.csv", rows)


def test_rows_with_a_warning_are_sent_and_shown(front_door: FrontDoor, people: Path) -> None:
    """The check and the run show each warning with its cell, the rows are sent, and their file names the warning."""
    checked = front_door("check", people.name, "--mapping", "mapping.yaml", "--sandbox")
    assert (checked.code, ON_THE_SCREEN in checked.out) == (0, True), checked.out
    ran = front_door("run", people.name, "--mapping", "mapping.yaml", "--sandbox", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 24})
    assert ran.summary["warnings"] == [FAR]
    (group,) = ran.summary["problems"]
    assert (group["severity"], group["outcome"], group["what"], group["hint"]) == ("warning", "created", *TYPO)
    created = read_csv(front_door.folder / "results" / ran.summary["run"] / "201_created.csv")
    assert [(row["import_row"], row["import_hint"]) for row in created if row["import_problem"]] == [("5", TYPO[1])]


def test_warnings_are_not_repeated_where_nothing_is_left_to_do(front_door: FrontDoor, people: Path) -> None:
    """A second run of a file whose rows are all imported sends nothing, and does not warn of them again."""
    arguments = ("run", people.name, "--mapping", "mapping.yaml", "--sandbox")
    assert LINES + OF_FILE in front_door(*arguments, "--verbose").out
    again = front_door(*arguments)
    assert "24 already imported" in again.out
    assert "Warnings" not in again.out + again.err


def test_a_run_asks_after_the_warnings(front_door: FrontDoor, people: Path) -> None:
    """Whoever is asked whether to send the rows has all warnings before."""
    asked: list[Planned] = []
    settings = Settings(out=front_door.folder / "results")
    order = Order(people, front_door.folder / "mapping.yaml", settings, sending=Sending(sandbox_setup=SandboxSetup()))
    assert import_file(order, confirm=lambda planned: bool(asked.append(planned))) is None
    (target,) = asked
    assert (target.forecast.ready, [group.message for group in target.forecast.warned]) == (
        24, [f'{people}, row 5, column "E-mail": {"; ".join(TYPO)}']
    )  # fmt: skip
    assert list(target.warnings) == [FAR.replace("people.csv", str(people)).replace("mapping.yaml", str(order.mapping))]
    assert "\n".join(problem_lines("Warnings", target.forecast.warned)) == LINES.rstrip("\n")


def test_strict_holds_back_rows_with_a_warning(front_door: FrontDoor, people: Path) -> None:
    """With --strict, a row with a warning is invalid and the others are sent; without it, both are."""
    write_csv(people, [candidate(1, **{"E-mail": "person1@gmial.com"}), candidate(2)])
    run = ("run", people.name, "--mapping", "mapping.yaml", "--sandbox")
    ran = front_door(*run, "--strict", "--json")
    assert (ran.code, ran.counts) == (4, {"created": 1, "invalid": 1})
    (group,) = ran.summary["problems"]
    assert (group["severity"], group["outcome"], group["code"]) == ("error", "invalid", "email-domain-mistyped")
    shown = front_door("show", ran.summary["run"]).out
    assert "Send the rows that are ready" not in shown  # nothing is left to send
    fixed = next(line.split() for line in shown.splitlines() if line.endswith("/report.xlsx"))
    assert front_door(*fixed[1:]).code == 3  # nothing was fixed
    lenient = front_door(*run, "--json")
    assert (lenient.code, lenient.counts) == (0, {"already_imported": 1, "created": 1})


def test_strict_refuses_a_file_with_a_warning(front_door: FrontDoor, people: Path) -> None:
    """With --strict, a warning about the whole file ends a run with exit code 3 before it sends anything."""
    arguments = (people.name, "--mapping", "mapping.yaml", "--sandbox")
    ran = front_door("run", *arguments, IMPORTER_STRICT="yes")
    assert ran.code == 3
    message, _, hint = FAR.partition("; ")
    assert f"importer: 1 problem found; nothing was sent.\n\n{message} [number-far-off]\n  -> {hint}\n" in ran.err
    checked = front_door("check", *arguments, "--strict", "--verbose")
    assert checked.code == 3
    assert "[email-domain-mistyped]" in checked.out  # the check still shows all that is to correct
    assert OF_FILE in checked.out
    assert "1. Fix the rows in report.xlsx" in checked.out
    assert "2. Correct what the warnings name: with --strict, nothing is sent before that" in checked.out


def test_a_long_file_is_warned_about_at_the_end(front_door: FrontDoor) -> None:
    """A file that is too long to be checked before it is sent gives the same warnings, in its report."""
    rows = [candidate(number, First=f"Ada{number}") for number in range(4_100)]
    rows[4_000] = candidate(4_000, First="Ada4000", Salary="1000000")
    rows[4_001] = candidate(4_001, First="Ada4001", **{"E-mail": "person4001@gmial.com"})
    write_csv(front_door.folder / "people.csv", rows)
    ran = front_door("check", "people.csv", "--mapping", "mapping.yaml", "--sandbox", "--json")
    assert (ran.code, ran.counts) == (0, {"not_sent": 4_100})
    assert ran.summary["warnings"] == [FAR.replace("row 9", "row 4002")]
    assert [(group["severity"], group["places"]) for group in ran.summary["problems"]] == [("warning", ["row 4003"])]
