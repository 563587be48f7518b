"""What is in an inbox: what waits, what is to be continued, what needs a person, and whether files come as expected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from importer.inbox.arrivals import Arrivals, Waiting
from importer.inbox.folders import Current, open_inbox
from importer.inbox.records import History, Record, folders_in, read_record, records_in


@dataclass(frozen=True, slots=True)
class PatternStatus:
    """The file of a pattern that arrived last, None if there was none; is_late: a newer one was expected."""

    pattern: str
    last: Record | None
    is_late: bool


@dataclass(frozen=True, slots=True)
class InboxStatus:
    """An inbox as it is now. waiting: in incoming/, each with the reason; current: which of those in working/ is being
    imported; unknown: folders without a record.
    """

    folder: Path
    waiting: tuple[Waiting, ...]
    working: tuple[Record, ...]
    current: Current | None
    attention: tuple[Record, ...]
    unknown: tuple[Path, ...]
    patterns: tuple[PatternStatus, ...]

    @property
    def needs_person(self) -> bool:
        """Whether a file waits in attention/, a pass could not finish one, or one that was expected did not come."""
        ended = [each.result for each in self.working if each.result and each.reported]
        reasons = [reason.code for result in ended if result.exit_code in (3, 5) for reason in result.reasons]
        is_late = any(each.is_late for each in self.patterns)
        return is_late or bool(self.attention) or any(code != "time-over" for code in reasons)


def status_of(folder: Path, now: datetime, expect_every: timedelta | None = None) -> InboxStatus:
    """The status of an inbox. expect_every: a file of each pattern is late if the last one came longer ago.

    Raises:
        UnusableInput: the inbox cannot be used.
    """
    inbox = open_inbox(folder)
    looked = Arrivals(inbox, lambda: 0.0).look()
    ready = tuple(
        Waiting(each.name, "is ready for the next pass", changed_at=each.identity.changed_at) for each in looked.ready
    )
    working, attention = folders_in(inbox, "working"), folders_in(inbox, "attention")
    history = History(inbox)
    return InboxStatus(
        folder,
        (*ready, *looked.waiting),
        tuple(records_in(inbox, "working")),
        inbox.current,
        tuple(records_in(inbox, "attention")),
        tuple(path for path in (*working, *attention) if read_record(path) is None),
        tuple(_of_pattern(rule.pattern, history, now, expect_every) for rule in inbox.rules.files),
    )


def _of_pattern(pattern: str, history: History, now: datetime, expect_every: timedelta | None) -> PatternStatus:
    last = max(history.of(pattern), key=lambda record: record.taken_at, default=None)
    is_late = expect_every is not None and (last is None or now - last.taken_at > expect_every)
    return PatternStatus(pattern, last, is_late)
