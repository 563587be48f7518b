"""A run that is killed, interrupted or started twice: no candidate is imported twice, and every row has an outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
from tests.cli.conftest import Served, candidate, read_csv
from tests.cli.test_run import RUN, people
from tests.patience import PATIENCE
from tests.samples.sample import LEGACY, NIGHTLY, Sample

Serve = Callable[..., Served]
SLOW = {"kind": "delay", "share": 1, "ms": 30, "jitter_ms": 30, "times": 9}
FAULTS = [{"kind": "503", "every": 25, "when": "after"}, {"kind": "reset", "every": 40, "when": "after"}]


def summaries(folder: Path) -> list[dict[str, Any]]:
    """The summaries of all runs, the oldest first."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("results/2*/summary.json"))]


def rows_in_files(folder: Path, run: str) -> Counter[str]:
    """How often each row number occurs in the CSV files of a run."""
    files = (folder / "results" / run).glob("*.csv")
    return Counter(row["import_row"] for path in files if path.name != "source.csv" for row in read_csv(path))


@pytest.mark.net
@pytest.mark.parametrize("accepted", [1, 23])
def test_kill_in_the_middle_then_the_same_command(serve: Serve, accepted: int) -> None:
    """After kill -9 the same command brings every row in, once; the killed run's report is true and complete."""
    served = serve(SLOW, *FAULTS)
    folder = served.door.folder
    people(folder, 60, candidate(99, Salary="a lot"))
    served.killed_after(accepted, *RUN, "--json")
    known = len(served.accepted)
    assert summaries(folder)[0]["finished"] is False

    again = served(*RUN, "--json")
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in range(60))
    assert again.code == 4
    assert set(again.counts) <= {"created", "already_exists", "already_imported", "invalid"}
    assert sum(again.counts.values()) == 61

    killed = summaries(folder)[0]
    outcomes = killed["outcomes"]
    assert (killed["finished"], sum(outcomes.values())) == (False, 61)
    assert outcomes["created"] + outcomes["already_exists"] <= known <= 61 - outcomes["not_sent"]
    assert rows_in_files(folder, killed["run"]) == Counter({str(number): 1 for number in range(2, 63)})
    assert f"Run {killed['run']} was killed" in again.err


INTERRUPTIONS = [
    pytest.param(signal.SIGINT, 130, id="SIGINT"),
    pytest.param(signal.SIGTERM, 143, id="SIGTERM"),
    pytest.param(signal.SIGHUP, 143, id="SIGHUP"),
]


@pytest.mark.parametrize(("number", "code"), INTERRUPTIONS)
def test_a_signal_drains_and_reports(serve: Serve, number: signal.Signals, code: int) -> None:
    """After the first signal, pending requests finish, and the report is written."""
    served = serve(SLOW)
    people(served.door.folder, 60)
    with served.held_after(9) as go_on, served.door.started(*RUN, "--json") as process:
        served.wait_for(9)
        process.send_signal(number)
        go_on()
        out, err = process.communicate(timeout=PATIENCE)
    summary = json.loads(out)
    assert process.returncode == summary["exit_code"] == code
    assert summary["finished"] is False
    assert summary["outcomes"]["created"] == len(served.accepted) == 60 - summary["outcomes"]["not_sent"]
    assert "Stopping: waiting for pending requests" in err
    again = served(*RUN, "--json")
    assert again.code == 0
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in range(60))


@pytest.mark.net
def test_a_second_signal_stops_now(serve: Serve) -> None:
    """The second signal ends the process at once; the next run resends what was pending."""
    served = serve({"kind": "hang_after", "first": 5, "seconds": 300, "operation": "apply"})
    people(served.door.folder, 20)
    with served.door.started(*RUN, IMPORTER_READ_TIMEOUT="200") as process:
        served.wait_for(1)
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        while "Stopping" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 143
        assert "Stopped. Run the same command again to continue." in process.stderr.read()
    assert served(*RUN, "--json", IMPORTER_READ_TIMEOUT="0.5").code == 0
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in range(20))


def test_one_run_at_a_time(serve: Serve) -> None:
    """A second run for the same target names the process that holds the lock, and exits with 75 at once."""
    served = serve(SLOW)
    people(served.door.folder, 400)
    with served.door.started(*RUN, "--json", "--rate", "4") as process:
        served.wait_for(3)
        second = served(*RUN, "--json")
        assert second.code == 75
        assert f"process {process.pid} on " in second.err
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 143
    # The one that was turned away leaves no run behind.
    assert len(summaries(served.door.folder)) == 1


