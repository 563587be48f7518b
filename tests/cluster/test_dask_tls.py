"""A cluster on other machines: certificates on both sides, made with the commands of docs/cluster.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.app.test_import_file import order_for
from tests.cli.conftest import Served
from tests.cluster.dask_processes import DaskProcesses, dask_cluster
from tests.cluster.test_local_workers import people
from tests.patience import PATIENCE
from tests.postgres import Server

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl on this machine")
Serve = Callable[..., Served]
PAGE = Path(__file__).parent.parent.parent / "docs" / "cluster.md"


def make_certificates(folder: Path) -> None:
    """The commands of the page, in a folder."""
    folder.mkdir()
    (commands,) = re.findall(r"```\n *(openssl req -x509 .*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    subprocess.run(["sh", "-ec", commands], cwd=folder, check=True, capture_output=True)


def of_client(folder: Path) -> dict[str, str]:
    """The variables of the page for the machine that runs the import."""
    files = {"CA_FILE": "ca.pem", "CLIENT__CERT": "cert.pem", "CLIENT__KEY": "key.pem"}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(folder / file) for name, file in files.items()}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    make_certificates(tmp_path / "tls")
    return tmp_path / "tls"


@pytest.fixture
def encrypted(serve: Serve, postgres: Server, tmp_path: Path, made: Path) -> Iterator[tuple[Served, DaskProcesses]]:
    """A service whose run knows its ledger, and a cluster for it."""
    served = serve()
    address = postgres.address(tmp_path / "ledger.key")
    settings = {"IMPORTER_LEDGER": address.location, "IMPORTER_LEDGER_KEY_FILE": str(address.key_file)}
    served.door.environment.update(settings)
    names = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    options = [word for name, file in names.items() for word in (name, str(made / file))]
    (tmp_path / "cluster").mkdir()
    environment = {**os.environ, **served.door.environment}
    with dask_cluster(tmp_path / "cluster", environment, 1, protocol="tls", options=options) as dask:
        yield served, dask


def run(served: Served, address: str, environment: dict[str, str]) -> tuple[int, str]:
    """The exit code of a run in a process of its own, and what it says of problems."""
    file = order_for(served, 20).file
    command = ("run", str(file), "--mapping", "mapping.yaml", "--yes", "--quiet", "--cluster", address)
    with served.door.started(*command, **environment) as process:
        _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def test_rows_are_sent_by_workers_that_have_certificates(encrypted: tuple[Served, DaskProcesses], made: Path) -> None:
    """Made as the page says, and named in Dask's own configuration."""
    served, dask = encrypted
    assert run(served, dask.address, of_client(made)) == (0, "")
    assert sorted(served.accepted) == people(20)


def test_without_the_right_certificates_nothing_is_sent(
    encrypted: tuple[Served, DaskProcesses], made: Path, tmp_path: Path
) -> None:
    """Not set, not there, or of another CA: each is a problem that says what to do; so is tcp:// where tls:// is."""
    served, dask = encrypted
    code, said = run(served, dask.address, {})
    assert (
        code,
        "not set: DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT" in said,
    ) == (
        3,
        True,
    )
    missing = {**of_client(made), "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(made / "nothing.pem")}
    code, said = run(served, dask.address, missing)
    assert (code, "No such file or directory" in said, str(made / "nothing.pem") in said) == (3, True, True)
    make_certificates(tmp_path / "other")
    for address, environment in (
        (dask.address, of_client(tmp_path / "other")),
        (dask.address.replace("tls", "tcp"), {}),
    ):
        code, said = run(served, address, environment)
        assert (code, f"{address}: no Dask scheduler responds at this address" in said) == (3, True)
    assert served.accepted == []
