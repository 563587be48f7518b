"""Mistakes in the wider language are told where they are."""

from __future__ import annotations

import pytest

from importer.models import Question
from tests.mapping.written import HEAD, HEADER, question, reading_refused, resolving_refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>'}}\n",
            "m.yaml:4:35: pattern is no regular expression: missing ), unterminated subpattern at posit"
            "ion 0; name the part you want, as (?P<city>.+), and put the pattern in single quotes",
            id="pattern that is none",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)(?= TL).+'}}\n",
            "m.yaml:4:35: pattern cannot be matched in bounded time: it has the group (?=; write what stands there "
            "into the pattern itself; flags such as (?i) go to its beginning",
            id="pattern with look-ahead",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)\\b.+'}}\n",
            "m.yaml:4:35: pattern cannot be matched in bounded time: it has the word boundary \\b; write what stands "
            "there into the pattern itself",
            id="pattern with a word boundary",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.+)\\1'}}\n",
            "m.yaml:4:35: pattern cannot be matched in bounded time: it has the reference \\1; write what stands "
            "there into the pattern itself",
            id="pattern with a reference",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.++)'}}\n",
            "m.yaml:4:35: pattern cannot be matched in bounded time: it has the repeat ++; take the second + out",
            id="pattern that repeats without a way back",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?:(?P<a>[^,]*),?)+'}}\n",
            "m.yaml:4:35: pattern cannot be matched in bounded time: + repeats a named group that may be empty; "
            "let it hold one character at least, as with + instead of *",
            id="pattern that repeats an empty group",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: a, cell: {column: A, split: ';', pattern: '(?P<a>.{2000})'}}}}\n",
            "m.yaml:4:84: pattern cannot be matched in bounded time: invalid repetition size: {2000,2000}; make it "
            "shorter, or its {m,n} smaller",
            id="pattern of entries that is too large",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '.+ TL'}}\n",
            "m.yaml:4:35: pattern has no named group; name the part you want, as (?P<city>.+), and put "
            "the pattern in single quotes",
            id="pattern without a group",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<a>.)(?P<b>.)'}}\n",
            "m.yaml:4:26: the pattern has the groups a, b; say which one is the value, as group: a",
            id="pattern of two groups",
        ),
        pytest.param(
            "answers: {q: {column: A, pattern: '(?P<city>.+)', group: town}}\n",
            "m.yaml:4:58: 'town' is no group of the pattern; use one of city",
            id="group that is not there",
        ),
        pytest.param(
            "answers: {q: {column: A, group: a}}\n",
            "m.yaml:4:26: group has no effect without pattern; take it out",
            id="group without pattern",
        ),
        pytest.param(
            "answers: {q: {column: A, take: first}}\n",
            "m.yaml:4:26: take has no effect without split; take it out",
            id="take without split",
        ),
        pytest.param(
            'answers: {q: {column: A, split: ";", take: last}}\n',
            "m.yaml:4:44: 'last' is no value of take; use one of first, first_valid",
            id="take of something",
        ),
        pytest.param(
            "answers: {q: {column: A, values: {a: b}, after: x}}\n",
            "m.yaml:4:42: q has values and after; write the whole text in the value table",
            id="after beside a value table",
        ),
        pytest.param(
            "answers: {q: {value: a, before: x}}\n",
            "m.yaml:4:25: before has no effect beside a constant value; take it out",
            id="before a constant",
        ),
        pytest.param(
            "answers: {q: {column: A, part: middle}}\n",
            "m.yaml:4:32: 'middle' is no value of part; use one of first, last, start, end",
            id="part of something",
        ),
        pytest.param(
            "answers: {q: {column: A, months: xx}}\n",
            "m.yaml:4:34: 'xx' is no language of months; use one of en, tr, de, fr, es, it, pt, nl, pl, ru",
            id="months of no language",
        ),
        pytest.param(
            "answers: {q: {column: A, pivot: 69}}\n",
            "m.yaml:4:33: pivot must be a year from 1900 to 2001; give the first of the hundred years t"
            "hat two-digit years lie in, as 1950",
            id="pivot no year",
        ),
        pytest.param(
            "answers: {q: {column: A, names: {surname: middle}}}\n",
            "m.yaml:4:43: 'middle' is no value of surname; use one of last_word, first_word, capitals, before_comma",
            id="names in another way",
        ),
        pytest.param(
            "answers: {q: {column: A, names: {surname: before_comma, particles: [van]}}}\n",
            "m.yaml:4:57: particles have no effect where the last name stands before a comma; take it out",
            id="particles before a comma",
        ),
        pytest.param(
            "answers: {q: {column: A, names: last_word}}\n",
            "m.yaml:4:33: names must be keys and values; write 'key: value', one to a line, indented",
            id="names a text",
        ),
        pytest.param(
            "answers: {q: {column: A, values: none.csv}}\n",
            "m.yaml:4:34: the value table 'none.csv' cannot be read: no such file or directory; name it"
            " from the folder of this mapping file",
            id="table file that is not there",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, json: A, lists: {split: ";"}}}}\n',
            "m.yaml:4:54: experience has json and lists; keep one of them",
            id="two sources of entries",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, sheet: {name: Jobs, equals: ID}}}}\n",
            "m.yaml:4:52: sheet has no key; name its column that says whose entry a row is",
            id="sheet without key",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, file: {name: jobs.csv, key: ID}}}}\n",
            "m.yaml:4:51: file has no equals; name the column of the main table that says the same as key",
            id="file without equals",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, sheet: {name: Jobs, key: ID, equals: ID, encod"
            "ing: utf-8}}}}\n",
            "m.yaml:4:86: 'encoding' is no key of sheet; use one of name, key, equals, order_by, header"
            "_row, header_rows, skip_rows, stop_at, hidden_rows",
            id="sheet with an encoding",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, rows: some}}}\n",
            "m.yaml:4:51: 'some' is no value of rows; write rows: all, or rows: {column: ..., is: ...}",
            id="rows of something",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, rows: {column: Type}}}}\n",
            "m.yaml:4:51: rows has neither is nor is_not; keep one of them, with a list of words",
            id="rows without words",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, pattern: '(?P<a>.+)'}}}}\n",
            'm.yaml:4:51: cell has no split; say what stands between two entries, as split: ";" or split: newline',
            id="cell without split",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, split: newline}}}}\n",
            "m.yaml:4:51: cell has no pattern; say what an entry looks like, as '(?P<company>.+), .+'",
            id="cell without pattern",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, cell: {column: A, split: '', pattern: '(?P<a>.+)'}}}}\n",
            'm.yaml:4:70: split is blank; write the sign in quotes, as ";"',
            id="cell with a blank split",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, json: [A, B]}}}\n",
            "m.yaml:4:51: json must be a text; give one text",
            id="json of two columns",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, lists: {numbered: true}}}}\n",
            'm.yaml:4:52: lists has no split; say what stands between two items, as split: ";" or split: json',
            id="lists without split",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, lists: {split: ";", numbered: maybe}}}}\n',
            "m.yaml:4:75: 'maybe' is no value of numbered; use one of true, false",
            id="lists numbered otherwise",
        ),
        pytest.param(
            "answers: {q: {experience: {company_name: C, order: newest}}}\n",
            "m.yaml:4:52: 'newest' is no value of order; did you mean 'newest_first'? use one of kept, "
            "newest_first, oldest_first",
            id="order of another kind",
        ),
        pytest.param(
            'answers: {q: {experience: {company_name: C, repeat: "{i}"}}}\n',
            "m.yaml:4:53: '{i}' is no form of repeat; write repeat: \"{n}\", and {n} in each column name",
            id="repeat of another form",
        ),
        pytest.param(
            "source: {group_by: {blank: continues}}\n",
            "m.yaml:4:20: group_by has no column; name the column that says the same in all rows of a candidate",
            id="group_by without column",
        ),
        pytest.param(
            "source: {group_by: {column: ID, blank: new}}\n",
            "m.yaml:4:40: 'new' is no value of blank; use one of continues",
            id="group_by of another word",
        ),
        pytest.param(
            "source: {group_by: {column: ID, main: {column: Type}}}\n",
            "m.yaml:4:39: main has neither is nor is_not; keep one of them, with a list of words",
            id="main without words",
        ),
        pytest.param(
            "source: {skip_rows: [3-x]}\n",
            "m.yaml:4:22: '3-x' is no row number and no range of them; write it like 2 or 4-6",
            id="skipping no number",
        ),
        pytest.param(
            "source: {skip_rows: 5-3}\n",
            "m.yaml:4:21: '5-3' is no row number and no range of them; write it like 2 or 4-6",
            id="skipping backwards",
        ),
        pytest.param(
            "source: {hidden_rows: show}\n",
            "m.yaml:4:23: 'show' is no value of hidden_rows; use one of read, skip",
            id="hidden rows otherwise",
        ),
        pytest.param(
            "defaults: {duplicates: last}\n",
            "m.yaml:4:24: 'last' is no value of duplicates; use one of first, error",
            id="duplicates otherwise",
        ),
        pytest.param(
            "route: {column: Job, is_not: x}\n",
            "m.yaml:4:8: route has is_not, which could take rows of another mapping; write is: with its own words",
            id="route with is_not",
        ),
        pytest.param(
            "route: {column: Job}\n",
            "m.yaml:4:8: route has neither is nor is_not; keep one of them, with a list of words",
            id="route without words",
        ),
        pytest.param(
            "extends: none.yaml\n",
            "m.yaml:4:10: there is no file 'none.yaml'; name it from the folder of this mapping file",
            id="extends nothing that is there",
        ),
        pytest.param(
            "extends: m.yaml\n",
            "m.yaml:4:10: 'm.yaml' extends this file in turn; take extends: out of one of them",
            id="extends itself",
        ),
        pytest.param(
            "without: [skills]\nanswers: {q: A}\n",
            "m.yaml:4:11: the shared part has no answer 'skills'; take it out of without:",
            id="without an answer that is not there",
        ),
        pytest.param(
            "without: {a: b}\n",
            "m.yaml:4:10: without must be a text or a list of texts; write it in quotes, or as [a, b]",
            id="without a text",
        ),
    ],
)
def test_a_mistake_of_the_language(text: str, told: str) -> None:
    """One mistake in a file gives one message: place, what is wrong, what to do."""
    assert reading_refused(HEAD + text) == [told]


