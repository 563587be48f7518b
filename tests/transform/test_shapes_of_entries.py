"""Entries of every shape: from cells, lists, rows and other tables."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.models import Application, Row
from importer.problems import CellPlace, Column, Problem
from importer.sources.cell_text import error_cell
from importer.text.damage import undamaged
from importer.text.literals import InvalidLiteral, read_literal
from importer.transform import Filtered, Invalid, candidate_rows, join_warnings, transform_row
from tests.transform.cells import FILLED, ORIGIN, answer_of, mapping_of, problems_of, question, row

_LONG = question("long_text")
_CELL = (
    "{experience: {cell: {column: Jobs, split: ';', pattern: '(?P<company>.+) \\((?P<years>.+)\\)'}, "
    "company_name: company, start_date: {column: years, part: start}, end_date: {column: years, part: end, "
    "present: now}}}"
)


def test_pieces_of_a_cell() -> None:
    """Each piece of the cell is an entry; blank pieces are not."""
    mapping = mapping_of(_CELL, ("Jobs",), _LONG)
    sent = answer_of(mapping, row("A (2019-01-01 - 2020-01-01); ;B (2021-01-01 - now)"))
    assert sent is not None
    assert json.loads(str(sent.answer)) == [
        {"company_name": "A", "start_date": "2019-01-01", "end_date": "2020-01-01"},
        {"company_name": "B", "start_date": "2021-01-01", "currently_employed": True},
    ]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        pytest.param(
            "A (2019-01-01 - now); on leave",
            "'on leave' does not match the pattern; correct it, or change pattern: in m.yaml:4",
            id="unmatched text",
        ),
        pytest.param(
            "A (soon - now)",
            "'soon' is not a date in the format YYYY-MM-DD; write it as YYYY-MM-DD, or give it a date "
            "under values: (with otherwise: keep) in m.yaml:4; to leave it out, add it under missing:",
            id="a date inside",
        ),
        pytest.param(
            "A (2021-01-01 - 2020-01-01)",
            "the start date 2021-01-01 is after the end date 2020-01-01; correct one of the two",
            id="start after end",
        ),
    ],
)
def test_a_problem_of_a_piece_is_at_its_cell(cell: str, message: str) -> None:
    """A problem inside a cell is reported at the cell, which a person can fix."""
    assert problems_of(mapping_of(_CELL, ("Jobs",), _LONG), row(cell)) == [f'c.csv, row 5, column "Jobs": {message}']


_JSON = "{education: {json: Schools, school_name: name, major: detail.major}}"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        pytest.param(
            "[{'name': 'A'", "'[{'name': 'A'' is not a valid list: it ends too early, after character 13", id="cut off"
        ),
        pytest.param("Ege", "'Ege' is not a valid list: it cannot be read from character 1 on", id="a text"),
        pytest.param("'Ege'", "''Ege'' is not a list of entries", id="a quoted text"),
        pytest.param("['Ege']", "entry 1 is not an object with keys", id="a list of texts"),
        pytest.param("[{'name': ['A', 'B']}]", "name of entry 1 is not one text", id="a list inside"),
        pytest.param(
            "[{'detail': {'title': 'CS'}}]",
            "entry 1 has none of the keys that the mapping reads (name, detail.major); it has detail; correct the keys "
            "in the mapping, or the cell",
            id="an object without the key",
        ),
        pytest.param(
            "[{'Name': 'A'}]",
            "entry 1 has 'Name', where the mapping reads 'name'; write it in the mapping as the cell has it",
            id="a key in other letters",
        ),
        pytest.param("[{'detail': 'CS'}]", "detail.major of entry 1 is not one text", id="a text around the key"),
        pytest.param(
            "[{'detail': [{'major': 'CS'}]}]", "detail.major of entry 1 is not one text", id="a list around the key"
        ),
    ],
)
def test_a_list_that_cannot_be_used(cell: str, message: str) -> None:
    """A cell that is not a valid list of entries is a problem, and never read in part."""
    mapping = mapping_of(_JSON, ("Schools",), _LONG)
    hint = "" if ";" in message else "; correct it, or export the file again"
    assert problems_of(mapping, row(cell)) == [f'c.csv, row 5, column "Schools": {message}{hint}']


def test_an_object_without_any_key_of_the_mapping_is_a_problem() -> None:
    """A mistyped key in the mapping would drop the answer of everybody; a key without a value is blank."""
    mapping = mapping_of(_JSON, ("Schools",), _LONG)
    assert problems_of(mapping, row("[{'school': 'Ege', 'year': '2020'}]")) == [
        'c.csv, row 5, column "Schools": entry 1 has none of the keys that the mapping reads (name, detail.major); it '
        "has school, year; correct the keys in the mapping, or the cell"
    ]
    assert answer_of(mapping, row("[{}, {'name': null, 'detail': {}}, {'detail': false}, {'detail': ''}]")) is None
    assert answer_of(mapping, row("null")) is None


_text = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=10).filter(
    lambda text: undamaged(text) is None and "\ufffd" not in text
)
_value = st.recursive(_text, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3))


@given(_value, st.booleans())
def test_json_and_python_output_is_read_back(value: object, as_json: bool) -> None:
    """Any texts, lists and objects come back unchanged from both notations."""
    assert read_literal(json.dumps(value) if as_json else repr(value)) == value


@pytest.mark.parametrize("written", [r"M\u00c3\u00bcller", r"Caf\ufffd"])
def test_damage_that_escapes_hide(written: str) -> None:
    """A program that read the text in a wrong encoding wrote it so; in a cell of its own it would be refused, too."""
    (problem,) = problems_of(mapping_of(_JSON, ("Schools",), _LONG), row(f'[{{"name": "{written}"}}]'))
    assert "was read in a wrong encoding by another program" in problem


@given(st.text(alphabet="[]{}(),:'\"\\ aNone0.5-truel", max_size=30))
def test_any_text_is_read_or_invalid(text: str) -> None:
    """Reading any text gives a value or an InvalidLiteral."""
    with contextlib.suppress(InvalidLiteral):
        assert isinstance(read_literal(text), str | list | dict)


def test_a_list_that_is_too_deep_or_too_long() -> None:
    """A malicious cell is rejected early."""
    with pytest.raises(InvalidLiteral, match="it is nested more than 10 levels deep"):
        read_literal("[" * 5000)
    with pytest.raises(InvalidLiteral, match="it is longer than 200,000 characters"):
        read_literal("[" * 200_001)


_LISTS = "{experience: {lists: {split: ';'}, company_name: Firms, position_title: Titles}}"
_NUMBERED = "{experience: {lists: {split: ',', numbered: true}, company_name: Firms, position_title: Titles}}"


@pytest.mark.parametrize(
    ("spec", "cells", "message"),
    [
        pytest.param(
            _LISTS,
            ("A;B", "x"),
            "\"Firms\": the lists belong together but have different lengths: 'Firms' has 2, 'Titles' has 1; add an "
            "empty item where a value is missing",
            id="unequal",
        ),
        pytest.param(
            _NUMBERED,
            ("A[0],B[0]", "x[0]"),
            "\"Firms\": 'A[0],B[0]' is not a valid list: the number [0] occurs twice; correct it",
            id="number twice",
        ),
    ],
)
def test_lists_that_do_not_belong_together(spec: str, cells: Sequence[str], message: str) -> None:
    """Items are never paired by guessing."""
    assert problems_of(mapping_of(spec, ("Firms", "Titles"), _LONG), row(*cells)) == [f"c.csv, row 5, column {message}"]


def test_a_blank_list_next_to_a_filled_one() -> None:
    """A blank cell has no items; its field is left out."""
    sent = answer_of(mapping_of(_LISTS, ("Firms", "Titles"), _LONG), row("A;B", ""))
    assert sent is not None
    assert json.loads(str(sent.answer)) == [{"company_name": "A"}, {"company_name": "B"}]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        pytest.param("kept", "BCAD", id="kept"),
        pytest.param("newest_first", "CABD", id="newest first, the current one on top"),
        pytest.param("oldest_first", "BACD", id="oldest first"),
    ],
)
def test_the_order_of_entries(order: str, names: str) -> None:
    """Entries are sorted by end, then start; those without a date are last."""
    spec = (
        f"{{experience: {{lists: {{split: ';'}}, order: {order}, company_name: Firms, end_date: Ends, "
        "currently_employed: Now}}"
    )
    sent = answer_of(
        mapping_of(spec, ("Firms", "Ends", "Now"), _LONG), row("B;C;A;D", "2019-01-01;;2020-01-01;", ";yes;;")
    )
    assert sent is not None
    assert "".join(entry["company_name"] for entry in json.loads(str(sent.answer))) == names


# --- rows of one candidate ----------------------------------------------------------------------

_ROWS = "{experience: {rows: all, company_name: Firm}}"
_GROUPED = "source: {group_by: ID}\n"


def _rows(*cells: tuple[str, str, str]) -> list[Row]:
    """Rows from 2 on: the ID, the e-mail and the firm of each."""
    return [
        Row(ORIGIN, number, (email, *FILLED[1:], key, firm)) for number, (key, email, firm) in enumerate(cells, start=2)
    ]


def _grouped(rows: list[Row], extra: str = _GROUPED) -> list[Row]:
    mapping = mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=extra)
    found = list(candidate_rows(lambda: iter(rows), mapping))
    assert not any(isinstance(one, Filtered) for one in found)
    return [one for one in found if isinstance(one, Row)]


def test_rows_of_one_candidate_anywhere_in_the_file() -> None:
    """Rows with one key are one row, with the first filled cell of each column; a repeated entry is sent once."""
    rows = _rows(("7", "a@example.com", "A"), ("8", "b@example.com", "B"), ("7", "", "C"), ("7", "", "A"))
    found = _grouped(rows)
    assert [[member.number for member in one.members] or [one.number] for one in found] == [[3], [2, 4, 5]]
    result = transform_row(found[1], mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=_GROUPED))
    assert isinstance(result, Application)
    assert (result.row, result.email) == (2, "a@example.com")
    assert json.loads(str(result.answers[0].answer)) == [{"company_name": "A"}, {"company_name": "C"}]


def test_a_blank_key_continues_or_is_a_problem() -> None:
    """A row without a key belongs to the row above where that is declared, and is a problem where it is not."""
    rows = _rows(("7", "a@example.com", "A"), ("", "", "B"))
    continued = _grouped(rows, "source: {group_by: {column: ID, blank: continues}}\n")
    assert [len(one.members) for one in continued] == [2]
    assert [str(problem) for problem in _grouped(rows)[1].problems] == [
        'c.csv, row 3, column "ID": the cell that identifies the candidate is blank; fill it in, or '
        "set blank: continues in m.yaml:5"
    ]


def test_a_row_below_one_that_was_not_read_continues_no_candidate() -> None:
    """A row that was hidden or skipped may be of another person, and what is below a blank one a footer."""
    ada, other, beta = _rows(("7", "a@example.com", "A"), ("8", "b@example.com", "B"), ("", "", "C"))
    extra = "source: {group_by: {column: ID, blank: continues}}\n"
    (found,) = _grouped([ada, beta], extra)
    assert [str(problem) for problem in found.problems] == [
        'c.csv, row 4, column "ID": the cell that identifies the candidate is blank, and the row above is blank or '
        "left out; fill it in"
    ]
    assert [len(one.members) for one in _grouped([ada, other, beta], extra)] == [0, 2]


def test_a_broken_row_differs_from_no_other() -> None:
    """Its cells are not those of its columns: only that it is broken is told."""
    ada, broken = _rows(("7", "a@example.com", "A"), ("", "7,b@example.com,B", "B"))
    fault = Problem("csv-broken", "the row is broken", "correct it", CellPlace(ORIGIN, 3))
    (found,) = _grouped(
        [ada, replace(broken, problems=(fault,))], "source: {group_by: {column: ID, blank: continues}}\n"
    )
    assert found.problems == (fault,)


def test_an_entry_without_a_key_holds_back_the_candidate_above() -> None:
    """A row with an entry and nobody's data is most likely a part of the candidate above: nothing of both is sent."""
    first, second, third = _rows(("7", "a@example.com", "A"), ("", "", "B"), ("", "", ""))
    rows = [first, replace(second, cells=(*[""] * (len(second.cells) - 1), "B")), third]
    found = _grouped(rows)
    assert [[member.number for member in one.members] or [one.number] for one in found] == [[2, 3], [4]]
    assert [[(problem.code, str(problem.place)) for problem in one.problems] for one in found] == [
        [("group-key-blank", f'c.csv, row {row}, column "ID"')] for row in (3, 4)
    ]


