"""The golden import of a sample: the bodies that the service gets, the outcome of each row, and the messages.

It knows the importer by its front door only: an order in, events out, requests at a sandbox. So it holds whatever the
importer does inside. `python -m tests.samples.golden` writes the golden folders again; review the diff like code.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from importer.app.import_file import import_file, orders_of
from importer.app.orders import Event, Order, RowEnded, RunControl
from importer.models import Outcome, OutcomeKind
from importer.problems import CellPlace, Problem
from importer.report.summary import Summary
from importer.sandbox import RunningSandbox, SandboxOptions, running
from importer.settings import Settings
from tests.samples.sample import DEMO_FAULTS, LEGACY, ROOT, SAMPLES, Sample

_SPEED = 20  # delays such as Retry-After 1 s take a twentieth of the time
_RESEND_DELAY = 2.0  # seconds on that clock
WITH_FAULTS = "outcomes_with_demo_faults.csv"


@dataclass
class Imported:
    """What an import did. bodies: of requests that the service accepted or had already, each as JSON text."""

    summary: Summary
    outcomes: list[Outcome]
    bodies: list[str] = field(default_factory=list)

    @property
    def files(self) -> dict[str, str]:
        """The golden files by name."""
        problems = [str(problem) for outcome in self.outcomes for problem in outcome.problems]
        messages = [line.replace(f"{ROOT}/", "") for line in (*self.summary.warnings, *problems)]
        return {
            "bodies.jsonl": _lines(sorted(self.bodies, key=lambda body: (json.loads(body)["email"].casefold(), body))),
            "outcomes.csv": outcome_lines(self.outcomes),
            "messages.txt": _lines(messages),
        }


def outcome_lines(outcomes: list[Outcome]) -> str:
    """The outcome of each row: `7,invalid,,date-invalid@F7`."""
    lines = [
        f"{each.row},{each.kind},{each.status or ''},{' '.join(map(_code_at, each.problems))}"
        for each in sorted(outcomes, key=lambda each: each.row)
    ]
    return _lines(["row,outcome,status,problems", *lines])


def _code_at(problem: Problem) -> str:
    place = problem.place
    return f"{problem.code}@{place.address}" if isinstance(place, CellPlace) and place.column else problem.code


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def import_sample(sample: Sample, sandbox: RunningSandbox, out: Path) -> Imported:
    """Import the sample as `importer run --out OUT` does; a second call continues. Of a folder of mappings, a row has
    the outcome that is not "filtered", if it has one.
    """
    settings = Settings(
        base_url=sandbox.base_url, token=SecretStr(sandbox.token), out=out, resend_delay_seconds=_RESEND_DELAY
    )
    outcomes, bodies, accept = dict[int, Outcome](), list[str](), sandbox.memory.accept

    def listen(event: Event) -> None:
        if isinstance(event, RowEnded) and (
            event.outcome.row not in outcomes or event.outcome.kind is not OutcomeKind.FILTERED
        ):
            outcomes[event.outcome.row] = event.outcome

    def keep(operation: Any, target: str, body: dict[str, Any], at: Any) -> bool:
        bodies.append(json.dumps(body, ensure_ascii=False))
        return accept(operation, target, body, at)

    sandbox.memory.accept = keep  # type: ignore[method-assign]
    for order in orders_of(Order(sample.file, sample.mapping, settings)):
        finished = import_file(order, listen, RunControl(speed=_SPEED))
        assert finished is not None
    sandbox.memory.accept = accept  # type: ignore[method-assign]
    return Imported(finished.summary, [outcomes[row] for row in sorted(outcomes)], bodies)


def main() -> None:
    """Write every golden folder again."""
    for sample in SAMPLES:
        with running(SandboxOptions(token="golden")) as sandbox, tempfile.TemporaryDirectory() as out:
            files = import_sample(sample, sandbox, Path(out)).files
        sample.golden.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (sample.golden / name).write_text(text, encoding="utf-8")
    options = SandboxOptions(token="golden", faults=DEMO_FAULTS)
    with running(options) as sandbox, tempfile.TemporaryDirectory() as out:
        outcomes = import_sample(LEGACY, sandbox, Path(out)).outcomes
    (LEGACY.golden / WITH_FAULTS).write_text(outcome_lines(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
