"""Imports a file that was taken, and decides: done, attention, or to be continued by the next pass."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from importer.app import orders
from importer.app.earlier_runs import EarlierRun, rewrite_report
from importer.app.import_file import Finished, import_file
from importer.app.orders import ErrorLimit, Order, Planned, RunControl, SandboxSetup, Sending, Window, parse_minutes
from importer.inbox.arrivals import is_regular
from importer.inbox.folders import Inbox, Place, not_writable
from importer.inbox.happened import Listener
from importer.inbox.records import Contents, History, Identity, Reason, Record, Result
from importer.inbox.reports import commands_again
from importer.inbox.rules import FileRule
from importer.models import NEEDS_ATTENTION, TakenFile
from importer.problems import FilePlace, ImporterError, Problem, StoppedEarly, UnusableInput
from importer.report.summary import Summary
from importer.settings import Settings, load_settings

# Stops of a run that any other file would meet now too.
_OF_THE_SERVICE: Final = (
    *("token-refused", "service-redirected", "service-unreachable", "run-stalled", "request-refused"),
    *("run-interrupted", "time-over"),
)
# Stops that the same file would meet again: a person must change the file, its mapping or its target.
_OF_THE_FILE: Final = (*("rejection-repeated", "too-many-errors", "target-forbidden", "target-not-found"),)
# Codes that begin like these are about the settings or this machine, and not about the file.
_OF_THE_MACHINE: Final = (
    *("address-", "base-url-", "not-writable", "ledger-", "results-folder-untrusted", "sandbox-start-"),
    *("setting", "token-", "transport-", "trust-"),
)
_SIGNALED: Final = 128


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

    tell: Listener
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

    def settings(self, rule: FileRule | None = None) -> Settings:
        """The settings of a run by a rule.

        Raises:
            UnusableInput: with every setting that is not valid.
        """
        if rule is None:
            return load_settings(out=self.out)
        return load_settings(
            out=self.out,
            rate=rule.rate,
            concurrency=rule.concurrency,
            strict=rule.strict or None,
            give_up_minutes=parse_minutes(rule.give_up_after) if rule.give_up_after else None,
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a file. ends_pass: no other file can be imported now either."""

    record: Record
    result: Result
    ends_pass: bool = False


@dataclass(frozen=True, slots=True)
class FileImport:
    """The import of the files of one inbox."""

    inbox: Inbox
    means: Means
    history: History

    def result_of(self, record: Record) -> Judged:
        """Import a file, unless its last run has done so already.

        Raises:
            UnusableInput: the inbox cannot be written.
        """
        rule = self.inbox.rules.rule_for(record.name)
        if not is_regular(record.file):
            message = "it is not a regular file, or it was removed from working/ during its import"
            return self._unusable(record, Problem("inbox-file-missing", message, "ask its sender for the file"))
        if rule is None:
            message = "its name matches no pattern of inbox.toml"
            hint = "add a [[files]] section for it and release it, or correct the name and put it into incoming/ again"
            return self._unusable(record, Problem("inbox-file-unmatched", message, hint))
        record = replace(record, pattern=rule.pattern)  # of a file without one that was released, or of changed rules
        if (ended := self._ended_run(record, rule)) is not None:
            return self._judge(record, ended)
        return self._import(self._until_still(record, rule), rule)

    def _import(self, record: Record, rule: FileRule) -> Judged:
        gate = _Gate(record, self.history, self.means.listen)
        try:
            finished = import_file(self._order(record, rule), gate.listen, self.means.control, gate)
        except UnusableInput as error:
            ends_pass = any(one.code.startswith(_OF_THE_MACHINE) for one in error.problems)
            place: Place = "working" if ends_pass else "attention"
            return Judged(gate.record, self._result(error.exit_code, place, map(Reason.of, error.problems)), ends_pass)
        except ImporterError as error:  # the service, another run of its target, or an option
            result = self._result(error.exit_code, "working", [Reason.of(Problem("inbox-run-stopped", str(error)))])
            return Judged(gate.record, result, isinstance(error, StoppedEarly))
        if finished is None:
            return Judged(gate.record, self._result(UnusableInput.exit_code, "attention", gate.reasons))
        return self._judge(gate.record, finished)

    def _order(self, record: Record, rule: FileRule) -> Order:
        sandbox = SandboxSetup() if rule.sandbox or self.means.sandbox else None
        limit = ErrorLimit.parse(rule.max_errors) if rule.max_errors else None
        return Order(
            record.file,
            rule.mapping,
            self.means.settings(rule),
            sending=Sending(limit, rule.resend_unconfirmed, rule.resend_rejected, sandbox, self.means.window),
            file_shown_as=str(self.inbox.incoming / record.name),
            taken=TakenFile(
                str(self.inbox.place("attention") / record.folder.name / record.name),
                commands_again(self.inbox, record.folder.name, self.means.flags),
            ),
            flags=_flags(rule, self.means.out),
            sheet=rule.sheet,
        )

    def _until_still(self, record: Record, rule: FileRule) -> Record:
        """Wait while a sender that still has the file open writes to it."""
        waited = 0.0
        try:
            while not record.identity.has_same_content(now := Identity.of(record.file.stat())):
                record = record.with_changes(identity=now)
                if waited >= self.inbox.rules.wait:
                    break
                self.means.clock.sleep(rule.settle)
                waited += rule.settle
        except OSError as error:
            raise not_writable(self.inbox.folder, error) from None
        return record

    def _ended_run(self, record: Record, rule: FileRule) -> Finished | None:
        """The last run of a file, if it ended before this process was killed: only its result was not kept."""
        if not record.is_begun:
            return None
        try:
            finished = rewrite_report(EarlierRun(record.runs[-1], self.means.settings(rule)))
        except ImporterError:  # it sent nothing, or its folder is gone: the file is imported again
            return None
        return finished if finished.summary.finished else None

    # --- what becomes of it ---

    def _judge(self, record: Record, finished: Finished) -> Judged:
        """By the summary of its run."""
        summary, code = finished.summary, finished.summary.exit_code or 0
        if code in (0, 4):
            reasons = [*changed_since(record), *_rows_open(summary)]
            result = self._result(4 if reasons else 0, "attention" if reasons else "done", reasons, summary)
            return Judged(record, result)
        stop = summary.stopped
        reason = Reason(stop.code, stop.reason, stop.hint) if stop else Reason("run-interrupted", "it was interrupted")
        place: Place = "attention" if reason.code in _OF_THE_FILE else "working"
        ends_pass = code > _SIGNALED or reason.code in _OF_THE_SERVICE or reason.code.startswith(_OF_THE_MACHINE)
        return Judged(record, self._result(code, place, [reason], summary), ends_pass)

    def _unusable(self, record: Record, problem: Problem) -> Judged:
        reason = Reason.of(replace(problem, place=FilePlace(record.name)))
        return Judged(record, self._result(UnusableInput.exit_code, "attention", [reason]))

    def _result(self, code: int, place: Place, reasons: Iterable[Reason], summary: Summary | None = None) -> Result:
        outcomes = {kind.value: count for kind, count in summary.outcomes.items() if count} if summary else {}
        return Result(self.means.clock.now(), code, place, tuple(reasons), outcomes)


