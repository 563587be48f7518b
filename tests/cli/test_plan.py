"""Before rows are sent, a person sees how many will be, and how many not and why."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Served, candidate, write_csv

Serve = Callable[..., Served]

RUN = ("run", "people.csv", "--mapping", "mapping.yaml")
READ = 'CSV, UTF-8, delimiter ",", header found in row 1, 7 columns\n'


def _people(folder: Path, count: int, *more: list[str]) -> Path:
    return write_csv(folder / "people.csv", [*(candidate(number) for number in range(count)), *more])


def test_the_plan_is_printed(serve: Serve) -> None:
    """Rows that are held back and those of earlier runs are not counted as rows to send; nothing is asked."""
    served = serve()
    _people(served.door.folder, 2)
    served(*RUN)
    _people(served.door.folder, 3, candidate(8, Phone="call me"), candidate(9, Salary="much"))
    ran = served(*RUN, "--rate", "2")
    assert ran.err == (
        f"{READ}Plan: 1 of 5 rows will be sent to job post 4f2c9a, 2 held back, 2 already\n  imported.\n"
    )


def test_quiet_prints_no_plan(serve: Serve) -> None:
    """With --quiet nothing is printed where all is well."""
    served = serve()
    _people(served.door.folder, 2)
    assert served(*RUN, "--quiet").err == ""


@pytest.mark.net
def test_the_plan_of_a_large_file(serve: Serve) -> None:
    """All its rows are checked before the first one is sent."""
    served = serve()
    _people(served.door.folder, 4_100)
    assert served(*RUN, "--limit", "2100", "--rate", "1000000").err == (
        f"{READ}Plan: 2,100 of 2,100 rows will be sent to job post 4f2c9a.\n"
    )


def test_a_person_is_asked_once(serve: Serve) -> None:
    """At a terminal the reasons of rows held back are shown, and one question is asked before anything is sent."""
    served = serve()
    _people(served.door.folder, 2, candidate(8, Phone="call me"))
    said, code = _at_terminal(served, "n\n", *RUN)
    assert code == 0
    assert said.replace("\r\n", "\n") == (
        f"{READ}Plan: 2 of 3 rows will be sent to job post 4f2c9a, 1 held back.\n"
        "Held back\n"
        "     1  Phone, row 4: 'call me' is not a valid phone number [phone-invalid]\n"
        "        -> write it as +90 ..., or in the usual form for TR\n"
        f"Send 2 rows to job post 4f2c9a at {served.sandbox.base_url}? [y/N]: "
        "Nothing was sent.\n"
    )
    assert served.accepted == []


def _at_terminal(served: Served, typed: str, *arguments: str) -> tuple[str, int]:
    """What a command shows at a terminal on which a person types, and its exit code."""
    own, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "importer", *arguments],
        cwd=served.door.folder,
        env={**served.door.environment, "COLUMNS": "80"},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    os.write(own, typed.encode())
    shown = b""
    while True:
        try:
            part = os.read(own, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(own)
    return shown.decode().removeprefix(typed.replace("\n", "\r\n")), process.wait()


def test_the_plan_of_a_check_after_a_run(serve: Serve) -> None:
    """Rows that were rejected and have not changed are held back, as in the next run; its exit code is that run's."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "operation": "apply"})
    _people(served.door.folder, 2)
    served(*RUN)
    _people(served.door.folder, 3)
    checked = served("check", *RUN[1:], "--json")
    assert checked.err == READ
    assert (checked.code, checked.counts) == (4, {"not_sent": 1, "rejected": 1, "already_imported": 1})
    ran = served(*RUN, "--json")
    assert "Plan: 1 of 3 rows will be sent to job post 4f2c9a, 1 held back, 1 already" in ran.err
    assert (ran.code, ran.counts) == (4, {"created": 1, "rejected": 1, "already_imported": 1})
