"""Rows that were fixed in report.xlsx: the file is imported again with them, and nobody is entered twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from tests.cli.conftest import HEADER, Ran, Served, candidate, read_csv, write_csv
from tests.cli.test_run import RUN

Serve = Callable[..., Served]
BAD = "ada(at)example.com"
MAIL = "E-mail"


def run_first(served: Served, *rows: list[str]) -> Path:
    """The folder of a first run of these rows, or of one row with a wrong e-mail."""
    write_csv(served.door.folder / "people.csv", list(rows) or [candidate(1), candidate(2, **{MAIL: BAD})])
    return Path("results") / str(served(*RUN, "--json").summary["run"])


def fix(report: Path, *rows: dict[str, object], sheet: str = "invalid") -> None:
    """Type into the cells of a sheet of report.xlsx: into its first rows, in their order."""
    book = load_workbook(report)
    names = {cell.value: cell.column for cell in book[sheet][1]}
    for number, values in enumerate(rows, start=2):
        for name, value in values.items():
            book[sheet].cell(number, names[name]).value = value
    book.save(report)


def correct(served: Served, run: Path | str, *rows: dict[str, object], sheet: str = "invalid") -> Ran:
    """Fix rows in the report of a run, and import it."""
    report = Path("results") / Path(run).name / "report.xlsx"
    fix(served.door.folder / report, *rows, sheet=sheet)
    return served("run", str(report), "--mapping", "mapping.yaml", "--json")


def notes(served: Served, ran: Ran) -> list[str]:
    """What already_imported.csv says of its rows."""
    rows = read_csv(served.door.folder / "results" / str(ran.summary["run"]) / "already_imported.csv")
    return [row["import_problem"] for row in rows]


def test_only_the_fixed_rows_are_sent_and_the_file_knows_them(serve: Serve) -> None:
    """Of several sheets by one command. The report covers all rows of the file, and so does the file run again."""
    refused = {"kind": "refuse", "emails": ["person3@example.com"], "message": "no such mailbox", "times": 9}
    served = serve({**refused, "operation": "apply"})
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}), candidate(3), candidate(4, Salary="a lot"))
    changed = {MAIL: "p33@example.com", "Phone": "+905550009999"}
    fix(served.door.folder / first / "report.xlsx", changed, sheet="400 rejected")
    fixed = correct(served, first, {MAIL: "ada@example.com"})
    assert (fixed.code, fixed.counts) == (4, {"created": 2, "invalid": 1, "already_imported": 1})
    assert fixed.summary["source"]["reading"].endswith("7 columns, 3 cells corrected")
    assert (fixed.summary["source"]["file"], fixed.summary["continues"]) == ("people.csv", first.name)
    last = correct(served, fixed.summary["run"], {"Salary": "900"})
    assert (last.code, last.counts) == (0, {"created": 1, "already_imported": 3})
    for command in ("check", "run", "run"):
        again = served(command, *RUN[1:], "--json")
        assert (again.code, again.counts) == (0, {"already_imported": 4})
    by = [f"by run {ran.summary['run']}, row" for ran in (fixed, last)]
    assert notes(served, again) == [
        "",
        f"imported in another form {by[0]} 3",
        f"imported with another e-mail address {by[0]} 4",
        f"imported in another form {by[1]} 5",
    ]
    assert sorted(served.accepted) == [
        "ada@example.com",
        "p33@example.com",
        "person1@example.com",
        "person4@example.com",
    ]
    assert served("status", "people.csv").code == 0


def test_a_row_that_was_corrected_three_times(serve: Serve) -> None:
    """Each report has what was fixed before; the last correction is the row of the file."""
    served = serve()
    run = run_first(served).name
    for still_wrong in ("ada@example", "ada@example..com"):
        ran = correct(served, run, {MAIL: still_wrong})
        assert ran.counts == {"invalid": 1, "already_imported": 1}
        run = ran.summary["run"]
    assert correct(served, run, {MAIL: "ada@example.com"}).counts == {"created": 1, "already_imported": 1}
    assert served(*RUN, "--json").counts == {"already_imported": 2}


def test_a_changed_original_row_is_a_row_of_its_own(serve: Serve) -> None:
    """After a change in the original, what was entered for its old content says nothing about it."""
    served = serve()
    first = run_first(served)
    assert correct(served, first, {MAIL: "ada@example.com"}).counts == {"created": 1, "already_imported": 1}
    other = candidate(2, **{MAIL: "bob(at)example.com", "First": "Bob"})
    write_csv(served.door.folder / "people.csv", [candidate(1), other])
    assert served(*RUN, "--json").counts == {"already_imported": 1, "invalid": 1}


def test_a_row_with_another_name_and_address_is_known(serve: Serve) -> None:
    """A second correction of a row that was entered enters nobody, and says what to do."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD, "Last": "?"}))
    entered = correct(served, first, {MAIL: "ada@example.com", "Last": "Byron"})
    assert entered.counts == {"created": 1, "already_imported": 1}
    assert served(*RUN, "--json").counts == {"already_imported": 2}
    twice = correct(served, first, {MAIL: "ada.work@example.com", "Last": "Lovelace"})
    assert twice.counts == {"already_imported": 2}
    (problem,) = twice.summary["problems"]
    assert problem["what"] == (
        f"sent with another e-mail address by run {entered.summary['run']}, row 3; this row was not sent"
    )
    assert served.accepted == ["person1@example.com", "ada@example.com"]


