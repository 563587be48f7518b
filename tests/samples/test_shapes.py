"""Every real shape of an export is imported as in its golden folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.models import OutcomeKind
from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.samples.golden import GoldenOutcome, read_bodies, read_messages, read_outcomes
from tests.samples.rehearsal import Rehearsal, rehearse
from tests.samples.sample import ROOT
from tests.samples.shapes import SHAPES, Shape

OWN = [shape for shape in SHAPES if shape.name != "legacy_ats_export"]  # test_golden covers that one


@pytest.mark.parametrize("shape", OWN, ids=lambda shape: shape.name)
def test_a_shape_is_imported_as_in_its_golden_folder(shape: Shape, tmp_path: Path) -> None:
    """Outcomes, accepted applications and messages are those of the golden folder."""
    with running(SandboxOptions(token="golden")) as sandbox:
        ran = rehearse(shape, sandbox, tmp_path)
    assert [GoldenOutcome.of(outcome) for outcome in ran.outcomes] == read_outcomes(shape.golden)
    assert sorted(sandbox.memory.accepted(), key=lambda body: body["email"]) == read_bodies(shape.golden)
    assert messages_of(ran) == read_messages(shape.golden)


def messages_of(ran: Rehearsal) -> list[str]:
    """Every warning and problem of a run as text, without the folder of this checkout."""
    problems = [str(problem) for outcome in ran.outcomes for problem in outcome.problems]
    return [line.replace(f"{ROOT}/", "") for line in (*ran.summary.warnings, *problems)]


def test_the_rows_of_one_candidate_have_one_outcome_and_one_request(tmp_path: Path) -> None:
    """Four rows of one candidate are one application: each row is created, with one request in total."""
    shape = next(shape for shape in SHAPES if shape.name == "combinations")
    with running(SandboxOptions(token="golden")) as sandbox:
        ran = rehearse(shape, sandbox, tmp_path)
    of_one = [outcome for outcome in ran.outcomes if outcome.row in (2, 3, 5, 6)]
    assert {(outcome.kind, outcome.status) for outcome in of_one} == {(OutcomeKind.CREATED, 201)}
    assert [outcome.attempts for outcome in of_one] == [1, 0, 0, 0]
    assert ran.summary.source.rows == sum(ran.summary.outcomes.values()) == 7


def test_fixed_rows_are_joined_with_their_other_tables(tmp_path: Path) -> None:
    """invalid.csv of a run is joined with the file of entries beside it, in which a person fixed one."""
    shape = next(shape for shape in SHAPES if shape.name == "zoho_backup")
    with running(SandboxOptions(token="golden")) as sandbox:
        first = rehearse(shape, sandbox, tmp_path)
        folder = tmp_path / first.summary.run
        schools = folder / "invalid.Candidates_Educational_Details.csv"
        schools.write_text(schools.read_text("utf-8").replace("Jan-0202,", "Jan-2012,"), "utf-8")
        fixed = Shape(shape.name, str(folder / "invalid.csv"))
        second = rehearse(fixed, sandbox, tmp_path)
    assert [outcome.kind for outcome in second.outcomes] == [OutcomeKind.CREATED]
    assert _schools(sandbox)[-1].startswith('[{"school_name": "Example Institute"')


def _schools(sandbox: RunningSandbox) -> list[str]:
    return [
        answer["answer"]
        for body in sandbox.memory.accepted()
        for answer in body["answers"]
        if answer["job_post_question"]["id"] == 119
    ]
