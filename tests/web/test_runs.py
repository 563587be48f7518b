"""Check, Send and Result: the same as the command does, under the control of a person."""

from __future__ import annotations

import csv
import gc
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from openpyxl import Workbook

from importer.app import orders
from importer.app.import_file import check_file
from importer.models import OutcomeKind
from importer.problems import Busy
from importer.report.outcomes import csv_file
from importer.runs.manifest import read_manifest
from importer.runs.row_selection import ALL_ROWS, Part, Selection
from importer.sandbox import SandboxOptions
from importer.sandbox import running as sandbox_running
from importer.settings import load_settings
from importer.web.imports import Drafts
from importer.web.running import Progress
from tests.cli.conftest import HEADER, FrontDoor, Served, candidate, write_csv
from tests.cli.test_corrections import fix
from tests.patience import wait_until
from tests.samples.sample import ROOT
from tests.web import walk
from tests.web.client import Client, Shown
from tests.web.conftest import Pages

Start = Callable[..., Pages]
Serve = Callable[..., Served]


def outcomes_of(folder: Path) -> dict[str, tuple[str, str]]:
    """Each row of a run's results, with its outcome and problem."""
    found = {}
    for kind in OutcomeKind:
        if (path := folder / csv_file(kind)).exists():
            with path.open(encoding="utf-8-sig", newline="") as file:
                for row in csv.DictReader(file):
                    found[row["import_row"]] = kind.value, row["import_problem"]
    return found


def live(served: Served) -> dict[str, str]:
    """The settings for a service."""
    return {
        "IMPORTER_BASE_URL": served.sandbox.base_url,
        "IMPORTER_TOKEN": "t0ken",
        "IMPORTER_RESEND_DELAY_SECONDS": "0.2",
    }


def people(found_in: Path, count: int, **changed: str) -> Path:
    """A file with so many people."""
    return write_csv(found_in / "people.csv", [candidate(number, **changed) for number in range(count)])


def test_the_check_says_what_will_happen(pages: Start, serve: Serve) -> None:
    """Problems are grouped by cause with their cells; the next step is named by the number of candidates."""
    served = serve()
    rows = [candidate(number, Salary="much" if number in (2, 3) else "1000") for number in range(5)]
    shown = walk.to_check(pages(live(served), file=write_csv(served.door.folder / "people.csv", rows)))
    assert "Salary: number invalid ✕ 2" in shown.text
    assert "'much' is not a whole number" in unescape(shown.html)
    assert "Prepare to send 3 candidates" in shown.text
    assert "importer check" in shown.text
    assert served.accepted == []


def test_what_is_changed_after_the_check_is_checked_again(pages: Start, serve: Serve) -> None:
    """A check is of exactly these choices: after another one, nothing can be sent before the next check."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 3))
    walk.to_check(found)
    found.client.send(found.client.get(walk.address(found, "file")).form("/file"), skip_rows="3")
    assert "First finish the step File." in found.client.get(walk.address(found, "send")).text


def test_a_run_can_be_paused_continued_and_stopped(pages: Start, serve: Serve) -> None:
    """Paused, nothing new is sent; stopped, the report is written; continued, the rest is sent, each candidate once."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 60))
    shown = walk.to_send(found)
    assert f"60 candidates will be sent to job post 4f2c9a at {served.sandbox.base_url}." in shown.text
    with served.held_after(20) as go_on:
        shown = found.client.send(shown.form("/send"))
        served.wait_for(20)
        shown = found.client.send(found.client.get(walk.address(found, "send")).form("/pause"))
        assert "Paused: nothing new is sent until you go on." in shown.text
        go_on()
        shown = found.client.send(shown.form("/stop"))
    task = walk.task_of(found)
    assert task.finished is not None
    stopped = len(served.accepted)
    assert stopped < 60
    shown = found.client.get(walk.address(found, "send"))
    assert "The last run stopped early" in shown.text
    found.client.send(shown.form("/continue"))
    assert walk.task_of(found).error is None
    assert sorted(served.accepted) == sorted({f"person{number}@example.com" for number in range(60)})


