"""Runs many generated scenarios, of both kinds and in both operations, and counts their events."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.crash.process_scenario import ProcessScenario, ProcessScenarioOfPool
from tests.crash.simulated_scenario import SimulatedScenario, SimulatedScenarioOfPool

MACHINES = (ProcessScenario, ProcessScenarioOfPool, SimulatedScenario, SimulatedScenarioOfPool)
_SIMULATED = (SimulatedScenario, SimulatedScenarioOfPool)
_PORTIONS = 4  # per machine, so that processes share the work evenly


@dataclass
class ScenarioFigures:
    """The results of scenarios with real processes, and of simulated ones."""

    real: Counter[str] = field(default_factory=Counter)
    simulated: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> Iterator[str]:
        counts = f"{self.real['scenarios']} real, {self.simulated['scenarios']} simulated"
        yield f"scenarios            {counts}, {self.seconds:.0f} s"
        for name, events in (("real", self.real), ("simulated", self.simulated)):
            shown = ", ".join(f"{count} {what}" for what, count in sorted(events.items()) if what != "scenarios")
            yield f"{name:<21}{shown}"
        yield f"scenarios that fail  {len(self.wrong)}"


def run_scenarios(examples: int, steps: int, workers: int) -> ScenarioFigures:
    """Run `examples` scenarios of each kind and operation, each of at most `steps` steps."""
    figures = ScenarioFigures()
    began = time.monotonic()
    chosen = [machine for machine in MACHINES for _ in range(_PORTIONS)]
    portion = max(1, examples // _PORTIONS)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        many = pool.map(_run, chosen, [portion] * len(chosen), [steps] * len(chosen))
        for machine, (events, failure) in zip(chosen, many, strict=True):
            (figures.simulated if machine in _SIMULATED else figures.real).update(events)
            figures.wrong += [f"{machine.__name__}: {failure}"] * bool(failure)
    figures.seconds = time.monotonic() - began
    return figures


def _run(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> tuple[Counter[str], str]:
    """The event counts of these scenarios, and the smallest one that fails."""
    events: Counter[str] = machine.events  # type: ignore[attr-defined]
    events.clear()
    given = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate] if machine not in _SIMULATED else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    failure = ""
    try:
        run_state_machine_as_test(machine, settings=given)
    except Exception:  # noqa: BLE001 - any error is reported by the caller
        failure = traceback.format_exc()
    return Counter(events), failure
