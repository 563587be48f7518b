"""The books of a killed run, closed wherever the kill came: in its sending, its ending, or in the closing itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from importer import results
from importer.ledger import Answered, Attempt, Intent, Ledger, RunRecord, State, open_ledger
from importer.models import Operation, Outcome, OutcomeKind, ReadyCandidate, SourceOptions, Target
from importer.problems import Problem, UnusableInput, UsageError
from importer.report.summary import Summary, read_summary
from importer.runs.finalize import close
from importer.runs.manifest import Ending, RunManifest, read_manifest, write_manifest
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.runs.run_report import rewrite_report
from importer.runs.table import TABLE, Classified, RunTable
from importer.sending import known_before
from importer.sources import open_sheet
from tests.ledger.given import intend, problems_of

RUN = "20260301-120000-abcd"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TARGET = Target(Operation.APPLY, "4f2c9a")
SOURCE = "E-mail\n" + "".join(f"person{row}@example.com\n" for row in range(2, 8))
MANIFEST = RunManifest(
    run=RUN,
    file="people.csv",
    source="source.csv",
    sha256=hashlib.sha256(SOURCE.encode()).hexdigest(),
    options=SourceOptions(),
    selection=Selection(),
    mapping="mapping.yaml",
    mapping_copy="mapping.yaml",
    target=TARGET,
    service="https://recruiting.example.com",
    dry_run=False,
    rows=6,
    blank_rows=0,
    warnings=(),
    started_at=NOON,
)
# What the ledger knows of rows 2 to 6; row 7 had no turn.
STATES = {2: State.CREATED, 3: State.UNCONFIRMED, 4: State.IN_FLIGHT, 5: State.FAILED, 6: State.ALREADY_EXISTS}
EXPECTED = {
    OutcomeKind.CREATED: 1,
    OutcomeKind.UNCONFIRMED: 2,
    OutcomeKind.FAILED: 1,
    OutcomeKind.ALREADY_EXISTS: 1,
    OutcomeKind.NOT_SENT: 1,
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def folder(tmp_path: Path, ledger: Ledger) -> Path:
    """A run that was killed while it sent: what it did is in the ledger, its table has only what was checked."""
    folder = tmp_path / RUN
    folder.mkdir()
    (folder / "source.csv").write_text(SOURCE, encoding="utf-8")
    write_manifest(folder, MANIFEST)
    checked(folder, [Classified((row,), ReadyCandidate(row, f"person{row}@example.com", b"")) for row in range(2, 8)])
    ledger.begin_run(RunRecord(RUN, MANIFEST.scope, NOON))
    for row, state in STATES.items():
        live(ledger, row, state)
    return folder


def checked(folder: Path, candidates: Sequence[Classified]) -> None:
    """Write the table of a run that has checked its file."""
    (folder / TABLE).unlink(missing_ok=True)
    with RunTable(folder) as table:
        sheet = open_sheet(folder / "source.csv", SourceOptions(), shown_as="people.csv")
        table.store(sheet, ALL_ROWS)
        table.keep(candidates)


def live(ledger: Ledger, row: int, state: State) -> None:
    """Bring a row into a state; one that already exists was unconfirmed before."""
    identity = ledger.fingerprints.identity(MANIFEST.scope, f"person{row}@example.com")
    number = 1
    attempt = Attempt(identity, RUN, row, number)
    if state is State.ALREADY_EXISTS:
        intend(ledger, Intent(attempt, b"body"))
        ledger.write([Answered(attempt, State.UNCONFIRMED, 503)])
        attempt = attempt._replace(number=2)
    intend(ledger, Intent(attempt, b"body"))
    if state is not State.IN_FLIGHT:
        ledger.write([Answered(attempt, state, {State.CREATED: 201, State.ALREADY_EXISTS: 409}.get(state))])


def counts(summary: Summary) -> dict[OutcomeKind, int]:
    return {kind: count for kind, count in summary.outcomes.items() if count}


def test_every_row_gets_its_outcome_from_the_ledger(folder: Path, ledger: Ledger) -> None:
    """The report of a killed run is complete, and explains a 409 after a lost response."""
    summary = close(folder, ledger, known_before(ledger, MANIFEST.scope))
    assert (summary.finished, counts(summary)) == (False, EXPECTED)
    with RunTable(folder) as table:
        there = table.outcome(6)
    assert there is not None
    assert [problem.code for problem in there.problems] == ["created-by-earlier-request"]
    assert ledger.unfinished_runs(MANIFEST.scope) == ()
    assert problems_of(ledger) == []


def test_a_row_that_an_earlier_run_has_sent_is_told_as_such(folder: Path, ledger: Ledger) -> None:
    """The killed run had not come to it."""
    identity = ledger.fingerprints.identity(MANIFEST.scope, "person7@example.com")
    attempt = Attempt(identity, "20260228-120000-abcd", 7, 1)
    ledger.begin_run(RunRecord(attempt.run, MANIFEST.scope, NOON))
    intend(ledger, Intent(attempt, ledger.fingerprints.body_digest(b"")))
    ledger.write([Answered(attempt, State.CREATED, 201)])
    summary = close(folder, ledger, known_before(ledger, MANIFEST.scope))
    assert (summary.outcomes[OutcomeKind.ALREADY_IMPORTED], summary.outcomes[OutcomeKind.NOT_SENT]) == (1, 0)


def test_what_was_checked_is_known_without_the_ledger(folder: Path, ledger: Ledger) -> None:
    """Rows that the run did not reach are invalid if they were; a candidate's outcome is that of all its rows."""
    wrong = Problem("email-invalid", "'nobody' is not a valid e-mail address")
    others = [Classified((row,), ReadyCandidate(row, "", b"")) for row in (4, 5, 6)]
    several = Classified((2, 3), ReadyCandidate(2, "person2@example.com", b""), (wrong,))
    checked(folder, [several, *others, Classified((7,), Outcome(7, OutcomeKind.INVALID, problems=(wrong,)))])
    assert counts(close(folder, ledger, known_before(ledger, MANIFEST.scope))) == {
        OutcomeKind.CREATED: 2, OutcomeKind.UNCONFIRMED: 1, OutcomeKind.FAILED: 1, OutcomeKind.ALREADY_EXISTS: 1,
        OutcomeKind.INVALID: 1,
    }  # fmt: skip
    with RunTable(folder) as table:
        assert [table.outcome(row).problems for row in (2, 3, 7)] == [(wrong,)] * 3  # type: ignore[union-attr]


