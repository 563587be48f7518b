"""Which files of incoming/ are complete."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from importer.inbox.arrivals import Arrivals
from importer.inbox.folders import Inbox
from importer.inbox.rules import FileRule, Rules

UNCHANGED = FileRule.model_construct(pattern="*.csv", mapping=Path("m.yaml"))
MARKER = FileRule.model_construct(pattern="*.csv", mapping=Path("m.yaml"), complete="marker")
RENAMED = FileRule.model_construct(pattern="*.csv", mapping=Path("m.yaml"), complete="renamed")


def inbox_in(folder: Path, *rules: FileRule) -> Inbox:
    for name in ("incoming", "working", "done", "attention"):
        (folder / name).mkdir()
    return Inbox(folder, Rules.model_construct(files=rules))


def after_settling(inbox: Inbox) -> dict[str, str]:
    """What two looks say of each file: ready, or why not."""
    times = iter([0.0] * 50)
    arrivals = Arrivals(inbox, lambda: next(times))
    arrivals.look()
    times = iter([10.0] * 50)
    ready, waiting = arrivals.look()
    return {each.name: "ready" for each in ready} | {each.name: each.why for each in waiting}


FILES = [
    pytest.param(UNCHANGED, ["a.csv"], {"a.csv": "ready"}, id="unchanged"),
    pytest.param(
        UNCHANGED,
        ["a.csv", "~$a.csv", "b.csv", ".~lock.b.csv#"],
        dict.fromkeys(
            ("a.csv", "b.csv"), "waits until it is closed in a spreadsheet program, whose lock file is beside it"
        ),
        id="open in a spreadsheet program",
    ),
    pytest.param(
        UNCHANGED,
        ["a.csv.part", ".b.csv"],
        {"a.csv.part": "has the name of an unfinished transfer, and waits until its sender renames it"},
        id="a transfer",
    ),
    pytest.param(
        MARKER, ["a.csv", "b.csv", "b.csv.done"], {"a.csv": "waits for a.csv.done", "b.csv": "ready"}, id="a marker"
    ),
    pytest.param(RENAMED, ["a.csv", "A.CSV"], {"a.csv": "ready", "A.CSV": "ready"}, id="renamed, in any case"),
]


@pytest.mark.parametrize(("rule", "names", "expected"), FILES)
def test_a_file_is_complete_by_its_rule(
    tmp_path: Path, rule: FileRule, names: list[str], expected: dict[str, str]
) -> None:
    """And files of programs, markers and unfinished transfers are not files to import."""
    inbox = inbox_in(tmp_path, rule)
    for name in names:
        (inbox.incoming / name).touch()
    assert after_settling(inbox) == expected


def test_what_is_not_a_regular_file_is_never_taken(tmp_path: Path) -> None:
    """A link could lead to a file that its sender must not read; a pipe would never end."""
    inbox = inbox_in(tmp_path, UNCHANGED)
    (inbox.incoming / "link.csv").symlink_to(tmp_path / "secret")
    (inbox.incoming / "folder.csv").mkdir()
    os.mkfifo(inbox.incoming / "pipe.csv")
    (tmp_path / "secret").touch()
    (inbox.incoming / "second.csv").hardlink_to(tmp_path / "secret")
    assert after_settling(inbox) == {
        "link.csv": "is a symbolic link, which is never imported",
        "folder.csv": "is a folder, which is never imported",
        "second.csv": "has a second name (a hard link), and is never imported",
        "pipe.csv": "is a pipe or a device, which is never imported",
    }


def test_a_file_with_the_same_size_and_mtime_but_another_ctime_has_changed(tmp_path: Path) -> None:
    """Programs set mtime back after they wrote."""
    inbox = inbox_in(tmp_path, UNCHANGED)
    file = inbox.incoming / "a.csv"
    file.write_text("one")
    at = file.stat()
    times = [0.0, 10.0]
    arrivals = Arrivals(inbox, lambda: times.pop(0))
    arrivals.look()
    while file.stat().st_ctime_ns == at.st_ctime_ns:
        file.write_text("two")
        os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    _, waiting = arrivals.look()
    assert [each.why for each in waiting] == ["is still changing"]


def test_the_oldest_file_comes_first(tmp_path: Path) -> None:
    """As its sender says."""
    inbox = inbox_in(tmp_path, RENAMED)
    for name, at in (("b.csv", 1), ("a.csv", 2)):
        (inbox.incoming / name).touch()
        os.utime(inbox.incoming / name, (at, at))
    ready, _ = Arrivals(inbox, lambda: 0.0).look()
    assert [each.name for each in ready] == ["b.csv", "a.csv"]


def test_a_marker_that_a_crash_left_is_moved_but_not_that_of_the_next_file(tmp_path: Path) -> None:
    """Else the next file of the same name would look complete while it is written."""
    inbox = inbox_in(tmp_path, MARKER)
    marker = inbox.incoming / "a.csv.done"
    for path in (inbox.incoming / "a.csv", marker):
        path.touch()
    ((arrival,), _) = Arrivals(inbox, lambda: 0.0).look()
    record = inbox.take(arrival.name, "*.csv", arrival.marker, datetime(2026, 3, 1, tzinfo=UTC))
    assert record is not None
    assert list(inbox.incoming.iterdir()) == []
    (record.folder / "a.csv.done").rename(marker)  # as after a kill between the two renames
    assert inbox.unfinished() == [record]
    assert list(inbox.incoming.iterdir()) == []
    marker.write_text("the next one")
    assert inbox.unfinished() == [record]
    assert list(inbox.incoming.iterdir()) == [marker]
