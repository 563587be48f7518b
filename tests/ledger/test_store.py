"""What every store promises: intents, answers, the table of states, runs, locks, whatever database it is kept in."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from importer.ledger import (
    DONE,
    TRANSITIONS,
    Answered,
    Intent,
    Known,
    Ledger,
    NotAllowed,
    RowState,
    State,
    ledger_name,
    open_existing_ledger,
    open_ledger,
)
from importer.problems import Busy, UsageError
from importer.settings import LedgerAddress
from tests.ledger.given import JOB_POST, NOON, POOL, begun, intend, lead_to, make_intent, problems_of, record, words_of

# Steps that the writer of answers and intents never takes: a person does, through `resolve`.
BY_A_PERSON = {(State.UNCONFIRMED, State.CREATED), (State.UNCONFIRMED, State.FAILED)}
STEPS = {(step.before, step.after) for step in TRANSITIONS}
BEFORE: list[State | None] = [None, *State]


# --- the table of states ---


def test_final_states_have_no_transitions() -> None:
    """Created and already exists never change."""
    assert not [step for step in TRANSITIONS if step.before in DONE]


def test_every_state_can_be_reached() -> None:
    """There is a transition to each state, and a reason for each."""
    assert {step.after for step in TRANSITIONS} == set(State)
    assert all(step.when for step in TRANSITIONS)
    assert len(STEPS) == len(TRANSITIONS)


def attempt_step(ledger: Ledger, before: State | None, after: State, row: int) -> None:
    intent = lead_to(ledger, before, row)
    if after is State.IN_FLIGHT:
        intend(ledger, Intent(intent.attempt._replace(number=2), intent.body_digest))
    else:
        ledger.write([Answered(intent.attempt, after, None)])


def test_the_ledger_allows_only_the_transitions_of_the_table(address: LedgerAddress) -> None:
    """A transition is written if and only if it is in the table."""
    begun(address).close()
    for row, (before, after) in enumerate(product(BEFORE, State)):
        if (before, after) in BY_A_PERSON:
            continue
        ledger = open_ledger(address)
        try:
            if (before, after) in STEPS:
                attempt_step(ledger, before, after, row)
            else:
                with pytest.raises(NotAllowed, match=rf"^no step from {before or 'nothing'} to {after}$"):
                    attempt_step(ledger, before, after, row)
            assert problems_of(ledger) == []
        finally:
            ledger.close()


# --- the life of a row ---


def test_an_intent_is_durable_when_it_is_reported_as_written(address: LedgerAddress, ledger: Ledger) -> None:
    """Another connection sees the open attempt before its request may be sent."""
    intent = make_intent(ledger, 2)
    intend(ledger, intent)
    with open_ledger(address) as other:
        assert other.look_up([intent.attempt.identity]) == {
            intent.attempt.identity: Known(State.IN_FLIGHT, None, intent.body_digest, "run-1", 2)
        }


def test_intents_of_many_senders_are_all_written(ledger: Ledger) -> None:
    """The intents of thirty-two threads are all written, each once."""
    threads = [threading.Thread(target=intend, args=(ledger, make_intent(ledger, row))) for row in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(ledger.row_states("run-1")) == [RowState(row, State.UNCONFIRMED, None, 1) for row in range(32)]


def test_an_identity_in_flight_cannot_be_intended_again(ledger: Ledger) -> None:
    """Of two rows with the same e-mail address only one is in flight."""
    intent = make_intent(ledger, 2)
    intend(ledger, intent)
    with pytest.raises(NotAllowed, match=r"^no step from in_flight to in_flight$"):
        intend(ledger, intent._replace(attempt=intent.attempt._replace(row=3)))


def test_an_identity_in_flight_cannot_be_intended_elsewhere(address: LedgerAddress, ledger: Ledger) -> None:
    """Also from another process or connection."""
    intent = make_intent(ledger, 2)
    intend(ledger, intent)
    with open_ledger(address) as other, pytest.raises(NotAllowed, match=r"^no step from in_flight to in_flight$"):
        intend(other, intent._replace(attempt=intent.attempt._replace(row=3)))


def test_an_answer_and_the_next_intent_may_follow_at_once(ledger: Ledger) -> None:
    """A retry right after its answer is written in the right order."""
    intent = make_intent(ledger, 2)
    intend(ledger, intent)
    ledger.write([Answered(intent.attempt, State.PLANNED, 429)])
    intend(ledger, make_intent(ledger, 2, number=2))
    assert list(ledger.row_states("run-1")) == [RowState(2, State.UNCONFIRMED, 429, 2)]
    assert problems_of(ledger) == []


def test_nothing_is_looked_up(ledger: Ledger) -> None:
    """A part of a file in which no row can be sent has no identities."""
    assert ledger.look_up([]) == {}


def test_look_up_returns_known_identities(ledger: Ledger) -> None:
    """Known identities have state, status, body digest, run and row; unknown ones are left out."""
    intent = lead_to(ledger, State.REJECTED)
    stranger = ledger.fingerprints.identity(JOB_POST, "nobody@example.com")
    assert ledger.look_up([intent.attempt.identity, stranger]) == {
        intent.attempt.identity: Known(State.REJECTED, 500, intent.body_digest, "run-1", 2)
    }


def test_a_row_is_known_by_its_origin(ledger: Ledger) -> None:
    """Whatever e-mail address it had, and whichever target it was sent to; not by that of another file or sheet."""
    origin = ledger.fingerprints.origin("ab" * 32, "Sheet1", 2)
    ledger.begin_run(record("run-2", POOL))
    sent = [
        make_intent(ledger, 2)._replace(origin=origin),
        make_intent(ledger, 9, run="run-2", scope=POOL)._replace(origin=origin),
    ]
    for intent in sent:
        intend(ledger, intent)
    ledger.write([Answered(sent[0].attempt, State.REJECTED, 400)])
    others = [ledger.fingerprints.origin(*other) for other in (("cd" * 32, "Sheet1", 2), ("ab" * 32, "", 2))]
    found = ledger.look_up_origins([origin, *others])
    assert {(one.identity, one.known.state, one.known.row, one.scope) for one in found.pop(origin)} == {
        (sent[0].attempt.identity, State.REJECTED, 2, JOB_POST),
        (sent[1].attempt.identity, State.IN_FLIGHT, 9, POOL),
    }
    assert (found, ledger.look_up_origins([])) == ({}, {})


@pytest.mark.parametrize(("state", "is_proven"), [(State.CREATED, True), (State.ALREADY_EXISTS, False)])
def test_the_digest_of_an_unconfirmed_body_is_kept(ledger: Ledger, state: State, is_proven: bool) -> None:
    """Until a 201 shows that it had not arrived, a changed body does not replace its digest."""
    first, changed = lead_to(ledger, State.UNCONFIRMED), ledger.fingerprints.body_digest(b"changed")
    attempt = first.attempt._replace(number=2)
    intend(ledger, Intent(attempt, changed))
    assert ledger.look_up([attempt.identity])[attempt.identity].body_digest == first.body_digest
    ledger.write([Answered(attempt, state, None, changed if is_proven else b"")])
    assert ledger.look_up([attempt.identity])[attempt.identity].body_digest == (
        changed if is_proven else first.body_digest
    )


def test_closing_writes_queued_answers(address: LedgerAddress) -> None:
    """A queued answer is written before the ledger is closed."""
    with begun(address) as ledger:
        intent = make_intent(ledger, 2)
        intend(ledger, intent)
        ledger.write([Answered(intent.attempt, State.CREATED, 201)])
    with open_ledger(address) as ledger:
        assert list(ledger.row_states("run-1")) == [RowState(2, State.CREATED, 201, 1)]


# --- after a kill ---


def test_what_a_killed_run_had_in_flight_is_unconfirmed(address: LedgerAddress) -> None:
    """In the next run of the same scope, an intent without an answer is unconfirmed, never new."""
    with begun(address) as killed:
        intent = lead_to(killed, State.IN_FLIGHT)
    with begun(address, "run-2") as ledger:
        assert ledger.look_up([intent.attempt.identity])[intent.attempt.identity].state is State.UNCONFIRMED
        assert list(ledger.row_states("run-1")) == [RowState(2, State.UNCONFIRMED, None, 1)]
        assert problems_of(ledger) == []


def test_a_run_of_another_target_is_not_changed(ledger: Ledger) -> None:
    """A new run does not change what another target's run has in flight."""
    intent = lead_to(ledger, State.IN_FLIGHT)
    ledger.begin_run(record("run-2", POOL))
    assert ledger.look_up([intent.attempt.identity])[intent.attempt.identity].state is State.IN_FLIGHT