@pytest.mark.parametrize(
    ("where", "whole"),
    [
        pytest.param("is_not: [C]", [[2, 3]], id="left out with the rows that continue it"),
        pytest.param("is: [A, C]", [[2, 3], [4, 5]], id="taken with the rows that continue it"),
        pytest.param("is: [C]", [[4, 5]], id="the first one left out"),
    ],
)
def test_a_row_that_continues_is_filtered_with_its_candidate(where: str, whole: list[list[int]]) -> None:
    """Its own filter cell is blank, so it is neither lost nor added to the candidate before."""
    rows = _rows(("7", "a@example.com", "A"), ("", "b", ""), ("8", "c@example.com", "C"), ("", "d", ""))
    extra = f"source: {{group_by: {{column: ID, blank: continues}}, where: {{column: Firm, {where}}}}}\n"
    found = list(candidate_rows(lambda: iter(rows), mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=extra)))
    assert [[member.number for member in one.members] for one in found if isinstance(one, Row)] == whole
    excluded = sorted(one.row for one in found if isinstance(one, Filtered))
    assert excluded == [row for row in (2, 3, 4, 5) if not any(row in rows for rows in whole)]


def test_a_further_row_with_a_blank_filter_cell_is_not_lost() -> None:
    """Its candidate would be sent without that entry; one with another value is left out, as declared."""
    rows = _rows(("7", "a@example.com", "A"), ("7", "", ""), ("7", "", "B"), ("8", "", ""))
    extra = "source: {group_by: ID, where: {column: Firm, is: A}}\n"
    *excluded, candidate = sorted(
        candidate_rows(lambda: iter(rows), mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=extra)),
        key=lambda one: isinstance(one, Row),
    )
    assert [one.row for one in excluded if isinstance(one, Filtered)] == [4, 5]
    assert isinstance(candidate, Row)
    assert [str(problem) for problem in candidate.problems] == [
        'c.csv, row 3, column "Firm": the cell for `where:` is blank, but not in the row above of the same candidate; '
        "fill it in"
    ]


