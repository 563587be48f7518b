"""Every problem of a mapping file is reported with its line and column, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.mapping import read_mapping
from importer.problems import UnusableInput
from tests.mapping.mapping_files import HEAD, reading_problems

_CANDIDATE = "candidate: {email: E, first_name: F, last_name: L, cv: C}\n"
_POST = "version: 1\ntarget: {job_post: 4f2c9a}\n"
_CODES = "the codes are %d %m %Y %y %b %B %H %I %M %S %f %p; or use one of excel, excel_1904, epoch, epoch_ms"
_SIGN = 'use one of "." "," " " "\'" "’" "٬"'
_QUOTES = "check indentation and brackets, and put texts with : # { [ or @ in quotes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "m.yaml: the mapping file is empty; start it with version: 1", id="empty file"),
        pytest.param(
            "a: [1\nb: 2\n",
            "m.yaml:1:4: a bracket that opens here is not closed, or a comma is missing behind a value; check { } and "
            "[ ]",
            id="open bracket",
        ),
        pytest.param("a: b: c\n", "m.yaml:1:5: this line has a second ': '; put the text in quotes", id="two colons"),
        pytest.param(
            'a:\n  b: "c\n  d: e\n  f: "g"\n',
            "m.yaml:2:6: a quote that opens here is not closed; close it; write a quote inside single quotes twice",
            id="open quote, closed by another one",
        ),
        pytest.param(
            "a: '[^\"]+'\nb: {c: d\n",
            "m.yaml:2:4: a bracket that opens here is not closed, or a comma is missing behind a value; check { } and "
            "[ ]",
            id="quote in another one, above",
        ),
        pytest.param(
            "a: 'b\nc: 'd'\n",
            "m.yaml:1:4: a quote that opens here is not closed; close it; write a quote inside single quotes twice",
            id="open single quote",
        ),
        pytest.param(
            'a:\n  b: "c" or d\n',
            "m.yaml:2:10: a text follows the quote that closes another one; put the whole text in quotes of the other "
            "kind",
            id="text behind a quote",
        ),
        pytest.param(
            "a:\n  b: [c]]\n",
            "m.yaml:2:9: a bracket is closed that is not open; check { } and [ ]",
            id="bracket that is not open",
        ),
        pytest.param(
            "a:\n  b C\n  d: e\n",
            "m.yaml:2:3: this line has no ': ' behind its key; write it like 'key: value', with a space behind the "
            "colon",
            id="key without a colon",
        ),
        pytest.param(
            "a:\n  b: 1\n c: 2\n  d: 3\n",
            "m.yaml:3:2: this line is not indented like the others of its section; indent all keys of a section by the "
            "same "
            "number of spaces, and put texts with quotes in quotes",
            id="indented by another number of spaces",
        ),
        pytest.param(
            "a:\n\tb: 1\n", "m.yaml:2:1: a tab is not allowed here; indent with spaces", id="indented with a tab"
        ),
        pytest.param(
            'a: "\\d+"\n',
            "m.yaml:1:6: a backslash has a meaning of its own between double quotes; put the text in single quotes",
            id="backslash in double quotes",
        ),
        pytest.param(
            "a: %d\n",
            "m.yaml:1:4: a text cannot begin like this; put the text in quotes: it begins with a sign of YAML such as "
            "% @ ` | "
            "or >",
            id="sign of YAML",
        ),
        pytest.param(
            HEAD + "answers: {q: {column: A, values: {Sr: , Jr: Junior}}}\n",
            "m.yaml:4:35: 'Sr' under values has no value; write it, or \"\" to send nothing for this text",
            id="line of a value table without a value",
        ),
        pytest.param(
            HEAD + "answers: {q: {join: [A, B], with: }}\n",
            'm.yaml:4:29: with has no value; write it, or "" for an empty text, or remove the key',
            id="key without a value",
        ),
        pytest.param("a: x\x00\n", "m.yaml:1:5: the character U+0000 is not allowed in YAML; remove it", id="NUL"),
        pytest.param(
            "[" * 3000,
            "m.yaml:1:21: lists and keys are nested more than 20 levels deep; use fewer levels",
            id="nested without end",
        ),
        pytest.param(
            "a: &x [*x]\n",
            "m.yaml:1:4: lists and keys are nested more than 20 levels deep; use fewer levels",
            id="alias of itself",
        ),
        pytest.param(
            HEAD + "defaults: {region: !country TR}\n",
            "m.yaml:4:20: YAML tags (!) are not supported; remove it, or put the text in quotes",
            id="tag",
        ),
        pytest.param(
            HEAD + "version: 1\n",
            "m.yaml:4:1: duplicate key 'version'; keep one; the other is on line 1",
            id="duplicate key",
        ),
        pytest.param(
            HEAD + "? [a]\n: b\n", "m.yaml:4:3: a key must be a text; put it in quotes", id="key is not a text"
        ),
        pytest.param(
            "- a\n",
            "m.yaml:1:1: the mapping file must be keys and values; write 'key: value' pairs, one per line, indented",
            id="list at top",
        ),
        pytest.param(
            "version: 1\ntarget: {job_post: a}\ncandidate:\n",
            "m.yaml:3:1: candidate is empty; write 'key: value' pairs below it, one per line, indented",
            id="empty section",
        ),
        pytest.param(
            HEAD + "anwsers: {}\n",
            "m.yaml:4:1: 'anwsers' is an unknown key in the mapping file; did you mean 'answers'? use one of "
            "version, extends, "
            "without, target, route, source, defaults, candidate, answers",
            id="unknown key",
        ),
        pytest.param(
            "target: {job_post: 4f2c9a}\n" + _CANDIDATE,
            "m.yaml:1:1: the mapping file has no version; add version: 1",
            id="no version",
        ),
        pytest.param(
            "version: 2\ntarget: {job_post: 4f2c9a}\n" + _CANDIDATE,
            "m.yaml:1:10: version 2 of the mapping file is not supported; write version: 1",
            id="later version",
        ),
        pytest.param(
            "version: 1\n" + _CANDIDATE,
            "m.yaml:1:1: the mapping file has no target; add target: {job_post: ...} or target: {talent_pool: ...}",
            id="no target",
        ),
        pytest.param(
            "version: 1\ntarget: {job_post: a, talent_pool: 1}\n" + _CANDIDATE,
            "m.yaml:2:9: target has both job_post and talent_pool; use one of them",
            id="two targets",
        ),
        pytest.param(
            "version: 1\ntarget: {}\n" + _CANDIDATE,
            "m.yaml:2:9: target has neither job_post nor talent_pool; use one of them",
            id="blank target",
        ),
        pytest.param(
            "version: 1\ntarget: {job_post: ../x}\n" + _CANDIDATE,
            "m.yaml:2:20: '../x' is not a valid job post ID; enter the hash of the job post: letters, digits, _ and -",
            id="hash with a slash",
        ),
        pytest.param(
            "version: 1\ntarget: {talent_pool: x}\n" + _CANDIDATE,
            "m.yaml:2:23: 'x' is not a valid talent pool ID; enter the number of the talent pool, in digits",
            id="pool is not a number",
        ),
        pytest.param(
            _POST,
            "m.yaml:1:1: the mapping file has no candidate; add candidate: with email, first_name, last_name and cv",
            id="no candidate",
        ),
        pytest.param(
            _POST + "candidate: {email: E, first_name: F, last_name: L}\n",
            "m.yaml:3:12: candidate has no cv; add its column, for example cv: CV document; or one document for "
            "every row, cv: {value: ID}",
            id="cv not mapped",
        ),
        pytest.param(
            _POST + "candidate: {email: E, first_name: F, last_name: L, cv: C, source_platform: {value: x}}\n",
            "m.yaml:3:59: source_platform is only for talent pools, not for job posts; remove it",
            id="source_platform of a job post",
        ),
        pytest.param(
            "version: 1\ntarget: {talent_pool: 17}\n" + _CANDIDATE + "answers: {a: b}\n",
            "m.yaml:4:1: a talent pool has no questions to answer; remove answers:, or set a job post as the target",
            id="answers of a pool",
        ),
        pytest.param(
            "version: 1\ntarget: {talent_pool: 17}\n"
            "candidate: {email: E, first_name: F, last_name: L, cv: C, terms_of_use: T}\n",
            "m.yaml:3:59: terms_of_use is only for job posts, not for talent pools; remove it",
            id="terms of a pool",
        ),
        pytest.param(
            HEAD + "source: {header_row: three}\n",
            "m.yaml:4:22: header_row must be a whole number of 1 or more; write it in digits",
            id="row is not a number",
        ),
        pytest.param(
            HEAD + "source: {skip_rows: [2, 6-4]}\n",
            "m.yaml:4:25: '6-4' is not a valid row number or range; write it like 2 or 4-6",
            id="descending row range",
        ),
        pytest.param(
            HEAD + "source: {encoding: windows}\n",
            "m.yaml:4:20: 'windows' is not a known encoding; use, for example, utf-8, cp1254, cp1252 or utf-16",
            id="unknown encoding",
        ),
        pytest.param(
            HEAD + "source: {delimiter: ab}\n",
            'm.yaml:4:21: \'ab\' is not a valid delimiter; use one character in quotes, for example ";" or "tab"',
            id="long delimiter",
        ),
        pytest.param(
            HEAD + "source: {where: {column: S}}\n",
            "m.yaml:4:17: where has neither is nor is_not; use one of them, with a list of values",
            id="where without values",
        ),
        pytest.param(
            HEAD + "source: {where: {column: S, is: a, is_not: b}}\n",
            "m.yaml:4:17: where has both is and is_not; use one of them, with a list of values",
            id="where with both",
        ),
        pytest.param(
            HEAD + 'defaults: {dates: ["%d.%n.%Y"]}\n',
            "m.yaml:4:20: the date format '%d.%n.%Y' has the unknown code '%n'; write it like %d.%m.%Y; " + _CODES,
            id="unknown date code",
        ),
        pytest.param(
            HEAD + 'defaults: {dates: "%d.%m"}\n',
            "m.yaml:4:19: the date format '%d.%m' has no year; write it like %d.%m.%Y; " + _CODES,
            id="date without year",
        ),
        pytest.param(
            HEAD + 'defaults: {decimal: ";"}\n',
            'm.yaml:4:21: \';\' is not a valid decimal separator; use one of "." "," "٫"',
            id="decimal separator",
        ),
        pytest.param(
            HEAD + 'defaults: {thousands: "_"}\n',
            f"m.yaml:4:23: '_' is not a valid thousands separator; {_SIGN}",
            id="thousands separator",
        ),
        pytest.param(
            HEAD + 'defaults: {decimal: ",", thousands: ","}\n',
            "m.yaml:4:26: decimal and thousands are both ','; use a different character for each",
            id="identical separators",
        ),
        pytest.param(
            HEAD + "defaults: {yes: [var], no: [yok, VAR]}\n",
            "m.yaml:4:24: 'var' is listed under both yes and no; keep it under one of them",
            id="yes and no",
        ),
        pytest.param(
            HEAD + "defaults: {region: UK}\n", "m.yaml:4:20: 'UK' is not a known region; did you mean 'GB'?", id="UK"
        ),
        pytest.param(
            HEAD + "defaults: {unused_columns: warm}\n",
            "m.yaml:4:28: 'warm' is not a valid value of unused_columns; did you mean 'warn'? use one of ignore, "
            "warn, error",
            id="unknown word",
        ),
        pytest.param(
            HEAD + "answers: {q: [A, B]}\n",
            "m.yaml:4:14: q must be a column or keys; write several columns as {column: [a, b]}",
            id="bare list",
        ),
        pytest.param(
            HEAD + "answers:\n  q:\n",
            "m.yaml:5:3: q is blank; enter a text, or remove the key",
            id="blank column",
        ),
        pytest.param(
            HEAD + "answers: {q: {with: x}}\n",
            'm.yaml:4:14: q has no column, join or value; enter a column name, or keys such as column: "E-mail"',
            id="no source",
        ),
        pytest.param(
            HEAD + "answers: {q: {column: A, value: x}}\n",
            "m.yaml:4:26: q has column and value; keep one of them",
            id="two sources",
        ),
        pytest.param(
            HEAD + 'answers: {q: {column: A, with: ","}}\n',
            "m.yaml:4:26: with has no effect without join; remove it",
            id="with without join",
        ),
        pytest.param(
            HEAD + "answers: {q: {value: A, values: {a: b}}}\n",
            "m.yaml:4:25: values has no effect with a constant value; remove it",
            id="table of a constant",
        ),
        pytest.param(
            HEAD + "answers: {q: {column: A, otherwise: keep}}\n",
            "m.yaml:4:26: otherwise has no effect without values; remove it",
            id="otherwise without values",
        ),
        pytest.param(
            HEAD + "answers: {q: {column: A, values: {Sr: Senior, SR: Staff}}}\n",
            "m.yaml:4:47: 'Sr' and 'SR' are the same text but have different values; keep one; the other is on line 4",
            id="conflicting values",
        ),
        pytest.param(
            HEAD + "answers: {q: {column: A, present: [Now]}}\n",
            "m.yaml:4:26: 'present' is an unknown key in q; use one of column, join, value, with, pattern, group, "
            "pick, split, take, "
            "values, otherwise, part, before, after, default, "
            "folder, name, several, missing, dates, months, pivot, decimal, thousands, "
            "currency, region, future, missing_day, missing_month, yes, no, names, sheet, file, optional",
            id="present elsewhere",
        ),
        pytest.param(
            HEAD + 'answers: {q: {column: A, split: ""}}\n',
            'm.yaml:4:33: split is blank; write the separator in quotes, for example ";"',
            id="blank split",
        ),
        pytest.param(
            HEAD + 'answers: {"text: ": A}\n',
            "m.yaml:4:11: 'text: ' does not name a question; use its key, text: ... or id: ...",
            id="blank question",
        ),
        pytest.param(
            HEAD + "answers: {q: {education: {major: M}}}\n",
            "m.yaml:4:26: education has no school_name; add it: every entry needs a name",
            id="entry without name",
        ),
        pytest.param(
            HEAD + "answers: {q: {education: {school_name: S, repeat: {n}}}}\n",
            'm.yaml:4:51: repeat must be a text or keys; write repeat: "{n}", and {n} in each column name',
            id="repeat unquoted",
        ),
        pytest.param(
            HEAD + "answers: {q: {experience: {company_name: S, degree: D}}}\n",
            "m.yaml:4:45: 'degree' is an unknown key in experience; use one of repeat, sheet, file, rows, cell, json, "
            "lists, company_name, position_title, employment_type, start_date, end_date, "
            "currently_employed, order",
            id="field of the other kind",
        ),
    ],
)
def test_a_problem_is_reported_at_its_place(text: str, expected: str) -> None:
    """One problem in a file gives one message: its place, what is wrong, what to do."""
    assert reading_problems(text) == [expected]


def test_all_problems_are_reported_together() -> None:
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
        + "answers:\n  q: {column: A, pattern: '(?P<a>.)(?P<b>.)', split: [], take: first, with: x, months: [xx, yy]}\n"
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
        "m.yaml:6:89: 'xx' is not a supported language for month names",
        "m.yaml:6:93: 'yy' is not a supported language for month names",
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


def test_aliases_that_expand() -> None:
    """A small file that expands to millions of values is refused before it fills the memory."""
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 8))
    reported = reading_problems("l0: &l0 [x]\n" + levels)
    assert reported[0].endswith(
        "the file expands to more than 50,000 values; put a long value table into a CSV file, values: NAME.csv, "
        "and use fewer aliases (*)"
    )
