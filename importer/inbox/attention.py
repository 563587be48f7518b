"""What a person sees of an inbox, and does: its status, and files that are given back to the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.inbox.arrivals import Arrivals, WaitingFile
from importer.inbox.folders import PLACES, FileRecord, Inbox, is_regular, open_inbox, writing
from importer.inbox.rules import RULES_FILE
from importer.problems import UsageError
from importer.text.terminal import command_line


@dataclass(frozen=True, slots=True)
class PatternStatus:
    """The file of a pattern that arrived last, None if there was none; is_late: a newer one was expected."""

    pattern: str
    last: FileRecord | None
    is_late: bool


@dataclass(frozen=True, slots=True)
class InboxStatus:
    """An inbox as it is now. waiting: in incoming/, each with the reason; unknown: folders without a record."""

    folder: Path
    waiting: tuple[WaitingFile, ...]
    working: tuple[FileRecord, ...]
    attention: tuple[FileRecord, ...]
    unknown: tuple[Path, ...]
    patterns: tuple[PatternStatus, ...]

    @property
    def needs_person(self) -> bool:
        """Whether a file is in attention/, is never taken, is late, or was not finished for other reasons than time."""
        results = [each.result for each in self.working if each.result]
        is_open = any(reason.code != "time-over" for one in results for reason in one.reasons)
        is_late, is_odd = any(each.is_late for each in self.patterns), any(each.is_odd for each in self.waiting)
        return bool(self.attention or self.unknown) or is_open or is_late or is_odd


def status_of(folder: Path, now: datetime, expect_every: timedelta | None = None) -> InboxStatus:
    """The status of an inbox. expect_every: a file of each pattern is late if the last one came longer ago.

    Raises UnusableInput: the inbox cannot be used.
    """
    inbox = open_inbox(folder)
    complete, waiting = Arrivals(inbox, lambda: 0.0).look()
    ready = (WaitingFile(each.name, "is ready for the next pass", changed_at=each.mtime_ns / 1e9) for each in complete)
    working, attention = tuple(inbox.records("working")), tuple(inbox.records("attention"))
    known = {one.folder for one in (*working, *attention)}
    unknown = (path for path in (*inbox.folders("working"), *inbox.folders("attention")) if path not in known)
    every = sorted(inbox.records(*PLACES), key=lambda record: record.taken_at)
    last = {record.pattern: record for record in every}

    def of(pattern: str) -> PatternStatus:
        newest = last.get(pattern)
        is_late = expect_every is not None and (newest is None or now - newest.taken_at > expect_every)
        return PatternStatus(pattern, newest, is_late)

    patterns = tuple(of(rule.pattern) for rule in inbox.rules.files)
    return InboxStatus(folder, (*ready, *waiting), working, attention, tuple(unknown), patterns)


# --- released --------------------------------------------------------------------------------------------


def release(folder: Path, names: Sequence[str]) -> list[FileRecord]:
    """Move files from attention/ to working/, where the next pass imports them: all of them, or none.

    names: of the files, or of their folders. One that is in working/ already stays as it is.

    Raises:
        UsageError: with every file that cannot be released, and why.
        Busy: a worker uses the inbox. UnusableInput: the inbox cannot be used.
    """
    inbox = open_inbox(folder)
    with inbox.lock():
        found, refused = dict[Path, FileRecord](), list[str]()
        for name in names:
            try:
                record = _find(inbox, name)
                found[record.folder] = record
            except UsageError as error:
                refused.append(str(error))
        if refused:
            raise UsageError("\n".join([*refused, *(["no file was released"] if len(names) > 1 else [])]))
        return [_released(inbox, record) for record in found.values()]


def _find(inbox: Inbox, name: str) -> FileRecord:
    found: list[FileRecord] = []
    for place in ("attention", "working"):  # reason.txt of a file in working/ names this command too
        every = list(inbox.records(place))
        found = [record for record in every if record.folder.name == name] or [one for one in every if one.name == name]
        if found:
            break
    if len(found) > 1:
        folders = ", ".join(record.folder.name for record in found)
        raise UsageError(f"several files in attention have the name {name}; name the folder of one: {folders}")
    if not found and any(name in (record.folder.name, record.name) for record in inbox.records("done")):
        raise UsageError(f"{name} is done; to import it again, put it into {inbox.incoming} again")
    if not found:
        status = command_line("inbox", "status", inbox.folder)
        raise UsageError(f"{inbox.place('attention')} has no file {name}; list its files with: {status}")
    (record,) = found
    if record.folder.parent.name == "attention":
        _refuse_useless(inbox, record)
    return record


def _refuse_useless(inbox: Inbox, record: FileRecord) -> None:
    """Refuse a file that the next pass would only put aside again."""
    if not is_regular(record.file):
        raise UsageError(f"{record.file} is missing, or has a second name; put a copy of it into {inbox.incoming}")
    if inbox.rules.rule_for(record.name) is None:
        patterns = ", ".join(rule.pattern for rule in inbox.rules.files)
        raise UsageError(
            f"{record.name} matches no pattern of {inbox.folder / RULES_FILE} (it has: {patterns}); add a [[files]] "
            f"section for it there, or move the file to {inbox.incoming} under a name that matches"
        )


def _released(inbox: Inbox, record: FileRecord) -> FileRecord:
    if record.folder.parent.name == "working":
        return record
    reasons = record.result.reasons if record.result else ()
    is_for_other = any(reason.code == "inbox-service-differs" for reason in reasons)
    # Rows are sent to another service only after a person has released the file for that reason.
    changed = record.with_changes(released=True, result=None, contents=None if is_for_other else record.contents)
    with writing(inbox.folder):
        record.reason_file.unlink(missing_ok=True)
    return inbox.move(changed, inbox.destination(record, "working"))
