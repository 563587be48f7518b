"""What is reported of the files of an inbox, to people and monitors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from importer.inbox.worker import FileEnded
from importer.notices import Cause, JobEnded, Notifier, causes_of, event_of
from importer.problems import Busy, ImporterError, UnusableInput
from importer.report.summary import read_summary


class FileNotices:
    """Reports each file with which a pass ended, under the pattern of its name, and what kept a pass from its files.

    out: the results folder.
    """

    def __init__(self, notifier: Notifier, out: Path, inbox: Path) -> None:
        self._notifier, self._out, self._inbox = notifier, out, inbox

    @contextmanager
    def reporting(self) -> Iterator[list[int]]:
        """Report a pass, whose exit code is put into the list. The monitor hears of a failure for as long as a file
        needs a person.
        """
        self._notifier.started()
        codes: list[int] = []
        try:
            yield codes
        except Busy:  # the pass that is running reports
            raise
        except ImporterError as error:
            causes, now, name = causes_of(error), datetime.now(UTC), str(self._inbox)
            event = f"{error.exit_code} {event_of(causes)}"
            self._notifier.job_ended(JobEnded(name, name, error.exit_code, now, now, causes=causes, event=event))
            self._notifier.ended(error.exit_code)
            raise
        self._notifier.works_again(str(self._inbox))
        has_attention = any((self._inbox / "attention").iterdir())
        self._notifier.ended(codes[0] or (4 if has_attention else 0))

    def file_ended(self, ended: FileEnded) -> None:
        """Report a file."""
        record, result = ended.record, ended.result
        causes = tuple(Cause.of(reason.code, reason.text) for reason in result.reasons)
        summary, folder, now = None, None, datetime.now(UTC)
        if ended.run is not None and result.outcomes:  # otherwise its last run is of an earlier pass
            folder = self._out / ended.run
            with suppress(UnusableInput):  # it was purged meanwhile
                summary = read_summary(folder)
        job = JobEnded(
            record.pattern or str(self._inbox),
            record.name,
            result.exit_code,
            summary.started_at if summary else now,
            (summary.ended_at if summary else None) or now,
            summary,
            folder,
            causes,
            place=str(ended.folder),
            # A file that stays in working/ because of what kept an earlier pass from it is not reported again.
            event=f"{record.folder.name} {result.exit_code} {event_of(causes)}" if result.place == "working" else "",
        )
        self._notifier.job_ended(job)
