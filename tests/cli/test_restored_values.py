"""Results files that a spreadsheet program has saved: a date or number in another form is proven, or it is refused."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from tests.cli.conftest import HEADER, MAPPING, Ran, Served, candidate, read_csv, write_csv

Serve = Callable[..., Served]
_MORE = "  notice_weeks: Weeks\n  available_from: From\n"
_DEFAULTS = "defaults: {decimal: ',', thousands: '.', dates: ['%d/%m/%Y']}\nsource: {missing: [N/A]}\n"
_AS_DATE = "write it as YYYY-MM-DD (in a text cell)"
_AS_NUMBER = "write it as 1234.5, with a point for decimals and nothing between thousands"
_AS_VALUE = "write it as YYYY-MM-DD (in a text cell), 1234.5 or TRUE"


def _changed_format(now: str, hint: str) -> str:
    what = f"'{now}' was a date, a number, TRUE or FALSE; its format has changed since"
    return f"{what}; {hint}; or fix the row in report.xlsx or in your own file"


def _perhaps(column: str, was: str, now: str, *, was_wrong: bool = True) -> str:
    """Leaving the old value is only offered where it was not itself the problem."""
    before = f"was '{was}'" if was else "was blank"
    return (
        f"column \"{column}\": this cell {before} and is now '{now}'; a spreadsheet program may have changed it; the "
        "new results files have the old value again: type the right one into this cell of the new report.xlsx, where "
        "every cell is text and stays as you type it" + ("" if was_wrong else "; or leave it if the old value is right")
    )


def _ran(served: Served, *rows: tuple[float | bool | None, date]) -> Path:
    """The invalid.csv of a run of these weeks and dates, in whose every row the salary is wrong."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append([*HEADER, "Weeks", "From"])
    for number, values in enumerate(rows, start=1):
        sheet.append([*candidate(number, Salary="a lot"), *values])
    book.save(served.door.folder / "people.xlsx")
    (served.door.folder / "mapping.yaml").write_text(_DEFAULTS + MAPPING + _MORE, "utf-8")
    ran = served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"invalid": len(rows)}, ran.err
    return served.door.folder / "results" / str(ran.summary["run"]) / "invalid.csv"


def _saved(results: Path, columns: Sequence[str], *cells: Sequence[str]) -> None:
    """The file with fixed salaries, and with these cells as a spreadsheet program saved them."""
    rows = read_csv(results)
    with results.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row, texts in zip(rows, cells, strict=True):
            writer.writerow(row | {"Salary": "900"} | dict(zip(columns, texts, strict=True)))


def _again(served: Served, results: Path) -> Ran:
    return served("run", str(results), "--mapping", "mapping.yaml", "--json")


def _sent(served: Served) -> list[tuple[str | None, str | None]]:
    bodies = sorted(served.sandbox.memory.accepted(), key=lambda body: str(body["email"]))
    answers = [
        {item["job_post_question"]["question_key"]: item["answer"] for item in body["answers"]} for body in bodies
    ]
    return [(each.get("notice_weeks"), each.get("available_from")) for each in answers]


def _messages(again: Ran) -> str:
    (problem,) = again.summary["problems"]
    return str(problem["message"]).partition("row 2, ")[2]


PROVEN = [
    pytest.param(
        [(2.5, date(2026, 3, 15)), (1234.5, date(2026, 3, 4))],
        [("2,5", "3/15/2026"), ("45.000", "3/4/2026")],
        [("2.5", "2026-03-15"), ("45000", "2026-03-04")],
        id="numbers, and month first, though the mapping says day first",
    ),
    pytest.param(
        [(2.5, date(2026, 3, 15)), (4.5, date(2026, 3, 4))],
        [("N/A", "15.03.2026 00:00"), ("4.5", "05.04.2026")],
        [(None, "2026-03-15"), ("4.5", "2026-04-05")],
        id="a word of the person, and a date that the person has changed",
    ),
    pytest.param(
        [(None, date(2027, 8, 2)), (None, date(1927, 8, 15))],
        [("", "02/08/27"), ("", "15/08/27")],
        [(None, "2027-08-02"), (None, "1927-08-15")],
        id="years of two digits, each of the century that it was",
    ),
]


