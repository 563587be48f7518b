"""The outcomes of one run, by row."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from importer.models import Outcome, OutcomeKind
from importer.problems import (
    CellPlace,
    Column,
    DatabaseError,
    FilePlace,
    LinePlace,
    Origin,
    Place,
    Problem,
    UnusableInput,
)
from importer.runs.journal import JournalUnreadable, RunJournal

ORIGIN = Origin("candidates.xlsx", "Candidates")
PLACES: list[Place | None] = [
    None,
    CellPlace(ORIGIN, 7, Column(5, "F", "Değer 'x'")),
    CellPlace(Origin("a.csv"), 7),
    LinePlace("mappings/zoho.yaml", 41, 3, "  degree: Lisans"),
    FilePlace("results"),
]


@pytest.mark.parametrize("place", PLACES, ids=["none", "cell", "row of a CSV", "line", "file"])
def test_an_outcome_comes_back_as_it_was(tmp_path: Path, place: Place | None) -> None:
    """Kind, status, attempts and every problem with its place are equal after a round through the file."""
    problem = Problem("degree-unknown", "'ön lisans' is not a degree", "add it under values:", place)
    outcome = Outcome(7, OutcomeKind.INVALID, 400, 2, (problem, Problem("b", "second")))
    with RunJournal(tmp_path) as journal:
        journal.record(outcome)
    with RunJournal(tmp_path) as journal:
        assert list(journal.outcomes()) == [outcome]


def test_outcomes_come_in_row_order_and_are_counted(tmp_path: Path) -> None:
    """Whatever order rows end in, they come back in source order, and every kind has a count."""
    with RunJournal(tmp_path) as journal:
        for row in (900_000, 3, 2):
            journal.record(Outcome(row, OutcomeKind.CREATED, 201, 1))
        journal.record(Outcome(4, OutcomeKind.FILTERED))
        assert [outcome.row for outcome in journal.outcomes()] == [2, 3, 4, 900_000]
        assert journal.counts() == {
            **dict.fromkeys(OutcomeKind, 0),
            OutcomeKind.CREATED: 3,
            OutcomeKind.FILTERED: 1,
        }
        assert 3 in journal
        assert 5 not in journal


@pytest.mark.parametrize("reopened", [False, True], ids=["at once", "after it was opened again"])
def test_a_second_outcome_for_a_row_is_a_bug(tmp_path: Path, reopened: bool) -> None:
    """Every row lands in exactly one outcome; the first one stays."""
    journal = RunJournal(tmp_path)
    journal.record(Outcome(2, OutcomeKind.CREATED, 201, 1))
    if reopened:
        journal.close()
        journal = RunJournal(tmp_path)
    with journal, pytest.raises(ValueError, match=r"^row 2 already has an outcome, and got a second one: Outcome"):
        journal.record(Outcome(2, OutcomeKind.REJECTED, 400, 1))
    with RunJournal(tmp_path) as journal:
        assert [outcome.kind for outcome in journal.outcomes()] == [OutcomeKind.CREATED]


def test_the_journal_is_private(tmp_path: Path) -> None:
    """It may contain personal data, so only its owner can read it."""
    with RunJournal(tmp_path) as journal:
        journal.record(Outcome(2, OutcomeKind.CREATED, 201, 1))
        journal.flush()
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


_RECORDS_AND_DIES = """
import os, signal, sys, time
from pathlib import Path
from importer.runs.journal import RunJournal
from importer.runs.journal import JournalUnreadable
from importer.models import Outcome, OutcomeKind
journal = RunJournal(Path(sys.argv[1]))
for row in range(2, 500):
    journal.record(Outcome(row, OutcomeKind.CREATED, 201, 1))
time.sleep(1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_outcomes_are_on_disk_a_moment_later(tmp_path: Path) -> None:
    """A kill costs at most the outcomes of the last moment, with no call to close or flush."""
    ended = subprocess.run([sys.executable, "-c", _RECORDS_AND_DIES, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with RunJournal(tmp_path) as journal:
        assert journal.counts()[OutcomeKind.CREATED] == 498


def test_a_file_that_is_not_a_journal_is_reported(tmp_path: Path) -> None:
    """Another file with the journal's name is not changed."""
    path = tmp_path / "outcomes.sqlite"
    path.write_bytes(b"no database " * 500)
    with pytest.raises(UnusableInput, match=r"outcomes\.sqlite: it is not a readable database"):
        RunJournal(tmp_path)


def test_damage_is_reported_by_every_method(tmp_path: Path) -> None:
    """An overwritten page is detected by every method that reads it, and when recording."""
    with RunJournal(tmp_path) as journal:
        for row in range(2, 3000):
            journal.record(Outcome(row, OutcomeKind.CREATED, 201, 1))
    path = tmp_path / "outcomes.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    ways: list[Callable[[RunJournal], object]] = [
        lambda journal: list(journal.outcomes()),
        lambda journal: journal.outcomes_from(2, 10),
        lambda journal: journal.outcome(2500),
        lambda journal: journal.counts(),
        lambda journal: 2500 in journal,
        lambda journal: journal.record(Outcome(2500, OutcomeKind.CREATED, 201, 1)),
    ]
    for ask in ways:
        with RunJournal(tmp_path) as journal, pytest.raises(UnusableInput, match="is not a readable database"):
            ask(journal)


def test_a_journal_locked_by_another_program_is_reported(tmp_path: Path) -> None:
    """An error while reading does not mention writing or sending."""
    with RunJournal(tmp_path) as journal:
        journal.record(Outcome(2, OutcomeKind.CREATED, 201, 1))
        journal.flush()
        locked = DatabaseError("database is locked")
        with patch.object(journal._file, "transaction", side_effect=locked), pytest.raises(JournalUnreadable) as caught:
            journal.counts()
    assert str(caught.value) == (
        f"{tmp_path / 'outcomes.sqlite'}: the outcomes of run {tmp_path.name} cannot be read (database is locked). "
        "The ledger knows what was sent: close the program that has the file open, or fix the disk, "
        "then run the same command again"
    )
