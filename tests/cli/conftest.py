"""Runs commands in a folder of their own, against a sandbox over real HTTP."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from importer.cli.app import main
from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.patience import PATIENCE, wait_until

MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
candidate:
  email: E-mail
  first_name: First
  last_name: Last
  cv: CV
answers:
  phone: {column: Phone, region: TR}
  work_permit: Permit
  salary: Salary
"""
POOL_MAPPING = """\
version: 1
target: {talent_pool: 17}
defaults: {unused_columns: ignore}
candidate:
  email: E-mail
  first_name: First
  last_name: Last
  cv: CV
  source_platform: {value: legacy}
"""
HEADER = ["E-mail", "First", "Last", "CV", "Phone", "Permit", "Salary"]


def candidate(number: int, **changed: str) -> list[str]:
    """An invented candidate; `Salary="x"` and the like change a cell."""
    row = dict(
        zip(HEADER, [f"person{number}@example.com", "Ada", f"Nr{number}", "7001", "", "yes", "1000"], strict=True)
    )
    row["Phone"] = f"+90555000{number:04d}"
    return list((row | changed).values())


def write_csv(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


def reviewed(mapping: Path) -> None:
    """Remove the marks of a proposal, as a person does who finds everything right."""
    text = re.sub(r"(?m)   # please check.*$", "", mapping.read_text("utf-8"))
    mapping.write_text(re.sub(r"(?m)^ *# please check(?:.*\n *# )*.*\n", "", text), "utf-8")


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Ran:
    """The result of a command: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The summary object that --json printed."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """The outcomes that have rows."""
        return {kind: count for kind, count in self.summary["outcomes"].items() if count}


@dataclass(frozen=True)
class FrontDoor:
    """A folder to run commands in, and their environment."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *arguments: str, **environment: str) -> Ran:
        """Run a command in this process, which is faster than starting Python each time."""
        out, err = io.StringIO(), io.StringIO()
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment | environment)
        try:
            with chdir(self.folder), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
                main(list(arguments))
        finally:
            os.environ.clear()
            os.environ.update(before)
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, out.getvalue(), err.getvalue())

    @contextmanager
    def started(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """A command running in its own process; killed at the end of the context."""
        process = subprocess.Popen(
            [sys.executable, "-m", "importer", *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


@pytest.fixture
def front_door(tmp_path: Path) -> FrontDoor:
    """Commands in an empty folder, with a mapping for the job post and one for the pool, and no settings at all."""
    (tmp_path / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "pool.yaml").write_text(POOL_MAPPING, encoding="utf-8")
    return front_door_in(tmp_path)


def front_door_in(folder: Path) -> FrontDoor:
    """Commands in this folder, without any settings of the user. Rows are sent again after a short delay."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("IMPORTER_")}
    quick = {"IMPORTER_RESEND_DELAY_SECONDS": "0.2"}
    return FrontDoor(folder, {**kept, **quick, "XDG_CONFIG_HOME": str(folder / "none"), "NO_COLOR": "1"})


@dataclass(frozen=True)
class Served:
    """A front door whose settings point to a sandbox that the test can inspect."""

    door: FrontDoor
    sandbox: RunningSandbox

    def __call__(self, *arguments: str, **environment: str) -> Ran:
        return self.door(*arguments, **environment)

    @property
    def accepted(self) -> list[str]:
        """The e-mails that the sandbox accepted, in order."""
        return [body["email"] for body in self.sandbox.memory.accepted()]

    def wait_for(self, accepted: int) -> None:
        """Return when the sandbox has accepted so many."""
        wait_until(lambda: len(self.sandbox.memory) >= accepted, "too few were accepted")

    @contextmanager
    def held_after(self, accepted: int) -> Iterator[Callable[[], None]]:
        """A service that accepts so many and then answers nothing, until what is yielded is called."""
        memory, may_go_on = self.sandbox.memory, threading.Event()
        accept = memory.accept

        def accept_in_time(operation: str, target: str, body: dict[str, Any], at: datetime) -> bool:
            if len(memory) >= accepted:
                may_go_on.wait(PATIENCE)
            return accept(operation, target, body, at)

        memory.accept = accept_in_time  # type: ignore[method-assign]
        try:
            yield may_go_on.set
        finally:
            may_go_on.set()
            memory.accept = accept  # type: ignore[method-assign]

    def killed_after(self, accepted: int, *arguments: str, **environment: str) -> None:
        """Run a command and kill it when the service has accepted so many, with requests in flight.

        Returns when the service has read those too; so the command has not ended before, however busy the machine is.
        """
        with self.held_after(accepted), self.door.started(*arguments, **environment) as process:
            self.wait_for(accepted)
            process.kill()
            process.wait()
        for _ in range(2):  # two: at the second, everything in a socket before the first was read
            with urlopen(f"{self.sandbox.base_url}/_sandbox/health", timeout=PATIENCE) as response:
                response.read()


@pytest.fixture
def serve(front_door: FrontDoor) -> Iterator[Callable[..., Served]]:
    """Call it with faults to start a sandbox, with its address and token in the settings."""
    opened = []

    def start(*faults: dict[str, Any], **options: Any) -> Served:
        path = front_door.folder / "faults.json"
        path.write_text(json.dumps({"seed": 1, "faults": faults}), encoding="utf-8")
        context = running(SandboxOptions(token="t0ken", faults=path, **options))
        sandbox = context.__enter__()
        opened.append(context)
        settings = {"IMPORTER_BASE_URL": sandbox.base_url, "IMPORTER_TOKEN": sandbox.token}
        return Served(FrontDoor(front_door.folder, {**front_door.environment, **settings}), sandbox)

    yield start
    for context in opened:
        context.__exit__(None, None, None)
