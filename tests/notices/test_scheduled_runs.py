"""What people and monitors receive of scheduled runs: notices by mail and webhook, pings, metrics."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from importer.notices import JobEnded, causes_of
from importer.problems import LinePlace, Problem, UnusableInput
from tests.cli.conftest import Served, candidate, front_door, serve, write_csv
from tests.inbox.conftest import write_rules
from tests.notices.receivers import Web, mail_server, web_server

__all__ = ["front_door", "serve"]  # fixtures

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--quiet", "--job", "nightly")
CANARIES = ("Kanarya", "canary@example.com", "905550001999", "kanarya-not-a-date", "t0ken")


@pytest.fixture
def web() -> Iterator[Web]:
    with web_server() as server:
        yield server


def set_up(served: Served, *addresses: str, web: Web | None = None) -> dict[str, str]:
    """The settings of a schedule that notifies these addresses."""
    file = served.door.folder / "notify"
    file.write_text("\n".join(("# who is told", *addresses)), encoding="utf-8")
    file.chmod(0o600)
    ping = {"IMPORTER_PING_URL": f"http://127.0.0.1:{web.port}/ping/secret-id/"} if web else {}
    return {"IMPORTER_NOTIFY_FILE": str(file), "IMPORTER_METRICS_FOLDER": str(served.door.folder / "metrics"), **ping}


def people(served: Served, *changed: dict[str, str], good: int = 2) -> None:
    rows = [candidate(number) for number in range(good)]
    rows += [candidate(100 + number, **one) for number, one in enumerate(changed)]
    write_csv(served.door.folder / "people.csv", rows)


AT = LinePlace("mapping.yaml", 4, 10)
BAD = {"E-mail": "canary@example.com", "First": "Kanarya", "Phone": "+905550001999x", "Salary": "kanarya-not-a-date"}


def test_a_notice_has_what_to_do_and_no_personal_data(serve: Serve, web: Web) -> None:
    """By mail and by webhook the same; neither it, nor the log, nor the metrics have a cell or the token."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "Kanarya is known", "times": 9})
    people(served, BAD, BAD | {"E-mail": "canary at example.com"})
    with mail_server() as (port, mails):
        mail = f"mailto://127.0.0.1:{port}?from=importer@example.com&to=staff@example.com"
        settings = set_up(served, f"json://127.0.0.1:{web.port}/hook", mail, web=web)
        ran = served(*RUN, **settings)
    assert ran.code == 4
    (subject, body), (mail_subject, mail_body) = web.texts[0], mails[0]
    run = next(path for path in (served.door.folder / "results").iterdir() if path.name[0].isdigit())
    lines = body.splitlines()
    assert subject == mail_subject == "importer: needs attention: people.csv: 1 of 4 rows imported, 3 to fix"
    assert mail_body.split() == body.split()
    assert lines[:2] == ["Job: nightly", "File: people.csv"]
    assert lines[3:5] == [f"On {socket.gethostname()}:", "Finished: 1 of 4 rows imported, 3 to fix"]
    assert "       1 created                 1 rejected                2 invalid" in lines
    assert "What to fix (2 of 4 causes; the report has all)" in lines
    assert "     2  Phone, row 4: The text is not a phone number of its country." in lines
    assert f"Report: {run}/report.html (and report.xlsx)" in lines
    assert f"     importer run {run}/report.xlsx" in lines
    kept = [path.read_text() for path in (run / "log.jsonl", *(served.door.folder / "metrics").iterdir())]
    for text in (subject, body, *kept, *map(str, web.paths), ran.err):
        assert [one for one in CANARIES if one in text] == []
    for line in (run / "log.jsonl").read_text().splitlines():
        assert {"time", "level", "event", "run"} <= set(json.loads(line))
    assert web.paths == ["/ping/secret-id/start", "/ping/secret-id/fail"]


