"""Starts commands of the importer quickly: processes forked from one that has imported everything.

Each is a real process, killed from outside with SIGKILL, or from inside at a named point: arguments in, exit code out.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TextIO

import importer
from tests.patience import PATIENCE


@dataclass(frozen=True)
class Failpoint:
    """Kills a process when it reaches the point of that name for the n-th time; without one, records all points."""

    name: str | None = None
    hit: int = 1


@dataclass(frozen=True)
class Process:
    """A running command. `end` waits for it; a negative code is the signal that killed it."""

    pid: int
    fork_server: ForkServer

    def kill(self) -> None:
        """Send SIGKILL, if it is still running."""
        self.fork_server.ask("kill", pid=self.pid)

    def interrupt(self) -> None:
        """Send SIGTERM, if it is still running."""
        self.fork_server.ask("interrupt", pid=self.pid)

    def has_ended(self) -> bool:
        return self.fork_server.ask("ended", pid=self.pid) is True

    def end(self) -> int:
        return int(self.fork_server.ask("end", pid=self.pid))


class ForkServer:
    """One process that forks commands on demand."""

    def __init__(self) -> None:
        self._asked = 0
        clean = {name: value for name, value in os.environ.items() if not name.startswith("IMPORTER_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._process.communicate(timeout=PATIENCE)

    def start(
        self,
        folder: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        failpoint: Failpoint | None = None,
        user: int | None = None,
    ) -> Process:
        """Start a command in a folder, optionally as another user; its output goes to output.txt there."""
        pid = self.ask(
            "start",
            folder=str(folder),
            arguments=list(arguments),
            environment=dict(environment),
            user=user,
            failpoint=[failpoint.name, failpoint.hit] if failpoint else None,
        )
        return Process(int(pid), self)

    def ask(self, what: str, **more: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked += 1
        self._process.stdin.write(json.dumps({"what": what, "number": self._asked, **more}) + "\n")
        self._process.stdin.flush()
        while True:  # an interrupted test may have left an unread answer
            number, answer = json.loads(self._process.stdout.readline())
            if number == self._asked:
                return answer


# --- the process that forks ---


WITHOUT_PYCURL: Final = "WITHOUT_PYCURL"
"""In the environment of a command: requests are sent with the library requests."""
_SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGTERM}


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until the requests end; then kill the remaining processes."""
    ended: dict[int, int] = {}
    running: set[int] = set()
    for line in questions:
        question = json.loads(line)
        if question["what"] == "start":
            answer: Any = _fork(question)
            running.add(answer)
            ended.pop(answer, None)  # the system reuses process ids
        elif question["what"] in _SIGNALS:
            # Only this process knows whether it has waited for the child: the id may be in use again.
            answer = question["pid"] in running
            if answer:
                os.kill(question["pid"], _SIGNALS[question["what"]])
        else:
            pid = question["pid"]
            if pid not in ended:
                found, status = os.waitpid(pid, 0 if question["what"] == "end" else os.WNOHANG)
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
                    running.discard(pid)
            answer = ended.get(pid) if question["what"] == "end" else pid in ended
        answers.write(json.dumps([question["number"], answer]) + "\n")
        answers.flush()
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _fork(question: dict[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        _run_command(question)
    return pid


def _run_command(question: dict[str, Any]) -> None:
    """Run the command; never returns."""
    code: Any = 1
    try:
        os.chdir(question["folder"])
        os.environ.update(question["environment"])
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in ((0, nothing), (1, output), (2, output)):
            os.dup2(descriptor, number)
        if WITHOUT_PYCURL in os.environ:
            sys.modules["importer.service.curl_transport"] = None  # type: ignore[assignment]  # importing it fails then
        sys.argv = ["importer", *question["arguments"]]
        if question["user"] is not None:
            os.setgroups([])
            os.setgid(question["user"])
            os.setuid(question["user"])
        if question["failpoint"] is not None:
            from tests.crash.failpoints import arm

            arm(Path(question["folder"]), *question["failpoint"])
        from importer.cli.app import main

        main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:  # noqa: BLE001 - printed, and the process ends here
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


_NOT_IN_A_RUN = {"importer.__main__"}  # runs the command when it is imported
_ALSO = ("encodings.idna", "encodings.utf_8_sig", "phonenumbers.data.region_TR", "tests.crash.failpoints")


def _import_everything() -> None:
    """Import the whole importer, so that a command starts at once."""
    own = {module.name for module in pkgutil.walk_packages(importer.__path__, "importer.")}
    for name in (*sorted(own - _NOT_IN_A_RUN), *_ALSO):
        importlib.import_module(name)


if __name__ == "__main__":
    _import_everything()
    gc.freeze()  # so that the children do not scan, and so copy, this memory
    serve(sys.stdin, os.fdopen(os.dup(1), "w"))
