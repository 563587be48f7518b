"""Rewrites the golden folders with the current importer: `python -m tests.samples.rewrite_golden`.

Review the diff like code before you commit it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from importer.sandbox import SandboxOptions, running
from importer.service import RecruitingService
from tests.samples.delivery import deliver
from tests.samples.golden import (
    OUTCOMES_WITH_FAULTS,
    GoldenOutcome,
    GoldenRequest,
    write_bodies,
    write_messages,
    write_outcomes,
    write_requests,
)
from tests.samples.rehearsal import rehearse
from tests.samples.sample import DEMO_FAULTS, LEGACY, SAMPLES, Sample
from tests.samples.shapes import Shape
from tests.samples.test_shapes import OWN, messages_of
from tests.samples.whole_import import prepare


def rewrite(sample: Sample) -> None:
    """Import the sample into a new sandbox, and store its requests and outcomes."""
    with running(SandboxOptions(token="golden")) as sandbox:
        service = RecruitingService(sandbox.base_url, sandbox.token)
        prepared = prepare(sample.file, sample.mapping, service)
        outcomes = sorted((*prepared.outcomes, *deliver(prepared, service)), key=lambda outcome: outcome.row)
        service.close()
    write_requests(sample.golden, map(GoldenRequest.of, prepared.submissions))
    write_outcomes(sample.golden, map(GoldenOutcome.of, outcomes))


def rewrite_shape(shape: Shape) -> None:
    """Import the shape into a new sandbox, and store its outcomes and messages."""
    with running(SandboxOptions(token="golden")) as sandbox, tempfile.TemporaryDirectory() as out:
        ran = rehearse(shape, sandbox, Path(out))
        write_bodies(shape.golden, sandbox.memory.accepted())
    write_outcomes(shape.golden, map(GoldenOutcome.of, ran.outcomes))
    write_messages(shape.golden, messages_of(ran))


def rewrite_demo() -> None:
    """Import the demo's sample with the demo's faults, and store its outcomes."""
    options = SandboxOptions(token="golden", faults=DEMO_FAULTS)
    with running(options) as sandbox, tempfile.TemporaryDirectory() as out:
        outcomes = rehearse(LEGACY, sandbox, Path(out)).outcomes
    write_outcomes(LEGACY.golden, map(GoldenOutcome.of, outcomes), OUTCOMES_WITH_FAULTS)


def main() -> None:
    """Rewrite every golden folder."""
    for sample in SAMPLES:
        rewrite(sample)
    for shape in OWN:
        rewrite_shape(shape)
    rewrite_demo()


if __name__ == "__main__":
    main()
