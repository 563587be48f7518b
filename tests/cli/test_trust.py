"""Nothing of the folder that a command is typed in is trusted: neither its modules nor its settings."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import MAPPING, FrontDoor, Served, candidate, read_csv, write_csv
from tests.patience import PATIENCE
from tests.samples.sample import ROOT

PLANTED = ("secrets", "csv", "json", "tempfile", "pandas", "pycurl", "runpy", "typing", "__future__")


@pytest.mark.net
def test_modules_beside_the_file_are_not_run(front_door: FrontDoor) -> None:
    """Neither by the command nor by a process that it starts: for a workbook, a sandbox, the report of a long run."""
    for name in PLANTED:
        code = f"from pathlib import Path; Path({str(front_door.folder / 'was-run')!r}).write_text({name!r})\n"
        (front_door.folder / f"{name}.py").write_text(code, "utf-8")
    write_csv(front_door.folder / "people.csv", [candidate(number) for number in range(2_100)])
    mapping = ("--mapping", "mapping.yaml", "--sandbox")
    for arguments in (
        ("run", "people.csv", *mapping),
        ("template", "4f2c9a", "--sandbox"),
        ("inspect", "template-4f2c9a.xlsx"),
    ):
        with front_door.started(*arguments, IMPORTER_TOKEN="t") as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
    assert not (front_door.folder / "was-run").exists()


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    """A token of the person in the environment, and an address in the folder's .env."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    (served.door.folder / ".env").write_text(f"IMPORTER_BASE_URL={served.sandbox.base_url}\n", "utf-8")
    environment = {**served.door.environment, "IMPORTER_BASE_URL": ""}
    return Served(FrontDoor(served.door.folder, environment), served.sandbox)


QUESTIONS = ("questions", "4f2c9a")
SENDING = [
    ("run", "people.csv", "--mapping", "mapping.yaml"),
    ("run", "people.csv", "--mapping", "mapping.yaml", "--yes"),
    ("check", "people.csv", "--mapping", "mapping.yaml"),
    QUESTIONS,
    ("mapping", "new", "people.csv", "--job-post", "4f2c9a"),
    ("mapping", "check", "mapping.yaml"),
    ("template", "4f2c9a"),
    ("doctor",),
]


@pytest.mark.parametrize("arguments", SENDING, ids=" ".join)
def test_an_address_of_the_folder_does_not_get_the_token(served: Served, arguments: tuple[str, ...]) -> None:
    """No command sends anything before the user has confirmed the address."""
    ran = served(*arguments)
    assert ran.code == 3
    assert "importer doctor --trust" in ran.out + ran.err
    assert served.sandbox.requests == []


def test_both_solutions_are_named(served: Served) -> None:
    """The message says what would have happened and names two solutions, which both work."""
    address = served.sandbox.base_url
    assert served(*QUESTIONS).err == (
        "importer: 1 problem found; nothing was sent.\n\n"
        f".env in this folder would send your token to {address}, which you have not confirmed yet"
        " [setting-not-confirmed]\n"
        "  -> if this is correct, confirm it once with: importer doctor --trust; "
        "or set IMPORTER_BASE_URL in the environment\n"
    )
    assert served(*QUESTIONS, IMPORTER_BASE_URL=address).code == 0
    assert served(*QUESTIONS).code == 3
    kept = served.door.folder / "none" / "importer" / "trusted.json"
    doctor = served("doctor", "--trust")
    assert f"ok     trust: in this folder, your token may now be sent to {address} (saved in {kept})\n" in doctor.out
    assert (doctor.code, stat.S_IMODE(kept.stat().st_mode)) == (0, 0o600)
    assert served(*QUESTIONS).code == 0
    assert "ok     trust: nothing to confirm\n" in served("doctor", "--trust").out


def test_a_change_after_the_confirmation_must_be_confirmed_again(served: Served) -> None:
    """Another address, another token file, another folder: none of them was confirmed."""
    folder, address = served.door.folder, served.sandbox.base_url
    secrets = [private(folder / name / "token", "t0ken") for name in ("mine", "other")]
    (folder / "work").mkdir()
    door = FrontDoor(folder / "work", {**served.door.environment, "IMPORTER_TOKEN": ""})
    link, settings = folder / "work" / "token", folder / "work" / "importer.toml"
    link.symlink_to(secrets[0])
    settings.write_text(f"base_url = '{address}'\ntoken_file = 'token'\n")
    assert door("doctor", "--trust").code == 0
    assert door(*QUESTIONS).code == 0
    link.unlink()
    link.symlink_to(secrets[1])
    assert (
        f"would send the token in {secrets[1]} to {address}, which you have not confirmed yet" in door(*QUESTIONS).err
    )
    settings.write_text(f"base_url = '{address}/other'\ntoken_file = '{secrets[0]}'\n")
    assert (
        f"importer.toml in this folder would send the token in {secrets[0]} to {address}/other, "
        in door(*QUESTIONS).err
    )
    settings.write_text(f"base_url = '{address}'\ntoken_file = '{secrets[0]}'\n")
    assert door(*QUESTIONS).code == 0
    assert served(*QUESTIONS, IMPORTER_TOKEN="", IMPORTER_TOKEN_FILE=str(secrets[0])).code == 3


