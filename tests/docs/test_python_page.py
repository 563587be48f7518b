"""docs/python.md, run line by line, and what the Python functions refuse."""

from __future__ import annotations

import doctest
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import importer
from importer.problems import ImporterError, UsageError
from tests.samples.sample import ROOT

PEOPLE = [
    {"E-mail": "ada@example.com", "First": "Ada", "Last": "Nur", "CV": "77"},
    {"E-mail": "deniz@example.com", "First": "Deniz", "Last": "Ak", "CV": "78"},
]
MAPPING = """\
version: 1
target: {talent_pool: 17}
source: {encoding: cp1254, delimiter: ";", header_row: 4}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of what the page uses, as the current folder."""
    for name in ("sample_data", "mappings"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "people.yaml").write_text(MAPPING, "utf-8")
    with chdir(tmp_path):
        yield tmp_path


def test_the_page_is_true(folder: Path) -> None:
    """Each line of docs/python.md gives what the page says."""
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, encoding="utf-8")
    assert (found.failed, found.attempted > 15) == (0, True)


def test_rows_of_a_frame_are_sent_as_they_are(folder: Path) -> None:
    """How the mapping's own file is read does not count, and blank cells and whole numbers are as in a file."""
    people = pd.DataFrame(
        [*PEOPLE, {"E-mail": 'Ömer;\n"ş"@example.com', "First": None, "Last": date(2020, 1, 2), "CV": 79}]
    )
    people["CV"] = [77.0, 78, 79]
    done = importer.run(people, "people.yaml", sandbox=True)
    rows = importer.results(done.folder)
    assert rows["import_status"].to_list() == ["201 created", "201 created", "invalid"]
    assert rows["CV"].to_list() == ["77", "78", "79"]
    assert rows.iloc[2]["E-mail"] == 'Ömer;\n"ş"@example.com'
    assert (rows.iloc[2]["First"], rows.iloc[2]["Last"]) == ("", "2020-01-02")
    again = importer.run(people, "people.yaml", sandbox=True)
    assert again.summary.outcomes["already_imported"] == 2


def test_what_was_fixed_in_the_report_of_a_frame_is_sent(folder: Path) -> None:
    """The report of a run from Python is the way back, as with a file: the run has its own copies."""
    import openpyxl

    people = pd.DataFrame([{**PEOPLE[0], "CV": ""}, PEOPLE[1]])
    done = importer.run(people, "people.yaml", sandbox=True)
    report = done.folder / "report.xlsx"
    book = openpyxl.load_workbook(report)
    sheet = book["invalid"]
    header = [cell.value for cell in sheet[1]]
    sheet.cell(2, header.index("CV") + 1).value = "77"
    book.save(report)
    fixed = importer.run(report, done.folder / "mapping.yaml", sandbox=True)
    assert {kind.value: count for kind, count in fixed.summary.outcomes.items() if count} == {
        "created": 1,
        "already_imported": 1,
    }


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown option": ({"rats": 3}, "unknown options: rats; the options are out, sandbox, questions"),
    "rows that are none": ({"rows": "x"}, "--rows 'x' is not a valid range of rows; write it like 10-40, 10- or 10"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_an_option_is_checked(folder: Path, options: dict[str, Any], message: str) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError) as caught:
        importer.run(pd.DataFrame(PEOPLE), "people.yaml", sandbox=True, **options)
    assert str(caught.value).startswith(message)


def test_a_cell_without_a_single_text_is_refused(folder: Path) -> None:
    """1.234 could become 1234 by the formats of the mapping: all such cells are counted, the first are named."""
    people = pd.DataFrame([{**one, "Salary": 1.234, "Tags": ["a"]} for one in PEOPLE])
    with pytest.raises(UsageError) as caught:
        importer.check(people, "people.yaml", sandbox=True)
    assert str(caught.value) == (
        "4 cells of the DataFrame are not a text, a whole number, a date or blank (row 2, Salary: float; row 2, Tags: "
        "list; row 3, Salary: float; ...); turn them into texts, or read the file with dtype=str"
    )


def test_rows_that_are_skipped_by_number_are_refused(folder: Path) -> None:
    """The numbers are those of the mapping's own file: other rows would be left out."""
    (folder / "people.yaml").write_text(MAPPING.replace("header_row: 4", "skip_rows: 2"), "utf-8")
    with pytest.raises(UsageError) as caught:
        importer.check(pd.DataFrame(PEOPLE), "people.yaml", sandbox=True)
    assert str(caught.value) == "people.yaml has skip_rows:, which count in its file; use a mapping without it"


def test_who_stops_reading_events_stops_the_run(folder: Path) -> None:
    """The report is written, and the rest is not sent."""
    events = importer.events("sample_data/legacy_ats_export.xlsx", "mappings/legacy_ats_export.yaml", sandbox=True)
    for event in events:
        if type(event).__name__ == "RowEnded":
            break
    events.close()  # type: ignore[attr-defined]
    (run,) = (folder / "results").glob("2*")
    assert importer.results(run)["import_status"].value_counts()["not sent"] > 100


def test_an_error_is_raised_where_events_are_read(folder: Path) -> None:
    """And nothing hangs."""
    with pytest.raises(ImporterError, match=r"^no\.xlsx: the file does not exist"):
        list(importer.events("no.xlsx", "people.yaml", sandbox=True))


def test_a_script_without_a_guard_is_told(folder: Path) -> None:
    """The processes that check a large file would run the import again."""
    script = folder / "nightly.py"
    script.write_text(
        "import multiprocessing\nimport importer\n"
        "def work(): pass\n"
        "try:\n    importer.check('no.xlsx', 'people.yaml', sandbox=True)\n"
        "except importer.problems.UsageError as error:\n    print(error)\n"
        "except importer.problems.UnusableInput:\n"
        "    process = multiprocessing.get_context('spawn').Process(target=work)\n"
        "    process.start()\n    process.join()\n",
        "utf-8",
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ran.stdout == 'put what calls importer under if __name__ == "__main__": it starts processes\n'


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """`import importer` alone costs nothing, and a name that is none is an AttributeError."""
    program = "import importer, sys; print(len([name for name in sys.modules if name.startswith('importer')]))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "1\n"
    with pytest.raises(AttributeError, match="has no attribute 'imports'"):
        importer.imports  # type: ignore[attr-defined]  # noqa: B018
