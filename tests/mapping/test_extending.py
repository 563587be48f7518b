"""A mapping file may extend a shared file, and be in a folder with other mappings."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.mapping import Mapping, read_mapping, read_mappings
from importer.mapping.values import ValueSpec
from importer.problems import UnusableInput
from importer.runs.private_copies import keep_mapping
from tests.mapping.mapping_files import FILE, HEAD

_PERSON = "candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}\n"
_SHARED = f"version: 1\n{_PERSON}defaults: {{region: TR}}\nanswers: {{city: City, level: Level}}\n"


def _columns(mapping: Mapping) -> dict[str, str]:
    """The first column of each answer."""
    found = {}
    for answer in mapping.answers:
        assert isinstance(answer.content, ValueSpec)
        found[str(answer.question)] = str(answer.content.columns[0])
    return found


def test_a_file_overrides_its_shared_file() -> None:
    """Its keys override those of the shared file, in some sections one by one."""
    Path("_shared.yaml").write_text(_SHARED, encoding="utf-8")
    FILE.write_text(
        "extends: _shared.yaml\ntarget: {job_post: a}\ndefaults: {decimal: ','}\nwithout: level\n"
        "answers: {city: Town, start: Start}\n",
        encoding="utf-8",
    )
    mapping = read_mapping(FILE)
    assert (mapping.defaults.region, mapping.defaults.decimal) == ("TR", ",")
    assert _columns(mapping) == {"city": "Town", "start": "Start"}


def test_a_problem_in_the_shared_file_has_its_place_there() -> None:
    """A place names the file that contains the problem."""
    Path("_shared.yaml").write_text(_SHARED + "source: {sheat: A}\n", encoding="utf-8")
    FILE.write_text("extends: _shared.yaml\ntarget: {job_post: a}\n", encoding="utf-8")
    with pytest.raises(UnusableInput) as refused:
        read_mapping(FILE)
    assert str(refused.value).startswith(
        "_shared.yaml:5:10: 'sheat' is an unknown key in source; did you mean 'sheet'?"
    )


def _folder(**files: str) -> Path:
    folder = Path("all")
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def _one(target: str, route: str, more: str = "") -> str:
    return f"version: 1\ntarget: {target}\n{route}{_PERSON}{more}"


_A = _one("{job_post: a}", "route: {column: Job, is: [A]}\n")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(
            _one("{job_post: b}", ""),
            "all/b.yaml: the mapping has no route; add route: {column: ..., is: ...} to select its rows",
            id="no route",
        ),
        pytest.param(
            _one("{job_post: b}", "route: {column: Post, is: B}\n"),
            "all/b.yaml:3:17: the route uses the column 'Post', but a.yaml uses 'Job'; use the same column in all "
            "files of the folder",
            id="another column",
        ),
        pytest.param(
            _one("{job_post: b}", "route: {column: Job, is: [B, a]}\n"),
            "all/b.yaml:3:17: a.yaml also selects rows with 'a'; keep the value in one of them",
            id="the same values",
        ),
        pytest.param(
            _one("{job_post: a}", "route: {column: Job, is: B}\n"),
            "all/b.yaml:2:1: job post a is also the target of a.yaml; combine the values of both routes in one file",
            id="the same target",
        ),
        pytest.param(
            _one("{job_post: b}", "route: {column: Job, is: B}\n", "source: {header_row: 2}\n"),
            "all/b.yaml: source: differs from source: in a.yaml; put source: into a shared file that both extend; "
            "import one that needs another by itself",
            id="another source",
        ),
    ],
)
def test_mappings_of_a_folder_that_conflict(other: str, expected: str) -> None:
    """Two mappings of one export never select the same row, and read the source in the same way."""
    with pytest.raises(UnusableInput) as refused:
        read_mappings(_folder(a=_A, b=other))
    assert str(refused.value) == expected


def test_a_folder_without_mappings() -> None:
    """An empty folder is reported, and one that contains only shared files."""
    with pytest.raises(UnusableInput) as refused:
        read_mappings(_folder(_shared=_SHARED))
    assert str(refused.value) == ("all: this folder contains no mapping file; add a file NAME.yaml for each job post")


def test_problems_of_all_files_are_reported_together() -> None:
    """All problems of a folder can be fixed in one pass."""
    with pytest.raises(UnusableInput) as refused:
        read_mappings(_folder(a=_A + "anwsers: {}\n", b=_A + "defualts: {}\n"))
    assert [problem.message for problem in refused.value.problems] == [
        "'anwsers' is an unknown key in the mapping file", "'defualts' is an unknown key in the mapping file",
    ]  # fmt: skip


_NO_HEADER = "m.yaml:4:34: the value table 't.csv' does not begin with the header cell,value"
_HEADER_HINT = "its first line must be cell,value (the text of a cell, and the value to send); save it as UTF-8"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            b"a,b\n",
            f"m.yaml:4:34: the value table 't.csv' does not begin with the header cell,value; {_HEADER_HINT}",
            id="header",
        ),
        pytest.param(
            b"",
            f"m.yaml:4:34: the value table 't.csv' does not begin with the header cell,value; {_HEADER_HINT}",
            id="empty",
        ),
        pytest.param(
            "cell,value\nKıdem,x\n".encode("cp1254"),
            f"m.yaml:4:34: the value table 't.csv' is not UTF-8; {_HEADER_HINT}",
            id="encoding",
        ),
        pytest.param(
            b"cell,value\na,b,c\n",
            "t.csv:2:1: the line has 3 cells instead of 2; quote a cell that contains the delimiter",
            id="three cells",
        ),
        pytest.param(
            b"cell;value\nSr;Senior\nSR;Staff\n",
            "t.csv:3:1: 'Sr' and 'SR' are the same text but have different values; keep one; the other is on line 2",
            id="two lines with the same text",
        ),
    ],
)
def test_a_table_file_that_cannot_be_used(content: bytes, expected: str) -> None:
    """Problems of a value table file are reported at the line of the mapping or of the table."""
    Path("t.csv").write_bytes(content)
    FILE.write_text(HEAD + "answers: {q: {column: A, values: t.csv}}\n", encoding="utf-8")
    with pytest.raises(UnusableInput) as refused:
        read_mapping(FILE)
    assert str(refused.value) == expected


def test_a_run_keeps_the_mapping_that_was_read() -> None:
    """Editing files after a mapping was read changes neither it nor its copy: no file is read twice."""
    Path("_shared.yaml").write_text(_SHARED, encoding="utf-8")
    Path("t.csv").write_text("cell,value\nSr,Senior\n", encoding="utf-8")
    FILE.write_text(
        "extends: _shared.yaml\ntarget: {job_post: a}\nanswers: {level: {column: L, values: t.csv}}\n", encoding="utf-8"
    )
    mapping = read_mapping(FILE)
    for path in (FILE, Path("_shared.yaml"), Path("t.csv")):
        path.unlink()
    Path("kept").mkdir()
    kept = read_mapping(Path("kept") / keep_mapping(mapping, Path("kept")))
    assert (kept.target, _columns(kept)) == (mapping.target, {"city": "City", "level": "L"})
    level = next(answer.content for answer in kept.answers if answer.question == "level")
    assert isinstance(level, ValueSpec)
    assert level.values == (("Sr", "Senior"),)


def test_a_mapping_without_other_files_is_copied_byte_for_byte() -> None:
    """Comments and order are preserved, even if the file changes later."""
    text = f"# mine\n{HEAD}answers: {{q: A}}   # also mine\n".encode()
    FILE.write_bytes(text)
    mapping = read_mapping(FILE)
    FILE.write_bytes(b"target: another\n")
    assert Path(keep_mapping(mapping, Path())).read_bytes() == text


def test_a_question_may_be_called_values() -> None:
    """In the copy of a run, its column stays a column, even if it has the name of a table file."""
    Path("t.csv").write_text("cell,value\nSr,Senior\n", encoding="utf-8")
    FILE.write_text(HEAD + "answers: {values: t.csv, level: {column: L, values: t.csv}}\n", encoding="utf-8")
    Path("kept").mkdir()
    kept = read_mapping(Path("kept") / keep_mapping(read_mapping(FILE), Path("kept")))
    assert _columns(kept) == {"values": "t.csv", "level": "L"}
