"""Processes the rows of a plan: each final outcome is written to the journal; then the run ends with its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from importer.app.classify_rows import Classified
from importer.app.orders import Listener, ReportWritten, RowEnded, RowsEnded, Stopped
from importer.app.plan import Plan
from importer.load import DryLoader, Loader, Stop
from importer.models import Outcome, ReadyCandidate
from importer.problems import StoppedEarly, Unread, UnusableInput
from importer.report import Summary, read_summary
from importer.runs.finalize import Progress, record_end, was_sent
from importer.runs.journal import RunJournal
from importer.runs.results_folder import write_edits
from importer.runs.run_report import StreamingReport, rewrite_report

_MOST_UNREAD: Final = 20_000  # different texts that are counted
_BATCH: Final = 64  # candidates that are read before the first of them is sent, so that a commit keeps their warnings
_STREAM_AFTER: Final = 2_000  # outcomes; for fewer, starting a process takes longer than writing the report

Keep = Callable[[Outcome, Classified], None]


@dataclass(slots=True)
class Processed:
    """The progress of a plan, and the report that another process writes in the meantime, if any."""

    progress: Progress = field(default_factory=Progress)
    learned_rate: float | None = None
    unread: Counter[tuple[Unread, str]] = field(default_factory=Counter)
    report: StreamingReport | None = None

    def discard_report(self) -> None:
        if self.report is not None:
            self.report.discard()


def process_rows(plan: Plan, loader: Loader | DryLoader, listen: Listener) -> Processed:
    """Process each row of the plan, and record its final outcome in the journal.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    pending: dict[int, Classified] = {}  # those with several rows or with warnings
    done, count = Processed(), 0
    try:
        with closing(plan.candidates), RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome, candidate: Classified) -> None:
                """Record the outcome of a candidate for each of its rows; its attempts count for the first."""
                nonlocal count
                if len(done.unread) < _MOST_UNREAD:
                    done.unread.update((one.unread, one.code) for one in outcome.problems if one.unread)
                if candidate.warnings and was_sent(outcome):
                    outcome = replace(outcome, problems=(*outcome.problems, *candidate.warnings))
                for row in candidate.rows:
                    one = outcome if row == outcome.row else replace(outcome, row=row, attempts=0)
                    journal.record(one)
                    count += 1
                    if count == _STREAM_AFTER and plan.sheet.origin.sheet is None:  # a CSV file is fast to read again
                        with suppress(OSError):  # no resources for another process: the report is written at the end
                            done.report = StreamingReport(plan.folder, plan.limits)
                    listen(RowEnded(one))

            def keep_warnings(batch: list[Classified]) -> None:
                warnings = {one.rows[0]: one.warnings for one in batch if one.warnings}
                if warnings and not plan.manifest.dry_run:
                    journal.keep_warnings(warnings)

            # Closed as soon as an outcome cannot be recorded: pending requests finish while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, keep_warnings, pending, done.progress))) as outcomes:
                for outcome in outcomes:
                    keep(outcome, pending.pop(outcome.row, Classified((outcome.row,), outcome)))
            done.learned_rate = loader.learned_rate
    except BaseException as error:
        done.discard_report()
        if not isinstance(error, UnusableInput):
            raise
        # Its own message ends with "nothing is sent", which is only true from now on.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return done


def _to_send(
    plan: Plan,
    keep: Keep,
    keep_warnings: Callable[[list[Classified]], None],
    pending: dict[int, Classified],
    progress: Progress,
) -> Iterator[ReadyCandidate]:
    """The candidates to send, in row order; the others get their outcome immediately."""
    candidates = iter(plan.candidates)
    while batch := _batch(candidates, progress):
        keep_warnings(batch)
        for one in batch:
            progress.rows += len(one.rows)
            progress.last_row = max(progress.last_row, one.rows[-1])
            if isinstance(one.result, Outcome):
                keep(one.result, one)
                continue
            if len(one.rows) > 1 or one.warnings:
                pending[one.rows[0]] = one
            yield one.result


def _batch(candidates: Iterator[Classified], progress: Progress) -> list[Classified]:
    """The next candidates; [] if there are no more, or the rest cannot be read."""
    batch: list[Classified] = []
    try:
        for one in islice(candidates, _BATCH):
            batch.append(one)
    except UnusableInput as error:
        progress.unreadable = error.problems[0]
    return batch


def end_run(plan: Plan, done: Processed, stop: Stop | None, signal: int | None, listen: Listener) -> Summary:
    """Record how a run ended, and write its report.

    Raises:
        StoppedEarly: the folder cannot be written, or files of the run are missing; the ledger has what was sent.
        UnusableInput: files of a check are missing.
    """
    listen(RowsEnded(plan.manifest.run))
    if stop is not None:
        listen(Stopped(plan.manifest.run, stop.reason, stop.hint))
    try:
        summary = _record_end_and_report(plan, done, stop, signal)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        changes = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because its folder was changed while it was running: {changes}. "
            "The ledger knows what was sent: run the same command again; no candidate is sent twice"
        ) from None
    listen(ReportWritten(plan.folder, summary))
    return summary


def _record_end_and_report(plan: Plan, done: Processed, stop: Stop | None, signal: int | None) -> Summary:
    manifest, progress = plan.manifest, done.progress
    if not plan.candidates.is_complete:
        manifest = manifest.read_to(progress.rows, progress.last_row)
        manifest = replace(manifest, warnings=(*manifest.warnings, *map(str, plan.candidates.warnings or ())))
    if done.learned_rate is not None:
        manifest = replace(manifest, warnings=(*manifest.warnings, _learned_rate_warning(done.learned_rate)))
    try:
        record_end(plan.folder, manifest, progress, stop, signal)
    except BaseException:
        done.discard_report()
        raise
    plan.presence.end()
    _write_edits(plan, done.unread)
    is_written = done.report is not None and done.report.finish()
    return read_summary(plan.folder) if is_written else rewrite_report(plan.folder, plan.limits)


def _write_edits(plan: Plan, unread: Counter[tuple[Unread, str]]) -> None:
    """Write the proposed changes of the mapping, if there are any. A help only: a full disk is reported elsewhere."""
    if unread:
        from importer.suggest.mapping_edits import mapping_edits  # slow to load, and only needed for a problem

        with suppress(OSError):
            write_edits(plan.folder, ((edit.summary, edit.lines) for edit in mapping_edits(plan.mapping, unread)))


def _learned_rate_warning(rate: float) -> str:
    return (
        f"the service allows about {_rounded(rate)} requests per second (429); the run slowed down to that rate. "
        f"To start at that rate, use --rate {_rounded(rate * 0.95)} or IMPORTER_RATE"
    )


def _rounded(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