def test_quiet_shows_no_cell_to_whoever_gets_the_mail_of_a_scheduler(serve: Serve) -> None:
    """Neither of rows, nor why a run stopped, nor of a file that cannot be read; what it means and where is shown."""
    refuse = {"kind": "refuse", "share": 1.0, "message": "Kanarya is known", "times": 9, "operation": "apply"}
    served = serve(refuse)
    quiet = (*RUN[:5], "--job", "nightly")
    people(served, BAD, BAD | {"E-mail": "canary at example.com"}, good=12)
    rows = served(*quiet)
    assert (rows.code, rows.out) == (5, "")
    (served.door.folder / "people.csv").write_bytes("E-mail,First\ncanary@example.com,Kanarya Öz\n".encode("cp1254"))
    unreadable = served(*quiet)
    missing = served("run", "people.csv", "--mapping", "none.yaml", *quiet[4:])
    assert "none.yaml: the mapping file cannot be read: no such file" in missing.err  # it has no cell
    assert (unreadable.code, unreadable.out) == (3, "")
    for text in (rows.err, unreadable.err):
        assert [one for one in CANARIES if one in text] == []
    assert "row 2: " in rows.err
    assert "[rejected]" in rows.err
    assert unreadable.err == (
        "importer: 1 problem found; nothing was sent.\n\n"
        "people.csv:2:1: The file was saved in another encoding than the importer expects, or the mapping names one "
        "that does not exist. The hint shows which encodings fit, each with a sample; "
        "where it is left out, importer check FILE shows it. [encoding-wrong]\n"
        "  -> Set the encoding that reads the sample correctly under source: in the mapping. Most Turkish files are "
        "cp1254, most Western European files cp1252. If the mapping names a wrong one, correct or remove it.\n"
    )


NIGHTS = ["ok", "bad", "bad", "ok", "ok", "unusable"]
WANTED = [
    pytest.param("always", NIGHTS, id="always"),
    pytest.param("problems", ["bad", "bad", "unusable"], id="problems"),
]


@pytest.mark.parametrize(("when", "wanted"), WANTED)
def test_when_a_notice_is_sent_is_a_setting(serve: Serve, web: Web, when: str, wanted: list[str]) -> None:
    """Always, or on problems."""
    served = serve()
    settings = {**set_up(served, f"json://127.0.0.1:{web.port}"), "IMPORTER_NOTIFY": when}
    for night in NIGHTS:
        if night == "unusable":
            (served.door.folder / "people.csv").write_bytes(b"")
        else:
            people(served, *([{"Salary": "much"}] if night == "bad" else []))
        assert served(*RUN, **settings).code == {"ok": 0, "bad": 4, "unusable": 3}[night]
    kinds = {"complete": "ok", "needs attention": "bad", "not imported": "unusable"}
    assert [kinds[subject.split(": ")[1]] for subject, _ in web.texts] == wanted
    assert "Result: the file, the mapping or the settings cannot be used; nothing was sent (code 3)" in web.texts[-1][1]
    assert "[file-empty] " in web.texts[-1][1]


def test_a_notice_says_why_a_run_did_not_begin(serve: Serve, web: Web) -> None:
    """A wrong token is told with what to do, as at the terminal."""
    served = serve()
    settings = set_up(served, f"json://127.0.0.1:{web.port}")
    people(served)
    assert served(*RUN, **settings, IMPORTER_TOKEN="wrong").code == 5
    ((subject, body),) = web.texts
    assert subject == "importer: not imported: people.csv"
    assert "Result: stopped early; safe to run again (code 5)\n\nthe service refuses the token (401)" in body
    assert "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token, then run the same command again" in body


def test_a_job_that_continues_a_run_which_is_complete_is_no_failure(serve: Serve, web: Web) -> None:
    """There is nothing to send, and what became of that run is told."""
    served = serve()
    settings = set_up(served, f"json://127.0.0.1:{web.port}", web=web)
    people(served)
    assert served(*RUN, **settings).code == 0
    again = served("resume", "--job", "nightly", **settings)
    assert (again.code, "no row is left to be sent" in again.out + again.err) == (0, True)
    assert web.paths == ["/ping/secret-id/start", "/ping/secret-id"] * 2


