"""The rows of one target: sent or not, each outcome recorded in the table of the run, then its end and its report."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Final

from importer.app.classify_rows import not_sent
from importer.app.documents import upload_mark
from importer.app.orders import Listener, ReportWritten, RowEnded, RowsEnded
from importer.app.plan import Plan
from importer.ledger import Ledger, LedgerUnwritable
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import Problem, StoppedEarly, UnusableInput
from importer.report.summary import Summary
from importer.runs.finalize import record_end, was_sent
from importer.runs.run_report import rewrite_report
from importer.runs.table import Classified, RunTable
from importer.sending import ledger_lost

Load = Callable[[Iterator[ReadyCandidate]], Generator[list[Outcome], None, None]]
"""Sends candidates; gives their outcomes, those of each turn at once."""

_BATCH: Final = 64  # candidates that are looked up in the ledger at once
_MOST_WAITING: Final = 500  # outcomes to be recorded


class RowProcessing:
    """Processes the rows of a plan.

    held: the outcome of a candidate that cannot be sent now, as its document was not uploaded.
    """

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        listen: Listener,
        held: Callable[[ReadyCandidate], Outcome | None] = lambda _: None,
    ) -> None:
        self._held, self._mark = held, upload_mark(plan.mapping)
        self._plan, self._ledger, self._listen = plan, ledger, listen
        self._pending: dict[int, Classified] = {}  # those with several rows or with warnings
        self._waiting: list[Outcome] = []  # to be recorded
        self.stop: Stop | None = None  # the ledger was lost

    def run(self, load: Load) -> None:
        """Process each row of the plan, and record its final outcome in the table, then in the ledger.

        Raises StoppedEarly: the table cannot be written; the ledger still knows what was sent.
        """
        try:
            # Outcomes are closed as soon as one cannot be recorded: pending requests finish while the ledger is open.
            with RunTable(self._plan.folder) as table, closing(load(self._to_send(table))) as turns:
                table.begin()
                for outcomes in turns:
                    for outcome in outcomes:
                        self._add(outcome, self._pending.pop(outcome.row, Classified((outcome.row,), outcome)))
                    self._record(table)
                self._record(table)
        except UnusableInput as error:
            # Its own message ends with "nothing is sent", which is only true from now on.
            raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None

    def _to_send(self, table: RunTable) -> Iterator[ReadyCandidate]:
        """The candidates to send, in row order; the others get their outcome immediately."""
        candidates, ledger, known = table.kept(), self._ledger, self._plan.known
        while batch := list(islice(candidates, _BATCH)):
            outcomes = self._not_sent(batch)
            for one in batch:
                result = outcomes.get(one.rows[0], one.result)
                if isinstance(result, ReadyCandidate):
                    result = self._held(result) or result
                if isinstance(result, Outcome):
                    self._add(result, one)
                    continue
                if len(one.rows) > 1 or one.warnings:
                    self._pending[one.rows[0]] = one
                yield result._replace(origin=known.origin(ledger, one.rows[0]))
            if len(self._waiting) >= _MOST_WAITING:
                self._record(table)

    def _not_sent(self, batch: list[Classified]) -> dict[int, Outcome]:
        """The outcomes of those that are not sent. Once the ledger is lost, none is sent."""
        try:
            return not_sent(self._plan.known, self._ledger, batch, self._mark)
        except LedgerUnwritable as error:
            self.stop = stop = self.stop or ledger_lost(error)
            lost = (Problem("not-sent", f"not sent because {stop.reason}", stop.hint),)
            rows = (one.rows[0] for one in batch if one.address)  # the others are filtered, or not valid
            return {row: Outcome(row, OutcomeKind.NOT_SENT, problems=lost) for row in rows}

    def _add(self, outcome: Outcome, candidate: Classified) -> None:
        """Take the outcome of a candidate for each of its rows; its attempts count for the first."""
        if candidate.warnings and was_sent(outcome):
            outcome = replace(outcome, problems=(*outcome.problems, *candidate.warnings))
        for row in candidate.rows:
            self._waiting.append(outcome if row == outcome.row else replace(outcome, row=row, attempts=0))

    def _record(self, table: RunTable) -> None:
        if self._waiting:
            table.record(self._waiting)
            for outcome in self._waiting:
                self._listen(RowEnded(outcome))
            self._waiting = []


def end(plan: Plan, stop: Stop | None, signal: int | None, listen: Listener) -> Summary:
    """Record how a run ended, and write its report.

    Raises:
        StoppedEarly: the folder cannot be written, or files of the run are missing; the ledger has what was sent.
        UnusableInput: files of a check are missing.
    """
    listen(RowsEnded(plan.manifest.run))
    try:
        record_end(plan.folder, plan.manifest, stop, signal)
        plan.presence.end()
        summary = rewrite_report(plan.folder)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        changes = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because its folder was changed while it was running: {changes}"
            ". The ledger knows what was sent: run the same command again; no candidate is sent twice"
        ) from None
    listen(ReportWritten(plan.folder, summary))
    return summary