_INTENDS_AND_IS_KILLED = """
import os, signal, sys
from tests.ledger.given import address_of, begun, intend, make_intent
ledger = begun(address_of(sys.argv[1:]))
for row in range(2, 10):
    intend(ledger, make_intent(ledger, row))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_intents_survive_a_kill(address: LedgerAddress) -> None:
    """Every intent that was reported as durable exists after kill -9."""
    ended = subprocess.run([sys.executable, "-c", _INTENDS_AND_IS_KILLED, *words_of(address)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with begun(address, "run-2") as ledger:
        assert list(ledger.row_states("run-1")) == [RowState(row, State.UNCONFIRMED, None, 1) for row in range(2, 10)]


# --- runs ---


def test_row_states_give_the_last_state_and_the_last_status(ledger: Ledger) -> None:
    """The state is that of the last attempt; the status is the last one received."""
    intent = lead_to(ledger, State.UNCONFIRMED, row=5)
    intend(ledger, make_intent(ledger, 5, number=2))
    ledger.write([Answered(intent.attempt._replace(number=2), State.UNCONFIRMED, None)])
    lead_to(ledger, State.CREATED, row=2)
    lead_to(ledger, State.IN_FLIGHT, row=9)
    assert list(ledger.row_states("run-1")) == [
        RowState(2, State.CREATED, 500, 1),
        RowState(5, State.UNCONFIRMED, 500, 2, after_unconfirmed=True),
        RowState(9, State.UNCONFIRMED, None, 1),
    ]
    assert list(ledger.row_states("run-0")) == []


def test_a_person_is_in_the_run_that_sent_it_last(ledger: Ledger) -> None:
    """A row that a later run has sent again is that run's; one that a person has resolved has the state it has now."""
    for row in (2, 3, 4):
        lead_to(ledger, State.UNCONFIRMED, row)
    ledger.begin_run(record("run-2"))
    again = make_intent(ledger, 3, run="run-2")
    intend(ledger, again)
    ledger.write([Answered(again.attempt, State.ALREADY_EXISTS, 409)])
    ledger.resolve("run-1", 4, created=True)
    states = {run: [(one.row, one.state) for one in ledger.row_states(run)] for run in ("run-0", "run-1", "run-2")}
    assert states == {
        "run-0": [],
        "run-1": [(2, State.UNCONFIRMED), (4, State.CREATED)],
        "run-2": [(3, State.ALREADY_EXISTS)],
    }


