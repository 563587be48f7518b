"""The steps Match and Check: a file whose proposal is partly wrong, put right by forms, and its cells corrected."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

from importer.app.import_file import CheckStopped, Finished, check_file
from importer.app.orders import Listener, RunControl
from importer.web.pages import _by_clicks
from tests.cli.conftest import FrontDoor, Served, candidate, write_csv
from tests.patience import PATIENCE
from tests.transform.cases import BAD
from tests.web import walk
from tests.web.client import Client, Shown
from tests.web.conftest import Pages
from tests.web.test_runs import live, outcomes_of

Start = Callable[..., Pages]
Serve = Callable[..., Served]
HEADER = ["Info", "Ad Soyad", "Ref", "Line", "Line 2", "Level", "Available from", "Work permit", "Salary"]
PEOPLE = [
    ["ada@example.com", "Ada Öz", "71", "+905550000001", "+905550000099", "Sr", "03/04/2025", "evet", "1000"],
    ["bob(at)example.com", "Bob Ak", "72", "+905550000002", "+905550000099", "Junior", "05/04/2025", "no", "a lot"],
    ["cem(at)example.com", "Cem Su", "73", "+905550000003", "+905550000099", "Chef", "06/04/2025", "yes", "a lot"],
    ["dan@example.com", "Dan <b>Ay</b>", "74", "+905550000004", "+905550000099", "Chef", "", "yes", "900"],
    ["eve@example.com", "Eve Uz", "75", "+905550000005", "+905550000099", "Lead", "31.02.2025", "belki", ""],
]


def odd_file(folder: Path, rows: list[list[str]] = PEOPLE) -> Path:
    """A file that the proposal gets partly wrong, with a cell of markup."""
    path = folder / "odd people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


def at_match(found: Pages) -> Shown:
    return walk.to_match(found)


def change(client: Client, shown: Shown, do: str, id: str, **fields: str) -> Shown:
    """Send a form of the step Match."""
    form = shown.form("/match/use")
    values = {"token": form.fields["token"], "do": do, "id": id, **fields}
    answer = client.post(shown.address.partition("?")[0], values)
    assert answer.status == 303
    return client.get(answer.headers["Location"])


def matched(client: Client, shown: Shown) -> Shown:
    """The odd file with everything that it needs matched."""
    shown = change(client, shown, "use", "candidate/email", column="Info")
    shown = change(client, shown, "use", "candidate/cv", column="Ref")
    shown = change(client, shown, "use", "answers/phone", column="Line")
    shown = change(client, shown, "translate", "answers/level", text="Chef", option="Lead")
    shown = change(client, shown, "keys", "answers/available_from", dates="%d/%m/%Y")
    return change(client, shown, "use", "answers/salary", column="Salary")


def test_what_was_chosen_for_texts_is_shown_and_can_be_changed(pages: Start, tmp_path: Path) -> None:
    """Each text of a cell has its option, another one, or none again."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = matched(found.client, at_match(found))
    form = next(form for form in shown.forms if form.fields.get("known") and form.fields["id"] == "answers/level")
    assert form.fields["text"] in ("Sr", "Chef")
    assert "<option selected>Lead</option>" in shown.html
    shown = change(found.client, shown, "translate", "answers/level", text="Chef", option="Senior", known="yes")
    assert "Chef: Senior" in found.client.get(walk.address(found, "match") + "/file").html
    shown = change(found.client, shown, "translate", "answers/level", text="Chef", option="", known="yes")
    assert "Chef:" not in found.client.get(walk.address(found, "match") + "/file").html


MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {unused_columns: ignore}
candidate:
  first_name: {column: Ad Soyad, part: first}
  last_name: {column: Ad Soyad, part: last}
  email: Info
  cv: Ref
answers:
  salary: Salary
  available_from: {column: Available from, dates: "%d/%m/%Y"}
  work_permit: Work permit
  level: {column: Level, values: {Sr: Senior, Chef: Lead}}
  phone: Line