@pytest.mark.parametrize(("was", "came", "sent"), PROVEN)
def test_a_proven_form_is_read(
    serve: Serve,
    was: list[tuple[float | None, date]],
    came: list[tuple[str, str]],
    sent: list[tuple[str | None, str | None]],
) -> None:
    """If unchanged cells prove one format, every cell of the column is read in it, whatever the mapping says."""
    served = serve()
    results = _ran(served, *was)
    _saved(results, ("Weeks", "From"), *came)
    again = _again(served, results)
    assert again.counts == {"created": 2}, again.err
    assert _sent(served) == sent


UNPROVEN = [
    pytest.param(date(2026, 3, 4), "03/04/2026", 1234.0, "45.000", _AS_NUMBER, id="corrected or rewritten; thousands"),
    pytest.param(date(2026, 3, 15), "16.03.26", 1234.0, "1,235", _AS_NUMBER, id="a year of two digits; decimals"),
    pytest.param(date(2026, 3, 15), "16/03/2026", True, "EVET", _AS_VALUE, id="a changed date alone; an unknown word"),
]


@pytest.mark.parametrize(("day", "came_day", "weeks", "came_weeks", "hint"), UNPROVEN)
def test_an_unproven_format_is_refused(
    serve: Serve, day: date, came_day: str, weeks: float | bool, came_weeks: str, hint: str
) -> None:
    """An unproven format is invalid, and never read in the mapping's format, also in a second round; the hint is that
    of its kind of value."""
    served = serve()
    results = _ran(served, (weeks, day))
    _saved(results, ("Weeks", "From"), (came_weeks, came_day))
    again = _again(served, results)
    assert again.counts == {"invalid": 1}
    assert sorted(str(problem["message"]).partition("row 2, ")[2] for problem in again.summary["problems"]) == [
        f'column "From": {_changed_format(came_day, _AS_DATE)}',
        f'column "Weeks": {_changed_format(came_weeks, hint)}',
    ]
    results = served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv"
    assert _again(served, results).counts == {"invalid": 1}
    assert _sent(served) == []


def test_a_format_other_than_the_proven_one_is_refused(serve: Serve) -> None:
    """If the program writes 3/15/2026, a 03/04/2026 was typed by someone, who may have meant the day first."""
    served = serve()
    results = _ran(served, (None, date(2026, 3, 15)), (None, date(2026, 3, 5)))
    _saved(results, ("From",), ("3/15/2026",), ("03/04/2026",))
    assert _again(served, results).counts == {"created": 1, "invalid": 1}
    assert _sent(served) == [(None, "2026-03-15")]


def test_a_results_file_outside_its_run_proves_nothing(serve: Serve) -> None:
    """Outside the run's folder the original cells are unknown, so every changed format is refused."""
    served = serve()
    results = _ran(served, (None, date(2026, 3, 15)))
    _saved(results, ("From",), ("3/15/2026",))
    moved = results.rename(served.door.folder / "fixed.csv")
    again = _again(served, moved)
    assert (again.counts, _messages(again)) == (
        {"invalid": 1},
        f'column "From": {_changed_format("3/15/2026", _AS_DATE)}',
    )


def test_the_same_form_twice_over(serve: Serve) -> None:
    """A results file of a results file still records which cells are values."""
    served = serve()
    results = _ran(served, (1234.567, date(2026, 3, 4)))
    _saved(results, ("Phone",), ("+90 12",))
    again = _again(served, results)
    second = served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv"
    assert read_csv(second)[0]["import_typed"] == "H I"
    _saved(second, ("Phone",), ("+905550000001",))
    assert _again(served, second).counts == {"created": 1}
    assert _sent(served) == [("1234.567", "2026-03-04")]


def test_values_in_the_report_workbook(serve: Serve) -> None:
    """report.xlsx keeps them too: as they were, and as cells of a person's own that are numbers and dates."""
    served = serve()
    results = _ran(served, (234.567, date(2026, 3, 4)), (2.5, date(2026, 3, 4)))
    book = load_workbook(results.with_name("report.xlsx"))
    sheet = book["invalid"]
    names = {cell.value: cell.column for cell in sheet[1]}
    for row, weeks, day in ((2, "234.567", "2026-03-04"), (3, 1.125, date(2026, 4, 5))):
        sheet.cell(row, names["Salary"]).value = 900
        sheet.cell(row, names["Weeks"]).value = weeks
        sheet.cell(row, names["From"]).value = day
    book.active = book.worksheets.index(sheet)
    for other in book.worksheets:
        other.sheet_state = "visible" if other is sheet else "hidden"
    book.save(served.door.folder / "fixed.xlsx")
    again = _again(served, served.door.folder / "fixed.xlsx")
    assert again.counts == {"created": 2}, again.err
    assert _sent(served) == [("234.567", "2026-03-04"), ("1.125", "2026-04-05")]


