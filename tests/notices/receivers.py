"""Local receivers: a web server for webhooks and pings, and a mail server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_string, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Web:
    """A web server. status: of each response. paths, bodies: of the requests so far."""

    port: int = 0
    status: int = 200
    paths: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Subject and text of the notices."""
        return [(body["title"], body["message"]) for body in self.bodies]


@contextmanager
def web_server() -> Iterator[Web]:
    found = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.paths.append(self.path)
            self._respond()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if found.status == 200:
                found.bodies.append(json.loads(body))
            self._respond()

        def _respond(self) -> None:
            self.send_response(found.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def mail_server() -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Its port, and the subject and text of each mail so far."""
    listener, mails = socket.create_server(("127.0.0.1", 0)), list[tuple[str, str]]()

    def talk(peer: socket.socket) -> None:
        with peer, peer.makefile("rw", newline="\r\n") as stream:

            def say(line: str) -> None:
                stream.write(f"{line}\n")
                stream.flush()

            say("220 mail.example.com")
            while line := stream.readline():
                if line[:4].upper() != "DATA":
                    say("221 bye" if line[:4].upper() == "QUIT" else "250 ok")
                    continue
                say("354 go on")
                text = ""
                while (part := stream.readline()) not in (".\n", ".\r\n"):
                    text += part
                message = message_from_string(text.replace("\r\n", "\n"), policy=policy.default)
                body = message.get_body(("plain",))
                mails.append((str(message["Subject"]), body.get_content() if body else ""))
                say("250 ok")

    def listen() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(peer,), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield listener.getsockname()[1], mails
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
