"""Results files that a person fixed and imports again: a CSV that a spreadsheet program has rewritten is refused."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from tests.cli.conftest import HEADER, MAPPING, Ran, Served, candidate, read_csv, write_csv

Serve = Callable[..., Served]
DEFAULTS = "defaults: {decimal: ',', thousands: '.', dates: ['%d/%m/%Y']}\n"
MORE = "  notice_weeks: Weeks\n  available_from: From\n"
REWRITTEN = "results-file-rewritten"
REMEDY = "  -> fix the rows in report.xlsx of the same folder, where every cell stays as you type it, and import that\n"


def ran(served: Served, *rows: dict[str, object], name: str = "people.csv") -> Path:
    """The folder of a run of these rows, in whose every row the salary is wrong. name: with a value for each type."""
    header = [*HEADER, "Weeks", "From"]
    cells = [[*candidate(at, Salary="a lot"), "", ""] for at in range(1, len(rows) + 1)]
    for row, texts in zip(cells, rows, strict=True):
        for column, text in texts.items():
            row[header.index(column)] = text  # type: ignore[call-overload]
    if name.endswith(".csv"):
        with (served.door.folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *cells])
    else:
        book = Workbook()
        for values in (header, *cells):
            book.worksheets[0].append(values)
        book.save(served.door.folder / name)
    (served.door.folder / "mapping.yaml").write_text(DEFAULTS + MAPPING + MORE, "utf-8")
    first = served("run", name, "--mapping", "mapping.yaml", "--json")
    assert first.counts == {"invalid": len(rows)}, first.err
    return served.door.folder / "results" / str(first.summary["run"])


def save(path: Path, *changes: dict[str, str], encoding: str = "utf-8-sig") -> None:
    """The rows with fixed salaries and these changes, as a program saves them."""
    rows = read_csv(path)
    with path.open("w", encoding=encoding, errors="replace", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"Salary": "900"} | change for row, change in zip(rows, changes, strict=True))


def fix(report: Path, *rows: dict[str, object], title: str = "invalid") -> None:
    """Type into the cells of a sheet of report.xlsx."""
    book = load_workbook(report)
    names = {cell.value: cell.column for cell in book[title][1]}
    for number, values in enumerate(rows, start=2):
        for name, value in values.items():
            book[title].cell(number, names[name]).value = value
    book.save(report)


def again(served: Served, path: Path) -> Ran:
    return served("run", str(path.relative_to(served.door.folder)), "--mapping", "mapping.yaml", "--json")


def answers(served: Served, key: str) -> list[str | None]:
    bodies = sorted(served.sandbox.memory.accepted(), key=lambda body: str(body["email"]))
    found = [{item["job_post_question"]["question_key"]: item["answer"] for item in one["answers"]} for one in bodies]
    return [each.get(key) for each in found]


# --- what a program changed -------------------------------------------------------------------------

BY_A_PROGRAM = [
    pytest.param({"From": "04/03/2026"}, {"From": "3/4/2026"}, id="a date"),
    pytest.param({"From": "2026-03-04"}, {"From": "04.03.2026"}, id="a date in another locale"),
    pytest.param({"CV": "0012"}, {"CV": "12"}, id="zeros"),
    pytest.param({"Phone": "+905550000001"}, {"Phone": "905550000001"}, id="a plus"),
    pytest.param({"Phone": "05550000001"}, {"Phone": "5.55E+09"}, id="a shortened number"),
    pytest.param({"Weeks": "1.500"}, {"Weeks": "1.5"}, id="thousands"),
    pytest.param({"Last": "true"}, {"Last": "TRUE"}, id="a word that is a value"),
    pytest.param({"First": "Ayşe"}, {"First": "Ay?e"}, id="a letter that its encoding does not have"),
]


@pytest.mark.parametrize(("was", "now"), BY_A_PROGRAM)
def test_a_file_that_a_program_has_rewritten_is_refused(serve: Serve, was: dict[str, str], now: dict[str, str]) -> None:
    """Nothing of it is sent; the message has the cell, what it was and is, and the way out, which works."""
    served = serve()
    folder = ran(served, was, was)
    save(folder / "invalid.csv", now, {})
    refused = again(served, folder / "invalid.csv")
    ((name, before), (_, after)) = *was.items(), *now.items()
    place = f'row 2, column "{name}"'
    assert (refused.code, served.accepted) == (3, [])
    assert f"values: {place} was '{before}' and is '{after}' now [{REWRITTEN}]\n{REMEDY}" in refused.err
    fix(folder / "report.xlsx", {"Salary": "900"}, {"Salary": "800"})
    assert again(served, folder / "report.xlsx").counts == {"created": 2}
    assert answers(served, "salary") == ["900", "800"]


def test_only_the_first_cells_are_named(serve: Serve) -> None:
    """A program rewrites a whole column: three cells show it, and the rest is counted."""
    served = serve()
    folder = ran(served, *[{"CV": "0012"}] * 9)
    save(folder / "invalid.csv", *[{"CV": "12"}] * 9)
    message = again(served, folder / "invalid.csv").err
    assert (message.count("was '0012' and is '12' now"), "; and 6 more cells [" in message) == (3, True)


@pytest.mark.parametrize("encoding", ["cp1254", "mac-turkish"])
def test_another_encoding_is_refused(serve: Serve, encoding: str) -> None:
    """A file that is not UTF-8 any more was saved by a program: which encoding it has is not guessed."""
    served = serve()
    folder = ran(served, {"First": "Şule"})
    save(folder / "invalid.csv", {}, encoding=encoding)
    refused = again(served, folder / "invalid.csv")
    assert (refused.code, served.accepted) == (3, [])
    assert "the file is not UTF-8" in refused.err
    assert 'in Excel: Save As, "CSV UTF-8"' in refused.err


def test_without_the_copies_of_its_run_nothing_is_proven(serve: Serve) -> None:
    """The message names the copy that is missing, not the person's own file."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    (folder / "source.csv").unlink()
    refused = again(served, folder / "invalid.csv")
    assert refused.code == 3
    assert (
        f"{folder.relative_to(served.door.folder)}/source.csv: the run's copy of the source file is missing"
        in refused.err
    )


