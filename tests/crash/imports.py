"""Files of invented people, and a sandbox in its own process that records whom it accepted."""

from __future__ import annotations

import contextlib
import csv
import http.client
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from importer.settings import LedgerAddress
from tests.cli.conftest import HEADER, MAPPING, POOL_MAPPING, candidate
from tests.patience import PATIENCE
from tests.sandbox_process import SandboxProcess, sandbox_process

OPERATIONS = {"apply": "mapping.yaml", "add-candidate": "pool.yaml"}
TARGETS = {"apply": "4f2c9a", "add-candidate": "17"}
SHORT_TIMEOUTS = {
    "IMPORTER_RESEND_DELAY_SECONDS": "0.05",
    "IMPORTER_READ_TIMEOUT": "0.5",
    "IMPORTER_CONCURRENCY": "16",  # random kills set their own
    "XDG_CONFIG_HOME": "/nonexistent",
    "NO_COLOR": "1",
}


def temporary_folder() -> Path:
    """A folder in memory if the system has one: it keeps what a killed process wrote, like a disk."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))


def write_people(path: Path, numbers: Sequence[int], bad: Sequence[int] = ()) -> dict[int, str]:
    """Write a file of people, some with an invalid cell; returns the e-mail address of each row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *(_person(number, number in bad) for number in numbers)])
    return {row: f"person{number}@example.com" for row, number in enumerate(numbers, start=2)}


def _person(number: int, is_bad: bool) -> list[str]:
    changed = {"Phone": f"+90555000{number % 10_000:04d}"}  # phone numbers repeat after 10,000 people
    return candidate(number, **changed, **({"First": ""} if is_bad else {}))


def write_mappings(folder: Path) -> None:
    (folder / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    (folder / "pool.yaml").write_text(POOL_MAPPING, encoding="utf-8")


@dataclass
class Recorder:
    """A sandbox and its memory file: whom it accepted, in order, whatever it responded."""

    sandbox: SandboxProcess
    memory: Path
    preexisting: frozenset[str] = frozenset()  # who existed before any run
    _read: int = 0

    def __post_init__(self) -> None:
        self.accepted: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        return {"IMPORTER_BASE_URL": self.sandbox.base_url, "IMPORTER_TOKEN": self.sandbox.token}

    def look(self) -> int:
        """Read the newly accepted; returns the total."""
        with self.memory.open("rb") as file:
            file.seek(self._read)
            news = file.read()
        whole = news[: news.rfind(b"\n") + 1]
        self._read += len(whole)
        self.accepted += [json.loads(line)["email"] for line in whole.splitlines()]
        return len(self.accepted)

    def settle(self) -> int:
        """Wait until the requests of a killed client are processed; returns the total accepted."""
        address = urlsplit(self.sandbox.base_url).netloc
        for _ in range(2):  # two: at the second, everything in a socket before the first was read
            connection = http.client.HTTPConnection(address, timeout=PATIENCE)
            headers = {"Authorization": f"Bearer {self.sandbox.token}"}
            with contextlib.closing(connection), contextlib.suppress(http.client.HTTPException, OSError):
                # A response with a fault also means that earlier requests were processed.
                connection.request("GET", "/api/v1/client/job-posts/4f2c9a/questions/", headers=headers)
                connection.getresponse().read()
        return self.look()


@contextmanager
def recorded_sandbox(
    folder: Path,
    faults: Sequence[dict[str, Any]],
    already_applied: Iterable[int] = (),
    operation: str = "apply",
    **options: Any,
) -> Iterator[Recorder]:
    """A sandbox with these faults, until the block ends; people with these numbers already exist."""
    memory = folder / "memory.jsonl"
    preexisting = [f"person{number}@example.com" for number in already_applied]
    with memory.open("a", encoding="utf-8") as file:
        for email in preexisting:
            known = {"operation": operation, "target": TARGETS[operation], "email": email, "body": {}, "at": ""}
            file.write(json.dumps(known) + "\n")
    path = folder / "faults.json"
    path.write_text(json.dumps({"seed": 11, "faults": list(faults)}), encoding="utf-8")
    with sandbox_process(memory=memory, faults=path, **options) as sandbox:
        yield Recorder(sandbox, memory, frozenset(preexisting))


def setting_of(address: LedgerAddress) -> dict[str, str]:
    """The settings that name a ledger."""
    key = {"IMPORTER_LEDGER_KEY_FILE": str(address.key_file)} if address.key_file else {}
    return {"IMPORTER_LEDGER": address.location, **key}
