"""A browser without a screen: it keeps cookies, follows redirects, and sends the forms that it was shown."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit

from tests.patience import PATIENCE


@dataclass
class ShownForm:
    """A form of a page: where it is sent to, and its fields with their values."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Shown(HTMLParser):
    """A page: its status and headers, its texts, links and forms."""

    def __init__(self, status: int, headers: http.client.HTTPMessage, html: str, address: str) -> None:
        super().__init__()
        self.status, self.headers, self.html, self.address = status, headers, html, address
        self.texts: list[str] = []
        self.forms: list[ShownForm] = []
        self.links: list[str] = []
        self._select = ""
        self.feed(html)

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(ShownForm(found.get("hx-post") or found.get("hx-get") or found["action"]))
        elif tag == "a":
            self.links.append(found.get("href", ""))
        elif tag == "input" and self.forms and "name" in found:
            if found.get("type") not in ("radio", "checkbox") or "checked" in found:
                self.forms[-1].fields[found["name"]] = found.get("value", "")
        elif tag == "select":
            self._select = found["name"]
        elif tag == "option" and self._select and "selected" in found:
            self.forms[-1].fields[self._select] = found.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(" ".join(data.split()))

    def form(self, ending: str) -> ShownForm:
        """The form that is sent to an address with this ending."""
        return next(form for form in self.forms if form.action.endswith(ending))


@dataclass
class Client:
    """Requests to a server of pages. cookie: of its session, "" for none."""

    port: int
    cookie: str = ""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def open(self, address: str) -> Shown:
        """Open the address that the server printed, and the page that it leads to."""
        shown = self.get(address.partition(self.host)[2])
        self.cookie = shown.headers["Set-Cookie"].partition(";")[0]
        return self.get(shown.links[-1])

    def get(self, path: str, **headers: str) -> Shown:
        """A page. That of a file that is still being read is loaded again until the file is read."""
        deadline = time.monotonic() + PATIENCE
        while True:
            shown = self.request("GET", path, headers=headers)
            if not (path.endswith("/file") and "data-events=" in shown.html):
                return shown
            assert time.monotonic() < deadline, "the file was not read"
            time.sleep(0.05)

    def send(self, form: ShownForm, **changed: str) -> Shown:
        """Send a form that was shown, with other values, and follow where it leads."""
        shown = self.post(form.action, {**form.fields, **changed})
        return self.get(shown.headers["Location"]) if shown.status == 303 else shown

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Shown:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self.host}"}
        return self.request("POST", path, urlencode(fields).encode(), {**kind, **headers})

    def upload(self, form: ShownForm, name: str, content: bytes) -> Shown:
        """Send a form with a file, and follow where it leads."""
        parts = [
            f'--edge\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in form.fields.items()
            if key != "upload"
        ]
        parts.append(f'--edge\r\nContent-Disposition: form-data; name="upload"; filename="{name}"\r\n\r\n')
        body = "".join(parts).encode() + content + b"\r\n--edge--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=edge", "Origin": f"http://{self.host}"}
        shown = self.request("POST", form.action, body, kind)
        return self.get(shown.headers["Location"]) if shown.status == 303 else shown

    @contextmanager
    def cut_off(self, form: ShownForm) -> Iterator[None]:
        """A connection on which the first part of a form with a file has been sent; it is closed then."""
        token = f'--edge\r\nContent-Disposition: form-data; name="token"\r\n\r\n{form.fields["token"]}\r\n'
        file = '--edge\r\nContent-Disposition: form-data; name="upload"; filename="people.csv"\r\n\r\nE-mail,Name\n'
        head = (
            f"POST {form.action} HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.cookie}\r\n"
            f"Origin: http://{self.host}\r\nContent-Type: multipart/form-data; boundary=edge\r\n"
            "Content-Length: 1000000\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(f"{head}{token}{file}{'ada@example.com,Ada' * 1_000}".encode())
            yield

    def connected(self, path: str) -> http.client.HTTPConnection:
        """A connection on which an answer that does not end has begun."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path, headers={"Host": self.host, "Cookie": self.cookie})
        connection.getresponse().read(1)
        return connection

    def request(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Shown:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            own = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {})}
            connection.request(method, path, body or None, {**own, **(headers or {})})
            answer = connection.getresponse()
            return Shown(answer.status, answer.headers, answer.read().decode(), urlsplit(path).path)
        finally:
            connection.close()