def test_a_workbook_made_of_a_results_csv_is_refused(serve: Serve) -> None:
    """It has numbers where there were texts, and zeros are gone."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    (row,) = read_csv(folder / "invalid.csv")
    book = Workbook()
    book.worksheets[0].append(list(row))
    book.worksheets[0].append(list((row | {"Salary": 900, "CV": 12, "import_row": 2}).values()))
    book.save(folder / "fixed.xlsx")
    refused = again(served, folder / "fixed.xlsx")
    assert (refused.code, "was '0012' and is '12' now" in refused.err, served.accepted) == (3, True, [])


def test_a_results_file_outside_its_run_proves_nothing(serve: Serve) -> None:
    """There the cells of the source are unknown: a value in another format is refused in its row."""
    served = serve()
    folder = ran(served, {"From": date(2026, 3, 15), "Weeks": 2.5}, name="people.xlsx")
    save(folder / "invalid.csv", {"From": "3/15/2026"})
    (folder / "invalid.csv").rename(served.door.folder / "fixed.csv")
    refused = again(served, served.door.folder / "fixed.csv")
    assert refused.counts == {"invalid": 1}
    assert [(one["code"], one["hint"].partition(";")[0]) for one in refused.summary["problems"]] == [
        ("value-format-changed", "write it as YYYY-MM-DD (in a text cell)")
    ]


# --- what a person changed --------------------------------------------------------------------------


def test_cells_that_no_program_changes_are_a_persons(serve: Serve) -> None:
    """A text editor can fix words and addresses, also where the report asks for none; blank cells can be filled."""
    served = serve()
    folder = ran(served, {"Last": "Byron", "CV": "0012"})
    save(folder / "invalid.csv", {"Last": "BYRON", "E-mail": "ada@example.com", "From": "15/03/2026"})
    assert again(served, folder / "invalid.csv").counts == {"created": 1}
    assert (served.accepted, answers(served, "available_from")) == (["ada@example.com"], ["2026-03-15"])


MISTAKEN = [
    pytest.param({"From": "soon"}, {"From": "4/3/2026"}, id="2026-04-03 was typed, as the report asks for"),
    pytest.param({}, {"From": "4/3/2026"}, id="into a blank cell that is not to be fixed"),
    pytest.param({"Salary": "45.000 or so"}, {"Salary": "45"}, id="45.000 was typed"),
]


@pytest.mark.parametrize(("was", "now"), MISTAKEN)
def test_a_fix_that_a_program_may_have_saved_as_another_value_is_refused(
    serve: Serve, was: dict[str, str], now: dict[str, str]
) -> None:
    """Nothing shows what was typed; in report.xlsx it stays."""
    served = serve()
    folder = ran(served, was)
    save(folder / "invalid.csv", now)
    refused = again(served, folder / "invalid.csv")
    assert (refused.code, REWRITTEN in refused.err, served.accepted) == (3, True, [])


@pytest.mark.parametrize(("before", "after"), [("0012", "12"), ("+905550000001", "905550000001")])
def test_a_rejected_row_does_not_lose_its_zeros(serve: Serve, before: str, after: str) -> None:
    """Any cell of it may be changed, but not by a program: a document ID would be that of another person."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1})
    column = "CV" if before == "0012" else "Phone"
    write_csv(served.door.folder / "people.csv", [candidate(1, **{column: before})])
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    results = served.door.folder / "results" / str(run) / "400_rejected.csv"
    save(results, {column: after, "Last": "Byron", "Salary": "1000"})
    refused = again(served, results)
    assert (refused.code, f"was '{before}' and is '{after}' now" in refused.err) == (3, True)