def test_progress_comes_as_events(pages: Start, serve: Serve) -> None:
    """Whoever follows a run gets what it is doing, with the percentage, and its end."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 40))
    found.client.send(walk.to_send(found).form("/send"))
    events = found.client.get(walk.address(found, "progress")).html
    data = [json.loads(line[6:]) for line in events.splitlines() if line.startswith("data: ")]
    assert data[-1]["percent"] == 100
    assert "40 of 40 rows done" in data[-1]["html"]
    assert events.rstrip().endswith("event: over\ndata:")


def test_a_pause_is_shown_with_its_reason() -> None:
    """While the service is down, the page says why the run waits, for how long, and when it gives up."""
    progress = Progress(lambda run: None)
    progress(orders.Paused("the service does not respond", 5, 2, 900))
    doing = "Waiting 5 seconds: the service does not respond. 2 rows are waiting to be sent again"
    assert progress.seen().doing.startswith(doing)
    progress(orders.Resumed())
    assert progress.seen().doing == "Sending continues."


@pytest.mark.net
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the sandbox leaves sockets open
def test_the_service_goes_away_while_the_page_sends(pages: Start, front_door: FrontDoor) -> None:
    """The run waits and the page says why; stopped then, it is continued when the service is back."""
    faults, memory = front_door.folder / "faults.json", front_door.folder / "accepted.jsonl"
    faults.write_text(json.dumps({"seed": 1, "faults": [{"kind": "delay", "share": 1, "ms": 200, "times": 999}]}))
    options = SandboxOptions(token="t0ken", faults=faults, memory=memory)
    with sandbox_running(options) as sandbox:
        found = pages(
            {"IMPORTER_BASE_URL": sandbox.base_url, "IMPORTER_TOKEN": "t0ken", "IMPORTER_RESEND_DELAY_SECONDS": "0.2"},
            file=people(front_door.folder, 80),
        )
        found.client.send(walk.to_send(found).form("/send"))
        wait_until(lambda: len(sandbox.memory) >= 4)
        port = urlsplit(sandbox.base_url).port or 0
    gc.collect()  # here, not in the test after this one
    send = walk.address(found, "send")
    wait_until(lambda: "Waiting " in found.client.get(send).text, "the page does not say why the run waits")
    found.client.send(found.client.get(send).form("/stop"))
    assert walk.task_of(found).error is None
    shown = found.client.get(send)
    assert "The last run stopped early" in shown.text
    with sandbox_running(replace(options, port=port)) as sandbox:
        found.client.send(shown.form("/continue"))
        walk.task_of(found)
        assert "80 of 80 candidates are in" in found.client.get(walk.address(found, "result")).text
        assert len(sandbox.memory) == 80


def test_two_pages_cannot_send_a_file_twice(pages: Start, serve: Serve) -> None:
    """A second page of the import joins the run; another import of the same file is refused while it is sent."""
    served = serve()
    file = people(served.door.folder, 30)
    found = pages(live(served), file=file)
    second = pages(live(served), file=file)
    forms = [walk.to_send(found).form("/send"), found.client.get(walk.address(found, "send")).form("/send")]
    other = walk.to_send(second).form("/send")
    with served.held_after(10):
        found.client.send(forms[0])
        served.wait_for(10)
        again = found.client.send(forms[1])
        assert "Pause" in again.texts
        second.client.send(other)
        assert isinstance(walk.task_of(second).error, Busy)
        shown = second.client.get(walk.address(second, "send"))
        assert "There is a problem" in shown.text
        assert "is running" in shown.text or "another" in shown.text.lower()
    walk.task_of(found)
    assert len(served.accepted) == 30


def test_a_fixed_workbook_comes_back_through_the_browser(pages: Start, serve: Serve) -> None:
    """The report that a person has downloaded and fixed is read like the one in the folder of its run."""
    served = serve()
    rows = [candidate(number, Salary="much" if number == 2 else "1000") for number in range(3)]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    shown = walk.to_result(found)
    run = next(iter((served.door.folder / "results").glob("2*")))
    downloads = served.door.folder / "downloads"
    downloads.mkdir()
    shutil.copy(run / "report.xlsx", downloads / "report (1).xlsx")
    fix(downloads / "report (1).xlsx", {"Salary": "2000"})
    shown = found.client.upload(
        shown.form("/result/upload"), "report.xlsx", (downloads / "report (1).xlsx").read_bytes()
    )
    assert "1 cell was corrected" in shown.text
    shown = found.client.upload(
        found.client.get(walk.address(found, "result")).form("/result/upload"), "report.xlsx", b"no workbook"
    )
    assert "There is a problem" in shown.text
    found.client.send(found.client.get(walk.address(found, "check")).form("/check"))
    walk.task_of(found)
    found.client.send(found.client.get(walk.address(found, "send")).form("/send"))
    walk.task_of(found)
    assert "3 of 3 candidates are in" in found.client.get(walk.address(found, "result")).text


def test_a_page_sends_only_what_it_has_shown(pages: Start, serve: Serve) -> None:
    """Not into another service than the one that its button names, and no other rows than those that were checked."""
    served = serve()
    file = people(served.door.folder, 3)
    found = pages(live(served), file=file)
    old = walk.to_send(found)
    shown = found.client.send(found.client.get(walk.address(found, "check")).form("/rehearsal"))
    found.client.send(shown.form("/check"))
    walk.task_of(found)
    shown = found.client.send(old.form("/send"))
    assert "omething was changed since this page was shown" in shown.text
    people(served.door.folder, 8)
    first = found.client.send(shown.form("/send")).text
    walk.task_of(found)
    shown = found.client.get(walk.address(found, "send"))
    assert "was changed or replaced since its rows were checked" in first + shown.text
    assert not any(form.action.endswith("/send") for form in shown.forms)
    assert served.accepted == []


def test_several_rows_of_a_candidate_are_one(pages: Start, serve: Serve) -> None:
    """The page counts people, also where a candidate has a row for each job."""
    served = serve()
    rows = [candidate(number, Phone="+905550000001") for number in (1, 1, 2)]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    walk.to_match(found)
    form = next(form for form in walk.review(found).forms if form.fields.get("do") == "rows")
    shown = found.client.send(form, group_by="E-mail")
    form = next(
        form for form in shown.forms if form.fields.get("do") == "use_rows" and form.fields["kind"] == "experience"
    )
    shown = found.client.send(form, company_name="Last")
    assert "company name Nr1" in shown.text
    found.client.send(walk.review(found).form("/match/use"))
    walk.task_of(found)
    assert "Prepare to send 2 candidates" in found.client.get(walk.address(found, "check")).text
    shown = found.client.get(walk.address(found, "send"))
    assert "Send 2 candidates" in shown.text
    found.client.send(shown.form("/send"))
    walk.task_of(found)
    assert "2 of 2 candidates are in" in found.client.get(walk.address(found, "result")).text


def test_a_sheet_of_jobs_is_chosen_by_clicks(pages: Start, serve: Serve) -> None:
    """Also where nothing shows which rows are whose: a person names the two columns."""
    served = serve()
    book = Workbook()
    sheet, jobs = book.worksheets[0], book.create_sheet("Jobs")
    for line in (HEADER, *(candidate(number, Phone="+905550000001") for number in (1, 2))):
        sheet.append(line)
    for line in (("Of", "Shop", "Began"), ("Nr1", "Acme", "03.2019"), ("Nr2", "Ege", ""), ("Nr1", "Ege", "")):
        jobs.append(line)
    path = served.door.folder / "people.xlsx"
    book.save(path)
    found = pages(live(served), file=path)
    walk.to_match(found)

    def use(shown: Shown, **fields: str) -> Shown:
        of_sheets = [form for form in shown.forms if form.fields.get("do") == "use_sheet"]
        return found.client.send(next(form for form in of_sheets if form.fields["kind"] == "experience"), **fields)

    shown = use(walk.review(found), key="", equals="Last", company_name="Shop")
    assert "hoose the two columns that say which rows belong to which candidate" in shown.text
    shown = use(shown, key="Of", equals="Last", company_name="Shop")
    assert "company name Acme" in shown.text
    form = next(form for form in shown.forms if form.fields.get("company_name") == "Shop")
    assert (form.fields["key"], form.fields["equals"], form.fields["company_name"]) == ("Of", "Last", "Shop")
    found.client.send(walk.review(found).form("/match/use"))
    walk.task_of(found)
    shown = found.client.get(walk.address(found, "send"))
    found.client.send(shown.form("/send"))
    walk.task_of(found)
    assert "2 of 2 candidates are in" in found.client.get(walk.address(found, "result")).text
    bodies = {body["last_name"]: body["answers"] for body in served.sandbox.memory.accepted()}
    sent = next(one["answer"] for one in bodies["Nr1"] if "company_name" in str(one.get("answer")))
    assert [one["company_name"] for one in json.loads(sent)] == ["Acme", "Ege"]


def test_a_closed_browser_does_not_stop_a_run(pages: Start, serve: Serve) -> None:
    """The run goes on when the page that follows it is gone, and its result is there later."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 30))
    with served.held_after(10):
        found.client.send(walk.to_send(found).form("/send"))
        served.wait_for(10)
        follower = found.client.connected(walk.address(found, "progress"))
        follower.close()
    walk.task_of(found)
    assert "30 of 30 candidates are in" in found.client.get(walk.address(found, "result")).text