@pytest.mark.parametrize("extra", [_GROUPED, "source: {group_by: {column: ID, main: {column: Firm, is: [me, B]}}}\n"])
def test_a_row_that_no_rows_take_is_not_lost(extra: str) -> None:
    """Its candidate would be sent without it, and the row told as created."""
    jobs = "{experience: {rows: {column: Firm, is: [A, B]}, company_name: Firm}}"
    first, *others, last = _rows(
        ("7", "a@example.com", "me"), ("7", "", "A"), ("7", "", "C"), ("8", "b@example.com", "B")
    )
    blank = [replace(one, cells=("", "", "", "", *one.cells[4:])) for one in others]
    mapping = mapping_of(jobs, ("ID", "Firm"), _LONG, extra=extra)
    found = [one for one in candidate_rows(lambda: iter([first, *blank, last]), mapping) if isinstance(one, Row)]
    assert [[str(problem) for problem in one.problems] for one in found] == [
        [
            "c.csv, row 4, column \"Firm\": no `rows:` of the mapping takes 'C', so this row would be lost; correct "
            "it, or leave such rows out with where: under source: in the mapping"
        ],
        [],
    ]


def test_a_missing_word_is_the_key_of_no_candidate() -> None:
    """Else all rows without an ID would be one candidate."""
    rows = _rows(("-", "a@example.com", "A"), ("-", "b@example.com", "B"))
    found = _grouped(rows, "source: {group_by: ID, missing: ['-']}\n")
    assert [[member.number for member in one.members] or [one.number] for one in found] == [[2], [3]]
    assert [[problem.code for problem in one.problems] for one in found] == [["group-key-blank"]] * 2


