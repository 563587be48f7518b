"""The commands with a ledger in PostgreSQL do what they do with a file."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from importer.ledger import ledger_name, open_ledger
from importer.settings import LedgerAddress
from tests.cli.conftest import FrontDoor, Served, candidate
from tests.cli.test_run import RUN, people
from tests.ledger.given import problems_of
from tests.patience import wait_until
from tests.postgres import PASSWORD, Server

pytestmark = pytest.mark.net

Serve = Callable[..., Served]


@pytest.fixture
def address(postgres: Server, tmp_path: Path) -> LedgerAddress:
    return postgres.address(tmp_path / "ledger.key")


@pytest.fixture
def serve_on_server(serve: Serve, address: LedgerAddress) -> Serve:
    """`serve`, with the ledger of the test on a server."""

    def start(*faults: dict[str, object]) -> Served:
        served = serve(*faults)
        settings = {"IMPORTER_LEDGER": address.location, "IMPORTER_LEDGER_KEY_FILE": str(address.key_file)}
        return Served(FrontDoor(served.door.folder, served.door.environment | settings), served.sandbox)

    return start


def test_a_file_is_imported_once_and_every_command_finds_it(serve_on_server: Serve, address: LedgerAddress) -> None:
    """Run, run again, status, runs, show, doctor and purge; no file has the password."""
    served = serve_on_server()
    folder = served.door.folder
    people(folder, 5, candidate(6, Salary="a lot"))
    first = served(*RUN, "--json")
    assert (first.code, first.counts) == (4, {"created": 5, "invalid": 1})
    again = served(*RUN, "--json")
    assert (again.counts, len(served.accepted)) == ({"already_imported": 5, "invalid": 1}, 5)
    assert "5 created" in served("status", "people.csv").out
    assert first.summary["run"] in served("runs").out
    assert served("show", first.summary["run"], "--row", "3").code == 0
    found = served("doctor")
    line = next(line for line in found.out.splitlines() if " ledger: " in line)
    assert (found.code, line) == (0, f"ok     ledger: {ledger_name(address)}")
    assert not [path for path in folder.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]
    assert "s3cret" not in first.err + again.err + found.out
    assert served("purge", "--older-than", "0d", "--yes").err == "2 runs removed.\n"
    assert served(*RUN, "--json").counts == {"already_imported": 5, "invalid": 1}
    assert not (folder / "results" / "ledger.sqlite").exists()


def test_a_file_without_a_row_to_send(serve_on_server: Serve) -> None:
    """Every row is held back, and a ledger that knows other rows is asked for none."""
    served = serve_on_server()
    people(served.door.folder, 1)
    assert served(*RUN, "--json").counts == {"created": 1}
    people(served.door.folder, 0, candidate(1, Salary="a lot"), candidate(2, Salary="more"))
    assert served(*RUN, "--json").counts == {"invalid": 2}
    assert len(served.accepted) == 1


def test_a_killed_run_goes_on_on_another_machine(serve_on_server: Serve, address: LedgerAddress) -> None:
    """With another results folder: what was in flight is unconfirmed, sent again, and entered once."""
    served = serve_on_server()
    people(served.door.folder, 30)
    served.killed_after(10, *RUN)
    other = served(*RUN, "--out", "elsewhere", "--json")
    assert other.code == 0
    assert sorted(served.accepted) == sorted({f"person{number}@example.com" for number in range(30)})
    assert other.summary["outcomes"]["already_imported"] >= 1
    with open_ledger(address) as ledger:
        assert problems_of(ledger) == []


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_run_survives_a_restart_of_its_server(serve_on_server: Serve, postgres: Server, how: str) -> None:
    """Rows wait until the server is back, which is shown; each is entered once and reported as created."""
    served = serve_on_server()
    results = served.door.folder / "results"
    people(served.door.folder, 60)
    with served.held_after(20) as go_on, served.door.started(*RUN, "--json") as process:
        served.wait_for(20)
        getattr(postgres, how)()
        go_on()
        wait_until(lambda: any('"paused"' in log.read_text() for log in results.glob("2*/log.jsonl")))
        postgres.start()
        out, err = process.communicate()
    assert process.returncode == 0, err + out + next(results.glob("2*/log.jsonl")).read_text()[-3000:]
    shown = [line for line in err.splitlines() if line.startswith(("Waiting", "Sending continues"))]
    assert ("the server of the ledger does not respond" in shown[0], shown[-1]) == (True, "Sending continues.")
    assert '"created": 60' in out
    assert len(served.accepted) == 60


def test_a_second_run_of_a_target_names_the_first(serve_on_server: Serve) -> None:
    """Whatever its results folder, a run of the same target ends with 75 while another one is running."""
    served = serve_on_server()
    people(served.door.folder, 20)
    with served.held_after(5) as go_on, served.door.started(*RUN) as process:
        served.wait_for(5)
        second = served(*RUN, "--out", "elsewhere")
        go_on()
        process.communicate()
    assert second.code == 75
    assert re.search(rf"process {process.pid} on \S+, started ", second.err)
    assert process.returncode == 0


def test_an_unreachable_server_stops_before_anything_is_sent(serve: Serve, tmp_path: Path) -> None:
    """The message has the reason and no password."""
    served = serve()
    people(served.door.folder, 2)
    settings = {"IMPORTER_LEDGER_KEY_FILE": str(tmp_path / "key")}
    settings["IMPORTER_LEDGER"] = f"postgresql://me:{PASSWORD.replace(' ', '%20')}@127.0.0.1:1/ledger"
    ran = served(*RUN, **settings)
    assert (ran.code, served.accepted) == (3, [])
    assert "\npostgresql://me@127.0.0.1:1/ledger: the server cannot be used (" in ran.err
    assert "s3cret" not in ran.err
    assert "ERROR  ledger: postgresql://me@127.0.0.1:1/ledger" in served("doctor", **settings).out


@contextmanager
def refusing(message: str) -> Iterator[int]:
    """The port of a server that refuses every session with these words."""
    error = f"SFATAL\0VFATAL\0C57P03\0M{message}\0\0".encode()

    class Refusal(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while self.request.recv(4096)[4:8] in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):
                self.request.sendall(b"N")  # no TLS, no GSSAPI
            self.request.sendall(b"E" + (len(error) + 4).to_bytes(4, "big") + error)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusal) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("the database system is starting up", 5),
        ("the database system is not yet accepting connections", 5),
        ("sorry, too many clients already", 5),
        ('password authentication failed for user "me"', 3),
    ],
)
def test_a_server_that_is_starting_is_waited_for(serve: Serve, tmp_path: Path, message: str, code: int) -> None:
    """It passes, as its silence does; a refused password does not, and is reported at once."""
    served = serve()
    people(served.door.folder, 2)
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    with refusing(message) as port:
        settings = {"IMPORTER_LEDGER": f"postgresql://me@127.0.0.1:{port}/ledger", "IMPORTER_LEDGER_KEY_FILE": str(key)}
        ran = served(*RUN, **settings, IMPORTER_GIVE_UP_MINUTES="0.01")
    assert (ran.code, served.accepted) == (code, []), ran.err
    assert (message in ran.err, "Waiting" in ran.err) == (True, code == 5)


def test_a_server_that_stays_away_in_mid_run(serve_on_server: Serve, postgres: Server) -> None:
    """The run ends with 5 and a report, never with 3 and "nothing was sent"; the same command finishes the rest."""
    served = serve_on_server()
    people(served.door.folder, 300)
    with (
        served.held_after(20) as go_on,
        served.door.started(*RUN, "--json", IMPORTER_GIVE_UP_MINUTES="0.05") as process,
    ):
        served.wait_for(20)
        postgres.kill()
        go_on()
        out, err = process.communicate()
    summary = json.loads(out)
    assert (process.returncode, summary["stopped"]["code"]) == (5, "not-writable"), err
    assert (sum(summary["outcomes"].values()), summary["outcomes"]["created"]) == (300, len(served.accepted))
    assert "nothing was sent" not in err
    postgres.start()
    assert served(*RUN, "--json").code == 0
    assert len(served.accepted) == 300


def test_a_server_that_is_away_when_a_run_begins(serve_on_server: Serve, postgres: Server) -> None:
    """A ledger that exists is waited for, as the service is; given up, the run ends with 5 and has sent nothing."""
    served = serve_on_server()
    people(served.door.folder, 3)
    assert served(*RUN, "--limit", "1", "--json").code == 0
    postgres.stop()
    with served.door.started(*RUN, "--json") as process:
        assert process.stderr is not None
        assert "the server of the ledger does not respond" in process.stderr.readline()
        postgres.start()
        out, err = process.communicate()
    assert (process.returncode, len(served.accepted)) == (0, 3), err + out
    postgres.stop()
    ran = served(*RUN, IMPORTER_GIVE_UP_MINUTES="0.01")
    assert ran.code == 5
    assert "so nothing is sent" in ran.err
    assert "run the same command again when the server is back" in ran.err
    postgres.start()