def test_the_address_of_another_row_stays_a_problem(serve: Serve) -> None:
    """Whichever of the two is fixed later; the row that was imported keeps it."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}))
    again = correct(served, first, {MAIL: "person1@example.com"})
    assert (again.code, again.counts) == (4, {"invalid": 1, "already_imported": 1})
    (problem,) = [one for one in again.summary["problems"] if one["code"] == "email-duplicate"]
    assert problem["places"] == ["row 3"]


def test_a_rehearsal_enters_nobody(serve: Serve) -> None:
    """A correction that only the sandbox accepted is not known to the real service, nor sent to it."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2, **{MAIL: BAD})])
    run = served(*RUN, "--sandbox", "--json").summary["run"]
    report = Path("results") / run / "report.xlsx"
    fix(served.door.folder / report, {MAIL: "ada@example.com"})
    real = served("run", str(report), "--mapping", "mapping.yaml")
    assert (real.code, "is of a sandbox run: add --sandbox" in real.err) == (2, True)
    assert served("run", str(report), "--json").counts == {"created": 1, "already_imported": 1}
    assert served(*RUN, "--json").counts == {"created": 1, "invalid": 1}


def test_what_was_fixed_after_a_check_is_sent(serve: Serve) -> None:
    """A report of a check is fixed like that of a run."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2, **{MAIL: BAD})])
    run = served("check", *RUN[1:], "--json").summary["run"]
    assert correct(served, run, {MAIL: "ada@example.com"}).counts == {"created": 2}


def test_a_stopped_run_is_resumed_with_what_was_fixed(serve: Serve) -> None:
    """`resume` has the corrections of its run; a cell that looks like a number stays as it was typed."""
    served = serve({"kind": "401", "emails": ["ada2@example.com"], "times": 1, "operation": "apply"})
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD, "CV": "0012"}), candidate(3, **{MAIL: BAD}))
    one = correct(served, first, {MAIL: "ada2@example.com"}, {MAIL: "ada3@example.com"})
    assert one.counts == {"failed": 1, "not_sent": 1, "already_imported": 1}
    assert served("resume", one.summary["run"], "--json").code == 0
    sent = {body["email"]: body["cv"] for body in served.sandbox.memory.accepted()}
    assert sent == {"person1@example.com": "7001", "ada2@example.com": "0012", "ada3@example.com": "7001"}


def test_a_corrected_candidate_with_several_rows_is_known(serve: Serve) -> None:
    """Also if only the first row has the name and the e-mail, and only that row was corrected."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    group_by = "source: {group_by: {column: Last, blank: continues}}\n"
    mapping.write_text(mapping.read_text("utf-8") + group_by, "utf-8")
    other = ["", "", "", "", "", "", "1000"]
    first = run_first(served, candidate(1), other, candidate(2, **{MAIL: BAD}), other)
    assert correct(served, first, {MAIL: "ada@example.com"}).counts == {"created": 2, "already_imported": 2}
    again = served(*RUN, "--json")
    assert (again.code, again.counts) == (0, {"already_imported": 4})
    assert served("status", "people.csv").code == 0