def test_a_repeated_header_continues_no_candidate() -> None:
    """Also if the column of the key has no name, so that its cell there is blank."""
    header = Problem("filtered", "this row repeats the header, so it is not read as a candidate")
    rows = _rows(("7", "a@example.com", "A"), ("", "E-mail", "Firm"), ("", "", "B"))
    rows[1] = replace(rows[1], problems=(replace(header, place=CellPlace(ORIGIN, 3)),))
    extra = "source: {group_by: {column: ID, blank: continues}}\n"
    found = list(candidate_rows(lambda: iter(rows), mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=extra)))
    assert [[member.number for member in one.members] for one in found if isinstance(one, Row)] == [[2, 4]]
    assert [one.row for one in found if isinstance(one, Filtered)] == [3]


def test_rows_of_one_candidate_that_differ() -> None:
    """Where rows of one candidate have different values, the cell that differs is a problem."""
    found = _grouped(_rows(("7", "a@example.com", "A"), ("7", "b@example.com", "B")))
    assert [str(problem) for problem in found[0].problems] == [
        "c.csv, row 3, column \"E-mail\": 'b@example.com' differs from 'a@example.com' in row 2 of the same "
        "candidate; use the same value in all rows of a candidate"
    ]


def test_a_word_that_is_read_as_blank_differs_from_nothing() -> None:
    """A dash beside an address is no other address, and the address is taken, whichever row has it."""
    missing = "source: {missing: ['-'], group_by: ID}\n"
    for emails in (("-", "a@example.com"), ("a@example.com", "-")):
        (found,) = _grouped(_rows(*(("7", email, "A") for email in emails)), missing)
        assert (found.problems, "a@example.com" in found.cells, "-" in found.cells) == ((), True, False)
    good, filler = _grouped(_rows(("7", "a@example.com", "A"), ("-", "-", "-")), missing)
    assert (good.problems, [one.code for one in filler.problems]) == ((), ["group-key-blank"])


