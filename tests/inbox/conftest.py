"""An inbox in a folder of its own, a clock that jumps, and a sandbox over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from importer.app import orders
from importer.inbox.folders import Reason
from importer.inbox.worker import Clock, FileEnded, FileTaken, Happened, Means, run_once
from importer.problems import ImporterError
from tests.cli.conftest import Served, candidate, front_door, serve, write_csv

__all__ = ["front_door", "serve"]

RULES = '[[files]]\npattern = "people*.csv"\nmapping = "../mapping.yaml"\n'


@dataclass(frozen=True)
class Ended:
    """What became of a file in a pass."""

    name: str
    place: str
    outcomes: Mapping[str, int]
    reasons: tuple[Reason, ...]
    folder: Path
    reason_file: Path
    run: str | None


@dataclass
class Night:
    """An inbox, and a time that passes only where a worker sleeps. at_sleep: is called then, as a sender would act;
    at_taken: when a file was taken; listen: for the events of each import.
    """

    folder: Path
    served: Served
    at: datetime = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
    slept: float = 0.0
    at_sleep: Callable[[], object] = lambda: None
    at_taken: Callable[[], object] = lambda: None
    listen: orders.Listener = orders.ignore
    window: orders.Window | None = None
    events: list[Happened] = field(default_factory=list)
    errors: list[ImporterError] = field(default_factory=list)

    def drop(self, name: str, rows: range, **changed: str) -> Path:
        """Put a file with these people into incoming/."""
        return write_csv(self.folder / "incoming" / name, [candidate(number, **changed) for number in rows])

    def run(self) -> int:
        """One pass of a worker; its exit code."""
        self.events.clear()
        self.errors.clear()
        try:
            return run_once(self.folder, self.means)
        except ImporterError as error:
            self.errors.append(error)
            return error.exit_code

    @property
    def means(self) -> Means:
        clock = Clock(lambda: self.at + timedelta(seconds=self.slept), lambda: self.slept, self._sleep)
        return Means(self._tell, self.listen, clock=clock, window=self.window)

    def _tell(self, event: Happened) -> None:
        self.events.append(event)
        if isinstance(event, FileTaken):
            self.at_taken()

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.at_sleep()

    @property
    def ended(self) -> list[Ended]:
        return [
            Ended(
                one.record.name,
                one.result.place,
                one.result.outcomes,
                one.result.reasons,
                one.folder,
                one.reason_file,
                one.run,
            )
            for one in self.events
            if isinstance(one, FileEnded)
        ]

    @property
    def places(self) -> dict[str, list[str]]:
        """The names of the files in each folder that has any, without those that the worker wrote."""
        found = {"incoming": sorted(path.name for path in (self.folder / "incoming").iterdir())}
        for place in ("working", "done", "attention"):
            own = {".taken.json", "reason.txt"}
            files = (self.folder / place).glob("*/*")
            found[place] = sorted(path.name for path in files if path.name not in own)
        return {place: names for place, names in found.items() if names}


@pytest.fixture
def night(serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> Night:
    """An inbox for people*.csv, whose settings name a sandbox that accepts everybody."""
    return night_of(serve(), monkeypatch)


def night_of(served: Served, monkeypatch: pytest.MonkeyPatch, rules: str = RULES) -> Night:
    folder = served.door.folder
    monkeypatch.chdir(folder)
    for name, value in served.door.environment.items():
        monkeypatch.setenv(name, value)
    inbox = folder / "inbox"
    (inbox / "incoming").mkdir(parents=True)
    inbox.chmod(0o755)
    write_rules(inbox, rules)
    return Night(Path("inbox"), replace(served))


def write_rules(inbox: Path, rules: str) -> Path:
    """Write inbox.toml, which only its owner can change."""
    path = inbox / "inbox.toml"
    path.write_text(rules, encoding="utf-8")
    path.chmod(0o644)
    return path