"""


def checked_with_a_file(found: Pages) -> Shown:
    """The step Check of the odd file, with a mapping file that has everything that it needs."""
    own = found.out.with_name("own.yaml")
    own.write_text(MAPPING, "utf-8")
    found.client.send(at_match(found).form("/match/open"), path=str(own))
    return checked(found)


def correct(found: Pages, row: int, **cells: str) -> Shown:
    """Correct cells of a row of the grid: `c0` is the first column."""
    shown = found.client.get(walk.address(found, "check"))
    values = {f"r{row}{name}": text for name, text in cells.items()}
    answer = found.client.post(walk.address(found, "check") + "/cells", {**_fields(shown), **values})
    assert answer.status == 303
    return found.client.get(walk.address(found, "check"))


def _fields(shown: Shown) -> dict[str, str]:
    """What a change of cells is sent with."""
    return shown.form("/check/cells").fields


def checked(found: Pages) -> Shown:
    """Check all rows with the mapping as it is."""
    shown = found.client.get(walk.address(found, "match"))
    found.client.send(shown.form("/match/use"))
    walk.task_of(found)
    return found.client.get(walk.address(found, "check"))


def checked_again(found: Pages) -> Shown:
    shown = found.client.get(walk.address(found, "check"))
    found.client.send(shown.form("/check"))
    walk.task_of(found)
    return found.client.get(walk.address(found, "check"))


def test_each_question_shows_its_column_and_what_is_open(pages: Start, tmp_path: Path) -> None:
    """The state in words, samples with how many are filled, the columns that nothing uses, and what is required."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = at_match(found)
    assert "of 6 required questions are matched" in shown.text
    assert "(5 of 5)" in shown.text
    assert "2 columns that nothing uses" not in shown.text
    assert "&lt;b&gt;Ay&lt;/b&gt;" in shown.html
    assert "<b>Ay</b>" not in shown.html
    assert "importer mapping check" in shown.text


def test_a_change_is_a_change_of_the_file(pages: Start, tmp_path: Path) -> None:
    """The file is shown and can be downloaded; each form changes its value and says the new state."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = matched(found.client, at_match(found))
    assert "6 of 6 required questions are matched ! 4 of 5 rows are held back with this mapping" in shown.text
    assert "! 2 rows held back" in shown.text
    text = found.client.get(walk.address(found, "match") + "/file").html
    assert "Chef: Lead" in text
    assert "  email: Info" in text
    assert '"%d/%m/%Y"' in text
    assert "05/04/2025" in shown.text
    shown = change(found.client, shown, "leave_out", "answers/salary")
    assert "salary" not in found.client.get(walk.address(found, "match") + "/file").html


def test_what_must_be_reviewed_is_cleared_by_clicks(pages: Start, serve: Serve) -> None:
    """Send names what is left and does not send before that; each click clears a mark."""
    served = serve()
    file = write_csv(served.door.folder / "people.csv", [candidate(0, Phone="0555 000 00 00")])
    found = pages(live(served), file=file)
    shown = at_match(found)
    assert "The country of phone numbers without +: TR It is right" in shown.text
    checked(found)
    shown = found.client.get(walk.address(found, "send"))
    assert "Nothing is sent before you have reviewed these 3 matches: Region Last name Work permit" in shown.text
    assert "Review 3 matches" in shown.text
    assert "Send 1 candidate" not in shown.text
    assert [link.partition("/match")[2] for link in shown.links if "/match" in link][-4:] == [
        "#defaults-region",
        "#candidate-last_name",
        "#answers-work_permit",
        "?show=review",
    ]
    walk.review(found)
    assert "please check" not in found.client.get(walk.address(found, "match") + "/file").html
    assert "Send 1 candidate" in found.client.get(checked(found).address.replace("/check", "/send")).text


def test_a_rehearsal_does_not_wait_for_a_review(pages: Start, tmp_path: Path) -> None:
    """It says that a real run would be refused, and for what."""
    found = pages(file=write_csv(tmp_path / "people.csv", [candidate(0)]), sandbox=True)
    at_match(found)
    checked(found)
    shown = found.client.get(walk.address(found, "send"))
    assert "A real run is refused before you have reviewed these 2 matches: Last name Work permit" in shown.text
    assert "Rehearse with 1 candidate" in shown.text


def test_dates_with_names_of_months_are_matched(pages: Start, tmp_path: Path) -> None:
    """The step shows how a cell is read, where day and month cannot be exchanged."""
    rows = [[*row[:6], "15 Jan 2027", *row[7:]] for row in PEOPLE]
    shown = at_match(pages(file=odd_file(tmp_path, rows), sandbox=True))
    assert shown.status == 200
    assert "15 Jan 2027 → 15 January 2027" in shown.text


def test_search_and_what_is_open(pages: Start, tmp_path: Path) -> None:
    """Only the questions that match; without one it says so."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    at_match(found)
    shown = found.client.get(walk.address(found, "match") + "?q=phone")
    assert 'id="answers-phone"' in shown.html
    assert 'id="answers-level"' not in shown.html
    assert 'id="answers-level"' not in found.client.get(walk.address(found, "match") + "?show=open&q=level").html
    assert "No question matches" in found.client.get(walk.address(found, "match") + "?q=nowhere").text


