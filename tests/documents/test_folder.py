"""Documents are found by the names that rows have, and never by a guess."""

from __future__ import annotations

import os
import pickle
import stat
import unicodedata
import zipfile
from pathlib import Path

import pytest

from importer.documents.contents import UNREADABLE
from importer.documents.folder import DocumentFile, DocumentFolder, NotFound, Several

PDF = b"%PDF-1.7\n"


def files_in(folder: Path, *names: str) -> DocumentFolder:
    for name in names:
        path = folder / "cvs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PDF + name.encode())
    return DocumentFolder(folder / "cvs", "cvs")


def found(folder: DocumentFolder, text: str, several: Several = Several.ERROR, *, is_pattern: bool = False) -> str:
    """The path of the file, or the code of the problem."""
    one = folder.find(text, is_pattern=is_pattern, several=several)
    return one.path if isinstance(one, DocumentFile) else one.code


NAMES = [
    pytest.param("ada.pdf", "ada.pdf", id="the name"),
    pytest.param("ADA.PDF", "ada.pdf", id="another case"),
    pytest.param("ada", "ada.pdf", id="without its ending"),
    pytest.param(r"C:\ATS\export\2021\bob.pdf", "2021/bob.pdf", id="a path of another machine"),
    pytest.param("/srv/files/2020/bob.pdf", "2020/bob.pdf", id="the same name in another folder"),
    pytest.param("bob.pdf", "document-ambiguous", id="a name that is there twice"),
    pytest.param(unicodedata.normalize("NFD", "Gül Şahin.pdf"), "Gül Şahin.pdf", id="decomposed Unicode"),
    pytest.param("../../etc/passwd", "document-missing", id="a path that leads outside"),
    pytest.param("gone.pdf", "document-missing", id="a file that is not there"),
    pytest.param("Case.pdf", "Case.pdf", id="the exact one of two that differ in case"),
    pytest.param("CASE.pdf", "document-ambiguous", id="none of two that differ in case"),
    pytest.param("", "document-missing", id="nothing"),
    pytest.param(r"C:\ATS\2019\bob.pdf", "document-missing", id="in the folder of somebody else"),
    pytest.param("GÜL ŞAHİN", "Gül Şahin.pdf", id="Turkish capitals"),
    pytest.param('"ada.pdf"', "ada.pdf", id="in quotes"),
    pytest.param("file:///C:/ATS/G%C3%BCl%20%C5%9Eahin.pdf", "Gül Şahin.pdf", id="an address of a file"),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_a_name_is_found_if_it_means_one_file(tmp_path: Path, text: str, expected: str) -> None:
    """A path counts by its last parts; case and Unicode form differ only where that is no other file."""
    names = ("ada.pdf", "2020/bob.pdf", "2021/bob.pdf", "Gül Şahin.pdf", "Case.pdf", "case.pdf")
    assert found(files_in(tmp_path, *names), text) == expected


FOLDERS = [
    pytest.param(["7/CV/cv.pdf", "9/CV/cv2.pdf"], r"C:\ats\8\CV\cv.pdf", "document-missing", id="CV of another person"),
    pytest.param(["7/CV/cv.pdf", "9/CV/cv2.pdf"], r"C:\ats\7\CV\cv.pdf", "7/CV/cv.pdf", id="CV of the person"),
    pytest.param(["Export/7/cv.pdf", "Export/7/a.pdf"], r"Export\8\cv.pdf", "document-missing", id="one person only"),
    pytest.param(["old/2021/ada.pdf", "x.pdf"], "2021/ada.pdf", "old/2021/ada.pdf", id="moved into a folder"),
    pytest.param([f"all/{n}.pdf" for n in range(30)], r"C:\ats\2021\7.pdf", "all/7.pdf", id="all in one folder"),
    pytest.param(["1.5"], "1", "document-missing", id="a point that begins no ending"),
]


@pytest.mark.parametrize(("names", "text", "expected"), FOLDERS)
def test_a_path_is_not_found_in_the_folder_of_another_person(
    tmp_path: Path, names: list[str], text: str, expected: str
) -> None:
    """A folder of a file is that of the cell, unless all files are in it."""
    assert found(files_in(tmp_path, *names), text) == expected


def cell(text: str) -> str:
    """The text of a cell in a pattern."""
    return f"\x00{text}\x00"


PATTERNS = [
    pytest.param(f"{cell('7')}-*.pdf", "7-Ada.pdf", id="an ID before the name"),
    pytest.param(f"*{cell('7')}*", "7-Ada.pdf", id="an ID anywhere, as a word of its own"),
    pytest.param(f"*{cell('1')}*", "document-missing", id="not a part of another number"),
    pytest.param(f"*{cell('ada@example.com')}*", "cv ada@example.com.pdf", id="an e-mail address in the name"),
    pytest.param(f"{cell('17')}_{cell('Özil')}.pdf", "17_ÖZIL.pdf", id="two columns, without a star"),
    pytest.param(f"{cell('9')}/*", "9/anything.pdf", id="a folder for each ID"),
    pytest.param(f"*{cell('bob@example.co')}*", "document-missing", id="not an address that goes on"),
    pytest.param(f"*{cell('eve@example.com')}*", "document-missing", id="not an address that begins earlier"),
    pytest.param(f"*{cell('neil@example.com')}*", "document-missing", id="not an address with an apostrophe before"),
    pytest.param(f"{cell('zoe@example.com')}*", "document-missing", id="not an address of a longer domain"),
    pytest.param(f"{cell('bob@example.com')}_*", "bob@example.com_cv.pdf", id="what the mapping writes ends a text"),
    pytest.param(f"cv{cell('5')}.*", "cv5.pdf", id="letters of the mapping before a text"),
    pytest.param(f"*{cell('6')}*", "document-missing", id="not a part of a decimal number"),
    pytest.param(f"{cell('8')} - *.pdf", "8 - Bob.pdf", id="spaces around the text of a cell"),
    pytest.param(f"{cell('15A')}-*", "15A-cv.pdf", id="the exact one of two that differ in case"),
    pytest.param(f"{cell('राम')}*", "document-missing", id="not a word whose last letter has another vowel"),
    pytest.param(f"{cell('*')}.pdf", "document-missing", id="a star in a cell is only a star"),
]


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_a_pattern_matches_whole_words(tmp_path: Path, pattern: str, expected: str) -> None:
    """The text of a cell is not found inside another word: 7 is not 17."""
    names = ("7-Ada.pdf", "17_ÖZIL.pdf", "cv ada@example.com.pdf", "cv nada@example.com.pdf", "9/anything.pdf")
    others = (
        "bob@example.co.uk.pdf",
        "maria.eve@example.com.pdf",
        "8 - Bob.pdf",
        "15A-cv.pdf",
        "15a-cv.pdf",
        "रामा.pdf",
    )
    more = ("o'neil@example.com.pdf", "zoe@example.com.tr", "bob@example.com_cv.pdf", "cv5.pdf", "1.6.pdf")
    assert found(files_in(tmp_path, *names, *others, *more), pattern, is_pattern=True) == expected


def test_of_several_files_one_is_taken_as_declared(tmp_path: Path) -> None:
    """The newest or the largest; if two are equally new, a person must say which."""
    folder = files_in(tmp_path, "7-a.pdf", "7-b.pdf")
    for name, at in (("7-a.pdf", 2_000_000_000), ("7-b.pdf", 1_000_000_000)):
        os.utime(tmp_path / "cvs" / name, (at, at))
    (tmp_path / "cvs" / "7-b.pdf").write_bytes(PDF * 10)
    os.utime(tmp_path / "cvs" / "7-b.pdf", (1_000_000_000, 1_000_000_000))
    folder = DocumentFolder(tmp_path / "cvs", "cvs")
    pattern = f"{cell('7')}-*"
    assert found(folder, pattern, is_pattern=True) == "document-ambiguous"
    assert found(folder, pattern, Several.NEWEST, is_pattern=True) == "7-a.pdf"
    assert found(folder, pattern, Several.LARGEST, is_pattern=True) == "7-b.pdf"
    os.utime(tmp_path / "cvs" / "7-b.pdf", (2_000_000_000, 2_000_000_000))
    again = DocumentFolder(tmp_path / "cvs", "cvs")
    assert found(again, pattern, Several.NEWEST, is_pattern=True) == "document-ambiguous"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    """A link could lead to any file of the machine: who names it is told."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    files_in(tmp_path, "ada.pdf")
    (tmp_path / "cvs" / "link.pdf").symlink_to(secret)
    (tmp_path / "cvs" / "linked").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "cvs" / "pipe.pdf")
    folder = DocumentFolder(tmp_path / "cvs", "cvs")
    assert list(folder.files) == ["ada.pdf"]
    assert [found(folder, name) for name in ("link.pdf", "pipe.pdf", "linked/secret.txt")] == [
        *("document-unusable", "document-unusable", "document-missing")
    ]


def _zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cvs/ada.pdf", PDF)
        archive.writestr("../outside.pdf", PDF)
        archive.writestr("__MACOSX/cvs/._ada.pdf", b"x")
        link = zipfile.ZipInfo("link.pdf")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    raw = path.read_bytes()  # a name in UTF-8 that does not say so, as many programs write it
    path.write_bytes(raw.replace(b"cvs/ada.pdf", "cvs/gü.pdf".encode()))
    return path


REFUSED_BESIDE = [
    pytest.param("cv.pdf", False, Several.ERROR, "document-ambiguous", id="by name"),
    pytest.param("7/cv.pdf", False, Several.ERROR, "document-unusable", id="by path"),
    pytest.param("8/cv.pdf", False, Several.ERROR, "8/cv.pdf", id="the other one"),
    pytest.param("cv.pdf", False, Several.LARGEST, "document-unusable", id="the largest"),
    pytest.param("\x007\x00_*.pdf", True, Several.ERROR, "document-ambiguous", id="by pattern"),
]


@pytest.mark.parametrize(("text", "is_pattern", "several", "expected"), REFUSED_BESIDE)
def test_no_other_file_is_taken_for_one_that_is_not_read(
    tmp_path: Path, text: str, is_pattern: bool, several: Several, expected: str
) -> None:
    """It could be that of another person: one with a password is a match all the same."""
    with zipfile.ZipFile(tmp_path / "cvs.zip", "w") as archive:
        for name, size in (("7/cv.pdf", 9), ("8/cv.pdf", 5), ("7_new.pdf", 9), ("7_old.pdf", 5)):
            archive.writestr(name, PDF * size)
    raw = bytearray((tmp_path / "cvs.zip").read_bytes())
    for name in (b"7/cv.pdf", b"7_new.pdf"):
        raw[raw.rfind(name) - 38] |= 1  # the flag of a password, in the directory
    (tmp_path / "cvs.zip").write_bytes(raw)
    assert found(DocumentFolder(tmp_path / "cvs.zip", "cvs.zip"), text, several, is_pattern=is_pattern) == expected


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_a_zip_has_twice_is_no_document(tmp_path: Path) -> None:
    """Nobody can say which of the two is meant."""
    with zipfile.ZipFile(tmp_path / "cvs.zip", "w") as archive:
        for name in ("ada.pdf", "ada.pdf", "x/bob.pdf", "x\\bob.pdf", "cem.pdf"):
            archive.writestr(name, PDF)
    folder = DocumentFolder(tmp_path / "cvs.zip", "cvs.zip")
    assert list(folder.files) == ["cem.pdf"]
    assert [found(folder, name) for name in ("ada.pdf", "x/bob.pdf")] == ["document-unusable"] * 2


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes")
def test_a_pipe_that_takes_the_place_of_a_file_stops_nothing(tmp_path: Path) -> None:
    """It was a file when the folder was listed."""
    folder = files_in(tmp_path, "ada.pdf")
    (tmp_path / "cvs" / "ada.pdf").unlink()
    os.mkfifo(tmp_path / "cvs" / "ada.pdf")
    folder.noted_for = "ada@example.com", 2
    folder.document_of("ada.pdf", is_pattern=False, several=Several.ERROR)
    folder.look_into_named()
    assert folder.contents["ada.pdf"].problem == "cannot be read: it is not a regular file"


@pytest.mark.parametrize("change", ["changed", "removed", "folder removed"])
def test_a_document_that_changes_before_it_is_sent_is_not_sent(tmp_path: Path, change: str) -> None:
    """What was looked into is what is sent, or nothing: a person would get the document of somebody else."""
    folder = files_in(tmp_path, "ada.pdf")
    folder.noted_for = "ada@example.com", 2
    folder.document_of("ada.pdf", is_pattern=False, several=Several.ERROR)
    folder.look_into_named()
    file, sha256 = tmp_path / "cvs" / "ada.pdf", folder.contents["ada.pdf"].sha256
    with folder.reader() as read:
        assert read(sha256) == file.read_bytes()
    if change == "changed":
        file.write_bytes(PDF + b"of Bob")
    else:
        file.unlink()
    if change == "folder removed":
        file.parent.rmdir()
    reason = "changed since it was looked into" if change == "changed" else "no such file or directory"
    with folder.reader() as read, pytest.raises(OSError, match=reason):
        read(sha256)


def test_a_zip_is_a_folder(tmp_path: Path) -> None:
    """Names that lead outside and links are not read; names in UTF-8 without its mark are."""
    folder = DocumentFolder(_zip(tmp_path / "cvs.zip"), "cvs.zip")
    assert list(folder.files) == ["cvs/gü.pdf"]
    assert [found(folder, name) for name in ("gü.pdf", "outside.pdf", "link.pdf")] == [
        *("cvs/gü.pdf", "document-unusable", "document-unusable")
    ]
    folder.noted_for = "ada@example.com", 2
    folder.document_of("gü.pdf", is_pattern=False, several=Several.ERROR)
    folder.look_into_named()
    assert folder.contents["cvs/gü.pdf"].kind == "pdf"


@pytest.mark.parametrize("offset", [0, 40, 60, 100, 200], ids=lambda at: f"from {at}")
def test_a_broken_zip_is_told(tmp_path: Path, offset: int) -> None:
    """Whatever byte of it is wrong: it cannot be listed, or a file of it cannot be read; nothing else happens."""
    whole = _zip(tmp_path / "cvs.zip").read_bytes()
    for at in range(offset, len(whole), 7):
        (tmp_path / "cvs.zip").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            folder = DocumentFolder(tmp_path / "cvs.zip", "cvs.zip")
        except UNREADABLE:
            continue
        folder.users = {path: {"ada@example.com": 2} for path in folder.files}
        folder.look_into_named()
        assert all(one.problem or one.sha256 for one in folder.contents.values())


def test_what_is_known_goes_to_another_process(tmp_path: Path) -> None:
    """Rows are transformed by several processes."""
    folder = files_in(tmp_path, "ada.pdf")
    assert found(pickle.loads(pickle.dumps(folder)), "ada") == "ada.pdf"


CONTENTS = [
    pytest.param(b"", "is empty", id="empty"),
    pytest.param(b"MZ\x90\0\x03", "is neither a document nor a picture, by its content", id="a program"),
    pytest.param(b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", "", id="docx"),
    pytest.param("\ufeff<!-- x --><HTML>".encode(), "is a web page, perhaps one that asks to sign in", id="BOM"),
    pytest.param(b"<html xmlns:w='urn:schemas-microsoft-com:office:word'>", "", id="HTML of Word"),
    pytest.param(
        b"PK\x03\x04" + bytes(26) + b"x.docx PK [Content_Types].xml",
        "is neither a document nor a picture, by its content",
        id="another .zip",
    ),
    pytest.param(b"<!DOCTYPE html><title>Sign in", "is a web page, perhaps one that asks to sign in", id="a page"),
    pytest.param(b"\xff\xd8\xff\xe0", "", id="jpg"),
    pytest.param("Lebenslauf, Zürich".encode(), "", id="text"),
    pytest.param(
        "Lebenslauf, Zürich".encode("cp1252"), "is neither a document nor a picture, by its content", id="cp1252"
    ),
]


@pytest.mark.parametrize(("content", "problem"), CONTENTS)
def test_a_file_is_known_by_its_content(tmp_path: Path, content: bytes, problem: str) -> None:
    """Whatever its name says."""
    folder = files_in(tmp_path, "ada.doc")
    (tmp_path / "cvs" / "ada.doc").write_bytes(content)
    shown = document_of_ada(folder, "ada.doc")
    assert folder.contents["ada.doc"].problem == problem
    assert shown.code == ("document-unusable" if problem else "document-without-id")


def document_of_ada(folder: DocumentFolder, name: str) -> NotFound:
    """Why Ada's document has no ID, after it was looked into."""
    folder.noted_for = "ada@example.com", 2
    folder.document_of(name, is_pattern=False, several=Several.ERROR)
    folder.noted_for = None
    folder.look_into_named()
    shown = folder.document_of(name, is_pattern=False, several=Several.ERROR)
    assert isinstance(shown, NotFound)
    return shown


def test_a_text_with_another_ending_and_a_kind_that_is_not_taken_are_refused(tmp_path: Path) -> None:
    """A text named .pdf is most likely an error that was saved; which kinds the service takes is a setting."""
    folder = files_in(tmp_path, "ada.pdf")
    (tmp_path / "cvs" / "ada.pdf").write_bytes(b"404 not found")
    assert document_of_ada(folder, "ada.pdf").message == (
        "'ada.pdf' in cvs is a text, although its name ends with .pdf"
    )
    folder = files_in(tmp_path, "ada.txt")
    (tmp_path / "cvs" / "ada.txt").write_text("Curriculum vitae")
    folder.placeholder, folder.kinds = "x:", ("pdf", "docx")
    assert document_of_ada(folder, "ada.txt").message == (
        "'ada.txt' in cvs is of the kind txt, and the service takes pdf, docx (upload_types)"
    )


def test_a_whole_path_is_taken_before_files_of_the_same_name(tmp_path: Path) -> None:
    """Nothing else could be written for a file beside the folders."""
    folder = files_in(tmp_path, "ada.pdf", "old/ada.pdf")
    assert (found(folder, "ada.pdf"), found(folder, "./ada.pdf")) == ("ada.pdf", "ada.pdf")


def test_a_whole_path_of_a_file_that_is_not_read_is_no_other_file(tmp_path: Path) -> None:
    """A larger one of the same name may be that of another person."""
    folder = files_in(tmp_path, "old/ada.pdf")
    (folder.path / "ada.pdf").symlink_to(folder.path / "old/ada.pdf")
    assert found(DocumentFolder(folder.path, "cvs"), "ada.pdf", Several.LARGEST) == "document-unusable"


def test_a_similar_name_is_proposed_only_for_a_typing_error(tmp_path: Path) -> None:
    """A proposal that is followed sends that document: a name of one person is never proposed for another."""
    names = ("c.pdf", "han.pdf", "cv_ayse_kaya.pdf", "CV_vogel_soren_335.pdf", "CV_demir_mehmet_96.pdf")
    folder = files_in(tmp_path, *names, "old/CV_ay_ece_7.pdf")
    hints = {
        "schaefer.pdf": "put the file there, or correct the cell",
        "CV_vogel_mehmet_19.pdf": "put the file there, or correct the cell",
        "CV_demir_mehmet_69.pdf": "put the file there, or correct the cell",
        "can.pdf": "put the file there, or correct the cell",
        "cv_ayla_kaya.pdf": "put the file there, or correct the cell",
        "CV_demir_mehmt_96.pdf": "did you mean 'CV_demir_mehmet_96.pdf'? put the file there, or correct the cell",
        r"C:\ATS\CV_ay_ece_7.pdf": "'old/CV_ay_ece_7.pdf' is in another folder: write this into the cell if it is this "
        "person's",
    }
    for name, hint in hints.items():
        missing = folder.find(name)
        assert isinstance(missing, NotFound)
        assert (missing.code, missing.hint) == ("document-missing", hint)
