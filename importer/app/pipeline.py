"""The order of work: extract -> transform -> load -> report. A plan is carried out row by row, and its books closed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from importer.app.classify_rows import spread
from importer.app.planning import Plan
from importer.errors import StoppedEarly, UnusableInput
from importer.ledger import LedgerStore
from importer.load import Stop
from importer.models import FilePlace, Outcome, Problem, ReadyCandidate
from importer.report import Summary, read_summary
from importer.runs.finalize import Progress, close, keep_end, rewrite_report
from importer.runs.folder import (
    Ending,
    manifests_in,
    read_manifest,
    write_manifest,
)
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.streaming_report import StreamingReport

Watch = Callable[[Outcome], None]

_REPORTED_ALONG_AFTER = 2_000  # outcomes; the report of fewer takes less time than a process takes to start


class Loads(Protocol):
    """What the pipeline needs of a loader: the real one, or the one that sends nothing."""

    @property
    def stop(self) -> Stop | None: ...

    @property
    def learned_rate(self) -> float | None: ...

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]: ...


@dataclass(frozen=True, slots=True)
class Closed:
    """Earlier runs that were killed: those whose reports are written now, and what keeps others from theirs."""

    summaries: tuple[Summary, ...]
    problems: tuple[Problem, ...]


def begin(plan: Plan, out: Path, ledger: LedgerStore) -> Closed:
    """Open the books of a run; first close those of earlier runs for the same target that were killed.

    To be called under the lock of the target, so that none of these is still at work.
    """
    unfinished = {record.run for record in ledger.unfinished_runs(plan.manifest.scope)}
    left_open = [
        folder
        for folder, manifest in manifests_in(out)
        if manifest.scope == plan.manifest.scope
        # Of a run that the ledger does not know nothing was sent, and it may just be waiting for the lock.
        and manifest.run in unfinished
    ]
    summaries: list[Summary] = []
    problems: list[Problem] = []
    for folder in left_open:
        try:
            summaries.append(close(folder, ledger))
        except UnusableInput as damaged:
            # What counts is in the ledger: a folder that somebody has cleared holds up no import.
            problems += damaged.problems
            now = datetime.now(UTC)
            ledger.end_run(folder.name, now, None)
            write_manifest(folder, read_manifest(folder).ended(Ending(now, finished=False, exit_code=None)))
    ledger.begin_run(plan.ledger_run)
    recall(plan, out, ledger)
    return Closed(tuple(summaries), tuple(problems))


def recall(plan: Plan, out: Path, ledger: LedgerStore) -> None:
    """Remember what an earlier run of the same file said, so that only the rest of its rows is worked on."""
    with suppress(UnusableInput, StoppedEarly):  # what cannot be remembered is worked out again
        plan.recognition.recall(plan.manifest, out, ledger)


@dataclass(slots=True)
class Carried:
    """How far a plan was carried out, and the report that was begun meanwhile, if one was."""

    progress: Progress = field(default_factory=Progress)
    outcomes: int = 0
    learned_rate: float | None = None
    early_report: StreamingReport | None = None

    def begin_report(self, plan: Plan) -> None:
        """Have the report written along, where the run is long and its source is one that can be read a second time
        at little cost.
        """
        if self.outcomes == _REPORTED_ALONG_AFTER and plan.sheet.origin.sheet is None:
            with suppress(OSError):  # no room for one more process: then the report is written at the end
                self.early_report = StreamingReport(plan.folder)

    def give_up_report(self) -> None:
        if self.early_report is not None:
            self.early_report.give_up()


def carry_out(plan: Plan, loader: Loads, watch: Watch) -> Carried:
    """Take each row of the plan to its outcome, and keep it in the run's journal as it becomes final.

    Raises:
        StoppedEarly: the journal cannot be written; the ledger still knows what was sent.
    """
    rows_of: dict[int, tuple[int, ...]] = {}  # of candidates under way that have several rows
    carried = Carried()
    try:
        with closing(plan.candidates), RunJournal(plan.folder) as journal:

            def keep(outcome: Outcome) -> None:
                journal.record(outcome)
                carried.outcomes += 1
                carried.begin_report(plan)
                watch(outcome)

            # Closed at once when an outcome cannot be kept: what is in flight finishes while the ledger is still open.
            with closing(loader.load(_to_send(plan, keep, rows_of, carried.progress))) as outcomes:
                for outcome in outcomes:
                    for one in spread(outcome, rows_of.pop(outcome.row, (outcome.row,))):
                        keep(one)
            carried.learned_rate = loader.learned_rate
    except BaseException as error:
        carried.give_up_report()
        if not isinstance(error, UnusableInput):
            raise
        # Its own words end in "nothing is sent", which is true of the next request only.
        raise StoppedEarly(f"{error}; what was sent is in the ledger: run the same command again") from None
    return carried


def _to_send(
    plan: Plan, keep: Watch, rows_of: dict[int, tuple[int, ...]], progress: Progress
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
            for outcome in spread(one.result, one.rows):
                keep(outcome)
            continue
        if len(one.rows) > 1:
            rows_of[one.rows[0]] = one.rows
        yield one.result


def end(plan: Plan, carried: Carried, stop: Stop | None, signal: int | None) -> Summary:
    """Close the books of a run that was carried out: how it ended is kept, and its report is written.

    Raises:
        StoppedEarly: the folder cannot be written, or what the run kept in it is gone; what was sent is in the ledger.
        UnusableInput: the latter, where nothing was to be sent.
    """
    try:
        if not (plan.folder / JOURNAL).is_file():  # not made again: an empty one would tell of nobody
            raise UnusableInput(
                Problem("journal-missing", "the outcomes of the run are gone", _GONE, FilePlace(str(plan.folder)))
            )
        return _close_books(plan, carried, stop, signal)
    except UnusableInput as error:
        if plan.manifest.dry_run:
            raise
        gone = "; ".join(problem.message for problem in error.problems)
        raise StoppedEarly(
            f"{plan.folder}: the run has no report, because somebody changed its folder while it was at work: {gone}. "
            "What was sent is known to the ledger: run the same command again, and nobody is sent a second time"
        ) from None


_GONE = "leave the folder of a run alone while it is at work, and run the same command again"


def _close_books(plan: Plan, carried: Carried, stop: Stop | None, signal: int | None) -> Summary:
    progress = carried.progress
    manifest = plan.manifest if plan.forecast is not None else plan.manifest.read_to(progress.rows, progress.last_row)
    if carried.learned_rate is not None:
        manifest = replace(manifest, warnings=(*manifest.warnings, _kept_to(carried.learned_rate)))
    try:
        keep_end(plan.folder, manifest, progress, stop, signal)
    except BaseException:
        carried.give_up_report()
        raise
    plan.presence.end()
    if carried.early_report is not None and carried.early_report.finish():
        return read_summary(plan.folder)
    return rewrite_report(plan.folder)


def _kept_to(rate: float) -> str:
    return (
        f"the service refused requests faster than about {_in_digits(rate)} a second (429), and the run kept to that; "
        f"with --rate {_in_digits(rate * 0.95)} (or IMPORTER_RATE) the next run does so from its start"
    )


def _in_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
