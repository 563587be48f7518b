"""Whole imports of the samples: bodies, outcomes and messages are those of the golden folders, text for text."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.sandbox import SandboxOptions, running
from tests.samples.golden import Imported, import_sample
from tests.samples.other_format import as_csv, as_workbook
from tests.samples.sample import LEGACY, NIGHTLY, SAMPLES, Sample


def imported(sample: Sample, out: Path) -> Imported:
    with running(SandboxOptions(token="golden")) as sandbox:
        return import_sample(sample, sandbox, out)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_is_imported_as_in_its_golden_folder(sample: Sample, tmp_path: Path) -> None:
    """The service gets exactly these bodies, each row has this outcome, and these are the messages."""
    for name, text in imported(sample, tmp_path).files.items():
        assert text == (sample.golden / name).read_text("utf-8"), name


@pytest.mark.parametrize("sample", [LEGACY, NIGHTLY], ids=lambda sample: sample.name)
def test_the_same_table_in_the_other_format_gives_the_same(sample: Sample, tmp_path: Path) -> None:
    """A workbook saved as CSV, and a CSV as a workbook: the same bodies and outcomes."""
    folder = tmp_path / "copy"
    folder.mkdir()
    is_workbook = sample.file.suffix == ".xlsx"
    copy = as_csv(sample.file, "Candidates", folder) if is_workbook else as_workbook(sample.file, "cp1254", folder)
    files = imported(sample.in_file(copy), tmp_path / "out").files
    for name in ("bodies.jsonl", "outcomes.csv"):
        assert files[name] == (sample.golden / name).read_text("utf-8"), name


def test_the_legacy_sample_has_every_intended_problem() -> None:
    """The sample has an invalid row for each problem that such a file can have."""
    lines = (LEGACY.golden / "outcomes.csv").read_text("utf-8").splitlines()
    problems = [line.split(",", 3)[3] for line in lines if ",invalid," in line]
    assert {problem.split("@")[0] for each in problems for problem in each.split()} == {
        "not-an-option",
        "date-nonexistent",
        "date-invalid",
        "document-id-invalid",
        "email-duplicate",
        "email-invalid",
        "entry-current-conflict",
        "entry-name-missing",
        "entry-dates-reversed",
        "cell-error",
        "number-invalid",
        "name-split-failed",
        "phone-invalid",
        "number-shortened",
        "required-value-missing",
        "url-invalid",
        "yes-no-invalid",
    }


def test_the_rows_of_one_candidate_have_one_outcome_and_one_request(tmp_path: Path) -> None:
    """Four rows of one candidate are one application: each row is created, with one request in total."""
    ran = imported(next(each for each in SAMPLES if each.name == "combinations"), tmp_path)
    of_one = [outcome for outcome in ran.outcomes if outcome.row in (2, 3, 5, 6)]
    assert {(outcome.kind, outcome.status) for outcome in of_one} == {("created", 201)}
    assert [outcome.attempts for outcome in of_one] == [1, 0, 0, 0]
    assert ran.summary.source.rows == sum(ran.summary.outcomes.values()) == 7
