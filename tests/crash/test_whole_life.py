"""The small form of whole lives: `make crash` lives many more, and longer ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings

from importer.models import Application
from tests.crash.front_door_life import FrontDoorLife, FrontDoorLifeOfAPool
from tests.crash.nursery import Nursery
from tests.crash.whole_life import WholeLife, WholeLifeOfAPool

pytestmark = pytest.mark.timeout(300)  # many processes: where others need the machine too, they wait
_SMALL = settings(
    max_examples=12,
    stateful_step_count=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _one_nursery(nursery: Nursery) -> None:
    """A worker's lives all begin in the same one: it takes two seconds to come up."""
    FrontDoorLife.nursery = nursery


TestWholeLife = WholeLife.TestCase
TestWholeLifeOfAPool = WholeLifeOfAPool.TestCase
TestWholeLife.settings = TestWholeLifeOfAPool.settings = _SMALL

TestFrontDoorLife = FrontDoorLife.TestCase
TestFrontDoorLifeOfAPool = FrontDoorLifeOfAPool.TestCase
TestFrontDoorLife.settings = TestFrontDoorLifeOfAPool.settings = settings(
    _SMALL, max_examples=5, stateful_step_count=6, phases=[Phase.generate]
)


def test_a_changed_row_is_another_body() -> None:
    """The edit of the state machine changes what is sent."""
    one = Application(2, "person2@example.com", "Ada", "Example", "9")
    assert one.payload() != replace(one, first_name="Ida").payload()
