"""report.html of a run."""

from __future__ import annotations

from tests.cli.conftest import FrontDoor, candidate, write_csv


def test_a_run_writes_it_again_the_same(front_door: FrontDoor) -> None:
    """importer report writes the same page again from the files of the run."""
    write_csv(front_door.folder / "people.csv", [candidate(1), candidate(2, Phone="call me")])
    ran = front_door("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox", "--json")
    page = front_door.folder / "results" / ran.summary["run"] / "report.html"
    before = page.read_text("utf-8")
    page.unlink()
    assert front_door("report", "last").code in (0, 4)
    assert page.read_text("utf-8") == before
