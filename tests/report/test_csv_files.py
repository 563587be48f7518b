"""The CSV files of a results folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.models import Outcome, OutcomeKind, Row
from importer.problems import Column, LinePlace, Origin, Problem
from importer.report.write import write_report
from tests.report.building import (
    CSV_ORIGIN,
    DEGREE,
    FACTS,
    bad_degree,
    bad_mobile,
    created,
    facts_with,
    files_in,
    read_csv,
    refused,
    row,
    rows,
)

ADDED = ["import_row", "import_status", "import_problem", "import_hint"]
HEADER = ["ID", "E-mail", "Mobile", "Degree 1", *ADDED]


def test_first_three_files_are_always_written(tmp_path: Path) -> None:
    """Without any row there are the three files with their header, the workbook and the summary, and nothing else."""
    write_report(tmp_path, FACTS, [], [])

    names = {"201_created.csv", "409_already_exists.csv", "400_rejected.csv"}
    assert files_in(tmp_path) == {*names, "report.xlsx", "report.html", "summary.json"}
    assert [read_csv(tmp_path / name) for name in names] == [[HEADER]] * 3


FILE_OF = {
    OutcomeKind.CREATED: "201_created.csv",
    OutcomeKind.ALREADY_EXISTS: "409_already_exists.csv",
    OutcomeKind.REJECTED: "400_rejected.csv",
    OutcomeKind.INVALID: "invalid.csv",
    OutcomeKind.FAILED: "failed.csv",
    OutcomeKind.UNCONFIRMED: "unconfirmed.csv",
    OutcomeKind.NOT_SENT: "not_sent.csv",
    OutcomeKind.ALREADY_IMPORTED: "already_imported.csv",
    OutcomeKind.FILTERED: "filtered.csv",
}


def test_each_row_lies_in_the_file_of_its_outcome(tmp_path: Path) -> None:
    """Every row is in the one file of its outcome, its cells unchanged and in source order."""
    kinds = [*OutcomeKind, *OutcomeKind]
    source = [row(number) for number in range(4, 4 + len(kinds))]

    write_report(tmp_path, FACTS, source, [Outcome(n, kind) for n, kind in enumerate(kinds, start=4)])

    for first, (kind, name) in enumerate(FILE_OF.items()):
        mine = [source[first], source[first + len(OutcomeKind)]]
        assert read_csv(tmp_path / name)[0] == HEADER, kind
        assert [cells[:5] for cells in read_csv(tmp_path / name)[1:]] == [[*r.cells, str(r.number)] for r in mine], kind


STATUS = {
    "201 created": Outcome(4, OutcomeKind.CREATED, 201),
    "409 already exists": Outcome(4, OutcomeKind.ALREADY_EXISTS, 409),
    "400 rejected": Outcome(4, OutcomeKind.REJECTED, 400),
    "422 rejected": Outcome(4, OutcomeKind.REJECTED, 422),
    "429 failed": Outcome(4, OutcomeKind.FAILED, 429),
    "failed": Outcome(4, OutcomeKind.FAILED),
    "503 unconfirmed": Outcome(4, OutcomeKind.UNCONFIRMED, 503),
    "invalid": Outcome(4, OutcomeKind.INVALID),
    "not sent": Outcome(4, OutcomeKind.NOT_SENT),
    "already imported": Outcome(4, OutcomeKind.ALREADY_IMPORTED),
    "filtered": Outcome(4, OutcomeKind.FILTERED),
}


@pytest.mark.parametrize(("status", "outcome"), STATUS.items(), ids=STATUS.keys())
def test_status_says_what_the_service_answered(tmp_path: Path, status: str, outcome: Outcome) -> None:
    """import_status is the status that was read, if one was, and the outcome in words."""
    write_report(tmp_path, FACTS, [row(4)], [outcome])

    assert read_csv(tmp_path / FILE_OF[outcome.kind])[1][5] == status


def test_every_problem_of_a_row_is_told_with_its_cell(tmp_path: Path) -> None:
    """import_problem lists all problems of the row with their cells; import_hint each hint once."""
    bad = row(7, "1", "a@example.com", "12", "bachelor")
    elsewhere = Problem(
        "value-unknown",
        "'Sr' is not a level",
        "write it with its country",
        Row(Origin("candidates.xlsx", "Jobs"), 9, ()).place(Column(1, "B", "Level")),
    )
    in_mapping = Problem("rule", "no value is left", place=LinePlace("mappings/zoho.yaml", 12, 5))
    of_row = Problem("too-few-cells", "the row has 3 cells, its header 4", "add the missing cell", bad.place())
    problems = (bad_degree(bad), bad_mobile(bad), elsewhere, in_mapping, of_row, refused("refused", ""))

    write_report(tmp_path, FACTS, [bad], [Outcome(7, OutcomeKind.INVALID, problems=problems)])

    assert read_csv(tmp_path / "invalid.csv")[1][6:8] == [
        """Candidates!D7, column "Degree 1": 'bachelor' is not a degree that the service accepts | """
        """Candidates!C7, column "Mobile": '12' is not a valid phone number"""
        " | candidates.xlsx, Jobs!B9: 'Sr' is not a level | mappings/zoho.yaml:12:5: no value is left"
        " | the row has 3 cells, its header 4 | refused",
        "add it under values: in mappings/zoho.yaml:41 | write it with its country | add the missing cell",
    ]


def test_cells_of_a_csv_source_are_named_by_row_and_column(tmp_path: Path) -> None:
    """The cell of a CSV, which has no letters, is named by its row and header."""
    bad = row(7, "1", "a@example.com", "020 7946 0123", "bachelor", origin=CSV_ORIGIN)
    invalid = Outcome(7, OutcomeKind.INVALID, problems=(bad_degree(bad),))

    write_report(tmp_path, facts_with(origin=CSV_ORIGIN), [bad], [invalid])

    reported = read_csv(tmp_path / "invalid.csv")[1][6]
    assert reported == f"row 7, column \"{DEGREE.name}\": 'bachelor' is not a degree that the service accepts"


HOSTILE = {
    "quote": 'say "hi"',
    "line break": "one\r\ntwo\nthree",
    "semicolon": "a;b",
    "comma": "a,b",
    "tab": "a\tb",
    "NUL": "a\x00b",
    "blanks": "  a  ",
    "emoji": "👩‍💻",
    "right to left": "مثال",
    "long": "x" * 100_000,
}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_hostile_cells_come_back(tmp_path: Path, delimiter: str) -> None:
    """Every cell is read back unchanged, with the delimiter of the source."""
    source = [row(number, text) for number, text in enumerate(HOSTILE.values(), start=4)]

    write_report(tmp_path, facts_with(delimiter=delimiter), source, created(range(4, 4 + len(HOSTILE))))

    read = read_csv(tmp_path / "201_created.csv", delimiter)
    assert [cells[0] for cells in read[1:]] == list(HOSTILE.values())


def test_form_of_the_file(tmp_path: Path) -> None:
    """The bytes are UTF-8 with BOM, CRLF, and minimal quotes, so that Excel opens the files directly."""
    csv_facts = facts_with(delimiter=";", origin=Origin("candidates.csv"))
    write_report(tmp_path, csv_facts, [row(4, "ğ", "a,b", "c;d")], created([4]))

    assert (tmp_path / "201_created.csv").read_bytes() == (
        "\ufeffID;E-mail;Mobile;Degree 1;import_row;import_status;import_problem;import_hint\r\n"
        'ğ;a,b;"c;d";Lisans;4;201 created;;\r\n'
    ).encode()


def test_a_file_name_that_is_no_unicode_is_no_obstacle(tmp_path: Path) -> None:
    """A file name that is not UTF-8 is escaped in every file."""
    origin = Origin("cand\udcfddates.csv")
    moved = Problem("moved", "see there", "", Row(origin, 9, ()).place())

    summary = write_report(
        tmp_path, facts_with(origin=origin), rows([4]), [Outcome(4, OutcomeKind.INVALID, problems=(moved,))]
    )

    assert read_csv(tmp_path / "invalid.csv")[1][6] == "cand\\udcfddates.csv, row 9: see there"
    assert summary.source.file == origin.file


def test_earlier_files_without_rows_go(tmp_path: Path) -> None:
    """When a report is written again, a file without rows is removed, and other files stay."""
    write_report(tmp_path, FACTS, rows([4]), [Outcome(4, OutcomeKind.UNCONFIRMED)])
    (tmp_path / "source.csv").write_text("a copy", encoding="utf-8")

    write_report(tmp_path, FACTS, rows([4]), created([4]))

    names = {
        "201_created.csv",
        "409_already_exists.csv",
        "400_rejected.csv",
        "report.xlsx",
        "report.html",
        "summary.json",
    }
    assert files_in(tmp_path) == {*names, "source.csv"}
    assert len(read_csv(tmp_path / "201_created.csv")) == 2