@pytest.mark.parametrize(
    ("answers", "asked", "more", "told"),
    [
        pytest.param(
            '{q: {column: First, split: ";", take: first}}',
            question("q", "multiple_choice", options=("a", "b")),
            "",
            "m.yaml:4:14: take leaves choices of the answer to q out: it takes several; take take: out",
            id="take of choices",
        ),
        pytest.param(
            "{q: {column: First, part: start}}",
            question("q"),
            "",
            "m.yaml:4:14: part: start has no effect on the answer to q: it is no date or number; take part: out",
            id="range of a text",
        ),
        pytest.param(
            "{q: {column: First, part: first}}",
            question("q", "integer"),
            "",
            "m.yaml:4:14: part: first has no effect on the answer to q: it is no name; take part: out",
            id="range of a name",
        ),
        pytest.param(
            "{q: {experience: {cell: {column: First, split: newline, pattern: '(?P<company>.+) in (?P<t"
            "own>.+)'}, company_name: compny}}}",
            question("q"),
            "",
            "m.yaml:4:125: there is no group of the pattern 'compny'; did you mean 'company'?",
            id="group of a cell's pattern",
        ),
        pytest.param(
            "{q: {experience: {cell: {column: Frst, split: newline, pattern: '(?P<company>.+)'}, compan"
            "y_name: company}}}",
            question("q"),
            "",
            "m.yaml:4:43: there is no column 'Frst'; did you mean 'First'?",
            id="cell of no column",
        ),
        pytest.param(
            "{q: {experience: {json: Frst, company_name: company}}}",
            question("q"),
            "",
            "m.yaml:4:34: there is no column 'Frst'; did you mean 'First'?",
            id="json of no column",
        ),
        pytest.param(
            '{q: {experience: {lists: {split: ";"}, company_name: Frst}}}',
            question("q"),
            "",
            "m.yaml:4:63: there is no column 'Frst'; did you mean 'First'?",
            id="lists of no column",
        ),
        pytest.param(
            "{q: {experience: {rows: all, company_name: First}}}",
            question("q"),
            "",
            "m.yaml:4:34: rows needs to know which rows are one candidate; add group_by: a column, under source:",
            id="rows without group_by",
        ),
        pytest.param(
            "{q: {experience: {rows: {column: Typ, is: job}, company_name: First}}}",
            question("q"),
            "source: {group_by: First}\n",
            "m.yaml:4:43: there is no column 'Typ'; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="rows of no column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "source: {group_by: ID}\n",
            "m.yaml:5:20: there is no column 'ID'; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="group_by no column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "source: {group_by: {column: First, main: {column: Typ, is: a}}}\n",
            "m.yaml:5:51: there is no column 'Typ'; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="main of no column",
        ),
        pytest.param(
            "{q: First}",
            question("q"),
            "route: {column: Job, is: a}\n",
            "m.yaml:5:17: there is no column 'Job'; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="route of no column",
        ),
    ],
)
def test_what_does_not_fit_the_header(answers: str, asked: Question, more: str, told: str) -> None:
    """What does not fit the header or the questions is told at its line, with what to do about it."""
    assert resolving_refused(f"{HEAD}answers: {answers}\n{more}", HEADER, [asked]) == [told]