@pytest.mark.parametrize(
    ("entries", "first", "second"),
    [
        ("school_name: School, end_date: To", ("Ege", ""), ("ETH", "2019-06-30")),
        ("lists: {split: ';'}, school_name: School, end_date: To", ("Ege;ETH", ""), ("METU;ETH", "2019;2020")),
        ("cell: {column: School, split: ';', pattern: '(?P<a>.+)'}, school_name: a", ("Ege", ""), ("ETH", "")),
        ("json: School, school_name: name", ("[]", ""), ("[{'name': 'Ege'}]", "")),
        ("file: {name: e.csv, key: ID, equals: School}, school_name: Name", ("1", ""), ("2", "")),
    ],
)
def test_entries_of_rows_of_one_candidate_that_differ(
    entries: str, first: tuple[str, str], second: tuple[str, str]
) -> None:
    """No entry is made of cells of several rows, and none is lost: without `rows:` they are of the candidate."""
    answer, files = f"{{education: {{{entries}}}}}", {"e.csv": "ID,Name\n1,Ege\n"}
    mapping = mapping_of(answer, ("ID", "School", "To"), _LONG, extra=_GROUPED, files=files)
    rows = [row("7", *cells, number=number) for number, cells in enumerate((first, second), start=2)]
    (found,) = candidate_rows(lambda: iter(rows), mapping)
    assert isinstance(found, Row)
    is_told = [one.code for one in found.problems] == ["group-conflict"]
    assert is_told or (first[0] == "Ege" and not second[0])


def test_a_row_with_an_entry_of_each_kind_and_no_key_continues_the_candidate() -> None:
    """Entries of the candidate's own cells are no person, so that the row is held back with the candidate above."""
    entries = "{education: [{rows: all, school_name: Firm}, {school_name: School}]}"
    mapping = mapping_of(entries, ("ID", "Firm", "School"), _LONG, extra=_GROUPED)
    rows = [row("7", "A", "Ege", number=2), replace(row("", "B", "ETH"), cells=("",) * 4 + ("", "B", "ETH"), number=3)]
    (found,) = candidate_rows(lambda: iter(rows), mapping)
    assert isinstance(found, Row)
    assert {one.code for one in found.problems} == {"group-key-blank", "group-conflict"}


