"""What other pages, other programs and other people on this machine cannot do."""

from __future__ import annotations

import gc
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.web.forms import receive_upload
from tests.cli.conftest import candidate, write_csv
from tests.patience import wait_until
from tests.web.client import Client
from tests.web.conftest import Pages

Start = Callable[..., Pages]


def test_without_a_session_a_page_says_how_to_get_one(pages: Start) -> None:
    """No page is shown to a browser that did not use the printed address; it says what to do, and nothing else."""
    found = pages()
    for cookie in ("", f"{found.server.access.cookie}=wrong", "other=x"):
        shown = Client(found.client.port, cookie).get("/")
        assert shown.status == 401
        assert "Open the address that importer web printed last in its terminal." in shown.text
        assert shown.forms == []


def test_an_address_works_once(pages: Start) -> None:
    """The printed address opens one session; the next one is made known when it was used."""
    addresses: list[str] = []
    found = pages(on_used=addresses.append)
    again = Client(found.client.port).get(found.server.address.partition(found.client.host)[2])
    assert (again.status, "Set-Cookie" in again.headers) == (401, False)
    assert "This address was used already" in again.text
    assert Client(found.client.port).open(addresses[0]).status == 200


def test_the_cookie_is_of_no_use_elsewhere(pages: Start) -> None:
    """Scripts cannot read the cookie, and no other site's request carries it."""
    addresses: list[str] = []
    found = pages(on_used=addresses.append)
    shown = found.client.get(addresses[0].partition(found.client.host)[2])
    assert "HttpOnly" in shown.headers["Set-Cookie"]
    assert "SameSite=strict" in shown.headers["Set-Cookie"]


def test_another_host_is_refused(pages: Start) -> None:
    """A name that somebody points at this machine shows nothing, with the cookie too."""
    client = pages().client
    for host in ("importer.example.com", "127.0.0.1", "127.0.0.1:1", "localhost.example.com", ""):
        shown = client.get("/", Host=host)
        assert shown.status == 403, host
        assert "This address is not one of importer web" in shown.text


def test_a_form_of_another_page_is_refused(pages: Start) -> None:
    """What another site, or another server on this machine, has a browser send does nothing."""
    found = pages()
    form = found.first.form("/by-path")
    body = f"token={form.fields['token']}&path=/etc/passwd".encode()
    for origin in ("http://example.com", "null", "https://127.0.0.1", "http://127.0.0.1:1", None):
        headers = {"Content-Type": "application/x-www-form-urlencoded", **({"Origin": origin} if origin else {})}
        assert found.client.request("POST", form.action, body, headers).status == 403, origin
    assert list(found.server.web.drafts.all()) == []


def test_a_form_does_its_thing_once(pages: Start) -> None:
    """A form that is sent twice, as by a double click, does its thing once; the page then says so."""
    found = pages()
    file = write_csv(found.out.parent / "people.csv", [candidate(1)])
    form = found.first.form("/by-path")
    assert found.client.send(form, path=str(file)).status == 200
    again = found.client.send(form, path=str(file))
    assert "This form was already sent" in again.text
    assert len(list(found.server.web.drafts.all())) == 1


def test_a_form_that_was_not_shown_does_nothing(pages: Start) -> None:
    """Without the token of a form that was shown, nothing is done."""
    found = pages()
    file = write_csv(found.out.parent / "people.csv", [candidate(1)])
    for token in ({}, {"token": ""}, {"token": "guessed"}):
        assert found.client.post("/by-path", {"path": str(file), **token}).status in (303, 400)
    assert list(found.server.web.drafts.all()) == []


def test_an_address_leads_out_of_no_folder(pages: Start) -> None:
    """An address that is no page of ours is not found."""
    client = pages().client
    for path in (
        "/imports/../../etc/file",
        "/imports/%2e%2e%2f%2e%2e/file",
        "/imports/x/file",
        "/static/../texts.toml",
    ):
        assert client.get(path).status == 404, path


def test_an_upload_keeps_to_its_folder(pages: Start) -> None:
    """Whatever name a file is sent with, it is stored in the private folder of its import, for this user alone."""
    found = pages()
    found.client.upload(found.first.form("/upload"), "../../../people.csv", b"E-mail,Name\na@example.com,Ada\n")
    (draft,) = found.server.web.drafts.all()
    folder = found.server.web.drafts.folder(draft) / "upload"
    assert draft.file == str(folder / "people.csv")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "people.csv").stat().st_mode) == 0o600
    assert not (found.out.parent / "people.csv").exists()


