"""What is reported of the files of an inbox, to people and monitors."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from importer.inbox.happened import FileEnded, Happened
from importer.notices import JobEnded, Notifier
from importer.problems import ImporterError, UnusableInput
from importer.report import read_summary
from importer.settings import Settings


class FileNotices:
    """Reports each file with which a pass ended, under the pattern of its name, and each inbox that cannot be used."""

    def __init__(self, settings: Settings, notifier: Notifier) -> None:
        self._out, self._notifier = settings.out, notifier

    def __call__(self, event: Happened) -> None:
        if isinstance(event, FileEnded):
            self._notifier.job_ended(self._job(event))

    def failed(self, error: ImporterError, folders: str) -> None:
        """A pass could not begin."""
        codes, now = _codes(error), datetime.now(UTC)
        event = f"{error.exit_code} {' '.join(codes)}"
        self._notifier.job_ended(JobEnded(folders, folders, error.exit_code, now, now, codes=codes, event=event))

    def _job(self, ended: FileEnded) -> JobEnded:
        codes = tuple(reason.code for reason in ended.reasons)
        summary, folder, now = None, None, datetime.now(UTC)
        if ended.run is not None:
            folder = self._out / ended.run
            with suppress(UnusableInput):  # it was purged meanwhile
                summary = read_summary(folder)
        return JobEnded(
            ended.pattern or str(ended.inbox),
            ended.name,
            ended.exit_code,
            summary.started_at if summary else now,
            (summary.ended_at if summary else None) or now,
            summary,
            folder,
            codes,
            place=str(ended.folder),
            # A file that an earlier pass could not finish either is not reported again.
            event=f"{ended.folder.name} {ended.exit_code} {' '.join(codes)}",
        )


def _codes(error: ImporterError) -> tuple[str, ...]:
    return tuple(problem.code for problem in error.problems) if isinstance(error, UnusableInput) else ()
