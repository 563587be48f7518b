"""The table of one run: its rows as they were read, and the outcomes."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.models import CorrectedCell, Outcome, OutcomeKind, Row
from importer.problems import CellPlace, Column, FilePlace, LinePlace, Origin, Place, Problem, UnusableInput
from importer.runs.corrections import over
from importer.runs.row_selection import ALL_ROWS
from importer.runs.table import RunTable, TableUnreadable
from importer.sources import Sheet

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
    with RunTable(tmp_path) as table:
        table.record([outcome])
    with RunTable(tmp_path) as table:
        assert list(table.outcomes()) == [outcome]


def test_outcomes_come_in_row_order_and_are_counted(tmp_path: Path) -> None:
    """Whatever order rows end in, they come back in source order, and every kind has a count."""
    with RunTable(tmp_path) as table:
        table.record([Outcome(row, OutcomeKind.CREATED, 201, 1) for row in (900_000, 3, 2)])
        table.record([Outcome(4, OutcomeKind.FILTERED)])
        assert [outcome.row for outcome in table.outcomes()] == [2, 3, 4, 900_000]
        assert table.counts() == {**dict.fromkeys(OutcomeKind, 0), OutcomeKind.CREATED: 3, OutcomeKind.FILTERED: 1}
        assert 3 in table
        assert 5 not in table


@pytest.mark.parametrize("reopened", [False, True], ids=["at once", "after it was opened again"])
def test_a_second_outcome_for_a_row_is_a_bug(tmp_path: Path, reopened: bool) -> None:
    """Every row lands in exactly one outcome; the first one stays."""
    table = RunTable(tmp_path)
    table.record([Outcome(2, OutcomeKind.CREATED, 201, 1)])
    if reopened:
        table.close()
        table = RunTable(tmp_path)
    with table, pytest.raises(ValueError, match=r"^a row got a second outcome; one of \[2\]"):
        table.record([Outcome(2, OutcomeKind.REJECTED, 400, 1)])
    with RunTable(tmp_path) as table:
        assert [outcome.kind for outcome in table.outcomes()] == [OutcomeKind.CREATED]


def test_the_table_is_private(tmp_path: Path) -> None:
    """It may contain personal data, so only its owner can read it."""
    with RunTable(tmp_path) as table:
        table.record([Outcome(2, OutcomeKind.CREATED, 201, 1)])
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


_RECORDS_AND_DIES = """
import os, signal, sys, time
from pathlib import Path
from importer.runs.table import RunTable
from importer.runs.table import TableUnreadable
from importer.models import Outcome, OutcomeKind
table = RunTable(Path(sys.argv[1]))
table.record([Outcome(row, OutcomeKind.CREATED, 201, 1) for row in range(2, 500)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_outcomes_are_on_disk_when_they_are_recorded(tmp_path: Path) -> None:
    """A kill costs none of them, with no call to close."""
    ended = subprocess.run([sys.executable, "-c", _RECORDS_AND_DIES, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with RunTable(tmp_path) as table:
        assert table.counts()[OutcomeKind.CREATED] == 498


def test_a_file_that_is_not_a_table_is_reported(tmp_path: Path) -> None:
    """Another file with the table's name is not changed."""
    path = tmp_path / "run.sqlite"
    path.write_bytes(b"no database " * 500)
    with pytest.raises(UnusableInput, match=r"run\.sqlite: it is not a readable database"):
        RunTable(tmp_path)


def test_damage_is_reported_by_every_method(tmp_path: Path) -> None:
    """An overwritten page is detected by every method that reads it, and when recording."""
    with RunTable(tmp_path) as table:
        table.record([Outcome(row, OutcomeKind.CREATED, 201, 1) for row in range(2, 3000)])
    path = tmp_path / "run.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    ways: list[Callable[[RunTable], object]] = [
        lambda table: list(table.outcomes()),
        lambda table: table.outcome(2500),
        lambda table: table.counts(),
        lambda table: 2500 in table,
        lambda table: table.record([Outcome(2500, OutcomeKind.CREATED, 201, 1)]),
    ]
    for ask in ways:
        with RunTable(tmp_path) as table, pytest.raises(UnusableInput, match="is not a readable database"):
            ask(table)


def test_a_table_that_cannot_be_read_at_the_moment_is_reported(tmp_path: Path) -> None:
    """An error while reading does not mention writing or sending."""
    with RunTable(tmp_path) as table:
        table.record([Outcome(2, OutcomeKind.CREATED, 201, 1)])
        table.close()
        with pytest.raises(TableUnreadable) as caught:
            table.counts()
    assert str(caught.value) == (
        f"{tmp_path / 'run.sqlite'}: the outcomes of run {tmp_path.name} cannot be read "
        "(Cannot operate on a closed database.). "
        "The ledger knows what was sent: close the program that has the file open, or fix the disk, "
        "then run the same command again"
    )


def test_a_write_is_done_whole_or_not_at_all(tmp_path: Path) -> None:
    """The second outcome of a row is a bug: what was recorded with it is not there."""
    with RunTable(tmp_path) as table:
        table.record([Outcome(2, OutcomeKind.CREATED, 201, 1)])
        with pytest.raises(ValueError, match="a row got a second outcome"):
            table.record([Outcome(3, OutcomeKind.CREATED, 201, 1), Outcome(2, OutcomeKind.CREATED, 201, 1)])
        assert [one.row for one in table.outcomes()] == [2]


# --- the rows ---------------------------------------------------------------------------------------

COLUMNS = tuple(Column.at(index, name) for index, name in enumerate(("Name", "Salary", "From")))
PROBLEM = Problem("cell-error", "the cell contains the error #N/A", "fix it", CellPlace(ORIGIN, 4, COLUMNS[1]))
ROWS = [
    Row(ORIGIN, 2, ("Ada", "1000.5 USD", "2026-03-04"), frozenset({1, 2})),
    Row(ORIGIN, 3, ("Bob \udc80\n", "", ""), links=((0, "https://example.com/bob"),)),
    Row(ORIGIN, 4, ("Cem", "#N/A", ""), problems=(PROBLEM,)),
]
SHEET = Sheet(ORIGIN, 1, COLUMNS, "XLSX, 3 columns", (PROBLEM,), ";", 1, lambda: iter(ROWS), ("Candidates",))


def test_rows_come_back_as_they_were_read(tmp_path: Path) -> None:
    """With everything that is known of their cells, also after the table was opened again."""
    with RunTable(tmp_path) as table:
        table.store(SHEET, ALL_ROWS)
        sheet = table.sheet
    assert list(sheet.rows()) == list(sheet.rows()) == ROWS
    assert (sheet.columns, sheet.origin, sheet.warnings, sheet.reading, sheet.delimiter, sheet.sheets) == (
        *(COLUMNS, ORIGIN, (PROBLEM,), "XLSX, 3 columns", ";", ("Candidates",)),
    )
    with RunTable(tmp_path) as table:
        assert table.rows_with([4, 9, 2]) == {4: ROWS[2], 2: ROWS[0]}


def test_corrected_rows_keep_what_the_file_has(tmp_path: Path) -> None:
    """A value stays one in its own format; a text is a text; the error of a corrected cell is gone."""
    corrections = (
        CorrectedCell(2, COLUMNS[1], "1000.5 USD", "1100.5 USD"),
        CorrectedCell(2, COLUMNS[2], "2026-03-04", "4 March"),
        CorrectedCell(4, COLUMNS[1], "#N/A", "2000", is_value=True),
    )
    (odd,) = over([ROWS[0]], {2: [CorrectedCell(2, COLUMNS[1], "1000.5 USD", "1.100 USD")]})
    assert odd.typed == {2}  # a person may mean 1,100: it is read as the mapping reads texts
    with RunTable(tmp_path) as table:
        table.store(SHEET, ALL_ROWS, corrections)
    with RunTable(tmp_path) as table:
        assert table.sheet.reading == "XLSX, 3 columns, 3 cells corrected"
        assert tuple(table.corrections.values()) == corrections
        assert list(table.rows()) == [
            Row(ORIGIN, 2, ("Ada", "1100.5 USD", "4 March"), frozenset({1})),
            ROWS[1],
            Row(ORIGIN, 4, ("Cem", "2000", ""), frozenset({1})),
        ]
        assert table.originals([2, 3, 4]) == {row.number: row for row in ROWS}
        assert (table.numbers_with(1, "1000.5 USD"), table.numbers_with(1, "1100.5 USD")) == ([2], [])


@pytest.mark.parametrize(
    ("row", "old", "told"), [(2, "900", "has the text '1000.5 USD', not '900'"), (9, "", "no row 9")]
)
def test_a_correction_of_another_file_is_refused(tmp_path: Path, row: int, old: str, told: str) -> None:
    """The text that was corrected must be what stands there."""
    with RunTable(tmp_path) as table, pytest.raises(UnusableInput, match=told):
        table.store(SHEET, ALL_ROWS, [CorrectedCell(row, COLUMNS[1], old, "1100")])
