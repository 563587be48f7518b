"""Rows that were corrected in a results file and entered from there: the original knows them when it is run again."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import HEADER, Ran, Served, candidate, read_csv, write_csv
from tests.cli.test_run import RUN

Serve = Callable[..., Served]
BAD = "ada(at)example.com"
MAIL = "E-mail"


def run_first(served: Served, *rows: list[str]) -> Path:
    """The folder of a first run of these rows, or of one row with a wrong e-mail."""
    write_csv(served.door.folder / "people.csv", list(rows) or [candidate(1), candidate(2, **{MAIL: BAD})])
    return Path("results") / str(served(*RUN, "--json").summary["run"])


def correct(served: Served, file: Path, *changes: dict[str, str]) -> Ran:
    """Change the rows of a results file, one change for each, and import it."""
    path = served.door.folder / file
    rows = read_csv(path)
    changed = [row | change for row, change in zip(rows * len(changes), changes, strict=False)]
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(changed)
    return served("run", str(file), "--mapping", "mapping.yaml", "--json")


def test_a_corrected_row_is_known_to_its_original(serve: Serve) -> None:
    """Also if the e-mail was corrected: the original sends nothing, and names run, file and row."""
    refused = {"kind": "refuse", "emails": ["person3@example.com"], "message": "no such mailbox", "times": 9}
    served = serve({**refused, "operation": "apply"})
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}), candidate(3), candidate(4, Salary="a lot"))
    changes = ({MAIL: "ada@example.com"}, {"Salary": "900"})
    one = correct(served, first / "invalid.csv", *changes)
    other = correct(served, first / "400_rejected.csv", {MAIL: "person33@example.com", "Phone": "+905550009999"})
    assert (one.counts, other.counts) == ({"created": 2}, {"created": 1})
    for command in ("check", "run", "run"):
        again = served(command, *RUN[1:], "--json")
        assert (again.code, again.counts) == (0, {"already_imported": 4})
        assert [(group["what"], group["places"]) for group in again.summary["problems"]] == [
            (
                f"corrected and imported by run {one.summary['run']} from invalid.csv, row 2",
                ["row 3", "row 4", "row 5"],
            )
        ]
    rows = read_csv(served.door.folder / "results" / again.summary["run"] / "already_imported.csv")
    assert [row["import_problem"] for row in rows] == [
        "",
        f"corrected and imported by run {one.summary['run']} from invalid.csv, row 2",
        f"corrected and imported by run {other.summary['run']} from 400_rejected.csv, row 2",
        f"corrected and imported by run {one.summary['run']} from invalid.csv, row 3",
    ]
    assert len(served.accepted) == 4


def test_a_row_that_was_corrected_three_times(serve: Serve) -> None:
    """The last correction is followed back to the original."""
    served = serve()
    first = run_first(served)
    second = correct(served, first / "invalid.csv", {MAIL: "ada@example"})
    assert second.counts == {"invalid": 1}
    third = correct(served, Path("results") / second.summary["run"] / "invalid.csv", {MAIL: "ada@example..com"})
    assert third.counts == {"invalid": 1}
    results = Path("results") / third.summary["run"] / "invalid.csv"
    assert correct(served, results, {MAIL: "ada@example.com"}).counts == {"created": 1}
    assert served(*RUN, "--json").counts == {"already_imported": 2}


# Their names, and most of what they answer, are different.
OTHER = {MAIL: "eve@example.com", "First": "Eve", "CV": "7099", "Phone": "+905550000099", "Salary": "1"}
NO_CORRECTION = [
    pytest.param([{MAIL: "ada@example.com", "import_row": ""}], {"created": 1}, id="no row number"),
    pytest.param([{MAIL: "ada@example.com", "Salary": "much"}], {"invalid": 1}, id="still wrong"),
]


@pytest.mark.parametrize(("changes", "counts"), NO_CORRECTION)
def test_only_a_correction_that_was_entered_counts(
    serve: Serve, changes: list[dict[str, str]], counts: dict[str, int]
) -> None:
    """A row counts as imported only if its own correction was entered; import_row says which one it is."""
    served = serve()
    first = run_first(served)
    assert correct(served, first / "invalid.csv", *changes).counts == counts
    assert served(*RUN, "--json").counts == {"already_imported": 1, "invalid": 1}


def test_a_changed_original_row_is_a_row_of_its_own(serve: Serve) -> None:
    """After a change in the original, what was entered for its old content says nothing about it."""
    served = serve()
    first = run_first(served)
    assert correct(served, first / "invalid.csv", {MAIL: "ada@example.com"}).counts == {"created": 1}
    other = candidate(2, **(OTHER | {MAIL: "bob(at)example.com"}))
    write_csv(served.door.folder / "people.csv", [candidate(1), other])
    assert served(*RUN, "--json").counts == {"already_imported": 1, "invalid": 1}


def test_a_row_with_another_name_and_address_is_known_by_its_other_cells(serve: Serve) -> None:
    """If both were corrected, the original knows the row as entered, and a second correction enters nobody."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD, "Last": "?"}))
    entered = correct(served, first / "invalid.csv", {MAIL: "ada@example.com", "Last": "Byron"})
    assert entered.counts == {"created": 1}
    again = served(*RUN, "--json")
    assert (again.code, again.counts) == (0, {"already_imported": 2})
    twice = correct(served, first / "invalid.csv", {MAIL: "ada.work@example.com", "Last": "Lovelace"})
    assert twice.counts == {"already_imported": 1}
    assert served.accepted == ["person1@example.com", "ada@example.com"]


