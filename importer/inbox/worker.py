"""One pass over an inbox: what earlier passes left is continued, then each complete file is taken and imported.

What becomes of a file: done, attention, or working, where the next pass continues it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from importer.app import orders
from importer.app.import_file import Finished, import_file
from importer.app.orders import Order, Planned, RunControl, SandboxSetup, Window
from importer.files import sync_folder, write_private
from importer.inbox.arrivals import Arrivals, WaitingFile
from importer.inbox.folders import (
    FileRecord,
    ImportedContents,
    Inbox,
    InboxPlace,
    PassResult,
    Reason,
    is_regular,
    open_inbox,
    writing,
)
from importer.inbox.rules import FileRule
from importer.models import NEEDS_ATTENTION, TakenFile
from importer.problems import FilePlace, ImporterError, Problem, StoppedEarly, UnusableInput, worst
from importer.report.problem_codes import OF_THE_MACHINE
from importer.report.summary import Summary, read_summary
from importer.report.text import summary_lines
from importer.settings import Settings, load_settings
from importer.text.terminal import command_line, on_one_line, quoted

# Stops of a run that any other file would meet now too.
_OF_THE_SERVICE: Final = (
    *("token-refused", "service-redirected", "service-unreachable", "run-stalled", "request-refused"),
    *("run-interrupted", "time-over"),
)
# Stops that the same file would meet again: a person must change the file, its mapping or its target.
_OF_THE_FILE: Final = ("rejection-repeated", "too-many-errors", "target-forbidden", "target-not-found")
_MISSING: Final = Problem(
    "inbox-file-missing",
    "it was removed from working/ during its import, or has a second name (a hard link)",
    "ask its sender for the file",
)
_SIGNALED: Final = 128
_SHORTEST_WAIT: Final = 0.05  # seconds between two looks


# --- what a pass tells, and what it works with ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileTaken:
    """A complete file was taken, or one that an earlier pass had taken is continued."""

    name: str
    is_continued: bool = False


@dataclass(frozen=True, slots=True)
class FileEnded:
    """A pass ended with a file. Told once; after a crash perhaps twice, but never not at all.

    folder: where the file is from now on, in done/, attention/, or working/, where the next pass continues.
    """

    record: FileRecord
    result: PassResult
    folder: Path

    @property
    def run(self) -> str | None:
        """Its last run, None if none began."""
        return self.record.runs[-1] if self.record.runs else None

    @property
    def reason_file(self) -> Path:
        """The file that says why it is in attention/."""
        return replace(self.record, folder=self.folder).reason_file


Happened = FileTaken | FileEnded | WaitingFile
"""What a pass tells; of a file that stays in incoming/ why."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, and how to wait: other ones in tests."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Means:
    """What a worker works with. tell: is called for what happens to files; listen: for the events of each run.

    out: the results folder, None for that of the settings. sandbox: all files are imported into the sandbox.
    window: the time in which rows may be sent.
    """

    tell: Callable[[Happened], None]
    listen: orders.Listener = orders.ignore
    control: RunControl = field(default_factory=RunControl)
    clock: Clock = Clock()
    out: Path | None = None
    sandbox: bool = False
    window: Window | None = None

    @property
    def flags(self) -> dict[str, str]:
        """Those of the command, for the next one."""
        return {**({"--out": str(self.out)} if self.out else {}), **({"--sandbox": ""} if self.sandbox else {})}

    def settings(self, rule: FileRule | None) -> Settings:
        """The settings of a run by a rule. Raises UnusableInput: with every setting that is not valid."""
        return rule.settings(self.out) if rule is not None else load_settings(out=self.out)


# --- the pass -----------------------------------------------------------------------------------------------


def run_once(folder: Path, means: Means) -> int:
    """One pass over an inbox; its exit code.

    Raises Busy: another worker holds the inbox. UnusableInput: the inbox or the settings cannot be used.
    """
    inbox = open_inbox(folder)
    for rule in inbox.rules.files:  # before anything is taken
        means.settings(rule)
    with inbox.lock():
        one = _Pass(inbox, means)
        one.run()
    return worst(one.codes)