def test_outcomes_in_the_table_stay(folder: Path, ledger: Ledger) -> None:
    """An outcome recorded before the kill stays, and an interrupted finalization is completed."""
    with RunTable(folder) as table:
        table.record([Outcome(2, OutcomeKind.CREATED, 201, 3, candidate_id=4100)])
        table.record([Outcome(7, OutcomeKind.INVALID)])
    summary = close(folder, ledger, known_before(ledger, MANIFEST.scope))
    assert counts(summary) == {
        **{kind: EXPECTED[kind] for kind in EXPECTED if kind is not OutcomeKind.NOT_SENT},
        OutcomeKind.INVALID: 1,
    }
    with RunTable(folder) as table:
        assert table.outcome(2) == Outcome(2, OutcomeKind.CREATED, 201, 3, candidate_id=4100)


def test_an_answer_that_only_the_table_has_is_written_to_the_ledger(folder: Path, ledger: Ledger) -> None:
    """The table has it first, with its words: a kill before the ledger has it leaves nothing unconfirmed."""
    said = Problem("rejected", "no such mailbox")
    row = next(row for row, state in STATES.items() if state is State.IN_FLIGHT)
    with RunTable(folder) as table:
        table.record([Outcome(row, OutcomeKind.REJECTED, 400, 1, (said,))])
    close(folder, ledger, known_before(ledger, MANIFEST.scope))
    with RunTable(folder) as table:
        assert table.outcome(row) == Outcome(row, OutcomeKind.REJECTED, 400, 1, (said,))
    states = {each.row: (each.state, each.status) for each in ledger.row_states(RUN)}
    assert states[row] == (State.REJECTED, 400)


