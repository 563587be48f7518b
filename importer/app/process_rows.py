"""Processes the rows of a plan: each final outcome is written to the journal; then the run ends with its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from typing import Final

from importer.app.classify_rows import Classified
from importer.app.orders import Listener, ReportWritten, RowEnded, RowsEnded, Stopped
from importer.app.plan import Plan
from importer.load import DryLoader, Loader
from importer.models import Outcome, ReadyCandidate, Stop
from importer.problems import StoppedEarly, Unread, UnusableInput
from importer.report import Summary, read_summary
from importer.runs.finalize import Progress, record_end, was_sent
from importer.runs.journal import RunJournal
from importer.runs.results_folder import write_edits
from importer.runs.run_report import StreamingReport, rewrite_report

_MOST_UNREAD: Final = 20_000  # different texts that are counted
_BATCH: Final = 64  # candidates that are read before the first of them is sent, so that a commit keeps their warnings
_STREAM_AFTER: Final = 2_000  # outcomes; for fewer, starting a process takes longer than writing the report


class RowProcessing:
    """Processes the rows of a plan: `run`, then `end`."""

    def __init__(self, plan: Plan, listen: Listener) -> None:
        self._plan, self._listen = plan, listen
        self._progress = Progress()
        self._pending: dict[int, Classified] = {}  # those with several rows or with warnings
        self._unread: Counter[tuple[Unread, str]] = Counter()
        self._learned_rate: float | None = None
        self._count = 0
        self._report: StreamingReport | None = None  # that another process writes in the meantime

    def run(self, loader: Loader | DryLoader) -> None:
        """Process each row of the plan, and record its final outcome in the journal.

        Raises:
            StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
        """
        try:
            with closing(self._plan.candidates), RunJournal(self._plan.folder) as journal:
                # Closed as soon as an outcome cannot be recorded: pending requests finish while the ledger is open.
                with closing(loader.load(self._to_send(journal))) as outcomes:
                    for outcome in outcomes:
                        candidate = self._pending.pop(outcome.row, Classified((outcome.row,), outcome))
                        self._keep(journal, outcome, candidate)
                self._learned_rate = loader.learned_rate
        except BaseException as error:
            self._discard_report()
            if not isinstance(error, UnusableInput):
                raise
            # Its own message ends with "nothing is sent", which is only true from now on.
            raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None

    def _to_send(self, journal: RunJournal) -> Iterator[ReadyCandidate]:
        """The candidates to send, in row order; the others get their outcome immediately."""
        candidates, progress = iter(self._plan.candidates), self._progress
        while batch := self._batch(candidates):
            if (warnings := {one.rows[0]: one.warnings for one in batch if one.warnings}) and not self._dry_run:
                journal.keep_warnings(warnings)
            for one in batch:
                progress.rows += len(one.rows)
                progress.last_row = max(progress.last_row, one.rows[-1])
                if isinstance(one.result, Outcome):
                    self._keep(journal, one.result, one)
                    continue
                if len(one.rows) > 1 or one.warnings:
                    self._pending[one.rows[0]] = one
                yield one.result

    def _batch(self, candidates: Iterator[Classified]) -> list[Classified]:
        """The next candidates; [] if there are no more, or the rest cannot be read."""
        batch: list[Classified] = []
        try:
            for one in islice(candidates, _BATCH):
                batch.append(one)
        except UnusableInput as error:
            self._progress.unreadable = error.problems[0]
        return batch

    def _keep(self, journal: RunJournal, outcome: Outcome, candidate: Classified) -> None:
        """Record the outcome of a candidate for each of its rows; its attempts count for the first."""
        if len(self._unread) < _MOST_UNREAD:
            self._unread.update((one.unread, one.code) for one in outcome.problems if one.unread)
        if candidate.warnings and was_sent(outcome):
            outcome = replace(outcome, problems=(*outcome.problems, *candidate.warnings))
        for row in candidate.rows:
            one = outcome if row == outcome.row else replace(outcome, row=row, attempts=0)
            journal.record(one)
            self._count += 1
            if self._count == _STREAM_AFTER:
                with suppress(OSError):  # no resources for another process: the report is written at the end
                    self._report = StreamingReport(self._plan.folder, self._plan.limits)
            self._listen(RowEnded(one))

    def end(self, stop: Stop | None, signal: int | None) -> Summary:
        """Record how the run ended, and write its report.

        Raises:
            StoppedEarly: the folder cannot be written, or files of the run are missing; the ledger has what was sent.
            UnusableInput: files of a check are missing.
        """
        plan = self._plan
        self._listen(RowsEnded(plan.manifest.run))
        if stop is not None:
            self._listen(Stopped(plan.manifest.run, stop.code, stop.reason, stop.hint))
        try:
            self._record_end(stop, signal)
            is_written = self._report is not None and self._report.finish()
            summary = read_summary(plan.folder) if is_written else rewrite_report(plan.folder, plan.limits)
        except UnusableInput as error:
            if self._dry_run:
                raise
            changes = "; ".join(problem.message for problem in error.problems)
            raise StoppedEarly(
                f"{plan.folder}: the run has no report, because its folder was changed while it was running: {changes}"
                ". The ledger knows what was sent: run the same command again; no candidate is sent twice"
            ) from None
        self._listen(ReportWritten(plan.folder, summary))
        return summary

    def _record_end(self, stop: Stop | None, signal: int | None) -> None:
        plan, progress = self._plan, self._progress
        manifest, warnings = plan.manifest, plan.manifest.warnings
        if not plan.candidates.is_complete:
            manifest = manifest.read_to(progress.rows, progress.last_row)
            warnings = (*warnings, *map(str, plan.candidates.warnings or ()))
        if self._learned_rate is not None:
            warnings = (*warnings, _learned_rate_warning(self._learned_rate))
        try:
            record_end(plan.folder, replace(manifest, warnings=warnings), progress, stop, signal)
        except BaseException:
            self._discard_report()
            raise
        plan.presence.end()
        if self._unread:  # a help only: a full disk is reported elsewhere
            from importer.suggest.mapping_edits import mapping_edits  # slow to load, and only needed for a problem

            edits = mapping_edits(plan.mapping, self._unread)
            with suppress(OSError):
                write_edits(plan.folder, ((edit.summary, edit.lines) for edit in edits))

    def _discard_report(self) -> None:
        if self._report is not None:
            self._report.discard()

    @property
    def _dry_run(self) -> bool:
        return self._plan.manifest.dry_run


def _learned_rate_warning(rate: float) -> str:
    return (
        f"the service allows about {_rounded(rate)} requests per second (429); the run slowed down to that rate. "
        f"To start at that rate, use --rate {_rounded(rate * 0.95)} or IMPORTER_RATE"
    )


def _rounded(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
