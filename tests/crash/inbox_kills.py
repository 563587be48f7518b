"""Kills `inbox run` at random moments and at each step of taking a file; then each file must lie in done/, once."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.fork_server import Failpoint, ForkServer
from tests.crash.imports import SHORT_TIMEOUTS, Recorder, recorded_sandbox, write_mappings, write_people

ROWS = 5  # of a file
RUN = ("inbox", "run", "box", "--quiet")
STEPS = (
    ("before creating RUNe{number}.csv", 1),
    ("before opening ..taken.json.tmp", 1),
    ("before renaming to .taken.json", 1),
    ("before renaming to people{number}.csv", 1),
    ("before renaming to run.json", 1),
    ("before renaming to .taken.json", 2),
    ("after the commit of the start of the run", 1),
    ("after the commit of a response", 1),
    ("after the commit of the end of the run", 1),
    ("before renaming to .taken.json", 3),
    ("before removing reason.txt", 1),
    ("before renaming to RUNe{number}.csv", 1),
)
"""The steps of a file, with how often each is reached before: from incoming/ to done/."""


@dataclass
class InboxFigures:
    """The results of kills."""

    kills: int = 0
    files: int = 0
    processes: int = 0
    places: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        places = ", ".join(f"{count} in {place}" for place, count in sorted(self.places.items()))
        return [
            f"SIGKILLs of inbox run {self.kills}, with {self.files} files, in {self.processes} processes",
            f"files at a kill       {places}",
            f"lost, twice or wrong  {len(self.wrong)}",
        ]


class KilledInbox:
    """An inbox whose worker is killed. Each file has people of its own."""

    def __init__(self, folder: Path, fork_server: ForkServer, recorder: Recorder) -> None:
        self._folder, self._fork_server, self._recorder = folder, fork_server, recorder
        self._environment: Mapping[str, str] = {**SHORT_TIMEOUTS, **recorder.environment}
        self.figures = InboxFigures()
        self.box = folder / "box"
        (self.box / "incoming").mkdir(parents=True)
        self.box.chmod(0o755)
        rules = self.box / "inbox.toml"
        rules.write_text('[[files]]\npattern = "people*.csv"\nmapping = "../mapping.yaml"\nsettle = "0.05s"\n')
        rules.chmod(0o644)

    def drop(self, name: str) -> None:
        first = self.figures.files * ROWS
        write_people(self.box / "incoming" / name, range(first, first + ROWS))
        self.figures.files += 1

    def run(self, failpoint: Failpoint | None = None, after: float | None = None) -> int:
        """Run a worker, killed at a point or after some seconds; its exit code."""
        process = self._fork_server.start(self._folder, RUN, self._environment, failpoint)
        if after is not None:
            time.sleep(after)
            process.kill()
        self.figures.processes += 1
        code = process.end()
        self.figures.kills += code < 0
        self._look()
        return code

    def _look(self) -> None:
        """No file may be in two folders, or in none."""
        found = Counter[str]()
        for place in ("incoming", "working", "done", "attention"):
            pattern = "people*.csv" if place == "incoming" else "*/people*.csv"
            for path in (self.box / place).glob(pattern):
                found[path.read_text(encoding="utf-8")] += 1
                self.figures.places[place] += 1
        if (count := len(found)) != self.figures.files:
            self.figures.wrong.append(f"{count} of {self.figures.files} files were found after a kill")
        self.figures.wrong += [f"a file is in {count} folders" for count in found.values() if count > 1]

    def check(self) -> None:
        """At the end every file is done, and every person was entered once."""
        wrong = self.figures.wrong
        left = [path.name for place in ("incoming", "working", "attention") for path in (self.box / place).iterdir()]
        wrong += [f"{name} is not done" for name in left]
        self._recorder.settle()
        accepted = Counter(self._recorder.accepted)
        expected = {f"person{number}@example.com" for number in range(self.figures.files * ROWS)}
        wrong += [f"{email} was entered {count} times" for email, count in accepted.items() if count > 1]
        wrong += [f"{email} was not entered" for email in sorted(expected - set(accepted))]


def kill_inbox_at_steps(folder: Path, fork_server: ForkServer) -> InboxFigures:
    """For each step a file, whose worker is killed there; the next one must finish it."""
    write_mappings(folder)
    with recorded_sandbox(folder, []) as recorder:
        inbox = KilledInbox(folder, fork_server, recorder)
        for number, (named, hit) in enumerate(STEPS):
            inbox.drop(f"people{number}.csv")
            step = named.format(number=number)
            if inbox.run(Failpoint(step, hit)) >= 0:
                inbox.figures.wrong.append(f"no worker reached: {step}, time {hit}")
            if (code := inbox.run()) != 0:
                inbox.figures.wrong.append(f"after {step}, time {hit}: exit code {code}")
        inbox.check()
    return inbox.figures


def kill_inbox_at_random(
    folder: Path, fork_server: ForkServer, kills: int, files: int = 20, seed: int = 1
) -> InboxFigures:
    """So many kills over series of files, each series until every file is done."""
    chance = random.Random(seed)
    write_mappings(folder)
    with recorded_sandbox(folder, [{"kind": "delay", "share": 1, "ms": 2, "jitter_ms": 10, "times": 99}]) as recorder:
        inbox = KilledInbox(folder, fork_server, recorder)
        while inbox.figures.kills < kills:
            for number in range(files):
                inbox.drop(f"people{number}.csv")
            while inbox.figures.kills < kills and any((inbox.box / "incoming").iterdir()):
                inbox.run(after=chance.uniform(0.05, 0.9))
            code = inbox.run()
            if code:
                inbox.figures.wrong.append(f"exit code {code} at the end of a series")
        inbox.check()
    return inbox.figures
