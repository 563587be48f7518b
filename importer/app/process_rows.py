"""Takes each row of a plan to its outcome, kept in the run's journal as it becomes final, and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from importer.app.orders import Listener, ReportWritten, RowEnded, RowsEnded, Stopped
from importer.app.planning import Plan
from importer.load import DryLoader, Loader, Stop
from importer.models import Outcome, ReadyCandidate
from importer.problems import StoppedEarly, UnusableInput
from importer.report import Summary, read_summary
from importer.runs.finalize import Progress, keep_end
from importer.runs.journal import RunJournal
from importer.runs.run_report import StreamingReport, rewrite_report

_STREAMED_AFTER: Final = 2_000  # outcomes; the report of fewer takes less time than a process takes to start

Keep = Callable[[Outcome, tuple[int, ...]], None]


@dataclass(slots=True)
class Processed:
    """How far the rows of a plan were processed, and the report that another process writes meanwhile, if one does."""

    progress: Progress = field(default_factory=Progress)
    learned_rate: float | None = None
    report: StreamingReport | None = None

    def give_up_report(self) -> None:
        if self.report is not None:
            self.report.give_up()


def process_rows(plan: Plan, loader: Loader | DryLoader, listen: Listener) -> Processed:
    """Take each row of the plan to its outcome, and keep it in the run's journal as it becomes final.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    rows_of: dict[int, tuple[int, ...]] = {}  # of candidates under way that have several rows
    done, count = Processed(), 0
    try:
        with closing(plan.candidates), RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome, rows: tuple[int, ...]) -> None:
                """Keep the outcome of a candidate for each of its rows; its requests are counted at the first."""
                nonlocal count
                for row in rows:
                    one = outcome if row == outcome.row else replace(outcome, row=row, attempts=0)
                    journal.record(one)
                    count += 1
                    if count == _STREAMED_AFTER and plan.sheet.origin.sheet is None:  # a CSV costs little to read again
                        with suppress(OSError):  # no room for one more process: the report is written at the end
                            done.report = StreamingReport(plan.folder, plan.limits)
                    listen(RowEnded(one))

            # Closed at once when an outcome cannot be kept: what is in flight finishes while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, rows_of, done.progress))) as outcomes:
                for outcome in outcomes:
                    keep(outcome, rows_of.pop(outcome.row, (outcome.row,)))
            done.learned_rate = loader.learned_rate
    except BaseException as error:
        done.give_up_report()
        if not isinstance(error, UnusableInput):
            raise
        # Its own words end in "nothing is sent", which is true of the next request only.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return done


def _to_send(
    plan: Plan, keep: Keep, rows_of: dict[int, tuple[int, ...]], progress: Progress
) -> Iterator[ReadyCandidate]:
    """Those that are to be sent in row order; rows that are not for sending get their outcome on the way."""
    candidates = iter(plan.candidates)
    while True:
        try:
            one = next(candidates, None)
        except UnusableInput as error:
            progress.unreadable = error.problems[0]
            return
        if one is None:
            return
        progress.rows += len(one.rows)
        progress.last_row = max(progress.last_row, one.rows[-1])
        if isinstance(one.result, Outcome):
            keep(one.result, one.rows)
            continue
        if len(one.rows) > 1:
            rows_of[one.rows[0]] = one.rows
        yield one.result


def end_run(plan: Plan, done: Processed, stop: Stop | None, signal: int | None, listen: Listener) -> Summary:
    """Keep how a run ended, and write its report.

    Raises:
        StoppedEarly: the folder cannot be written, or what the run kept in it is gone; what was sent is in the ledger.
        UnusableInput: the latter, where nothing was to be sent.
    """
    listen(RowsEnded(plan.manifest.run))
    if stop is not None:
        listen(Stopped(plan.manifest.run, stop.reason, stop.hint))
    try:
        summary = _keep_end_and_report(plan, done, stop, signal)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        gone = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because its folder was changed while it was running: {gone}. "
            "The ledger knows what was sent: run the same command again; no candidate is sent twice"
        ) from None
    listen(ReportWritten(plan.folder, summary))
    return summary


def _keep_end_and_report(plan: Plan, done: Processed, stop: Stop | None, signal: int | None) -> Summary:
    manifest, progress = plan.manifest, done.progress
    if plan.candidates.forecast is None:
        manifest = manifest.read_to(progress.rows, progress.last_row)
    if done.learned_rate is not None:
        manifest = replace(manifest, warnings=(*manifest.warnings, _kept_to(done.learned_rate)))
    try:
        keep_end(plan.folder, manifest, progress, stop, signal)
    except BaseException:
        done.give_up_report()
        raise
    plan.presence.end()
    is_written = done.report is not None and done.report.finish()
    return read_summary(plan.folder) if is_written else rewrite_report(plan.folder, plan.limits)


def _kept_to(rate: float) -> str:
    return (
        f"the service refused requests faster than about {_in_digits(rate)} a second (429), and the run slowed "
        "down to that rate; "
        f"with --rate {_in_digits(rate * 0.95)} (or IMPORTER_RATE) the next run starts at that rate"
    )


def _in_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
