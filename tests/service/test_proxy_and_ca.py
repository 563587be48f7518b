"""A service behind a proxy, with a certificate of an organization's own CA: over both libraries, on the wire."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from importer.models import Operation, Target
from importer.problems import StoppedEarly, UnusableInput
from importer.service import Limits, NoReply, RecruitingService
from importer.service.client import TransportChoice
from importer.service.question_list import RetryPolicy
from importer.service.transport import RawReply
from tests.service.scripted import read_request
from tests.service.test_traps import opened, post

HOST = "recruiting.example.com"  # known to the proxy only
URL = f"https://{HOST}"
UNTRUSTED = NoReply("the TLS handshake failed or the certificate is not valid", may_have_arrived=False)
NO_PROXY = NoReply(
    "the proxy (IMPORTER_PROXY) cannot be reached, or refused to connect to the service", may_have_arrived=False
)
PASSWORD = "p%40ss"


@dataclass
class Organization:
    """Its CA, the certificate of its service (for `HOST` and this machine) with the key, and what the service heard."""

    ca: Path
    certificate: Path
    port: int = 0
    heard: list[bytes] = field(default_factory=list)


def certificates(folder: Path, days: int = 2) -> Organization:
    """A CA, and what it issued."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make certificates with")
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST},IP:127.0.0.1\n")
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for command in (
        f"req -x509 {key} -days 2 -subj /O=Example/CN=Example.Staffing.CA -keyout ca.key -out ca.pem",
        f"req {key} -subj /CN=service -keyout service.key -out service.csr",
        "x509 -req -in service.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out service.pem "
        f"-days {days}",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return Organization(folder / "ca.pem", folder / "service.pem")


@contextmanager
def serving(found: Organization) -> Iterator[None]:
    """Answers 201 to each request, over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(found.certificate, found.certificate.with_suffix(".key"))

    def talk(peer: socket.socket) -> None:
        with contextlib.suppress(OSError), context.wrap_socket(peer, server_side=True) as tls:
            while request := read_request(tls):
                found.heard.append(request)
                tls.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")

    with listening(talk) as found.port:
        yield


@contextmanager
def listening(talk: object) -> Iterator[int]:
    """The port of a server that talks to each peer on a thread of its own."""

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=talk, args=(peer,), daemon=True).start()  # type: ignore[arg-type]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]


@dataclass
class Proxy:
    """Connects to the service, whatever its name. answer: to each CONNECT."""

    port: int
    answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n"
    asked: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://importer:{PASSWORD}@127.0.0.1:{self.port}"


@contextmanager
def proxy_before(service: Organization) -> Iterator[Proxy]:
    """A proxy that knows CONNECT."""

    def talk(peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer:
            proxy.asked.append(read_request(peer))
            peer.sendall(proxy.answer)
            if proxy.answer.startswith(b"HTTP/1.1 200") and service.port:
                with socket.create_connection(("127.0.0.1", service.port)) as behind:
                    back = threading.Thread(target=pump, args=(behind, peer), daemon=True)
                    back.start()
                    pump(peer, behind)

    with listening(talk) as port:
        proxy = Proxy(port)
        yield proxy


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def organization(tmp_path: Path) -> Iterator[Organization]:
    found = certificates(tmp_path)
    with serving(found):
        yield found


def test_the_certificates_of_a_file_are_trusted(transport: TransportChoice, organization: Organization) -> None:
    """IMPORTER_CA_FILE lets a service with the organization's own CA be used; without it nothing is sent."""
    url = f"https://127.0.0.1:{organization.port}"
    with opened(transport) as opener:
        assert opener.send(post(url)) == UNTRUSTED
    assert organization.heard == []
    with opened(transport, Limits(ca_file=organization.ca)) as opener:
        assert opener.send(post(url)) == RawReply(201, {}, b"{}", True)


def test_the_certificates_of_the_system_are_trusted(
    transport: TransportChoice, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the IT department has installed on the machine needs no setting."""
    monkeypatch.setenv("SSL_CERT_FILE", str(organization.ca))
    with opened(transport) as opener:
        assert opener.send(post(f"https://127.0.0.1:{organization.port}")) == RawReply(201, {}, b"{}", True)


def test_an_untrusted_certificate_is_explained(transport: TransportChoice, organization: Organization) -> None:
    """The message names who issued the certificate, and the setting; it does not doubt the address."""
    service = RecruitingService(f"https://127.0.0.1:{organization.port}", "t", transport=transport)
    with contextlib.closing(service), pytest.raises(StoppedEarly) as stopped:
        service.questions("4f2c9a", RetryPolicy(sleep=lambda seconds: None))
    assert str(stopped.value) == (
        f"the service at https://127.0.0.1:{organization.port} cannot be reached: its certificate is not valid: "
        "unable to get local issuer certificate (issued by 'Example.Staffing.CA'); nothing was sent; if that is the CA "
        "of your organization, set IMPORTER_CA_FILE to a file with its certificate, then run the same command again"
    )
    assert organization.heard == []


def test_a_trusted_certificate_that_is_not_valid_is_explained(transport: TransportChoice, tmp_path: Path) -> None:
    """One that has expired is not a question of the CA."""
    found = certificates(tmp_path, days=-1)
    limits = Limits(ca_file=found.ca)
    with serving(found):
        service = RecruitingService(f"https://127.0.0.1:{found.port}", "t", limits=limits, transport=transport)
        with contextlib.closing(service), pytest.raises(StoppedEarly) as stopped:
            service.questions("4f2c9a", RetryPolicy(sleep=lambda seconds: None))
    assert (
        "its certificate is not valid: certificate has expired; nothing was sent; "
        "ask the administrator of the service to renew it, or check IMPORTER_BASE_URL, then run"
    ) in str(stopped.value)


def test_an_untrusted_certificate_is_explained_where_rows_are_sent(
    transport: TransportChoice, organization: Organization
) -> None:
    """A talent pool has no question list that would say it first."""
    service = RecruitingService(f"https://127.0.0.1:{organization.port}", "t", transport=transport)
    with contextlib.closing(service):
        found = service.send(Target(Operation.ADD_TO_POOL, "17"), b"{}")
    assert isinstance(found, NoReply)
    assert (found.may_have_arrived, "issued by 'Example.Staffing.CA'" in found.reason) == (False, True)
    assert found.hint.startswith("if that is the CA of your organization, set IMPORTER_CA_FILE")


def test_a_file_without_certificates_is_reported(transport: TransportChoice, organization: Organization) -> None:
    """A missing file and one that is not PEM are problems of the setting, not of the network."""
    folder = organization.ca.parent
    (folder / "empty.pem").write_text("")
    for name, reason in (("none.pem", "No such file or directory"), ("empty.pem", "it has none")):
        limits = Limits(ca_file=folder / name)
        service = RecruitingService(f"https://127.0.0.1:{organization.port}", "t", limits=limits, transport=transport)
        with contextlib.closing(service), pytest.raises(UnusableInput) as refused:
            service.questions("4f2c9a", RetryPolicy(sleep=lambda seconds: None))
        assert str(refused.value) == (
            f"IMPORTER_CA_FILE: the certificates in {folder / name} cannot be read: {reason}; set it to a file with "
            "the certificate of your organization's CA, in PEM format"
        )


def test_requests_go_through_the_proxy(transport: TransportChoice, organization: Organization) -> None:
    """The proxy finds the host, gets its own password and not the token, and carries several requests."""
    with proxy_before(organization) as proxy:
        limits = Limits(ca_file=organization.ca, proxy=proxy.url)
        asked = post(URL)._replace(headers={"Authorization": "Bearer t0ken"})
        with opened(transport, limits) as opener:
            assert [opener.send(asked) for _ in range(3)] == [RawReply(201, {}, b"{}", True)] * 3
    [connect] = proxy.asked
    assert connect.startswith(f"CONNECT {HOST}:443 HTTP/1.".encode())
    assert b"\r\nProxy-Authorization: Basic aW1wb3J0ZXI6cEBzcw==\r\n" in connect  # importer:p@ss
    assert b"t0ken" not in connect
    assert len(organization.heard) == 3
    assert all(b"Bearer t0ken" in request and b"Proxy-" not in request for request in organization.heard)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", id="no access"),
        pytest.param(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\n{}", id="the service is away"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_proxy_that_refuses_has_sent_nothing(
    transport: TransportChoice, organization: Organization, answer: bytes
) -> None:
    """Its answer is never that of the service, and the row is known as not sent."""
    with proxy_before(organization) as proxy:
        proxy.answer = answer
        with opened(transport, Limits(proxy=proxy.url)) as opener:
            assert opener.send(post(URL)) == NO_PROXY
    with opened(transport, Limits(proxy=f"http://127.0.0.1:{proxy.port}")) as opener:
        assert opener.send(post(URL)) == NO_PROXY


def test_a_proxy_that_closes_the_tunnel_has_sent_nothing(transport: TransportChoice, tmp_path: Path) -> None:
    """A tunnel that ends before the service has proven its identity carried no request."""
    with proxy_before(Organization(tmp_path, tmp_path)) as proxy, opened(transport, Limits(proxy=proxy.url)) as opener:
        found = opener.send(post(URL))
    assert isinstance(found, NoReply)
    assert not found.may_have_arrived


def test_a_certificate_behind_a_proxy_is_explained(transport: TransportChoice, organization: Organization) -> None:
    """The certificate is looked at through the proxy too, since there may be no other way."""
    with proxy_before(organization) as proxy:
        service = RecruitingService(URL, "t0ken", limits=Limits(proxy=proxy.url), transport=transport)
        with contextlib.closing(service), pytest.raises(StoppedEarly, match=r"issued by 'Example\.Staffing\.CA'"):
            service.questions("4f2c9a", RetryPolicy(sleep=lambda seconds: None))
        assert not any(b"t0ken" in connect for connect in proxy.asked)
