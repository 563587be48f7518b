"""Kill -9 with real HTTP and a real ledger: no duplicates, and one correct outcome per row."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from importer.ledger import State, open_ledger
from importer.models import OutcomeKind
from importer.runs.journal import RunJournal
from tests.load.given import JOB_POST, email_of
from tests.load.one_run import run
from tests.load.truth import Truth, recording_service

ROWS = 150
IN_PLACE = {OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED}


def run_and_kill(folder: Path, truth: Truth, name: str, after: int) -> None:
    """Kill a run after that many requests."""
    before = truth.requests
    truth.most = before + after + 5  # however slow this process is to notice, the other one does not end before
    command = [sys.executable, "-m", "tests.load.one_run", str(folder), truth.base_url, str(ROWS), name]
    with subprocess.Popen(command) as process:
        while truth.requests < before + after and process.poll() is None:
            time.sleep(0.0005)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    truth.go_on()


@pytest.mark.parametrize(("kills", "fault_rate"), [(1, 0.0), (3, 0.1)], ids=["once", "three times, with faults"])
def test_killed_and_run_again(tmp_path: Path, kills: int, fault_rate: float) -> None:
    """After any kills the same command creates every candidate once, and reports correctly."""
    luck = random.Random(20)
    with recording_service(seed=7, fault_rate=fault_rate) as truth:
        for number in range(kills):
            run_and_kill(tmp_path, truth, f"killed-{number}", after=luck.randint(5, 30))
            assert_the_ledger_claims_nothing_untrue(tmp_path, set(truth.accepted))
        # So many faults may stop the run; then a person runs the same command again.
        for number in range(4):
            run(tmp_path, truth.base_url, ROWS, f"whole-{number}")
    assert truth.accepted == dict.fromkeys([email_of(row) for row in range(2, ROWS + 2)], 1)
    with RunJournal(tmp_path / "whole-3") as journal:
        outcomes = list(journal.outcomes())
    assert [outcome.row for outcome in outcomes] == list(range(2, ROWS + 2))
    assert {outcome.kind for outcome in outcomes} <= IN_PLACE


def assert_the_ledger_claims_nothing_untrue(folder: Path, accepted: set[str]) -> None:
    with open_ledger(folder / "ledger.sqlite") as ledger:
        identities = {
            email_of(row): ledger.fingerprints.identity(JOB_POST, email_of(row)) for row in range(2, ROWS + 2)
        }
        known = ledger.look_up(list(identities.values()))
        states = {email: known[identity].state for email, identity in identities.items() if identity in known}
        assert ledger.check() == ()
    done = {email for email, state in states.items() if state in (State.CREATED, State.ALREADY_EXISTS)}
    never_sent = set(identities) - set(states)
    proven_absent = {email for email, state in states.items() if state in (State.PLANNED, State.FAILED)}
    assert done <= accepted
    assert not never_sent & accepted
    assert not proven_absent & accepted