def test_a_row_is_shown_as_it_would_be_sent(pages: Start, tmp_path: Path) -> None:
    """Beside its cells, with problems and what nothing uses; links lead to the others, and a change keeps the row."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = at_match(found)
    assert "1 of 5" in shown.text
    assert "required, and no column answers it" in shown.text
    shown = change(found.client, shown, "use", "candidate/email", column="Info")
    shown = found.client.get(next(link for link in shown.links if "row=" in link and "order" not in link))
    row = shown.text.partition(" as it would be sent")[0][-1]
    form = next(form for form in shown.forms if f"match?row={row}" in form.action)
    answer = found.client.post(form.action, {**form.fields, "do": "leave_out", "id": "answers/level"})
    assert f"row={row}" in answer.headers["Location"]
    shown = found.client.get(answer.headers["Location"])
    assert f"Row {row} as it would be sent" in shown.text
    assert "bob(at)example.com' is not a valid e-mail address" in found.client.get(f"{shown.address}?row=3").text
    assert "Row 2 as it would be sent" in found.client.get(f"{shown.address}?row=2&order=file").text


def test_a_form_that_cannot_be_used_says_why(pages: Start, tmp_path: Path) -> None:
    """A constant without a text, an entry without a name, a change that there is not: nothing is changed."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = at_match(found)
    before = found.client.get(walk.address(found, "match") + "/file").html
    shown = change(found.client, shown, "constant", "answers/level", value="")
    assert "enter the value that every row gets" in shown.text.lower()
    shown = change(found.client, shown, "add_group", "answers/education", kind="education", degree="Level")
    assert "every entry needs one" in shown.text
    shown = change(found.client, shown, "explode", "answers/level")
    assert "this form is not known" in shown.text.lower()
    assert found.client.get(walk.address(found, "match") + "/file").html == before


def test_a_mapping_file_of_this_machine_is_opened_and_kept(pages: Start, tmp_path: Path) -> None:
    """With its comments and what the page does not show; the file itself is not changed."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    matched(found.client, at_match(found))
    text = found.client.get(walk.address(found, "match") + "/file").html
    own = tmp_path / "own.yaml"
    own.write_text(f"# Kept by Ada\n{text}".replace("defaults:\n", "defaults:\n  optional: leave_out\n"), "utf-8")
    shown = found.client.get(walk.address(found, "match"))
    shown = found.client.send(shown.form("/match/open"), path=str(own))
    assert "defaults: optional" in shown.text
    change(found.client, shown, "leave_out", "answers/salary")
    now = found.client.get(walk.address(found, "match") + "/file").html
    assert now.startswith("# Kept by Ada\n")
    assert "salary: Salary" in own.read_text("utf-8")
    shown = found.client.get(walk.address(found, "match"))
    shown = found.client.send(shown.form("/match/open"), path=str(tmp_path / "none.yaml"))
    assert "the mapping file cannot be read" in shown.text


def test_a_mapping_that_names_other_files_can_be_changed(pages: Start, tmp_path: Path) -> None:
    """Its value table and its shared file are in the copy; it is fitted to a file that is read in another way."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    at_match(found)
    (tmp_path / "levels.csv").write_text("cell,value\nSr,Senior\n", "utf-8")
    (tmp_path / "_shared.yaml").write_text("answers: {salary: {column: Salary, optional: leave_out}}\n", "utf-8")
    own = tmp_path / "own.yaml"
    own.write_text(
        "version: 1\nextends: _shared.yaml\ntarget: {job_post: 4f2c9a}\nsource: {header_row: 40}\n"
        "candidate: {first_name: {column: Ad Soyad, part: first}, last_name: Ad Soyad, email: Info, cv: Ref}\n"
        "answers:\n  phone: Line\n  level: {column: Level, values: levels.csv}\n",
        "utf-8",
    )
    shown = found.client.get(walk.address(found, "match"))
    shown = found.client.send(shown.form("/match/open"), path=str(own))
    assert "Your mapping is kept, and fitted to this target" in shown.text
    shown = change(found.client, shown, "use", "answers/phone", column="Line 2")
    now = found.client.get(walk.address(found, "match") + "/file").html
    assert ('"Sr": "Senior"' in now, "Line 2" in now, "header_row: 40" in now) == (True, True, False)
    assert '"salary":\n    "column": "Salary"' in now


