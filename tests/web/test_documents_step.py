"""The step Documents: files that cells name, from an upload or a folder of this machine, and the list of their IDs."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

from tests.cli.conftest import Served
from tests.web import walk
from tests.web.conftest import Pages
from tests.web.test_match_and_check import change
from tests.web.test_runs import live

Start = Callable[..., Pages]
NAMES = ("ada", "bob", "cem")


def _pdf(name: str) -> bytes:
    return b"%PDF-1.7\n" + name.encode()


def _people(folder: Path) -> Path:
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["E-mail", "First name", "Last name", "CV file", "Phone", "Permit"])
        writer.writerows([f"{one}@example.com", one, "Example", f"{one}.PDF", "+442079460101", "yes"] for one in NAMES)
    return path


def _zip(names: tuple[str, ...] = NAMES) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(f"cvs/{name}.pdf", _pdf(name))
    return packed.getvalue()


def _matched(found: Pages, path: Path) -> Pages:
    """An upload with its columns matched."""
    shown = found.client.upload(found.first.form("/upload"), path.name, path.read_bytes())
    found = Pages(found.server, found.client, shown, found.out)
    shown = walk.to_match(found)
    for id, column in (("candidate/cv", "CV file"), ("answers/phone", "Phone"), ("answers/work_permit", "Permit")):
        shown = change(found.client, shown, "use", id, column=column)
    return found


def test_a_zip_is_brought_along(tmp_path: Path, pages: Start) -> None:
    """Names of files are brought along by one click and one upload; until then nothing can be checked."""
    found = _matched(pages(), _people(tmp_path))
    shown = found.client.get(walk.address(found, "match"))
    assert "Are the cells names of files" in shown.text
    shown = change(found.client, shown, "keys", "candidate/cv", folder="documents")
    walk.review(found)
    shown = found.client.send(found.client.get(walk.address(found, "match")).form("/match/use"))
    assert "It is not known yet where these files are" in shown.text
    assert "First finish the step Documents" in found.client.get(walk.address(found, "check")).text

    shown = found.client.upload(shown.form("/documents/0/upload"), "cvs.zip", b"no zip")
    assert "cannot be listed" in shown.text
    shown = found.client.upload(shown.form("/documents/0/upload"), "cvs.zip", _zip(NAMES[:2]))
    assert "2 files in" in shown.text
    shown = found.client.upload(shown.form("/documents/0/upload"), "cvs.zip", b"no zip")
    shown = found.client.upload(shown.form("/documents/list"), "documents.csv", b"no list")
    assert ("no columns sha256" in shown.text, "2 files in cvs.zip" in shown.text) == (True, True)
    found.client.send(shown.form("/check"))
    walk.task_of(found)
    shown = found.client.get(walk.address(found, "check"))
    assert "There is no file 'cem.PDF' in documents" in unescape(shown.html)
    cell, old = re.findall(r'<td id="(\w+)"[^>]*aria-invalid[^>]*>([^<]*)</td>', shown.html)[0]
    shown = found.client.send(shown.form("/check/cells"), **{cell: "cam"})
    assert "There is no file 'cam' in documents" in unescape(shown.html)
    found.client.send(shown.form("/check/cells"), **{cell: old})
    shown = found.client.get(walk.address(found, "documents"))
    assert "2 files in cvs.zip" in shown.text
    assert "There is no file 'cem.PDF' in documents" in shown.text

    shown = found.client.upload(shown.form("/documents/0/upload"), "cvs.zip", _zip())
    found.client.send(shown.form("/check"))
    walk.task_of(found)
    found.client.send(found.client.get(walk.address(found, "send")).form("/send"))
    assert walk.task_of(found).error is None
    assert "3 of 3 candidates are in" in found.client.get(walk.address(found, "result")).text


def test_the_list_of_ids_comes_back(tmp_path: Path, pages: Start, serve: Callable[..., Served]) -> None:
    """Of a folder of this machine: the list is downloaded, filled in, brought back, and each row gets its own ID."""
    (tmp_path / "elsewhere").mkdir()
    for name in NAMES:
        (tmp_path / "elsewhere" / f"{name}.pdf").write_bytes(_pdf(name))
    served = serve()
    found = _matched(pages(live(served)), _people(tmp_path))
    change(found.client, found.client.get(walk.address(found, "match")), "keys", "candidate/cv", folder="documents")
    walk.review(found)
    shown = found.client.send(found.client.get(walk.address(found, "match")).form("/match/use"))
    shown = found.client.send(shown.form("/documents/0/path"), path=str(tmp_path / "none"))
    assert "cannot be listed" in shown.text
    shown = found.client.send(shown.form("/documents/0/path"), path=str(tmp_path / "elsewhere"))
    assert "3 files in" in shown.text

    listed = found.client.request("GET", walk.address(found, "documents/list"))
    rows = list(csv.reader(io.StringIO(listed.html.lstrip("\ufeff"))))
    assert [row[0] for row in rows[1:]] == [f"documents/{name}.pdf" for name in NAMES]
    filled = io.StringIO()
    csv.writer(filled).writerows([rows[0], *([*row[:-1], str(900 + at)] for at, row in enumerate(rows[1:]))])
    shown = found.client.upload(shown.form("/documents/list"), "documents.csv", filled.getvalue().encode())
    assert "3 IDs are known" in shown.text
    found.client.send(shown.form("/check"))
    walk.task_of(found)
    found.client.send(found.client.get(walk.address(found, "send")).form("/send"))
    assert walk.task_of(found).error is None
    sent = {one["email"]: one["cv"] for one in served.sandbox.memory.accepted()}
    assert sent == {f"{name}@example.com": str(900 + at) for at, name in enumerate(NAMES)}


def test_a_folder_beside_the_file_is_found(tmp_path: Path, pages: Start) -> None:
    """For a file on this machine, the folder beside it is proposed, and the step has only to be confirmed."""
    path = _people(tmp_path)
    (tmp_path / "cvs").mkdir()
    for name in NAMES:
        (tmp_path / "cvs" / f"{name}.pdf").write_bytes(_pdf(name))
    found = pages(file=path, sandbox=True)
    walk.to_match(found)
    walk.review(found)
    shown = found.client.send(found.client.get(walk.address(found, "match")).form("/match/use"))
    assert f"3 files in {tmp_path / 'cvs'}" in shown.text