def test_rows_of_one_candidate_whose_links_differ() -> None:
    """Texts that are the same may have another link behind them."""
    rows = _rows(("7", "a@example.com", "A"), ("7", "a@example.com", "B"))
    linked = [replace(one, links=((0, f"mailto:{one.number}@example.com"),)) for one in rows]
    assert [one.code for one in _grouped(linked)[0].problems] == ["group-conflict"]
    assert not _grouped([linked[0], rows[1]])[0].problems  # a program links some addresses by itself


def test_ids_and_addresses_of_one_candidate_that_differ_in_case() -> None:
    """`aB12` is another document than `Ab12`, and a path another page; other texts may differ in their case."""
    asked = question("url")
    mapping = mapping_of("Page", ("ID", "Page"), asked, extra=_GROUPED)
    for cv, page, differs in (("a1", "https://X.com/Ab", 0), ("A1", "x.com/Ab", 1), ("a1", "x.com/aB", 1)):
        rows = [
            replace(row(), number=number, cells=(mail, "Ada", "Nur", *cells))
            for number, mail, *cells in ((2, "a@x.com", "a1", "7", "x.com/Ab"), (3, "A@x.com", cv, "7", page))
        ]
        (found,) = candidate_rows(lambda: iter(rows), mapping)  # noqa: B023 - read at once
        assert isinstance(found, Row)
        assert len(found.problems) == differs


_TABLE = "ID,No,Firm,To\n7,1.0,A,#N/A\n7,2.0,B,2020-01-31\n"
_FROM_TABLE = "file: {name: t.csv, key: ID, equals: ID"


@pytest.mark.parametrize(
    ("content", "cells", "sent"),
    [
        pytest.param("To", ("7", "A", "#N/A"), None, id="the row"),
        pytest.param("{rows: all, company_name: Firm, end_date: To}", ("7", "A", "#N/A"), ["A"], id="its rows"),
        pytest.param("{json: To, company_name: name}", ("7", "A", "#N/A"), None, id="a list in a cell"),
        pytest.param("{lists: {split: ';'}, company_name: To}", ("7", "A", "#N/A"), None, id="lists"),
        pytest.param(
            f"{{{_FROM_TABLE}, order_by: No}}, company_name: Firm, end_date: To}}",
            ("7.0", "A", ""),
            ["A", "B"],
            id="another table",
        ),
        pytest.param(f"{{column: To, {_FROM_TABLE}}}}}", ("7", "A", ""), "2020-01-31", id="a look-up"),
    ],
)
def test_an_error_value_that_is_declared_as_blank(
    content: str, cells: tuple[str, ...], sent: list[str] | str | None
) -> None:
    """`missing: ['#N/A']` applies wherever the mapping reads such a cell. Keys are the same with `.0`."""
    is_value = "company_name" not in content
    extra = f"source: {{{'group_by: ID, ' if 'rows' in content else ''}missing: ['#N/A']}}\n"
    answer, asked = (content, question("date")) if is_value else (f"{{experience: {content}}}", _LONG)
    mapping = mapping_of(answer, ("ID", "Firm", "To"), asked, extra=extra, files={"t.csv": _TABLE})
    problem = replace(error_cell("#N/A"), place=CellPlace(ORIGIN, 5, Column(6, "G", "To")))
    source = row(*cells, problems=[problem] if "#N/A" in cells else [])
    (found,) = candidate_rows(lambda: iter([source]), mapping)
    assert isinstance(found, Row)
    given = answer_of(mapping, found)
    answered = given and (given.answer if is_value else [one["company_name"] for one in json.loads(str(given.answer))])
    assert answered == sent


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        pytest.param("7,A\n8,B\n", {"7": [], "8": []}, id="each has its key"),
        pytest.param("7,A\n,B\n8,C\n", {"7": ["join-key-blank"], "8": []}, id="a blank key"),
        pytest.param("7,A\n8,C\n#N/A,D\n", {"7": [], "8": ["join-key-blank"]}, id="an error in place of a key"),
        pytest.param("7,A\n007,B\n", {"7": ["key-spelled-differently"]}, id="a key in two spellings"),
        pytest.param('7,"A,x\n8,B\n9,C\n', {"7": ["quote-unclosed"], "8": []}, id="a row with an open quote"),
    ],
)
def test_a_row_of_another_table_that_may_be_of_a_candidate(table: str, codes: dict[str, list[str]]) -> None:
    """A career that may be incomplete is not sent."""
    content = "{experience: {file: {name: t.csv, key: ID, equals: ID}, company_name: Firm}}"
    rows = "".join(f"{line},\n" for line in table.splitlines())
    mapping = mapping_of(content, ("ID",), _LONG, files={"t.csv": f"ID,Firm,City\n{rows}"})
    for key, expected in codes.items():
        found = transform_row(row(key), mapping)
        assert [one.code for one in (found.problems if isinstance(found, Invalid) else ())] == expected, key