def test_an_upload_may_have_the_name_of_one_of_our_files(pages: Start) -> None:
    """It is stored beside them, and stays as it was sent."""
    found, name = pages(), "corrections.csv"
    content = b"E-mail,Name\na@example.com,Ada\n"
    shown = found.client.upload(found.first.form("/upload"), name, content)
    assert (shown.status, "a@example.com" in shown.text) == (200, True)
    found.client.send(shown.form("/file/use"))
    (draft,) = found.server.web.drafts.all()
    assert (Path(draft.file).name, Path(draft.file).read_bytes()) == (name, content)


PART = '--edge\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{{token}}\r\n'
ODD_UPLOADS = [
    pytest.param("e" * 5_000, "--" + "e" * 5_000 + "\r\n", id="a boundary of 5,000 characters"),
    pytest.param("edge", "".join(PART.format("token", "") for _ in range(20_000)) + "--edge--\r\n", id="20,000 fields"),
    pytest.param("edge", "".join(PART.format(n, '; filename="a"') for n in range(20_000)), id="20,000 files"),
]


@pytest.mark.parametrize(("boundary", "body"), ODD_UPLOADS)
def test_an_upload_that_no_browser_sends_is_refused(
    pages: Start, capfd: pytest.CaptureFixture[str], boundary: str, body: str
) -> None:
    """With 400, without a traceback, and nothing of it is left."""
    found = pages()
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Origin": f"http://{found.client.host}"}
    sent = body.replace("{token}", found.first.form("/upload").fields["token"]).encode()
    shown = found.client.request("POST", "/upload", sent, kind)
    assert (shown.status, "This form cannot be used" in shown.text) == (400, True), shown.text
    assert list((found.out / ".importer").iterdir()) == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ["/upload", "/by-path"])
def test_what_is_cut_off_is_no_bug(pages: Start, capfd: pytest.CaptureFixture[str], path: str) -> None:
    """A browser that goes away in the middle of a form leaves neither a traceback nor a part of a file."""
    found = pages()
    with found.client.cut_off(found.first.form(path)):
        wait_until(lambda: path != "/upload" or any((found.out / ".importer").glob("*")))
    wait_until(lambda: not any((found.out / ".importer").glob("*")))
    assert found.client.get("/").status == 200
    gc.collect()
    assert capfd.readouterr().err == ""


def test_an_upload_that_is_too_large_is_refused_in_words(pages: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit nothing is kept, and the page says what to do instead."""
    monkeypatch.setattr(receive_upload, "__defaults__", (1 << 20,))
    found = pages()
    shown = found.client.upload(found.first.form("/upload"), "large.csv", b"x" * (3 << 20))
    assert "the file is larger than 1 MB, the limit for uploads" in shown.text
    assert "Name it by its path on this machine: then it is read in place" in shown.text
    assert list(found.server.web.drafts.all()) == []
    assert not list(found.out.rglob("large.csv"))


def test_every_answer_has_the_headers_that_keep_it_here(pages: Start) -> None:
    """No answer may be kept, framed, or load anything from elsewhere; no inline script or style runs."""
    found = pages()
    for shown in (found.first, found.client.get("/nowhere"), Client(found.client.port).get("/")):
        policy = shown.headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert shown.headers["Cache-Control"] == "no-store"
        assert shown.headers["X-Content-Type-Options"] == "nosniff"


def test_cells_stay_texts(pages: Start) -> None:
    """Markup, templates and control characters in cells, headers and file names are shown, never interpreted."""
    found = pages()
    payload = "<script>alert(1)</script>\"'{{7*7}}\u202e"
    content = (
        f'E-mail,"{payload.replace(chr(34), chr(34) * 2)}"\na@example.com,"{payload.replace(chr(34), chr(34) * 2)}"\n'
    )
    shown = found.client.upload(found.first.form("/upload"), "<img src=x onerror=alert(1)>.csv", content.encode())
    assert shown.status == 200
    assert "<script>alert" not in shown.html
    assert "<img" not in shown.html
    assert shown.text.count("<script>alert(1)</script>\"'{{7*7}}\\u202e") == 2
