"""The table of states, and that the database keeps to it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from importer.ledger import DONE, TRANSITIONS, Answered, Intent, Ledger, NotAllowed, State
from tests.ledger.given import begun, lead_to

# Steps that the writer of answers and intents never takes: a person does, through `resolve`.
BY_A_PERSON = {(State.UNCLEAR, State.CREATED), (State.UNCLEAR, State.FAILED)}
STEPS = {(step.before, step.after) for step in TRANSITIONS}
BEFORE: list[State | None] = [None, *State]


def test_no_step_leaves_a_state_in_which_the_candidate_is_there() -> None:
    """Created and already there never change."""
    assert not [step for step in TRANSITIONS if step.before in DONE]


def test_every_state_can_be_reached_and_says_when() -> None:
    """The table knows a way into each state, and a reason for each step."""
    assert {step.after for step in TRANSITIONS} == set(State)
    assert all(step.when for step in TRANSITIONS)
    assert len(STEPS) == len(TRANSITIONS)


def attempt_step(ledger: Ledger, before: State | None, after: State) -> None:
    meant = lead_to(ledger, before)
    if after is State.IN_FLIGHT:
        ledger.intend(Intent(meant.attempt._replace(number=2), meant.body_digest))
    else:
        ledger.record(Answered(meant.attempt, after, None))
        ledger.flush()


@pytest.mark.parametrize(("before", "after"), [pair for pair in product(BEFORE, State) if pair not in BY_A_PERSON])
def test_the_ledger_takes_the_steps_of_the_table_and_no_other(
    tmp_path: Path, before: State | None, after: State
) -> None:
    """A step is written if and only if the table has it."""
    ledger = begun(tmp_path)
    try:
        if (before, after) in STEPS:
            attempt_step(ledger, before, after)
        else:
            with pytest.raises(NotAllowed, match=rf"^no step from {before or 'nothing'} to {after}$"):
                attempt_step(ledger, before, after)
        assert ledger.check() == ()
    finally:
        ledger.close()