@pytest.mark.parametrize("way", ["invalid.csv", "report.xlsx"])
def test_the_address_of_another_row_stays_a_problem(serve: Serve, way: str) -> None:
    """A row with the address of another row of its file is invalid in a results file too; both cells are named."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: "person1@example.com"}), candidate(3, **{MAIL: BAD}))
    again = served("run", str(first / way), "--mapping", "mapping.yaml", "--json")
    assert (again.code, again.counts) == (4, {"invalid": 2})
    assert [(one["column"], one["what"]) for one in again.summary["problems"] if one["code"] == "email-duplicate"] == [
        (
            MAIL,
            f"the e-mail address is the same as in people.csv, row 2, which run {first.name} imported",
        )
    ]
    assert correct(served, first / "invalid.csv", {MAIL: "eve@example.com"}, {}).counts == {"created": 1, "invalid": 1}


def test_a_rehearsal_enters_nobody(serve: Serve) -> None:
    """A correction that only the sandbox accepted is not known to the real service."""
    served = serve()
    first = run_first(served)
    (served.door.folder / first / "invalid.csv").write_text(
        ",".join([*HEADER, "import_row"]) + "\n" + ",".join([*candidate(2), "3"]) + "\n", "utf-8"
    )
    rehearsed = served("run", str(first / "invalid.csv"), "--mapping", "mapping.yaml", "--sandbox", "--json")
    assert rehearsed.counts == {"created": 1}
    assert served(*RUN, "--json").counts == {"already_imported": 1, "invalid": 1}


def test_a_corrected_file_is_sent_again_as_it_was(serve: Serve) -> None:
    """`resume` reads the run's own copy: no cell takes the form of another row's, such as `12` for `0012`."""
    emails = ["ada2@example.com", "ada3@example.com"]
    served = serve({"kind": "401", "emails": emails[:1], "times": 1, "operation": "apply"})
    first = run_first(
        served, candidate(1), candidate(2, **{MAIL: BAD, "CV": "0012"}), candidate(3, **{MAIL: BAD, "CV": "12"})
    )
    one = correct(served, first / "invalid.csv", *({MAIL: email} for email in emails))
    assert one.counts == {"failed": 1, "not_sent": 1}
    assert served("resume", one.summary["run"], "--json").code == 0
    sent = {body["email"]: body["cv"] for body in served.sandbox.memory.accepted()}
    assert sent == {"person1@example.com": "7001", "ada2@example.com": "0012", "ada3@example.com": "12"}


def test_a_corrected_candidate_with_several_rows_is_known(serve: Serve) -> None:
    """Also if only the first row has the name and the e-mail, and only that row was corrected."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    group_by = "source: {group_by: {column: Last, blank: continues}}\n"
    mapping.write_text(mapping.read_text("utf-8") + group_by, "utf-8")
    other = ["", "", "", "", "", "", "1000"]
    first = run_first(served, candidate(1), other, candidate(2, **{MAIL: BAD}), other)
    assert correct(served, first / "invalid.csv", {MAIL: "ada@example.com"}, {}).counts == {"created": 2}
    again = served(*RUN, "--json")
    assert (again.code, again.counts) == (0, {"already_imported": 4})
    assert served("status", "people.csv").code == 0


def test_a_person_is_not_entered_twice_with_two_addresses(serve: Serve) -> None:
    """Neither by a second correction of a row, nor by a correction of a row that the original has entered meanwhile."""
    refused = {"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1}
    served = serve({**refused, "operation": "apply"})
    first = run_first(served)
    one = correct(served, first / "invalid.csv", {MAIL: "ada@example.com"})
    assert one.counts == {"created": 1}
    original = served(*RUN, "--json", "--resend-rejected")
    assert original.counts == {"created": 1, "already_imported": 1}
    for name, by, row in (
        ("invalid.csv", f"run {one.summary['run']} from invalid.csv", 2),
        ("400_rejected.csv", f"run {original.summary['run']} from people.csv", 2),
    ):
        again = correct(served, first / name, {MAIL: "eve@example.com"})
        assert again.counts == {"already_imported": 1}
        (problem,) = again.summary["problems"]
        assert problem["what"] == (f"sent with another e-mail address by {by}, row {row}; this row was not sent")
    assert len(served.accepted) == 2
    other = correct(served, first / "invalid.csv", {MAIL: "eve@example.com", "import_row": ""})
    assert other.counts == {"created": 1}


def test_the_note_names_the_run_that_entered_the_row(serve: Serve) -> None:
    """Not a later run of the same corrections, which skipped it."""
    served = serve()
    first = run_first(served, candidate(1, **{MAIL: BAD}), candidate(2, **{MAIL: BAD}))
    changes = ({MAIL: "ada@example.com"}, {}), ({}, {MAIL: "eve@example.com"})
    runs = [correct(served, first / "invalid.csv", *each).summary["run"] for each in changes]
    again = served(*RUN, "--json")
    noted = read_csv(served.door.folder / "results" / str(again.summary["run"]) / "already_imported.csv")
    assert [row["import_problem"].split(" from ")[0] for row in noted] == [
        f"corrected and imported by run {run}" for run in runs
    ]
