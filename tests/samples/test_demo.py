"""The demo's import through the whole pipeline, with a service that is slow, busy and sometimes fails."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from importer.models import OutcomeKind
from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.samples.golden import WITH_FAULTS, Imported, import_sample, outcome_lines
from tests.samples.sample import DEMO_FAULTS, LEGACY


@dataclass(frozen=True)
class Demo:
    """The finished demo run, its running sandbox, and its results folder."""

    first: Imported
    sandbox: RunningSandbox
    out: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The migration workbook, imported once with the demo's faults."""
    out = tmp_path_factory.mktemp("demo")
    with running(SandboxOptions(token="demo", faults=DEMO_FAULTS)) as sandbox:
        yield Demo(import_sample(LEGACY, sandbox, out), sandbox, out)


def test_every_row_of_the_demo_has_its_golden_outcome(demo: Demo) -> None:
    """Whatever the order of the requests, each row ends in the same outcome, status and problems."""
    assert outcome_lines(demo.first.outcomes) == (LEGACY.golden / WITH_FAULTS).read_text("utf-8")


def test_the_demo_shows_what_an_operator_should_see(demo: Demo) -> None:
    """The demo has rows of every outcome but unconfirmed, failed and not sent, and it has retries."""
    kinds = {outcome.kind for outcome in demo.first.outcomes}
    assert kinds == {
        OutcomeKind.CREATED,
        OutcomeKind.ALREADY_EXISTS,
        OutcomeKind.REJECTED,
        OutcomeKind.INVALID,
        OutcomeKind.FILTERED,
    }
    assert any(outcome.attempts > 1 for outcome in demo.first.outcomes if outcome.kind is OutcomeKind.CREATED)
    assert demo.first.summary.exit_code == 4


def test_the_demo_enters_every_candidate_once(demo: Demo) -> None:
    """Although responses are lost, the service has each golden request once, except rejected ones."""
    golden = [json.loads(line) for line in (LEGACY.golden / "bodies.jsonl").read_text("utf-8").splitlines()]
    accepted = {body["email"]: body for body in demo.sandbox.memory.accepted()}
    assert len(accepted) == len(demo.sandbox.memory.accepted())
    entered = [
        outcome
        for outcome in demo.first.outcomes
        if outcome.kind is OutcomeKind.CREATED or "created-by-earlier-request" in {one.code for one in outcome.problems}
    ]
    assert len(accepted) == len(entered)
    assert [body for body in golden if body["email"] in accepted] == [
        accepted[body["email"]] for body in golden if body["email"] in accepted
    ]
    assert accepted.keys() <= {body["email"] for body in golden}


def test_the_demo_has_each_of_its_faults(demo: Demo) -> None:
    """Every line of the demo's faults file has an effect."""
    faults = {request.fault for request in demo.sandbox.requests} - {None}
    assert faults == {"delay", "429", "503 before", "503 after", "reset after", "cut_body", "refuse"}


def test_the_second_demo_sends_nothing(demo: Demo) -> None:
    """Run again, the demo requests only the questions, and reports the rows as already imported."""
    posts = sum(request.method == "POST" for request in demo.sandbox.requests)
    again = import_sample(LEGACY, demo.sandbox, demo.out)
    assert sum(request.method == "POST" for request in demo.sandbox.requests) == posts
    done = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS)
    expected = Counter(
        OutcomeKind.ALREADY_IMPORTED if outcome.kind in done else outcome.kind for outcome in demo.first.outcomes
    )
    assert Counter(outcome.kind for outcome in again.outcomes) == expected
