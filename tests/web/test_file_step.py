"""A new import, and the step File."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

import importer.web.file
from importer.app.cleanup import find_old, purge
from importer.app.inspect_file import FirstRows
from importer.app.orders import Listener, RunControl, reading_file
from importer.web.server import running
from importer.web.steps import NAMES
from tests.patience import PATIENCE
from tests.samples.sample import ROOT
from tests.web import walk
from tests.web.client import Client
from tests.web.conftest import Pages

Start = Callable[..., Pages]
EXPORT = ROOT / "sample_data" / "legacy_ats_export.xlsx"


def test_the_first_rows_are_shown_as_they_are_read(pages: Start) -> None:
    """Sheet, header row and the first 20 rows with their numbers; the other sheets can be chosen."""
    shown = pages(file=EXPORT, sandbox=True).first
    assert "XLSX, sheet 'Candidates', header found in row 3 (rows 1 to 2 above it left out), 62 columns" in shown.text
    assert shown.form("/file").fields["sheet"] == ""
    assert "Notes" in shown.texts
    assert "Use these 62 columns" in shown.text
    assert "ulku.yilmaz@example.net" in shown.text.lower()


def test_the_table_follows_how_the_file_is_read(pages: Start) -> None:
    """Another header row shows another table at once; the choice is kept."""
    found = pages(file=EXPORT, sandbox=True)
    shown = found.client.send(found.first.form("/file"), header_row="2", sheet="Candidates")
    assert "header in row 2" in shown.text
    assert "000003" in shown.text
    assert found.client.get(shown.address).form("/file").fields["header_row"] == "2"


def test_the_encoding_is_chosen_by_the_words_that_it_reads(pages: Start, tmp_path: Path) -> None:
    """A file that is not UTF-8: each likely encoding is a button, beside words of the file as it reads them."""
    file = tmp_path / "adaylar.csv"
    file.write_text("E-posta;Doğum Tarihi;Çalışma İzni\na@example.com;1.2.1990;Evet\n", encoding="cp1254")
    found = pages(file=file)
    assert "Which words are right?" in found.first.text
    assert "Read as cp1254" in found.first.texts
    assert "Doğum Tarihi · Çalışma İzni" in found.first.texts
    assert "in the mapping" not in found.first.text
    choice = next(form for form in found.first.forms if form.fields.get("encoding") == "cp1254")
    assert 'CSV, cp1254, delimiter ";", header found in row 1' in found.client.send(choice).text


def test_a_cover_sheet_is_not_what_is_shown(pages: Start, tmp_path: Path) -> None:
    """The sheet with the candidates is, as in the steps behind it, and the page says so."""
    book = Workbook()
    cover, people = book.active, book.create_sheet("People")
    assert cover is not None
    cover.title = "Cover"
    for row in (("Report", "Version"), ("Candidates", 3)):
        cover.append(row)
    for row in (("E-mail", "First name", "Last name"), ("ada@example.com", "Ada", "Nur")):
        people.append(row)
    book.save(tmp_path / "people.xlsx")
    shown = pages(file=tmp_path / "people.xlsx").first
    assert "The sheet 'Cover' comes first, but contains no candidates, so 'People' is read." in shown.text
    assert "Use these 3 columns" in shown.text


def test_one_of_several_tables_is_chosen(pages: Start, tmp_path: Path) -> None:
    """Behind a cover, candidates and their jobs: a person says which are the candidates."""
    book = Workbook()
    people = [("E-mail", "First name", "Last name"), *((f"p{one}@example.com", "Ada", "Nur") for one in range(5))]
    jobs = [("Person", "Company", "Position"), *((f"p{one}@example.com", "ACME", "Tester") for one in range(5))]
    cover = [("Export from ACME",), (None,), ("Confidential",)]
    for title, rows in (("Cover", cover), ("People", people), ("Jobs", jobs)):
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    del book["Sheet"]
    book.save(tmp_path / "people.xlsx")
    found = pages(file=tmp_path / "people.xlsx")
    assert "but 'People', 'Jobs' have one" in found.first.text
    assert "Choose it in the step File</p>" not in found.first.text
    shown = found.client.send(found.first.form("/file"), sheet="People")
    assert "Use these 3 columns" in shown.text


def test_a_file_that_cannot_be_read_is_read_once(pages: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that takes: its page would wait for ever otherwise. A file that is changed is read again."""
    path = tmp_path / "people.csv"
    path.write_bytes("E-posta;Doğum\na@example.com;1.2.1990\n".encode("cp1254"))
    read = list[Path]()

    def first_rows(file: Path, *others: Any) -> FirstRows:
        read.append(file)
        return real(file, *others)

    real = importer.web.file.first_rows
    monkeypatch.setattr(importer.web.file, "first_rows", first_rows)
    found = pages(file=path)
    for _ in range(3):
        assert "Which words are right?" in found.client.get(found.first.address).text
    assert len(read) == 1
    path.write_text("E-posta;Ad\na@example.com;Ada\n", "utf-8")
    assert "header found in row 1" in found.client.get(found.first.address).text


def test_an_empty_file_is_told_when_it_is_sent(pages: Start) -> None:
    """As when it is named by its path."""
    found = pages()
    shown = found.client.upload(found.first.form("/upload"), "people.csv", b"")
    assert "the file is empty" in shown.text.lower()


