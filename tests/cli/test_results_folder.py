"""The results folder is the person's own: private, refused where others could change it, cleaned by exact names."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from importer.files import internal_folder
from importer.runs.results_folder import make_private_folder
from tests.cli.conftest import FrontDoor, Served, candidate
from tests.cli.test_run import RUN, people
from tests.patience import PATIENCE, wait_until

Serve = Callable[..., Served]
STRANGER = 54321  # a user who does not exist on this computer
ID = "20250101-020000-abcd"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows is not checked")
superuser = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes_in(folder: Path) -> tuple[set[int], set[int]]:
    """The modes of a folder and all below it, and those of all files."""
    paths = [folder, *folder.rglob("*")]
    return tuple(
        {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir() is kind} for kind in (True, False)
    )


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_what_we_make_is_private_whatever_the_umask(serve: Serve, mask: int) -> None:
    """The results folder, those that had to be made above it, and all in it are for their owner only."""
    served = serve()
    people(served.door.folder, 3)
    with umask(mask):
        assert served(*RUN, "--out", "above/results", "--json").counts == {"created": 3}
        assert served(*RUN, "--out", "above/results", "--sandbox", "--json").counts == {"created": 3}
    assert modes_in(served.door.folder / "above") == ({0o700}, {0o600})


# --- refused ------------------------------------------------------------------------------------


def _of_a_stranger(results: Path) -> None:
    results.mkdir(mode=0o700)
    os.chown(results, STRANGER, -1)


def _for_everybody(results: Path) -> None:
    results.mkdir()
    results.chmod(0o777)


def _for_a_group(results: Path) -> None:
    results.mkdir()
    os.chown(results, -1, STRANGER)
    results.chmod(0o770)


def _behind_a_strangers_link(results: Path) -> None:
    (results.parent / "elsewhere").mkdir(mode=0o700)
    results.symlink_to("elsewhere")
    os.chown(results, STRANGER, -1, follow_symlinks=False)


def _through_a_strangers_link(results: Path) -> None:
    """An own link that leads over another's."""
    (results.parent / "elsewhere" / "deeper").mkdir(parents=True, mode=0o700)
    (results.parent / "theirs").symlink_to("elsewhere")
    os.chown(results.parent / "theirs", STRANGER, -1, follow_symlinks=False)
    results.symlink_to("./theirs/deeper")


def _with_a_linked_subfolder(results: Path) -> None:
    results.mkdir(mode=0o700)
    (results.parent / "elsewhere").mkdir(mode=0o700)
    (results / ".importer").symlink_to("../elsewhere")


REFUSED = {
    "of a stranger": (
        _of_a_stranger,
        "results: this folder belongs to the user 54321, who could change its contents [results-folder-untrusted]\n"
        "  -> choose your own folder with --out or IMPORTER_OUT; or set IMPORTER_OUT_SHARED: group for a team "
        "folder, any for a drive or volume without file owners\n",
    ),
    "for everybody": (
        _for_everybody,
        "results: everyone on this computer can write to this folder (mode 0777) [results-folder-untrusted]\n"
        "  -> run: chmod o-w results; on a drive or volume without file owners set IMPORTER_OUT_SHARED=any\n",
    ),
    "for a group": (
        _for_a_group,
        "results: the group 54321 can write to this folder (mode 0770) [results-folder-untrusted]\n"
        "  -> run: chmod g-w results; or set IMPORTER_OUT_SHARED=group if it is a team folder\n",
    ),
    "a stranger's link": (
        _behind_a_strangers_link,
        "{here}/results: this symbolic link belongs to the user 54321, who could change where it points"
        " [results-folder-untrusted]\n"
        "  -> use the folder that it points to: {here}/elsewhere\n",
    ),
    "a stranger's link on the way": (
        _through_a_strangers_link,
        "{here}/theirs: this symbolic link belongs to the user 54321, who could change where it points"
        " [results-folder-untrusted]\n"
        "  -> use the folder that it points to: {here}/elsewhere/deeper\n",
    ),
    "a link within": (
        _with_a_linked_subfolder,
        "results/.importer: this is a symbolic link, which is not allowed here"
        " [results-folder-untrusted]\n  -> replace it with the folder "
        "itself\n",
    ),
}


