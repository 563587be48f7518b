"""Problems with the less common keys of the mapping language are reported at their place."""

from __future__ import annotations

import pytest

from importer.models import Question
from tests.mapping.mapping_files import HEAD, HEADER, question, read, reading_problems, resolving_problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>'}}\n",
            "m.yaml:4:35: pattern is not a valid regular expression: missing ), unterminated subpattern at posit"
            "ion 0; name the part that you need, for example (?P<city>.+), and put the pattern in single quotes",
            id="invalid pattern",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)(?= TL).+'}}\n",
            "m.yaml:4:35: pattern uses a feature that is not supported: the group (?=; write the expected text "
            "into the pattern itself; put flags such as (?i) at the beginning",
            id="pattern with look-ahead",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)\\b.+'}}\n",
            "m.yaml:4:35: pattern uses a feature that is not supported: the word boundary \\b; write the expected "
            "text into the pattern itself",
            id="pattern with a word boundary",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)\\1'}}\n",
            "m.yaml:4:35: pattern uses a feature that is not supported: the reference \\1; write the expected text "
            "into the pattern itself",
            id="pattern with a reference",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.++)'}}\n",
            "m.yaml:4:35: pattern uses a feature that is not supported: the repeat ++; remove the second +",
            id="possessive repeat",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?:(?P<a>[^,]*),?)+'}}\n",
            "m.yaml:4:35: pattern uses a feature that is not supported: + repeats a named group that may be empty; "
            "make the group match at least one character, for example with + instead of *",
            id="pattern that repeats an empty group",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: a, cell: {column: A, split: ';', pattern: '(?P<a>.{2000})'}}}}\n",
            "m.yaml:4:84: pattern uses a feature that is not supported: invalid repetition size: {2000,2000}; make "
            "it shorter, or use smaller numbers in {m,n}",
            id="pattern that is too large",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '.+ TL'}}\n",
            "m.yaml:4:35: pattern has no named group; name the part that you need, for example (?P<city>.+), and "
            "put the pattern in single quotes",
            id="pattern without a group",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.)(?P<b>.)'}}\n",
            "m.yaml:4:26: the pattern has several groups: a, b; choose one of them, for example group: a",
            id="pattern with two groups",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<city>.+)', group: town}}\n",
            "m.yaml:4:58: 'town' is not a group of the pattern; use one of city",
            id="unknown group",
        ),
        pytest.param(
            "answers: {q: {column: A, currency: [EUR, TEUR]}}\n",
            "m.yaml:4:42: 'TEUR' is not a currency; write a sign, a code or the usual "
            'short form of a currency, for example [EUR, "€"]',
            id="currency that multiplies",
        ),
        pytest.param(
            "answers: {q: {column: A, curency: EUR}}\n",
            "m.yaml:4:26: 'curency' is an unknown key in q; did you mean 'currency'? use one of column, join, value, "
            "with, pattern, group, pick, split, take, values, otherwise, part, before, after, default, "
            "folder, name, several, missing, dates, "
            "months, pivot, decimal, thousands, currency, region, future, missing_day, missing_month, yes, no, "
            "names, sheet, file, optional",
            id="currency misspelled",
        ),
        pytest.param(
            "answers: {q: {column: A, sheet: {name: J, key: A, equals: B}, file: {name: J, key: A, equals: B}}}\n",
            "m.yaml:4:63: q has sheet and file; keep one of them; sheet: under file: names a sheet of that file",
            id="lookup in a sheet and a file",
        ),
        pytest.param(
            "answers: {q: {column: A, file: {name: J, key: A, equals: B, shet: 1}}}\n",
            "m.yaml:4:61: 'shet' is an unknown key in file; did you mean 'sheet'? use one of name, key, equals, sheet, "
            "header_row, header_rows, skip_rows, stop_at, hidden_rows, encoding, delimiter, short_rows, longest_cell",
            id="lookup with an unknown key",
        ),
        pytest.param(
            "answers: {q: {experience: []}}\n",
            "m.yaml:4:27: experience is an empty list; enter a source",
            id="no sources",
        ),
        pytest.param(
            "answers: {q: {experience: [{company_name: A, order: kept}]}}\n",
            "m.yaml:4:46: order applies to the entries of all sources; write it once, next to experience:",
            id="order of one of several sources",
        ),
        pytest.param(
            "answers: {q: {experience: [{company_name: A}, {repeats: x, company_name: A}]}}\n",
            "m.yaml:4:48: 'repeats' is an unknown key in each item of experience; did you mean 'repeat'? use one of "
            "repeat, sheet, file, rows, cell, json, lists, company_name, position_title, employment_type, start_date, "
            "end_date, currently_employed, order",
            id="unknown key in a source",
        ),
        pytest.param(
            "answers: {q: {column: A, group: a}}\n",
            "m.yaml:4:26: group has no effect without pattern; remove it",
            id="group without pattern",
        ),
        pytest.param(
            "answers: {q: {column: A, take: first}}\n",
            "m.yaml:4:26: take has no effect without split; remove it",
            id="take without split",
        ),
        pytest.param(
            'answers: {q: {column: A, split: ";", take: last}}\n',
            "m.yaml:4:44: 'last' is not a valid value of take; use one of first, first_valid",
            id="unknown take",
        ),
        pytest.param(
            "answers: {q: {column: A, values: {a: b}, after: x}}\n",
            "m.yaml:4:42: q has values and after; write the whole text in the value table",
            id="after with a value table",
        ),
        pytest.param(
            "answers: {q: {value: a, before: x}}\n",
            "m.yaml:4:25: before has no effect with a constant value; remove it",
            id="before a constant",
        ),
        pytest.param(
            "answers: {q: {column: A, part: middle}}\n",
            "m.yaml:4:32: 'middle' is not a valid value of part; use one of first, last, start, end",
            id="unknown part",
        ),
        pytest.param(
            "answers: {q: {column: A, months: xx}}\n",
            "m.yaml:4:34: 'xx' is not a supported language for month names; use one of en, tr, de, fr, es, it, pt, "
            "nl, pl, ru",
            id="unknown language of months",
        ),
        pytest.param(
            "answers: {q: {column: A, pivot: 69}}\n",
            "m.yaml:4:33: pivot must be a year from 1900 to 2001; enter the first of the hundred years that "
            "two-digit years belong to, for example 1950",
            id="invalid pivot",
        ),
        pytest.param(
            "answers: {q: {column: A, names: {surname: middle}}}\n",
            "m.yaml:4:43: 'middle' is not a valid value of surname; use one of last_word, last_two_words, "
            "first_word, capitals, before_comma",
            id="unknown surname rule",
        ),
        pytest.param(
            "answers: {q: {column: A, names: {surname: before_comma, particles: [van]}}}\n",
            "m.yaml:4:57: particles have no effect with surname: before_comma; remove it",
            id="particles before a comma",
        ),
        pytest.param(
            "answers: {q: {column: A, names: last_word}}\n",
            "m.yaml:4:33: names must be keys and values; write 'key: value' pairs, one per line, indented",
            id="names is a text",
        ),
        pytest.param(
            "answers: {q: {column: A, values: none.csv}}\n",
            "m.yaml:4:34: the value table 'none.csv' cannot be read: no such file or directory; give its path "
            "relative to the folder of this mapping",
            id="missing table file",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, json: A, lists: {split: ";"}}}}\n',
            "m.yaml:4:54: experience has json and lists; keep one of them",
            id="two sources of entries",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, sheet: {name: Jobs, equals: ID}}}}\n",
            "m.yaml:4:52: sheet has no key; add the column that identifies the candidate there",
            id="sheet without key",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, file: {name: jobs.csv, key: ID}}}}\n",
            "m.yaml:4:51: file has no equals; add the column of the main table that matches key",
            id="file without equals",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, sheet: {name: Jobs, key: ID, equals: ID, encod"
            "ing: utf-8}}}}\n",
            "m.yaml:4:86: 'encoding' is an unknown key in sheet; use one of name, key, equals, header_row, header"
            "_rows, skip_rows, stop_at, hidden_rows, order_by",
            id="sheet with an encoding",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, rows: some}}}\n",
            "m.yaml:4:51: 'some' is not a valid value of rows; write rows: all, or rows: {column: ..., is: ...}",
            id="unknown rows",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, rows: {column: Type}}}}\n",
            "m.yaml:4:51: rows has neither is nor is_not; use one of them, with a list of values",
            id="rows without values",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, pattern: '(?P<a>.+)'}}}}\n",
            'm.yaml:4:51: cell has no split; add the separator between two entries, for example split: ";" or '
            "split: newline",
            id="cell without split",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, split: newline}}}}\n",
            "m.yaml:4:51: cell has no pattern; describe an entry with a pattern, for example '(?P<company>.+), .+'",
            id="cell without pattern",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, split: '', pattern: '(?P<a>.+)'}}}}\n",
            'm.yaml:4:70: split is blank; write the separator in quotes, for example ";"',
            id="cell with a blank split",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, json: [A, B]}}}\n",
            "m.yaml:4:51: json must be a text; enter one text",
            id="json of two columns",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, lists: {numbered: true}}}}\n",
            'm.yaml:4:52: lists has no split; add the separator between two items, for example split: ";" or '
            "split: json",
            id="lists without split",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, lists: {split: ";", numbered: maybe}}}}\n',
            "m.yaml:4:75: 'maybe' is not a valid value of numbered; use one of true, false",
            id="unknown numbered",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, order: newest}}}\n",
            "m.yaml:4:52: 'newest' is not a valid value of order; did you mean 'newest_first'? use one of kept, "
            "newest_first, oldest_first",
            id="unknown order",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, repeat: "{i}"}}}\n',
            "m.yaml:4:53: '{i}' is not a valid value of repeat; write repeat: \"{n}\", and {n} in each column name",
            id="unknown repeat",
        ),
        pytest.param(
            "source: {group_by: {blank: continues}}\n",
            "m.yaml:4:20: group_by has no column; add the column that is the same in all rows of a candidate",
            id="group_by without column",
        ),
        pytest.param(
            "source: {group_by: {column: ID, blank: new}}\n",
            "m.yaml:4:40: 'new' is not a valid value of blank; use one of continues",
            id="unknown blank",
        ),
        pytest.param(
            "source: {group_by: {column: ID, main: {column: Type}}}\n",
            "m.yaml:4:39: main has neither is nor is_not; use one of them, with a list of values",
            id="main without values",
        ),
        pytest.param(
            "source: {skip_rows: [3-x]}\n",
            "m.yaml:4:22: '3-x' is not a valid row number or range; write it like 2 or 4-6",
            id="invalid row number",
        ),
        pytest.param(
            "source: {skip_rows: 5-3}\n",
            "m.yaml:4:21: '5-3' is not a valid row number or range; write it like 2 or 4-6",
            id="descending row range",
        ),
        pytest.param(
            "source: {hidden_rows: show}\n",
            "m.yaml:4:23: 'show' is not a valid value of hidden_rows; use one of read, skip",
            id="unknown hidden_rows",
        ),
        pytest.param(
            "defaults: {duplicates: last}\n",
            "m.yaml:4:24: 'last' is not a valid value of duplicates; use one of first, error",
            id="unknown duplicates",
        ),
        pytest.param(
            "route: {column: Job, is_not: x}\n",
            "m.yaml:4:8: route cannot use is_not: it could select rows of another mapping; use is: with the values "
            "of this mapping",
            id="route with is_not",
        ),
        pytest.param(
            "route: {column: Job}\n",
            "m.yaml:4:8: route has neither is nor is_not; use one of them, with a list of values",
            id="route without values",
        ),
        pytest.param(
            "extends: none.yaml\n",
            "m.yaml:4:10: the file 'none.yaml' does not exist; give its path relative to the folder of this mapping",
            id="missing shared file",
        ),
        pytest.param(
            "extends: m.yaml\n",
            "m.yaml:4:10: 'm.yaml' and this file extend each other; remove extends: from one of them",
            id="extends itself",
        ),
        pytest.param(
            "without: [skills]\nanswers: {q: A}\n",
            "m.yaml:4:11: the shared file has no answer 'skills'; remove it from without:",
            id="without an unknown answer",
        ),
        pytest.param(
            "without: [q]\nanswers: {q: A}\n",
            "m.yaml:4:11: this file has an answer 'q' of its own; remove it from without:",
            id="without an answer of its own",
        ),
        pytest.param(
            "without: {a: b}\n",
            "m.yaml:4:10: without must be a text or a list of texts; write it in quotes, or as [a, b]",
            id="without with keys",
        ),
    ],
)
def test_a_problem_of_the_language(text: str, expected: str) -> None:
    """One problem in a file gives one message: its place, what is wrong, what to do."""
    assert reading_problems(HEAD + text) == [expected]