def test_a_folder_with_its_own_token_needs_no_confirming(served: Served) -> None:
    """A token in .env or in a file of the folder may be sent to the folder's address."""
    settings = served.door.folder / ".env"
    private(settings, settings.read_text() + "IMPORTER_TOKEN=t0ken\n")
    assert served(*QUESTIONS, IMPORTER_TOKEN="").code == 0
    private(served.door.folder / "kept" / "token", "t0ken")
    own = settings.read_text()
    private(settings, own.replace("TOKEN=t0ken", "TOKEN_FILE=kept/token"))
    assert served(*QUESTIONS, IMPORTER_TOKEN="").code == 0
    private(settings, own + "IMPORTER_TOKEN_FILE=/never/used\n")
    assert served(*QUESTIONS, IMPORTER_TOKEN="").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives links only to administrators")
@pytest.mark.parametrize("kind", ["hard link", "symbolic link"])
@pytest.mark.parametrize("holder", ["token_file", "importer.toml"])
def test_a_link_to_a_token_of_the_user_is_not_a_token_of_the_folder(served: Served, kind: str, holder: str) -> None:
    """Who prepares a folder can link to a file that only the user can read: its token goes to no address of .env."""
    work = served.door.folder / "work"
    work.mkdir()
    (served.door.folder / ".env").rename(work / ".env")
    door = FrontDoor(work, {**served.door.environment, "IMPORTER_TOKEN": ""})
    own = private(served.door.folder / "own", "t0ken" if holder == "token_file" else "token = 't0ken'\n")
    link = work / holder
    if holder == "token_file":
        private(work / ".env", (work / ".env").read_text() + "IMPORTER_TOKEN_FILE=token_file\n")
    if kind == "hard link":
        link.hardlink_to(own)
        shown = f"{link} (a hard link of file {own.stat().st_ino})"
    else:
        link.symlink_to(own)
        shown = str(own)
    ran = door(*QUESTIONS)
    assert ran.code == 3
    assert (
        f".env in this folder would send the token in {shown} to {served.sandbox.base_url}, which you have not "
        "confirmed yet [setting-not-confirmed]\n"
    ) in ran.err
    assert served.sandbox.requests == []
    assert door("doctor", "--trust").code == 0
    assert door(*QUESTIONS).code == 0


OUTSIDE = """\
IMPORTER_BASE_URL={address}
IMPORTER_LEDGER=postgresql://importer:pa55@127.0.0.1:9/people?sslmode=disable&password=pa55
IMPORTER_LEDGER_KEY_FILE=../kept/ledger.key
IMPORTER_OUT=../kept
IMPORTER_METRICS_FOLDER=/srv/metrics
IMPORTER_PING_URL=https://hc.example.com/ping/s3cret
IMPORTER_NOTIFY_FILE=notify
IMPORTER_PROXY=http://importer:pa55@proxy.example.com:8080
IMPORTER_CA_FILE=ca.pem
"""


