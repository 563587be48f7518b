"""Every row of the source is accounted for, or no report is written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.models import Outcome, OutcomeKind
from importer.problems import Problem
from importer.report import MissingOutcome, Summary, write_report
from tests.report.building import FACTS, created, files_in, rows

LEFT_OVER = "the outcome created of row {} has no row, or the row has a second outcome"
BROKEN = {
    "no outcomes": ([4, 5], [], "row 4 of candidates.xlsx has no outcome"),
    "an outcome missing inside": ([4, 5, 6], [4, 6], "row 5 of candidates.xlsx has no outcome"),
    "an outcome missing at the end": ([4, 5], [4], "row 5 of candidates.xlsx has no outcome"),
    "an outcome before the first row": ([4, 5], [3, 4, 5], LEFT_OVER.format(3)),
    "an outcome in a gap": ([4, 6], [4, 5, 6], LEFT_OVER.format(5)),
    "an outcome after the last row": ([4, 5], [4, 5, 9], LEFT_OVER.format(9)),
    "two outcomes": ([4, 5], [4, 4, 5], LEFT_OVER.format(4)),
    "outcomes in another order": ([4, 5], [5, 4], "row 4 of candidates.xlsx has no outcome"),
}


@pytest.mark.parametrize(("numbers", "decided", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_row_without_its_one_outcome_is_a_bug(
    tmp_path: Path, numbers: list[int], decided: list[int], message: str
) -> None:
    """A row without an outcome, or an outcome without a row, is raised as our bug, and no file is written."""
    with pytest.raises(MissingOutcome) as caught:
        write_report(tmp_path, FACTS, rows(numbers), created(decided))

    assert str(caught.value) == message
    assert isinstance(caught.value, AssertionError)
    assert files_in(tmp_path) == set()


def _summary(count: int, outcomes: list[Outcome]) -> Summary:
    with tempfile.TemporaryDirectory() as folder:
        return write_report(Path(folder), FACTS, rows(range(count)), outcomes)


@settings(max_examples=20)  # each writes a report
@given(st.lists(st.sampled_from(OutcomeKind)))
def test_counts_add_up_to_the_rows(kinds: list[OutcomeKind]) -> None:
    """Each row is counted once under its outcome."""
    summary = _summary(len(kinds), [Outcome(n, kind) for n, kind in enumerate(kinds)])

    assert summary.source.rows == len(kinds)
    assert summary.outcomes == {kind: kinds.count(kind) for kind in OutcomeKind}


def test_requests_are_those_of_all_attempts() -> None:
    """Requests are all attempts of all rows; retries are those that were not the first for their row."""
    summary = _summary(4, [Outcome(n, OutcomeKind.CREATED, 201, sent) for n, sent in enumerate([1, 3, 0, 2])])

    assert (summary.requests.sent, summary.requests.retried) == (6, 3)


def test_cells_of_several_shapes_are_groups_with_their_own_hints() -> None:
    """Each shape of invalid numbers is listed with what to do about it."""
    hints = ["write it in digits", "set thousands:", "write it in digits"]
    problems = [Problem("integer-invalid", f"{n} is not a whole number", hint) for n, hint in enumerate(hints)]
    outcomes = [Outcome(n, OutcomeKind.INVALID, problems=(problem,)) for n, problem in enumerate(problems)]

    groups = _summary(3, outcomes).problems

    assert [(group.hint, group.count) for group in groups] == [("write it in digits", 2), ("set thousands:", 1)]
