"""`importer diff RUN RUN`: what changed between two runs of a file, or of two versions of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from importer.runs.manifest import read_manifest, write_manifest
from tests.cli.conftest import Served, candidate, write_csv
from tests.cli.test_corrections import correct

Serve = Callable[..., Served]
CHECK = ("check", "people.csv", "--mapping", "mapping.yaml", "--json")
RUN = ("run", *CHECK[1:])
E_MAIL = "E-mail"


def people(served: Served, *rows: list[str]) -> None:
    write_csv(served.door.folder / "people.csv", list(rows))


def test_two_runs_of_one_file(serve: Serve) -> None:
    """Rows are paired by number; outcomes that changed come first, then each cause; nothing is written."""
    refused = {"kind": "refuse", "emails": ["person3@example.com"], "message": "no", "operation": "apply"}
    served = serve(refused)
    people(served, *(candidate(number) for number in (1, 2, 3)), candidate(4, Phone="12"), candidate(5, Salary="much"))
    first = served(*RUN, "--rows", "2-5").summary["run"]
    second = served(*RUN).summary["run"]
    before = {path: path.stat().st_mtime_ns for path in served.door.folder.rglob("*") if path.is_file()}
    shown = served("diff", first, COLUMNS="80")
    assert (shown.code, shown.err) == (0, f"\nNext: importer show {second}\n")
    assert shown.out == (
        f"First run:  {first}, people.csv, for job post 4f2c9a\n"
        f"Second run: {second}, people.csv, for job post 4f2c9a\n"
        "Rows are paired by their numbers, as both runs read the same file.\n"
        "\n"
        "       2 rows: created -> already imported\n"
        "       1 row:  only in the second run: invalid\n"
        "       1 row:  rejected, as before\n"
        "       1 row:  invalid, as before\n"
        "\n"
        "Problems that stayed (rows of the second run)\n"
        "       1  [rejected]: row 4\n"
        "       1  Phone [phone-invalid]: row 5\n"
        "\n"
        "New problems (rows of the second run)\n"
        "       1  Salary [integer-invalid]: row 6\n"
    )
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_two_versions_of_a_file(serve: Serve) -> None:
    """Rows are paired by e-mail, wherever they stand, and by name if the e-mail was fixed."""
    served = serve()
    people(served, candidate(1), candidate(2, **{E_MAIL: "person2"}), candidate(3, Phone="12"), candidate(4))
    first = served(*CHECK).summary["run"]
    people(served, candidate(5, Phone="13"), candidate(3), candidate(2), candidate(1, Salary="much"))
    second = served(*CHECK).summary["run"]
    found = json.loads(served("diff", first, second, "--json").out)
    assert (found["version"], found["runs"], found["paired_by"]) == (1, [first, second], "candidate")
    outcomes = [(one["before"], one["after"], one["count"]) for one in found["outcomes"]]
    assert sorted(outcomes, key=str) == [
        ("invalid", "ready", 2), ("ready", "invalid", 1), ("ready", None, 1), (None, "invalid", 1),
    ]  # fmt: skip
    causes = {(one["code"], one["column"]): one for one in found["problems"]}
    changes = {key: [one[name] for name in ("gone", "stayed", "new")] for key, one in causes.items()}
    assert changes == {
        ("email-invalid", E_MAIL): [1, 0, 0],
        ("phone-invalid", "Phone"): [1, 0, 1],
        ("integer-invalid", "Salary"): [0, 0, 1],
    }
    assert causes["phone-invalid", "Phone"]["places"] == {"gone": ["row 4"], "stayed": [], "new": ["row 2"]}


def test_a_fixed_results_file_is_compared_with_the_run_that_wrote_it(serve: Serve) -> None:
    """Its rows are those that they correct, also if e-mail and name changed; the others are only in the first run."""
    served = serve()
    people(served, candidate(1), candidate(2, **{E_MAIL: "person2"}), candidate(3, Phone="12"))
    first = served(*RUN).summary["run"]
    correct(served, Path("results") / first / "invalid.csv", {E_MAIL: "eve@example.com", "Last": "Nr9"}, {})
    found = json.loads(served("diff", first, "--json").out)
    assert found["paired_by"] == "import_row"
    assert {(one["before"], one["after"]): one["count"] for one in found["outcomes"]} == {
        ("created", None): 1, ("invalid", "created"): 1, ("invalid", "invalid"): 1,
    }  # fmt: skip


def test_what_is_good_is_no_new_problem(serve: Serve) -> None:
    """A row that was corrected in a results file and imported from it has no problem in the next run of its file."""
    served = serve()
    people(served, candidate(1), candidate(2, **{E_MAIL: "person2"}))
    first = served(*RUN).summary["run"]
    correct(served, Path("results") / first / "invalid.csv", {E_MAIL: "eve@example.com"}, {})
    again = served(*RUN).summary
    assert [group["code"] for group in again["problems"]] == ["imported-corrected"]
    shown = served("diff", first, again["run"]).out
    assert shown.endswith("\nProblems that are gone (rows of the first run)\n       1  E-mail [email-invalid]: row 3\n")


def test_a_run_that_has_not_ended_cannot_be_compared(serve: Serve) -> None:
    """Its journal may lack rows that the ledger knows: the message has the command that completes it."""
    served = serve()
    people(served, candidate(1))
    run = served(*RUN).summary["run"]
    folder = served.door.folder / "results" / run
    write_manifest(folder, replace(read_manifest(folder), ending=None))
    ran = served("diff", run, run)
    assert ran.code == 2
    complete = f"importer report {run} --out results"
    assert ran.err == f"importer: run {run} has not ended; if it was killed, complete it with: {complete}\n"