_TEXTS_OVER_VALUES = [
    ("Weeks", "1.125", ("1.125", "2026-03-04")),  # a number as Row writes it, whatever the separators
    ("From", "1 septembre 2015", ("2.5", "2015-09-01")),
    ("From", "16/03/2026", ("2.5", "2026-03-16")),  # one reading
    ("From", "05/06/2026", _AS_DATE),  # two readings
    ("From", "04/03/2026", _AS_DATE),  # perhaps what it was
    ("Weeks", "45.000", _AS_NUMBER),  # two readings
]


def test_a_text_over_a_value_of_the_report(serve: Serve) -> None:
    """What has one meaning is sent as the mapping reads it; the rest is refused, with the hint of its kind."""
    served = serve()
    report = _ran(served, *[(2.5, date(2026, 3, 4))] * len(_TEXTS_OVER_VALUES)).with_name("report.xlsx")
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(
        mapping.read_text("utf-8").replace("%d/%m/%Y']", "%d/%m/%Y', '%d %B %Y'], months: [fr]"), "utf-8"
    )
    for row, (column, typed, _) in enumerate(_TEXTS_OVER_VALUES, start=2):
        _fix_report(report, "invalid", row, Salary="900", **{column: typed})
    again = _again(served, report)
    assert _sent(served) == [sent for *_, sent in _TEXTS_OVER_VALUES if isinstance(sent, tuple)]
    refused = read_csv(served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv")
    assert [row["import_hint"] for row in refused] == [hint for *_, hint in _TEXTS_OVER_VALUES if isinstance(hint, str)]


def test_a_telephone_number_over_a_number_of_the_report(serve: Serve) -> None:
    """Its zeros are those that were typed."""
    served = serve()
    report = _ran(served, (2.5, date(2026, 3, 4))).with_name("report.xlsx")
    mapping = (served.door.folder / "mapping.yaml").read_text("utf-8")
    mapping = mapping.replace("phone: {column: Phone", "phone: {column: Weeks").replace("notice_weeks: Weeks", "")
    mapping = mapping.replace("defaults: {", "defaults: {unused_columns: ignore, ")
    (served.door.folder / "mapping.yaml").write_text(mapping, "utf-8")
    _fix_report(report, "invalid", Salary="900", Weeks="0555 000 00 01")
    assert _again(served, report).counts == {"created": 1}
    assert _phones(served) == ["+905550000001"]


def test_a_year_that_lost_its_century_is_refused_where_it_was_to_be_fixed(serve: Serve) -> None:
    """A person who was asked to fix 2199 may have typed 2099 or 1999: the program shows 99."""
    served = serve()
    results = _ran_with_blanks(served, ("900", "2199-08-15"))
    _saved_with_blanks(results, ("900", "15/08/99"))
    again = _again(served, results)
    assert (again.counts, _messages(again)) == ({"invalid": 1}, _perhaps("From", "2199-08-15", "15/08/99"))


# --- a source of texts, as a CSV is -----------------------------------------------------------------


def _ran_csv(served: Served, *texts: str, **changed: str) -> Path:
    """The invalid.csv of a run of these texts in the column From, in whose every row the salary is wrong."""
    header = [*HEADER, "From"]
    rows = [[*candidate(number, **({"Salary": "a lot"} | changed)), text] for number, text in enumerate(texts, start=1)]
    with (served.door.folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    mapping = _DEFAULTS + MAPPING.replace("  phone: {column: Phone, region: TR}", "  phone: From")
    (served.door.folder / "mapping.yaml").write_text(mapping, "utf-8")
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"invalid": len(rows)}, ran.err
    return served.door.folder / "results" / str(ran.summary["run"]) / "invalid.csv"


def _phones(served: Served) -> list[str]:
    bodies = sorted(served.sandbox.memory.accepted(), key=lambda body: str(body["email"]))
    return [item["answer"] for body in bodies for item in body["answers"] if item["job_post_question"]["id"] == 102]


def test_a_text_that_a_program_changed_is_sent_as_it_was(serve: Serve) -> None:
    """What a program makes of a text of a CSV is not what the file says: the source of the run does.

    Leading zeros, a plus that somebody removed with its quote, and a shortened number.
    """
    served = serve()
    results = _ran_csv(served, "00905550000001", "+905550000001", "00905550000001")
    _saved(results, ("From",), ("905550000001",), ("905550000001",), ("9.05550E+11",))
    assert _again(served, results).counts == {"created": 3}
    assert _phones(served) == ["+905550000001"] * 3


def test_a_workbook_made_of_a_results_csv_is_restored(serve: Serve) -> None:
    """A results CSV that was saved as a workbook has numbers where it had texts; they are texts again."""
    served = serve()
    results = _ran_csv(served, "00905550000001")
    (row,) = read_csv(results)
    book = Workbook()
    book.worksheets[0].append(list(row))
    book.worksheets[0].append(list((row | {"Salary": 900, "From": 905550000001, "import_row": 2}).values()))
    fixed = results.with_name("fixed.xlsx")
    book.save(fixed)
    assert _again(served, fixed).counts == {"created": 1}
    assert _phones(served) == ["+905550000001"]


def test_a_fix_that_a_program_could_have_made_is_refused(serve: Serve) -> None:
    """Where nothing shows whether a person or a program changed a cell, it is invalid, and says how to go on."""
    served = serve()
    results = _ran_csv(served, "+905550000001", Salary="45.000,5")
    _saved(results, ("Salary",), ("45000.5",))
    again = _again(served, results)
    assert (again.counts, _messages(again)) == (
        {"invalid": 1},
        _perhaps("Salary", "45.000,5", "45000.5"),
    )
    assert served.accepted == []


def test_what_to_type_is_said_where_a_fix_is_refused(serve: Serve) -> None:
    """`45.000 TL` that became 45.000 is the person's or the program's: typed into the report, it is what is sent."""
    served = serve()
    results = _ran_csv(served, *["+905550000001"] * 2, Salary="45.000 TL")
    _saved(results, ("Salary",), ("45.000",), ("45000",))
    again = _again(served, results)
    report = results.parent.with_name(str(again.summary["run"])) / "report.xlsx"
    assert [
        f"{row['import_problem']}; {row['import_hint']}".partition(", ")[2]
        for row in read_csv(report.with_name("invalid.csv"))
    ] == [_perhaps("Salary", "45.000 TL", came) for came in ("45.000", "45000")]
    for row in (2, 3):
        _fix_report(report, "invalid", row, Salary="45.000")
    assert _again(served, report).counts == {"created": 2}
    assert _answers(served, "salary") == ["45000"] * 2


def test_an_old_value_that_is_left_is_sent(serve: Serve) -> None:
    """Where a value is not proven, the next results files have the old one again: left there, it is what is sent."""
    served = serve()
    start = "{column: From, dates: ['%m/%Y', '%Y-%m'], missing_day: first}"
    results = _ran_with_blanks(served, ("900", "9/2014"), ("900", "10/2014"), ("900", "2013-10"), start=start)
    _saved_with_blanks(results, ("900", "Nov-14"), ("900", "Oct-14"), ("900", "Oct-13"))
    again = _again(served, results)
    assert (again.counts["invalid"], _messages(again)) == (1, _perhaps("From", "9/2014", "Nov-14", was_wrong=False))
    left = results.parent.with_name(str(again.summary["run"])) / "invalid.csv"
    assert read_csv(left)[0]["From"] == "9/2014"
    _saved_with_blanks(left, ("900", "9/2014"))
    assert _again(served, left).counts == {"created": 1}
    assert _answers(served, "available_from")[0] == "2014-09-01"


@pytest.mark.parametrize("name", ["invalid.csv", "report.xlsx"])
def test_day_and_month_that_a_person_exchanged_stay_exchanged(serve: Serve, name: str) -> None:
    """No program writes a date in another order than it reads it: whoever turned it round is sent what they wrote."""
    served = serve()
    results = _ran_with_blanks(served, ("900", "03/04/2026"))
    _saved_with_blanks(results, ("900", "04/03/2026"))
    _fix_report(results.with_name("report.xlsx"), "invalid", Permit="yes", From="04/03/2026")
    assert _again(served, results.with_name(name)).counts == {"created": 1}
    assert _answers(served, "available_from") == ["2026-03-04"]


def test_a_row_without_its_number_is_read_as_it_is(serve: Serve) -> None:
    """Whoever clears import_row says that the cells of the row are meant as they are now."""
    served = serve()
    results = _ran_csv(served, "+905550000001", Salary="45.000,5")
    _saved(results, ("Salary", "import_row"), ("45000", ""))
    assert _again(served, results).counts == {"created": 1}


# --- what a person types into a file that a program saves -------------------------------------------


def _ran_with_blanks(
    served: Served, *texts: tuple[str, str], fine: Sequence[tuple[str, str]] = (), start: str = "From"
) -> Path:
    """The invalid.csv of a run of these salaries and dates, in whose every row the permit is wrong; `fine`: not."""
    rows = [[*candidate(number, Permit="perhaps", Salary=pay), day] for number, (pay, day) in enumerate(texts, start=1)]
    rows += [[*candidate(number, Salary=pay), day] for number, (pay, day) in enumerate(fine, start=51)]
    with (served.door.folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*HEADER, "From"], *rows])
    (served.door.folder / "mapping.yaml").write_text(_DEFAULTS + MAPPING + f"  available_from: {start}\n", "utf-8")
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    return served.door.folder / "results" / str(ran.summary["run"]) / "invalid.csv"


