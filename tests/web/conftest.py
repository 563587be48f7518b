"""A server of pages over a results folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from importer.web.server import RunningServer, running
from tests.cli.conftest import front_door, serve
from tests.web.client import Client, Shown

__all__ = ["front_door", "serve"]


@dataclass(frozen=True)
class Pages:
    """A server, a client that is connected to it, and the page that it opened."""

    server: RunningServer
    client: Client
    first: Shown
    out: Path


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Pages]]:
    """Call it to start a server; with settings, and with what `running` takes."""
    with ExitStack() as stack:

        def start(settings: dict[str, str] | None = None, **options: object) -> Pages:
            for name in [name for name in os.environ if name.startswith("IMPORTER_")]:
                monkeypatch.delenv(name)
            monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
            for name, value in (settings or {}).items():
                monkeypatch.setenv(name, value)
            monkeypatch.chdir(tmp_path)
            out = tmp_path / "results"
            given: dict[str, object] = {"port": 0, "on_used": lambda address: None, **options}
            server = stack.enter_context(running(out, **given))  # type: ignore[arg-type]
            client = Client(int(server.access.hosts[0].partition(":")[2]))
            return Pages(server, client, client.open(server.address), out)

        yield start