def test_a_mapping_that_cannot_be_shown_can_be_begun_again(pages: Start, tmp_path: Path) -> None:
    """The page has the steps, and a button that makes the proposal again."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    at_match(found)
    draft = found.server.web.drafts.get(walk.address(found, "match").split("/")[2])
    assert draft is not None
    (found.server.web.drafts.folder(draft) / "odd people.yaml").write_text("{", "utf-8")
    answer = found.client.get(walk.address(found, "match"))
    assert "is not valid YAML" in answer.text
    shown = found.client.send(answer.form("/match/propose"))
    assert "questions are matched" in shown.text


def test_hints_speak_of_clicks_and_not_of_the_mapping_file(pages: Start, tmp_path: Path) -> None:
    """Neither step names the copy that is read, nor its lines; the command that does the same does."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = matched(found.client, at_match(found))
    shown = change(found.client, shown, "use", "answers/level", column="Level")
    shown = found.client.get(f"{shown.address}?row=4")
    assert "choose an option for it in Match" in shown.text
    assert ".shown-" not in shown.html
    shown = checked(found)
    assert "hoose an option for it in Match" in unescape(shown.html)
    assert ".yaml:" not in shown.text
    assert "odd people.yaml'" in shown.text


def test_a_mapping_file_is_opened_by_upload(pages: Start, tmp_path: Path) -> None:
    """Its errors name it as the person does, nothing of it stays in the folder, and opening it can be taken back."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = at_match(found)
    before = found.client.get(walk.address(found, "match") + "/file").html
    shown = found.client.upload(shown.form("/match/upload"), "own.yaml", b"version: 1\nsurprise: 1\n")
    assert "own.yaml:2:1:" in shown.text
    shown = found.client.upload(shown.form("/match/upload"), "own.yaml", b"#" * (1 << 20) + b"#" * (5 << 20))
    assert "the file is larger than 1 MB" in shown.text
    assert "IMPORTER_UPLOAD_MEGABYTES" not in shown.text
    own = "# Kept\n" + matched_text(before)
    shown = found.client.upload(shown.form("/match/upload"), "own.yaml", own.encode())
    assert found.client.get(walk.address(found, "match") + "/file").html == own
    assert not list((found.out / ".importer").glob("*/mapping_upload"))
    shown = found.client.send(next(form for form in shown.forms if "/match/back" in form.action))
    assert found.client.get(walk.address(found, "match") + "/file").html == before
    assert "Take the last change back" not in shown.text


def matched_text(proposed: str) -> str:
    """The proposal of the odd file with what it lacks."""
    return proposed.replace("candidate:\n", "candidate:\n  email: Info\n  cv: Ref\n").replace("linkedin: ", "x: ")


def test_another_reading_or_target_keeps_the_choices(pages: Start, tmp_path: Path) -> None:
    """What a person chose stays and is shown with what no longer fits; what is not asked is removed."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = change(found.client, at_match(found), "use", "candidate/email", column="Info")
    change(found.client, shown, "use", "answers/phone", column="Line")
    shown = found.client.send(found.client.get(walk.address(found, "file")).form("/file"), header_row="3")
    assert "Your mapping is kept" in shown.text
    found.client.send(shown.form("/file/use"))
    shown = found.client.get(walk.address(found, "match"))
    assert "none of the mapping's columns is in row 3" in shown.text
    shown = found.client.send(found.client.get(walk.address(found, "file")).form("/file"), header_row="1")
    found.client.send(shown.form("/file/use"))
    shown = found.client.send(found.client.get(walk.address(found, "target")).form("/target"), kind="pool", target="17")
    assert "Your mapping is kept" in shown.text
    shown = found.client.get(walk.address(found, "match"))
    text = found.client.get(walk.address(found, "match") + "/file").html
    assert "phone" not in text
    assert "  email: Info" in text
    assert "3 of 4 required questions are matched" in shown.text