def _saved_with_blanks(results: Path, *texts: tuple[str, str]) -> None:
    _saved(results, ("Permit", "Salary", "From"), *(("yes", *cells) for cells in texts))


def _answers(served: Served, key: str) -> list[str | None]:
    bodies = sorted(served.sandbox.memory.accepted(), key=lambda body: str(body["email"]))
    answers = [{item["job_post_question"]["question_key"]: item["answer"] for item in one["answers"]} for one in bodies]
    return [each.get(key) for each in answers]


@pytest.mark.parametrize(
    ("was", "came", "typed", "before"),
    [
        pytest.param("55.000", "55", "50", "", id="decimals"),
        pytest.param("61.500", "61.5", "50.5", "50 bin", id="other decimals"),
        pytest.param("3.125", "3125", "2375", "?", id="separators"),
        pytest.param("0801", "801", "805", "", id="zeros"),
    ],
)
def test_a_number_that_lost_something_is_refused(serve: Serve, was: str, came: str, typed: str, before: str) -> None:
    """What the program dropped in one cell it perhaps dropped in what a person typed, also over a blank or a word."""
    served = serve()
    results = _ran_with_blanks(served, (before, ""), (was, ""))
    _saved_with_blanks(results, (typed, ""), (came, ""))
    again = _again(served, results)
    assert (again.counts, _messages(again)) == (
        {"created": 1, "invalid": 1},
        _perhaps("Salary", before, typed, was_wrong=bool(before)),
    )