def test_runs_are_stored(ledger: Ledger) -> None:
    """Runs are returned as recorded, the newest first; a run without an end is unfinished."""
    later = record("run-2", POOL, NOON + timedelta(hours=1))
    ledger.begin_run(later)
    ledger.end_run("run-2", NOON + timedelta(hours=2))
    ended = replace(later, ended_at=NOON + timedelta(hours=2))
    assert ledger.runs() == (ended, record())
    assert ledger.run("run-2") == ended
    assert ledger.run("run-3") is None
    assert ledger.unfinished_runs(JOB_POST) == (record(),)
    assert ledger.unfinished_runs(POOL) == ()


def test_a_service_has_answered_once_a_status_was_read(ledger: Ledger) -> None:
    """Only a response counts, separately for each address."""
    lead_to(ledger, State.IN_FLIGHT)
    assert not ledger.has_answered(JOB_POST.base)
    lead_to(ledger, State.UNCONFIRMED, row=3)
    assert ledger.has_answered(JOB_POST.base)
    assert not ledger.has_answered("https://other.example.com")


@pytest.mark.parametrize(("created", "state"), [(True, State.CREATED), (False, State.FAILED)], ids=["there", "absent"])
def test_a_person_resolves_an_unconfirmed_row(ledger: Ledger, created: bool, state: State) -> None:
    """The row gets the state that the person found, in the ledger and in the report of its run."""
    intent = lead_to(ledger, State.UNCONFIRMED)
    ledger.resolve("run-1", 2, created=created)
    assert ledger.look_up([intent.attempt.identity])[intent.attempt.identity].state is state
    assert list(ledger.row_states("run-1")) == [RowState(2, state, 500, 1)]
    assert problems_of(ledger) == []