def test_a_person_is_not_entered_twice_with_two_addresses(serve: Serve) -> None:
    """Nor by a correction of a row that the original has entered meanwhile."""
    refused = {"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1}
    served = serve({**refused, "operation": "apply"})
    first = run_first(served, candidate(1))
    assert served(*RUN, "--json", "--resend-rejected").counts == {"created": 1}
    again = correct(served, first, {MAIL: "eve@example.com"}, sheet="400 rejected")
    assert again.counts == {"already_imported": 1}
    assert served.accepted == ["person1@example.com"]


@pytest.mark.parametrize("flag", [("--rows", "2-3"), ("--limit", "1"), ("--sheet", "invalid")])
def test_rows_of_a_report_are_not_selected(serve: Serve, flag: tuple[str, str]) -> None:
    """What was fixed is sent: a selection would be of another file."""
    served = serve()
    first = run_first(served)
    fix(served.door.folder / first / "report.xlsx", {MAIL: "ada@example.com"})
    refused = served("run", str(first / "report.xlsx"), "--mapping", "mapping.yaml", *flag)
    assert (refused.code, "cannot be used with a results file" in refused.err) == (2, True)


def test_a_candidate_of_several_rows_stays_one(serve: Serve) -> None:
    """Its key is corrected in all of its rows, and never to that of another candidate: half a person is not sent."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {group_by: E-mail}\n", "utf-8")
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}), candidate(2, **{MAIL: BAD}))
    other = "person1@example.com"
    for keys, said in [
        (["ada@example.com", BAD], "rows 3 and 4 are one candidate"),
        ([other, other], "rows 2 and 3 are two candidates, and would be one"),
    ]:
        fix(served.door.folder / first / "report.xlsx", *({MAIL: key} for key in keys))
        refused = served("run", f"{first}/report.xlsx")
        assert (refused.code, "selection-splits-candidate" in refused.err, said in refused.err) == (3, True, True)
    fixed = correct(served, first, {MAIL: "ada@example.com"}, {MAIL: "ada@example.com"})
    assert fixed.counts == {"created": 2, "already_imported": 1}
    assert served.accepted == [other, "ada@example.com"]


def test_rows_of_one_address_in_another_case_are_one_candidate(serve: Serve) -> None:
    """As where tables are joined: otherwise a person is sent with half of the rows."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {group_by: E-mail}\n", "utf-8")
    run_first(served, candidate(1), candidate(1, **{MAIL: "Person1@Example.com"}), candidate(2))
    assert served(*RUN, "--json").counts == {"already_imported": 3}
    assert served.accepted == ["person1@example.com", "person2@example.com"]


def test_a_key_that_is_a_missing_word_may_be_corrected_in_one_row(serve: Serve) -> None:
    """Rows with it are no candidate together."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {group_by: CV, missing: ['-']}\n", "utf-8")
    first = run_first(served, candidate(1, CV="-"), candidate(2, CV="-"))
    assert correct(served, first, {"CV": "14"}).counts["created"] == 1


def test_keys_that_may_be_corrected(serve: Serve) -> None:
    """Blank ones filled in alike; and that of the rows of a candidate that are not filtered out."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    own = mapping.read_text("utf-8")
    mapping.write_text(own + "source: {group_by: E-mail, where: {column: Last, is_not: Old}}\n", "utf-8")
    rows = [candidate(2, **{MAIL: BAD}), candidate(2, **{MAIL: BAD, "Last": "Old"})]
    blank = [candidate(3, **{MAIL: ""}), candidate(3, **{MAIL: ""})]
    first = run_first(served, *rows, *blank)
    keys = ["ada@example.com", "eve@example.com", "eve@example.com"]
    assert correct(served, first, *({MAIL: key} for key in keys)).counts == {"created": 3, "filtered": 1}
    assert sorted(served.accepted) == ["ada@example.com", "eve@example.com"]