def test_a_number_that_lost_something_is_refused_until_it_is_typed_into_the_report(serve: Serve) -> None:
    """The same text in the next results file is no proof; in the report it is what was typed."""
    served = serve()
    results = _ran_with_blanks(served, ("50 bin", ""), ("55.000", ""))
    _saved_with_blanks(results, ("50", ""), ("55", ""))
    again = _again(served, results)
    second = served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv"
    _saved_with_blanks(second, ("50", ""))
    assert _again(served, second).counts == {"invalid": 1}
    _fix_report(second.with_name("report.xlsx"), "invalid", Permit="yes", Salary="50000")
    assert _again(served, second.with_name("report.xlsx")).counts == {"created": 1}
    assert _answers(served, "salary")[0] == "50000"


def test_rows_that_are_not_in_the_file_show_what_is_usual(serve: Serve) -> None:
    """If the file has no other cell of the column, those of the source show that 50 may have been 50.000."""
    served = serve()
    results = _ran_with_blanks(served, ("50 bin", ""), ("50 bin", ""), fine=[("55.000", "")])
    _saved_with_blanks(results, ("50", ""), ("50000", ""))
    assert _again(served, results).counts == {"created": 1, "invalid": 1}
    assert _answers(served, "salary") == ["50000", "55000"]


