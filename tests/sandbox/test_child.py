"""The sandbox as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from importer.sandbox import SandboxUnusable, start
from importer.sandbox.process import TOKEN_VARIABLE
from tests.patience import PATIENCE, wait_until
from tests.sandbox.wire import APPLY, QUESTIONS, Client, application

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals of another system")

# A parent that starts a sandbox, prints its address, and waits to be killed.
PARENT = """
import sys, time
from importer.sandbox import start
with start() as sandbox:
    print(sandbox.base_url, flush=True)
    time.sleep(600)
"""


def listens(base_url: str) -> bool:
    where = urlsplit(base_url)
    connection = HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_sandbox/health")
        return connection.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        connection.close()


def test_a_child_serves_until_the_block_ends(tmp_path: Path) -> None:
    """A started sandbox uses its files, serves with its own token, and ends with the block."""
    log, memory = tmp_path / "log.jsonl", tmp_path / "memory.jsonl"
    with start(log=log, memory=memory, pool_duplicate_status=400) as child:
        client = Client(child.base_url, {"Authorization": f"Bearer {child.token}"})
        assert client.post(APPLY, application()).status == 201
        assert [client.post("/api/v1/talent-pools/17/add-candidate/", body).status for body in [ELIF]] == [400]
    assert not listens(child.base_url)
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("POST", APPLY, 201),
        ("POST", "/api/v1/talent-pools/17/add-candidate/", 400),
    ]
    assert "example.com" not in log.read_text("utf-8")
    assert memory.read_text("utf-8").count("\n") == 1


ELIF = {"email": "elif.sahin@example.com", "first_name": "Elif", "last_name": "Şahin", "cv": "1"}


def test_stopping_twice_is_harmless() -> None:
    """A stopped sandbox can be stopped again."""
    child = start()
    child.stop()
    child.stop()
    assert not listens(child.base_url)


def test_a_child_whose_parent_is_killed_ends_by_itself() -> None:
    """A killed parent leaves no orphan: the sandbox ends when its standard input does."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent, parent.stdout:
        base_url = parent.stdout.readline().decode().strip()
        assert listens(base_url)
        parent.kill()
    wait_until(lambda: not listens(base_url))


@posix_only
def test_a_ctrl_c_of_the_parent_does_not_reach_the_child() -> None:
    """The parent still has requests in flight after Ctrl-C, so its sandbox has its own session."""
    with start() as child:
        assert os.getsid(child.pid) != os.getsid(0)


@posix_only
def test_the_token_is_not_in_the_process_list() -> None:
    """The token goes through the environment, not the command line."""
    with start() as child:
        listed = subprocess.run(
            ["ps", "-ww", "-o", "args=", "-p", str(child.pid)], capture_output=True, text=True, check=True
        ).stdout
    assert "serve_child" in listed
    assert child.token not in listed


def test_a_child_that_cannot_start_reports_why(tmp_path: Path) -> None:
    """Every problem line of the child reaches the parent."""
    one, other = tmp_path / "questions.json", tmp_path / "faults.json"
    with pytest.raises(SandboxUnusable) as caught:
        start(questions=one, faults=other)
    assert caught.value.problems == (
        f"{one}: the file cannot be read: No such file or directory; check the path",
        f"{other}: the file cannot be read: No such file or directory; check the path",
    )


BROKEN = {
    "a traceback": (
        "raise ModuleNotFoundError('No module named pydantic')",
        "1: ModuleNotFoundError: No module named pydantic",
    ),
    "nothing": ("import os; os._exit(9)", "9"),
    "other output": ("print('hello'); import sys; sys.exit(7)", "7"),
}


@pytest.mark.parametrize(("program", "shown"), BROKEN.values(), ids=BROKEN.keys())
def test_a_child_that_fails_to_start_is_one_clear_error(program: str, shown: str) -> None:
    """Its traceback and other output are not shown: one line says what is wrong and what to do."""
    with pytest.raises(SandboxUnusable) as caught:
        start(command=(sys.executable, "-c", program))
    assert caught.value.problems == (
        f"the sandbox did not start: its process ended with exit code {shown}; "
        "run `importer sandbox` to see the full error; if a module is missing, install candidate-importer again",
    )


def test_a_child_that_does_not_listen_times_out() -> None:
    """A child that never listens is ended after the wait, with an error that says so."""
    silent = (sys.executable, "-c", "import time; time.sleep(600)")
    with pytest.raises(SandboxUnusable) as caught:
        start(command=silent, wait=0.3)
    assert caught.value.problems == (
        "the sandbox did not start: its process took too long and was ended; "
        "run `importer sandbox` to see the full error; if a module is missing, install candidate-importer again",
    )


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_exit_code_0(number: signal.Signals) -> None:
    """SIGINT and SIGTERM end `importer sandbox` with exit code 0, also while clients are connected."""
    process = subprocess.Popen(
        [sys.executable, "-m", "importer", "sandbox", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, TOKEN_VARIABLE: "t"},
    )
    assert process.stdout is not None
    with process:
        line = process.stdout.readline().decode()
        assert line.startswith("sandbox listening on http://127.0.0.1:")
        base_url = line.removeprefix("sandbox listening on ").strip()
        connection = HTTPConnection(base_url.removeprefix("http://"), timeout=PATIENCE)
        connection.request("GET", QUESTIONS, headers={"Authorization": "Bearer t"})
        assert connection.getresponse().read().startswith(b'{"success": "OK"')
        process.send_signal(number)
        _, complaints = process.communicate(timeout=PATIENCE)
        connection.close()
    assert (process.returncode, complaints) == (0, b"")
