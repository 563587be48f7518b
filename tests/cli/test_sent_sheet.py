"""report.xlsx shows what was sent, each answer beside its cells."""

from __future__ import annotations

from typing import Any

from openpyxl import load_workbook

from tests.cli.conftest import FrontDoor, Ran, candidate, write_csv

RUN = ("people.csv", "--mapping", "mapping.yaml", "--sandbox")
HEADER = ("Row", "Outcome", "Cell", "Column", "The file says", "Question", "Sent", "Note")


def _sheet(door: FrontDoor, ran: Ran, title: str) -> list[tuple[Any, ...]]:
    book = load_workbook(door.folder / "results" / ran.summary["run"] / "report.xlsx")
    return list(book[title].iter_rows(values_only=True))


def _lines(row: str, outcome: str, number: int, phone: str) -> list[tuple[Any, ...]]:
    sent = f"+90555000{number:04d}"
    note = None if phone == sent else "country code added"
    cells = [
        (f"A{row}", "E-mail", f"person{number}@example.com", "email", f"person{number}@example.com", None),
        (f"B{row}", "First", "Ada", "first_name", "Ada", None),
        (f"C{row}", "Last", f"Nr{number}", "last_name", f"Nr{number}", None),
        (f"D{row}", "CV", "7001", "cv", "7001", None),
        (f"E{row}", "Phone", phone, "phone", sent, note),
        (f"G{row}", "Salary", "1000", "salary", "1000", None),
        (f"F{row}", "Permit", "yes", "work_permit", "yes", None),
    ]
    return [(row, outcome, *cell) for cell in cells]


def test_what_was_sent(front_door: FrontDoor) -> None:
    """Each answer that this run sent is beside its cell; rows that it did not send are not there."""
    write_csv(front_door.folder / "people.csv", [candidate(1)])
    front_door("run", *RUN)
    people = [candidate(1), candidate(2, Phone="0555 000 0002"), candidate(3, Phone="call me")]
    write_csv(front_door.folder / "people.csv", people)
    ran = front_door("run", *RUN, "--json")
    assert ran.counts == {"created": 1, "already_imported": 1, "invalid": 1}
    found = _sheet(front_door, ran, "What was sent")
    assert found[0] == HEADER
    assert set(found[1:]) == set(_lines("3", "created", 2, "0555 000 0002"))


def test_what_would_be_sent(front_door: FrontDoor) -> None:
    """The report of a check has the same sheet for the rows that are ready, also when it is written again."""
    write_csv(front_door.folder / "people.csv", [candidate(1), candidate(2, Phone="call me")])
    ran = front_door("check", *RUN, "--json")
    assert set(_sheet(front_door, ran, "What would be sent")) == {
        HEADER, *_lines("2", "ready", 1, "+905550000001"),
    }  # fmt: skip
    before = _sheet(front_door, ran, "What would be sent")
    front_door("report", "last")
    assert _sheet(front_door, ran, "What would be sent") == before


def test_the_sheet_of_a_long_run(front_door: FrontDoor) -> None:
    """The report that another process writes during a long run has the sheet too, which ends at 2,000 lines."""
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(2_100)])
    ran = front_door("run", *RUN, "--json")
    found = _sheet(front_door, ran, "What was sent")
    assert len(found) == 1 + 285 * 7 + 1
    assert found[-1][0] == "Only the first 285 of 2,100 rows that were sent are shown here."
