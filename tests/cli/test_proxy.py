"""A run through the proxy of an organization, to a service with a certificate of its own CA."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.cli.conftest import Served, candidate, write_csv
from tests.service.test_proxy_and_ca import URL, certificates, listening, proxy_before


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)


def test_a_run_goes_through_the_proxy_and_names_it(serve: Callable[..., Served], tmp_path: Path) -> None:
    """Run and doctor show the proxy without its password, which is nowhere; HTTPS_PROXY has no effect."""
    served = serve()
    folder = tmp_path / "certificates"
    folder.mkdir()
    organization = certificates(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(organization.certificate, organization.certificate.with_suffix(".key"))
    port = int(served.sandbox.base_url.rpartition(":")[2])

    def talk(peer: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(peer, server_side=True) as tls,
            socket.create_connection(("127.0.0.1", port)) as sandbox,
        ):
            threading.Thread(target=_carry, args=(sandbox, tls), daemon=True).start()
            _carry(tls, sandbox)

    write_csv(served.door.folder / "people.csv", [candidate(1)])
    with listening(talk) as organization.port, proxy_before(organization) as proxy:
        environment = {
            "IMPORTER_BASE_URL": URL,
            "IMPORTER_CA_FILE": str(organization.ca),
            "IMPORTER_PROXY": proxy.url,
            "HTTPS_PROXY": "http://127.0.0.1:9",
        }
        ran = served("run", "people.csv", "--mapping", "mapping.yaml", **environment)
        doctor = served("doctor", **environment)
    shown = f"http://127.0.0.1:{proxy.port}"
    assert ran.code == 0, ran.err
    assert served.accepted == ["person1@example.com"]
    assert f"Requests go through the proxy {shown} (IMPORTER_PROXY).\n" in ran.err
    assert f"ok     proxy: {shown}\n" in doctor.out
    assert "ok     token: accepted by the service\n" in doctor.out
    kept = b"".join(file.read_bytes() for file in (served.door.folder / "results").rglob("*") if file.is_file())
    for text in (ran.out.encode(), ran.err.encode(), doctor.out.encode(), kept):
        assert b"p%40ss" not in text
        assert b"p@ss" not in text


def test_a_sandbox_is_reached_without_the_proxy(serve: Callable[..., Served]) -> None:
    """A proxy is not asked for this machine, and then not named."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox", IMPORTER_PROXY="http://127.0.0.1:9")
    assert ran.code == 0, ran.err
    assert "proxy" not in ran.out + ran.err
