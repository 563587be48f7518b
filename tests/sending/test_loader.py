"""The life of rows: what is sent, how often, and with which outcome."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

import pytest

from importer.ledger import Known, LedgerUnwritable, Scope, State
from importer.models import Application, Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import Problem
from importer.sending import LoadOptions, loop
from importer.service import Reply
from importer.transform import encode
from tests.patience import PATIENCE
from tests.sending.given import (
    BROKEN,
    CREATED,
    EXISTS,
    JOB_POST,
    POOL,
    REFUSED,
    SILENT,
    Answer,
    Harness,
    Scripted,
    applications,
    by_outcome,
    by_row,
    candidates,
    email_of,
    in_turn,
)

K = OutcomeKind
SETTLE = (
    "run the same command again to resend it; or look in the service and record what you find (--not-created: it is "
    "not there): importer resolve run-1 2 --created"
)
SAID = Problem(
    "already-exists-words",
    "the service responded 409: already applied",
    "no action needed if that means: the candidate is there",
)
OURS = Problem(
    "created-by-earlier-request",
    "most likely created by our own earlier request, whose response was lost",
    "no action needed",
)
FIX = "fix the row, then import it again"


def unconfirmed(text: str) -> Problem:
    return Problem("unconfirmed", f"sent, but the response was lost or inconclusive ({text})", SETTLE)


def not_accepted_since(text: str) -> Problem:
    before = "an earlier request was sent, but its response was lost or inconclusive"
    return Problem("unconfirmed", f"{before}; the last one was not accepted ({text})", SETTLE)


def rejected(text: str) -> Problem:
    return Problem("rejected", f"the service rejected this row ({text})", FIX)


def not_accepted(what: str) -> Problem:
    return Problem(
        "not-accepted", f"the service did not accept this row after {what}", "run the same command again later"
    )


def rows_for(scope: Scope, rows: list[int]) -> list[ReadyCandidate]:
    return applications(rows) if scope is JOB_POST else candidates(rows)


FILL = Reply(400, "cv: this field may not be blank")


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        pytest.param((CREATED,), Outcome(2, K.CREATED, 201, 1), id="created"),
        pytest.param((EXISTS,), Outcome(2, K.ALREADY_EXISTS, 409, 1, (SAID,)), id="already exists"),
        pytest.param(
            (FILL,), Outcome(2, K.REJECTED, 400, 1, (rejected("400: cv: this field may not be blank"),)), id="rejected"
        ),
        pytest.param(
            (Reply(422),),
            Outcome(2, K.REJECTED, 422, 1, (rejected("422, no reason given"),)),
            id="rejected without a reason",
        ),
        pytest.param(
            (Reply(429), REFUSED, CREATED), Outcome(2, K.CREATED, 201, 3), id="proven not processed, then created"
        ),
        pytest.param((BROKEN, CREATED), Outcome(2, K.CREATED, 201, 2), id="resent: it had not arrived"),
        pytest.param((SILENT, EXISTS), Outcome(2, K.ALREADY_EXISTS, 409, 2, (OURS, SAID)), id="resent: it had arrived"),
        pytest.param((BROKEN, BROKEN, EXISTS), Outcome(2, K.ALREADY_EXISTS, 409, 3, (OURS, SAID)), id="resent twice"),
        pytest.param(
            (BROKEN, Reply(429), EXISTS), Outcome(2, K.ALREADY_EXISTS, 409, 3, (OURS, SAID)), id="resent after a 429"
        ),
        pytest.param((BROKEN,), Outcome(2, K.UNCONFIRMED, 500, 3, (unconfirmed("500: oops"),)), id="never confirmed"),
        pytest.param(
            (SILENT,),
            Outcome(2, K.UNCONFIRMED, None, 3, (unconfirmed("no response within 30 s"),)),
            id="never an answer",
        ),
    ],
)
@pytest.mark.parametrize("scope", [JOB_POST, POOL], ids=["job post", "pool"])
def test_the_life_of_one_row(harness: Harness, scope: Scope, answers: tuple[Answer, ...], outcome: Outcome) -> None:
    """Whatever the service responds, the row gets the correct outcome."""
    harness.scope = scope
    rows = rows_for(scope, [3, 4, 5, 2])
    options = LoadOptions(max_attempts=3, pool_exists="in the pool")
    outcomes = harness.load(Scripted(by_row({2: answers})), rows, options)
    assert outcomes[2] == outcome


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        pytest.param((Reply(429, "slow down"),), K.FAILED, "(429: slow down)", id="refused each time"),
        pytest.param((BROKEN, Reply(429)), K.UNCONFIRMED, "(429, no reason given)", id="a 429 confirms nothing"),
    ],
)
def test_a_row_that_is_refused_for_a_quarter_of_an_hour(
    harness: Harness, answers: tuple[Answer, ...], kind: OutcomeKind, words: str
) -> None:
    """It has failed, also in the ledger, and the run ends without a stop; the next run sends it again."""
    rows = applications([3, 4, 5, 2])
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, Scripted(by_row({2: answers})))
        outcomes = by_outcome(loader.load(rows))
        known = ledger.look_up([ledger.fingerprints.identity(harness.scope, email_of(2))])
    assert (outcomes[2].kind, outcomes[2].problems[0].message.endswith(words)) == (kind, True)
    assert 900 <= round(harness.time.elapsed) < 1100  # the clock is read a millisecond early
    assert [found.state for found in known.values()] == [State(kind)]
    assert harness.load(Scripted(in_turn(CREATED)), rows)[2].kind is K.CREATED


@pytest.mark.parametrize(("scope", "kind"), [(JOB_POST, K.REJECTED), (POOL, K.UNCONFIRMED)], ids=["job post", "pool"])
def test_a_rejection_after_an_unconfirmed_request(harness: Harness, scope: Scope, kind: OutcomeKind) -> None:
    """A job post rejects the same body both times; the response of a pool to a duplicate is not known."""
    harness.scope = scope
    outcome = harness.load(Scripted(in_turn(BROKEN, FILL)), rows_for(scope, [2]))[2]
    assert (outcome.kind, outcome.status, outcome.attempts) == (kind, 400, 2)


def test_unconfirmed_rows_are_resent_at_the_end_after_the_delay(harness: Harness) -> None:
    """The other rows are sent meanwhile; then the unconfirmed row is sent again unchanged."""
    service = Scripted(by_row({2: (BROKEN, CREATED)}))
    harness.load(service, applications(range(2, 12)), LoadOptions(concurrency=1, resend_delay=60))
    assert service.emails == [email_of(row) for row in [*range(2, 12), 2]]
    assert service.bodies[0] == service.bodies[-1]
    assert 60 <= harness.time.elapsed < 61


def test_resending_now_does_not_wait(harness: Harness) -> None:
    """With `now` the unconfirmed row is sent again without a delay."""
    service = Scripted(by_row({2: (BROKEN, CREATED)}))
    harness.load(service, applications([2, 3, 4, 5]), LoadOptions(concurrency=1, resend_unconfirmed="now"))
    assert service.emails == [email_of(row) for row in (2, 2, 3, 4, 5)]
    assert harness.time.elapsed < 0.1


def test_resending_never_leaves_the_row_unconfirmed(harness: Harness) -> None:
    """With `never` one request is sent for it."""
    outcome = harness.load(Scripted(in_turn(BROKEN)), applications([2]), LoadOptions(resend_unconfirmed="never"))[2]
    assert outcome == Outcome(2, K.UNCONFIRMED, 500, 1, (unconfirmed("500: oops"),))


def test_a_retry_after_is_respected(harness: Harness) -> None:
    """It replaces our backoff."""
    harness.load(Scripted(in_turn(Reply(429, retry_after=17), CREATED)), applications([2]))
    assert 17 <= harness.time.elapsed < 18


@pytest.mark.parametrize(("seconds", "state"), [(1, State.IN_FLIGHT), (30, State.PLANNED)])
def test_a_row_that_waits_for_long_is_not_in_flight(harness: Harness, seconds: int, state: State) -> None:
    """If the process is killed meanwhile, the row is known as not accepted; it is intended again before it is sent."""
    with harness.ledger() as ledger:
        identity = ledger.fingerprints.identity(JOB_POST, email_of(2))
        found: list[State] = []
        at_requests: list[State] = []

        def answer(_: str, number: int) -> Answer:
            at_requests.extend(one.state for one in ledger.look_up([identity]).values())
            return CREATED if number else Reply(429, retry_after=seconds)

        harness.time.later(0.5, lambda: found.extend(one.state for one in ledger.look_up([identity]).values()))
        outcomes = by_outcome(harness.loader(ledger, Scripted(answer)).load(applications([2])))
    assert (found, at_requests, outcomes[2].kind) == ([state], [State.IN_FLIGHT] * 2, K.CREATED)


# --- a second run ---


@pytest.mark.parametrize("answer", [CREATED, EXISTS], ids=["created", "already exists"])
def test_what_is_done_is_not_sent_again(harness: Harness, answer: Answer) -> None:
    """The same command again makes no request for a row that is done."""
    harness.load(Scripted(in_turn(answer)), applications([2]))
    service = Scripted(in_turn(CREATED))
    moved = applications([2])[0]._replace(row=9)
    assert harness.load(service, [moved]) == {9: Outcome(9, K.ALREADY_IMPORTED)}
    assert service.emails == []


@pytest.mark.parametrize("status", [401, 410, 302])
def test_a_row_that_was_refused_alone_does_not_hold_back_new_ones(harness: Harness, status: int) -> None:
    """It comes after the new rows of the next run, which would stop at it otherwise, at each of its runs."""
    refuses = Scripted(by_row({2: (Reply(status),)}))
    before = harness.load(refuses, applications([1, 2, 3]))
    assert before[2].kind is (K.UNCONFIRMED if status == 302 else K.FAILED)
    after = harness.load(refuses, applications(range(1, 9)))
    assert {row for row, one in after.items() if one.kind is K.CREATED} == {4, 5, 6, 7, 8}
    assert after[2].kind is before[2].kind


def test_other_data_for_an_imported_row_is_reported(harness: Harness) -> None:
    """Nothing is sent for an imported e-mail address, but a warning is reported: it may be another person."""
    harness.load(Scripted(in_turn(CREATED)), applications([2]))
    service = Scripted(in_turn(CREATED))
    problem = Problem(
        "already-imported-different",
        "different data for this e-mail was sent in run run-1 (row 2 there); this row was not sent",
        "for a correction, change the candidate in the service; for a different person, use a different e-mail address",
    )
    changed = encode(Application(9, email_of(2), "Ida", "Example", "9"))
    assert harness.load(service, [changed]) == {9: Outcome(9, K.ALREADY_IMPORTED, problems=(problem,))}
    assert service.emails == []


def test_what_was_rejected_is_not_sent_again_unchanged(harness: Harness) -> None:
    """It is reported again with the run that sent it, and no request is sent."""
    harness.load(Scripted(in_turn(FILL)), applications([2]))
    service = Scripted(in_turn(CREATED))
    problem = Problem(
        "rejected-earlier",
        "the service rejected this row (400) in run run-1, and the row has not changed since",
        "fix the row, or send it unchanged with --resend-rejected",
    )
    assert harness.load(service, applications([2])) == {2: Outcome(2, K.REJECTED, 400, 0, (problem,))}
    assert service.emails == []


@pytest.mark.parametrize(
    ("first_name", "again"), [("Ida", False), ("Ada", True)], ids=["the row was fixed", "--resend-rejected"]
)
def test_what_was_rejected_is_sent_again(harness: Harness, first_name: str, again: bool) -> None:
    """A changed row is sent again, an unchanged one only with --resend-rejected."""
    harness.load(Scripted(in_turn(FILL)), applications([2]))
    outcomes = harness.load(
        Scripted(in_turn(CREATED)), applications([2], first_name), LoadOptions(resend_rejected=again)
    )
    assert outcomes == {2: Outcome(2, K.CREATED, 201, 1)}


def test_what_failed_is_sent_again(harness: Harness) -> None:
    """The next run sends it like a new row."""
    harness.load(Scripted(in_turn(REFUSED)), applications([2]))
    assert harness.load(Scripted(in_turn(CREATED)), applications([2])) == {2: Outcome(2, K.CREATED, 201, 1)}


def test_the_next_run_confirms_an_unconfirmed_row(harness: Harness) -> None:
    """A 409 then means that our own earlier request most likely created it."""
    harness.load(Scripted(in_turn(SILENT)), applications([2]), LoadOptions(resend_unconfirmed="never"))
    assert harness.load(Scripted(in_turn(EXISTS)), applications([2])) == {
        2: Outcome(2, K.ALREADY_EXISTS, 409, 1, (OURS, SAID))
    }


def test_a_changed_row_that_is_rejected_stays_unconfirmed(harness: Harness) -> None:
    """The rejection of a changed body does not prove that the first one was not accepted."""
    harness.load(Scripted(in_turn(SILENT)), applications([2]), LoadOptions(resend_unconfirmed="never"))
    for _ in range(2):
        assert harness.load(Scripted(in_turn(FILL)), applications([2], "Ida"))[2].kind is K.UNCONFIRMED
    assert harness.load(Scripted(in_turn(FILL)), applications([2]))[2].kind is K.REJECTED


def test_an_unconfirmed_row_that_is_not_resent_is_reported(harness: Harness) -> None:
    """With `never` the next run sends no request for it either."""
    never = LoadOptions(resend_unconfirmed="never")
    harness.load(Scripted(in_turn(SILENT)), applications([2]), never)
    service = Scripted(in_turn(EXISTS))
    problem = Problem(
        "unconfirmed",
        "sent in run run-1 (row 2 there), but the response was lost or inconclusive",
        SETTLE.replace("again", "without --resend-unconfirmed never (resend_unconfirmed in inbox.toml)", 1),
    )
    assert harness.load(service, applications([2]), never) == {2: Outcome(2, K.UNCONFIRMED, None, 0, (problem,))}
    assert service.emails == []


def test_a_sandbox_run_marks_nothing_as_done(harness: Harness) -> None:
    """The sandbox is not the service."""
    harness.scope = replace(JOB_POST, base="sandbox")
    harness.load(Scripted(in_turn(CREATED)), applications([2]))
    harness.scope = JOB_POST
    assert harness.load(Scripted(in_turn(CREATED)), applications([2]))[2].kind is K.CREATED


def test_a_candidate_of_another_row_is_not_sent_beside_it(harness: Harness) -> None:
    """Whoever plans the rows holds one of two back; if not, as when parts of a corrected file run, the run stops."""
    double = applications([2])[0]._replace(row=3, email=email_of(2).upper())
    service = Scripted(in_turn(BROKEN))
    outcomes = harness.load(service, [*applications([2]), double])
    assert service.emails == [email_of(2)]
    assert {row: one.kind for row, one in outcomes.items()} == {2: K.UNCONFIRMED, 3: K.UNCONFIRMED}


def test_an_intent_is_in_the_ledger_before_its_request(harness: Harness) -> None:
    """While a request is in flight, the ledger has its intent."""
    with harness.ledger() as ledger:
        observed: list[State | None] = []

        def answer(email: str, _: int) -> Answer:
            identity = ledger.fingerprints.identity(JOB_POST, email)
            known = ledger.look_up([identity]).get(identity)
            observed.append(known.state if known else None)
            return CREATED

        list(harness.loader(ledger, Scripted(answer)).load(applications(range(2, 30))))
    assert observed == [State.IN_FLIGHT] * 28


def test_a_ledger_that_cannot_be_written_stops_sending(harness: Harness) -> None:
    """From then on only rows that were ready are sent, and each other row shows the reason."""
    with harness.ledger() as ledger:

        def answer(email: str, _: int) -> Answer:
            if email == email_of(5):
                Path(ledger.name).unlink()
            return CREATED

        service = Scripted(answer)
        loader = harness.loader(ledger, service, LoadOptions(concurrency=1))
        outcomes = by_outcome(loader.load(applications(range(2, 10))))
        stop = Stop(
            "not-writable",
            f"the ledger {ledger.name} cannot be written (the file was moved or deleted)",
            "put it back: another one does not know what was sent, then run the same command again",
        )
    assert loader.stop == stop
    sent = len(service.emails)
    assert service.emails == [email_of(row) for row in range(2, 2 + sent)]
    assert sent in (4, 5)  # the intent of the fifth may have been on disk when the file was taken away
    not_sent = Problem("not-sent", f"not sent because {stop.reason}", stop.hint)
    assert outcomes == {
        **{row: Outcome(row, K.CREATED, 201, 1) for row in range(2, 2 + sent)},
        **{row: Outcome(row, K.NOT_SENT, problems=(not_sent,)) for row in range(2 + sent, 10)},
    }


def test_a_ledger_that_cannot_be_read_loses_no_row(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row that was to be looked up has its outcome."""
    with harness.ledger() as ledger:
        look_up, asked = ledger.look_up, count()

        def broken(identities: list[bytes]) -> dict[bytes, Known]:
            if next(asked) == 3:
                raise LedgerUnwritable("ledger", "it is gone", "bring it back")
            return look_up(identities)

        monkeypatch.setattr(ledger, "look_up", broken)
        loader = harness.loader(ledger, Scripted(in_turn(CREATED)))
        outcomes = by_outcome(loader.load(applications(range(2, 90))))
    assert loader.stop is not None
    assert set(outcomes) == set(range(2, 90))
    assert {outcome.kind for outcome in outcomes.values()} == {K.CREATED, K.NOT_SENT}