@superuser
@pytest.mark.parametrize(("make", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_a_folder_that_others_can_change_is_refused(serve: Serve, make: Callable[[Path], None], expected: str) -> None:
    """Before anything is read or written there, by every command that uses it; doctor reports the same."""
    served = serve()
    here = served.door.folder
    people(here, 1)
    make(here / "results")
    before = sorted(here.rglob("*"))
    expected = expected.format(here=here)
    for command in (RUN, ("check", *RUN[1:]), ("runs",), ("purge", "--older-than", "0d"), ("report", "last")):
        ran = served(*command)
        assert ran.code == 3, command
        assert ran.err.endswith(f"\n\n{expected}"), command
    doctor = served("doctor")
    place, _, hint = expected.partition(" [results-folder-untrusted]\n")
    assert f"ERROR  results folder: {place}\n       {hint}" in doctor.out
    assert (doctor.code, sorted(here.rglob("*"))) == (3, before)


@superuser
def test_a_folder_of_ones_own_group_is_ones_own(serve: Serve) -> None:
    """With umask 002 folders are writable for the user's private group; one's own links are followed."""
    served = serve()
    here = served.door.folder
    people(here, 1)
    (here / "kept").mkdir()
    (here / "kept").chmod(0o775)
    (here / "results").symlink_to(here / "kept")
    assert served(*RUN, "--json").counts == {"created": 1}


@superuser
def test_the_folder_of_the_ledger_is_checked_too(serve: Serve) -> None:
    """Someone who can replace the ledger decides which candidates are sent."""
    served = serve()
    people(served.door.folder, 1)
    _for_everybody(served.door.folder / "kept")
    ran = served(*RUN, IMPORTER_LEDGER="kept/ledger.sqlite")
    assert (ran.code, "kept: everyone on this computer can write to this folder (mode 0777)" in ran.err) == (3, True)


# --- shared -------------------------------------------------------------------------------------


@superuser
def test_a_team_shares_a_folder(serve: Serve) -> None:
    """With IMPORTER_OUT_SHARED=group everything is shared with the group, whatever the umask."""
    served = serve()
    people(served.door.folder, 3)
    with umask(0o077):
        for counts in ({"created": 3}, {"already_imported": 3}):
            assert served(*RUN, "--json", IMPORTER_OUT_SHARED="group").counts == counts
            assert served(*RUN, "--json", "--sandbox", IMPORTER_OUT_SHARED="group").code == 0
            assert modes_in(served.door.folder / "results") == ({0o2770}, {0o660})
            for path in (served.door.folder / "results", *(served.door.folder / "results").rglob("*")):
                os.chown(path, STRANGER, -1)
                path.chmod(0o2770 if path.is_dir() else 0o660)
    assert served("purge", "--older-than", "0d", "--yes", IMPORTER_OUT_SHARED="group").err == "4 runs removed.\n"


def test_a_folder_that_a_team_cannot_use_is_reported(serve: Serve) -> None:
    """The setting alone does not turn a private folder into a team folder: its modes must change too."""
    served = serve()
    people(served.door.folder, 1)
    (served.door.folder / "results").mkdir(mode=0o700)
    ran = served(*RUN, IMPORTER_OUT_SHARED="group")
    assert ran.err == (
        "importer: 1 problem found; nothing was sent.\n\n"
        "results: this folder is not set up for a team (mode 0700 instead of 2770) [results-folder-untrusted]\n"
        "  -> run: chmod -R g+rwX results && find results -type d -exec chmod g+s {} +\n"
    )


@superuser
def test_a_drive_without_owners_is_accepted(serve: Serve) -> None:
    """With IMPORTER_OUT_SHARED=any nothing is asked of the folder."""
    served = serve()
    people(served.door.folder, 1)
    _for_everybody(served.door.folder / "results")
    os.chown(served.door.folder / "results", STRANGER, STRANGER)
    assert served(*RUN, "--json", IMPORTER_OUT_SHARED="any").counts == {"created": 1}


CHMOD = {"x86_64": (90, 91, 268, 452), "aarch64": (52, 53, 452)}
"""The numbers of chmod, fchmod, fchmodat and fchmodat2, by machine."""

REFUSES_CHMOD = """
import ctypes, os, struct, sys
numbers = [int(number) for number in sys.argv.pop(1).split(",")]
steps = [(0x20, 0, 0, 0)]  # the number of the system call
steps += [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
steps += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]  # allowed, EPERM
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
filter = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter):
    sys.exit(99)
os.execv(sys.executable, [sys.executable, "-m", "importer", *sys.argv[1:]])
"""
"""Runs the importer where the system refuses each chmod, as drives without permissions do."""


def without_chmod(served: Served, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    numbers = ",".join(map(str, CHMOD[os.uname().machine]))
    ran = subprocess.run(
        [sys.executable, "-c", REFUSES_CHMOD, numbers, *arguments],
        cwd=served.door.folder,
        env={**served.door.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 99:
        pytest.skip("this system has no seccomp")
    return ran


without_seccomp = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in CHMOD, reason="the system calls are not known"
)


@without_seccomp
@pytest.mark.net
def test_a_drive_that_refuses_chmod_is_accepted_if_it_is_said(serve: Serve) -> None:
    """With IMPORTER_OUT_SHARED=any everything works there: a run, its report again, a check and a purge."""
    served = serve()
    people(served.door.folder, 3, candidate(9, Salary="a lot"))
    for command, code in ((RUN, 4), (("report", "last"), 0), (("check", *RUN[1:]), 4)):
        ran = without_chmod(served, *command, "--json", IMPORTER_OUT_SHARED="any")
        assert (ran.returncode, ran.stderr.count("Traceback")) == (code, 0), ran.stderr
    assert without_chmod(served, "purge", "--older-than", "0d", "--yes", IMPORTER_OUT_SHARED="any").returncode == 0
    assert len(served.accepted) == 3


@without_seccomp
@pytest.mark.parametrize("command", [RUN, (*RUN, "--sandbox")], ids=["run", "sandbox"])
def test_a_drive_that_refuses_chmod_is_refused_otherwise(serve: Serve, command: tuple[str, ...]) -> None:
    """Before the first request, with what can be set."""
    served = serve()
    people(served.door.folder, 3)
    ran = without_chmod(served, *command)
    assert (ran.returncode, ran.stderr) == (
        3,
        "importer: 1 problem found; nothing was sent.\n\n"
        "results: its drive refuses to make files private (chmod) [results-folder-untrusted]\n"
        "  -> choose another drive with --out; if others may read and change this one, set IMPORTER_OUT_SHARED=any\n",
    )
    assert served.sandbox.requests == []


@without_seccomp
def test_an_inbox_on_a_drive_that_refuses_chmod_finishes_its_files(serve: Serve) -> None:
    """The file is imported, and lies in done/."""
    served = serve()
    rules = served.door.folder / "box" / "inbox.toml"
    rules.parent.mkdir(0o700)
    rules.write_text('[[files]]\npattern = "*"\nmapping = "../mapping.yaml"\ncomplete = "renamed"\n')
    rules.chmod(0o600)
    (rules.parent / "incoming").mkdir()
    people(rules.parent / "incoming", 3)
    ran = without_chmod(served, "inbox", "run", "box", IMPORTER_OUT_SHARED="any")
    assert (ran.returncode, len(served.accepted)) == (0, 3), ran.stderr
    assert len(list((served.door.folder / "box" / "done").glob("*/people.csv"))) == 1


# --- links and names ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".importer/ledger.sqlite.key", "ledger.sqlite", "ledger.sqlite-wal"])
def test_no_file_is_opened_through_a_link(front_door: FrontDoor, name: str) -> None:
    """Whatever a link in place of one of our files leads to stays as it was, and nothing is sent."""
    people(front_door.folder, 1)
    theirs = front_door.folder / "bashrc"
    theirs.write_text("alias ll='ls -l'\n", "utf-8")
    results = front_door.folder / "results"
    results.mkdir(mode=0o700)
    internal_folder(results)
    (results / name).symlink_to(theirs)
    ran = front_door(*RUN, "--sandbox", "--quiet")
    assert ran.code == 3
    assert f"results/{name}: " in ran.err
    assert theirs.read_text("utf-8") == "alias ll='ls -l'\n"


def test_a_symbolic_link_is_reported(front_door: FrontDoor) -> None:
    """The message names the link and what to do."""
    people(front_door.folder, 1)
    results = front_door.folder / "results"
    results.mkdir(mode=0o700)
    (results / "ledger.sqlite").symlink_to(front_door.folder / "mapping.yaml")
    assert front_door(*RUN, "--sandbox", "--quiet").err == (
        "importer: 1 problem found; nothing was sent.\n\n"
        "results/ledger.sqlite: it cannot be written (it is a symbolic link, which is not allowed "
        "here; remove it), so nothing is sent [not-writable]\n"
        "  -> free disk space or get write permission there, or choose another folder with --out\n"
    )


def test_names_that_are_found_are_no_paths(serve: Serve) -> None:
    """A word of a process that lived, with any other name than a run's, has nothing removed."""
    served = serve()
    people(served.door.folder, 1)
    assert served(*RUN, "--json").counts == {"created": 1}
    results = served.door.folder / "results"
    (served.door.folder / "kept").mkdir()
    (results / "kept").mkdir()
    for folder in (results, results / ".importer"):
        for name in ("", ".", "..", ".._..", "kept", f"{ID}_.._.._kept"):
            (folder / f"{name}.running").touch()
            (folder / f".{name}.running").touch()
    kept = {path for path in served.door.folder.rglob("*") if not path.name.endswith((".lock", ".holder"))}
    assert served(*RUN, "--json").counts == {"already_imported": 1}
    assert kept <= set(served.door.folder.rglob("*"))


def test_only_what_a_run_made_is_removed(serve: Serve) -> None:
    """Neither a link to a run's folder, nor a folder that has only the name of one, nor one elsewhere, is purged."""
    served = serve()
    people(served.door.folder, 1)
    results = served.door.folder / "results"
    run = served(*RUN, "--json").summary["run"]
    archive = (results / run).rename(served.door.folder / run)
    (results / run).symlink_to(archive)
    (results / ID).mkdir()
    (results / ID / "run.json").write_bytes((archive / "run.json").read_bytes())
    (results / ID / "notes.txt").write_text("mine", "utf-8")
    purged = served("purge", "--older-than", "0d", "--yes")
    assert purged.err == (
        f"results/{ID}: skipped, because it does not contain the file .importer-run; remove it manually\n"
        "0 runs removed.\n"
    )
    assert (archive / "source.csv").exists()
    assert sorted(path.name for path in (results / ID).iterdir()) == ["notes.txt", "run.json"]


def test_a_link_in_a_runs_folder_is_removed_and_not_followed(serve: Serve) -> None:
    """Purging overwrites the files of the run only."""
    served = serve()
    people(served.door.folder, 1)
    folder = served.door.folder / "results" / served(*RUN, "--json").summary["run"]
    (served.door.folder / "kept").mkdir()
    (served.door.folder / "kept" / "mine.txt").write_text("mine", "utf-8")
    (folder / "kept").symlink_to(served.door.folder / "kept")
    (folder / "mine.txt").symlink_to(served.door.folder / "kept" / "mine.txt")
    assert served("purge", "--older-than", "0d", "--yes").err == "1 run removed.\n"
    assert not folder.exists()
    assert (served.door.folder / "kept" / "mine.txt").read_text("utf-8") == "mine"


def test_a_manifest_names_files_of_its_own_folder_only(serve: Serve) -> None:
    """A name that contains a path is reported as damage, and the file is not read."""
    served = serve()
    people(served.door.folder, 1)
    folder = served.door.folder / "results" / served(*RUN, "--json").summary["run"]
    values = json.loads((folder / "run.json").read_text("utf-8"))
    for key in ("run", "source", "mapping_copy"):
        (folder / "run.json").write_text(json.dumps(values | {key: "../../people.csv"}), "utf-8")
        assert served("report", "last").err == (
            "importer: 1 problem found.\n\n"
            f"results/{folder.name}: the manifest of this run cannot be read: '../../people.csv' is not a valid file "
            "name [run-unreadable]\n"
            "  -> you can still open its CSV files\n"
        ), key


# --- killed while it reads ----------------------------------------------------------------------


def _signalled_while_it_reads(door: FrontDoor, number: int) -> tuple[Path, int, str]:
    """The copy of a file of many rows, the exit code after the signal, and the output."""
    people(door.folder, 20_000)
    with subprocess.Popen(
        [sys.executable, "-m", "importer", *RUN],
        cwd=door.folder,
        env={**door.environment, "TMPDIR": str(door.folder / "tmp")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        wait_until(lambda: list(door.folder.rglob("source.csv")))
        [copy] = door.folder.rglob("source.csv")
        process.send_signal(number)
        return copy, process.wait(timeout=PATIENCE), process.stderr.read().decode()


def test_what_a_run_was_given_does_not_lie_about_after_a_kill(serve: Serve) -> None:
    """A run keeps its copy in its own folder, private, which the next command removes."""
    served = serve()
    (served.door.folder / "tmp").mkdir()
    copy, *_ = _signalled_while_it_reads(served.door, signal.SIGKILL)
    assert copy.parent.parent == served.door.folder / "results"
    assert modes_in(served.door.folder / "results") == ({0o700}, {0o600})
    assert list((served.door.folder / "tmp").iterdir()) == []
    people(served.door.folder, 1)
    assert served(*RUN, "--json").counts == {"created": 1}
    assert not copy.parent.exists()


def test_a_folder_that_is_in_use_is_left_alone(serve: Serve) -> None:
    """A folder that another command is using now is left alone by those that clean up."""
    served = serve()
    people(served.door.folder, 1)
    results = served.door.folder / "results"
    running = make_private_folder(results / ".importer", ID)
    assert served("check", *RUN[1:]).code == 0
    assert running.exists()


# --- removed during a run ----------------------------------------------------------------


def _cut_off(served: Served, change: Callable[[Path], object]) -> tuple[int, str, str]:
    """Change a run's folder after some rows; return its exit code, its output after the plan, and its ID."""
    results = served.door.folder / "results"
    with served.held_after(8) as go_on, served.door.started(*RUN, "--json", "--rate", "40") as process:
        served.wait_for(8)
        (folder,) = (path for path in results.iterdir() if path.name.startswith("2"))
        change(folder)
        go_on()
        _, output = process.communicate(timeout=PATIENCE)
        return process.returncode, output[output.index("importer: ") :], folder.name


def _every_candidate_is_accepted_once(served: Served, count: int = 40) -> None:
    assert served(*RUN, "--json").code == 0
    assert sorted(served.accepted) == sorted(f"person{number}@example.com" for number in range(count))


def test_a_run_whose_folder_is_removed_stops(serve: Serve) -> None:
    """The message names what was sent and what to do; the same command continues."""
    served = serve()
    people(served.door.folder, 400)  # at this rate it takes ten seconds, and a moment to notice
    code, output, run = _cut_off(served, shutil.rmtree)
    assert (code, output) == (
        5,
        f"importer: results/{run}/run.sqlite: the rows of this run cannot be written (the file was moved or deleted), "
        "so nothing more is sent. The ledger knows what was sent, if anything: run the same command again\n",
    )
    assert len(served.accepted) < 400
    assert not (served.door.folder / "results" / run).exists()
    _every_candidate_is_accepted_once(served, 400)


def test_a_run_whose_ledger_is_removed_does_not_claim_what_was_sent(serve: Serve) -> None:
    """Without ledger and folder only the service knows what was sent, so all rows are sent again."""
    served = serve()
    people(served.door.folder, 40)
    code, output, _ = _cut_off(
        served, lambda folder: shutil.rmtree(folder.parent.rename(folder.parent.with_name("gone")))
    )
    assert (code, output) == (
        5,
        "importer: results/ledger.sqlite: the ledger was moved or deleted during the run, and the run has no "
        "report. Only the service knows which rows were sent: restore the ledger if you can, then run the same command "
        "again; the service reports which candidates it already has\n",
    )
    _every_candidate_is_accepted_once(served)


def test_an_interruption_prints_nothing(serve: Serve) -> None:
    """Ctrl-C before any row is sent ends the command without a message."""
    served = serve()
    _, code, output = _signalled_while_it_reads(served.door, signal.SIGINT)
    assert (code, output) == (130, "")


def test_a_new_ledger_beside_earlier_runs_is_told(serve: Serve) -> None:
    """Every row is sent again then, also by a scheduled run; the service says who is there already."""
    served = serve()
    people(served.door.folder, 2)
    assert "is new" not in served(*RUN, "--quiet").err
    (served.door.folder / "results" / "ledger.sqlite").unlink()
    again = served(*RUN, "--quiet", "--json")
    said = " ".join(again.err.split())
    assert "The ledger results/ledger.sqlite is new, but job post 4f2c9a has earlier runs: rows that they" in said
    assert again.counts == {"already_exists": 2}
