"""A file of more than 2,000 candidates: checked by several processes, and true in every ending."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.app import import_file
from tests.cli.conftest import FrontDoor, Served, candidate, read_csv, write_csv

pytestmark = pytest.mark.net

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--concurrency", "32", "--json")
ROWS = 2_300
BROKEN_AT = 2_200


@pytest.fixture
def served(serve: Serve) -> Served:
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(ROWS)])
    return served


def break_file(folder: Path, row: int) -> None:
    """A quote in the middle of a cell, and a line after it that may be a part of that cell: nothing proves more."""
    path = folder / "people.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[row - 1] = lines[row - 1].replace("Ada", '"Ada" x') + "\nor not"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_row_of_a_large_file_is_accounted_for(served: Served) -> None:
    """A duplicate of the first row is found at the end; later runs, and the report that is written again, say what the
    first run said.
    """
    rows = [candidate(number) for number in range(ROWS)]
    rows[-3:] = [candidate(0), candidate(1, Salary="a lot"), candidate(2_400)]
    write_csv(served.door.folder / "people.csv", rows)
    first = served(*RUN)
    assert first.counts == {"created": ROWS - 2, "invalid": 2}
    assert (first.code, first.summary["source"]["rows"]) == (4, ROWS)
    folder = served.door.folder / "results" / first.summary["run"]
    assert read_csv(folder / "invalid.csv")[0]["import_problem"] == (
        f'row {ROWS - 1}, column "E-mail": the e-mail address is the same as in row 2, which is imported instead'
    )
    along = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".csv", ".json")}
    assert served("report", folder.name).code == 0
    assert {name: (folder / name).read_bytes() for name in along} == along
    assert not list(folder.glob(".writing-*"))

    second, third = served(*RUN), served(*RUN)
    assert second.counts == third.counts == {"already_imported": ROWS - 2, "invalid": 2}
    assert second.summary["problems"] == third.summary["problems"] == first.summary["problems"]
    assert second.summary["requests"] == {"sent": 0, "retried": 0}
    assert list(served.door.folder.glob("results/*/run.sqlite-*")) == []  # an open journal has a log beside it


def test_nothing_is_sent_of_a_large_file_that_cannot_be_read_to_its_end(served: Served) -> None:
    """The break is found before the first request, and its row is named; then every row is sent once."""
    break_file(served.door.folder, BROKEN_AT)
    ran = served(*RUN)
    assert (ran.code, served.accepted) == (3, [])
    assert f"people.csv, row {BROKEN_AT}" in ran.err
    assert list((served.door.folder / "results").glob("2*")) == []
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(ROWS)])
    assert served(*RUN).counts == {"created": ROWS}


def test_a_large_run_that_is_killed_is_reported_with_all_its_rows(serve: Serve) -> None:
    """The report of a run that did not read its whole file covers the whole file."""
    served = serve({"kind": "delay", "ms": 20, "share": 1.0})
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(ROWS)])
    served.killed_after(50, *RUN)
    folder = next((served.door.folder / "results").glob("2*"))
    shown = served("report", folder.name, "--json")
    counts = shown.summary["outcomes"]
    assert sum(counts.values()) == shown.summary["source"]["rows"] == ROWS
    assert counts["created"] + counts["unconfirmed"] >= 50
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["rows"] == ROWS


def test_without_the_ledger_no_row_counts_as_imported(serve: Serve) -> None:
    """Imported rows of an earlier run count only if the ledger knows that run."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(30)])
    assert served(*RUN).counts == {"created": 30}
    for path in (served.door.folder / "results").glob("ledger*"):
        path.unlink()
    assert served(*RUN).counts == {"already_exists": 30}


def test_the_first_line_about_a_large_file(front_door: FrontDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a large file is read, a line says that it is being read, and its size."""
    monkeypatch.setattr(import_file, "_LARGE_FILE", 100)
    write_csv(front_door.folder / "people.csv", [candidate(1), candidate(2)])
    first, *_ = front_door("check", "people.csv", "--mapping", "mapping.yaml", "--sandbox").err.splitlines()
    assert first == "Reading people.csv (0 MB) ..."