def test_cells_are_corrected_in_the_grid(pages: Start, tmp_path: Path) -> None:
    """The row is checked at once, the cell is marked and can be taken back, and the next check has the corrections."""
    file = odd_file(tmp_path)
    before = file.read_bytes()
    found = pages(file=file, sandbox=True)
    shown = checked_with_a_file(found)
    assert "'bob(at)example.com' is not a valid e-mail address" in unescape(shown.html)
    assert "Prepare to send" in shown.text
    shown = correct(found, 3, c0="bob@example.com", c8="1100")
    assert "2 cells were corrected since this check" in shown.text
    assert 'data-old="bob(at)example.com"' in shown.html
    assert "(as corrected)" in shown.text
    assert "Prepare to send" not in shown.text
    shown = correct(found, 3, c8="a lot")  # as in the file
    assert "1 cell was corrected since this check" in shown.text
    correct(found, 3, c8="1100")
    shown = found.client.get(walk.address(found, "check"))
    answer = found.client.post(walk.address(found, "check") + "/same", {**_fields(shown), "row": "3", "column": "8"})
    assert answer.status == 303
    shown = found.client.get(walk.address(found, "check"))
    assert "3 cells were corrected" in shown.text
    shown = checked_again(found)
    assert "3 corrected cells" in shown.text
    assert "were corrected since" not in shown.text
    assert file.read_bytes() == before


def test_a_running_check_is_stopped(pages: Start, tmp_path: Path) -> None:
    """A button stops it; then the page is as it was before the check, and the check can be started again."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    before = checked_with_a_file(found).text
    draft = found.server.web.drafts.get(found.first.address.split("/")[2])
    assert draft is not None
    order, may_go_on = found.server.web.drafts.order(draft, found.server.web.settings()), threading.Event()

    def slow(listen: Listener, control: RunControl) -> Finished:
        return check_file(order, lambda event: (may_go_on.wait(PATIENCE), listen(event))[1], control)

    found.server.web.tasks.start(draft, "check", slow)
    shown = found.client.get(walk.address(found, "check"))
    shown = found.client.send(shown.form("/check/stop"))
    assert "Stopping ..." in shown.text
    may_go_on.set()
    assert walk.task_of(found).error is None
    assert found.client.get(walk.address(found, "check")).text == before
    assert "Prepare to send" in checked(found).text


def test_a_check_with_other_choices_replaces_the_one_that_is_running(pages: Start, tmp_path: Path) -> None:
    """It is not lost in the end of the older one, whose choices are not those of the page any more."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    checked_with_a_file(found)
    draft = found.server.web.drafts.get(found.first.address.split("/")[2])
    assert draft is not None
    older = threading.Event()

    def slow(listen: Listener, control: RunControl) -> Finished:
        older.set()
        while not control.is_stopped:
            threading.Event().wait(0.01)
        raise CheckStopped

    found.server.web.tasks.start(draft, "check", slow)
    assert older.wait(PATIENCE)
    changed = found.server.web.drafts.change(draft.id, rows=None, check="")
    order = found.server.web.drafts.order(changed, found.server.web.settings())
    task = found.server.web.tasks.start(changed, "check", lambda listen, control: check_file(order, listen, control))
    assert task.over.wait(PATIENCE)
    assert (task.error, task.finished is not None) == (None, True)
    assert "Prepare to send" in found.client.get(walk.address(found, "check")).text