def test_a_file_that_no_program_has_changed_is_read_as_it_is(serve: Serve) -> None:
    """A text with zeros or separators that is still there shows that what a person typed is what the file says."""
    served = serve()
    results = _ran_with_blanks(served, ("", ""), ("55.000", "2026-03-04"))
    _saved_with_blanks(results, ("50", "05/06/2026"), ("55.000", "2026-03-04"))
    assert _again(served, results).counts == {"created": 2}
    assert (_answers(served, "salary"), _answers(served, "available_from")) == (
        ["50", "55000"],
        ["2026-06-05", "2026-03-04"],
    )


def test_a_date_in_a_blank_cell_is_read_as_its_column_proves(serve: Serve) -> None:
    """A date that a person typed over a blank is read in the format of the program, not in the mapping's."""
    served = serve()
    results = _ran_with_blanks(served, ("900", ""), ("900", "2026-03-14"))
    _saved_with_blanks(results, ("900", "5/6/2026"), ("900", "3/14/2026"))
    assert _again(served, results).counts == {"created": 2}
    assert _answers(served, "available_from") == ["2026-05-06", "2026-03-14"]


_MONTH_FIRST = "{column: From, dates: ['%m/%d/%Y']}"


def test_a_date_is_read_as_the_program_wrote_the_other_texts(serve: Serve) -> None:
    """09/18/2027 that became 9/18/2027 proves how to read a 2/8/2027 that was typed over a date that does not exist."""
    served = serve()
    results = _ran_with_blanks(served, ("900", "2/30/2027"), ("900", "09/18/2027"), start=_MONTH_FIRST)
    _saved_with_blanks(results, ("900", "2/8/2027"), ("900", "9/18/2027"))
    again = _again(served, results)
    assert again.counts == {"created": 2}, again.err
    assert _answers(served, "available_from") == ["2027-02-08", "2027-09-18"]


