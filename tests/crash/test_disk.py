"""A disk that is full, read-only, or has lost the ledger: a clear message, and nobody twice afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.fork_server import ForkServer
from tests.crash.imports import (
    SHORT_TIMEOUTS,
    Recorder,
    recorded_sandbox,
    temporary_folder,
    write_mappings,
    write_people,
)

pytestmark = pytest.mark.timeout(300)  # many processes, which wait if the machine is busy
ROWS = 60
NOBODY = 65534 if os.getuid() == 0 else None  # root can write anywhere
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--out", "disk/results")
EVERYBODY = Counter(f"person{number}@example.com" for number in range(ROWS))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Recorder]:
    write_mappings(tmp_path)
    write_people(tmp_path / "people.csv", range(ROWS))
    (tmp_path / "disk").mkdir()
    with recorded_sandbox(tmp_path, []) as recorder:
        yield recorder


@pytest.fixture
def run(tmp_path: Path, fork_server: ForkServer, service: Recorder) -> Callable[[], tuple[int, str]]:
    """Runs the import; returns its exit code and output."""

    def once() -> tuple[int, str]:
        (tmp_path / "output.txt").unlink(missing_ok=True)
        code = fork_server.start(tmp_path, RUN, {**SHORT_TIMEOUTS, **service.environment}).end()
        return code, (tmp_path / "output.txt").read_text("utf-8").replace(str(tmp_path), "")

    return once


@pytest.fixture
def mounted(tmp_path: Path, service: Recorder) -> Iterator[Callable[[int], None]]:
    """Call it with a size in KB to set the size of the folder `disk`."""
    place = tmp_path / "disk"

    def mount(*options: str) -> int:
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
        return subprocess.run(command, check=False, capture_output=True).returncode

    if mount("size=64k"):
        pytest.skip("file systems cannot be mounted here: this needs root")
    try:
        yield lambda kilobytes: None if mount("remount", f"size={kilobytes}k") == 0 else pytest.fail("no remount")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_at_twenty_points(
    service: Recorder, mounted: Callable[[int], None], run: Callable[[], tuple[int, str]]
) -> None:
    """From no space to enough: each stop is reported, there is no traceback, and nobody is entered twice."""
    codes = []
    for step in range(20):
        mounted(64 + step * 140)
        code, output = run()
        codes.append(code)
        assert code in (0, 3, 5)
        assert "Traceback" not in output
        if code:
            assert any(
                word in output
                for word in ("cannot be written", "cannot be created", "No space left", "free disk space")
            )
        service.look()
        assert all(count == 1 for count in Counter(service.accepted).values())
    assert codes[0] == 3
    mounted(60_000)
    assert run()[0] == 0
    service.look()
    assert Counter(service.accepted) == EVERYBODY


CLOSED = {
    0o555: "the results folder cannot be created: Permission denied [not-writable]\n"
    "  -> choose another folder with --out or IMPORTER_OUT, or get write permission there\n",
    0o600: "this folder cannot be read: Permission denied [results-folder-untrusted]\n"
    "  -> choose another folder with --out or IMPORTER_OUT, or get permission for this one\n",
}


@pytest.mark.parametrize("mode", CLOSED, ids=oct)
def test_a_folder_without_the_right_to_write(fork_server: ForkServer, service: Recorder, mode: int) -> None:
    """A results folder without write permission is reported before anything is sent; root runs this as another user."""
    folder = temporary_folder()
    try:
        write_mappings(folder)
        write_people(folder / "people.csv", range(ROWS))
        (folder / "results").mkdir()
        for path in (folder / "results", folder):
            path.chmod(mode if path.name == "results" else 0o555)
            os.chown(path, NOBODY or -1, -1)
        command = (*RUN[:-1], "results")
        process = fork_server.start(folder, command, {**SHORT_TIMEOUTS, **service.environment}, user=NOBODY)
        code = process.end()
        output = (folder / "output.txt").read_text("utf-8")
        assert (code, output) == (3, f"importer: 1 problem found; nothing was sent.\n\nresults: {CLOSED[mode]}")
        assert service.look() == 0
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_a_read_only_disk(
    service: Recorder, mounted: Callable[[int], None], tmp_path: Path, run: Callable[[], tuple[int, str]]
) -> None:
    """A results folder on a read-only disk is reported before anything is sent, also to root."""
    subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
    code, output = run()
    assert (code, "cannot be created: Read-only file system" in output, service.look()) == (3, True, 0)


@pytest.mark.parametrize("also", ["", ".importer/"], ids=["alone", "with its key"])
def test_a_ledger_that_was_deleted(
    tmp_path: Path, service: Recorder, run: Callable[[], tuple[int, str]], also: str
) -> None:
    """Without its ledger all rows are sent again, the service reports duplicates, and nobody is entered twice."""
    assert run()[0] == 0
    for name in {"ledger.sqlite", f"{also}ledger.sqlite.key" if also else "ledger.sqlite"}:
        (tmp_path / "disk" / "results" / name).unlink()
    assert run()[0] == 0
    service.look()
    assert Counter(service.accepted) == EVERYBODY


def test_a_damaged_ledger(tmp_path: Path, service: Recorder, run: Callable[[], tuple[int, str]]) -> None:
    """A damaged ledger is reported with what to do; after it is moved away, everybody is entered once."""
    assert run()[0] == 0
    ledger = tmp_path / "disk" / "results" / "ledger.sqlite"
    with ledger.open("r+b") as file:
        file.seek(0)
        file.write(b"\\0" * 8192)
    code, output = run()
    assert code == 3
    assert output.endswith(
        "importer: 1 problem found; nothing was sent.\n\n"
        "disk/results/ledger.sqlite: it is not a readable database (file is not a database), so nothing is sent"
        " [ledger-damaged]\n"
        "  -> restore it from a backup; if you move it away instead, every row is sent again and the service reports "
        "which candidates it already has\n"
    )
    ledger.rename(ledger.with_suffix(".old"))
    assert run()[0] == 0
    service.look()
    assert Counter(service.accepted) == EVERYBODY
