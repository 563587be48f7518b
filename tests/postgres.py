"""A PostgreSQL server for tests: of this machine's own installation, in a temporary folder, on loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import psycopg
import pytest

from importer.settings import LedgerAddress
from tests.patience import PATIENCE

USER: Final = "tester"
PASSWORD: Final = "s3cret word"
_USERS: Final = ("postgres", "nobody")  # the server refuses to run as root
_SETTINGS: Final = ("fsync=on", "shared_buffers=16MB", "max_connections=60", "lc_messages=C", "max_wal_size=64MB")


def find_programs() -> Path | None:
    """The folder with initdb and postgres, or None."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    on_path = shutil.which("postgres")
    folders += [Path(on_path).resolve().parent] if on_path else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """A running server, as a child process."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self.folder = folder
        self._schemas = count(1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._run("initdb", "-N", "-U", "postgres", "--auth-local=trust", "--auth-host=scram-sha-256", "-D", self._data)
        self.start()
        self.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'")
        self.execute(f"CREATE DATABASE ledgers OWNER {USER}", database="postgres")

    def start(self, *settings: str) -> None:
        """Start the server, and wait until it answers."""
        options = [word for setting in (*_SETTINGS, *settings) for word in ("-c", setting)]
        words = ["postgres", "-D", self._data, "-k", self.folder, "-h", "127.0.0.1", "-p", str(self.port), *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command(*words), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            log_text = (self.folder / "log").read_text()
            assert self._process.poll() is None, log_text
            assert time.monotonic() < deadline, log_text
            time.sleep(0.02)

    def stop(self) -> None:
        """Fast, as `systemctl restart` does: sessions are ended."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """All its processes at once, as when its machine dies."""
        self._end(signal.SIGQUIT)  # an immediate shutdown: nothing is flushed, the next start recovers

    def execute(self, query: str, *values: object, database: str | None = None) -> list[tuple[object, ...]]:
        """Run a statement as the owner of the server."""
        chosen = database or ("ledgers" if "ROLE" not in query else "postgres")
        conninfo = f"host={self.folder} port={self.port} user=postgres dbname={chosen}"
        with psycopg.connect(conninfo, autocommit=True) as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def location(self, schema: str | None = None, port: int | None = None, *, with_password: bool = True) -> str:
        """The address of a new, empty schema, or of the one of that name."""
        if schema is None:
            schema = f"ledger{next(self._schemas)}"
            self.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {USER}")
        user = f"{USER}:{PASSWORD.replace(' ', '%20')}" if with_password else USER
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/ledgers?options=-csearch_path%3D{schema}"

    def address(self, key_file: Path, patience: float = PATIENCE) -> LedgerAddress:
        """Of a ledger that does not exist yet."""
        return LedgerAddress(self.location(), key_file, patience)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _answers(self) -> bool:
        try:
            return bool(self.execute("SELECT 1", database="postgres"))
        except psycopg.OperationalError:
            return False

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(PATIENCE)

    def _run(self, *words: str) -> None:
        ended = subprocess.run(self._command(*words), check=False, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr

    def _command(self, *words: str | Path) -> list[str]:
        """A command of the server, as a user who is not root, that ends with this process."""
        program, *arguments = map(str, words)
        dies = ["setpriv", "--pdeathsig", "QUIT"]
        if os.getuid() == 0:
            user = self.folder.owner()
            dies += [f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
        return [*dies, str(self._programs / program), *arguments]


@contextmanager
def running_server() -> Iterator[Server]:
    """A server until the block ends; the test is skipped where none is installed."""
    programs = find_programs()
    if programs is None or not shutil.which("setpriv"):
        pytest.skip("no PostgreSQL server is installed")
    with tempfile.TemporaryDirectory(prefix="importer-pg-") as name:
        folder = Path(name)
        if os.getuid() == 0:
            known = {user.pw_name for user in pwd.getpwall()}
            shutil.chown(folder, next(user for user in _USERS if user in known))
        server = Server(programs, folder)
        try:
            yield server
        finally:
            server.stop()
