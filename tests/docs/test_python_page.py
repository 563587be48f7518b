"""docs/python.md, run line by line, and what the Python functions refuse."""

from __future__ import annotations

import doctest
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

import importer
from importer.ledger import LedgerUnwritable
from importer.problems import ImporterError, Problem, UnusableInput, UsageError
from importer.report.next_steps import next_steps
from importer.runs.table import TableUnwritable
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


def _fix_cv(report: Path, row: int) -> None:
    book = openpyxl.load_workbook(report)
    sheet = book["invalid"]
    header = [cell.value for cell in sheet[1]]
    (found,) = (cells for cells in sheet.iter_rows(min_row=2) if cells[0].value == str(row))
    found[header.index("CV")].value = "77"
    book.save(report)


def test_what_was_fixed_in_the_report_of_a_frame_is_sent(folder: Path) -> None:
    """By Python and by the command that the report names: the run's own copy is read as it was written."""
    people = pd.DataFrame([{**PEOPLE[0], "CV": ""}, PEOPLE[1], {**PEOPLE[0], "E-mail": "can@example.com", "CV": ""}])
    done = importer.run(people, "people.yaml", sandbox=True)
    _fix_cv(done.folder / "report.xlsx", 2)
    fixed = importer.run(done.folder / "report.xlsx", "people.yaml", sandbox=True)
    assert outcomes(fixed) == {"created": 1, "already_imported": 1, "invalid": 1}
    _fix_cv(fixed.folder / "report.xlsx", 4)
    (command,) = next_steps(fixed.summary, Path("results") / fixed.folder.name)[0].commands
    subprocess.run([sys.executable, "-m", *command.split()], check=True, capture_output=True)
    last = max(folder.glob("results/2*"), key=lambda path: path.stat().st_mtime)
    assert importer.results(last)["import_status"].to_list() == ["already imported", "already imported", "201 created"]


def test_the_report_of_a_check_names_no_command(folder: Path) -> None:
    """No command can read a DataFrame: the same call sends its rows."""
    checked = importer.check(pd.DataFrame(PEOPLE), "people.yaml", sandbox=True)
    assert [(step.text, step.commands) for step in next_steps(checked.summary, checked.folder)] == [
        ("Send (to the sandbox) the rows that are ready by importer.run", ()),
        ("This run used the sandbox; for the real service, run your own file without --sandbox", ()),
    ]


