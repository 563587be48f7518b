"""The small form of the crash runs: `make crash` runs the large one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.every_step import AT_ONCE, SINGLY, Part, StepFigures, kill_at_points
from tests.crash.failpoints import HALF_SENT, RESENT, ROW_POINTS, RUN_POINTS, SENT
from tests.crash.fork_server import ForkServer
from tests.crash.imports import SHORT_TIMEOUTS, write_mappings, write_people
from tests.crash.manual_service import ManualService
from tests.crash.part_kills import kill_parts
from tests.crash.random_kills import Size, kill_at_random
from tests.crash.report_checks import ReportedRow, Truth, report_errors
from tests.patience import wait_until
from tests.postgres import Server

pytestmark = pytest.mark.timeout(300)  # many processes, which wait if the machine is busy
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--quiet")


_MANY_UNCONFIRMED = 2  # of the first four seeds, the one whose kills leave the most rows unconfirmed


def test_random_kills(tmp_path: Path, fork_server: ForkServer) -> None:
    """After kills at random moments, nobody is entered twice or missing, and no row is reported wrongly.

    The service has all faults but few of each; the large form kills a hundred times as often.
    """
    figures = kill_at_random(tmp_path, fork_server, Size(files=2, rows=50, kills=4), seed=_MANY_UNCONFIRMED)
    assert figures.kills >= 8
    assert (figures.twice, figures.missing, figures.wrong) == (0, 0, [])


def test_random_kills_with_a_ledger_in_postgres(tmp_path: Path, fork_server: ForkServer, postgres: Server) -> None:
    """The same with the ledger on a server, which is killed and started again too."""
    size = Size(files=1, rows=50, kills=4)
    figures = kill_at_random(tmp_path, fork_server, size, seed=_MANY_UNCONFIRMED, server=postgres)
    assert figures.kills >= 4
    assert (figures.twice, figures.missing, figures.wrong) == (0, 0, [])


def test_kills_of_parts(tmp_path: Path, fork_server: ForkServer, postgres: Server) -> None:
    """Three parts at the same time, each started again; the joined report is right."""
    figures = kill_parts(tmp_path, fork_server, postgres, kills=8, rows=90, seed=1)
    assert figures.kills >= 8
    assert (figures.twice, figures.missing, figures.wrong) == (0, 0, [])
    assert figures.outcomes.total() == 90


# Points where it matters that rows share a commit, or that many requests are in flight.
_OF_MANY = (
    "after the commit of an intent",
    HALF_SENT,
    SENT,
    "before the commit of a response",
    "after the commit of a response",
    "before the commit of an outcome in the table",
)
_SMALL = [
    pytest.param(Part(SINGLY.name, "503 after accepting", "apply", ROW_POINTS, hits=1), id="one by one"),
    pytest.param(Part(AT_ONCE.name, "201", "add-candidate", _OF_MANY), id="many at once"),
    pytest.param(Part(SINGLY.name, "201", "add-candidate", RUN_POINTS, hits=1), id="points of a run"),
]


@pytest.mark.parametrize("part", _SMALL)
def test_kills_at_points(tmp_path: Path, fork_server: ForkServer, part: Part) -> None:
    """After a kill at each point of a row and of a run, the same command imports every row once.

    Only in the large form: the other behaviors of the service (here it accepts everybody, or accepts and answers 503),
    each with both operations; each point several times; all ten points with many requests in flight.
    """
    figures = kill_at_points(tmp_path, fork_server, part)
    assert figures.wrong == []
    assert part.points is not None
    assert missing_points(part.points, figures) == []


def missing_points(points: Sequence[str], figures: StepFigures) -> list[str]:
    """The points that no run reached: if there are any, update `_TRANSACTIONS` in failpoints.py."""
    return [name for name in points if not {name, RESENT + name} & figures.kills.keys()]


WRONG_REPORTS = [
    pytest.param(
        "created", "", "row 2 is reported as created; accepted before True, during False", id="created before"
    ),
    pytest.param("not_sent", "", None, id="not sent in this run"),
    pytest.param("rejected", "", "row 2 is reported as rejected; accepted before True, during False", id="rejected"),
    pytest.param(
        "already_exists",
        "",
        "row 2 was created by our own request, but the report does not say so",
        id="already exists, without why",
    ),
]


@pytest.mark.parametrize(("outcome", "problem", "error"), WRONG_REPORTS)
def test_a_wrong_report_is_found(outcome: str, problem: str, error: str | None) -> None:
    """The check that all crash runs rely on can fail."""
    truth = Truth(frozenset({"a@example.com"}), frozenset())
    assert report_errors([ReportedRow(2, outcome, problem)], {2: "a@example.com"}, truth) == ([error] if error else [])


def test_a_missing_row_is_found() -> None:
    """A row in no file or in two files is an error."""
    reported = [ReportedRow(2, "unconfirmed", ""), ReportedRow(2, "unconfirmed", "")]
    emails = {2: "a@example.com", 3: "b@example.com"}
    assert report_errors(reported, emails, Truth(frozenset(), frozenset())) == [
        "row 2 is reported 2 times",
        "row 3 is reported 0 times",
    ]


# --- concurrent runs ---


@pytest.mark.parametrize("count", [2, 20])
def test_of_many_runs_at_once_one_runs(tmp_path: Path, fork_server: ForkServer, count: int) -> None:
    """Of 2 or 20 processes one runs, and the others end with 75 meanwhile; everybody is entered once."""
    write_mappings(tmp_path)
    write_people(tmp_path / "people.csv", range(12))
    with ManualService() as service:
        environment = {**SHORT_TIMEOUTS, "IMPORTER_BASE_URL": service.base_url, "IMPORTER_TOKEN": "token"}
        environment["IMPORTER_READ_TIMEOUT"] = "300"
        processes = [fork_server.start(tmp_path, RUN, environment) for _ in range(count)]
        wait_until(lambda: sum(process.has_ended() for process in processes) >= count - 1)
        running = [process for process in processes if not process.has_ended()]
        assert len(running) == 1
        assert [process.end() for process in processes if process not in running] == [75] * (count - 1)
        service.answer_all()
        assert running[0].end() == 0
        assert sorted(service.accepted) == sorted(f"person{number}@example.com" for number in range(12))
