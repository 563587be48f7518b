"""What is read of a fixed results file: what a person typed, and nothing that a spreadsheet program has made of it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook

from tests.cli.conftest import HEADER, MAPPING, Ran, Served, candidate, read_csv, write_csv
from tests.cli.test_corrections import fix

Serve = Callable[..., Served]
DEFAULTS = "defaults: {decimal: ',', thousands: '.', dates: ['%d/%m/%Y']}\n"
MORE = "  notice_weeks: Weeks\n  available_from: From\n"
REWRITTEN = "results-file-rewritten"
REMEDY = "  -> fix the rows in report.xlsx of the same folder, where a cell stays as you type it, and run that\n"


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
    assert "this results file is not in UTF-8 any more" in refused.err
    assert "-> save it as CSV UTF-8; or fix the rows in report.xlsx of the same folder" in refused.err


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


def test_a_results_csv_outside_its_run_is_refused(serve: Serve) -> None:
    """There the cells of the source are unknown, and who was entered."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    save(folder / "invalid.csv", {})
    (folder / "invalid.csv").rename(served.door.folder / "fixed.csv")
    refused = again(served, served.door.folder / "fixed.csv")
    assert (refused.code, "[results-file-elsewhere]" in refused.err, served.accepted) == (3, True, [])


def test_a_report_is_known_wherever_it_is(serve: Serve) -> None:
    """Sent by mail and saved elsewhere under another name; of a run that is gone, it is refused."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    fixed = served.door.folder / "from Ada.xlsx"
    (folder / "report.xlsx").rename(fixed)
    fix(fixed, {"Salary": "900"})
    assert again(served, fixed).counts == {"created": 1}
    folder.rename(folder.with_name("moved"))
    refused = again(served, fixed)
    assert (refused.code, f"its run {folder.name} is not in results" in refused.err) == (3, True)


# --- what a person changed --------------------------------------------------------------------------


def test_only_the_cells_to_fix_may_change_in_a_csv(serve: Serve) -> None:
    """A word in another cell may be a person's, but nothing proves it: report.xlsx takes it."""
    served = serve()
    folder = ran(served, {"Last": "Byron", "CV": "0012"})
    save(folder / "invalid.csv", {})
    assert again(served, folder / "invalid.csv").counts == {"created": 1}
    folder = ran(served, {"Last": "Byron", "CV": "0013", "E-mail": "eve@example.com"})
    for changed in ({"Last": "BYRON"}, {"From": "15/03/2026"}):
        save(folder / "invalid.csv", changed)
        refused = again(served, folder / "invalid.csv")
        assert (refused.code, REWRITTEN in refused.err) == (3, True)
    fix(folder / "report.xlsx", {"Salary": "900", "Last": "BYRON", "From": "15/03/2026"})
    assert again(served, folder / "report.xlsx").counts == {"created": 1}
    assert answers(served, "available_from") == ["2026-03-15", None]


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


COLUMNS = [pytest.param("CV", "cv", id="renamed"), pytest.param("CV", "First", id="another one of the same name")]


@pytest.mark.parametrize(("old", "new"), COLUMNS)
def test_columns_that_are_not_those_of_the_file_are_refused(serve: Serve, old: str, new: str) -> None:
    """Which cell is which would be a guess."""
    served = serve()
    folder = ran(served, {"CV": "0012"})
    text = (folder / "invalid.csv").read_text("utf-8-sig").replace(f",{old},", f",{new},", 1)
    (folder / "invalid.csv").write_text(text, "utf-8-sig")
    refused = again(served, folder / "invalid.csv")
    assert (refused.code, "[results-columns-changed]" in refused.err) == (3, True)


