"""Files of an SFTP server: only of one whose host key is known, and no wait is endless."""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import fsspec  # type: ignore[import-untyped]  # it has no stubs
import paramiko

from importer.problems import StoppedEarly

_OF_ALL_USERS: Final = Path("/etc/ssh/ssh_known_hosts")
_LOGIN: Final = ("username", "password", "passphrase", "key_filename")
_LONGEST: Final = 60.0  # seconds without a byte from the server

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # what it logs is raised too; it would show tracebacks


class SftpFiles(fsspec.AbstractFileSystem):  # type: ignore[misc]  # it has no stubs
    """The files of the server of an address, on a connection of its own: close it. All methods raise OSError, or
    StoppedEarly with the reason.

    The implementation of fsspec accepts any host key, waits without a limit, and keeps a connection that was lost.
    """

    protocol = "sftp"
    root_marker = "/"
    cachable = False

    def __init__(self, address: str, **configured: Any) -> None:
        """configured: for the protocol, in the configuration of fsspec, which adds it to each call."""
        super().__init__()
        found = urlsplit(address)
        host, port = found.hostname or "", found.port or 22
        login = {key: configured[key] for key in _LOGIN if key in configured}
        user = f"{found.username}@" if found.username else ""
        if found.username:
            login["username"] = found.username
        self._client = paramiko.SSHClient()
        self._client.load_system_host_keys()
        if _OF_ALL_USERS.is_file():
            self._client.load_system_host_keys(str(_OF_ALL_USERS))
        self._client.set_missing_host_key_policy(_Refusal(f"sftp -P {port} {user}{host}"))
        limits = dict.fromkeys(("timeout", "banner_timeout", "auth_timeout", "channel_timeout"), _LONGEST)
        try:
            with _in_words(self._client):
                self._client.connect(host, port, **login, **limits)
                self._sftp = self._client.open_sftp()
                self._sftp.get_channel().settimeout(_LONGEST)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """The entries of a folder; of a file, itself."""
        try:
            found = [self.info(path)]
            if found[0]["type"] == "directory":
                with _in_words(self._client):
                    found = [_info(f"{path.rstrip('/')}/{one.filename}", one) for one in self._sftp.listdir_attr(path)]
        except OSError as error:  # fsspec would find no file, and report nothing
            raise StoppedEarly(f"its folder {path} cannot be read: {error.strerror or 'unknown reason'}") from None
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name, type, size and time of a file or folder."""
        with _in_words(self._client):
            return _info(path, self._sftp.stat(path))

    def get_file(self, path: str, to: str, **_: Any) -> None:
        """Copy a file."""
        with _in_words(self._client):
            self._sftp.get(path, to)


def _info(path: str, found: Any) -> dict[str, Any]:
    kind = "directory" if stat.S_ISDIR(found.st_mode) else "file" if stat.S_ISREG(found.st_mode) else "other"
    return {"name": path, "type": kind, "size": found.st_size, "mtime": datetime.fromtimestamp(found.st_mtime, UTC)}


class _Refusal(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]  # it has no types
    """Refuses a server that known_hosts does not have: it would get the password."""

    def __init__(self, command: str) -> None:
        self._command = command

    def missing_host_key(self, client: object, name: str, key: Any) -> None:
        raise StoppedEarly(
            f"its host key is not in known_hosts (it shows {key.get_name()} {key.fingerprint}); compare it with what "
            f"its operator names, and confirm it once ({self._command})"
        )


@contextmanager
def _in_words(client: Any) -> Iterator[None]:
    """Errors of the library as reasons: their own texts may quote what the server sent."""
    lost = StoppedEarly("the connection was lost, or it does not speak SFTP")
    try:
        yield
    except paramiko.BadHostKeyException:
        raise StoppedEarly(
            "its host key is not the one in known_hosts: it was changed, or another computer answers in its place; ask "
            "its operator before you change known_hosts"
        ) from None
    except (paramiko.SSHException, EOFError, TimeoutError, ConnectionError):
        transport = client.get_transport()
        if transport is not None and transport.is_active() and not transport.is_authenticated():
            raise StoppedEarly(
                "it refuses the user, or there is no key or password that it accepts: put the key into the SSH agent "
                "or ~/.ssh, or the password into FSSPEC_SFTP_PASSWORD"
            ) from None
        raise lost from None
    except OSError as error:
        if error.strerror:
            raise
        raise lost from None
