"""Rewrites the golden folders from what the importer does now: `python -m tests.samples.rewrite_golden`.

The difference is to be read like code before it is committed.
"""

from __future__ import annotations

from importer.sandbox import SandboxOptions, running
from importer.service import RecruitingService
from tests.samples.delivery import deliver
from tests.samples.golden import GoldenOutcome, GoldenRequest, write_outcomes, write_requests
from tests.samples.sample import SAMPLES, Sample
from tests.samples.whole_import import prepare


def rewrite(sample: Sample) -> None:
    """Import the sample into a fresh sandbox and keep its requests and outcomes."""
    with running(SandboxOptions(token="golden")) as sandbox:
        service = RecruitingService(sandbox.base_url, sandbox.token)
        prepared = prepare(sample.file, sample.mapping, service)
        outcomes = sorted((*prepared.outcomes, *deliver(prepared, service)), key=lambda outcome: outcome.row)
        service.close()
    write_requests(sample.golden, map(GoldenRequest.of, prepared.submissions))
    write_outcomes(sample.golden, map(GoldenOutcome.of, outcomes))


def main() -> None:
    """Rewrite every golden folder."""
    for sample in SAMPLES:
        rewrite(sample)


if __name__ == "__main__":
    main()