# --- order and concurrency ---


def test_the_first_rows_go_one_at_a_time(harness: Harness) -> None:
    """Only one row is in flight until three have a final answer."""
    lock, at_once, most = threading.Lock(), Counter[str](), []
    several = threading.Barrier(2, timeout=PATIENCE)

    def answer(email: str, number: int) -> Answer:
        with lock:
            at_once["now"] += 1
            most.append(at_once["now"])
            order = len(most)
        if order > 3:
            several.wait()  # passes only when two are in flight
        with lock:
            at_once["now"] -= 1
        return CREATED

    harness.load(Scripted(answer), applications(range(2, 9)), LoadOptions(concurrency=2))
    assert most[:3] == [1, 1, 1]


def test_candidates_are_read_by_the_caller_and_not_far_ahead(harness: Harness) -> None:
    """The source is read from the calling thread, a little ahead of what is sent."""
    read: list[int] = []
    threads: set[int] = set()

    def source() -> Iterator[ReadyCandidate]:
        for submission in applications(range(2, 5000)):
            read.append(submission.row)
            threads.add(threading.get_ident())
            yield submission

    with harness.ledger() as ledger:
        turns = harness.loader(ledger, Scripted(in_turn(CREATED))).load(source())
        outcomes = chain.from_iterable(turns)
        first = next(outcomes)
        assert (first.row, len(read) < 10) == (2, True)
        for _ in range(50):
            next(outcomes)
        assert len(read) < 51 + 256 + 8
        turns.close()
    assert threads == {threading.get_ident()}


