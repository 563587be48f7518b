"""The limits for reading a file are settings, and the message names the setting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import HEADER, FrontDoor, candidate
from tests.sources.corpus.writers import csv_text, raw_xlsx

_TABLE = "".join(
    f'<row r="{number}">'
    + "".join(f'<c r="{"ABCDEFG"[at]}{number}" t="inlineStr"><is><t>{cell}</t></is></c>' for at, cell in enumerate(row))
    + "</row>"
    for number, row in enumerate((HEADER, candidate(1)), start=1)
)
_PICTURE = {"xl/media/picture.bin": bytes(3 << 20)}
_CSV = csv_text((HEADER, candidate(1))).encode()

LIMITS = [
    pytest.param(
        "a.xlsx",
        lambda: raw_xlsx(_TABLE, extra=_PICTURE),
        {"IMPORTER_WORKBOOK_UNPACKED_MEGABYTES": "2"},
        "a.xlsx: the workbook unpacks to 4 MB; the limit is 2 MB [limit-exceeded]\n"
        "  -> save the sheet as CSV, which has no such limit; or, if you trust the workbook, raise "
        "IMPORTER_WORKBOOK_UNPACKED_MEGABYTES\n",
        id="unpacked size",
    ),
    pytest.param(
        "a.csv",
        lambda: _CSV + b"x" * (3 << 20) + b"\n",
        {"IMPORTER_SOURCE_MEGABYTES": "2"},
        "a.csv: the file has 3 MB; the limit is 2 MB [limit-exceeded]\n"
        "  -> check that it is the right file, or raise IMPORTER_SOURCE_MEGABYTES\n",
        id="size",
    ),
    pytest.param(
        "a.csv",
        lambda: _CSV + b"x" * (3 << 20) + b"\n",
        {"IMPORTER_CSV_ROW_MEGABYTES": "2"},
        "a.csv, row 3: a row is longer than 2 MB, which is the limit [limit-exceeded]\n"
        "  -> check that the file is a table and that no line break is missing, or raise IMPORTER_CSV_ROW_MEGABYTES\n",
        id="row",
    ),
    pytest.param(
        "a.csv",
        lambda: _CSV,
        {"IMPORTER_CSV_COLUMNS": "5"},
        f"a.csv, row 1: the row has {len(HEADER)} cells; the limit is 5 [limit-exceeded]\n"
        '  -> check that "," is the right delimiter and that no line break is missing, or raise '
        "IMPORTER_CSV_COLUMNS\n",
        id="columns",
    ),
]


@pytest.mark.parametrize(("file", "content", "limit", "message"), LIMITS)
def test_an_exceeded_limit_names_its_setting(
    front_door: FrontDoor, file: str, content: Callable[[], bytes], limit: dict[str, str], message: str
) -> None:
    """`inspect` and `check` name the limit and its setting."""
    (front_door.folder / file).write_bytes(content())
    expected = f"importer: 1 problem found; nothing was sent.\n\n{message}"
    inspected = front_door("inspect", file, **limit)
    assert (inspected.code, inspected.err) == (3, expected)
    checked = front_door("check", file, "--mapping", "mapping.yaml", "--sandbox", **limit)
    assert (checked.code, checked.err) == (3, expected)