def test_a_source_with_a_column_of_our_name(serve: Serve) -> None:
    """Its report is fixed like any other; without our own column, the rows are not known."""
    served = serve()
    people = served.door.folder / "people.csv"
    write_csv(people, [candidate(1, **{MAIL: BAD})])
    header, row = people.read_text("utf-8").splitlines()
    people.write_text(f"{header},import_row\n{row},x\n", "utf-8")
    first = Path("results") / str(served(*RUN, "--json").summary["run"])
    rows = served.door.folder / first / "invalid.csv"
    text = rows.read_text("utf-8-sig")
    rows.write_text(text.replace("import_row,import_status", "import_status").replace(",x,2,", ",x,"), "utf-8-sig")
    refused = served("run", f"{first}/invalid.csv")
    assert (refused.code, "columns are missing, or there twice: 'import_row'" in refused.err) == (3, True)
    assert correct(served, first, {MAIL: "ada@example.com"}).counts == {"created": 1}


def test_a_namesake_is_another_person(serve: Serve) -> None:
    """A row whose name and address are corrected may have the name of another row."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD, "Last": "Nr"}))
    fixed = correct(served, first, {MAIL: "ada@example.com", "Last": "Nr1"})
    assert fixed.counts == {"created": 1, "already_imported": 1}


def test_a_check_of_a_fixed_report(serve: Serve) -> None:
    """Its next step imports the report of the check, which has what was fixed, though no cell was changed in it."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}), candidate(3, **{MAIL: f"{BAD}3"}))
    fix(served.door.folder / first / "report.xlsx", {MAIL: "ada@example.com"})
    checked = served("check", f"{first}/report.xlsx")
    (command,) = re.findall(r"^ +importer (run results/.*)", checked.out, re.MULTILINE)
    assert ("ready by that command" in checked.out, "people.csv --mapping" in checked.out) == (True, False)
    assert served(*command.split(), "--json").counts == {"created": 1, "invalid": 1, "already_imported": 1}


def test_a_check_of_a_report_in_which_all_is_fixed(serve: Serve) -> None:
    """Its own report has the rows that are ready, as the command that it proposes imports that one."""
    served = serve()
    first = run_first(served)
    fix(served.door.folder / first / "report.xlsx", {MAIL: "ada@example.com"})
    checked = served("check", f"{first}/report.xlsx")
    (command,) = re.findall(r"^ +importer (run results/.*)", checked.out, re.MULTILINE)
    assert served(*command.split(), "--json").counts == {"created": 1, "already_imported": 1}


def test_columns_that_were_sorted_alone(serve: Serve) -> None:
    """Name and address of two rows are exchanged, and both addresses fixed: the name says that it is the other row."""
    served = serve()
    first = run_first(served, candidate(1, **{MAIL: BAD}), candidate(2, **{MAIL: f"{BAD}2"}))
    fix(
        served.door.folder / first / "report.xlsx",
        {MAIL: "two@example.com", "Last": "Nr2"},
        {MAIL: "one@example.com", "Last": "Nr1"},
    )
    refused = served("run", f"{first}/report.xlsx")
    assert (refused.code, "row 2 is the person of row 3 now" in refused.err, served.accepted) == (3, True, [])


@pytest.mark.parametrize("column", [MAIL, "CV", "Last"])
def test_one_column_that_was_sorted_alone(serve: Serve, column: str) -> None:
    """Each row would be sent with what belongs to another one."""
    served = serve()
    rows = [candidate(number, CV=str(number), Salary="a lot") for number in range(1, 5)]
    first = run_first(served, *rows)
    texts = [row[HEADER.index(column)] for row in rows]
    fix(served.door.folder / first / "report.xlsx", *({column: text, "Salary": "1"} for text in reversed(texts)))
    refused = served("run", f"{first}/report.xlsx")
    assert (refused.code, "results-row-unknown" in refused.err, served.accepted) == (3, True, [])


def test_a_column_with_equal_texts_that_was_sorted_alone(serve: Serve) -> None:
    """Also if one of its cells was corrected."""
    served = serve()
    texts = ["1003", "1001", "1001", "1002", "x"]
    first = run_first(served, *(candidate(number, CV=text, Salary="a lot") for number, text in enumerate(texts)))
    report = served.door.folder / first / "report.xlsx"
    fix(report, *({"CV": text, "Salary": "1"} for text in ("1001", "1001", "1002", "1003", "1004")))
    refused = served("run", f"{first}/report.xlsx")
    assert (refused.code, "column 'CV' in rows 2, 4, 5 are exchanged" in refused.err, served.accepted) == (3, True, [])