def test_what_a_folder_sends_or_writes_elsewhere_is_confirmed(served: Served) -> None:
    """Everything that .env names outside the folder is refused at once, without its secrets, until it is confirmed."""
    work = served.door.folder / "imports"
    work.mkdir()
    address, folder = served.sandbox.base_url, served.door.folder.resolve()
    door = FrontDoor(work, {**served.door.environment, "IMPORTER_GIVE_UP_MINUTES": "0.001"})
    private(work / ".env", OUTSIDE.format(address=address))
    values = {
        "LEDGER": "postgresql://127.0.0.1:9/people?sslmode=disable&password=...",
        "LEDGER_KEY_FILE": f"{folder}/kept/ledger.key",
        "OUT": f"{folder}/kept",
        "METRICS_FOLDER": "/srv/metrics",
        "PING_URL": "https://hc.example.com",
        "NOTIFY_FILE": f"{folder}/imports/notify",
        "PROXY": "http://proxy.example.com:8080",
        "CA_FILE": f"{folder}/imports/ca.pem",
    }
    refusals = [
        f".env in this folder sets IMPORTER_{name} to {value}, which you have not confirmed yet"
        " [setting-not-confirmed]\n"
        f"  -> if this is correct, confirm it once with: importer doctor --trust; or set IMPORTER_{name} in the "
        "environment\n"
        for name, value in values.items()
    ]
    assert door(*QUESTIONS).err == "\n".join(["importer: 8 problems found; nothing was sent.\n", *refusals])
    unconfirmed = door("doctor")
    assert unconfirmed.code == 3
    assert unconfirmed.out.count("ERROR  settings: .env in this folder sets IMPORTER_") == 8
    own = {"IMPORTER_METRICS_FOLDER": "metrics"}  # of the environment: what the folder sets is not confirmed with it
    confirmed = door("doctor", "--trust", "--json", **own)
    kept = served.door.folder / "none" / "importer" / "trusted.json"
    assert [found["result"] for found in json.loads(confirmed.out) if found["check"] == "trust"] == [
        f"in this folder, {permission} (saved in {kept})"
        for permission in (
            f"your token may now be sent to {address}",
            *(f"IMPORTER_{name} may be {value}" for name, value in values.items() if name != "METRICS_FOLDER"),
        )
    ]
    assert "pa55" not in kept.read_text() + confirmed.out
    assert "s3cret" not in kept.read_text() + confirmed.out
    assert door(*QUESTIONS).err.startswith("importer: 1 problem found; nothing was sent.\n\n.env in this folder sets ")
    assert door(*QUESTIONS, **own).code == 0
    private(work / ".env", OUTSIDE.format(address=address).replace("ping/s3cret", "ping/other"))
    assert door(*QUESTIONS, **own).code == 3


def test_what_stays_in_the_folder_needs_no_confirmation(served: Served) -> None:
    """Files in the folder itself, and what the environment sets, are used at once."""
    (served.door.folder / ".env").write_text(
        "IMPORTER_OUT=kept\nIMPORTER_LEDGER=sqlite:///kept/l.sqlite\nIMPORTER_LEDGER_KEY_FILE=kept/key\n"
        "IMPORTER_METRICS_FOLDER=metrics\nIMPORTER_NOTIFY_FILE=notify\n"
    )
    known = {"IMPORTER_BASE_URL": served.sandbox.base_url, "IMPORTER_NOTIFY_FILE": "/etc/notify"}
    assert served(*QUESTIONS, **known).code == 0


def test_the_password_of_the_user_goes_to_no_database_of_the_folder(served: Served) -> None:
    """PGPASSWORD is sent to the server of a ledger in .env only after the user has confirmed that server."""
    pytest.importorskip("psycopg")
    heard: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                peer, _ = listener.accept()
                with peer:
                    peer.recv(1 << 16)  # the start of a session
                    peer.sendall(b"R\0\0\0\x08\0\0\0\x03")  # the password is wanted in clear
                    heard.append(peer.recv(1 << 16))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        location = f"postgresql://importer@127.0.0.1:{listener.getsockname()[1]}/people?sslmode=disable"
        (served.door.folder / ".env").write_text(f"IMPORTER_LEDGER={location}\nIMPORTER_LEDGER_KEY_FILE=key\n")
        environment = {
            "IMPORTER_BASE_URL": served.sandbox.base_url,
            "IMPORTER_GIVE_UP_MINUTES": "0.001",
            "PGPASSWORD": "pa55",
        }
        assert served("status", "people.csv", **environment).code == 3
        assert served("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox", **environment).code == 3
        assert served("doctor", **environment).code == 3
        assert heard == []
        served("doctor", "--trust", **environment)
        assert heard[0] == b"p\0\0\0\x09pa55\0"


def test_the_settings_of_the_user_are_the_persons_own(served: Served) -> None:
    """An address in the user's file needs no confirming, and a token there goes to no address of a folder."""
    (served.door.folder / ".env").rename(served.door.folder / "importer.toml")
    (served.door.folder / "importer.toml").write_text(f"base_url = '{served.sandbox.base_url}'\n")
    own = served.door.folder / "none" / "importer" / "config.toml"
    private(own, "token = 't0ken'\n")
    assert served(*QUESTIONS, IMPORTER_TOKEN="").code == 3
    private(own, f"token = 't0ken'\nbase_url = '{served.sandbox.base_url}'\n")
    (served.door.folder / "importer.toml").unlink()
    assert served(*QUESTIONS, IMPORTER_TOKEN="").code == 0


