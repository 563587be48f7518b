"""Passes rows of a CSV to threads, each with its own sender; shared by the bare loops. Standard library only."""

from __future__ import annotations

import argparse
import csv
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bare_body import bare_body

Send = Callable[[bytes], int]  # a body, for a status


@dataclass(frozen=True)
class Wanted:
    """The arguments of a loop."""

    source: Path
    url: str
    concurrency: int
    ca: str | None


def wanted() -> Wanted:
    """From the command line: SOURCE URL --concurrency N [--ca FILE]."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("url")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--ca")
    found = parser.parse_args()
    return Wanted(found.source, found.url, found.concurrency, found.ca)


def send_all(asked: Wanted, new_sender: Callable[[], Send]) -> None:
    """Send each row once; ends the process with 1 where not every answer was 201."""
    waiting: queue.Queue[dict[str, str] | None] = queue.Queue(4 * asked.concurrency)
    statuses: list[int] = []

    def work() -> None:
        send = new_sender()
        while (row := waiting.get()) is not None:
            statuses.append(send(bare_body(row)))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(asked.concurrency)]
    for thread in threads:
        thread.start()
    with asked.source.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            waiting.put(row)
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()
    sys.exit(0 if all(status == 201 for status in statuses) else 1)
