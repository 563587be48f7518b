"""How many repetitions a run may send, on the whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from importer.ledger import State
from importer.load import LoadOptions
from importer.load.budget import RetryBudget
from importer.models import OutcomeKind
from importer.service import Reply
from tests.load.given import CREATED, House, Scripted, applications, by_outcome, email_of, in_turn


def test_a_row_earns_its_share() -> None:
    """A hundred repetitions are allowed at once, and `share` more for each row that is sent."""
    budget = RetryBudget(0.5)
    assert sum(budget.spend() for _ in range(200)) == 100
    budget.earn()
    assert not budget.spend()
    budget.earn()
    assert [budget.spend(), budget.spend()] == [True, False]


def test_a_run_stops_when_its_repetitions_are_used_up(tmp_path: Path) -> None:
    """Every row is taken at the second try only: after a hundred of these the run stops, and says why."""
    house = House(tmp_path)
    service = Scripted(in_turn(Reply(429), CREATED))
    with house.ledger() as ledger:
        loader = house.loader(ledger, service, LoadOptions(retry_budget=0.0, in_flight=1))
        outcomes = by_outcome(loader.load(applications(range(2, 132))))
        assert ledger.check() == ()
        known = ledger.look_up([ledger.fingerprints.identity(house.scope, email_of(102))])
    assert [found.state for found in known.values()] == [State.FAILED]
    assert loader.stop is not None
    assert (loader.stop.code, loader.stop.reason, loader.stop.hint) == (
        "retries-spent",
        "the service had too many rows sent to it more than once, and still gives too few clear answers",
        "wait until the service is well, or go slower with --rate, then run the same command again",
    )
    assert Counter(outcome.kind for outcome in outcomes.values()) == {
        OutcomeKind.CREATED: 100,
        OutcomeKind.FAILED: 1,
        OutcomeKind.NOT_SENT: 29,
    }