def test_a_row_that_was_not_sent_is_compared_in_full(serve: Serve) -> None:
    """Nothing in it is to be fixed."""
    served = serve({"kind": "401", "first": 1, "operation": "apply"})
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2, CV="7120")])
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    results = served.door.folder / "results" / str(run) / "not_sent.csv"
    save(results, {"CV": "7,12E+03", "Salary": "1000"})
    refused = again(served, results)
    assert (refused.code, REWRITTEN in refused.err) == (3, True)


def test_a_renamed_column_is_compared_as_the_mapping_finds_it(serve: Serve) -> None:
    """Its cells are sent, so they are not taken unseen."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    save(folder / "invalid.csv", {"CV": "12"})
    text = (folder / "invalid.csv").read_text("utf-8-sig").replace(",CV,", ",cv,", 1)
    (folder / "invalid.csv").write_text(text, "utf-8-sig")
    assert again(served, folder / "invalid.csv").code == 3


def test_a_row_that_the_service_rejected_can_be_changed_everywhere(serve: Serve) -> None:
    """The service does not say which cell it means."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1})
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    results = served.door.folder / "results" / str(run) / "400_rejected.csv"
    save(results, {"CV": "7999", "Phone": "+905550009999", "Last": "Byron"})
    fixed = again(served, results)
    assert fixed.code == 0, fixed.err


