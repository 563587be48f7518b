"""The small form of the crash runs: `make crash` runs the large one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash.accounts import Told, Truth, untrue
from tests.crash.every_step import AT_ONCE, SINGLY, Part, StepFigures, kill_at_points
from tests.crash.failpoints import AGAIN, HALF, LEFT, ROW_LIFE, RUN_LIFE
from tests.crash.hand_service import HandService
from tests.crash.imports import PATIENCE, write_mappings, write_people
from tests.crash.nursery import Nursery
from tests.crash.random_kills import Size, kill_at_random

pytestmark = pytest.mark.timeout(300)  # many processes: where others need the machine too, they wait
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--quiet")


_MANY_IN_DOUBT = 2  # the seed whose kills leave the most rows unconfirmed, of the first four


def test_random_kills(tmp_path: Path, nursery: Nursery) -> None:
    """Killed at random moments, both operations: nobody twice, nobody missing, no row told as what it is not.

    The service shows all faults but few of each; the large form kills a hundred times as often.
    """
    figures = kill_at_random(tmp_path, nursery, Size(files=2, rows=50, kills=4), seed=_MANY_IN_DOUBT)
    assert figures.kills == 8
    assert (figures.twice, figures.missing, figures.untrue) == (0, 0, [])


# Those at which it matters that rows share a commit, or that many requests are under way.
_OF_MANY = (
    "after the commit of an intent",
    HALF,
    LEFT,
    "before the commit of an answer",
    "after the commit of an answer",
    "before the commit of an outcome in the journal",
)
_SMALL = [
    pytest.param(Part(SINGLY.name, "503 after accepting", "apply", ROW_LIFE, hits=1), id="one by one"),
    pytest.param(Part(AT_ONCE.name, "201", "add-candidate", _OF_MANY), id="many at once"),
    pytest.param(Part(SINGLY.name, "201", "add-candidate", RUN_LIFE, hits=1), id="a run's own points"),
]


@pytest.mark.parametrize("part", _SMALL)
def test_kills_at_points(tmp_path: Path, nursery: Nursery, part: Part) -> None:
    """Killed at each point of a row's life and of a run's: the same command again brings every row in, once.

    Only in the large form: the other behaviours of the service (here it takes everybody, or takes them and answers
    503), each with both operations; each point several times; all ten points with many requests under way.
    """
    figures = kill_at_points(tmp_path, nursery, part)
    assert figures.untrue == []
    assert part.points is not None
    assert missing_points(part.points, figures) == []


def missing_points(points: Sequence[str], figures: StepFigures) -> list[str]:
    """The points that no run came by any more: then `_ABOUT` in failpoints.py is to follow the code."""
    return [name for name in points if not {name, AGAIN + name} & figures.kills.keys()]


LIES = [
    pytest.param("created", "", "row 2 is told as created; accepted before True, during False", id="created before"),
    pytest.param("not_sent", "", None, id="not sent in this run"),
    pytest.param("rejected", "", "row 2 is told as rejected; accepted before True, during False", id="rejected"),
    pytest.param(
        "already_exists", "", "row 2 is there by our own attempt, and is not told so", id="there, without why"
    ),
]


@pytest.mark.parametrize(("outcome", "problem", "fault"), LIES)
def test_the_accounts_find_a_lie(outcome: str, problem: str, fault: str | None) -> None:
    """The check that all crash runs rest on can fail."""
    truth = Truth(frozenset({"a@example.com"}), frozenset())
    assert untrue([Told(2, outcome, problem)], {2: "a@example.com"}, truth) == ([fault] if fault else [])


def test_the_accounts_find_a_missing_row() -> None:
    """A row that no file tells of, or two do, is a fault."""
    told = [Told(2, "unconfirmed", ""), Told(2, "unconfirmed", "")]
    emails = {2: "a@example.com", 3: "b@example.com"}
    assert untrue(told, emails, Truth(frozenset(), frozenset())) == ["row 2 is told 2 times", "row 3 is told 0 times"]


# --- several at once ---


@pytest.mark.parametrize("count", [2, 20])
def test_of_many_at_once_one_works(tmp_path: Path, nursery: Nursery, count: int) -> None:
    """Of 2 and of 20 processes one works, and the others end with 75 while it does; everybody is entered once."""
    write_mappings(tmp_path)
    write_people(tmp_path / "people.csv", range(12))
    with HandService() as service:
        environment = {**PATIENCE, "IMPORTER_BASE_URL": service.base_url, "IMPORTER_TOKEN": "token"}
        environment["IMPORTER_READ_TIMEOUT"] = "60"
        lives = [nursery.start(tmp_path, RUN, environment) for _ in range(count)]
        deadline = time.monotonic() + 30
        while sum(life.has_ended() for life in lives) < count - 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        working = [life for life in lives if not life.has_ended()]
        assert len(working) == 1
        assert [life.end() for life in lives if life not in working] == [75] * (count - 1)
        service.answer_all()
        assert working[0].end() == 0
        assert sorted(service.accepted) == sorted(f"person{number}@example.com" for number in range(12))