def test_the_grid_shows_a_cause_or_all_rows_by_pages(pages: Start, tmp_path: Path) -> None:
    """Rows with one problem only, all rows, the next ones, and one row with all its cells and what would be sent."""
    rows = [
        [f"p{number}@example.com", "Ada Öz", "7", "+905550000001", "+905550000099", "Sr", "", "yes", "x"]
        for number in range(45)
    ]
    found = pages(file=odd_file(tmp_path, [*PEOPLE, *rows]), sandbox=True)
    shown = checked_with_a_file(found)
    check = walk.address(found, "check")
    assert "Next rows" in shown.text
    shown = found.client.get(f"{check}?first=40")
    assert ("Previous rows" in shown.text, "Next rows" in shown.text) == (True, False)
    shown = found.client.get(f"{check}?cause=email-invalid|Info")
    assert "Info: email invalid" in shown.text
    assert "p1@example.com" not in shown.html
    shown = found.client.get(f"{check}?all=1&row=2")
    assert "ada@example.com" in shown.html
    assert "What would be sent for row 2" in shown.text
    assert "2025-04-03" in shown.text


def test_all_cells_of_a_cause_are_corrected_at_once(pages: Start, tmp_path: Path) -> None:
    """Each cause has its fix, with its count and examples; where there is none, a link to its question."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    checked_with_a_file(found)
    check = walk.address(found, "check")
    shown = found.client.get(f"{check}?cause=email-invalid|Info")
    assert "Write @ and points in place of words" in shown.text
    assert "bob(at)example.com → becomes bob@example.com" in shown.text
    assert "Replace it in all 2 cells" in shown.text
    other = found.client.get(f"{check}?cause=number-invalid|Salary")
    assert any(link.endswith("/match?q=Salary") for link in other.links)
    shown = found.client.send(shown.form("/check/fix"))
    assert "2 cells were corrected since this check" in shown.text
    assert 'data-old="cem(at)example.com"' in shown.html
    assert "Write @ and points in place of words" not in shown.text
    assert "is not a valid e-mail address" not in checked_again(found).html


def test_rows_that_a_run_refused_are_corrected_in_the_grid_and_sent(pages: Start, serve: Serve) -> None:
    """The reason of the service is at its row; corrected rows alone are sent then, and nobody twice."""
    refused = {"kind": "refuse", "emails": ["person1@example.com"], "message": "not this one", "operation": "apply"}
    served = serve(refused)
    rows = [candidate(0), candidate(1), candidate(2, Phone="none"), candidate(3)]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    shown = walk.to_result(found)
    assert "2 of 4 candidates are in; 2 rows need a fix" in shown.text
    shown = found.client.send(shown.form("/result/correct"))
    assert "These are the rows of the run that was sent." in shown.text
    assert "not this one" in shown.html
    assert "person1@example.com" in shown.html
    assert "person0@example.com" not in shown.html
    correct(found, 3, c0="person9@example.com")
    shown = correct(found, 4, c4="+905550000002")
    assert "2 cells were corrected since this check" in shown.text
    grid = found.client.get(f"{shown.address}?all=1").html
    assert ("<tr data-done>" in grid, grid.count("data-done")) == (True, 2)
    shown = checked_again(found)
    assert "Prepare to send 2 candidates" in shown.text
    found.client.send(found.client.get(walk.address(found, "send")).form("/send"))
    walk.task_of(found)
    assert "4 of 4 candidates are in" in found.client.get(walk.address(found, "result")).text
    assert sorted(served.accepted) == [f"person{number}@example.com" for number in (0, 2, 3, 9)]


def test_rows_that_are_not_sent_again_are_not_promised(pages: Start, serve: Serve) -> None:
    """Check and Send count neither rows that were rejected and have not changed, nor rows that are imported."""
    emails = [f"person{number}@example.com" for number in (1, 2)]
    served = serve({"kind": "refuse", "emails": emails, "message": "not this one", "operation": "apply"})
    rows = [candidate(0), candidate(1), candidate(2), candidate(3, Phone="none"), candidate(4, Phone="none")]
    found = pages(live(served), file=write_csv(served.door.folder / "people.csv", rows))
    shown = walk.to_result(found)
    found.client.send(shown.form("/result/correct"))
    correct(found, 5, c4="+905550000002")
    shown = checked_again(found)
    assert "Prepare to send 1 candidate" in shown.text
    assert "The service rejected this row (400: not this one) in run " in shown.html
    shown = found.client.get(walk.address(found, "send"))
    assert "1 candidate will be sent to" in shown.text
    found.client.send(shown.form("/send"))
    walk.task_of(found)
    assert served.accepted == ["person0@example.com", "person3@example.com"]
    correct(found, 3, c1="Anna")
    assert "Prepare to send 1 candidate" in checked_again(found).text


def test_a_cell_that_there_is_not_is_not_corrected(pages: Start, tmp_path: Path) -> None:
    """It is said on the page, and the list stays as it was."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    shown = checked_with_a_file(found)
    for fields in ({"rxc0": "a"}, {"r99c0": "a"}, {"r3c99": "a"}):
        found.client.post(walk.address(found, "check") + "/cells", {**_fields(shown), **fields})
        shown = found.client.get(walk.address(found, "check"))
        assert "There is a problem" in shown.text, fields
        assert "corrected cell" not in shown.text