class _Gate:
    """Asked before the first request of a run. Keeps what is in the file, and that its run begins or why not.

    listen: gets the events of the run; its plan only if the run begins, for a file that is held is not sent.
    """

    def __init__(self, record: Record, history: History, listen: orders.Listener) -> None:
        self.record = record
        self.reasons: list[Reason] = []
        self._history, self._listen = history, listen

    def listen(self, event: orders.Event) -> None:
        if not isinstance(event, Planned):
            self._listen(event)

    def __call__(self, planned: Planned) -> bool:
        contents = Contents(planned.service, planned.sha256)
        if not self.record.released and (problem := self._held_by(contents)) is not None:
            self.reasons = [Reason.of(replace(problem, place=FilePlace(self.record.name)))]
        runs = () if self.reasons else (planned.folder.name,)
        try:
            self.record = self.record.with_changes(
                runs=(*self.record.runs, *runs), is_begun=not self.reasons, contents=contents
            )
        except OSError as error:
            raise not_writable(self.record.folder, error) from None
        if not self.reasons:
            self._listen(planned)
        return not self.reasons

    def _held_by(self, contents: Contents) -> Problem | None:
        """Why a person decides whether this file is imported."""
        before = self.record.contents
        if not self.record.runs or before is None:
            same = self._history.imported_with(contents, self.record)
            if same is None:
                return None
            at = f"{same.taken_at:%Y-%m-%d} at {same.taken_at:%H:%M} UTC"
            message = f"it has the same content as {same.name}, which was imported on {at}"
            return Problem("inbox-file-repeated", message, "ask its sender for the file that was meant")
        if before.service == contents.service:  # an earlier pass accepted the rest
            return None
        message = f"its import began at {before.service}, but the settings name {contents.service}"
        hint = "correct the settings, or release the file to send its rows to the other service"
        return Problem("inbox-service-differs", message, hint)


def _flags(rule: FileRule, out: Path | None) -> dict[str, str]:
    """The flags of the command that imports a file as its rule does; without --sandbox, which the run adds."""
    values = {
        "--out": out,
        "--rate": rule.rate,
        "--concurrency": rule.concurrency,
        "--max-errors": rule.max_errors,
        "--give-up-after": rule.give_up_after,
        "--sheet": rule.sheet,
        "--resend-unconfirmed": rule.resend_unconfirmed if rule.resend_unconfirmed != "end" else None,
    }
    switches = {
        "--resend-rejected": rule.resend_rejected,
        "--strict": rule.strict,
        "--no-personal-data": rule.no_personal_data,
    }
    given = {flag: str(value) for flag, value in values.items() if value is not None}
    return given | {flag: "" for flag, is_set in switches.items() if is_set}


def _rows_open(summary: Summary) -> list[Reason]:
    """Why a finished run needs a person."""
    if not summary.exit_code:
        return []
    open_rows = summary.rows_of(*NEEDS_ATTENTION)
    return [Reason.of(Problem("inbox-rows-open", f"{open_rows:,} of its {summary.source.rows:,} rows need a person"))]


def changed_since(record: Record) -> list[Reason]:
    """Whether the file has another content now than the one that was imported."""
    with record.file.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if record.contents is None or sha256 == record.contents.sha256:
        return []
    message = "its sender changed it after the import had read it: rows may be missing"
    hint = "wait until its sender has finished, then release it: rows that were imported already are skipped"
    return [Reason.of(Problem("inbox-file-changed", message, hint, FilePlace(record.name)))]