class _Pass:
    """codes: of its files. is_over: no other file can be imported now either."""

    def __init__(self, inbox: Inbox, means: Means) -> None:
        self._inbox, self._means = inbox, means
        self.codes: list[int] = []
        self._is_over = False

    def run(self) -> None:
        left = self._inbox.unfinished()
        self._continue(record for record in left if record.result or record.released)
        self._take_all()
        # Last, because a file may be what killed its worker: it must not keep the others from being imported.
        self._continue(record for record in left if not (record.result or record.released))

    def _continue(self, records: Iterable[FileRecord]) -> None:
        for record in records:
            if self._is_over:
                return
            self._means.tell(FileTaken(record.name, is_continued=True))
            self._finish(record)

    def _take_all(self) -> None:
        """Take and finish every complete file; wait for those that still change, as long as the rules allow."""
        arrivals, waited = Arrivals(self._inbox, self._means.clock.monotonic), 0.0
        while not self._is_over:
            ready, waiting = arrivals.look()
            for arrival in ready:
                if self._is_over:
                    return
                pattern, now = arrival.rule.pattern if arrival.rule else None, self._means.clock.now()
                if (record := self._inbox.take(arrival.name, pattern, arrival.marker, now)) is not None:
                    self._means.tell(FileTaken(record.name))
                    self._finish(record)
            settling = [each.settles_in for each in waiting if each.settles_in is not None]
            if ready:
                continue
            if not settling or waited >= max(self._inbox.rules.wait, _SHORTEST_WAIT):
                self._leave(waiting)
                return
            pause = max(min(settling), _SHORTEST_WAIT)
            self._means.clock.sleep(pause)
            waited += pause

    def _leave(self, waiting: list[WaitingFile]) -> None:
        for each in waiting:
            self._means.tell(each)
            if each.is_odd:
                self.codes.append(4)

    def _finish(self, record: FileRecord) -> None:
        """Import a file, unless that is done, say what became of it, and move it where it belongs."""
        result = record.result
        if result is None or result.place == "working":
            one = FileImport(self._inbox, self._means, record)
            result = one.result()
            self._is_over, record = one.ends_pass, one.record.with_changes(result=result)
        self.codes.append(result.exit_code)
        if result.place == "working":
            self._means.tell(FileEnded(record, result, record.folder))
            return
        destination = self._inbox.destination(record, result.place)
        self._write_reason(record, result, destination)
        self._means.tell(FileEnded(record, result, destination))
        self._inbox.move(record, destination)

    def _write_reason(self, record: FileRecord, result: PassResult, destination: Path) -> None:
        """Say beside the file why it is in attention/."""
        with writing(self._inbox.folder):
            record.reason_file.unlink(missing_ok=True)  # of before it was released
            if result.place == "attention":
                lines = map(on_one_line, self._reasons(record, result, destination))
                write_private(record.reason_file, "".join(f"{line}\n" for line in lines).encode())
                sync_folder(record.folder)

    def _reasons(self, record: FileRecord, result: PassResult, folder: Path) -> Iterator[str]:
        yield f"{record.name} needs a person. It was in {self._inbox.incoming}, and is now here: {folder / record.name}"
        yield ""
        for reason in result.reasons:
            yield f"- {reason.text} [{reason.code}]"
            if reason.hint:
                yield f"  -> {reason.hint}"
        yield ""
        summary = None
        if record.runs and result.outcomes:
            run = self._means.settings(self._inbox.rules.rule_for(record.name)).out / record.runs[-1]
            with suppress(UnusableInput):  # it was purged meanwhile
                summary = read_summary(run)
                yield from summary_lines(summary, run)
        if summary is None:
            yield f"Its last run is {record.runs[-1]}." if record.runs else "Nothing of it was sent."
        yield ""
        if not is_regular(record.file):
            yield f"When it is in {self._inbox.incoming} again, it is imported; imported rows are skipped."
            return
        yield "To import the file again from here, with what you changed since (imported rows are skipped):"
        yield from (f"  {command}" for command in commands_again(self._inbox, record, self._means.flags))
        yield "If it is settled in another way, move this folder to done/:"
        yield f"  mv {quoted(str(folder))} {quoted(str(self._inbox.place('done')))}"


def commands_again(inbox: Inbox, record: FileRecord, flags: Mapping[str, str]) -> tuple[str, ...]:
    """The commands that import a file in attention/ again. flags: of the second one."""
    release = command_line("inbox", "release", inbox.folder, record.folder.name)
    return release, command_line("inbox", "run", inbox.folder, flags=flags)


# --- the import of one file -----------------------------------------------------------------------------------


