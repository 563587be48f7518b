"""Rows that are compressed as they come, and the zip file that puts them into their sheets."""

from __future__ import annotations

import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.models import Outcome, OutcomeKind
from importer.report import write_report
from importer.report.joined_crc import joined_crc
from importer.report.packed_rows import PackedRows, PackingZip
from importer.report.workbook import ReportWorkbook
from tests.report.building import FACTS, rows

SHEET = "xl/worksheets/sheet1.xml"


@given(st.binary(), st.binary())
def test_a_checksum_of_two_pieces_is_that_of_the_whole(first: bytes, second: bytes) -> None:
    """Readers of a zip file refuse a member whose checksum is another."""
    assert joined_crc(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


def _woven(folder: Path, before: str, pieces: list[str], after: str) -> Path:
    packed = PackedRows(7, folder)
    for piece in pieces:
        packed.write(piece)
    sheet = folder / "sheet.xml"
    sheet.write_text(before + packed.read(100) + packed.read(100) + after, encoding="utf-8")
    with PackingZip(folder / "made.zip", "w", rows={7: packed}) as made:
        made.write(sheet, "first.xml")
        made.write(sheet, SHEET)
        made.writestr("last.xml", "last")
    packed.discard()
    return folder / "made.zip"


def test_rows_stand_where_their_mark_stood(tmp_path: Path) -> None:
    """What is read is what was written, in three parts packed at three times, with members before and behind it."""
    pieces = [f'<row r="{number}">çğş & {number}</row>' for number in range(20_000)]
    with zipfile.ZipFile(_woven(tmp_path, "<sheet>é", pieces, "</sheet>é")) as made:
        assert made.testzip() is None
        assert made.namelist() == ["first.xml", SHEET, "last.xml"]
        assert made.read(SHEET).decode() == "<sheet>é" + "".join(pieces) + "</sheet>é"
        assert made.read("last.xml") == b"last"
        info = made.getinfo(SHEET)
    assert info.compress_size < info.file_size / 5


def test_no_rows_at_all_make_a_sound_file(tmp_path: Path) -> None:
    """A sheet whose rows are empty is what stands around them."""
    with zipfile.ZipFile(_woven(tmp_path, "<sheet>", [], "</sheet>")) as made:
        assert made.testzip() is None
        assert made.read(SHEET) == b"<sheet></sheet>"


def test_the_workbook_is_the_one_that_xlsxwriter_would_have_made(tmp_path: Path, monkeypatch: Any) -> None:
    """Member for member the same bytes: packing as the rows come changes nothing that a reader sees."""
    kinds = [OutcomeKind.CREATED, OutcomeKind.INVALID, OutcomeKind.CREATED, OutcomeKind.FILTERED] * 300
    outcomes = [Outcome(number, kind) for number, kind in enumerate(kinds, start=4)]

    def report(name: str) -> dict[str, bytes]:
        folder = tmp_path / name
        folder.mkdir()
        write_report(folder, FACTS, rows(range(4, 4 + len(kinds))), outcomes)
        with zipfile.ZipFile(folder / "report.xlsx") as made:
            assert made.testzip() is None
            return {member: made.read(member) for member in made.namelist()}

    ours = report("ours")
    monkeypatch.setattr(ReportWorkbook, "_pack_as_they_come", lambda _self, _sheet: None)
    theirs = report("theirs")
    assert sum(name.startswith("xl/worksheets/sheet") for name in ours) == 4
    told = {name: body.replace(b"/ours", b"/theirs") for name, body in ours.items()}
    assert told == theirs


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk here")
def test_rows_on_a_full_disk_can_be_let_go(tmp_path: Path) -> None:
    """What kept them off the disk is told once, and closing what is left of them hides it by nothing."""
    packed = PackedRows(0, tmp_path)
    packed.packed.close()
    packed.packed = Path("/dev/full").open("wb")  # noqa: SIM115 - closed by `discard`
    packed.packed.write(b"waits to be written")
    packed.discard()
    assert packed.packed.closed


def test_rows_that_wait_to_be_packed_are_few(tmp_path: Path) -> None:
    """Memory stays flat in the number of rows."""
    packed = PackedRows(0, tmp_path)
    tracemalloc.start()
    for number in range(200_000):
        packed.write(f'<row r="{number}"><c><is><t>some text of a cell</t></is></c></row>')
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    packed.discard()
    assert packed.size > 10_000_000
    assert peak < 2_000_000