def outcomes(done: Any) -> dict[str, int]:
    return {kind.value: count for kind, count in done.summary.outcomes.items() if count}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown option": ({"limits": 3}, "the option limits is unknown; did you mean 'limit'?"),
    "an unknown setting": ({"settings": {"raet": 3}}, "the setting raet is unknown; did you mean 'rate'?"),
    "rows that are none": ({"rows": "x"}, "--rows 'x' is not a valid range of rows; write it like 10-40, 10- or 10"),
    "a sheet by number": ({"sheet": 1}, "sheet=1 is not valid: input should be a valid string"),
    "a limit that is no number": ({"limit": "3"}, "limit='3' is not valid: input should be a valid integer"),
    "a limit below 1": ({"limit": 0}, "limit=0 is not valid: input should be greater than or equal to 1"),
    "no word of ours": ({"resend_unconfirmed": "x"}, "resend_unconfirmed='x' is not valid: input should be 'now',"),
    "a setting that is not valid": ({"settings": {"rate": -1}}, "an option in Python"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_an_option_is_checked(folder: Path, options: dict[str, Any], message: str) -> None:
    """Before anything is read or sent."""
    with pytest.raises((UsageError, UnusableInput)) as caught:
        importer.run(pd.DataFrame(PEOPLE), "people.yaml", **{"sandbox": True, **options})
    assert message in str(caught.value)


ODD = {
    "a float": 1.234,
    "a list": ["a"],
    "a small float with too many digits": np.float32(905551234567),
    "a time of numpy": np.datetime64("2024-05-31T00:00:00", "ns"),
    "half a character": "a\ud800",
    "a NUL": "a\0",
    "several numbers": np.array([1, 2]),
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
def test_a_cell_without_a_single_text_is_refused(folder: Path, value: Any) -> None:
    """1.234 could become 1234 by the formats of the mapping: all such cells are counted, the first are named."""
    people = pd.DataFrame([{**one, "Note": value} for one in [*PEOPLE, *PEOPLE]], dtype=object)
    kind = type(value).__name__
    with pytest.raises(UsageError) as caught:
        importer.check(people, "people.yaml", sandbox=True)
    assert str(caught.value) == (
        f"4 cells of the DataFrame are not a text, a whole number, a date or blank (row 2, Note: {kind}; row 3, Note: "
        f"{kind}; row 4, Note: {kind}; ...); write them as texts in the form that the mapping declares (decimal:), or "
        "import the file itself"
    )


def test_a_column_of_small_floats_is_refused_where_digits_are_lost(folder: Path) -> None:
    """pandas gives Python floats for such a column, in which the lost digits cannot be seen."""
    people = pd.DataFrame(PEOPLE).assign(CV=pd.Series([77, 905551234567], dtype="float32"))
    with pytest.raises(UsageError, match=r"^1 cells of the DataFrame .* \(row 3, CV: float\)"):
        importer.check(people, "people.yaml", sandbox=True)


def test_tables_beside_a_file_need_the_file(folder: Path) -> None:
    """A DataFrame has no folder in which they could be."""
    with pytest.raises(UsageError) as caught:
        importer.check(pd.DataFrame(PEOPLE), "mappings/bullhorn_files.yaml", sandbox=True)
    assert "beside its file, and a DataFrame has none; write its whole path in the mapping" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        importer.check([1, 2], "people.yaml", sandbox=True)  # type: ignore[arg-type]
    assert str(caught.value) == "the source is a list; give the path of a file, or a DataFrame"


def test_no_copy_is_left(folder: Path) -> None:
    """Also not that of a process that was killed: the next call removes it."""
    script = folder / "killed.py"
    script.write_text(
        "import importer, pandas, os\n"
        f"people = pandas.DataFrame({PEOPLE!r})\n"
        "for event in importer.events(people, 'people.yaml', sandbox=True):\n    os.kill(os.getpid(), 9)\n",
        "utf-8",
    )
    assert subprocess.run([sys.executable, script], check=False).returncode == -9
    internal = folder / "results" / ".importer"
    assert len([*internal.glob("2*/rows.csv")]) == 1
    importer.check(pd.DataFrame(PEOPLE), "people.yaml", sandbox=True)
    assert [*internal.glob("2*")] == []


def test_who_closes_the_events_stops_the_run(folder: Path) -> None:
    """The report is written, and the rest is not sent."""
    names = ("sample_data/legacy_ats_export.xlsx", "mappings/legacy_ats_export.yaml")
    with closing(importer.events(*names, sandbox=True)) as events:
        for event in events:
            if type(event).__name__ == "RowEnded":
                break
    (run,) = (folder / "results").glob("2*")
    assert importer.results(run)["import_status"].value_counts()["not sent"] > 100


def test_before_the_first_row_a_close_does_not_wait(folder: Path) -> None:
    """Nothing answers at the address: the run would wait for half a minute, and leaves nothing."""
    settings = {"base_url": "http://127.0.0.1:9", "token": "t0ken"}
    (folder / "post.yaml").write_text(MAPPING.replace("talent_pool: 17", "job_post: 4f2c9a"), "utf-8")
    began = time.monotonic()
    with closing(importer.events(pd.DataFrame(PEOPLE), "post.yaml", settings=settings)) as events:
        assert type(next(events)).__name__ == "QuestionsDelayed"
    assert time.monotonic() - began < 20


def test_an_error_is_raised_where_events_are_read(folder: Path) -> None:
    """And nothing hangs."""
    with pytest.raises(ImporterError, match=r"^no\.xlsx: the file does not exist"):
        list(importer.events("no.xlsx", "people.yaml", sandbox=True))


@pytest.mark.parametrize(
    "error",
    [
        UnusableInput([Problem("file-unreadable", "it does not exist", "check the path")]),
        UsageError("no such row"),
        TableUnwritable(Path("run.sqlite"), "the disk is full"),
        LedgerUnwritable("l.sqlite", "the disk is full", "free disk space"),
    ],
)
def test_an_error_reaches_another_process(error: ImporterError) -> None:
    """A program may call `importer` in a pool of processes, which waits for ever for an error that it cannot read."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.exit_code, vars(again)) == (
        type(error), str(error), error.exit_code, vars(error)
    )  # fmt: skip


def test_a_script_needs_no_guard(folder: Path) -> None:
    """The processes that check a large file import nothing of it; nor does one that is given on standard input."""
    rows = "".join(f"p{number}@example.com,Ada,Nur,{number}\n" for number in range(3_000))
    (folder / "many.csv").write_text(f"E-mail,First,Last,CV\n{rows}", "utf-8")
    (folder / "people.yaml").write_text(MAPPING.replace("source:", "#"), "utf-8")
    script = (
        "import importer\nfrom importer.app import prepare_rows\nprepare_rows._cores = lambda: 2\n"
        "prepare_rows._ThisProcess.rows, prepare_rows._MOST_WAITING = None, 0\n"  # in this process: none
        "print(importer.check('many.csv', 'people.yaml', sandbox=True).summary.outcomes['not_sent'])\n"
    )
    ran = subprocess.run([sys.executable], input=script, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("3000\n", "")


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """`import importer` alone costs nothing, and a name that is none is an AttributeError."""
    program = "import importer, sys; print(len([name for name in sys.modules if name.startswith('importer')]))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "1\n"
    with pytest.raises(AttributeError, match="has no attribute 'imports'"):
        importer.imports  # type: ignore[attr-defined]  # noqa: B018