class FileImport:
    """The import of one file that was taken. record: as it is kept; ends_pass: what stopped it would stop any other
    file now too.
    """

    def __init__(self, inbox: Inbox, means: Means, record: FileRecord) -> None:
        self._inbox, self._means, self.record = inbox, means, record
        self.ends_pass = False
        self._held: Problem | None = None

    def result(self) -> PassResult:
        """Import it. Rows that an earlier run imported are skipped.

        Raises UnusableInput: the inbox cannot be written.
        """
        rule = self._inbox.rules.rule_for(self.record.name)
        if not is_regular(self.record.file):
            return self._unusable(_MISSING)
        if rule is None:
            message = "its name matches no pattern of inbox.toml"
            hint = "add a [[files]] section for it and release it, or correct the name and put it into incoming/ again"
            return self._unusable(Problem("inbox-file-unmatched", message, hint))
        self.record = replace(self.record, pattern=rule.pattern)  # the rules may have changed
        try:
            finished = import_file(self._order(rule), self._listen, self._means.control, self._may_begin)
        except UnusableInput as error:
            self.ends_pass = any(one.code.startswith(OF_THE_MACHINE) for one in error.problems)
            reasons = tuple(map(Reason.of, error.problems))
            return PassResult(error.exit_code, "working" if self.ends_pass else "attention", reasons)
        except ImporterError as error:  # the service, another run of its target, or an option
            self.ends_pass = isinstance(error, StoppedEarly)
            return PassResult(error.exit_code, "working", (Reason.of(Problem("inbox-run-stopped", str(error))),))
        if finished is None:
            assert self._held is not None
            return self._unusable(self._held)
        return self._of_run(finished)

    def _unusable(self, problem: Problem) -> PassResult:
        reason = Reason.of(replace(problem, place=FilePlace(self.record.name)))
        return PassResult(UnusableInput.exit_code, "attention", (reason,))

    def _of_run(self, finished: Finished) -> PassResult:
        summary, code = finished.summary, finished.summary.exit_code or 0
        outcomes = {kind.value: count for kind, count in summary.outcomes.items() if count}
        if code in (0, 4):
            reasons = tuple(map(Reason.of, (*self._changed(), *_open_rows(summary))))
            return PassResult(4 if reasons else 0, "attention" if reasons else "done", reasons, outcomes)
        stop = summary.stopped
        reason = Reason(stop.code, stop.reason, stop.hint) if stop else Reason("run-interrupted", "it was interrupted")
        place: InboxPlace = "attention" if reason.code in _OF_THE_FILE else "working"
        self.ends_pass = code > _SIGNALED or reason.code.startswith((*_OF_THE_SERVICE, *OF_THE_MACHINE))
        return PassResult(code, place, (reason,), outcomes)

    def _order(self, rule: FileRule) -> Order:
        sandbox = SandboxSetup() if rule.sandbox or self._means.sandbox else None
        out = {"--out": str(self._means.out)} if self._means.out else {}
        record, moved = self.record, self._inbox.place("attention") / self.record.folder.name / self.record.name
        return Order(
            record.file,
            rule.mapping,
            self._means.settings(rule),
            sending=replace(
                rule.sending(), sandbox_setup=sandbox, window=self._means.window, out=str(self._means.out or "")
            ),
            file_shown_as=str(self._inbox.incoming / record.name),
            taken=TakenFile(str(moved), commands_again(self._inbox, record, self._means.flags)),
            flags={**out, **rule.flags},
            sheet=rule.sheet,
        )

    def _listen(self, event: orders.Event) -> None:
        if not isinstance(event, Planned):  # a file that is held is not sent
            self._means.listen(event)

    def _may_begin(self, planned: Planned) -> bool:
        """Asked before the first request of a run: keeps what is in the file, and that its run begins or why not."""
        contents = ImportedContents(planned.service, planned.sha256)
        self._held = self._held_by(contents) if planned.forecast.rows else None  # every quiet night has the same header
        if self._held is None:
            runs = (*self.record.runs, planned.folder.name)  # what an earlier pass said of it is over
            self.record = self.record.with_changes(contents=contents, runs=runs, result=None)
            self._means.listen(planned)
        return self._held is None

    def _held_by(self, contents: ImportedContents) -> Problem | None:
        """Why a person decides whether this file is imported."""
        before = self.record.contents
        if before is not None and before.service != contents.service:
            message = f"its import began at {before.service}, but the settings name {contents.service}"
            hint = "correct the settings, or release the file to send its rows to the other service"
            return Problem("inbox-service-differs", message, hint)
        if before is not None or self.record.released:  # an earlier pass has looked, or a person
            return None
        for one in self._inbox.records("done", "attention"):
            is_there = one.result is None or all(reason.code != _MISSING.code for reason in one.result.reasons)
            is_imported = is_there and (one.result is None or one.result.exit_code in (0, 4))
            if one.pattern == self.record.pattern and one.contents == contents and is_imported:
                at = f"{one.taken_at:%Y-%m-%d} at {one.taken_at:%H:%M} UTC"
                message = f"it has the same content as {one.name}, which was imported on {at}"
                return Problem("inbox-file-repeated", message, "ask its sender for the file that was meant")
        return None

    def _changed(self) -> Iterator[Problem]:
        """Whether the file has another content now than the one that was imported."""
        if not is_regular(self.record.file):
            yield replace(_MISSING, place=FilePlace(self.record.name))
            return
        with writing(self._inbox.folder), self.record.file.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if self.record.contents is not None and sha256 != self.record.contents.sha256:
            yield Problem(
                "inbox-file-changed",
                "its sender changed it after the import had read it: rows may be missing, and its last one then may "
                "have been sent incomplete",
                "wait until its sender has finished, compare that row with the service, then release it: rows that "
                "were imported already are skipped",
                FilePlace(self.record.name),
            )


def _open_rows(summary: Summary) -> Iterator[Problem]:
    """Why a finished run needs a person."""
    if summary.exit_code:
        open_rows = summary.rows_of(*NEEDS_ATTENTION)
        yield Problem("inbox-rows-open", f"{open_rows:,} of its {summary.source.rows:,} rows need a person")
