"""The rate of a service in PostgreSQL: its turns, its pauses and what its runs learned, for all of them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from importer.ledger import LedgerStore, LedgerUnwritable, RateBoard, RateReport, SharedLimit, open_ledger
from tests.ledger.given import record
from tests.postgres import Server

BASE = "https://recruiting.example.com"
NOTHING = RateReport(0, 0.0, 0, 0, 0.0, None)


@pytest.fixture
def ledger(postgres: Server, tmp_path: Path) -> Iterator[LedgerStore]:
    with open_ledger(postgres.address(tmp_path / "ledger.key")) as ledger:
        yield ledger


@contextmanager
def boards(ledger: LedgerStore, *runs: str) -> Iterator[list[RateBoard]]:
    found = [ledger.rate_board(record(run)) for run in runs]
    yield [board for board in found if board is not None]
    for board in found:
        assert board is not None
        board.close()


def turns(count: int, interval: float) -> RateReport:
    return NOTHING._replace(turns=count, interval=interval)


def test_a_turn_is_dealt_once(ledger: LedgerStore) -> None:
    """Four boards take eighty turns at the same time; the next turn comes after all of them."""
    interval = 0.05

    def take(board: RateBoard) -> None:
        for _ in range(10):
            board.exchange(turns(2, interval))

    with boards(ledger, "a", "b", "c", "d") as several:
        began = time.monotonic()
        threads = [threading.Thread(target=take, args=(board,)) for board in several]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait = several[0].exchange(turns(1, interval)).wait
        assert wait + time.monotonic() - began >= 80 * interval


def test_the_turns_of_one_board_follow_each_other(ledger: LedgerStore) -> None:
    """The next handful begins where the last one ended."""
    with boards(ledger, "a") as [board]:
        waits = [board.exchange(turns(10, 1.0)).wait for _ in range(4)]
    assert all(9 < later - before <= 10 for before, later in pairwise(waits))


def test_idle_time_is_not_saved_up(ledger: LedgerStore, postgres: Server) -> None:
    """The first turn after a long time is now, and the one behind it an interval later."""
    with boards(ledger, "a") as [board]:
        board.exchange(turns(1, 1.0))
        postgres.execute(f"UPDATE {schema(ledger)}.rates SET next_turn = next_turn - 3600")
        assert board.exchange(turns(1, 1.0)).wait <= 0.001
        assert board.exchange(turns(1, 1.0)).wait > 0.5


def test_a_pause_holds_all_and_comes_before_every_turn(ledger: LedgerStore) -> None:
    """Whoever asks next hears of it, takes later turns, and a shorter pause does not end it."""
    with boards(ledger, "a", "b") as [one, other]:
        assert one.exchange(NOTHING).hold == 0
        one.exchange(NOTHING._replace(hold=5.0))
        other.exchange(NOTHING._replace(hold=1.0))
        assert 4 < other.exchange(NOTHING).hold <= 5
        assert 4 < other.exchange(turns(1, 0.1)).wait <= 5


def test_what_one_learned_reaches_all_with_its_age(ledger: LedgerStore) -> None:
    """Each change has a new version; nothing learned is no limit."""
    with boards(ledger, "a", "b") as [one, other]:
        before = other.exchange(NOTHING)
        assert math.isinf(before.limit.value)
        one.exchange(NOTHING._replace(limit=SharedLimit(48.0, 3.0, 0.01, 49.5)))
        news = other.exchange(NOTHING)
        assert news.version == before.version + 1
        assert (news.limit.value, news.limit.growth, news.limit.top) == (48.0, 0.01, 49.5)
        assert 3 <= news.limit.age < 5
        one.exchange(NOTHING._replace(limit=SharedLimit()))
        assert other.exchange(NOTHING).limit.value == math.inf


def test_accepted_requests_of_all_are_counted(ledger: LedgerStore) -> None:
    """Each run subtracts its own."""
    with boards(ledger, "a", "b") as [one, other]:
        one.exchange(NOTHING._replace(accepted=7))
        assert other.exchange(NOTHING._replace(accepted=5, refused=2)).accepted == 12


def test_services_do_not_share(ledger: LedgerStore) -> None:
    """Another address has turns of its own."""
    elsewhere = record("b", replace(record().scope, base="https://other.example.com"))
    with boards(ledger, "a") as [one]:
        one.exchange(turns(10, 1.0))
        other = ledger.rate_board(elsewhere)
        assert other is not None
        with closing(other):
            assert other.exchange(turns(1, 1.0)).wait <= 0.001


def test_who_uses_the_rate_is_known_until_it_ends(ledger: LedgerStore) -> None:
    """With its requests; a board that is closed is gone."""
    with boards(ledger, "a", "b") as [one, other]:
        one.exchange(NOTHING._replace(accepted=7, refused=1))
        other.exchange(turns(1, 0.5))
        [rate] = ledger.rates()
        assert (rate.base, rate.hold) == (BASE, 0)
        assert [(user.run, user.accepted, user.refused, user.spacing) for user in rate.users] == [
            ("a", 7, 1, 0.0),
            ("b", 0, 0, 0.5),
        ]
        one.close()
        assert [user.run for user in ledger.rates()[0].users] == ["b"]


def test_a_board_survives_a_restart_of_the_server(ledger: LedgerStore, postgres: Server) -> None:
    """While the server is away there are no turns; then it goes on."""
    with boards(ledger, "a") as [board]:
        board.exchange(turns(1, 0.1))
        postgres.stop()
        with pytest.raises(LedgerUnwritable, match="check the server"):
            board.exchange(turns(1, 0.1))
        postgres.start()
        assert board.exchange(turns(1, 0.1)).wait >= 0


def schema(ledger: LedgerStore) -> str:
    return ledger.address.location.rpartition("%3D")[2]