def test_a_second_run_is_refused_before_its_file_is_read(serve: Serve) -> None:
    """The second run ends at once, even with a large file, and does not check the file."""
    served = serve()
    scope = Scope(served.sandbox.base_url, Target(Operation.APPLY, "4f2c9a"))
    with open_ledger(served.door.folder / "results" / "ledger.sqlite") as ledger, ledger.lock_target(scope):
        assert served("run", "not-there.csv", "--mapping", "mapping.yaml").code == 75


@pytest.mark.parametrize("sample", [LEGACY, NIGHTLY], ids=lambda sample: sample.name)
def test_check_on_the_samples_sends_no_post(serve: Serve, sample: Sample) -> None:
    """The sandbox's own log shows nothing but the question list."""
    served = serve()
    assert served("check", str(sample.file), "-m", str(sample.mapping), "--json").code == 4
    assert [request for request in served.sandbox.requests if request.method != "GET"] == []


CLOSED = [
    pytest.param(">&-", 4, id="stdout closed"),
    pytest.param("2>&-", 4, id="stderr closed"),
    pytest.param(">&- 2>&- <&-", 0, id="all closed"),
    pytest.param("2>/dev/full", 4, id="stderr on a full disk"),
    pytest.param(">/dev/full", 0, id="stdout on a full disk"),
    pytest.param(">/dev/full 2>&1", 4, id="both on a full disk"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full")
@pytest.mark.parametrize(("streams", "code"), CLOSED)
def test_a_run_ends_with_its_own_code_whatever_its_streams_are(serve: Serve, streams: str, code: int) -> None:
    """A closed stream, or one on a full disk, changes neither what is sent nor the exit code; there is no traceback."""
    served = serve()
    people(served.door.folder, 30, *([candidate(99, Salary="a lot")] if code else []))
    ran = in_a_shell(served, f'"$@" {streams}')
    assert (ran.returncode, "Traceback" in ran.stdout + ran.stderr) == (code, False)
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in range(30))
    assert summaries(served.door.folder)[0]["exit_code"] == code


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full")
def test_results_that_cannot_be_written_are_missed_by_name(serve: Serve) -> None:
    """A program that reads stdout gets nothing of a full disk; stderr says why."""
    served = serve()
    people(served.door.folder, 3)
    ran = in_a_shell(served, '"$@" --json >/dev/full')
    last = "importer: stdout cannot be written (No space left on device)"
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (0, last)


def in_a_shell(served: Served, line: str) -> subprocess.CompletedProcess[str]:
    """The run, as "$@" of a line of a shell."""
    return subprocess.run(
        ["sh", "-c", line, "sh", sys.executable, "-m", "importer", *RUN],
        cwd=served.door.folder,
        env=served.door.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_run_that_ignores_the_hangup_goes_on(serve: Serve) -> None:
    """Under nohup, closing the terminal does not stop it."""
    served = serve()
    people(served.door.folder, 30)
    with served.held_after(9) as go_on:
        process = subprocess.Popen(
            ["nohup", sys.executable, "-m", "importer", *RUN],
            cwd=served.door.folder,
            env=served.door.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        served.wait_for(9)
        process.send_signal(signal.SIGHUP)
        go_on()
        assert process.wait(timeout=PATIENCE) == 0
    assert len(served.accepted) == 30


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_a_terminal_that_is_closed_ends_a_run_with_its_report(serve: Serve) -> None:
    """The hangup may come twice, and nothing can be shown any more: pending requests finish, the report is written."""
    served = serve(SLOW)
    people(served.door.folder, 60)
    ours, theirs = os.openpty()
    with served.held_after(9) as go_on:
        process = subprocess.Popen(
            [sys.executable, "-m", "importer", *RUN, "--yes"],
            cwd=served.door.folder,
            env={**served.door.environment, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        served.wait_for(9)
        os.close(ours)
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
        go_on()
        assert process.wait(timeout=PATIENCE) == 143
    (summary,) = summaries(served.door.folder)
    assert (summary["exit_code"], summary["finished"]) == (143, False)
    assert summary["outcomes"]["created"] == len(served.accepted) == 60 - summary["outcomes"]["not_sent"]
