"""Files of an SFTP server are fetched only from the one whose host key is known, and its refusals are in words.

They run where candidate-importer[remote] is installed.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from importer.problems import StoppedEarly

paramiko = pytest.importorskip("paramiko")

from importer.inbox.sftp import SftpFiles  # noqa: E402 - it needs paramiko


class _Door(paramiko.ServerInterface):  # type: ignore[misc, name-defined]
    """Accepts the user ada with a password, and notes each attempt."""

    def __init__(self, attempts: list[str]) -> None:
        self._attempts = attempts

    def check_auth_password(self, user: str, password: str) -> int:
        self._attempts.append(user)
        is_right = (user, password) == ("ada", "s3cret")
        return int(paramiko.AUTH_SUCCESSFUL if is_right else paramiko.AUTH_FAILED)

    def check_channel_request(self, kind: str, number: int) -> int:
        return int(paramiko.OPEN_SUCCEEDED)


class _Files(paramiko.SFTPServerInterface):  # type: ignore[misc, name-defined]
    """The files of the working folder."""

    def stat(self, path: str) -> Any:
        try:
            return paramiko.SFTPAttributes.from_stat(Path(f".{path}").stat())
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)

    def list_folder(self, path: str) -> Any:
        found = []
        for entry in os.scandir(f".{path}"):
            found.append(paramiko.SFTPAttributes.from_stat(entry.stat(), entry.name))
        return found

    def open(self, path: str, flags: int, attributes: Any) -> Any:
        handle = paramiko.SFTPHandle(flags)
        handle.readfile = Path(f".{path}").open("rb")  # noqa: SIM115 - the handle closes it
        handle.stat = lambda: self.stat(path)
        return handle


@pytest.fixture
def serve_sftp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str | None], tuple[str, list[str]]]]:
    """Call it with the host key that known_hosts has: "own", "other" or None. Returns an address, and who logged in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    keys = {"own": paramiko.ECDSAKey.generate(), "other": paramiko.ECDSAKey.generate()}
    attempts: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))
    sessions: list[Any] = []

    def answer() -> None:
        while True:
            try:
                session = paramiko.Transport(listening.accept()[0])
            except OSError:
                return
            sessions.append(session)
            session.add_server_key(keys["own"])
            session.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files)
            try:
                session.start_server(server=_Door(attempts))
            except (paramiko.SSHException, EOFError):
                session.close()

    def begin(known: str | None) -> tuple[str, list[str]]:
        port = listening.getsockname()[1]
        (tmp_path / ".ssh").mkdir()
        key = keys.get(known or "")
        line = f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n" if key else ""
        (tmp_path / ".ssh" / "known_hosts").write_text(line)
        thread.start()
        return f"sftp://ada@127.0.0.1:{port}/out/people*.csv", attempts

    thread = threading.Thread(target=answer, daemon=True)
    yield begin
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for session in sessions:
        session.close()
    thread.join()


@pytest.mark.parametrize(
    ("known", "password", "reason"),
    [
        pytest.param("own", "wrong", "it refuses the user, or there is no key or password that it accepts", id="login"),
        pytest.param("other", "s3cret", "its host key is not the one in known_hosts", id="another host key"),
        pytest.param(None, "s3cret", "its host key is not in known_hosts (it shows ecdsa-", id="an unknown host key"),
    ],
)
def test_a_server_that_cannot_be_trusted_gets_no_password(
    serve_sftp: Callable[[str | None], tuple[str, list[str]]], known: str | None, password: str, reason: str
) -> None:
    """The reason says what is wrong; only a server whose key is known has seen a login."""
    address, attempts = serve_sftp(known)
    with pytest.raises(StoppedEarly) as refused:
        SftpFiles(address, password=password)
    assert str(refused.value).startswith(reason)
    assert attempts == (["ada"] if known == "own" else [])


def test_files_are_found_and_copied(serve_sftp: Callable[[str | None], tuple[str, list[str]]]) -> None:
    """By their pattern, with size and time; a folder that is not there is an error, not an empty one."""
    address, _ = serve_sftp("own")
    Path("out").mkdir()
    Path("out/people1.csv").write_text("E-mail\n")
    Path("out/other.csv").touch()
    with closing(SftpFiles(address, password="s3cret")) as files:
        assert files.glob("/out/people*.csv") == ["/out/people1.csv"]
        info = files.info("/out/people1.csv")
        assert (info["type"], info["size"]) == ("file", 7)
        files.get_file("/out/people1.csv", "copy.csv")
        with pytest.raises(StoppedEarly, match="its folder /gone cannot be read: No such file"):
            files.glob("/gone/*.csv")
    assert Path("copy.csv").read_text() == "E-mail\n"
