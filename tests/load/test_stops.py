"""When sending ends early, and what is said then."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from importer.ledger import State
from importer.load import ErrorLimit, Halt, LoadOptions, Stop
from importer.models import Outcome, OutcomeKind, Problem
from importer.service import Reply
from tests.load.given import (
    BROKEN,
    CREATED,
    REFUSED,
    SILENT,
    THERE,
    Answer,
    House,
    Scripted,
    applications,
    by_outcome,
    by_row,
    email_of,
    in_turn,
)

K = OutcomeKind
AGAIN = "run the same command again"
ONE = LoadOptions(in_flight=1)


@pytest.fixture(params=["a thread for each", "many at once"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> House:
    return House(tmp_path, many_at_once=request.param == "many at once")


def kinds(outcomes: dict[int, Outcome]) -> dict[OutcomeKind, int]:
    found: dict[OutcomeKind, int] = {}
    for outcome in outcomes.values():
        found[outcome.kind] = found.get(outcome.kind, 0) + 1
    return found


@pytest.mark.parametrize(
    ("status", "stop"),
    [
        pytest.param(
            401,
            Stop(
                "token-refused",
                "the service refuses the token (401)",
                f"check IMPORTER_TOKEN or IMPORTER_TOKEN_FILE with importer doctor, then {AGAIN}",
            ),
            id="401",
        ),
        pytest.param(
            307,
            Stop(
                "redirected",
                "the service sends us to another address (307), where we do not take candidates",
                f"set IMPORTER_BASE_URL to the service's own address, then {AGAIN}",
            ),
            id="307",
        ),
        pytest.param(
            403,
            Stop(
                "target-forbidden",
                "the service does not let us add to job post 4f2c9a (403)",
                f"ask for the right to it, or check the token, then {AGAIN}",
                whole_run=False,
            ),
            id="403",
        ),
        pytest.param(
            404,
            Stop(
                "target-unknown",
                "the service does not know job post 4f2c9a (404)",
                f"check the target in the mapping, then {AGAIN}",
                whole_run=False,
            ),
            id="404",
        ),
        pytest.param(
            410,
            Stop(
                "target-gone",
                "the service no longer has job post 4f2c9a (410)",
                f"check the target in the mapping, then {AGAIN}",
                whole_run=False,
            ),
            id="410",
        ),
        pytest.param(
            423,
            Stop(
                "target-locked",
                "the service has locked job post 4f2c9a (423)",
                f"wait until it is open again, then {AGAIN}",
                whole_run=False,
            ),
            id="423",
        ),
        pytest.param(
            405,
            Stop(
                "request-refused",
                "the service refuses the form of our request to job post 4f2c9a (405)",
                "check IMPORTER_BASE_URL; if it is right, the service has changed and the importer must follow",
                whole_run=False,
            ),
            id="405",
        ),
    ],
)
def test_an_answer_that_stops(house: House, status: int, stop: Stop) -> None:
    """The row that met it failed, no other is sent, each is told why, and the next run sends them all."""
    service = Scripted(by_row({5: (Reply(status, "no"),)}))
    with house.ledger() as ledger:
        loader = house.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop == stop
    assert service.emails == [email_of(row) for row in range(2, 6)]
    failed = Problem("not-accepted", f"the service did not take this row in 1 attempt ({status}: no)", f"{AGAIN} later")
    assert outcomes[5] == Outcome(5, K.FAILED, status, 1, (failed,))
    not_sent = Problem("not-sent", f"not sent, because {stop.reason}", stop.hint)
    assert [outcomes[row] for row in range(6, 10)] == [
        Outcome(row, K.NOT_SENT, problems=(not_sent,)) for row in range(6, 10)
    ]
    later = house.load(Scripted(in_turn(CREATED)), applications(range(2, 10)))
    assert kinds(later) == {K.DONE_BEFORE: 3, K.CREATED: 5}


@pytest.mark.parametrize("status", [302, 303])
def test_a_redirect_that_may_follow_an_acceptance_leaves_the_row_unclear(house: House, status: int) -> None:
    """Many a service says so when it has taken a form: no other row is sent, and the next run settles this one."""
    service = Scripted(by_row({5: (Reply(status, "no"),)}))
    with house.ledger() as ledger:
        loader = house.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop is not None
    assert (loader.stop.code, loader.stop.whole_run) == ("redirected", True)
    assert (outcomes[5].kind, outcomes[5].status) == (K.UNCLEAR, status)
    later = house.load(Scripted(by_row({5: (Reply(409),)})), applications(range(2, 10)))
    assert kinds(later) == {K.DONE_BEFORE: 3, K.ALREADY_THERE: 1, K.CREATED: 4}


def test_a_stop_after_a_doubt_leaves_the_row_unclear(house: House) -> None:
    """A 403 to the second attempt does not say what became of the first."""
    outcomes = house.load(Scripted(in_turn(BROKEN, Reply(403))), applications([2]), ONE)
    assert (outcomes[2].kind, outcomes[2].status) == (K.UNCLEAR, 403)


def load_with_probes(
    house: House, service: Scripted, rows: int, *probes: bool, options: LoadOptions = ONE
) -> tuple[Stop | None, dict[int, Outcome], int]:
    """A run of that many rows; the stop, the outcomes, and how often the service was probed."""
    asked: list[bool] = []

    def probe() -> bool:
        asked.append(probes[len(asked)])
        return asked[-1]

    with house.ledger() as ledger:
        loader = house.loader(ledger, service, options, probe=probe)
        outcomes = by_outcome(loader.load(applications(range(2, rows + 2))))
        assert ledger.check() == ()
    return loader.stop, outcomes, len(asked)


def test_three_doubts_in_a_row_pause_and_probe(house: House) -> None:
    """When the service is well again after the pause, the run goes on and settles what was in doubt."""
    doubtful = dict.fromkeys((10, 11, 12), (BROKEN, CREATED))
    stop, outcomes, probes = load_with_probes(house, Scripted(by_row(doubtful)), 30, True)
    assert (stop, kinds(outcomes), probes) == (None, {K.CREATED: 30}, 1)
    assert house.time.waits[0] == 30


def test_five_doubts_of_fifty_pause_and_probe(house: House) -> None:
    """Doubts with good answers between them count too."""
    doubtful = dict.fromkeys((10, 15, 20, 25, 30), (BROKEN, CREATED))
    stop, outcomes, probes = load_with_probes(house, Scripted(by_row(doubtful)), 60, True)
    assert (stop, kinds(outcomes), probes) == (None, {K.CREATED: 60}, 1)


def test_four_doubts_of_fifty_do_not(house: House) -> None:
    """A service that stumbles now and then is lived with."""
    doubtful = dict.fromkeys((10, 15, 20, 25, 61), (BROKEN, CREATED))
    assert load_with_probes(house, Scripted(by_row(doubtful)), 70)[2] == 0


UNWELL_HINT = f"wait until the service is well, then {AGAIN}: it settles the unclear rows first"


@pytest.mark.parametrize("answer", [BROKEN, SILENT, REFUSED, Reply(429)], ids=["500", "silent", "refused", "429"])
def test_a_service_that_does_not_answer_the_probe_stops_the_run(house: House, answer: Answer) -> None:
    """A service that is down costs three rows, and no more."""
    stop, outcomes, probes = load_with_probes(house, Scripted(in_turn(answer)), 30, False)
    assert stop == Stop(
        "service-unwell",
        "the service gave no clear answer to several rows, and it did not answer a question after a pause",
        UNWELL_HINT,
    )
    assert probes == 1
    assert kinds(outcomes)[K.NOT_SENT] == 27


def test_a_second_trip_stops_the_run(house: House) -> None:
    """Once is an accident; twice, the service is not well, whatever it says to the probe."""
    stop, outcomes, probes = load_with_probes(house, Scripted(in_turn(BROKEN)), 30, True)
    assert stop == Stop(
        "service-unwell", "the service gave no clear answer to several rows, again, after a pause", UNWELL_HINT
    )
    assert (kinds(outcomes), probes) == ({K.UNCLEAR: 6, K.NOT_SENT: 24}, 1)


def test_after_a_pause_rows_go_singly(house: House) -> None:
    """Until three rows have a final answer again, one is on its way."""
    # Five are a trip in whatever order their answers come, and too few for two.
    scripted = by_row(dict.fromkeys(range(10, 15), (BROKEN, CREATED)))
    lock, at_once, busy = threading.Lock(), [0], [0]

    def answer(email: str, number: int) -> Answer:
        with lock:
            at_once[0] += 1
            busy.append(at_once[0])
        time.sleep(0.002)
        with lock:
            at_once[0] -= 1
        return scripted(email, number)

    probed_after: list[int] = []

    def probe() -> bool:
        probed_after.append(len(busy))
        return True

    with house.ledger() as ledger:
        loader = house.loader(ledger, Scripted(answer), LoadOptions(in_flight=4), probe=probe)
        outcomes = by_outcome(loader.load(applications(range(2, 40))))
    (pause,) = probed_after
    assert kinds(outcomes) == {K.CREATED: 38}
    assert busy[pause : pause + 3] == [1, 1, 1]
    assert max(busy) > 1


@pytest.mark.parametrize(
    ("before", "refused"), [(0, 10), (1, 25)], ids=["the first ten answers", "twenty-five in a row later on"]
)
def test_the_same_refusal_again_and_again_stops_the_run(house: House, before: int, refused: int) -> None:
    """When every row is refused with the same words, it is the mapping that is wrong."""
    good = dict.fromkeys(range(2, 2 + before), (CREATED,))
    service = Scripted(by_row(good, otherwise=Reply(400, "phone: required")))
    stop, outcomes, _ = load_with_probes(house, service, 60)
    assert stop == Stop(
        "mapping-is-wrong",
        f"the service refused {refused} rows in a row for the same reason: phone: required",
        f"mend the mapping, check it with importer check, then {AGAIN}",
    )
    assert kinds(outcomes)[K.REJECTED] == refused


def test_different_refusals_do_not_stop_the_run(house: House) -> None:
    """Messy rows are not a wrong mapping."""
    service = Scripted(lambda email, _: Reply(400, f"{email} is not liked"))
    stop, outcomes, _ = load_with_probes(house, service, 40)
    assert (stop, kinds(outcomes)) == (None, {K.REJECTED: 40})


@pytest.mark.parametrize(
    ("limit", "sent", "said"),
    [
        pytest.param("2", 5, "3 of 5 rows were rejected, failed or unclear; the limit is 2", id="a number"),
        pytest.param("20%", 20, "10 of 20 rows were rejected, failed or unclear; the limit is 20%", id="a percentage"),
    ],
)
def test_too_many_errors_stop_the_run(house: House, limit: str, sent: int, said: str) -> None:
    """--max-errors ends the run with the row that passes it."""
    service = Scripted(lambda email, _: Reply(400, email) if int(email[6:].partition("@")[0]) % 2 == 0 else CREATED)
    options = LoadOptions(in_flight=1, max_errors=ErrorLimit.parse(limit))
    stop, _, _ = load_with_probes(house, service, 40, options=options)
    assert stop == Stop(
        "too-many-errors",
        said,
        f"look at the report, mend the rows or the mapping, then {AGAIN}; or raise --max-errors",
    )
    assert len(service.emails) == sent


# --- interruption ---

INTERRUPTED = Stop("interrupted", "the run was interrupted", f"{AGAIN} to go on where it ended")


def test_a_halt_lets_what_is_in_flight_finish_and_sends_no_more(house: House) -> None:
    """After an interruption the answers on their way are taken, and every other row is told why it was not sent."""
    halt = house.time.halt()

    def answer(email: str, _: int) -> Answer:
        if email == email_of(6):
            halt.set()
        return CREATED

    service = Scripted(answer)
    with house.ledger() as ledger:
        loader = house.loader(ledger, service, ONE, halt=halt)
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
    assert loader.stop == INTERRUPTED
    assert kinds(outcomes) == {K.CREATED: 5, K.NOT_SENT: 3}
    assert outcomes[9].problems == (Problem("not-sent", "not sent, because the run was interrupted", INTERRUPTED.hint),)


@pytest.mark.parametrize(
    ("answer", "kind", "state"),
    [
        pytest.param(Reply(429, retry_after=800), K.FAILED, State.FAILED, id="a Retry-After"),
        pytest.param(BROKEN, K.UNCLEAR, State.UNCLEAR, id="the settling delay"),
    ],
)
def test_a_halt_ends_waiting_at_once(house: House, answer: Answer, kind: OutcomeKind, state: State) -> None:
    """A wait of many minutes ends with the halt, and the row's outcome is what is true then."""
    halt = Halt()
    sent = threading.Event()

    def answers(email: str, _: int) -> Answer:
        sent.set()
        return answer

    def interrupt() -> None:
        sent.wait(10)
        time.sleep(0.05)
        halt.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    began = time.monotonic()
    with house.ledger() as ledger:
        loader = house.loader(ledger, Scripted(answers), LoadOptions(settle_after=600), halt=halt)
        outcomes = by_outcome(loader.load(applications([2, 3])))
        assert [row.state for row in ledger.row_states("run-1")] == [state] * len(list(ledger.row_states("run-1")))
        assert ledger.check() == ()
    thread.join()
    assert time.monotonic() - began < 10
    assert outcomes[2].kind is kind
    assert loader.stop == INTERRUPTED


def test_a_caller_who_goes_away_stops_the_sending(house: House) -> None:
    """When nobody takes the outcomes any more, no new row is sent and no thread is left behind."""
    service = Scripted(in_turn(CREATED))
    with house.ledger() as ledger:
        outcomes = house.loader(ledger, service).load(applications(range(2, 500)))
        for _ in range(20):
            next(outcomes)
        outcomes.close()
        sent = len(service.emails)
        assert sent < 100
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("sender")]
    later = house.load(Scripted(in_turn(THERE)), applications(range(2, 500)))
    assert kinds(later) == {K.DONE_BEFORE: sent, K.ALREADY_THERE: 498 - sent}
