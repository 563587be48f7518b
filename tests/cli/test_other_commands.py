"""The commands other than run and check: questions, runs, show, report, doctor, sandbox."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from importer import __version__
from importer.sandbox import SHIPPED_QUESTIONS
from tests.cli.conftest import FrontDoor, Served, candidate
from tests.cli.test_run import CHECK, RUN, people
from tests.patience import PATIENCE

Serve = Callable[..., Served]


def test_questions_as_json_are_those_of_the_service_and_start_a_sandbox(serve: Serve) -> None:
    """What `questions --json` prints is what `--sandbox --questions` reads: a sandbox run with custom questions."""
    served = serve()
    shown = served("questions", "4f2c9a", "--json")
    asked = json.loads(SHIPPED_QUESTIONS.read_text("utf-8"))["job_posts"]["4f2c9a"]["questions"]
    printed = json.loads(shown.out)
    assert printed["job_post"] == "4f2c9a"
    assert [question["id"] for question in printed["questions"]] == [question["id"] for question in asked]
    (served.door.folder / "questions.json").write_text(shown.out, "utf-8")
    people(served.door.folder, 2)
    ran = served(*RUN, "--sandbox", "--questions", "questions.json", "--json")
    assert (ran.code, ran.counts) == (0, {"created": 2})
    assert served.accepted == []


def test_questions_as_a_table_name_what_a_mapping_file_needs(serve: Serve) -> None:
    """Key or text, whether it must be answered, what kind of answer, and the options."""
    ran = serve()("questions", "4f2c9a")
    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "work_permit yes yes_no Do you have a work permit?" in lines
    assert any(line.startswith('"text: How did you') for line in lines)
    assert ran.err.startswith("Next: ")


REFUSED = [
    pytest.param("nobody", 3, "the service cannot find job post nobody", id="unknown"),
    pytest.param("../talent-pools", 2, "'../talent-pools' is not a valid job post ID", id="a path"),
]


@pytest.mark.parametrize(("job_post", "code", "message"), REFUSED)
def test_questions_of_an_unknown_job_post(serve: Serve, job_post: str, code: int, message: str) -> None:
    """An unknown hash is reported; an invalid hash is not even requested."""
    ran = serve()("questions", job_post)
    assert (ran.code, message in ran.err) == (code, True)


def test_runs_are_listed_and_shown(serve: Serve) -> None:
    """The newest first, with when they ran and how they ended; show prints the summary of one again."""
    served = serve()
    people(served.door.folder, 2, candidate(6, Salary="a lot"))
    served(*CHECK)
    ran = served(*RUN)
    listed = served("runs")
    heading, newest, oldest = listed.out.splitlines()
    when = r"2\d{3}-\d\d-\d\d \d\d:\d\d UTC"
    seconds = r"\d+ seconds?"
    about = rf"\d{{8}}-\S+: people.csv, job post 4f2c9a, {seconds}"
    assert heading == "started               state        rows   created  existing  problems    unsent"
    assert re.fullmatch(rf"{when}  finished        3         2         -         1         -  {about}", newest)
    assert re.fullmatch(rf"{when}  checked         3         -         -         1         2  {about}", oldest)
    narrow = served("runs", COLUMNS="80").out.splitlines()
    assert narrow == [heading, newest[:79], f"    {newest[81:]}", oldest[:79], f"    {oldest[81:]}"]
    assert served("show", "last").out == served("show", newest[81:].split(":")[0]).out
    title, _, summary = served("show").out.partition("Finished")
    assert re.fullmatch(rf"Run \S+ \({when}, {seconds}\): people.csv for job post 4f2c9a", " ".join(title.split()))
    again = "     importer run people.csv --mapping mapping.yaml\n"  # was just given, at the end of the run
    assert ran.out == (
        f"Finished{summary.replace(again, '')}\nimporter: needs attention: people.csv: 2 of 3 rows imported, 1 to fix\n"
    )
    assert len(json.loads(served("runs", "--json").out)) == 2


def test_only_sandbox_runs_are_listed(serve: Serve) -> None:
    """With --sandbox only sandbox runs are listed, as `status` shows them."""
    served = serve()
    people(served.door.folder, 2)
    served(*RUN)
    assert served("runs", "--sandbox").err.startswith("There are no sandbox runs in results. Next: importer check ")
    sandbox = served(*RUN, "--sandbox", "--json").summary["run"]
    listed = json.loads(served("runs", "--sandbox", "--json").out)
    assert ([one["run"] for one in listed], len(json.loads(served("runs", "--json").out))) == ([sandbox], 2)


def test_runs_of_a_folder_without_runs(front_door: FrontDoor) -> None:
    """An empty folder is not an error; the next command is named."""
    ran = front_door("runs")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "There are no runs in results. Next: importer check FILE --mapping MAPPING\n"


def test_a_damaged_run_does_not_hide_the_others(serve: Serve) -> None:
    """A folder that cannot be read is named in the list; the rest is listed as usual."""
    served = serve()
    people(served.door.folder, 1)
    run = served(*RUN, "--json").summary["run"]
    served(*CHECK)
    (served.door.folder / "results" / run / "summary.json").write_text("{", "utf-8")
    listed = served("runs")
    assert listed.code == 0
    assert len(listed.out.splitlines()) == 2
    assert f"{run}" in listed.err
    assert served("report", run, "--json").counts == {"created": 1}
    assert len(served("runs").out.splitlines()) == 3


def test_report_writes_the_same_again(serve: Serve) -> None:
    """A report that was deleted comes back, from the copy of the source and what was kept of each row."""
    served = serve()
    people(served.door.folder, 2, candidate(6, Salary="a lot"))
    first = served(*RUN, "--json").summary
    folder = served.door.folder / "results" / first["run"]
    kept = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    for path in [*folder.glob("*_*.csv"), folder / "invalid.csv", folder / "report.xlsx", folder / "summary.json"]:
        path.unlink()
    (served.door.folder / "people.csv").unlink()
    assert served("report", first["run"], "--json").summary == first
    assert {path.name: path.read_bytes() for path in folder.glob("*.csv")} == kept


def test_doctor_finds_all_well(serve: Serve) -> None:
    """With address, token, folder and ledger in order, the exit code is 0."""
    served = serve()
    people(served.door.folder, 1)
    served(*RUN)
    ran = served("doctor")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "No problems.")
    assert "ok     token: accepted by the service" in ran.out
    assert {request.path for request in served.sandbox.requests if request.status == 404} == {
        "/api/v1/client/job-posts/importer-probe/questions/"
    }


@pytest.mark.parametrize("status", [200, 404])
def test_doctor_does_not_take_a_page_for_the_service(front_door: FrontDoor, status: int) -> None:
    """Another server answers at a wrong address, and has not looked at the token."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<html><h1>Welcome to nginx</h1></html>")

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings = {"IMPORTER_BASE_URL": f"http://127.0.0.1:{server.server_port}", "IMPORTER_TOKEN": "t"}
        ran = front_door("doctor", **settings)
        server.shutdown()
    assert ran.code == 3
    assert f"the service responded with {status} (an HTML page: Welcome to nginx)" in " ".join(ran.out.split())


