"""Every problem of a mapping is reported at its line and column, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.mapping import read_mapping
from importer.problems import UnusableInput
from importer.settings import WireFormat
from tests.mapping.mapping_files import HEAD, HEADER, question, read, reading_problems, resolved, resolving_problems
from tests.mapping.problem_cases import ProblemCase, problem_cases


@pytest.mark.parametrize("case", problem_cases(), ids=lambda case: case.name)
def test_a_problem_is_reported_at_its_place(case: ProblemCase) -> None:
    """One problem in a file gives one message: its place, what is wrong, what to do."""
    assert case.problems == [case.message]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "m.yaml: the mapping file is empty; start it with version: 1"),
        ("a:\n\tb: 1\n", "m.yaml:2:1: a tab is not allowed here; indent with spaces"),
        ("a: x\x00\n", "m.yaml:1:5: the character U+0000 is not allowed in YAML; remove it"),
        ("[" * 3000, "m.yaml:1:21: lists and keys are nested more than 20 levels deep; use fewer levels"),
        (HEAD + "? [a]\n: b\n", "m.yaml:4:3: a key must be a text; put it in quotes"),
    ],
    ids=["empty file", "tab", "NUL", "nested without end", "key is not a text"],
)
def test_a_text_that_a_case_cannot_show(text: str, expected: str) -> None:
    """What is blank, cannot be seen or is longer than a line is reported like everything else."""
    assert reading_problems(text) == [expected]


def test_all_problems_of_a_file_are_reported_together() -> None:
    """All problems of a file are reported in the order of the file."""
    reported = reading_problems(
        "version: 1\ntarget: {job_post: a/b}\nsource: {header_row: 0}\ndefaults: {region: XX}\n"
        "candidate: {emial: E, first_name: F, last_name: L, cv: C}\n"
    )
    assert [line.partition(": ")[0] for line in reported] == [
        "m.yaml:2:20", "m.yaml:3:22", "m.yaml:4:20", "m.yaml:5:13",
    ]  # fmt: skip


def test_one_wrong_value_hides_no_other() -> None:
    """An invalid value does not hide problems with keys and other values of its section."""
    reported = reading_problems(
        HEAD
        + 'defaults: {decimal: ",", thousands: ",", region: XX, yes: [a], no: [A], regoin: TR, names: {surname: x}}\n'
        + "answers:\n  q: {column: A, pattern: '(?P<a>.)(?P<b>.)', split: [], take: first, with: x}\n"
        + "  r: {join: [A, ''], value: x, group: a}\n"
    )
    assert [line.partition("; ")[0] for line in reported] == [
        "m.yaml:4:26: decimal and thousands are both ','",
        "m.yaml:4:50: 'XX' is not a known region",
        "m.yaml:4:64: 'a' is listed under both yes and no",
        "m.yaml:4:73: 'regoin' is an unknown key in defaults",
        "m.yaml:4:102: 'x' is not a valid value of surname",
        "m.yaml:6:18: the pattern has several groups: a, b",
        "m.yaml:6:54: split must be a text",
        "m.yaml:6:71: with has no effect without join",
        "m.yaml:7:17: join is blank",
        "m.yaml:7:22: r has join and value",
        "m.yaml:7:32: group has no effect without pattern",
    ]


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00\xc7", b"\xd0\xcf\x11\xe0\xa1\xb1"], ids=["xlsx", "xls"])
def test_a_spreadsheet_in_the_place_of_the_mapping(content: bytes) -> None:
    """The hint is not to save it as UTF-8, which would destroy it."""
    Path("m.yaml").write_bytes(content)
    with pytest.raises(UnusableInput) as refused:
        read_mapping(Path("m.yaml"))
    assert str(refused.value) == (
        "m.yaml: this is a spreadsheet, not a mapping file (.yaml); swap the two: FILE is the spreadsheet, "
        "--mapping is the mapping file"
    )


def test_a_file_that_is_no_utf8() -> None:
    """A file in another encoding is reported with the place of the first invalid byte."""
    Path("m.yaml").write_bytes("version: 1\n# Kıdem\n".encode("cp1254"))
    with pytest.raises(UnusableInput) as refused:
        read_mapping(Path("m.yaml"))
    assert str(refused.value) == "m.yaml:2:4: the file is not UTF-8 (byte 0xfd); save the file as UTF-8"


def test_a_missing_file() -> None:
    """A wrong file name is a problem, not a crash."""
    with pytest.raises(UnusableInput) as refused:
        read_mapping(Path("none.yaml"))
    assert str(refused.value) == (
        "none.yaml: the mapping file cannot be read: no such file or directory; check its name and permissions"
    )


def test_a_file_that_is_too_large() -> None:
    """A file that is too large for a mapping is not read completely."""
    Path("m.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(UnusableInput) as refused:
        read_mapping(Path("m.yaml"))
    assert (
        str(refused.value)
        == "m.yaml: the mapping file is larger than 1,000,000 bytes; check that this is a mapping file"
    )


def test_more_values_than_a_mapping_has() -> None:
    """They belong in a value table."""
    reported = reading_problems(f"a: [{', '.join('x' * 50_000)}]\n")
    assert reported[0].endswith(
        "the file has more than 50,000 values; put a value table into a CSV file, values: NAME.csv"
    )


def test_all_problems_with_the_header_are_reported_together() -> None:
    """Problems with columns, questions and the filter are reported together, in the order of resolving."""
    text = HEAD.replace("cv: CV", "cv: Resume")
    text += "source: {where: {column: Stage, is: x}}\nanswers: {q: First, r: CV}\n"
    reported = resolving_problems(
        text, HEADER, [question("r", "video"), question("required", "date", required=True, id=9)]
    )
    assert [line.partition(": ")[0] for line in reported] == [
        "m.yaml:3:68", "m.yaml:4:26", "m.yaml:5:11", "m.yaml:5:21", "m.yaml:5:1",
    ]  # fmt: skip


def test_a_constant_email() -> None:
    """The same e-mail address for every row is never intended."""
    reported = resolving_problems(HEAD.replace("email: E-mail", "email: {value: a@example.com}"), HEADER[1:])
    assert reported == [
        "m.yaml:3:20: email would be the same for every row; set it to the column that contains the e-mail address"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            "first_name: {column: First, part: first}, last_name: First",
            [
                "m.yaml:3:81: one of the names gets the whole cell of 'First'; if it has full names, write first_name: "
                "{column: First, part: first} and last_name: {column: First, part: last} (and names: {surname: "
                "last_two_words} under defaults: if people have two last names); otherwise correct one of the columns"
            ],
        )
    ],
)
def test_a_whole_name_beside_its_part(names: str, expected: list[str]) -> None:
    """A whole full name beside its part is never sent."""
    assert resolving_problems(HEAD.replace("first_name: First, last_name: Last", names), HEADER) == expected


def test_an_address_for_several_rows() -> None:
    """What a value table leaves over cannot get one e-mail address."""
    other = HEAD.replace(
        "email: E-mail", "email: {column: E-mail, values: {a: b@example.com}, otherwise: {value: c@example.com}}"
    )
    (reported,) = resolving_problems(other, HEADER)
    assert "email would be the same for several rows" in reported


def test_words_that_mean_the_opposite() -> None:
    """`no` cannot be declared as a word for yes."""
    reported = resolving_problems(
        HEAD + "answers: {q: {column: First, yes: [no]}}\n", HEADER, [question("q", "yes_no")]
    )
    assert reported == [
        "m.yaml:4:36: 'no' is listed under yes and means the opposite; to exchange them on purpose, write values: "
        "{yes: no, "
        "no: yes}"
    ]


def test_a_word_with_a_meaning_that_is_read_as_an_empty_cell() -> None:
    """The answer would be lost without a word; a list of the column's own says what is meant there."""
    asked, form = [question("q", "yes_no")], 'source: {{missing: [Yok, "-"]}}\nanswers: {{q: {{column: First{}}}}}\n'
    (reported,) = resolving_problems(HEAD + form.format(", yes: [Var], no: [Yok]"), HEADER, asked)
    assert reported.startswith("m.yaml:5:47: 'Yok' has a meaning here, and is read as an empty cell by missing:")
    (reported,) = resolving_problems(HEAD + form.format(', values: {"-": "no"}'), HEADER, asked)
    assert reported.startswith("m.yaml:5:39: '-' has a meaning here")
    fine = (', no: [Yok], missing: [""]', ', values: {Yok: ""}', ", no: [hayır]", ', no: [Yok], default: "no"')
    for one in fine:
        assert resolved(HEAD + form.format(one), HEADER, asked).answers


