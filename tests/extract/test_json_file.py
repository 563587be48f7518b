"""JSON and JSON Lines: every value is the text of the file, and what is not JSON is refused with its place."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from importer.extract import ReadingLimits, Sheet, open_sheet
from importer.models import Row, SourceOptions
from importer.problems import UnusableInput


def opened(path: Path, content: str | bytes, limits: ReadingLimits | None = None) -> Sheet:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_sheet(path, SourceOptions(), limits or ReadingLimits(), shown_as=path.name)


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with BOM"])
def test_values(tmp_path: Path, mark: str) -> None:
    """Numbers keep their digits and are typed where that text has one meaning; lists are JSON; null is blank."""
    text = """[{"id": 123456789012345678, "pay": 1.10, "ok": true, "name": " Zo\\u00eb "},
        {"jobs": [{"at": "Ege \\"x\\"", "pay": 7.50, "now": false}],
        "id": null, "pay": 45.000, "ok": 1e400, "list": []}]"""
    sheet = opened(tmp_path / "a.json", mark + text)
    assert [column.name for column in sheet.columns] == ["id", "pay", "ok", "name", "jobs", "list"]
    first, second = sheet.rows()
    assert (first.number, first.cells, first.typed, first.problems) == (
        1,
        ("123456789012345678", "1.10", "TRUE", "Zoë", "", ""),
        {0, 1, 2},
        (),
    )
    jobs = '[{"at": "Ege \\"x\\"", "pay": 7.50, "now": false}]'
    assert (second.number, second.cells, second.typed) == (2, ("", "45", "1e400", "", jobs, ""), {1})
    assert [row.cells for row in sheet.rows()] == [first.cells, second.cells]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1} {"b": 2}]', "row 1: the JSON is not valid: expecting ',' delimiter (line 1, column 11)"),
        ('[{"a": 1},\n{"b": "x', "row 2: the JSON is not valid: unterminated string (line 2, column 7)"),
        ('[{"a": 1},]', "row 2: the JSON is not valid: expecting value (line 1, column 11)"),
        ('[{"a": 1}] x', "row 1: the JSON is not valid: extra data (line 1, column 12)"),
        ('[\n {"a": NaN}]', "row 1: the JSON is not valid: NaN is not a JSON value (line 2, column 2)"),
        ('[{"a": 1, "a": 2}]', "row 1: the JSON is not valid: an object has the key 'a' twice (line 1, column 2)"),
        (
            '[{"a": ' + "[" * 9999 + "]" * 9999 + "}]",
            "row 1: the JSON is not valid: it is nested too deeply (line 1, column 2)",
        ),
    ],
)
def test_refusals(tmp_path: Path, content: str, message: str) -> None:
    """What is not JSON, or has more than one meaning, is refused with its line and column."""
    with pytest.raises(UnusableInput) as caught:
        opened(tmp_path / "a.json", content)
    assert str(caught.value) == f"a.json, {message}; correct it, or export the file again"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"a": [1]}', ":1:1: the file is not a list of objects: it begins with '{\"a\": [1]}'"),
        ("[1]", ", row 1: the value is not an object with keys and values"),
    ],
)
def test_what_is_not_a_list_of_objects(tmp_path: Path, content: str, where: str) -> None:
    """The message says what to export."""
    with pytest.raises(UnusableInput) as caught:
        opened(tmp_path / "a.json", content)
    assert str(caught.value) == (
        f"a.json{where}; export the rows as a list of objects [{{...}}, {{...}}], or one object on each line as .jsonl"
    )


def test_another_encoding(tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused with the line of the first wrong byte."""
    with pytest.raises(UnusableInput) as caught:
        opened(tmp_path / "a.json", '[\n{"a": "Zoë"}]'.encode("latin-1"))
    assert str(caught.value) == (
        "a.json:2:1: the file is not UTF-8: the byte 0xEB cannot be read; export the file again as UTF-8"
    )


def test_limits(tmp_path: Path) -> None:
    """An object over the limit of a row, and more keys than the limit of columns, end in a message."""
    with pytest.raises(UnusableInput) as caught:
        opened(tmp_path / "a.json", '[{"a": "' + "x" * 900_000 + '"}]', ReadingLimits(row=300_000))
    assert str(caught.value).startswith("a.json, row 1: a row is longer than 0 MB, which is the limit")
    with pytest.raises(UnusableInput) as caught:
        opened(tmp_path / "a.json", '[{"a": 1, "b": 2}, {"c": 3}]', ReadingLimits(columns=2))
    assert str(caught.value) == (
        "a.json, row 2: the objects up to this one have 3 different keys; the limit is 2; check that the file is a "
        "list of candidates, or raise IMPORTER_CSV_COLUMNS"
    )


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_memory_is_flat(tmp_path: Path, name: str) -> None:
    """A list of 9 MB is read with the memory of a few of its objects."""
    line = '{"name": "Ada", "note": "' + "x" * 3_000 + '"}'
    text = "\n".join([line] * 3_000) if name == "a.jsonl" else "[" + ",".join([line] * 3_000) + "]"
    (tmp_path / name).write_text(text)
    tracemalloc.start()
    sheet = open_sheet(tmp_path / name, SourceOptions(), ReadingLimits())
    count = sum(1 for _ in sheet.rows())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 3_000
    assert peak < 3 << 20


def test_deep_lists_are_problems_of_their_cell(tmp_path: Path) -> None:
    """A list within more lists than anybody means is a problem of its cell."""
    (row,) = opened(tmp_path / "a.json", '[{"a": ' + "[" * 50 + "1" + "]" * 50 + "}]").rows()
    assert isinstance(row, Row)
    assert [str(problem) for problem in row.problems] == [
        'a.json, row 1, column "a": the JSON is not valid: it is nested too deeply; correct it, or export the file '
        "again"
    ]