def test_a_notice_that_cannot_be_sent_is_a_line_on_stderr(serve: Serve, web: Web) -> None:
    """The import ends as it would, the other addresses get it, and no later run sends it."""
    served = serve()
    with web_server() as other:
        settings = set_up(served, f"json://127.0.0.1:{web.port}/a", f"json://127.0.0.1:{other.port}/b", web=web)
        people(served, {"Salary": "much"})
        web.status = 500
        ran = served(*RUN, **settings)
        assert ran.code == 4
        unsent = "a notice could not be sent: address 1 (json) does not accept it, or cannot be reached"
        assert f"importer: {unsent}\n" in ran.err
        assert "importer: the ping of IMPORTER_PING_URL failed: HTTPError" in ran.err
        web.status = 200
        people(served, good=3)
        assert served(*RUN, **settings).code == 0
        assert (len(web.texts), len(other.texts)) == (0, 1)
    assert "problems: address 1 (json), address 2 (json)" in served("doctor", **settings).out


UNUSABLE = [
    pytest.param(None, "cannot be read: No such file or directory", id="no file"),
    pytest.param("# none\n", "has no address; enter one on each line", id="no address"),
    pytest.param("nonsense://x\n", "address 1 (nonsense)", id="an unknown address"),
]


@pytest.mark.parametrize(("text", "message"), UNUSABLE)
def test_addresses_that_cannot_be_used_are_reported(serve: Serve, text: str | None, message: str) -> None:
    """On stderr, and by doctor, which sends nothing; the run ends with its own code."""
    served = serve()
    settings = set_up(served)
    file = Path(settings["IMPORTER_NOTIFY_FILE"])
    file.unlink()
    if text is not None:
        file.touch(0o600)
        file.write_text(text)
    people(served, {"Salary": "much"})
    ran = served(*RUN, **settings)
    assert ran.code == 4
    assert message in ran.err
    assert message in served("doctor", **settings).out


def test_metrics_are_what_node_exporter_reads(serve: Serve) -> None:
    """Counts by outcome, times, requests, and when a run last succeeded: of the run before, if this one failed."""
    served = serve()
    settings = set_up(served)
    people(served)
    assert served(*RUN, **settings).code == 0
    file = served.door.folder / "metrics" / "importer_nightly.prom"

    def read() -> dict[str, float]:
        families = text_string_to_metric_families(file.read_text())
        samples = [sample for family in families for sample in family.samples]
        assert {sample.labels["job"] for sample in samples} == {"nightly"}
        return {sample.name + sample.labels.get("outcome", ""): sample.value for sample in samples}

    first = read()
    assert (first["importer_last_run_rowscreated"], first["importer_last_run_exit_code"]) == (2, 0)
    assert first["importer_last_run_requests"] == 2
    assert first["importer_last_success_timestamp_seconds"] == pytest.approx(
        first["importer_last_run_timestamp_seconds"], abs=1
    )
    people(served, {"Salary": "much"})
    assert served(*RUN, **settings).code == 4
    second = read()
    assert second["importer_last_run_rowsinvalid"] == 1
    assert second["importer_last_success_timestamp_seconds"] == first["importer_last_success_timestamp_seconds"]
    if (promtool := shutil.which("promtool")) is not None:
        with file.open("rb") as metrics:
            assert subprocess.run([promtool, "check", "metrics"], stdin=metrics, check=False).returncode == 0


INBOX = """\
[[files]]
pattern = "people*.csv"
mapping = "../mapping.yaml"
settle = "0.1s"
"""


def inbox_of(served: Served) -> Path:
    inbox = served.door.folder / "inbox"
    (inbox / "incoming").mkdir(parents=True)
    inbox.chmod(0o755)
    write_rules(inbox, INBOX)
    return inbox


