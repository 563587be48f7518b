"""When the sending of files ends in a pass: by the flags of the command, or by inbox.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from importer.app.orders import Window, parse_window
from importer.inbox.folders import Inbox
from importer.inbox.rules import RULES_FILE, FileRule


class Windows:
    """The windows of one pass over an inbox, each computed once: by files it would begin again with each.

    until is the next such time after the pass began. max_runtime counts from there too; that of a section from its
    first file on, for otherwise the files of another section could use all of it. given: by the command, in place of
    all of them.
    """

    def __init__(self, inbox: Inbox, given: Window | None, now: Callable[[], datetime]) -> None:
        self._inbox, self._given, self._now, self._began = inbox, given, now, now()
        self._found: dict[FileRule, Window | None] = {}

    def of(self, rule: FileRule | None) -> Window | None:
        """The window of a rule whose next file is to be imported."""
        if self._given is not None or rule is None:
            return self._given
        if rule not in self._found:
            self._found[rule] = min(self._of_rules(rule), key=lambda window: window.ends_at, default=None)
        return self._found[rule]

    def over(self, rule: FileRule | None) -> Window | None:
        """The window of a rule, if inbox.toml sets it and its time is over: the files of the rule wait."""
        window = self.of(rule)
        is_over = window is not None and window is not self._given and window.ends_at <= self._now().timestamp()
        return window if is_over else None

    def _of_rules(self, rule: FileRule) -> Iterator[Window]:
        rules, file = self._inbox.rules, self._inbox.folder / RULES_FILE
        until, most = rule.until or rules.until, rule.max_runtime or rules.max_runtime
        by_clock = parse_window(until, None, self._began)
        by_runtime = parse_window(None, most, self._now() if rule.max_runtime else self._began)
        for window, line in ((by_clock, f'until = "{until}"'), (by_runtime, f'max_runtime = "{most}"')):
            if window is not None:
                yield replace(window, set_by=f"{line} in {file}", waits=until is not None)
