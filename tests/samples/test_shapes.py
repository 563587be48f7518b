"""Every real shape of an export goes through the whole pipeline as its golden folder says."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.models import OutcomeKind
from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.samples.golden import GoldenOutcome, read_bodies, read_outcomes, read_told
from tests.samples.rehearsal import Rehearsal, rehearse
from tests.samples.sample import ROOT
from tests.samples.shapes import SHAPES, Shape

OWN = [shape for shape in SHAPES if shape.name != "legacy_ats_export"]  # that one is held by test_golden


@pytest.mark.parametrize("shape", OWN, ids=lambda shape: shape.name)
def test_a_shape_is_imported_as_its_golden_folder_says(shape: Shape, tmp_path: Path) -> None:
    """Each row has its golden outcome, the service the golden applications, and a person is told the golden words."""
    with running(SandboxOptions(token="golden")) as sandbox:
        ran = rehearse(shape, sandbox, tmp_path)
    assert [GoldenOutcome.of(outcome) for outcome in ran.outcomes] == read_outcomes(shape.golden)
    assert sorted(sandbox.memory.accepted(), key=lambda body: body["email"]) == read_bodies(shape.golden)
    assert told_of(ran) == read_told(shape.golden)


def told_of(ran: Rehearsal) -> list[str]:
    """Every warning and problem of a run as a person reads it, without the folder of this checkout."""
    problems = [str(problem) for outcome in ran.outcomes for problem in outcome.problems]
    return [line.replace(f"{ROOT}/", "") for line in (*ran.summary.warnings, *problems)]


def test_the_rows_of_one_candidate_have_one_outcome_and_its_requests_once(tmp_path: Path) -> None:
    """Four rows of one candidate are one application: each row is created, and one request is counted for all."""
    shape = next(shape for shape in SHAPES if shape.name == "combinations")
    with running(SandboxOptions(token="golden")) as sandbox:
        ran = rehearse(shape, sandbox, tmp_path)
    of_one = [outcome for outcome in ran.outcomes if outcome.row in (2, 3, 5, 6)]
    assert {(outcome.kind, outcome.status) for outcome in of_one} == {(OutcomeKind.CREATED, 201)}
    assert [outcome.attempts for outcome in of_one] == [1, 0, 0, 0]
    assert ran.summary.source.rows == sum(ran.summary.outcomes.values()) == 7


def test_mended_rows_find_their_other_tables_again(tmp_path: Path) -> None:
    """invalid.csv of a run, mended where it lies, is joined with the copies that the run kept of its other files."""
    shape = next(shape for shape in SHAPES if shape.name == "zoho_backup")
    with running(SandboxOptions(token="golden")) as sandbox:
        first = rehearse(shape, sandbox, tmp_path)
        folder = tmp_path / first.summary.run
        schools = folder / "child-1.csv"
        schools.write_text(schools.read_text("utf-8").replace("Jan-0202", "Jan-2012"), "utf-8")
        mended = Shape(shape.name, str(folder / "invalid.csv"))
        again = rehearse(mended, sandbox, tmp_path)
    assert [outcome.kind for outcome in again.outcomes] == [OutcomeKind.CREATED]
    assert _schools(sandbox)[-1].startswith('[{"school_name": "Example Institute"')


def _schools(sandbox: RunningSandbox) -> list[str]:
    return [
        answer["answer"]
        for body in sandbox.memory.accepted()
        for answer in body["answers"]
        if answer["job_post_question"]["id"] == 119
    ]
