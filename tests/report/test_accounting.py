"""Every row of the source is accounted for, or no report is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.models import Outcome, OutcomeKind, Row
from importer.problems import Problem
from importer.report.outcomes import csv_file
from importer.report.summary import Summary
from importer.report.write import write_report
from tests.report.building import (
    FACTS,
    bad_degree,
    bad_mobile,
    created,
    facts_with,
    files_in,
    read_csv,
    refused,
    row,
    rows,
)

BROKEN = {
    "no outcomes": ([4, 5], [], "row 4 has the outcome of row None"),
    "an outcome missing inside": ([4, 5, 6], [4, 6], "row 5 has the outcome of row 6"),
    "an outcome missing at the end": ([4, 5], [4], "row 5 has the outcome of row None"),
    "an outcome before the first row": ([4, 5], [3, 4, 5], "row 4 has the outcome of row 3"),
    "an outcome in a gap": ([4, 6], [4, 5, 6], "row 6 has the outcome of row 5"),
    "an outcome after the last row": ([4, 5], [4, 5, 9], "row None has the outcome of row 9"),
    "two outcomes": ([4, 5], [4, 4, 5], "row 5 has the outcome of row 4"),
    "outcomes in another order": ([4, 5], [5, 4], "row 4 has the outcome of row 5"),
}


@pytest.mark.parametrize(("numbers", "decided", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_row_without_its_one_outcome_is_a_bug(
    tmp_path: Path, numbers: list[int], decided: list[int], message: str
) -> None:
    """A row without an outcome, or an outcome without a row, is raised as our bug, and no file is written."""
    with pytest.raises(AssertionError) as caught:
        write_report(tmp_path, FACTS, rows(numbers), created(decided))

    assert str(caught.value) == message
    assert files_in(tmp_path) == set()


def _summary(count: int, outcomes: list[Outcome]) -> Summary:
    with tempfile.TemporaryDirectory() as folder:
        return write_report(Path(folder), FACTS, rows(range(count)), outcomes)


@st.composite
def _runs(draw: st.DrawFn) -> tuple[list[Row], list[Outcome], bool]:
    """The rows of a run, its outcomes with any number of problems, and whether it is a check."""
    numbers = sorted(draw(st.sets(st.integers(2, 2_000_000), max_size=12)))
    read = [row(number, *draw(st.lists(st.text(max_size=5), max_size=4))) for number in numbers]
    outcomes = []
    for each in read:
        problems = draw(st.sets(st.sampled_from([bad_degree(each), bad_mobile(each), refused("no"), refused("off")])))
        outcomes.append(Outcome(each.number, draw(st.sampled_from(OutcomeKind)), problems=tuple(problems)))
    return read, outcomes, draw(st.booleans())


def _rows_in_csv_files(folder: Path) -> dict[str, list[str]]:
    """The numbers of the rows by the CSV file."""
    return {path.stem: [cells[4] for cells in read_csv(path)[1:]] for path in folder.glob("*.csv")}


def _rows_in_sheets(folder: Path) -> dict[str, list[str]]:
    """The numbers of the rows by the sheet of report.xlsx, in the form of the names of CSV files."""
    book = openpyxl.load_workbook(folder / "report.xlsx", read_only=True)
    return {
        sheet.title.replace(" ", "_"): [str(cells[0]) for cells in sheet.iter_rows(min_row=2, values_only=True)]
        for sheet in book.worksheets[1:]
    }


@settings(max_examples=25)  # each writes a report
@given(_runs())
def test_every_row_is_in_one_file_and_counted_once(run: tuple[list[Row], list[Outcome], bool]) -> None:
    """The counts of summary.json add up to the rows read; each row is in the file and the sheet of its outcome only."""
    read, outcomes, dry_run = run
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_report(folder, facts_with(dry_run=dry_run), read, outcomes)
        summary = json.loads((folder / "summary.json").read_text("utf-8"))
        files, sheets = _rows_in_csv_files(folder), _rows_in_sheets(folder)

    numbers = {kind: [str(each.row) for each in outcomes if each.kind is kind] for kind in OutcomeKind}
    assert summary["source"]["rows"] == sum(summary["outcomes"].values()) == len(read)
    assert summary["outcomes"] == {kind: len(found) for kind, found in numbers.items()}
    if dry_run:  # a check lists no rows that nobody has to look at
        warned = [str(one.row) for one in outcomes if one.kind is OutcomeKind.NOT_SENT and one.problems]
        numbers[OutcomeKind.NOT_SENT] = warned
    expected = {csv_file(kind).removesuffix(".csv"): found for kind, found in numbers.items() if found}
    assert {file: found for file, found in files.items() if found} == expected
    assert sheets == expected


def test_requests_are_those_of_all_attempts() -> None:
    """Requests are all attempts of all rows; retries are those that were not the first for their row."""
    summary = _summary(4, [Outcome(n, OutcomeKind.CREATED, 201, sent) for n, sent in enumerate([1, 3, 0, 2])])

    assert (summary.requests.sent, summary.requests.retried) == (6, 3)


def test_duplicates_of_several_people_name_none_of_them() -> None:
    """One cause for all of them: the row that one of them repeats is not that of the others."""
    hint = "remove one of the two rows in your own file"
    problems = [
        Problem("email-duplicate", "the e-mail address is the same as in C9", f"fix row 9, or {hint}"),
        Problem("email-duplicate", "the e-mail address is the same as in C22", hint),
    ]
    outcomes = [Outcome(n, OutcomeKind.INVALID, problems=(problem,)) for n, problem in enumerate(problems)]

    (group,) = _summary(2, outcomes).problems

    assert (group.count, group.hint) == (2, hint)
    assert group.what == "the e-mail address is the same as in another row, which the report names"


def test_cells_of_several_shapes_are_groups_with_their_own_hints() -> None:
    """Each shape of invalid numbers is listed with what to do about it."""
    hints = ["write it in digits", "set thousands:", "write it in digits"]
    problems = [Problem("number-invalid", f"{n} is not a whole number", hint) for n, hint in enumerate(hints)]
    outcomes = [Outcome(n, OutcomeKind.INVALID, problems=(problem,)) for n, problem in enumerate(problems)]

    groups = _summary(3, outcomes).problems

    assert [(group.hint, group.count) for group in groups] == [("write it in digits", 2), ("set thousands:", 1)]