def test_waiting_rows_go_first_if_memory_is_full(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent again although not every row was sent yet."""
    monkeypatch.setattr(loop, "_MOST_BYTES", 200)
    service = Scripted(by_row(dict.fromkeys((10, 11, 12, 13), (BROKEN, CREATED))))
    outcomes = harness.load(service, applications(range(2, 60)), LoadOptions(concurrency=1, resend_delay=0))
    assert {outcome.kind for outcome in outcomes.values()} == {K.CREATED}
    assert service.emails.index(email_of(10), 9) < service.emails.index(email_of(20))


def test_a_bug_in_sending_is_raised(harness: Harness) -> None:
    """It is raised to the caller, and its row is unconfirmed afterwards."""

    def answer(email: str, _: int) -> Answer:
        if email == email_of(4):
            raise ZeroDivisionError
        return CREATED

    with harness.ledger() as ledger, pytest.raises(ZeroDivisionError):
        list(harness.loader(ledger, Scripted(answer)).load(applications(range(2, 9))))
    outcomes = harness.load(Scripted(in_turn(EXISTS)), applications([4]))
    assert outcomes == {4: Outcome(4, K.ALREADY_EXISTS, 409, 1, (OURS, SAID))}


def test_an_error_of_the_caller_ends_the_run(harness: Harness) -> None:
    """Also in the middle of a turn, when the intents of other rows are not written yet: none of them is sent."""

    def source() -> Iterator[ReadyCandidate]:
        yield from applications(range(2, 9))
        raise OSError("the disk is full")

    service = Scripted(in_turn(CREATED))
    with harness.ledger() as ledger:
        with pytest.raises(OSError, match="the disk is full"):
            list(harness.loader(ledger, service).load(source()))
        states = {found.row: found.state for found in ledger.row_states("run-1")}
    assert states == dict.fromkeys(range(2, 2 + len(service.emails)), State.CREATED)


def test_a_bug_in_a_probe_ends_the_run(harness: Harness) -> None:
    """Whatever is in flight then."""

    def broken() -> bool:
        raise ZeroDivisionError

    service = Scripted(by_row({}, otherwise=BROKEN))
    with harness.ledger() as ledger, pytest.raises(ZeroDivisionError):
        list(harness.loader(ledger, service, probe=broken).load(applications(range(2, 90))))