def test_unconfirmed_rows_are_settled_by_a_person(pages: Start, serve: Serve) -> None:
    """A row whose response was lost can be recorded as created; it is then not sent again."""
    served = serve({"kind": "reset", "emails": ["person3@example.com"], "when": "after"})
    found = pages({**live(served), "IMPORTER_MAX_ATTEMPTS": "1"}, file=people(served.door.folder, 5))
    shown = walk.to_result(found)
    assert "Unconfirmed rows" in shown.text
    shown = found.client.send(shown.form("/resolve"), found="yes")
    assert "It is recorded." in shown.text
    assert "5 of 5 candidates are in" in shown.text


def test_the_life_of_a_row(pages: Start, serve: Serve) -> None:
    """Its cells beside what was sent, its requests with their responses, and the command that shows the same."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 3))
    walk.to_result(found)
    shown = found.client.get(f"{walk.address(found, 'result')}/row?number=3")
    assert "person1@example.com" in shown.text
    assert "201" in shown.text
    assert "--row 3" in shown.text
    missing = found.client.get(f"{walk.address(found, 'result')}/row?number=99")
    assert "has no row 99" in missing.text


def test_fixed_rows_are_imported_from_the_result(pages: Start, serve: Serve) -> None:
    """What was fixed in report.xlsx is shown in the grid, checked and sent; nobody is sent twice."""
    served = serve()
    rows = [candidate(0), candidate(1, Phone="none"), candidate(2)]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    shown = walk.to_result(found)
    assert "2 of 3 candidates are in; 1 row needs a fix" in shown.text
    task = walk.task_of(found)
    assert task.finished is not None
    fix(task.finished.folder / "report.xlsx", {"Phone": "+905550000001"})
    checked = found.client.send(shown.form("/result/fixed"))
    assert "1 cell was corrected since this check" in checked.text
    draft = found.server.web.drafts.get(checked.address.split("/")[2])
    assert draft is not None
    found.client.send(checked.form("/check"))
    wait_until(lambda: (run := found.server.web.tasks.of(draft)) and run.is_over)
    shown = found.client.get(checked.address.replace("/check", "/send"))
    assert "1 candidate will be sent" in shown.text
    found.client.send(shown.form("/send"))
    wait_until(lambda: (run := found.server.web.tasks.of(draft)) and run.kind == "send" and run.is_over)
    assert len(served.accepted) == 3


def test_files_are_downloads_and_nothing_else_is(pages: Start, serve: Serve) -> None:
    """The files of the report are downloads, its page is shown without scripts; no other file of the machine is."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 3))
    walk.to_result(found)
    task = walk.task_of(found)
    assert task.finished is not None
    base = f"/runs/{task.finished.summary.run}/files"
    download = found.client.get(f"{base}/201_created.csv")
    assert "attachment" in download.headers["Content-Disposition"]
    assert download.html.count("@example.com") == 3
    page = found.client.get(f"{base}/report.html")
    assert page.headers["Content-Security-Policy"].startswith("sandbox")
    assert "script-src" not in page.headers["Content-Security-Policy"]
    for name in ("run.json", "..%2f..%2fmapping.yaml", "journal.sqlite", "%2e%2e"):
        assert found.client.get(f"{base}/{name}").status == 404
    for run in ("..", "last", "%2e%2e", "results"):
        assert found.client.get(f"/runs/{run}/files/summary.json").status == 404


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_a_download_follows_no_link(pages: Start, serve: Serve) -> None:
    """A link or a pipe that somebody put in the place of a results file is refused, and nothing of it is sent."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 1))
    walk.to_result(found)
    task = walk.task_of(found)
    assert task.finished is not None
    secret = served.door.folder / "secret"
    secret.write_text("s3cret")
    path = task.finished.folder / "201_created.csv"
    for plant in (path.symlink_to, lambda _: os.mkfifo(path)):
        path.unlink()
        plant(secret)
        shown = found.client.get(f"/runs/{task.finished.summary.run}/files/{path.name}")
        assert shown.status == 409
        assert "201_created.csv cannot be read" in shown.text
        assert "s3cret" not in shown.html


def test_a_run_of_the_command_is_shown_too(pages: Start, front_door: FrontDoor) -> None:
    """The list has every run of the results folder, and each can be opened."""
    people(front_door.folder, 3)
    front_door("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox")
    found = pages()
    assert "people.csv" in found.first.text
    assert "finished" in found.first.text
    shown = found.client.send(next(form for form in found.first.forms if form.action.endswith("/open")))
    assert "3 of 3 candidates are in" in shown.text
    assert Client(found.client.port, found.client.cookie).get("/").links.count(shown.address) == 1


def test_a_run_of_a_folder_of_mappings_keeps_its_route(pages: Start, front_door: FrontDoor) -> None:
    """A row that no mapping takes stays to be corrected here; without the others, it would only be filtered."""
    shutil.copytree(ROOT / "mappings" / "all_job_posts", front_door.folder / "all")
    shutil.copy(ROOT / "sample_data" / "all_job_posts" / "export.csv", front_door.folder)
    front_door("run", "export.csv", "--mapping", "all", "--sandbox")
    found = pages()
    opened = [form for form in found.first.forms if form.action.endswith("/open")]
    shown = found.client.send(opened[-1])  # the oldest, of the first mapping
    assert any(form.action.endswith("/result/correct") for form in shown.forms)
    drafts = Drafts(settings := load_settings(out=found.out))
    checked = check_file(drafts.order(next(drafts.all()), settings)).summary.outcomes
    assert {kind: count for kind, count in checked.items() if count} == {
        OutcomeKind.INVALID: 1, OutcomeKind.FILTERED: 3, OutcomeKind.ALREADY_IMPORTED: 2,
    }  # fmt: skip


def test_a_run_of_the_command_is_corrected_with_its_mapping_and_its_rows(pages: Start, serve: Serve) -> None:
    """The questions that the page asks for first are those of the run: its mapping file stays, also which rows."""
    served = serve()
    rows = [candidate(1), candidate(2, Phone="12"), candidate(3)]
    write_csv(served.door.folder / "people.csv", rows)
    served("run", "people.csv", "--mapping", "mapping.yaml", "--limit", "2")
    found = pages(live(served))
    shown = found.client.send(next(form for form in found.first.forms if form.action.endswith("/open")))
    base = shown.address.removesuffix("/result")
    found.client.send(shown.form("/result/correct"))
    found.client.send(found.client.get(f"{base}/target").form("/target"))
    draft = found.server.web.drafts.get(base.split("/")[2])
    assert draft is not None
    assert (Path(draft.mapping).name, draft.selection.limit) == ("mapping.yaml", 2)
    joined = replace(read_manifest(served.door.folder / "results" / draft.run), selection=Selection(part=Part(0, 4)))
    assert joined.selected == ALL_ROWS  # of a run that joins parts


def test_a_run_whose_file_and_mapping_are_gone_is_corrected_from_its_copies(pages: Start, serve: Serve) -> None:
    """As of an upload whose import was removed: the grid opens, and is checked again."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2, Phone="12")])
    served("run", "people.csv", "--mapping", "mapping.yaml")
    (served.door.folder / "mapping.yaml").unlink()
    write_csv(served.door.folder / "people.csv", [candidate(7)])  # another file of that name
    found = pages(live(served))
    shown = found.client.send(next(form for form in found.first.forms if form.action.endswith("/open")))
    shown = found.client.send(shown.form("/result/correct"))
    assert shown.address.endswith("/check")
    found.client.post(f"{shown.address}/cells", {**shown.form("/check/cells").fields, "r3c4": "+905550000002"})
    found.client.send(found.client.get(shown.address).form("/check"))
    draft = found.server.web.drafts.get(shown.address.split("/")[2])
    assert draft is not None
    task = found.server.web.tasks.of(draft)
    assert task is not None
    wait_until(lambda: task.is_over)
    assert task.finished is not None
    assert task.finished.summary.outcomes[OutcomeKind.INVALID] == 0
    assert len(served.accepted) == 1