def test_both_names_from_one_whole_cell() -> None:
    """The first and the last name cannot be the same full name."""
    names = "first_name: First, last_name: Last"
    assert names in HEAD
    reported = resolving_problems(HEAD.replace(names, "first_name: First, last_name: First"), HEADER)
    assert reported == [
        "m.yaml:3:58: first_name and last_name both get the whole cell of 'First'; if it has full names, write "
        "first_name: {column: First, part: first} and last_name: {column: First, part: last} (and names: {surname: "
        "last_two_words} under defaults: if people have two last names); otherwise correct one of the columns"
    ]


@pytest.mark.parametrize("rule", ["first", "last"])
def test_the_parts_of_a_full_name_are_split_by_one_rule(rule: str) -> None:
    """With a rule for one part only, a word of the name would be sent twice, or not at all."""
    rules = {rule: ", names: {surname: last_two_words}"}
    first, last = (f"{{column: First, part: {part}{rules.get(part, '')}}}" for part in ("first", "last"))
    names = "first_name: First, last_name: Last"
    reported = resolving_problems(HEAD.replace(names, f"first_name: {first}, last_name: {last}"), HEADER)
    assert [one.partition(": ")[2] for one in reported] == [
        "first_name and last_name split 'First' by different rules; set names: under defaults:, for both"
    ]


