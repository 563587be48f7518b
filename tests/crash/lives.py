"""Lives many made-up lives, of both kinds and in both operations, and counts what happened in them."""

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

from tests.crash.front_door_life import FrontDoorLife, FrontDoorLifeOfAPool
from tests.crash.whole_life import WholeLife, WholeLifeOfAPool

MACHINES = (FrontDoorLife, FrontDoorLifeOfAPool, WholeLife, WholeLifeOfAPool)
_SIMULATED = (WholeLife, WholeLifeOfAPool)
_PORTIONS = 4  # of each machine's lives, so that processes share them evenly


@dataclass
class LifeFigures:
    """What happened in lives through the front door, and in simulated ones."""

    real: Counter[str] = field(default_factory=Counter)
    simulated: Counter[str] = field(default_factory=Counter)
    untrue: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> Iterator[str]:
        lives = f"{self.real['lives']} real, {self.simulated['lives']} simulated"
        yield f"lives                {lives}, {self.seconds:.0f} s"
        for name, seen in (("real", self.real), ("simulated", self.simulated)):
            shown = ", ".join(f"{count} {what}" for what, count in sorted(seen.items()) if what != "lives")
            yield f"{name:<21}{shown}"
        yield f"lives with a fault   {len(self.untrue)}"


def live_whole_lives(examples: int, steps: int, workers: int) -> LifeFigures:
    """So many lives of each kind and operation, each of so many steps at most."""
    figures = LifeFigures()
    began = time.monotonic()
    chosen = [machine for machine in MACHINES for _ in range(_PORTIONS)]
    portion = max(1, examples // _PORTIONS)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        many = pool.map(_live, chosen, [portion] * len(chosen), [steps] * len(chosen))
        for machine, (seen, fault) in zip(chosen, many, strict=True):
            (figures.simulated if machine in _SIMULATED else figures.real).update(seen)
            figures.untrue += [f"{machine.__name__}: {fault}"] * bool(fault)
    figures.seconds = time.monotonic() - began
    return figures


def _live(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> tuple[Counter[str], str]:
    """What was seen in these lives, and how the smallest that is not as promised goes."""
    seen: Counter[str] = machine.seen  # type: ignore[attr-defined]
    seen.clear()
    given = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate] if machine not in _SIMULATED else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    fault = ""
    try:
        run_state_machine_as_test(machine, settings=given)
    except Exception:  # noqa: BLE001 - whatever it is, it is a fault that the caller tells
        fault = traceback.format_exc()
    return Counter(seen), fault