def test_each_file_of_an_inbox_is_reported_once(serve: Serve, web: Web) -> None:
    """Under its pattern, with where it is now; also if several passes cannot finish it, and if the inbox is broken."""
    served = serve()
    settings = set_up(served, f"json://127.0.0.1:{web.port}", web=web)
    inbox = inbox_of(served)

    def passes(count: int, **changed: str) -> list[int]:
        return [served("inbox", "run", "--quiet", **settings, **changed).code for _ in range(count)]

    def drop(name: str, *changed: dict[str, str]) -> None:
        people(served, *changed)
        (served.door.folder / "people.csv").rename(inbox / "incoming" / name)

    drop("people1.csv", BAD)
    assert passes(2) == [4, 0]
    assert web.paths[-3:] == ["/ping/secret-id/fail", "/ping/secret-id/start", "/ping/secret-id/fail"]  # it still waits
    assert served("inbox", "release", "inbox", "people1.csv").code == 0
    assert passes(1) == [4]
    drop("people2.csv")
    assert passes(3, IMPORTER_TOKEN="wrong") == [5, 5, 5]
    assert passes(1) == [0]
    for _ in range(2):  # broken, mended, and broken again: that is reported again
        (inbox / "inbox.toml").write_text("[[files]]")
        assert passes(2) == [3, 3]
        (inbox / "inbox.toml").write_text(INBOX)
        assert passes(1)[0] in (0, 4)
    first, again, second, third, fourth = web.texts
    assert fourth[0] == third[0]
    assert again[0] == "importer: needs attention: people1.csv: 2 of 3 rows imported, 1 to fix"
    assert [body["type"] for body in web.bodies] == ["warning", "warning", "failure", "failure", "failure"]
    (place,) = (inbox / "attention").iterdir()
    assert first[1].splitlines()[:3] == ["Job: people*.csv", "File: people1.csv", f"It is now here: {place}"]
    assert "\n       2 created " in first[1]
    assert second[0] == "importer: not imported: people2.csv"
    assert third[0] == "importer: not imported: inbox"
    assert not [one for one in CANARIES for text in (*first, *second, *third) if one in text]
    assert len(web.paths) == 2 * 13


def test_the_notice_of_a_file_that_is_put_aside_names_files_and_columns_of_the_mapping(serve: Serve, web: Web) -> None:
    """Never a column of the file: one that has lost its header begins with a person."""
    served = serve()
    settings = set_up(served, f"json://127.0.0.1:{web.port}")
    incoming = inbox_of(served) / "incoming"
    people(served, BAD, good=0)
    rows = (served.door.folder / "people.csv").read_text("utf-8")
    people(served)
    usual = (served.door.folder / "people.csv").read_text("utf-8")
    files = {"1": usual, "2": usual, "3": usual.replace("E-mail", "Kanarya"), "4": rows.partition("\n")[2] + "x\n"}
    for number, text in files.items():
        (incoming / f"people{number}.csv").write_text(text, "utf-8")
        assert served("inbox", "run", "--quiet", **settings).code == (0 if number == "1" else 3)
    repeated, renamed, headless = (text for _, text in web.texts)
    assert "[inbox-file-repeated] people2.csv: it has the same content as people1.csv, which was " in repeated
    assert "  What to do: Ask its sender for the file that was meant." in repeated
    assert "[column-not-found] mapping.yaml:4:10: the column 'E-mail' does not exist\n" in renamed
    assert not [one for one in CANARIES for text in (renamed, headless) if one in text]


def test_a_missing_column_is_named_as_in_the_mapping() -> None:
    """Without the hint, which lists the columns of the file: its first row may have personal data."""
    missing = Problem("column-not-found", "the column 'E-mial' does not exist", "the columns are 'Kanarya'", AT)
    error, now = UnusableInput([missing, Problem("file-empty", "Kanarya is empty")]), datetime.now(UTC)
    body = JobEnded("nightly", "people.csv", 3, now, now, causes=causes_of(error)).body()
    assert "[column-not-found] mapping.yaml:4:10: the column 'E-mial' does not exist\n" in body
    assert "Kanarya" not in body


def test_practice_is_a_job_of_its_own(serve: Serve, web: Web) -> None:
    """A run in the sandbox says so, and does not count as a success of the real job."""
    served = serve()
    settings = {**set_up(served, f"json://127.0.0.1:{web.port}"), "IMPORTER_NOTIFY": "always"}
    people(served)
    assert served(*RUN, "--sandbox", **settings).code == 0
    assert [subject for subject, _ in web.texts] == ["importer: sandbox: complete: people.csv: 2 of 2 rows imported"]
    (metrics,) = (served.door.folder / "metrics").iterdir()
    assert '{job="nightly (sandbox)"}' in metrics.read_text()