def test_addresses_that_were_exchanged_beside_others_that_were_corrected(serve: Serve) -> None:
    """Most changes are corrections, and three people would get the messages of each other."""
    served = serve()
    good = [candidate(number, Salary="a lot") for number in range(1, 4)]
    first = run_first(served, *good, *(candidate(number, **{MAIL: f"{BAD}{number}"}) for number in range(4, 8)))
    mails = ["person2@example.com", "person3@example.com", "person1@example.com"]
    fixed = [*({MAIL: mail, "Salary": "1"} for mail in mails), *({MAIL: f"n{at}@example.com"} for at in range(4))]
    fix(served.door.folder / first / "report.xlsx", *fixed)
    refused = served("run", f"{first}/report.xlsx")
    assert (refused.code, "are exchanged" in refused.err, served.accepted) == (3, True, [])


def test_what_was_typed_is_read_as_it_is_seen(serve: Serve) -> None:
    """By its number format, like a cell of a source; what no program shows, or is no text, is refused with its cell."""
    served = serve()
    first = run_first(served, candidate(1, **{MAIL: BAD, "CV": ""}))
    report = served.door.folder / first / "report.xlsx"
    for typed, code in [
        ("=500*2", "formula-result-missing"),
        ("MÃ¼ller", "text-damaged"),
        ("9.05E+11", "number-short"),
    ]:
        fix(report, {"CV": typed, MAIL: "ada@example.com"})
        refused = served("run", f"{first}/report.xlsx")
        assert (refused.code, code in refused.err, "invalid!I2" in refused.err) == (3, True, True)
    fix(report, {"CV": 14})
    book = load_workbook(report)
    book["invalid"]["I2"].number_format = "00000"
    book.save(report)
    assert served("run", f"{first}/report.xlsx", "--json").counts == {"created": 1}
    assert served("show", "--row", "2").out.count("00014") >= 1


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        pytest.param(48000, "'48000 USD' is not a whole number", id="whole"),
        pytest.param(4.125, "'4.125 USD' is not a whole number", id="with a dot"),
    ],
)
def test_an_amount_is_corrected_with_the_currency_of_its_format(serve: Serve, amount: float, message: str) -> None:
    """Its text has it, so that dollars are not sent as the currency of the mapping."""
    served = serve()
    first = run_first(served, candidate(1, **{MAIL: BAD, "Salary": ""}))
    report = served.door.folder / first / "report.xlsx"
    fix(report, {"Salary": amount, MAIL: "ada@example.com"})
    book = load_workbook(report)
    sheet = book["invalid"]
    at = [cell.value for cell in sheet[1]].index("Salary") + 1
    sheet.cell(2, at).number_format = '#,##0 "USD"'
    book.save(report)
    ran = served("run", f"{first}/report.xlsx")
    assert message in ran.out + ran.err


def test_columns_of_one_name_have_their_letters(serve: Serve) -> None:
    """So each is found wherever a person moves it."""
    served = serve()
    people = served.door.folder / "people.csv"
    write_csv(people, [candidate(1, **{MAIL: BAD})])
    header, row = people.read_text("utf-8").splitlines()
    people.write_text(f"{header},Note,Note\n{row},first,second\n", "utf-8")
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "  cover_letter: '=H'\n", "utf-8")
    report = served.door.folder / "results" / served(*RUN, "--json").summary["run"] / "report.xlsx"
    book = load_workbook(report)
    sheet = book["invalid"]
    last = sheet.max_column
    assert [sheet.cell(1, at).value for at in (last - 1, last)] == ["Note (H)", "Note (I)"]
    for each in (1, 2):
        kept = sheet.cell(each, last - 1).value
        sheet.cell(each, last - 1).value = sheet.cell(each, last).value
        sheet.cell(each, last).value = kept
    book.save(report)
    fix(report, {MAIL: "ada@example.com"})
    ran = served("run", str(report), "--json")
    assert (ran.counts, ran.summary["source"]["reading"].endswith("1 cell corrected")) == ({"created": 1}, True)