@pytest.mark.parametrize(
    ("answers", "asked", "more", "expected"),
    [
        pytest.param(
            '{q: {column: First, split: ";", take: first}}',
            question("q", "multiple_choice", options=("a", "b")),
            "",
            "m.yaml:4:14: take would drop choices: the answer to q takes several; remove take:",
            id="take of choices",
        ),
        pytest.param(
            "{q: {column: First, part: start}}",
            question("q"),
            "",
            "m.yaml:4:14: part: start has no effect on the answer to q, which is not a date or a number; remove part:",
            id="range of a text",
        ),
        pytest.param(
            "{q: {column: First, part: first}}",
            question("q", "integer"),
            "",
            "m.yaml:4:14: part: first has no effect on the answer to q, which is not a name; remove part:",
            id="range of a name",
        ),
        pytest.param(
            "{q: {experience: {cell: {column: First, split: newline, pattern: '(?P<company>.+) in (?P<t"
            "own>.+)'}, company_name: compny}}}",
            question("q"),
            "",
            "m.yaml:4:125: the group of the pattern 'compny' does not exist; did you mean 'company'?",
            id="group of a cell's pattern",
        ),
        pytest.param(
            "{q: {experience: {cell: {column: Frst, split: newline, pattern: '(?P<company>.+)'}, compan"
            "y_name: company}}}",
            question("q"),
            "",
            "m.yaml:4:43: the column 'Frst' does not exist; did you mean 'First'?",
            id="cell of an unknown column",
        ),
        pytest.param(
            "{q: {experience: {json: Frst, company_name: company}}}",
            question("q"),
            "",
            "m.yaml:4:34: the column 'Frst' does not exist; did you mean 'First'?",
            id="json of an unknown column",
        ),
        pytest.param(
            '{q: {experience: {lists: {split: ";"}, company_name: Frst}}}',
            question("q"),
            "",
            "m.yaml:4:63: the column 'Frst' does not exist; did you mean 'First'?",
            id="lists of an unknown column",
        ),
        pytest.param(
            "{q: {experience: {rows: all, company_name: First}}}",
            question("q"),
            "",
            "m.yaml:4:34: rows: needs group_by:, which groups the rows of a candidate; add group_by: COLUMN under "
            "source:",
            id="rows without group_by",
        ),
        pytest.param(
            "{q: {experience: {rows: {column: Typ, is: job}, company_name: First}}}",
            question("q"),
            "source: {group_by: First}\n",
            "m.yaml:4:43: the column 'Typ' does not exist; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="rows of an unknown column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "source: {group_by: ID}\n",
            "m.yaml:5:20: the column 'ID' does not exist; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="group_by an unknown column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "source: {group_by: {column: First, main: {column: Typ, is: a}}}\n",
            "m.yaml:5:51: the column 'Typ' does not exist; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="main of an unknown column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "route: {column: Job, is: a}\n",
            "m.yaml:5:17: the column 'Job' does not exist; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="route of an unknown column",
        ),
    ],
)
def test_what_does_not_fit_the_header(answers: str, asked: Question, more: str, expected: str) -> None:
    """A problem with the header or the questions is reported at its line, with what to do."""
    assert resolving_problems(f"{HEAD}answers: {answers}\n{more}", HEADER, [asked]) == [expected]


