"""A proxy on loopback that cuts, holds or refuses connections: the network between us and a server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Moment = Literal["before", "after"]


class TcpProxy:
    """Forwards connections to a port of this machine.

    cut_at: words that a client sends, and whether its connection is cut before they are forwarded or right after, so
    that their answer is lost; each counts once. is_open: whether new connections are forwarded, or closed at once.
    held: what is sent while it is set waits.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut_at: list[tuple[bytes, Moment]] = []
        self.cuts = 0
        self.is_open = True
        self._passing = threading.Event()
        self._passing.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_all(self) -> None:
        """Cut all connections: neither side gets what is on its way."""
        for pair in self._pairs:
            _cut(*pair)

    def hold(self) -> None:
        """Forward nothing until `release`."""
        self._passing.clear()

    def release(self) -> None:
        self._passing.set()

    def close(self) -> None:
        self.is_open = False
        self._listener.close()
        self.release()
        self.cut_all()
        for end in (end for pair in self._pairs for end in pair):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._target)) if self.is_open else None
                except OSError:
                    server = None
                if server is None:
                    client.close()
                    continue
                self._pairs.append((client, server))
                for source, goal in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=(source, goal, source is client), daemon=True).start()

    def _forward(self, source: socket.socket, goal: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                self._passing.wait()
                cut = next((one for one in self.cut_at if is_request and one[0] in piece), None)
                if cut is not None:
                    self.cut_at.remove(cut)
                    self.cuts += 1
                    if cut[1] == "after":
                        # The client gets no answer any more; the server gets everything, then the end.
                        _cut(source)
                        goal.sendall(piece)
                        goal.shutdown(socket.SHUT_WR)
                        return
                    break
                goal.sendall(piece)
        _cut(source, goal)


def _cut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy_to(port: int) -> Iterator[TcpProxy]:
    """A proxy to a port, until the block ends."""
    proxy = TcpProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
