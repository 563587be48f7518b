"""Kills parts of an import at random moments, and the ledger's server; then the joined report must be right."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
from tests.crash.fork_server import ForkServer, Process
from tests.crash.imports import SHORT_TIMEOUTS, recorded_sandbox, setting_of, write_mappings, write_people
from tests.crash.random_kills import FAULTS
from tests.crash.report_checks import Truth, ledger_errors, read_report, report_errors
from tests.ledger.given import problems_of
from tests.postgres import Server

_TOTAL = 3
_OF_SERVERS = 0.15  # share of the kills that are of the server
_TARGET = Target(Operation.APPLY, "4f2c9a")


@dataclass
class PartFigures:
    """The results of a series."""

    kills: int = 0
    kills_of_servers: int = 0
    busy: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    missing: int = 0
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        return [
            f"kills of parts       {self.kills}, of the ledger's server {self.kills_of_servers}",
            f"started twice        {self.busy} times, refused",
            f"joined reports       {dict(self.outcomes)}",
            f"entered twice        {self.twice}",
            f"rows missing         {self.missing}",
            f"reported wrongly     {len(self.wrong)}",
        ]


def kill_parts(folder: Path, fork_server: ForkServer, server: Server, kills: int, rows: int, seed: int) -> PartFigures:
    """Kill three parts of one file, start each again until it has ended, and compare what the joined report says."""
    rng, figures = random.Random(seed), PartFigures()
    address = server.address(folder / "ledger.key")
    write_mappings(folder)
    emails = write_people(folder / "people.csv", range(rows), bad=range(7, rows, 50))
    good = {email for row, email in emails.items() if (row - 2) % 50 != 7}
    with recorded_sandbox(folder, FAULTS) as recorder:
        environment = {**SHORT_TIMEOUTS, **recorder.environment, **setting_of(address)}
        environment["IMPORTER_CONCURRENCY"] = "9"

        def start(number: int) -> Process:
            words = ("run", "people.csv", "--mapping", "mapping.yaml", "--part", f"{number}/{_TOTAL}", "--quiet")
            return fork_server.start(folder, words, environment)

        running = {number: start(number) for number in range(1, _TOTAL + 1)}
        ended: dict[int, int] = {}
        while running:
            time.sleep(rng.uniform(0.05, 0.6))
            if figures.kills < kills:
                number, twin = rng.choice(list(running)), rng.random() < 0.1
                if twin:  # the same part a second time: one of the two is refused
                    figures.busy += _is_refused(start(number), running[number])
                if rng.random() < _OF_SERVERS:
                    server.kill()
                    time.sleep(rng.uniform(0, 0.5))
                    server.start()
                    figures.kills_of_servers += 1
                running[number].kill()
                figures.kills += running[number].end() < 0
                running[number] = start(number)
            for number, process in list(running.items()):
                if process.has_ended():
                    code = process.end()
                    if code in (0, 4) and figures.kills >= kills:
                        ended[number] = code
                        del running[number]
                    else:  # it has ended early, or there is more to kill
                        running[number] = start(number)
        accepted = recorder.settle() and recorder.accepted
        report = fork_server.start(folder, ("report", "last", "--json"), environment)
        assert report.end() == 0
    counts = Counter(accepted)
    figures.twice = sum(counts[email] - 1 for email in good if counts[email] > 1)
    figures.missing = sum(counts[email] == 0 for email in good)
    (joined,) = (folder / "results").glob(f"*.{_TOTAL}parts")
    reported = read_report(joined)
    figures.outcomes.update(one.outcome for one in reported)
    # The last run of a part may have sent a row, or an earlier one: both are right.
    truth = Truth(frozenset(accepted), frozenset(accepted))
    figures.wrong += report_errors(reported, emails, truth)
    scope = Scope(recorder.sandbox.base_url, _TARGET)
    figures.wrong += ledger_errors(address, scope, list(emails.values()), frozenset(accepted))
    with open_ledger(address) as ledger:
        figures.wrong += problems_of(ledger)
    return figures


def _is_refused(twin: Process, first: Process) -> bool:
    """End a twin of a running part: it is refused, unless the first one has just ended."""
    code = twin.end()
    assert code == 75 or first.has_ended() or code in (0, 4, 5), code
    return code == 75
