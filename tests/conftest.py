"""Settings of every test: property tests use the same examples each time, so that a failure is due to the change.

For other examples: HYPOTHESIS_PROFILE=random make test
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgres import Server

# Neither limits what an example takes: a busy machine would fail.
unhurried: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **unhurried)
settings.register_profile("random", **unhurried)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Compiled files are kept: without them each worker rewrites every assertion, and each process compiles every module.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Files of tests lie in memory where it has room for them: they are synced ten thousands of times, 5 ms each on a disk.
if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = "/dev/shm"

# Workers of pytest-xdist have the width of the terminal; lines are broken at 80 columns only where a test asks for it.
os.environ.pop("COLUMNS", None)

# A shell starts `make test &` with Ctrl-C ignored, and every process that a test interrupts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)  # the tests also run without xdist
def pytest_xdist_auto_num_workers() -> int:
    """Of `-n auto`: a third of the time a test waits, for a service or another process."""
    return (os.cpu_count() or 2) * 3 // 2


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this test process; where none is installed, the test is skipped."""
    from tests.postgres import running_server  # most test processes need none

    with running_server() as server:
        yield server