def test_a_run_without_its_file_and_copies_is_still_shown(pages: Start, front_door: FrontDoor) -> None:
    """As after `forget`; only its rows cannot be corrected here."""
    file = people(front_door.folder, 3)
    front_door("run", "people.csv", "--mapping", "mapping.yaml", "--sandbox")
    for copy in front_door.folder.glob("results/*/source.csv"):
        copy.unlink()
    file.unlink()
    found = pages()
    shown = found.client.send(next(form for form in found.first.forms if form.action.endswith("/open")))
    assert "3 of 3 candidates are in" in shown.text
    assert found.client.get(shown.address.replace("/result", "/file")).status != 500


def test_a_run_goes_to_where_its_page_says(pages: Start, serve: Serve) -> None:
    """While it sends, the service is not changed; afterwards, with another one it is another import."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 20))
    shown = walk.to_send(found)
    switch = shown.form("/rehearsal")
    with served.held_after(5) as go_on:
        found.client.send(shown.form("/send"))
        wait_until(lambda: len(served.accepted) == 5)
        shown = found.client.get(walk.address(found, "send"))
        assert ("Rehearse in the sandbox" in shown.text, "Real service" in shown.text) == (False, True)
        assert found.client.send(switch).address.endswith("/send")
        assert "Real service" in found.client.get(walk.address(found, "send")).text
        go_on()
        walk.task_of(found)
    switch = found.client.get(walk.address(found, "result")).form("/rehearsal")
    assert found.client.send(switch).address.endswith("/check")
    draft = found.server.web.drafts.get(found.first.address.split("/")[2])
    assert draft is not None
    assert (draft.sandbox, draft.run) == (True, "")


def test_corrections_are_not_for_a_file_that_was_replaced(pages: Start, serve: Serve) -> None:
    """The row that was corrected is another person in the next export, with the same text in that cell."""
    served = serve()
    people_file = write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2, Phone="12")])
    found = pages(live(served), file=people_file)
    shown = walk.to_result(found)
    shown = found.client.send(shown.form("/result/correct"))
    base = shown.address.removesuffix("/check")
    fields = shown.form("/check/cells").fields
    found.client.post(f"{base}/check/cells", {**fields, "r3c4": "+905550000001"})
    assert "1 cell was corrected" in found.client.get(f"{base}/check").text
    shown = found.client.send(found.client.get(f"{base}/result").form("/result/correct"))
    assert "1 cell was corrected" in shown.text  # what was typed is not lost
    found.client.post(f"{base}/check/cells", {**fields, "r3c4": "+905550000002"})
    fix(served.door.folder / "results" / fields["grid"] / "report.xlsx", {"Phone": "+905550000003"})
    found.client.send(found.client.get(f"{base}/result").form("/result/fixed"))
    assert "+905550000003" in found.client.get(f"{base}/check").text  # what was typed in the report came last
    write_csv(people_file, [candidate(1), candidate(7, Phone="12")])
    found.client.send(found.client.get(f"{base}/check").form("/check"))
    walk.task_of(found)
    assert "was changed or replaced since its rows were checked" in found.client.get(f"{base}/check").text
    assert len(served.accepted) == 1


def test_corrected_cells_are_listed_and_shown_in_match(pages: Start, serve: Serve) -> None:
    """Where a person looks for what was typed: the rows with it in Check, and the samples in Match."""
    served = serve()
    rows = [candidate(number, Phone="12" if number == 2 else "+905550000001") for number in range(5)]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    walk.to_check(found)
    base = walk.address(found, "check")
    fields = found.client.get(base).form("/check/cells").fields
    found.client.post(f"{base}/cells", {**fields, "r4c4": "+905550000077"})
    listed = found.client.get(f"{base}?cause=corrected")
    assert "+905550000077" in listed.html
    assert "person2@example.com" in listed.html
    assert "person1@example.com" not in listed.html
    assert "+905550000077" in found.client.get(walk.address(found, "match")).html


def test_rejected_rows_are_sent_again_from_the_result(pages: Start, serve: Serve) -> None:
    """What the service rejected is sent again by one click when its cause is gone, and nobody twice."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no such post", "times": 1})
    found = pages(live(served), file=people(served.door.folder, 3))
    shown = walk.to_result(found)
    assert "1 row was rejected by the service." in shown.text
    found.client.send(shown.form("/result/retry"))
    walk.task_of(found)
    assert "1 row was rejected" not in found.client.get(walk.address(found, "result")).text
    assert sorted(served.accepted) == [f"person{number}@example.com" for number in range(3)]


def test_an_import_that_is_being_prepared_is_removed(pages: Start) -> None:
    """With its upload; what it was is said at once."""
    found = pages()
    found.client.upload(found.first.form("/upload"), "people.csv", b"E-mail,Name\na@example.com,Ada\n")
    (draft,) = found.server.web.drafts.all()
    shown = found.client.send(found.client.get("/").form(f"/imports/{draft.id}/remove"))
    assert "The import was removed." in shown.text
    assert not list(found.server.web.drafts.all())
    assert not list(found.out.rglob("people.csv"))
    assert found.client.get(f"/imports/{draft.id}/file").status == 404


def test_a_path_without_a_file(pages: Start) -> None:
    """A path that was mistyped, too long or empty is said at its field."""
    found = pages()
    shown = found.first
    for path, message in (("", "Enter the path"), ("no/such.csv", "There is no file"), ("a" * 5_000, "There is no")):
        shown = found.client.send(shown.form("/by-path"), path=path)
        assert message in shown.text