def test_doctor_says_what_carries_the_requests(serve: Serve) -> None:
    """By name; without the faster library, with how to install it."""
    served = serve()
    assert re.search(r"^ok     transport: pycurl [0-9.]+$", served("doctor").out, re.MULTILINE)
    (served.door.folder / "without").mkdir()
    (served.door.folder / "without" / "pycurl.py").write_text("raise ImportError\n", "utf-8")
    hidden = {"PYTHONPATH": os.pathsep.join([str(served.door.folder / "without"), *sys.path])}
    with served.door.started("doctor", **hidden) as process:
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    line = "transport: requests (pycurl is not installed; for more speed: pip install 'candidate-importer[fast]')"
    assert f"ok     {line}\n" in out


UNWELL = [
    pytest.param({"IMPORTER_TOKEN": "old"}, "ERROR  token: the service responded with 401", id="token refused"),
    pytest.param({"IMPORTER_BASE_URL": "http://127.0.0.1:1"}, "ERROR  connection: the connection was ref", id="no one"),
    pytest.param({"IMPORTER_TOKEN": ""}, "ERROR  token: the access token is not set", id="no token"),
]


@pytest.mark.parametrize(("settings", "finding"), UNWELL)
def test_doctor_says_what_is_wrong(serve: Serve, settings: dict[str, str], finding: str) -> None:
    """Each fault is named with its remedy, and the exit code is 3."""
    ran = serve()("doctor", **settings)
    assert ran.code == 3
    assert finding in ran.out
    assert "         -> " in ran.out


def test_doctor_sees_a_damaged_run(serve: Serve) -> None:
    """A run whose manifest cannot be read does not block an import, and is reported here."""
    served = serve()
    people(served.door.folder, 1)
    run = served(*RUN, "--json").summary["run"]
    (served.door.folder / "results" / run / "run.json").write_text("{", "utf-8")
    ran = served("doctor")
    assert ran.code == 3
    assert f"ERROR  run {run}: the manifest of this run cannot be read:" in ran.out
    assert served(*RUN, "--json").counts == {"already_imported": 1}


def test_doctor_names_a_variable_that_is_no_setting(serve: Serve) -> None:
    """Whatever it resembles, in the environment or in .env; it may be of another program, and is no error."""
    served = serve()
    (served.door.folder / ".env").write_text("IMPORTER_WAREHOUSE=north\n", "utf-8")
    ran = served("doctor", IMPORTER_QX="1")
    assert ran.code == 0
    for name in ("IMPORTER_QX", "IMPORTER_WAREHOUSE"):
        assert f"note   settings: {name} is not a setting of the importer, and is ignored\n" in ran.out


def test_doctor_sees_a_damaged_ledger(serve: Serve) -> None:
    """A file that is not a ledger is reported, not repaired."""
    served = serve()
    (served.door.folder / "results").mkdir()
    (served.door.folder / "results" / "ledger.sqlite").write_bytes(
        b"no database, but long enough to look like one" * 99
    )
    ran = served("doctor")
    assert ran.code == 3
    assert "ERROR  ledger: " in ran.out


