"""Whole imports of the samples: requests and outcomes are those of the golden folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, running
from importer.service import RecruitingService
from tests.samples.delivery import deliver
from tests.samples.golden import GoldenOutcome, GoldenRequest, read_outcomes, read_requests
from tests.samples.sample import LEGACY, SAMPLES, Sample
from tests.samples.whole_import import prepare

Format = Callable[[Sample, Path], Path]


def original(sample: Sample, folder: Path) -> Path:
    return sample.file


def in_the_other_format(sample: Sample, folder: Path) -> Path:
    return sample.copy(folder)


all_samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
both_formats = pytest.mark.parametrize("file_of", [original, in_the_other_format])


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    """A recruiting service without faults."""
    with running(SandboxOptions(token="golden")) as server:
        yield server


@pytest.fixture
def service(sandbox: RunningSandbox) -> Iterator[RecruitingService]:
    """The importer's client for the sandbox."""
    client = RecruitingService(sandbox.base_url, sandbox.token)
    yield client
    client.close()


@all_samples
@both_formats
def test_the_same_table_gives_the_golden_requests(
    sample: Sample, file_of: Format, tmp_path: Path, service: RecruitingService
) -> None:
    """A sample gives the golden requests as CSV and as XLSX, field by field."""
    prepared = prepare(file_of(sample, tmp_path), sample.mapping, service)
    assert [GoldenRequest.of(one) for one in prepared.submissions] == read_requests(sample.golden)


@all_samples
@both_formats
def test_every_row_has_its_golden_outcome(
    sample: Sample, file_of: Format, tmp_path: Path, service: RecruitingService
) -> None:
    """Each row of a sample, in either format, ends in the outcome, status and problems of its golden folder."""
    prepared = prepare(file_of(sample, tmp_path), sample.mapping, service)
    outcomes = sorted((*prepared.outcomes, *deliver(prepared, service)), key=lambda outcome: outcome.row)
    assert [GoldenOutcome.of(outcome) for outcome in outcomes] == read_outcomes(sample.golden)


@all_samples
def test_the_service_accepts_the_golden_requests(
    sample: Sample, sandbox: RunningSandbox, service: RecruitingService
) -> None:
    """The service stores the golden requests, except for people who already existed."""
    list(deliver(prepare(sample.file, sample.mapping, service), service))
    created = {one.row for one in read_outcomes(sample.golden) if one.outcome == "created"}
    assert sandbox.memory.accepted() == [one.body for one in read_requests(sample.golden) if one.row in created]


def test_the_legacy_sample_has_every_intended_problem() -> None:
    """The sample has an invalid row for each problem that such a file can have."""
    outcomes = read_outcomes(LEGACY.golden)
    codes = {code for one in outcomes if one.outcome == "invalid" for code in one.problems.split()}
    assert codes == {
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
        "integer-invalid",
        "name-split-failed",
        "phone-invalid",
        "number-shortened",
        "required-value-missing",
        "url-invalid",
        "yes-no-invalid",
    }
