"""What is reported of the files of an inbox, to people and monitors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from importer.inbox.happened import FileEnded, Happened, Listener
from importer.notices import Cause, JobEnded, Notifier, causes_of
from importer.problems import Busy, ImporterError, UnusableInput
from importer.report.summary import read_summary


class FileNotices:
    """Reports each file with which a pass ended, under the pattern of its name, and what kept a pass from its files.

    out: the results folder. inboxes: their folders.
    """

    def __init__(self, notifier: Notifier, out: Path, inboxes: Sequence[Path]) -> None:
        self._notifier, self._out, self._inboxes = notifier, out, inboxes
        self._names = ", ".join(map(str, inboxes))
        self._has_failed = False  # in this pass

    def started(self) -> None:
        """A command that makes one pass starts."""
        self._notifier.started()

    def after(self, listen: Listener) -> Listener:
        """A listener that calls this one, and reports the ends of files."""

        def tell(event: Happened) -> None:
            listen(event)
            if isinstance(event, FileEnded):
                self._notifier.job_ended(self._job(event))

        return tell

    def after_error(self, show: Callable[[ImporterError], None]) -> Callable[[ImporterError], None]:
        """A function that calls this one, and reports the error."""

        def fail(error: ImporterError) -> None:
            show(error)
            if isinstance(error, Busy):  # the pass that is running reports
                return
            self._has_failed, causes, now = True, causes_of(error), datetime.now(UTC)
            event = f"{error.exit_code} {' '.join(cause.code for cause in causes)}"
            ended = JobEnded(self._names, self._names, error.exit_code, now, now, causes=causes, event=event)
            self._notifier.job_ended(ended)

        return fail

    def pass_ended(self, code: int) -> None:
        """Ping the monitor, which hears of a failure for as long as a file needs a person."""
        if code == Busy.exit_code:
            return
        if not self._has_failed:
            self._notifier.works_again(self._names)
        self._notifier.ended(code or (4 if any(map(_has_attention, self._inboxes)) else 0))

    def _job(self, ended: FileEnded) -> JobEnded:
        codes = " ".join(reason.code for reason in ended.reasons)
        summary, folder, now = None, None, datetime.now(UTC)
        if ended.run is not None and ended.outcomes:  # otherwise its last run is of an earlier pass
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
            tuple(Cause.of(reason.code, reason.text) for reason in ended.reasons),
            place=str(ended.folder),
            # A file that stays in working/ because of what kept an earlier pass from it is not reported again.
            event=f"{ended.folder.name} {ended.exit_code} {codes}" if ended.place == "working" else "",
        )


def _has_attention(inbox: Path) -> bool:
    with suppress(OSError):  # reported elsewhere
        return any((inbox / "attention").iterdir())
    return False
