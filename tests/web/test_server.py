"""The command `importer web`: its start, and what is left when it is killed or stopped."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from importer.web.pages import _environment
from tests.cli.conftest import FrontDoor, Served, candidate, write_csv
from tests.patience import PATIENCE, wait_until
from tests.web.client import Client, Shown

Serve = Callable[..., Served]


def connected(process: subprocess.Popen[str]) -> tuple[Client, Shown]:
    """A client of a server that has just been started, and the page that its address opens."""
    assert process.stderr is not None
    address = next(line.strip() for line in process.stderr if "/open?token=" in line)
    client = Client(int(address.split(":")[2].split("/")[0]))
    return client, client.open(address)


def sent_to_check(client: Client, shown: Shown) -> Shown:
    """The step Check of a new import, with every row checked."""
    shown = client.send(shown.form("/file/use"))
    client.send(shown.form("/target"), kind="job", target="4f2c9a")
    shown = client.get(shown.address.replace("/target", "/match"))
    for form in [form for form in shown.forms if form.fields.get("do") == "accept"]:
        client.send(form)
    client.send(shown.form("/match/use"))
    address = shown.address.replace("/match", "/check")
    wait_until(lambda: "Prepare to send" in client.get(address).text)
    return client.get(address)


@pytest.mark.net
def test_killed_while_sending(serve: Serve) -> None:
    """After a kill of the server, the next start says so and continues; each candidate is sent once."""
    served = serve()
    file = write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(40)])
    with served.door.started("web", str(file), "--no-open", "--port", free_port()) as process:
        client, shown = connected(process)
        send = client.get(sent_to_check(client, shown).address.replace("/check", "/send"))
        with served.held_after(15):
            client.send(send.form("/send"))
            served.wait_for(15)
            process.kill()
            process.wait()
    with served.door.started("web", "--no-open", "--port", free_port()) as process:
        client, shown = connected(process)
        assert "A run was killed before it finished" in shown.text
        shown = client.get(send.address)
        assert "Completed rows are not sent again." in shown.text
        client.send(shown.form("/continue"))
        wait_until(lambda: "Show its result" in client.get(send.address).text)
        assert "40 of 40 candidates are in" in client.get(send.address.replace("/send", "/result")).text
    assert sorted(served.accepted) == sorted({f"person{number}@example.com" for number in range(40)})


@pytest.mark.net
def test_ctrl_c_while_sending(serve: Serve) -> None:
    """Ctrl-C finishes what is pending and writes the report, as for the command; then the server ends."""
    served = serve()
    file = write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(40)])
    with served.door.started("web", str(file), "--no-open", "--port", free_port()) as process:
        client, shown = connected(process)
        send = client.get(sent_to_check(client, shown).address.replace("/check", "/send"))
        with served.held_after(15) as go_on:
            client.send(send.form("/send"))
            served.wait_for(15)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert any("Stopping: waiting for pending requests" in line for line in process.stderr)
            go_on()
            assert process.wait(PATIENCE) == 0
    ran = served("show", "--json")
    assert ran.summary["exit_code"] == 130
    assert ran.counts["created"] == len(served.accepted) < 40


def test_the_browser_is_opened_without_showing_the_address_to_others(front_door: FrontDoor) -> None:
    """The address with its token is no argument of the browser, which other users could see, but in a private page."""
    browser = front_door.folder / "browser.py"
    browser.write_text(
        "import sys, pathlib, urllib.request as r\n"
        "page = pathlib.Path(r.url2pathname(sys.argv[1].removeprefix('file://')))\n"
        "pathlib.Path('opened').write_text(f'{sys.argv[1]} {page.stat().st_mode & 0o777:o} {page.read_text()}')\n"
    )
    settings = {"DISPLAY": ":0", "BROWSER": f"{sys.executable} {browser} %s"}
    with front_door.started("web", "--port", free_port(), **settings) as process:
        opened = front_door.folder / "opened"
        wait_until(lambda: opened.exists() and opened.read_text())
        argument, mode, page = opened.read_text().split(" ", 2)
        connected(process)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    assert argument.startswith("file://")
    assert mode == "600"
    assert "/open?token=" in page
    assert not list((front_door.folder / "results").glob("open-*"))


@pytest.mark.net
def test_a_half_upload_of_a_killed_server_is_removed(front_door: FrontDoor) -> None:
    """By the next purge, however young, and by the next run; that of a server that is running is kept."""
    out = front_door.folder / "results"
    for command in (("purge", "--older-than", "0d", "--yes"), ("run", "people.csv", "-m", "mapping.yaml", "--sandbox")):
        write_csv(front_door.folder / "people.csv", [candidate(1)])
        with front_door.started("web", "--no-open", "--port", free_port()) as process:
            client, first = connected(process)
            with client.cut_off(first.form("/upload")):
                wait_until(lambda: any(out.glob(".importer/*/")))
                assert front_door(*command).code == 0
                (half,) = out.glob(".importer/*/")
                process.kill()
                process.wait(PATIENCE)
        assert half.exists()
        assert front_door(*command).code == 0
        assert not half.exists()


def test_a_port_that_is_in_use(front_door: FrontDoor) -> None:
    """A port that was asked for and is in use is an error of the command."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ran = front_door("web", "--no-open", "--port", str(other.getsockname()[1]))
    assert ran.code == 2
    assert "choose another one with --port" in ran.err


