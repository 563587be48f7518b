"""A loopback server that answers each connection with a script of bytes, pauses and resets, as no polite one does."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Script = Callable[[socket.socket], None]


@dataclass
class Scripted:
    """The address of the server, the raw requests that it read, and how many connections were made."""

    base_url: str
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextlib.contextmanager
def scripted(*scripts: Script, port: int = 0) -> Iterator[Scripted]:
    """Serve one script a connection, the last one again and again."""
    listener = socket.create_server(("127.0.0.1", port))
    server = Scripted(f"http://127.0.0.1:{listener.getsockname()[1]}")
    open_now: list[socket.socket] = []

    def talk(number: int, peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            while True:
                request = read_request(peer)
                if not request:
                    return
                server.requests.append(request)
                scripts[min(number, len(scripts) - 1)](peer)

    def listen() -> None:
        number = 0
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            open_now.append(peer)
            thread = threading.Thread(target=talk, args=(number, peer), daemon=True)
            thread.start()
            threads.append(thread)
            number += 1
            server.connections = number

    threads = [threading.Thread(target=listen, daemon=True)]
    threads[0].start()
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for peer in open_now:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(5)


def read_request(peer: socket.socket) -> bytes:
    """One request with its body, or b"" where the client has gone."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = peer.recv(65536)
        if not piece:
            return b""
        head += piece
    head, _, body = head.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += peer.recv(65536)
    return head + b"\r\n\r\n" + body


def answer(status: str, body: bytes = b"", *headers: str) -> Script:
    """A whole answer with a Content-Length."""
    lines = "".join(f"{line}\r\n" for line in headers)
    whole = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body
    return lambda peer: peer.sendall(whole)


def send_and_close(raw: bytes) -> Script:
    def script(peer: socket.socket) -> None:
        peer.sendall(raw)
        peer.shutdown(socket.SHUT_RDWR)

    return script


def reset(peer: socket.socket) -> None:
    """A true RST, as from a service that died."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def drip(raw: bytes, every: float, gone: threading.Event) -> Script:
    """One byte at a time, until the test is over."""

    def script(peer: socket.socket) -> None:
        for byte in raw:
            peer.sendall(bytes([byte]))
            if gone.wait(every):
                return

    return script
