"""`--part 2/4`: several machines import one file, with one ledger in PostgreSQL; one report joins the parts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from importer.ledger import open_ledger
from importer.settings import LedgerAddress
from tests.cli.conftest import MAPPING, Served, candidate, read_csv, write_csv
from tests.cli.test_corrections import BAD, MAIL, fix
from tests.cli.test_postgres_ledger import address, serve_on_server  # noqa: F401 - fixtures
from tests.cli.test_run import RUN
from tests.patience import PATIENCE, wait_until
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
ROWS = [
    *(candidate(number) for number in range(40)),
    candidate(3, Salary="1200"),  # twice
    candidate(50, **{MAIL: BAD}),
    candidate(51, **{MAIL: ""}),
    candidate(52, Last="Out"),
    candidate(53, Salary="a lot"),
]
COUNTS = {"created": 40, "invalid": 4, "filtered": 1}
WHERE = "source: {where: {column: Last, is_not: Out}}\n"


@pytest.fixture
def served(serve_on_server: Serve) -> Served:  # noqa: F811
    found = serve_on_server()
    write_csv(found.door.folder / "people.csv", ROWS)
    (found.door.folder / "mapping.yaml").write_text(MAPPING + WHERE, "utf-8")
    return found


def part(number: int, total: int = 4) -> tuple[str, ...]:
    return (*RUN, "--part", f"{number}/{total}", "--json")


def test_the_parts_are_the_whole_file(served: Served) -> None:
    """Each row is in one part, one person in one; the report of all says what that of one run would."""
    counts = Counter[str]()
    for number in range(1, 5):
        ran = served(*part(number))
        counts += Counter(ran.counts)
        assert ran.summary["run"].endswith(f".{number}of4")
        assert sum(ran.counts.values()) == ran.summary["source"]["rows"] < 20
    assert counts == COUNTS
    assert len(set(served.accepted)) == len(served.accepted) == 40
    joined = served("report", ran.summary["run"], "--json")
    assert (joined.summary["exit_code"], joined.counts, joined.summary["source"]["rows"]) == (4, COUNTS, 45)
    results = served.door.folder / "results" / joined.summary["run"]
    assert results.name.endswith(".4parts")
    files = [results / f"{name}.csv" for name in ("201_created", "invalid", "filtered")]
    rows = [row["import_row"] for file in files for row in read_csv(file)]
    assert sorted(map(int, rows)) == list(range(2, 47))
    assert [row["import_row"] for row in read_csv(results / "201_created.csv")] == [str(row) for row in range(2, 42)]
    again = served("report", results.name, "--json")
    assert (again.summary["run"], again.counts) == (results.name, COUNTS)
    assert served(*RUN, "--json").counts == {"already_imported": 40, "invalid": 4, "filtered": 1}


def test_a_missing_part_is_named(served: Served) -> None:
    """With the command that runs it; the rows of the others are there."""
    runs = [served(*part(number)) for number in (1, 2, 4)]
    joined = served("report", "last", "--json")
    assert (joined.summary["exit_code"], joined.summary["finished"]) == (5, False)
    assert sum(joined.counts.values()) == sum(sum(ran.counts.values()) for ran in runs) < 45
    shown = served("show", joined.summary["run"]).out
    assert "of 4 parts, these have no report yet: 3" in shown
    assert "importer run people.csv --mapping mapping.yaml --part 3/4" in " ".join(shown.split())
    served(*part(3))
    assert served("report", "last", "--json").counts == COUNTS


def test_a_killed_attempt_hides_nothing(served: Served) -> None:
    """What a part has sent is reported, whatever was begun after it."""
    first = served(*part(1, 2)).summary["run"]
    assert "these have no report yet: 2" in " ".join(served("report", first).out.split())
    second = served(*part(2, 2)).summary["run"]
    results = served.door.folder / "results"
    later = results / "20990101-020000-abcd.2of2"  # as if it was killed before it sent anything
    shutil.copytree(results / second, later)
    manifest = json.loads((later / "run.json").read_text("utf-8")) | {"run": later.name, "ending": None}
    (later / "run.json").write_text(json.dumps(manifest | {"started_at": "2099-01-01T02:00:00Z"}), "utf-8")
    joined = served("report", second, "--json")
    assert (joined.counts, joined.summary["exit_code"]) == (COUNTS, 4)


def test_the_joined_report_keeps_what_a_person_typed(served: Served) -> None:
    """As any report does; and a row of it is resolved in its part."""
    runs = [served(*part(number, 2)).summary["run"] for number in (1, 2)]
    joined = served("report", "last", "--json").summary["run"]
    report = served.door.folder / "results" / joined / "report.xlsx"
    fix(report, {MAIL: "person50@example.com"})
    assert "report_edited.xlsx" in served("report", joined).err
    assert report.with_name("report_edited.xlsx").exists()
    refused = served("resolve", joined, "3", "--created")
    assert (refused.code, f"in its part: {runs[0]}, {runs[1]}" in " ".join(refused.err.split())) == (2, True)
    assert served("forget", "person1@example.com", "--yes").code == 0
    assert served("report", joined, "--json").counts == COUNTS


def test_a_part_that_cannot_be_read_leaves_the_joined_report(served: Served) -> None:
    """Its table is missing or damaged: that is said, and nothing is replaced."""
    runs = [served(*part(number, 2)).summary["run"] for number in (1, 2)]
    joined = served("report", "last", "--json").summary["run"]
    table = served.door.folder / "results" / runs[0] / "run.sqlite"
    for content in (b"damaged" * 999, None):
        table.write_bytes(content) if content else table.unlink()
        refused = served("report", joined)
        assert (refused.code, f"results/{runs[0]}" in refused.err) == (3, True), refused.err
        assert served("show", joined, "--row", "3").code == 0
    assert not table.exists()


def test_rows_that_continue_others_are_not_divided(served: Served) -> None:
    """A part could have them without the candidate that they continue."""
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(MAPPING + "source: {group_by: {column: Last, blank: continues}}\n", "utf-8")
    refused = served(*part(1))
    assert (refused.code, "without the candidate that they continue" in " ".join(refused.err.split())) == (3, True)


@pytest.mark.net
def test_parts_run_at_the_same_time(served: Served, address: LedgerAddress) -> None:  # noqa: F811
    """All four are started at once. The same part again, parts of another count, and a whole run are refused."""
    slow = ("--rate", "1.5")  # together: none ends before the others were refused
    with ExitStack() as running:
        processes = [running.enter_context(served.door.started(*part(number), *slow)) for number in range(1, 5)]
        with open_ledger(address) as ledger:
            wait_until(lambda: len(ledger.runs()) == 4)
        for number in range(1, 5):
            again = served(*part(number))
            assert again.code in (75,), again.err
        for other in (part(1, 2), (*RUN, "--json")):
            refused = served(*other)
            assert (refused.code, refused.out) == (75, ""), refused.err
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert {process.wait(timeout=PATIENCE) for process in processes} == {143}
    assert 0 < served("report", "last", "--json").counts["created"] < 40
    with ExitStack() as running:
        processes = [running.enter_context(served.door.started(*part(number))) for number in range(1, 5)]
        assert {process.wait(timeout=PATIENCE) for process in processes} <= {0, 4}
    counts = served("report", "last", "--json").counts
    assert counts["created"] + counts["already_imported"] == 40
    assert len(set(served.accepted)) == len(served.accepted) == 40


@pytest.mark.net
def test_a_killed_part_is_run_again_beside_the_others(served: Served) -> None:
    """It goes on where it was; until then the report of all says that it is missing."""
    for number in (1, 3):
        served(*part(number))
    before = len(served.accepted)
    served.killed_after(before + 3, *part(2))
    with served.held_after(before + 4) as go_on, served.door.started(*part(4)) as other:
        served.wait_for(before + 4)
        again = served.door.started(*part(2))
        with again as process:
            go_on()
            assert process.wait(timeout=PATIENCE) in (0, 4)
        assert other.wait(timeout=PATIENCE) in (0, 4)
    joined = served("report", "last", "--json")
    outcomes = joined.counts
    assert sum(outcomes.values()) == 45
    done = outcomes["created"] + outcomes.get("already_imported", 0) + outcomes.get("already_exists", 0)
    assert (done, outcomes["invalid"]) == (40, 4)
    assert len(set(served.accepted)) == len(served.accepted) == 40


def test_rows_are_fixed_in_the_report_of_a_part_and_of_all(served: Served) -> None:
    """The report of a part runs that part again, that of all the whole file; a new address moves no row."""
    runs = {number: served(*part(number)).summary["run"] for number in range(1, 5)}
    results = served.door.folder / "results"
    number = next(number for number, run in runs.items() if any(row[MAIL] == BAD for row in _invalid(results / run)))
    at = next(index for index, row in enumerate(_invalid(results / runs[number])) if row[MAIL] == BAD)
    changes: list[dict[str, object]] = [{} for _ in range(at)]
    fix(results / runs[number] / "report.xlsx", *changes, {MAIL: "person50@example.com"})
    fixed = served("run", f"results/{runs[number]}/report.xlsx", "--json")
    assert fixed.counts["created"] == 1, fixed.err
    assert fixed.summary["run"].endswith(f".{number}of4")
    joined = served("report", "last", "--json").summary["run"]
    at = next(index for index, row in enumerate(_invalid(results / joined)) if row["Salary"] == "a lot")
    changes = [{} for _ in range(at)]
    fix(results / joined / "report.xlsx", *changes, {"Salary": "900"})
    whole = served("run", f"results/{joined}/report.xlsx", "--json")
    assert whole.counts == {"created": 1, "already_imported": 41, "invalid": 2, "filtered": 1}, whole.err
    assert len(set(served.accepted)) == len(served.accepted) == 42


def _invalid(folder: Path) -> list[dict[str, str]]:
    path = folder / "invalid.csv"
    return read_csv(path) if path.exists() else []


def test_parts_need_a_shared_ledger(serve: Serve) -> None:
    """And a number that is one, and no other selection."""
    own = serve()
    write_csv(own.door.folder / "people.csv", ROWS)
    refused = own(*part(1))
    assert (refused.code, "need a ledger in PostgreSQL" in refused.err) == (3, True)
    assert own.accepted == []
    for flags in (("--part", "5/4"), ("--part", "0/4"), ("--part", "x"), ("--part", "1/2", "--limit", "3")):
        refused = own(*RUN, *flags)
        assert (refused.code, "--part" in refused.err) == (2, True)


@pytest.mark.net
def test_a_killed_whole_run_goes_on_in_parts(served: Served) -> None:
    """Once its report is written; what it had in flight is settled by the part of the person."""
    served.killed_after(10, *RUN)
    refused = served(*part(1, 2))
    command = re.search(r"run importer (report \S+), then", refused.err)
    assert (refused.code, command is not None) == (2, True)
    assert command is not None
    assert served(*command[1].split()).code == 0
    with ExitStack() as running:
        processes = [running.enter_context(served.door.started(*part(number, 2))) for number in (1, 2)]
        assert {process.wait(timeout=PATIENCE) for process in processes} <= {0, 4}
    joined = served("report", "last", "--json").counts
    assert sum(joined.values()) == 45
    assert not {"unconfirmed", "not_sent", "failed"} & joined.keys()
    assert len(set(served.accepted)) == len(served.accepted) == 40


@pytest.mark.net
def test_the_script_for_one_machine(served: Served) -> None:
    """docs/cluster/parts.sh starts four parts at once, and shows the report of all."""
    ran = _example(served, "sh", str(ROOT / "docs" / "cluster" / "parts.sh"), *RUN[1:])
    assert ran.returncode == 0, ran.stderr
    assert "40 created" in ran.stdout
    assert len(set(served.accepted)) == len(served.accepted) == 40


def _example(served: Served, *words: str) -> subprocess.CompletedProcess[str]:
    environment = served.door.environment
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    options: dict[str, Any] = {"cwd": served.door.folder, "env": environment | {"PATH": path}, "timeout": 3 * PATIENCE}
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


@pytest.mark.net
def test_the_script_for_dask(served: Served) -> None:
    """docs/cluster/parts_on_dask.py; the machine of one of two workers dies, and its part is run again."""
    folder, dask = served.door.folder, (sys.executable, "-m", "dask")
    known = ("--scheduler-file", str(folder / "scheduler.json"))
    options: dict[str, Any] = {"cwd": folder, "env": served.door.environment, "start_new_session": True}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for words in (
            ("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard"),
            *(("worker", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard"),) * 2,
        ):
            started.append(subprocess.Popen([*dask, *words, *known], **options, **quiet))
            wait_until((folder / "scheduler.json").exists)
        with ThreadPoolExecutor(1) as pool:
            scheduler = json.loads((folder / "scheduler.json").read_text("utf-8"))["address"]
            script = (sys.executable, str(ROOT / "docs" / "cluster" / "parts_on_dask.py"), scheduler, "3")
            example = pool.submit(_example, served, *script, *RUN, "--rate", "20")
            served.wait_for(6)
            os.killpg(started[-1].pid, signal.SIGKILL)
            ran = example.result()
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert ran.returncode == 0, ran.stderr
    counts = served("report", "last", "--json").counts
    assert sum(counts.values()) == len(ROWS)
    assert len(set(served.accepted)) == len(served.accepted) == 40


def test_a_part_that_is_stopped_says_how_it_goes_on(served: Served) -> None:
    """The next command has its part."""
    with served.held_after(3) as go_on, served.door.started(*part(2, 2)[:-1]) as process:
        served.wait_for(3)
        process.send_signal(signal.SIGTERM)
        go_on()
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    page = next((served.door.folder / "results").glob("*.2of2/report.html")).read_text("utf-8")
    assert "importer run people.csv --mapping mapping.yaml --part 2/2" in page, out + err