@pytest.mark.parametrize(
    "word",
    [
        "k",
        "k€",
        "k$",
        "MM$",
        "mio",
        "TEUR",
        "tkr",
        "mil",
        "тыс.",
        "к",
        "万円",
        "5",
        ".",
        "%",
        "€€",
        "от",
        "from",
        "XYZ",
    ],
)
def test_a_word_that_is_not_a_currency_is_refused(word: str) -> None:
    """A number is never read without a word that changes it: 48k is not 48, and от 90000 is not 90000."""
    (problem,) = reading_problems(HEAD + f"answers: {{q: {{column: A, currency: '{word}'}}}}\n")
    assert problem == (
        f"m.yaml:4:36: '{word}' is not a currency; write a sign, a code or the usual short form of a currency, "
        'for example [EUR, "€"]'
    )


@pytest.mark.parametrize(
    "word",
    [
        "€",
        "EUR",
        "Euro",
        "US$",
        "C$",
        "$",
        "₺",
        "TL",
        "try",
        "kr.",
        "Kč",
        "Fr.",
        "zł",
        "руб.",
        "р.",
        "грн.",
        "円",
        "￥",
    ],
)
def test_a_sign_a_code_or_a_name_is_a_currency(word: str) -> None:
    """Signs, ISO 4217 codes and the usual short forms of every script are accepted."""
    assert read(HEAD + f"defaults: {{currency: '{word}'}}\n").defaults.currency == (word,)