def test_a_page_does_not_wait_for_a_large_file(pages: Start, tmp_path: Path) -> None:
    """While a file is being read the page says so, and shows its rows afterwards."""
    found = pages()
    web, may_go_on = found.server.web, threading.Event()
    file = tmp_path / "people.csv"
    file.write_text("E-mail,Name\na@example.com,Ada\n")
    draft = web.drafts.create(file=str(file))

    def read(listen: Listener, _: RunControl) -> None:
        listen(reading_file("people.csv", 1_000_000))
        may_go_on.wait(PATIENCE)

    task = web.tasks.start(draft, "read", read)
    shown = found.client.request("GET", f"/imports/{draft.id}/file")
    assert "Reading people.csv (1 MB) ..." in shown.text
    assert "Use these" not in shown.text
    assert "cannot be used" not in shown.text
    may_go_on.set()
    task.over.wait(PATIENCE)
    assert "Use these 2 columns" in found.client.get(f"/imports/{draft.id}/file").text


def test_a_file_that_cannot_be_read_says_why_and_can_be_read_otherwise(pages: Start) -> None:
    """An encoding that must be chosen is on top of the page, which names the file; with it the table is shown."""
    found = pages()
    content = "E-mail;Şehir\na@example.com;İzmir\nb@example.com;Muğla\n".encode("cp1254")
    shown = found.client.upload(found.first.form("/upload"), "list.csv", content)
    assert "list.csv is not in the encoding that is used now" in shown.text
    assert shown.text.index("Read as cp1254") < shown.text.index("Header in row")
    assert shown.text.endswith("First choose the words that are right")
    shown = found.client.send(shown.form("/file"), encoding="cp1254")
    assert "İzmir" in shown.text
    assert "Use these 2 columns" in shown.text


def test_what_cannot_be_used_is_said_at_its_field(pages: Start) -> None:
    """A wrong value stays in its field, with the reason beside it and a link to it on top."""
    found = pages(file=EXPORT, sandbox=True)
    shown = found.client.send(found.first.form("/file"), skip_rows="some", sheet="Candidates")
    assert "There is a problem" in shown.text
    assert "#skip_rows" in shown.links
    assert shown.form("/file").fields["skip_rows"] == "some"


def test_a_step_that_is_not_ready_says_what_is_missing(pages: Start) -> None:
    """A later step is no dead button: it names the step that comes first, and leads there."""
    found = pages(file=EXPORT, sandbox=True)
    shown = found.client.get(found.first.address.replace("/file", "/target"))
    assert "First finish the step File." in shown.text
    assert found.first.address in shown.links


def test_an_import_outlives_its_server(pages: Start) -> None:
    """What was entered is there after a restart of the server, with the upload."""
    found = pages()
    shown = found.client.upload(found.first.form("/upload"), "people.csv", b"E-mail,Name\na@example.com,Ada\n")
    with running(found.out, port=0, on_used=lambda _: None) as server:
        client = Client(int(server.access.hosts[0].partition(":")[2]))
        assert "people.csv" in client.open(server.address).text
        assert "a@example.com" in client.get(shown.address).text


def test_an_upload_is_known_by_its_own_name(pages: Start) -> None:
    """No page and no file of the report names the private path of its copy: commands and cells name the file."""
    found = pages(sandbox=True)
    people = "E-mail,Name,CV,Phone,Work permit\na@example.com,Ada Öz,71,+905550000001,yes\nb@,Bob Ak,72,,yes\n"
    found = replace(found, first=found.client.upload(found.first.form("/upload"), "my list.csv", people.encode()))
    walk.to_result(found)
    shown = [found.client.get(walk.address(found, step)) for step in (*NAMES, "result/row?number=3")]
    assert not [page.address for page in shown if "upload/my" in page.html]
    assert "importer inspect 'my list.csv'" in shown[0].text
    files = [file for file in found.out.glob("*/*") if file.suffix in (".csv", ".html", ".json")]
    assert not [file for file in files if "upload/my" in file.read_text()]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[None]:
    """The results folder is a disk of 2 MB."""
    place = tmp_path / "results"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here: this needs root")
    yield
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.usefixtures("small_disk")
def test_an_upload_onto_a_full_disk(pages: Start) -> None:
    """It is said with what to do, nothing of it is left, and a smaller file can be sent then."""
    found = pages()
    shown = found.client.upload(found.first.form("/upload"), "people.csv", b"E-mail,Name\n" * 400_000)
    assert "the upload cannot be stored: No space left on device" in shown.text
    assert "free disk space, or name the file by its path" in shown.text.lower()
    assert not list(found.out.rglob("people.csv"))
    assert not list(found.server.web.drafts.all())
    shown = found.client.upload(shown.form("/upload"), "people.csv", b"E-mail,Name\na@example.com,Ada\n")
    assert "Use these 2 columns" in shown.text
    gc.collect()


def test_purge_removes_old_imports_with_their_uploads(pages: Start) -> None:
    """What was uploaded is personal data: purge removes it with the import that it was for."""
    found = pages()
    found.client.upload(found.first.form("/upload"), "people.csv", b"E-mail,Name\na@example.com,Ada\n")
    old, kept = find_old(found.server.web.settings(), timedelta(days=1), datetime.now(UTC) + timedelta(days=2))
    purge(old)
    assert (len(old), kept) == (1, [])
    assert not list(found.out.rglob("people.csv"))


def test_missing_settings_are_named(pages: Start) -> None:
    """Where the service cannot be used yet, the start page says what to set; the value of a token is never shown."""
    found = pages({"IMPORTER_TOKEN": "t0ps3cret", "IMPORTER_BASE_URL": "https://recruiting.example.com"})
    assert "t0ps3cret" not in found.first.html
    assert "cannot be used yet" not in found.first.text
    shown = pages().first
    assert "Set IMPORTER_BASE_URL, like https://recruiting.example.com" in shown.text
