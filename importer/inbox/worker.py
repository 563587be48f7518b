"""Passes over inboxes: what earlier passes left is continued, then each complete file is taken and imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from importer.inbox.arrivals import Arrivals, Waiting
from importer.inbox.folders import Inbox, not_writable, open_inbox
from importer.inbox.happened import FileEnded, FileLeft, FileTaken
from importer.inbox.importing import FileImport, Means, changed_since
from importer.inbox.records import History, Identity, Record, Result
from importer.inbox.reports import write_reports
from importer.inbox.taking import move, take, unfinished
from importer.problems import ImporterError

WORST_FIRST: Final = (143, 130, 1, 2, 3, 5, 75, 4)
"""Exit codes: a pass ends with the first of these that one of its files has, else with 0."""

_SHORTEST_WAIT: Final = 0.05  # seconds between two looks
_LOOKED_AT: Final = timedelta(days=1)  # how long a sender may go on with a file that is done


def run_once(folders: Sequence[Path], means: Means, on_error: Callable[[ImporterError], None]) -> int:
    """One pass over each inbox; its exit code. An inbox that cannot be used does not stop the others."""
    codes: list[int] = []
    for folder in folders:
        try:
            one = _Pass(open_inbox(folder), means, codes)
            one.run()
            if one.is_over:  # a signal, or the service, which all inboxes share
                break
        except ImporterError as error:
            on_error(error)
            codes.append(error.exit_code)
    return next((code for code in WORST_FIRST if code in codes), 0)


class _Pass:
    """One pass over one inbox. codes: gets the exit code of each of its files."""

    def __init__(self, inbox: Inbox, means: Means, codes: list[int]) -> None:
        self._inbox, self._means, self._codes = inbox, means, codes
        self.is_over = False

    def run(self) -> None:
        """Do it.

        Raises:
            Busy: another worker holds the inbox. UnusableInput: the inbox or the settings cannot be used.
        """
        for rule in self._inbox.rules.files:  # before anything is taken
            self._means.settings(rule)
        with self._inbox.lock():
            self._history = History(self._inbox)
            for record in self._history.unreported():
                self._put_where_it_belongs(record)
            self._look_again()
            left = list(unfinished(self._inbox))
            self._continue(record for record in left if not record.is_cut_off)
            self._take_all()
            # Last, because a file may be what killed its worker: it must not keep the others from being imported.
            self._continue(record for record in left if record.is_cut_off)

    def _look_again(self) -> None:
        """Notice a sender that went on with a file that is done: a rename does not stop it."""
        now = self._means.clock.now()
        for record in self._history.done_since(now - _LOOKED_AT):
            try:
                identity = Identity.of(record.file.stat())
                if record.identity.has_same_content(identity):
                    continue
                reasons = changed_since(record)
            except FileNotFoundError:  # a person removed it
                continue
            except OSError as error:
                raise not_writable(self._inbox.folder, error) from None
            if reasons:
                assert record.result is not None
                result = replace(record.result, exit_code=4, place="attention", reasons=tuple(reasons))
                self._put_where_it_belongs(self._kept(record, result=result, reported=False))
            else:  # only its time changed; the next pass need not read it
                self._kept(record, identity=identity)

    def _continue(self, records: Iterable[Record]) -> None:
        for record in records:
            if self.is_over:
                return
            self._means.tell(FileTaken(record.name, is_continued=True))
            self._finish(record)

    def _take_all(self) -> None:
        """Take and finish every complete file; wait for those that still change, as long as the rules allow."""
        arrivals, waited = Arrivals(self._inbox, self._means.clock.monotonic), 0.0
        while not self.is_over:
            looked = arrivals.look()
            for arrival in looked.ready:
                if self.is_over:
                    return
                if (record := take(self._inbox, arrival, self._means.clock.now())) is not None:
                    self._means.tell(FileTaken(record.name))
                    self._finish(record)
            if looked.ready:
                continue
            settling = [each.settles_in for each in looked.waiting if each.settles_in is not None]
            if not settling or waited >= self._inbox.rules.wait:
                self._leave(looked.waiting)
                return
            pause = max(min(settling), _SHORTEST_WAIT)
            self._means.clock.sleep(pause)
            waited += pause

    def _leave(self, waiting: Sequence[Waiting]) -> None:
        for each in waiting:
            self._means.tell(FileLeft(each.name, each.why, each.is_odd))
            if each.is_odd and self._inbox.rules.rule_for(each.name):
                self._codes.append(4)  # it has the name of a file to import, but will never be taken

    # --- one file ---

    def _finish(self, record: Record) -> None:
        """Import a file that was taken, unless that is done, and move it where it belongs."""
        result = record.result
        if result is None or result.place == "working":
            with self._inbox.importing(record.folder.name, self._means.clock.now()):
                judged = FileImport(self._inbox, self._means, self._history).result_of(record)
            self.is_over = judged.ends_pass
            result = judged.result
            record = self._kept(judged.record, result=result, is_begun=False, reported=False)
        self._put_where_it_belongs(record)

    def _put_where_it_belongs(self, record: Record) -> None:
        result = record.result
        assert result is not None
        if result.place not in ("working", record.folder.parent.name):
            self._put(record, result)
            record = move(self._inbox, record, result.place)
            self._history.add(record)
        self._report(record)

    def _put(self, record: Record, result: Result) -> None:
        out = self._means.settings(self._inbox.rules.rule_for(record.name)).out
        run = out / record.runs[-1] if record.runs else None
        write_reports(self._inbox, record, result, run, self._means.flags)

    def _report(self, record: Record) -> None:
        result = record.result
        assert result is not None
        self._codes.append(result.exit_code)
        self._means.tell(
            FileEnded(
                self._inbox.folder,
                record.name,
                record.pattern,
                record.runs[-1] if record.runs else None,
                result.outcomes,
                result.exit_code,
                record.folder,
                result.reasons,
                record.reason_file,
            )
        )
        self._kept(record, reported=True)

    def _kept(self, record: Record, **values: object) -> Record:
        try:
            record = record.with_changes(**values)
        except OSError as error:
            raise not_writable(self._inbox.folder, error) from None
        self._history.add(record)
        return record
