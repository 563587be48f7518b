"""Each case is sent right, refused at its cell, or told in a warning: nothing is sent wrong without a word."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.conftest import CASES, ImportCase
from tests.cli.conftest import Served

_ADA_AND_BOB = {"r01": ("Ada", "Kaya", "Van"), "r02": ("Bob", "Öz", "Muş")}
_CHANGED = "in a column of texts is probably what a spreadsheet program made of 1-2"


# --- two-exports-one-file -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "sent", "refused"),
    [
        ("names_swapped.csv", _ADA_AND_BOB, ["4", "5", "6"]),
        ("email_last_blank.csv", _ADA_AND_BOB, ["5", "6", "7"]),
        ("dates_swapped.csv", {"r01": ("Ada", "Kaya", "2024-05-01", "1990-01-01")}, ["3", "4"]),
    ],
)
def test_rows_below_another_header_are_refused(
    file: str, sent: dict[str, tuple[str, ...]], refused: list[str], import_case: ImportCase
) -> None:
    """The rows above a header with another order are sent, those below are refused, and no two values are exchanged."""
    found = import_case("two-exports-one-file", file)
    assert found.sent == sent
    assert [row["import_row"] for row in found.rows["invalid"]] == refused
    assert (found.ran.code, found.codes) == (4, ["invalid: second-table"])


def test_a_repeated_header_is_left_out(import_case: ImportCase) -> None:
    """The header again, in the same order, is no candidate: all people are sent, and the row is told."""
    found = import_case("two-exports-one-file", "same.csv")
    assert found.sent == {**_ADA_AND_BOB, "r03": ("Cem", "Ak", "Rize"), "r04": ("Dan", "Er", "Ordu")}
    (row,) = found.rows["filtered"]
    assert row["import_problem"] == "this row repeats the header, so it is not read as a candidate"
    assert (found.ran.code, row["import_row"]) == (0, "4")


# --- mojibake -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "sent"),
    [
        ("double_1252.csv", {}),
        ("question_marks.csv", {}),
        (
            "some_rows.csv",
            {
                "r01": ("Ayşe", "Yılmaz", "İstanbul"),
                "r02": ("Gülşen", "Çelik", "İstanbul"),
                "r04": ("İrem", "Doğan", "İstanbul"),
                "r05": ("Jürgen", "Müller", "İstanbul"),
                "r07": ("François", "Lefèvre", "İstanbul"),
                "r08": ("Łukasz", "Wójcik", "İstanbul"),
            },
        ),
    ],
)
def test_damaged_letters_are_refused(file: str, sent: dict[str, tuple[str, ...]], import_case: ImportCase) -> None:
    """Names with letters that a wrong encoding damaged are refused at their cells, the others are sent as they are."""
    found = import_case("mojibake", file)
    assert found.sent == sent
    assert len(found.rows["invalid"]) == 9 - len(sent)
    assert "invalid: text-damaged" in found.codes


def test_a_city_of_which_only_letters_are_lost_is_told(import_case: ImportCase) -> None:
    """An answer with a question mark in place of a letter is sent with a warning at its cell."""
    text = "Email,First name,Last name,City\nr01@example.com,Ada,Kaya,?stanbul\nr02@example.com,Bob,Kaya,Really?\n"
    found = import_case("mojibake", "question_marks.csv", text)
    (row, other) = found.rows["201_created"]
    assert row["import_problem"] == (
        "row 2, column \"City\": '?stanbul' has '?st', which a program probably wrote for another character"
    )
    assert other["import_problem"] == ""


# --- html-entities-in-names -----------------------------------------------------------------------


def test_codes_in_names_are_refused(import_case: ImportCase) -> None:
    """Entities, tags, escapes and damaged letters in a name are refused; names as people write them are sent."""
    found = import_case("html-entities-in-names", "in.csv")
    names = {"r13": "Müller", "r14": "O’Brien", "r16": "Şahin", "r17": "Åahin"}
    assert {email: sent[1] for email, sent in found.sent.items()} == names
    assert found.codes == ["invalid: character-damaged", "invalid: text-damaged"]


def test_codes_in_answers_are_told(import_case: ImportCase) -> None:
    """A text with tags and entities is sent with a warning; ampersands, comparisons and addresses are no codes."""
    about = (
        "<p>Hello<br>World</p>",
        "R&D; A&B",
        "a < b > c",
        "Ada <ada@example.com>",
        "https://example.com/a?b=1&c=2",
        "",
    )
    rows = "".join(f'r{number}@example.com,Ada,Kaya,"{text}",\n' for number, text in enumerate(about))
    found = import_case("html-entities-in-names", "in.csv", f"Email,First name,Last name,About,Expect\n{rows}")
    assert len(found.sent) == len(about)
    assert [row["import_row"] for row in found.rows["201_created"] if row["import_problem"]] == ["2"]
    says = "'<p>Hello<br>World</p>' has '<p>', which a program probably wrote for another character"
    assert found.rows["201_created"][0]["import_problem"] == f'row 2, column "About": {says}'


# --- utc-midnights --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "place", "example", "others"),
    [
        ("z21ms.csv", 'row 2, column "Available from"', "2024-05-01T21:00:00.000Z", "row 3, row 4"),
        ("h22.xlsx", "Sheet!D2", "2024-05-01 22:00:00", "D3, D4"),
        ("m43s.xlsx", "Sheet!D2", "2024-05-01 23:59:17", "D3, D4"),
    ],
)
def test_midnights_of_another_zone_are_told(
    file: str, place: str, example: str, others: str, import_case: ImportCase
) -> None:
    """A column of dates that all have one time of an evening is told once."""
    assert import_case("utc-midnights", file).warnings == [
        f"{place}: '{example}' may be midnight in another time zone, as all times of this column: then the day is one "
        f"too early, also {others} and 17 more; export dates without a time, or in your time zone"
    ]


def test_midnights_of_utc_are_dates(import_case: ImportCase) -> None:
    """Dates at 00:00Z are sent without a word."""
    found = import_case("utc-midnights", "z00.csv")
    assert (found.warnings, found.codes, found.sent["r20"][2]) == ([], [], "2024-05-20")


# --- excel-made-it-a-date -------------------------------------------------------------------------


def test_a_document_id_that_is_a_date_is_refused_and_dates_among_texts_are_told(import_case: ImportCase) -> None:
    """In a workbook, dates that are shown without their year are refused; a time among texts is told."""
    found = import_case("excel-made-it-a-date", "in.xlsx")
    shows = "but its number format 'd-mmm' shows something else"
    assert [row["import_problem"] for row in found.rows["invalid"]] == [
        f"Sheet!{cell}, column \"{column}\": the cell has '{date}', {shows}"
        for cell, column, date in (
            ("D3", "Years", "2024-02-01"),
            ("D4", "Years", "2024-05-03"),
            ("D6", "Years", "2024-10-06"),
            ("E8", "CV", "2012-11-23"),
        )
    ]
    assert found.warnings == [f"Sheet!D9: '05:30:00' {_CHANGED}; type it again as text"]


def test_short_dates_among_ranges_are_told(import_case: ImportCase) -> None:
    """In a CSV that a spreadsheet program saved, 1-Feb among 0-1 and 10+ is told."""
    assert import_case("excel-made-it-a-date", "in.csv").warnings == [
        f"row 3, column \"Years\": '1-Feb' {_CHANGED}, also row 4, row 5; type it again as text"
    ]


# --- null-words -----------------------------------------------------------------------------------


def test_words_for_nothing_are_told(import_case: ImportCase) -> None:
    """Words that programs write for an empty cell are told for each column; the words None and NA beside them too."""
    found = import_case("null-words", "in.csv")
    says = "is what programs write for an empty cell, and it is sent"
    assert found.warnings == [
        f"row 4, column \"About\": 'nan' {says}; correct it, or add it under missing: in m.yaml:9",
        f"row 3, column \"About\": 'None' {says}, also row 9; correct it, or add it under missing: in m.yaml:9",
        f"row 3, column \"City\": 'null' {says}, also row 9; correct it, or add it under missing: in m.yaml:9",
    ]
    assert sorted(found.sent) == ["r02", "r03", "r08", "r09", "r10"]


def test_words_for_nothing_are_proposed(serve: Callable[..., Served]) -> None:
    """`mapping new` proposes all of them under missing:."""
    served = serve(questions=CASES / "questions.json")
    file = served.door.folder / "people.csv"
    shutil.copy(CASES / "null-words" / "in.csv", file)
    assert served("mapping", "new", file.name, "--job-post", "4f2c9a", "--to", "new.yaml").code == 0
    words = '["(null)", "<null>", "[object Object]", "\\\\N", N/A, NaN, "None", "NULL", undefined]'
    assert f"  missing: {words}\n" in (file.parent / "new.yaml").read_text(encoding="utf-8")


def test_people_named_null_are_sent(import_case: ImportCase) -> None:
    """The last names Null, Na and NA are sent without a word, and None as an answer; a code of a program is refused."""
    rows = "r1,Ada,Null,,None,\nr2,Ada,NA,,Van,\nr3,Nan,Na,,Van,\nr4,Ada,\\N,,Van,\nr5,Ada,[object Object],,Van,\n"
    text = "Email,First name,Last name,Phone,City,About\n" + rows.replace(",Ada", "@example.com,Ada").replace(
        ",Nan", "@example.com,Nan"
    )
    found = import_case("null-words", "in.csv", text)
    assert {email: sent[:2] for email, sent in found.sent.items()} == {
        "r1": ("Ada", "Null"),
        "r2": ("Ada", "NA"),
        "r3": ("Nan", "Na"),
    }
    assert (found.warnings, found.codes) == ([], ["invalid: text-damaged"])


# --- zero-dates -----------------------------------------------------------------------------------


def test_placeholder_dates_are_refused_or_told(import_case: ImportCase) -> None:
    """Dates that do not exist are refused, those that stand for an unknown one are told, the others are sent."""
    found = import_case("zero-dates", "in.csv")
    with (CASES / "zero-dates" / "in.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["Email"].partition("@")[0]: row["Expect"] for row in csv.DictReader(file)}
    assert {email for email, expect in expected.items() if email not in found.sent} == {
        email for email, expect in expected.items() if "refused" in expect
    }
    assert (found.sent["r14"][2], found.sent["r15"][2]) == ("2038-01-19", "2024-05-31")
    says = "probably stands for an unknown date"
    assert found.warnings == [
        f"row 9, column \"Start\": '1900-01-01' {says}; correct it, or add it under missing: in m.yaml:9",
        f"row 5, column \"Start\": '1970-01-01' {says}, also row 14; correct it, or add it under missing: in m.yaml:9",
    ]


@pytest.mark.parametrize("file", ["angle.csv", "display.csv", "mailto.csv"])
def test_wrapped_addresses_are_read_by_the_proposed_mapping(
    file: str, serve: Callable[..., Served], tmp_path: Path
) -> None:
    """`mapping new` proposes to take the address out of its cell, and the mapping as proposed reads every row."""
    shutil.copy(CASES / "email-column-wrapped" / file, tmp_path / file)
    served = serve(questions=CASES / "questions.json")
    served("mapping", "new", file, "--talent-pool", "17", "--to", "m.yaml")
    written = (tmp_path / "m.yaml").read_text(encoding="utf-8")
    assert 'email: {column: Email, pick: "@"}' in written
    mapping = written.replace("  # cv: ...", '  cv: {value: "4711"}')
    assert mapping != written
    (tmp_path / "m.yaml").write_text(mapping, encoding="utf-8")
    assert served("check", file, "--mapping", "m.yaml").code == 0


# --- excel-short-rows, forms-options-with-commas, email-column-wrapped, numbers-export -------------


def test_cells_that_excel_leaves_out_at_the_end_are_told_and_read(import_case: ImportCase) -> None:
    """Rows without their last delimiters, in blocks as Excel writes them, are refused with the key that reads them."""
    found = import_case("excel-short-rows", "in.csv")
    assert (len(found.sent), found.codes) == (15, ["invalid: too-few-cells"])
    assert "set short_rows: blank under source:" in found.rows["invalid"][0]["import_hint"]
    assert len(import_case("excel-short-rows", "in.csv", mapping="source: {short_rows: blank}").sent) == 40


@pytest.mark.parametrize("end", ["z@example.com,Ada,Kaya,Va", "z@example.com,Ada,Kaya,I live\nhere,a,b,c"])
def test_a_last_row_that_is_cut_or_broken_is_not_completed(end: str, import_case: ImportCase) -> None:
    """Of a file that ends in the middle of a row, or whose last row is broken in two, nothing is sent short."""
    rows = "".join(f"r{number:02}@example.com,Ada,Kaya,Van,0555 000 00 01,\n" for number in range(1, 16))
    text = f"Email,First name,Last name,City,Phone,Note\n{rows}{end}"
    found = import_case("excel-short-rows", "in.csv", text, mapping="source: {short_rows: blank}")
    assert (len(found.sent), "z" in found.sent) == (15, False)


def test_short_rows_below_a_broken_one_are_refused(import_case: ImportCase) -> None:
    """A row that is broken in two moves all rows below it to other blocks: nothing proves that these are whole."""
    text = (CASES / "excel-short-rows" / "in.csv").read_text(encoding="utf-8")
    broken = text.replace("Kayaz,Van,0555", "Kayaz,V\nan,0555")
    found = import_case("excel-short-rows", "in.csv", broken, mapping="source: {short_rows: blank}")
    assert (len(found.sent), found.codes) == (15, ["invalid: too-few-cells"])


@pytest.mark.parametrize("file", ["in.csv", "nosplit.csv"])
def test_options_with_commas_are_read_by_the_options(file: str, import_case: ImportCase) -> None:
    """Several options in one cell are read by the options, the longest first; what is not one is refused."""
    sent = import_case("forms-options-with-commas", file).sent
    assert {email: texts[2] for email, texts in sent.items()} == {
        "r01": '["Python", "Salt"]',
        "r02": '["Controller (ODL, DNAC)", "Python"]',
        "r03": '["SQL, PL/SQL"]',
        "r04": '["SQL, PL/SQL", "SQL"]',
        "r05": '["None, yet"]',
        "r07": '["Salt"]',
        "r08": '["SQL", "Salt"]',
        "r09": '["Controller (ODL, DNAC)"]',
        "r10": '["Python", "Salt"]',
    }


@pytest.mark.parametrize("file", ["angle.csv", "display.csv", "mailto.csv"])
def test_wrapped_addresses_are_refused_with_a_way_to_read_them(file: str, import_case: ImportCase) -> None:
    """The refusal of `mailto:` and `<a@x>` says how the mapping reads the column."""
    rows = import_case("email-column-wrapped", file).rows["invalid"]
    way = "write one address like name@example.com; to take 'ada@example.com' out of such cells, set pick: \"@\" in"
    assert rows[0]["import_hint"].startswith(way)
    assert all("set pick:" in row["import_hint"] for row in rows)


def test_the_sheet_with_the_columns_is_named(import_case: ImportCase) -> None:
    """The first sheet, which Numbers adds, has none of the mapping's columns: the sheet that has them is named."""
    found = import_case("numbers-export", "in.xlsx")
    assert (found.ran.code, found.sent) == (3, {})
    assert (
        "in.xlsx: the first sheet 'Export Summary' has none of the mapping's columns, but 'Candidates - Table 1' has "
        "them [sheet-undecided]\n  -> set sheet: under source: in the mapping to it\n"
    ) in found.ran.err
