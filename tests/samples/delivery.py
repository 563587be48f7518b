"""Sends each prepared submission once over HTTP; the outcome is by status only."""

from __future__ import annotations

import json
from collections.abc import Iterator

from importer.models import Outcome, OutcomeKind
from importer.service import NoReply, RecruitingService
from tests.samples.whole_import import Prepared
from tests.service.waiting import submitted

_KINDS = {201: OutcomeKind.CREATED, 409: OutcomeKind.ALREADY_EXISTS, 400: OutcomeKind.REJECTED}


def deliver(prepared: Prepared, service: RecruitingService) -> Iterator[Outcome]:
    """One request for each submission, in row order. Raises AssertionError if there is no status."""
    for submission in prepared.submissions:
        reply = submitted(service, prepared.target, json.dumps(submission.payload()).encode())
        if isinstance(reply, NoReply):
            raise AssertionError(f"row {submission.row}: {reply.reason}")
        yield Outcome(submission.row, _KINDS[reply.status], reply.status)