def test_columns_may_be_moved_and_added(serve: Serve) -> None:
    """A person notes something beside the rows; sorted and filtered rows are known by their number."""
    served = serve()
    folder = ran(served, {"CV": "0012"}, {"CV": "0013"})
    rows = [{"Note": "called", **row, "Salary": "900"} for row in reversed(read_csv(folder / "invalid.csv"))]
    with (folder / "invalid.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, [*reversed(rows[0])], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    assert again(served, folder / "invalid.csv").counts == {"created": 2}
    assert sorted(body["cv"] for body in served.sandbox.memory.accepted()) == ["0012", "0013"]


ROWS = [
    pytest.param({"import_row": ""}, "results-row-unknown", id="a row that someone added"),
    pytest.param({"import_row": "2.0"}, "results-row-unknown", id="a number that a program has rewritten"),
    pytest.param({"import_row": "9"}, "results-row-unknown", id="a row that is not in the file"),
    pytest.param({"import_row": "3"}, "results-row-unknown", id="one row twice"),
    pytest.param({"import_candidate": "Eve, eve@example.com"}, "results-row-unknown", id="some columns sorted"),
    pytest.param(
        {"E-mail": "person2@example.com", "First": "Ada2", "Last": "Nr2"},
        "results-row-unknown",
        id="cells of another row",
    ),
]


@pytest.mark.parametrize(("changed", "code"), ROWS)
def test_a_row_that_cannot_be_told_is_refused(serve: Serve, changed: dict[str, object], code: str) -> None:
    """Nothing of the file is sent: who the row is would be a guess."""
    served = serve()
    folder = ran(served, {"CV": "0012"}, {"CV": "0013"})
    fix(folder / "report.xlsx", {"Salary": "900", **changed}, {"Salary": "800"})
    refused = again(served, folder / "report.xlsx")
    assert (refused.code, f"[{code}]" in refused.err, served.accepted) == (3, True, []), refused.err


def test_a_row_that_the_service_rejected_can_be_changed_everywhere(serve: Serve) -> None:
    """The service does not say which cell it means."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1})
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    results = served.door.folder / "results" / str(run) / "400_rejected.csv"
    save(results, {"CV": "7999", "Phone": "+905550009999", "Last": "Byron"})
    fixed = again(served, results)
    assert fixed.code == 0, fixed.err


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


def test_a_text_that_the_workbook_cut_is_sent_whole(serve: Serve) -> None:
    """A text too long for a cell is that of the file while nobody changes it."""
    served, name = serve(), "A" * 33_000
    folder = ran(served, {"First": name, "CV": "0012"})
    fix(folder / "report.xlsx", {"First": "A", "Salary": "900"})
    refused = again(served, folder / "report.xlsx")
    assert (refused.code, "[cell-cut]" in refused.err) == (3, True)
    folder = ran(served, {"First": name, "CV": "0012"})
    fix(folder / "report.xlsx", {"Salary": "900"})
    assert again(served, folder / "report.xlsx").counts == {"created": 1}
    assert [body["first_name"] for body in served.sandbox.memory.accepted()] == [name]


ODD = ("=1+1", "_x0041_", "a\nb", "'quoted", "<r>bold</r>", "#1", "ﬁ ẞ İ", "-", "@home", "TRUE", "1e5", "0x10")


def test_an_untouched_report_corrects_nothing(serve: Serve) -> None:
    """Saved as it was, every cell is what it was, whatever it has in it."""
    served = serve()
    folder = ran(served, *({"CV": "0012", "From": "04/03/2026", "First": text, "Weeks": text} for text in ODD))
    for name in ("report.xlsx", "invalid.csv"):
        if name == "report.xlsx":
            fix(folder / name)
        refused = again(served, folder / name)
        assert (refused.code, "no cell of this file was changed [nothing-corrected]" in refused.err) == (3, True), name


def test_problems_after_a_fix_name_the_cells_of_the_file(serve: Serve) -> None:
    """A person fixes them there, or in the report of the last run, which has what was fixed before."""
    served = serve()
    report = ran(served, {"CV": "0012"}) / "report.xlsx"
    fix(report, {"Salary": "still a lot"})
    ran_again = again(served, report)
    (problem,) = ran_again.summary["problems"]
    assert str(problem["message"]).startswith("people.csv, row 2, column \"Salary\": 'still a lot'")
    (row,) = read_csv(served.door.folder / "results" / str(ran_again.summary["run"]) / "invalid.csv")
    assert row["Salary"] == "still a lot"