def test_the_sandbox_runs_on_its_own(front_door: FrontDoor) -> None:
    """It prints its address, responds, and ends with a signal."""
    with front_door.started("sandbox", "--port", "0", "--token", "t0ken") as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        address = line.removeprefix("sandbox listening on ")
        settings = {"IMPORTER_BASE_URL": address, "IMPORTER_TOKEN": "t0ken"}
        assert front_door("questions", "4f2c9a", "--json", **settings).code == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0


def test_the_version_is_printed(front_door: FrontDoor) -> None:
    """--version names the program and its version."""
    ran = front_door("--version")
    assert (ran.code, ran.out) == (0, f"importer {__version__}\n")


def test_a_reader_that_goes_away_changes_nothing(serve: Serve) -> None:
    """Of `importer run ... | head -0` the exit code is that of the run, and no traceback is left."""
    served = serve()
    people(served.door.folder, 2, candidate(6, Salary="a lot"))
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "importer", *RUN],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=served.door.folder,
        env=served.door.environment,
        check=False,
        timeout=PATIENCE,
    )
    os.close(writer)
    assert ran.returncode == 4
    assert b"Error" not in ran.stderr
    assert len(served.accepted) == 2


def test_a_report_is_not_written_from_what_is_gone(serve: Serve) -> None:
    """A report that would lie is not written, and the one that is there stays."""
    served = serve()
    people(served.door.folder, 2)
    run = served(*RUN, "--json").summary["run"]
    folder = served.door.folder / "results" / run
    before = (folder / "summary.json").read_bytes()
    (folder / "run.sqlite").unlink()
    ran = served("report", run)
    assert (ran.code, "the table of the run is missing" in ran.err) == (3, True)
    assert (folder / "summary.json").read_bytes() == before


def test_another_file_is_not_resumed(serve: Serve) -> None:
    """The copy of the source is held against the hash of what was read; the report needs no copy."""
    served = serve({"kind": "401", "first": 1, "operation": "apply"})
    people(served.door.folder, 2)
    run = served(*RUN, "--json").summary["run"]
    (served.door.folder / "results" / run / "source.csv").write_text("x,y\n", "utf-8")
    ran = served("resume", run)
    assert (ran.code, "the run's copy of the source file was changed" in ran.err) == (3, True)
    assert served("report", run).code == 0


def test_a_cleared_run_folder_holds_up_no_import(serve: Serve) -> None:
    """The files of a killed run may be damaged: it is reported once, and the import continues."""
    served = serve({"kind": "delay", "share": 1, "ms": 50, "times": 9})
    people(served.door.folder, 30)
    served.killed_after(5, *RUN)
    folder = next((served.door.folder / "results").glob("2*"))
    (folder / "run.sqlite").unlink()
    again = served(*RUN, "--json")
    assert again.code == 0
    assert "The report of an earlier run cannot be written: " in again.err
    assert len(served.accepted) == 30
    assert "cannot be reported" not in served(*RUN, "--json").err


def test_rows_that_the_file_does_not_have_are_reported(serve: Serve) -> None:
    """A range beyond the end is a slip, not an import of nothing."""
    served = serve()
    people(served.door.folder, 2)
    ran = served(*RUN, "--rows", "5000")
    assert ran.code == 2
    assert ran.err.endswith("importer: rows 5000 to 5000: the file has no such rows; its header is in row 1\n")


def test_the_sandbox_accepts_an_incomplete_question_list(serve: Serve) -> None:
    """The sandbox accepts a choice without options, or a new answer type."""
    served = serve()
    listed = json.loads(served("questions", "4f2c9a", "--json").out)
    for question in listed["questions"]:
        if question["question_key"] == "level":
            question["options"] = None
        if question["question_key"] == "language":
            question["answer_type"] = "stars"
    (served.door.folder / "questions.json").write_text(json.dumps(listed), "utf-8")
    people(served.door.folder, 2)
    assert served(*RUN, "--sandbox", "--questions", "questions.json", "--json").counts == {"created": 2}


def test_suggested_commands_can_be_typed(front_door: FrontDoor) -> None:
    """The suggested command repeats the flags for reading the file."""
    (front_door.folder / "old file.csv").write_bytes("E-posta;Şehir\na@example.com;İzmir\n".encode("cp1254"))
    inspected = front_door("inspect", "old file.csv", "--encoding", "cp1254", "--header-row", "1", "--delimiter", ";")
    again = "importer mapping new 'old file.csv' --job-post HASH --header-row 1 --encoding cp1254 --delimiter ';'"
    assert (inspected.code, f"Next: {again}\n" in inspected.err) == (0, True)
    asked = front_door("questions", "4f2c9a", "--sandbox")
    again = "importer mapping new FILE --job-post 4f2c9a --sandbox"
    assert (asked.code, f"Next: {again}\n" in asked.err) == (0, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_the_status_of_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """As of no file, it is refused."""
    os.mkfifo(tmp_path / "people.csv")
    ran = subprocess.run(
        [sys.executable, "-m", "importer", "status", tmp_path / "people.csv", "--out", tmp_path],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, "is not a regular file" in ran.stderr) == (2, True)