def test_killed_between_ending_and_report(folder: Path, ledger: Ledger) -> None:
    """A run whose manifest has its ending but whose report was not written gets its report, and keeps its ending."""
    close(folder, ledger, known_before(ledger, MANIFEST.scope))
    ending = Ending(NOON, finished=True, exit_code=4)
    write_manifest(folder, read_manifest(folder).ended(ending))
    (folder / "summary.json").unlink()
    summary = close(folder, ledger, known_before(ledger, MANIFEST.scope))
    assert (summary.finished, summary.exit_code, summary.ended_at) == (True, 4, NOON)
    assert read_summary(folder) == summary


def test_answers_that_a_lost_ledger_did_not_get_are_carried_into_it(folder: Path, ledger: Ledger) -> None:
    """A run that ended because its ledger could not be written knows who was created: nobody of them is sent again."""
    with RunTable(folder) as table:
        table.record([Outcome(row, OutcomeKind.CREATED, 201, 1) for row in range(2, 8)])
    write_manifest(folder, MANIFEST.ended(Ending(NOON, finished=False, exit_code=5)))
    close(folder, ledger, known_before(ledger, MANIFEST.scope))
    states = {one.row: (one.state, one.status) for one in ledger.row_states(RUN)}
    assert (states[3], states[4]) == ((State.CREATED, 201), (State.CREATED, 201))


def test_a_later_report_says_the_same(folder: Path, ledger: Ledger) -> None:
    """Unconfirmed rows of a killed run stay unconfirmed in its report, whatever a later run finds."""
    first = close(folder, ledger, known_before(ledger, MANIFEST.scope))
    identity = ledger.fingerprints.identity(MANIFEST.scope, "person3@example.com")
    ledger.begin_run(RunRecord("run-2", MANIFEST.scope, NOON))
    intend(ledger, Intent(Attempt(identity, "run-2", 3, 1), b"body"))
    ledger.write([Answered(Attempt(identity, "run-2", 3, 1), State.CREATED, 201)])
    assert counts(rewrite_report(folder)) == counts(first)


def test_the_rows_of_a_run_as_a_data_frame(folder: Path, ledger: Ledger) -> None:
    """For engineers: cells as text under the names of the CSV files, and no rows of a run that goes on."""
    with pytest.raises(UnusableInput, match="has not ended"):
        results(folder)
    close(folder, ledger, known_before(ledger, MANIFEST.scope))
    frame = results(folder)
    assert list(frame.columns) == ["E-mail", "import_row", "import_status", "import_problem", "import_hint"]
    assert frame.loc[2, ["E-mail", "import_status"]].tolist() == ["person2@example.com", "201 created"]
    assert frame["import_status"].str.contains("unconfirmed").sum() == 2
    assert list(frame.index) == [2, 3, 4, 5, 6, 7]


def test_a_run_that_never_started_is_left_alone(folder: Path, ledger: Ledger) -> None:
    """A run that the ledger does not know may be about to start: it is not finalized."""
    write_manifest(folder, replace(MANIFEST, run="20260301-120000-ffff"))
    with pytest.raises(UsageError) as caught:
        close(folder, ledger, known_before(ledger, MANIFEST.scope))
    assert str(caught.value) == (
        f"the ledger {ledger.name} does not know run 20260301-120000-ffff: it was killed before sending, "
        "has only just started, or uses another ledger"
    )
    assert read_manifest(folder).ending is None