def test_unused_columns_can_be_an_error() -> None:
    """A person can require that every column is mapped."""
    assert resolving_problems(HEAD + "defaults: {unused_columns: error}\n", (*HEADER, "Notes")) == [
        "m.yaml: 1 column is not used: 'Notes' (E); map the columns that should be imported, or, "
        "under defaults:, set unused_columns: ignore"
    ]


def test_an_option_that_contains_the_separator() -> None:
    """Choices that would be ambiguous after joining are refused before the first row."""
    questions = [question("q", "multiple_choice", options=("R, S", "T"))]
    reported = resolving_problems(HEAD + "answers: {q: CV}\n", HEADER, questions, WireFormat(multiple_choice="comma"))
    assert reported == [
        "m.yaml:4:11: the option 'R, S' of q contains the separator between choices; set multiple_choice to json "
        "or to another separator"
    ]


def test_a_column_whose_name_ends_as_a_comment() -> None:
    """`Phone #2` without quotes is the column Phone and a comment: the person says which one is meant."""
    reported = resolving_problems(HEAD + "answers:\n  q: Phone #2\n", (*HEADER, "Phone", "Phone #2"), [question("q")])
    assert reported == [
        "m.yaml:5:6: 'Phone' may be 'Phone #2': what follows # is a comment; put the name in quotes, or remove the "
        "comment"
    ]


@pytest.mark.parametrize("word", [
    "k", "k€", "k$", "MM$", "mio", "TEUR", "tkr", "mil", "тыс.",
    "к", "万円", "5", ".", "%", "€€", "от", "from", "XYZ",
])  # fmt: skip
def test_a_word_that_is_not_a_currency_is_refused(word: str) -> None:
    """A number is never read without a word that changes it: 48k is not 48, and от 90000 is not 90000."""
    (problem,) = reading_problems(HEAD + f"answers: {{q: {{column: A, currency: '{word}'}}}}\n")
    assert problem == (
        f"m.yaml:4:36: '{word}' is not a currency; write a sign, a code or the usual short form of a currency, "
        'for example [EUR, "€"]'
    )


@pytest.mark.parametrize("word", [
    "€", "EUR", "Euro", "US$", "C$", "$", "₺", "TL", "try",
    "kr.", "Kč", "Fr.", "zł", "руб.", "р.", "грн.", "円", "￥",
])  # fmt: skip
def test_a_sign_a_code_or_a_name_is_a_currency(word: str) -> None:
    """Signs, ISO 4217 codes and the usual short forms of every script are accepted."""
    assert read(HEAD + f"defaults: {{currency: '{word}'}}\n").defaults.currency == (word,)
