"""The small form of the crash runs: `make crash` runs the large one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.accounts import Told, Truth, untrue
from tests.crash.every_step import BEHAVIOURS, kill_at_steps
from tests.crash.imports import PATIENCE, Witness, witness, write_mappings, write_people
from tests.crash.nursery import Nursery
from tests.crash.random_kills import Size, kill_at_random

RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--quiet")


def test_random_kills(tmp_path: Path, nursery: Nursery) -> None:
    """Killed at random moments, both operations: nobody twice, nobody missing, no row told as what it is not."""
    figures = kill_at_random(tmp_path, nursery, Size(files=2, rows=50, kills=4))
    assert figures.kills == 8
    assert (figures.twice, figures.missing, figures.untrue) == (0, 0, [])


@pytest.mark.parametrize("behaviour", ["created", "503 after accepting"])
def test_kills_at_steps(tmp_path: Path, nursery: Nursery, behaviour: str) -> None:
    """Killed at steps from the first folder to the last renaming: the same command again brings every row in, once."""
    figures = kill_at_steps(tmp_path, nursery, every=90, behaviours={behaviour: BEHAVIOURS[behaviour]})
    assert figures.kills >= 4
    assert figures.untrue == []


LIES = [
    pytest.param("created", "", "row 2 is told as created; accepted before True, during False", id="created before"),
    pytest.param("not_sent", "", None, id="not sent in this run"),
    pytest.param("rejected", "", "row 2 is told as rejected; accepted before True, during False", id="rejected"),
    pytest.param("already_there", "", "row 2 is there by our own attempt, and is not told so", id="there, without why"),
]


@pytest.mark.parametrize(("outcome", "problem", "fault"), LIES)
def test_the_accounts_find_a_lie(outcome: str, problem: str, fault: str | None) -> None:
    """The check that all crash runs rest on can fail."""
    truth = Truth(frozenset({"a@example.com"}), frozenset())
    assert untrue([Told(2, outcome, problem)], {2: "a@example.com"}, truth) == ([fault] if fault else [])


def test_the_accounts_find_a_missing_row() -> None:
    """A row that no file tells of, or two do, is a fault."""
    told = [Told(2, "unclear", ""), Told(2, "unclear", "")]
    emails = {2: "a@example.com", 3: "b@example.com"}
    assert untrue(told, emails, Truth(frozenset(), frozenset())) == ["row 2 is told 2 times", "row 3 is told 0 times"]


# --- several at once ---


@pytest.fixture
def slow_service(tmp_path: Path) -> Iterator[Witness]:
    write_mappings(tmp_path)
    write_people(tmp_path / "people.csv", range(40))
    with witness(tmp_path, [{"kind": "delay", "share": 1, "ms": 100, "operation": "apply"}]) as saw:
        yield saw


@pytest.mark.parametrize("count", [2, 20])
def test_of_many_at_once_one_works(tmp_path: Path, nursery: Nursery, slow_service: Witness, count: int) -> None:
    """Of 2 and of 20 processes one works, and the others end with 75; everybody is entered once."""
    environment = {**PATIENCE, **slow_service.environment}
    lives = [nursery.start(tmp_path, RUN, environment) for _ in range(count)]
    codes = sorted(life.end() for life in lives)
    assert codes == [0] + [75] * (count - 1)
    slow_service.look()
    assert sorted(slow_service.accepted) == sorted(f"person{number}@example.com" for number in range(40))
