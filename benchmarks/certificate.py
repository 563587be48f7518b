"""A self-signed certificate from openssl, and how clients trust it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_MAKE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sink"
    " -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
)
# requests gets trusted certificates from the package certifi, and ignores the environment where trust_env is off. So a
# client of a benchmark finds another certifi first.
_CERTIFI = '''\
"""Trusts only the sink."""


def where():
    return {ca!r}


def contents():
    with open(where()) as file:
        return file.read()
'''


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-made certificate and its key. `trust` is a folder for PYTHONPATH whose certifi trusts it."""

    certificate: Path
    key: Path
    trust: Path


def make_certificate(folder: Path) -> Certificate | None:
    """A new certificate, or None if there is no openssl on this machine."""
    if shutil.which("openssl") is None:
        return None
    certificate, key, trust = folder / "sink.pem", folder / "sink.key", folder / "trust"
    command = [*_MAKE.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    trust.mkdir()
    (trust / "certifi.py").write_text(_CERTIFI.format(ca=str(certificate)), encoding="utf-8")
    return Certificate(certificate, key, trust)