def test_a_row_without_its_number_is_read_as_it_is(serve: Serve) -> None:
    """A row that someone added is a row like any other."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    save(folder / "invalid.csv", {"CV": "12", "import_row": ""})
    assert again(served, folder / "invalid.csv").counts == {"created": 1}


def test_values_stay_values_in_a_results_file_of_a_results_file(serve: Serve) -> None:
    """The second one still records which cells were numbers and dates."""
    served = serve()
    folder = ran(served, {"Weeks": 1234.5, "From": date(2026, 3, 4), "Phone": "+90 12"}, name="people.xlsx")
    save(folder / "invalid.csv", {"Phone": "+90 13"})
    first = again(served, folder / "invalid.csv")
    assert first.code == 4, first.err
    second = served.door.folder / "results" / str(first.summary["run"]) / "invalid.csv"
    assert read_csv(second)[0]["import_typed"] == "H I"
    save(second, {"Phone": "+905550000001"})
    assert again(served, second).counts == {"created": 1}
    assert (answers(served, "notice_weeks"), answers(served, "available_from")) == (["1234.5"], ["2026-03-04"])


# --- report.xlsx ------------------------------------------------------------------------------------

TYPED = [
    pytest.param("Weeks", "1.125,5", "notice_weeks", "1125.5", id="a number as the mapping reads texts"),
    pytest.param("Weeks", 1.25, "notice_weeks", "1.25", id="a number as a number"),
    pytest.param("From", "16/03/2026", "available_from", "2026-03-16", id="a date as the mapping reads texts"),
    pytest.param("From", date(2026, 4, 5), "available_from", "2026-04-05", id="a date as a date"),
    pytest.param("Phone", "0555 000 00 01", "phone", "+905550000001", id="a telephone number over a number"),
]


@pytest.mark.parametrize(("column", "typed", "key", "sent"), TYPED)
def test_what_is_typed_into_the_report_is_sent(serve: Serve, column: str, typed: object, key: str, sent: str) -> None:
    """A text over a number or date is a text, as a person typed it; also where the report asks for none."""
    served = serve()
    folder = ran(served, {"Weeks": 2.5, "From": date(2026, 3, 4), "Phone": 5550000009}, name="people.xlsx")
    fix(folder / "report.xlsx", {"Salary": "900", column: typed})
    sent_again = again(served, folder / "report.xlsx")
    assert sent_again.counts == {"created": 1}, sent_again.out
    assert answers(served, key) == [sent]


def test_a_text_that_two_people_read_as_two_numbers_is_refused(serve: Serve) -> None:
    """Over a number, 1.125 is one in the format of the report, and over a thousand for whoever typed it."""
    served = serve()
    folder = ran(served, {"Weeks": 2.5}, name="people.xlsx")
    fix(folder / "report.xlsx", {"Salary": "900", "Weeks": "1.125"})
    refused = again(served, folder / "report.xlsx")
    assert (refused.code, "'1.125' can be two numbers [correction-ambiguous]" in refused.err) == (3, True)
    assert "write 1125 or 1.1250" in refused.err


def test_a_text_that_the_workbook_cut_is_not_sent(serve: Serve) -> None:
    """A text too long for a cell ends with a note: its row is fixed in the CSV file, which has all of it."""
    served, name = serve(), "A" * 33_000
    folder = ran(served, {"First": name, "CV": "0012"})
    fix(folder / "report.xlsx", {"Salary": "900"})
    refused = again(served, folder / "report.xlsx")
    assert [(one["code"], one["column"]) for one in refused.summary["problems"]] == [("cell-cut", "First")]
    assert refused.summary["problems"][0]["hint"] == (
        "fix and import the file that has the full text (the CSV file beside report.xlsx, or your own file); or type "
        "the text again"
    )
    save(folder / "invalid.csv", {})
    assert again(served, folder / "invalid.csv").counts == {"created": 1}
    assert [body["first_name"] for body in served.sandbox.memory.accepted()] == [name]


def test_an_untouched_report_corrects_nothing(serve: Serve) -> None:
    """Saved as it was, every row is what it was."""
    served = serve()
    folder = ran(served, {"CV": "0012", "From": "04/03/2026"}, {"Weeks": "1.500", "First": "=1+1"})
    fix(folder / "report.xlsx")
    assert again(served, folder / "report.xlsx").counts == {"invalid": 2}


def test_the_report_is_fixed_and_fed_back(serve: Serve) -> None:
    """Of report.xlsx the sheet with rows to fix is read, not the summary; its texts stay texts."""
    served = serve()
    report = ran(served, {"CV": "0012"}) / "report.xlsx"
    fix(report, {"Salary": "900"})
    ran_again = again(served, report)
    assert ran_again.counts == {"created": 1}, ran_again.err
    assert [body["cv"] for body in served.sandbox.memory.accepted()] == ["0012"]


def test_the_other_sheets_of_the_report_are_no_problem(serve: Serve) -> None:
    """With --strict, the importer's own sheets are not reported as unread; a sheet that a person added is."""
    served = serve()
    report = ran(served, {"CV": "0012"}) / "report.xlsx"
    ran_again = served("run", str(report), "--mapping", "mapping.yaml", "--strict", "--json")
    assert ran_again.code == 4, ran_again.err
    assert ran_again.counts == {"invalid": 1}
    book = load_workbook(report)
    book.create_sheet("Notes")["A1"] = "more"
    book.save(report)
    ran_again = served("run", str(report), "--mapping", "mapping.yaml", "--strict", "--json")
    assert (ran_again.code, "only the sheet 'invalid' is read, not 'Notes'" in ran_again.err) == (3, True)