@pytest.mark.parametrize(
    ("run", "row", "message"),
    [
        pytest.param("run-9", 2, "the ledger {name} does not know run run-9", id="unknown run"),
        pytest.param(
            "run-1",
            3,
            "run run-1 sent nothing for row 3, or another run has sent it; importer status FILE says what became of it",
            id="unknown row",
        ),
        pytest.param(
            "run-1",
            2,
            "row 2 of run run-1 is created, not unconfirmed; there is nothing to resolve",
            id="not unconfirmed",
        ),
    ],
)
def test_only_unconfirmed_rows_can_be_resolved(ledger: Ledger, run: str, row: int, message: str) -> None:
    """Other rows are not changed, and the reason is reported."""
    lead_to(ledger, State.CREATED)
    with pytest.raises(UsageError) as caught:
        ledger.resolve(run, row, created=False)
    assert str(caught.value) == message.format(name=ledger.name)


# --- its address ---


def test_opening_an_existing_ledger_creates_none(address: LedgerAddress, tmp_path: Path) -> None:
    """A dry run creates no file."""
    assert open_existing_ledger(address) is None
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_found_by_its_own_address(address: LedgerAddress, ledger: Ledger) -> None:
    """The address of a store opens the same ledger with the same key."""
    again = open_existing_ledger(ledger.address)
    assert again is not None
    with again:
        assert (again.runs(), again.name) == (ledger.runs(), ledger_name(address))
        assert again.fingerprints.key_check() == ledger.fingerprints.key_check()
        assert again.is_in_place()


# --- locks and presences ---

_HOLDS = """
import sys
from importer.ledger import open_ledger
from tests.ledger.given import JOB_POST, address_of
with open_ledger(address_of(sys.argv[1:])) as ledger, ledger.lock_target(JOB_POST):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(address: LedgerAddress) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of a target."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, *words_of(address)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_run_reports_who_holds_the_lock(address: LedgerAddress) -> None:
    """The message names the process, the host and the start of the run that holds the lock."""
    with (
        holder(address) as process,
        open_ledger(address) as ledger,
        pytest.raises(Busy) as caught,
        ledger.lock_target(JOB_POST),
    ):
        pytest.fail("the lock was given twice")
    assert re.fullmatch(
        r"another run is writing to job post 4f2c9a at https://recruiting\.example\.com: "
        rf"process {process.pid} on {re.escape(socket.gethostname())}, "
        r"started \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00; "
        r"wait until it has ended, then run the same command again",
        str(caught.value),
    )


def test_a_run_does_not_hold_a_target_twice(ledger: Ledger) -> None:
    """The second time is refused, and the first one keeps it."""
    with ledger.lock_target(JOB_POST):
        with pytest.raises(Busy), ledger.lock_target(JOB_POST):
            pytest.fail("the lock was given twice")
        intend(ledger, make_intent(ledger, 2))
        with open_ledger(ledger.address) as other, pytest.raises(Busy), other.lock_target(JOB_POST):
            pytest.fail("the lock was given twice")


def test_another_target_is_not_locked(address: LedgerAddress) -> None:
    """Two targets of one ledger can be loaded at the same time."""
    with holder(address), open_ledger(address) as ledger, ledger.lock_target(POOL):
        pass


def test_a_kill_frees_the_lock(address: LedgerAddress) -> None:
    """After kill -9 the next run gets the lock."""
    with holder(address) as process, open_ledger(address) as ledger:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with ledger.lock_target(JOB_POST):
            pass


def test_the_lock_is_free_after_use(ledger: Ledger) -> None:
    """The same run can be repeated without cleanup."""
    for _ in range(2):
        with ledger.lock_target(JOB_POST):
            pass