def test_without_the_extra(front_door: FrontDoor) -> None:
    """Without the packages of the extra, the command says how to install them; all others work."""
    hide = "import sys; sys.modules['fastapi'] = None; from importer.cli.app import main; main({})"
    ran = subprocess.run(
        [sys.executable, "-c", hide.format(["web"])], cwd=front_door.folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "pip install 'candidate-importer[web]'" in ran.stderr
    helped = subprocess.run([sys.executable, "-c", hide.format(["--help"])], capture_output=True, text=True, check=True)
    assert "Do all this in a browser on this machine." in helped.stdout


def test_other_commands_load_nothing_of_it(front_door: FrontDoor) -> None:
    """The command line starts as fast as without the extra: nothing of it is imported."""
    listing = "import sys; from importer.cli.app import main\ntry: main(['runs'])\nfinally: print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", listing], cwd=front_door.folder, capture_output=True, text=True, check=True
    )
    assert not {"fastapi", "starlette", "uvicorn", "python_multipart"} & set(ran.stdout.split())


def free_port() -> str:
    """A port that nothing uses now: other tests run servers at the usual one."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_it_answers_on_this_machine_only(front_door: FrontDoor) -> None:
    """The server listens at the loopback address, and nowhere else."""
    port = free_port()
    with front_door.started("web", "--no-open", "--port", port) as process:
        connected(process)
        listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        found = [cells[1] for cells in listening if cells[3] == "0A" and int(cells[1].split(":")[1], 16) == int(port)]
    assert found == [f"0100007F:{int(port):04X}"]


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("or add it under missing: in /tmp/x/m.yaml:31", "or add it to the words that mean blank, in Match"),
        ("or set default: for all blank cells in /d/p.yaml:38:2", "or set a value for blank cells in Match"),
        ("or list it under particles: of names: in the mapping", "or add it to the words of the last name in Match"),
        ("list them under yes: [...] or no: [...]", "choose yes or no below"),
        ("to leave them out, add where: under source:", "to leave them out, choose the rows in Match"),
        ("or send it unchanged with --resend-rejected", "or send it again unchanged, in Result"),
        ("add 'TL' to currency: in m.yaml:5", "add 'TL' to the currencies in Match"),
        ("set default: for all blank cells in my results/m x.yaml:12", "set a value for blank cells in Match"),
        ("add the word under yes: or no: in the mapping file;", "say in Match what the word means;"),
        ("set names: {surname: capitals} in the mapping", "choose in Match which words are the last name"),
        ("set header_row: 3 under source: in the mapping", "choose it in the step File"),
    ],
)
def test_a_remedy_for_the_mapping_file_is_said_as_a_click(hint: str, shown: str) -> None:
    """A person at the page writes no YAML."""
    template = _environment().from_string("{{ hint | by_clicks }}")
    assert unescape(template.render(hint=hint, mapping_path="/d/p.yaml")) == shown