def test_what_cannot_be_kept_is_not_confirmed(served: Served) -> None:
    """Where the user has no folder of settings that can be written, the other way out is named."""
    (served.door.folder / "none").write_text("a file where the folder would be")
    doctor = served("doctor", "--trust")
    assert doctor.code == 3
    assert "ERROR  trust: your confirmation cannot be saved: Not a directory\n" in doctor.out
    assert "         -> set IMPORTER_BASE_URL in the environment instead\n" in doctor.out
    assert served.sandbox.requests == []


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made as POSIX does")
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3)])
def test_a_person_at_a_terminal_is_asked_once(served: Served, answer: str, code: int) -> None:
    """Who agrees is not asked again; who does not has sent nothing."""
    import pty

    near, far = pty.openpty()
    command = [sys.executable, "-m", "importer", *QUESTIONS]
    with subprocess.Popen(
        command, cwd=served.door.folder, env=served.door.environment, stdin=far, stdout=subprocess.DEVNULL, stderr=far
    ) as process:
        os.write(near, f"{answer}\n".encode())
        os.close(far)
        output = b""
        with suppress(OSError):  # Linux: the other side is closed
            while piece := os.read(near, 4096):
                output += piece
    os.close(near)
    assert process.returncode == code
    assert (
        f".env in {served.door.folder} would send your token to {served.sandbox.base_url}. "
        "Is this the address of your recruiting service? (You are only asked once.) [y/N]:"
    ) in " ".join(output.decode().split())  # the first line is broken at 80 columns
    assert served(*QUESTIONS).code == code
    assert bool(served.sandbox.requests) == (code == 0)


def private(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    return path


def test_no_text_of_others_turns_a_line_around(serve: Callable[..., Served]) -> None:
    """U+202E in a file's name, its header or a cell is an escape in every message, and in the report as it was."""
    served = serve()
    write_csv(served.door.folder / "ab\u202e.csv", [candidate(1, Salary="1\u202e000", Phone="x\u2066y")])
    ran = served("run", "ab\u202e.csv", "--mapping", "mapping.yaml")
    assert ran.code == 4
    inspected = served("inspect", "ab\u202e.csv")
    assert not {"\u202e", "\u2066"} & set(ran.out + ran.err + inspected.out + inspected.err)
    assert r"'x\u2066y'" in ran.out
    [invalid] = (served.door.folder / "results").glob("*/invalid.csv")
    assert read_csv(invalid)[0]["Salary"] == "1\u202e000"
    assert r"'x\u2066y'" in read_csv(invalid)[0]["import_problem"]


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are read in the format of Linux")
def test_a_crash_leaves_no_memory_on_the_disk(front_door: FrontDoor) -> None:
    """No core dump is written, which would hold the token."""
    with front_door.started("sandbox", "--port", "0", "--token", "t0ken") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("sandbox listening")
        limits = Path(f"/proc/{process.pid}/limits").read_text()
    [line] = [line for line in limits.splitlines() if line.startswith("Max core file size")]
    assert line.split()[4] == "0"


@pytest.mark.skipif(sys.platform == "win32", reason="the steps of the README are those of a POSIX shell")
def test_the_steps_of_the_readme_lead_to_an_import(served: Served) -> None:
    """Word by word, up to the line of the crontab, in the bare environment that a scheduler gives."""
    readme = (ROOT / "README.md").read_text("utf-8")
    home, work = served.door.folder / "home", served.door.folder / "home" / "work"
    work.mkdir(parents=True)
    environment = {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}

    def shell(command: str) -> None:
        subprocess.run(["sh", "-c", f"umask 022; {command}"], cwd=work, env=environment, check=True, timeout=PATIENCE)

    step = readme.partition("**4. ")[2]
    settings, confirm = re.findall(r"```\n(.*?)```", step, re.DOTALL)[:2]
    [private_token] = re.findall(r"`(chmod 600 [^`]+)`", step.partition("```")[0])
    (home / "recruiting-token").write_text("t0ken\n", "utf-8")
    shell(private_token)
    settings = settings.replace("https://recruiting.example.com", served.sandbox.base_url)
    (work / ".env").write_text(settings.replace("/home/you", str(home)), "utf-8")
    shell(confirm.splitlines()[0])
    [nightly] = re.findall(r"^15 2 \* \* \* +cd /srv/import && \.venv/bin/(.*)$", readme, re.MULTILINE)
    (work / "export").mkdir()
    (work / "mappings").mkdir()
    write_csv(work / "export" / "new.csv", [candidate(1)])
    (work / "mappings" / "nightly.yaml").write_text(MAPPING, "utf-8")
    shell(nightly)
    assert served.accepted == ["person1@example.com"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_doctor_warns_of_a_secret_that_cannot_be_made_private(serve: Callable[..., Served]) -> None:
    """A container's secret has mode 0444 and another owner: it is used, with a note."""
    served = serve()
    secret = private(served.door.folder / "secret", "t0ken")
    secret.chmod(0o444)
    os.chown(secret, 12345, 12345)
    doctor = served("doctor", IMPORTER_TOKEN_FILE=str(secret), IMPORTER_TOKEN="")
    assert doctor.code == 0
    assert (
        f"note   token file: other users can read {secret} (mode 0444), and this cannot be changed from here\n"
        "         -> make sure that no one else uses this computer or container\n"
    ) in doctor.out
