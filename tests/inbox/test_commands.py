"""`importer inbox` at the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from importer.inbox.folders import open_inbox
from tests.cli.conftest import FrontDoor, Served, candidate, write_csv
from tests.inbox.conftest import RULES, write_rules


def inbox_in(folder: Path, complete: str = "renamed") -> Path:
    """A new inbox: a folder with inbox.toml alone."""
    inbox = folder / "box"
    inbox.mkdir(0o755)
    write_rules(inbox, f'{RULES}complete = "{complete}"\n')
    return inbox


def test_a_folder_without_rules_is_not_an_inbox(front_door: FrontDoor) -> None:
    """The message says what to write; nothing is made."""
    (front_door.folder / "box").mkdir()
    ran = front_door("inbox", "run", "box")
    assert (ran.code, ran.out, ran.err) == (
        3,
        "",
        "importer: 1 problem found; nothing was sent.\n\nbox: this folder is not an inbox [inbox-not-found]\n"
        "  -> write inbox.toml in it, as docs/inbox.md shows\n",
    )
    assert list((front_door.folder / "box").iterdir()) == []


def test_a_user_tries_an_inbox_and_looks_at_its_status(front_door: FrontDoor) -> None:
    """The folders are made; each command names the next one; status ends with 4 if no file came in time."""
    inbox_in(front_door.folder)
    late = front_door("inbox", "status", "box", "--expect-every", "24h")
    assert (late.code, late.out) == (
        4,
        "box: 0 files waiting, 0 in work, 0 in attention\n"
        "  pattern    people*.csv: no file yet; LATE: one is expected every 24h\n",
    )
    assert front_door("inbox", "run", "box", "--sandbox").err == "No file was complete and waiting.\n"
    write_csv(front_door.folder / "box" / "incoming" / "people.csv", [candidate(1), candidate(2, Salary="much")])
    assert front_door("inbox", "run", "box", "--sandbox").code == 4
    (reason,) = (front_door.folder / "box" / "attention").glob("*/reason.txt")
    text = reason.read_text()
    assert "1 created" in text
    assert "importer inbox run box --sandbox\n" in text
    status = front_door("inbox", "status", "box", "--expect-every", "24h")
    assert status.code == 4
    assert (
        f"  attention  people.csv: 1 of its 2 rows need a person; what to do: {reason.relative_to(front_door.folder)}\n"
        in status.out
    )
    assert "  pattern    people*.csv: last arrived people.csv, 20" in status.out
    released = front_door("inbox", "release", "box", "people.csv")
    assert (released.code, released.out) == (0, "people.csv is released; the next pass imports it.\n")
    assert front_door("inbox", "release", "box", "people.csv").out == released.out  # it waits in working
    unknown = front_door("inbox", "release", "box", "person.csv")
    assert (unknown.code, unknown.err) == (
        2,
        "importer: box/attention has no file person.csv; list its files with: importer inbox status box\n",
    )


def test_the_status_says_what_each_file_waits_for(front_door: FrontDoor) -> None:
    """With times."""
    (front_door.folder / "mapping.yaml").touch()
    inbox = open_inbox(inbox_in(front_door.folder, complete="unchanged"))
    for name in ("people1.csv", "people2.csv.part"):
        (inbox.incoming / name).touch()
    assert inbox.take("people1.csv", "people*.csv", None, datetime(2026, 3, 1, 2, tzinfo=UTC)) is not None
    (inbox.incoming / "people3.csv").touch()
    shown = front_door("inbox", "status", "box")
    assert shown.code == 0
    assert re.sub(r"for \d+ seconds?\n", "for some time\n", shown.out).splitlines() == [
        "box: 2 files waiting, 1 in work, 0 in attention",
        "  incoming   people2.csv.part has the name of an unfinished transfer, and waits until its sender renames it; "
        "unchanged for some time",
        "  incoming   people3.csv is taken once it is unchanged for 10 seconds; unchanged for some time",
        "  working    people1.csv: taken; it is being imported, or the next pass imports it",
        "  pattern    people*.csv: last arrived people1.csv, 2026-03-01 02:00 UTC",
    ]


def test_a_signal_stops_a_worker_after_pending_requests(serve: Callable[..., Served], tmp_path: Path) -> None:
    """The file stays in working/, and the next pass continues it."""
    served = serve()
    incoming = inbox_in(tmp_path) / "incoming"
    incoming.mkdir()
    write_csv(incoming / "people.csv", [candidate(number) for number in range(30)])
    with served.held_after(5) as go_on, served.door.started("inbox", "run", "box") as worker:
        served.wait_for(5)
        worker.terminate()
        assert worker.stderr is not None
        while "Stopping" not in worker.stderr.readline():
            pass
        go_on()
        assert worker.wait() == 143
    assert 5 <= len(served.accepted) < 30
    assert len(list((tmp_path / "box" / "working").glob("*/people.csv"))) == 1
    assert served("inbox", "run", "box").code == 0
    assert len(served.accepted) == len(set(served.accepted)) == 30


def test_forget_names_the_file_where_the_inbox_has_put_it(front_door: FrontDoor) -> None:
    """It is no file of the importer, and it is not where it was when it was imported."""
    inbox = inbox_in(front_door.folder)
    assert front_door("inbox", "run", "box", "--sandbox").code == 0
    write_csv(inbox / "incoming" / "people.csv", [candidate(1), candidate(2)])
    assert front_door("inbox", "run", "box", "--sandbox").code == 0
    (kept,) = (inbox / "done").glob("*/people.csv")
    forgotten = front_door("forget", "person1@example.com", "--yes")
    assert forgotten.code == 0
    words = " ".join((forgotten.out + forgotten.err).split())
    assert "1 row blanked in 1 folder." in words
    assert f"{kept}: has the address too" in words
    assert "person1@example.com" in kept.read_text()
