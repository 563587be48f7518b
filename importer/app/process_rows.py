"""Takes each row of a plan to its outcome, kept in the run's journal as it becomes final, and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from importer.app.classify_rows import expand_to_rows
from importer.app.events import Listener, ReportWritten, RowEnded, RowsEnded, Stopped
from importer.app.planning import Plan
from importer.errors import StoppedEarly, UnusableInput
from importer.load import Stop
from importer.models import FilePlace, Outcome, Problem, ReadyCandidate
from importer.report import Summary, read_summary
from importer.runs.finalize import Progress, keep_end
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.run_report import rewrite_report
from importer.runs.streaming_report import StreamingReport

_REPORTED_ALONG_AFTER: Final = 2_000  # outcomes; the report of fewer takes less time than a process takes to start


class Loads(Protocol):
    """What sends rows: the real loader, or the one that sends nothing."""

    @property
    def stop(self) -> Stop | None: ...

    @property
    def learned_rate(self) -> float | None: ...

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]: ...


@dataclass(slots=True)
class Processed:
    """How far a plan was done out, and the report that was begun meanwhile, if one was."""

    progress: Progress = field(default_factory=Progress)
    outcomes: int = 0
    learned_rate: float | None = None
    report: StreamingReport | None = None

    def begin_report(self, plan: Plan) -> None:
        """Have the report written along, where the run is long and its source is one that can be read a second time
        at little cost.
        """
        if self.outcomes == _REPORTED_ALONG_AFTER and plan.sheet.origin.sheet is None:
            with suppress(OSError):  # no room for one more process: then the report is written at the end
                self.report = StreamingReport(plan.folder)

    def give_up_report(self) -> None:
        if self.report is not None:
            self.report.give_up()


def process_rows(plan: Plan, loader: Loads, listen: Listener) -> Processed:
    """Take each row of the plan to its outcome, and keep it in the run's journal as it becomes final.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    rows_of: dict[int, tuple[int, ...]] = {}  # of candidates under way that have several rows
    done = Processed()
    try:
        with closing(plan.candidates), RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome) -> None:
                journal.record(outcome)
                done.outcomes += 1
                done.begin_report(plan)
                listen(RowEnded(outcome))

            # Closed at once when an outcome cannot be kept: what is in flight finishes while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, rows_of, done.progress))) as outcomes:
                for outcome in outcomes:
                    for one in expand_to_rows(outcome, rows_of.pop(outcome.row, (outcome.row,))):
                        keep(one)
            done.learned_rate = loader.learned_rate
    except BaseException as error:
        done.give_up_report()
        if not isinstance(error, UnusableInput):
            raise
        # Its own words end in "nothing is sent", which is true of the next request only.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return done


def _to_send(
    plan: Plan, keep: Callable[[Outcome], None], rows_of: dict[int, tuple[int, ...]], progress: Progress
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
            for outcome in expand_to_rows(one.result, one.rows):
                keep(outcome)
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
        if not (plan.folder / JOURNAL).is_file():  # not made again: an empty one would tell of nobody
            raise UnusableInput(
                Problem("journal-missing", "the outcomes of the run are gone", _GONE, FilePlace(str(plan.folder)))
            )
        summary = _keep_end_and_report(plan, done, stop, signal)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        gone = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because somebody changed its folder while it was at work: {gone}. "
            "What was sent is known to the ledger: run the same command again, and nobody is sent a second time"
        ) from None
    listen(ReportWritten(plan.folder, summary))
    return summary


_GONE = "leave the folder of a run alone while it is at work, and run the same command again"


def _keep_end_and_report(plan: Plan, done: Processed, stop: Stop | None, signal: int | None) -> Summary:
    progress = done.progress
    manifest = plan.manifest if plan.forecast is not None else plan.manifest.read_to(progress.rows, progress.last_row)
    if done.learned_rate is not None:
        manifest = replace(manifest, warnings=(*manifest.warnings, _kept_to(done.learned_rate)))
    try:
        keep_end(plan.folder, manifest, progress, stop, signal)
    except BaseException:
        done.give_up_report()
        raise
    plan.presence.end()
    if done.report is not None and done.report.finish():
        return read_summary(plan.folder)
    return rewrite_report(plan.folder)


def _kept_to(rate: float) -> str:
    return (
        f"the service refused requests faster than about {_in_digits(rate)} a second (429), and the run kept to that; "
        f"with --rate {_in_digits(rate * 0.95)} (or IMPORTER_RATE) the next run does so from its start"
    )


def _in_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