def test_a_date_is_refused_where_its_column_has_both_orders(serve: Serve) -> None:
    """An 18/09/2027 that the program left as it is shows another order: the typed date is refused, and not lost."""
    served = serve()
    texts = (("900", "2/30/2027"), ("900", "09/18/2027"), ("900", "18/09/2027"))
    results = _ran_with_blanks(served, *texts, start=_MONTH_FIRST)
    _saved_with_blanks(results, ("900", "2/8/2027"), ("900", "9/18/2027"), ("900", "18/09/2027"))
    again = _again(served, results)
    assert again.counts == {"created": 1, "invalid": 2}, again.err
    second = read_csv(served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv")[0]
    assert (
        f"{second['import_problem']}; {second['import_hint']}" == f"row 2, {_perhaps('From', '2/30/2027', '2/8/2027')}"
    )


@pytest.mark.parametrize(
    ("was", "came", "typed", "form"),
    [
        pytest.param("10/2014", "Oct-14", "Nov-13", "%m/%Y", id="in English"),
        pytest.param("10.2014", "Okt 14", "Nov 13", "%m.%Y", id="in German"),
        pytest.param("2014-10", "oct.-14", "nov.-13", "%Y-%m", id="in French"),
    ],
)
def test_months_are_read_as_the_program_named_the_others(
    serve: Serve, was: str, came: str, typed: str, form: str
) -> None:
    """Where a program made Oct-14 of 10/2014, the Nov-13 that it shows for a typed month is 11/2013, never a day."""
    served = serve()
    start = f"{{column: From, dates: ['{form}'], missing_day: last}}"
    results = _ran_with_blanks(served, ("900", was), ("900", ""), ("900", "?"), start=start)
    _saved_with_blanks(results, ("900", came), ("900", typed), ("900", typed))
    again = _again(served, results)
    assert again.counts == {"created": 3}, again.err
    assert _answers(served, "available_from") == ["2014-10-31", "2013-11-30", "2013-11-30"]


@pytest.mark.parametrize(
    ("others", "typed"),
    [
        pytest.param([("10/2014", "Oct-14"), ("2013-10", "Oct-13")], "Nov-14", id="two forms"),
        pytest.param([("10/2014", "Oct-14")], "Nov 14", id="another name"),
        pytest.param([("10/1940", "Oct-40"), ("10/2014", "Oct-14")], "Nov-14", id="years of a century"),
    ],
)
def test_a_named_month_without_proof_is_refused(serve: Serve, others: list[tuple[str, str]], typed: str) -> None:
    """Otherwise the month of a year of two digits is not guessed: the problem quotes it."""
    served = serve()
    start = "{column: From, dates: ['%m/%Y', '%Y-%m'], missing_day: first}"
    results = _ran_with_blanks(served, ("900", "9/2014"), *(("900", was) for was, _ in others), start=start)
    _saved_with_blanks(results, ("900", typed), *(("900", came) for _, came in others))
    again = _again(served, results)
    assert again.counts.get("invalid") == 1, again.err
    assert _messages(again) == _perhaps("From", "9/2014", typed, was_wrong=False)


def test_a_date_without_proof_is_refused_in_a_file_that_a_program_has_saved(serve: Serve) -> None:
    """Where other cells show that a program has saved the file, it may have turned round a date in any column."""
    served = serve()
    results = _ran_with_blanks(served, ("0900", ""), ("0900", "14/03/2026"))
    _saved_with_blanks(results, ("900", "5/6/2026"), ("900", "14/03/2026"))
    again = _again(served, results)
    assert (again.counts, _messages(again)) == (
        {"created": 1, "invalid": 1},
        _perhaps("From", "", "5/6/2026", was_wrong=False),
    )


def test_a_fix_in_the_report_is_what_was_typed(serve: Serve) -> None:
    """A text in the report is as a person typed it, also where a program could have made it in a CSV."""
    served = serve()
    report = _ran_csv(served, "+905550000001", Salary="45.000 TL").with_name("report.xlsx")
    _fix_report(report, "invalid", Salary="45000")
    assert _again(served, report).counts == {"created": 1}


# --- the report itself, fed back --------------------------------------------------------------------


def _fix_report(report: Path, title: str, row: int = 2, **values: object) -> None:
    book = load_workbook(report)
    names = {cell.value: cell.column for cell in book[title][1]}
    for name, value in values.items():
        book[title].cell(row, names[name]).value = value
    book.save(report)


def test_the_report_is_fixed_and_fed_back(serve: Serve) -> None:
    """Of report.xlsx the sheet with rows to fix is read, not the summary; its texts stay texts."""
    served = serve()
    report = _ran_csv(served, "00905550000001").with_name("report.xlsx")
    _fix_report(report, "invalid", Salary="900")
    again = _again(served, report)
    assert again.counts == {"created": 1}, again.err
    assert _phones(served) == ["+905550000001"]


def test_a_text_that_the_workbook_cut_is_whole_again_or_refused(serve: Serve) -> None:
    """A text too long for a cell is read from the run's copy; where that is not at hand, its beginning is not sent."""
    served, name = serve(), "A" * 33_000
    write_csv(served.door.folder / "people.csv", [candidate(1, First=name, Salary="a lot")])
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    report = served.door.folder / "results" / str(ran.summary["run"]) / "report.xlsx"
    _fix_report(report, "invalid", Salary="900")
    elsewhere = served.door.folder / "elsewhere.xlsx"
    elsewhere.write_bytes(report.read_bytes())

    refused = served("run", str(elsewhere), "--mapping", "mapping.yaml", "--json")
    assert [(each["code"], each["column"]) for each in refused.summary["problems"]] == [("cell-cut", "First")]
    assert refused.summary["problems"][0]["what"] == "the text is cut: a cell of a workbook does not hold all of it"
    assert refused.summary["problems"][0]["hint"] == (
        "fix and import the file that has the full text (the CSV file beside report.xlsx, or your own file); or type "
        "the text again"
    )
    assert _again(served, report).counts == {"created": 1}
    assert [body["first_name"] for body in served.sandbox.memory.accepted()] == [name]


def test_the_other_sheets_of_the_report_are_no_problem(serve: Serve) -> None:
    """With --strict, the importer's own sheets are not reported as unread; a sheet that a person added is."""
    served = serve()
    report = _ran_with_blanks(served, ("900", "2026-03-04")).with_name("report.xlsx")
    again = served("run", str(report), "--mapping", "mapping.yaml", "--strict", "--json")
    assert again.code == 4, again.err
    assert again.counts == {"invalid": 1}
    book = load_workbook(report)
    book.create_sheet("Notes")["A1"] = "more"
    book.save(report)
    again = served("run", str(report), "--mapping", "mapping.yaml", "--strict", "--json")
    assert (again.code, "only the sheet 'invalid' is read, not 'Notes'" in again.err) == (3, True)


def test_one_of_several_sheets_to_fix_is_named(serve: Serve) -> None:
    """If several sheets have rows to fix, nothing is guessed: --sheet names one, and the message lists them."""
    served = serve({"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1})
    rows = [candidate(1), candidate(2, Salary="a lot")]
    write_csv(served.door.folder / "people.csv", rows)
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"rejected": 1, "invalid": 1}, ran.err
    report = served.door.folder / "results" / str(ran.summary["run"]) / "report.xlsx"
    refused = _again(served, report)
    assert (refused.code, refused.err.partition(".xlsx: ")[2]) == (
        3,
        "the report has 2 sheets with rows to fix [sheet-ambiguous]\n"
        '  -> import one after the other: --sheet "400 rejected" or --sheet "invalid"\n',
    )
    _fix_report(report, "invalid", Salary="900")
    _fix_report(report, "400 rejected", First="Bob")
    for sheet in ("invalid", "400 rejected"):
        assert served("run", str(report), "--mapping", "mapping.yaml", "--sheet", sheet, "--json").counts == {
            "created": 1
        }
    assert served.accepted == ["person2@example.com", "person1@example.com"]


def test_the_report_is_told_as_the_sheet_that_it_is(serve: Serve) -> None:
    """A corrected report.xlsx is read as a sheet of a workbook, and its problems name sheet and cell, also after it."""
    served = serve()
    report = _ran_csv(served, "00905550000001").with_name("report.xlsx")
    _fix_report(report, "invalid", Salary="still a lot")
    again = _again(served, report)
    assert again.summary["source"]["reading"] == (
        "XLSX, sheet 'invalid', a corrected results file, header in row 1, 8 columns"
    )
    (problem,) = again.summary["problems"]
    salary = {cell.value: cell.column_letter for cell in load_workbook(report)["invalid"][1]}["Salary"]
    assert (problem["places"], str(problem["message"]).partition(": ")[0]) == (
        [f"{salary}2"],
        f"{report}, invalid!{salary}2",
    )
    assert served("report", again.summary["run"], "--json").summary["problems"] == again.summary["problems"]
    assert _fixed_rows(again, served) == [f'invalid!{salary}2, column "Salary"']


def _fixed_rows(again: Ran, served: Served) -> list[str]:
    rows = read_csv(served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv")
    return [row["import_problem"].partition(": ")[0] for row in rows]


def test_a_row_with_missing_cells_is_still_one(serve: Serve) -> None:
    """Restoring the values of other rows does not hide that a row has too few or too many cells."""
    served = serve()
    results = _ran_csv(served, *["00905550000001"] * 3)
    _saved(results, ("From",), *[("905550000001",)] * 3)
    first, second, *lines = results.read_text("utf-8-sig").splitlines()
    shorter, longer = second.replace(",7001,", ","), lines[0].replace(",7001,", ",7001,7001,")
    results.write_text("\n".join([first, shorter, longer, *lines[1:]]) + "\n", "utf-8")
    again = _again(served, results)
    assert again.counts == {"created": 1, "invalid": 2}, again.err
    assert {str(problem["what"]) for problem in again.summary["problems"]} >= {
        "the row has 11 cells, but the header has 12",
        "the row has 13 cells, but the header has 12",
    }


def test_a_form_that_was_asked_for_is_read_in_the_next_round(serve: Serve) -> None:
    """A date whose form was refused is the same date written as YYYY-MM-DD: it is sent, and not refused again."""
    served = serve()
    results = _ran(served, (None, date(2015, 8, 3)))
    _saved(results, ("From",), ("1 septembre 2015",))
    again = _again(served, results)
    assert again.counts == {"invalid": 1}
    results = served.door.folder / "results" / str(again.summary["run"]) / "invalid.csv"
    _saved(results, ("From",), ("2015-09-01",))
    assert _again(served, results).counts == {"created": 1}
    assert _sent(served) == [(None, "2015-09-01")]