def test_the_outcome_is_that_of_the_command_with_a_corrected_file(
    pages: Start, front_door: FrontDoor, serve: Serve, tmp_path: Path
) -> None:
    """The mapping that the page wrote gives each row of a corrected file the same outcome by the command."""
    served = serve()
    found = pages(live(served), file=odd_file(tmp_path))
    matched(found.client, at_match(found))
    walk.review(found)
    checked(found)
    correct(found, 3, c0="bob@example.com", c8="1100")
    correct(found, 6, c7="no", c6="28/02/2025")
    checked_again(found)
    found.client.send(found.client.get(walk.address(found, "send")).form("/send"))
    task = walk.task_of(found)
    assert task.finished is not None
    draft = found.server.web.drafts.get(task.draft.id)
    assert draft is not None
    rows = [list(row) for row in PEOPLE]
    rows[1][0], rows[1][8], rows[4][7], rows[4][6] = "bob@example.com", "1100", "no", "28/02/2025"
    corrected = str(odd_file(front_door.folder, rows))
    ran = front_door("run", corrected, "--mapping", draft.mapping, "--sandbox", "--out", "other", "--json")
    by_command = outcomes_of(front_door.folder / "other" / ran.summary["run"])
    assert outcomes_of(task.finished.folder) == by_command
    assert sorted(kind for kind, _ in by_command.values()) == ["created", "created", "created", "invalid", "invalid"]
    bodies: dict[str, Any] = {body["email"]: body for body in served.sandbox.memory.accepted()}
    assert set(bodies) == {"ada@example.com", "bob@example.com", "eve@example.com"}


def test_a_file_that_is_gone_is_reported(pages: Start, tmp_path: Path) -> None:
    """The step Match says that the file does not exist any more."""
    file = tmp_path / "people.csv"
    file.write_text("E-mail,Name\na@example.com,Ada\n")
    found = pages(file=file, sandbox=True)
    walk.to_match(found)
    file.unlink()
    shown = found.client.get(walk.address(found, "match"))
    assert (shown.status, f"{file}: the file does not exist" in shown.text) == (409, True)


def test_hints_about_numbers_and_choices_speak_of_clicks() -> None:
    """Every hint of a cell that a click in Match can answer names that click, and no key of the mapping file."""
    keys = re.compile(r"\b(?:split|pick|decimal|thousands|currency|region|values|missing): (?:in|and) ")
    said = {bad.problem: _by_clicks(bad.problem) for bad in BAD}
    assert [text for text in said.values() if keys.search(text)] == []
    assert len([text for text, clicks in said.items() if text != clicks]) > 50