def test_keys_with_other_blanks_are_the_same() -> None:
    """As a person sees them."""
    content = "{experience: {file: {name: t.csv, key: ID, equals: ID}, company_name: Firm}}"
    mapping = mapping_of(content, ("ID",), _LONG, files={"t.csv": "ID,Firm\nAda Nur,A\n"})
    assert answer_of(mapping, row("Ada\u00a0 Nur")) is not None


def test_a_problem_of_a_member_is_at_its_own_row() -> None:
    """A problem of a value from a later row is reported at that row."""
    mapping = mapping_of(_ROWS, ("ID", "Firm"), _LONG, extra=_GROUPED)
    found = _grouped(_rows(("7", "", "A"), ("7", "nobody", "B")))
    problems: list[Problem] = list(transform_row(found[0], mapping).problems)
    assert [str(problem.place) for problem in problems] == ['c.csv, row 3, column "E-mail"']


def test_a_record_without_its_main_row() -> None:
    """Rows without a row that matches `main:` are a problem."""
    rows = _rows(("7", "a@example.com", "job"))
    found = _grouped(rows, "source: {group_by: {column: ID, main: {column: Firm, is: person}}}\n")
    assert [str(problem) for problem in found[0].problems] == [
        'c.csv, row 2, column "ID": no row of this candidate matches main:; add the row with the candidate\'s own '
        "data, or correct main: in m.yaml:5"
    ]


@given(st.lists(st.sampled_from("abcd"), max_size=12))
def test_every_row_belongs_to_one_candidate(keys: list[str]) -> None:
    """For any keys, each row is a member of exactly one candidate, and the members are in order."""
    rows = _rows(*((key, f"{key}@example.com", "F") for key in keys))
    numbers = [[member.number for member in one.members] or [one.number] for one in _grouped(rows)]
    assert sorted(number for members in numbers for number in members) == [one.number for one in rows]
    assert all(members == sorted(members) for members in numbers)


def test_a_row_that_an_open_quote_hides() -> None:
    """A line of a cell that begins with a candidate's key is told with its cell: it may be a row of its own."""
    jobs = 'Person,Company,Title\n7,Acme,"Clerk\n8,Shop,Baker"\n8,Mill,"Miller\n9 of 10, was: best"\n'
    table = "file: {name: jobs.csv, key: Person, equals: ID}"
    answer = f"{{experience: {{{table}, company_name: Company, position_title: Title}}}}"
    mapping = mapping_of(answer, ("ID",), question("long_text"), files={"jobs.csv": jobs})
    assert [str(one) for one in join_warnings(mapping, lambda: [row("7"), row("8", number=6)])] == [
        "jobs.csv, row 2, column \"Title\": the cell contains a line that looks like a row of its own, '8,Shop,Baker'; "
        'if it is one, close the quote (") before it'
    ]


def test_a_date_of_several_columns_with_a_blank_one() -> None:
    """A date that is joined from its day, month and year is refused without one of them: 5.2024 is another date."""
    answer = '{join: [Day, Month, Year], with: ".", dates: "%d.%m.%Y"}'
    mapping = mapping_of(answer, ("Day", "Month", "Year"), question("date"))
    sent = answer_of(mapping, row("31", "5", "2024"))
    assert sent is not None
    assert sent.answer == "2024-05-31"
    assert problems_of(mapping, row("", "5", "2024")) == [
        "c.csv, row 5, column \"Month\": '5.2024' is joined from cells of which one is blank; fill in all its cells"
    ]