def test_a_column_without_a_header_is_not_another_one(serve: Serve) -> None:
    """The report shows it by its letter, so that a column of a person's own beside it is told from it."""
    served = serve()
    people = served.door.folder / "people.csv"
    write_csv(people, [candidate(1, **{MAIL: BAD})])
    header, row = people.read_text("utf-8").splitlines()
    people.write_text(f"{header},\n{row},from the file\n", "utf-8")
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "  cover_letter: '=H'\n", "utf-8")
    report = served.door.folder / "results" / served(*RUN, "--json").summary["run"] / "report.xlsx"
    book = load_workbook(report)
    sheet = book["invalid"]
    sheet.insert_cols(sheet.max_column)
    sheet.cell(2, sheet.max_column - 1).value = "a note of mine"
    book.save(report)
    fix(report, {MAIL: "ada@example.com"})
    ran = served("run", str(report), "--json")
    assert ran.counts == {"created": 1}
    assert ran.summary["source"]["reading"].endswith("1 cell corrected")


@pytest.mark.parametrize("change", ["row above", "column deleted", "renamed"])
def test_a_sheet_without_its_header_is_refused(serve: Serve, change: str) -> None:
    """Not passed over: what was fixed in it would be lost without a word, while other sheets are sent."""
    served = serve({"kind": "refuse", "emails": ["person3@example.com"], "message": "no", "operation": "apply"})
    report = run_first(served, candidate(2, **{MAIL: BAD}), candidate(3)) / "report.xlsx"
    fix(served.door.folder / report, {MAIL: "ada@example.com"})
    book = load_workbook(served.door.folder / report)
    sheet = book["400 rejected"]
    if change == "row above":
        sheet.insert_rows(1)
        sheet["A1"] = "to fix"
    elif change == "column deleted":
        sheet.delete_cols(1)
    else:
        sheet["A1"] = "Row"
    book.save(served.door.folder / report)
    refused = served("run", str(report))
    assert (refused.code, "[results-columns-changed]" in refused.err, served.accepted) == (3, True, [])


def test_merged_cells_and_a_hidden_sheet(serve: Serve) -> None:
    """A merged value may be meant for each of its rows, of which a program keeps one; what is hidden counts."""
    served = serve()
    report = run_first(served, *(candidate(number, Salary="abc") for number in (1, 2))) / "report.xlsx"
    fix(served.door.folder / report, {"Salary": "5000"})
    book = load_workbook(served.door.folder / report)
    at = next(cell.column_letter for cell in book["invalid"][1] if cell.value == "Salary")
    book["invalid"].merge_cells(f"{at}2:{at}3")
    book.save(served.door.folder / report)
    refused = served("run", str(report))
    assert (refused.code, f"are merged ({at}2:{at}3)" in refused.err, served.accepted) == (3, True, [])
    book["invalid"].unmerge_cells(f"{at}2:{at}3")
    book["invalid"][f"{at}3"] = "6000"
    book["invalid"].sheet_state = "hidden"
    book.save(served.door.folder / report)
    assert served("run", str(report), "--json").counts == {"created": 2}


def test_a_mapping_that_was_changed_since(serve: Serve) -> None:
    """It may name another sheet by now, whose rows have the same numbers, but not another target."""
    served = serve()
    book = Workbook()
    for title, first in (("February", 1), ("March", 3)):
        sheet = book.create_sheet(title)
        for row in (HEADER, candidate(first), candidate(first + 1, Last="")):
            sheet.append(row)
    del book["Sheet"]
    book.save(served.door.folder / "people.xlsx")
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"created": 1, "invalid": 1}
    mapping = served.door.folder / "mapping.yaml"
    text = mapping.read_text("utf-8")
    mapping.write_text(text.replace("4f2c9a", "9b1d07"), "utf-8")
    fixed = correct(served, ran.summary["run"], {"Last": "Byron"})
    assert (fixed.code, "has another target than run" in fixed.err) == (2, True)
    mapping.write_text(text + "source: {sheet: March}\n", "utf-8")
    assert correct(served, ran.summary["run"]).counts == {"created": 1, "already_imported": 1}
    sent = {body["email"]: body["last_name"] for body in served.sandbox.memory.accepted()}
    assert (sent["person2@example.com"], len(sent)) == ("Byron", 2)
