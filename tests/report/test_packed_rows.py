"""Rows that are compressed while they are written arrive in the workbook."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from importer.models import Outcome, OutcomeKind
from importer.report import write_report
from importer.report.packed_rows import joined_crc
from tests.report.building import FACTS, bad_degree, created, row, rows


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_the_checksum_of_two_parts_is_that_of_the_whole(first: bytes, second: bytes) -> None:
    """Whatever the parts are."""
    assert joined_crc(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


def test_each_part_of_the_workbook_is_a_plain_one(tmp_path: Path) -> None:
    """Every checksum is right, and no part is of the kind (ZIP64) for which Excel offers a repair."""
    kinds = [OutcomeKind.INVALID, OutcomeKind.CREATED, OutcomeKind.REJECTED]
    outcomes = (Outcome(n, kinds[n % 3], problems=(bad_degree(row(n)),)) for n in range(1, 5_001))
    write_report(tmp_path, FACTS, rows(range(1, 5_001)), outcomes)

    with zipfile.ZipFile(tmp_path / "report.xlsx") as workbook:
        assert workbook.testzip() is None
        sheets = [part for part in workbook.infolist() if part.filename.startswith("xl/worksheets/sheet")]
        assert [part.compress_type for part in sheets] == [zipfile.ZIP_DEFLATED] * 4
        assert sum(workbook.read(part).count(b"<row ") for part in sheets[1:]) == 5_003
        parts = workbook.infolist()
    content = (tmp_path / "report.xlsx").read_bytes()
    assert {struct.unpack_from("<H", content, part.header_offset + 28) for part in parts} == {(0,)}  # no extra field


def test_rows_are_compressed_while_they_are_written(tmp_path: Path) -> None:
    """When the last row was written, the temporary files of the workbook have a fraction of the size of its rows."""
    sizes = []

    def outcomes():
        yield from created(range(1, 9_001))
        staged = next(tmp_path.glob(".writing-*"))
        sizes.append(sum(path.stat().st_size for path in staged.iterdir() if path.suffix != ".csv"))

    write_report(tmp_path, FACTS, rows(range(1, 9_001)), outcomes())

    with zipfile.ZipFile(tmp_path / "report.xlsx") as workbook:
        whole = workbook.getinfo("xl/worksheets/sheet2.xml").file_size
    assert 0 < sizes[0] < whole / 4