def test_one_of_several_sheets_to_fix_is_named(serve: Serve) -> None:
    """If several sheets have rows to fix, nothing is guessed: --sheet names one, and the message lists them."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1})
    rows = [candidate(1), candidate(2, Salary="a lot")]
    write_csv(served.door.folder / "people.csv", rows)
    first = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert first.counts == {"rejected": 1, "invalid": 1}, first.err
    report = served.door.folder / "results" / str(first.summary["run"]) / "report.xlsx"
    refused = again(served, report)
    assert (refused.code, refused.err.partition(".xlsx: ")[2]) == (
        3,
        "the report has 2 sheets with rows to fix [sheet-ambiguous]\n"
        '  -> import one after the other: --sheet "400 rejected" or --sheet "invalid"\n',
    )
    fix(report, {"Salary": "900"})
    fix(report, {"First": "Bob"}, title="400 rejected")
    for sheet in ("invalid", "400 rejected"):
        assert served("run", str(report), "--mapping", "mapping.yaml", "--sheet", sheet, "--json").counts == {
            "created": 1
        }
    assert served.accepted == ["person2@example.com", "person1@example.com"]


def test_the_report_is_told_as_the_sheet_that_it_is(serve: Serve) -> None:
    """A corrected report.xlsx is read as a sheet of a workbook, and its problems name sheet and cell, also after it."""
    served = serve()
    report = ran(served, {"CV": "0012"}) / "report.xlsx"
    fix(report, {"Salary": "still a lot"})
    ran_again = again(served, report)
    assert ran_again.summary["source"]["reading"] == (
        "XLSX, sheet 'invalid', a corrected results file, header in row 1, 9 columns"
    )
    (problem,) = ran_again.summary["problems"]
    salary = {cell.value: cell.column_letter for cell in load_workbook(report)["invalid"][1]}["Salary"]
    assert (problem["places"], str(problem["message"]).partition(": ")[0]) == (
        [f"{salary}2"],
        f"{report.relative_to(served.door.folder)}, invalid!{salary}2",
    )
    assert served("report", ran_again.summary["run"], "--json").summary["problems"] == ran_again.summary["problems"]
    assert _fixed_rows(ran_again, served) == [f'invalid!{salary}2, column "Salary"']


def _fixed_rows(ran_again: Ran, served: Served) -> list[str]:
    rows = read_csv(served.door.folder / "results" / str(ran_again.summary["run"]) / "invalid.csv")
    return [row["import_problem"].partition(": ")[0] for row in rows]
