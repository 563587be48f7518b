"""The small form of the scenarios: `make crash` runs many more, and longer ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, settings

from importer.models import Application
from tests.crash.fork_server import ForkServer
from tests.crash.process_scenario import ProcessScenario, ProcessScenarioOfPool, ProcessScenarioOnServer
from tests.crash.simulated_scenario import SimulatedScenario, SimulatedScenarioOfPool, SimulatedScenarioOnServer
from tests.postgres import Server

pytestmark = pytest.mark.timeout(300)  # many processes, which wait if the machine is busy
_SMALL = settings(max_examples=8, stateful_step_count=8, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def _one_fork_server(fork_server: ForkServer) -> None:
    """All scenarios of a worker use the same fork server, which takes two seconds to start."""
    ProcessScenario.fork_server = fork_server


@pytest.fixture
def _one_server(postgres: Server) -> None:
    ProcessScenarioOnServer.server = SimulatedScenarioOnServer.server = postgres


TestSimulatedScenario = SimulatedScenario.TestCase
TestSimulatedScenarioOfPool = SimulatedScenarioOfPool.TestCase
TestSimulatedScenario.settings = TestSimulatedScenarioOfPool.settings = _SMALL

TestProcessScenario = ProcessScenario.TestCase
TestProcessScenarioOfPool = ProcessScenarioOfPool.TestCase
TestProcessScenario.settings = TestProcessScenarioOfPool.settings = settings(
    _SMALL, max_examples=3, stateful_step_count=6, phases=[Phase.generate]
)


@pytest.mark.usefixtures("_one_server")
class TestProcessScenarioOnServer(ProcessScenarioOnServer.TestCase):
    settings = settings(TestProcessScenario.settings, max_examples=2)


@pytest.mark.usefixtures("_one_server")
class TestSimulatedScenarioOnServer(SimulatedScenarioOnServer.TestCase):
    settings = settings(_SMALL, max_examples=5, phases=[Phase.generate])


def test_a_changed_row_is_another_body() -> None:
    """The edit in the state machine changes what is sent."""
    one = Application(2, "person2@example.com", "Ada", "Example", "9")
    assert one.payload() != replace(one, first_name="Ida").payload()
