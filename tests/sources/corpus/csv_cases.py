"""CSV files: delimiters, quotes, line ends, blank and uneven rows, cells that are not values."""

from __future__ import annotations

from importer.models import SourceOptions
from tests.sources.corpus.case import Case, Expected

_NONE = SourceOptions()
_ADA = ("Ada", "ada@example.com")
_ALAN = ("Alan", "alan@example.org")
_TOO_FEW = (
    "look for a missing delimiter or a line break outside quotes; if Excel left out blank cells at the end of rows, "
    "set short_rows: blank under source: in the mapping"
)
_CUT = (
    "row 3 is only a piece of a row: a line break outside quotes has cut it, or this row; remove the line break in "
    "your own file, or quote the cell that contains it; delete a line that is only a note"
)
_COLUMNS = ("Name", "E-mail")
_BOTH = {2: _ADA, 3: _ALAN}
_LINES = "Name,E-mail\nAda,ada@example.com\nAlan,alan@example.org\n"


_ELSEWHERE = (
    "a.csv: this is a results file of a run, not a source; check and run read what was fixed in it, if it is in the "
    "folder of its run. If that folder is gone, remove the import_ columns: the rows are then imported as new ones, "
    "known by their e-mail address only"
)


def _case(
    id_: str, promise: str, text: str | bytes, expected: Expected, options: SourceOptions = _NONE, file: str = "a.csv"
) -> Case:
    content = text if isinstance(text, bytes) else text.encode()
    return Case(id_, promise, file, lambda: content, expected, options)


def _delimited(name: str, delimiter: str, reading: str, file: str = "a.csv") -> Case:
    text = _LINES.replace(",", delimiter)
    return _case(
        f"csv-{name}", f"finds {name} as delimiter", text, Expected(_COLUMNS, _BOTH, reading=reading), file=file
    )


def _ended(name: str, line_end: str) -> Case:
    text = _LINES.replace("\n", line_end)
    return _case(f"csv-ends-{name}", f"accepts {name} as line end", text.encode(), Expected(_COLUMNS, _BOTH))


_NUMBERED = ("No", "Name", "Note")
_PEOPLE = "No,Name,Note\n2,Ada,x\n"
_FIRST = {2: ("2", "Ada", "x")}


def _misplaced(row: int, where: str) -> str:
    return (
        f'a.csv, row {row}: a closing quote (") must be followed by "," or by the end of the line ({where}); write a '
        'quote inside a quoted cell twice (""), or close the quote that is open'
    )


def _unclosed(row: int) -> str:
    return f'a.csv, row {row}: a quote (") is not closed (line {row}); close it; write a quote inside a cell twice'


def _with_problem(name: str, cell: str, problem: str, kept: str | None = None) -> Case:
    rows = {2: (cell if kept is None else kept, "ada@example.com"), 3: _ALAN}
    text = f"Name,E-mail\n{cell},ada@example.com\nAlan,alan@example.org\n"
    return _case(
        f"csv-cell-{name}",
        f"reports a cell with {name} and continues",
        text,
        Expected(_COLUMNS, rows, (f'a.csv, row 2, column "Name": {problem}',)),
    )


def _empty(name: str, content: bytes, place: str) -> Case:
    problem = f"a.csv, row {place}: the file has NUL bytes: a part of it was never written; copy or export it again"
    return _case(f"csv-nul-{name}", f"refuses NUL bytes: {name}", content, Expected(refused=(problem,)))


def _trimmed(name: str, cell: str, text: str) -> Case:
    return _case(
        f"csv-trims-{name}",
        f"strips {name} from a cell",
        f"Name,E-mail\n{cell},ada@example.com\n",
        Expected(_COLUMNS, {2: (text, "ada@example.com")}),
    )


CSV_CASES = (
    _delimited("comma", ",", 'CSV, UTF-8, delimiter ",", header found in row 1, 2 columns'),
    _delimited("semicolon", ";", 'CSV, UTF-8, delimiter ";", header found in row 1, 2 columns'),
    _delimited("tab", "\t", "CSV, UTF-8, delimiter tab, header found in row 1, 2 columns", "a.tsv"),
    _delimited("pipe", "|", 'CSV, UTF-8, delimiter "|", header found in row 1, 2 columns', "a.txt"),
    _case(
        "csv-text-as-formula",
        "takes the text out of a formula that only keeps its digits",
        'Code,Name\n="00123",Ada\n"=""007""",Alan\n="a"&"b",Eve\n',
        Expected(("Code", "Name"), {2: ("00123", "Ada"), 3: ("007", "Alan"), 4: ('="a"&"b"', "Eve")}),
    ),
    _case(
        "csv-colon-declared",
        "uses a declared delimiter that would not be detected",
        _LINES.replace(",", ":"),
        Expected(_COLUMNS, _BOTH, reading='CSV, UTF-8, delimiter ":", header found in row 1, 2 columns'),
        SourceOptions(delimiter=":"),
    ),
    _case(
        "csv-tab-declared",
        "accepts the word tab as a delimiter",
        _LINES.replace(",", "\t"),
        Expected(_COLUMNS, _BOTH),
        SourceOptions(delimiter="tab"),
    ),
    _case(
        "csv-semicolon-among-commas",
        "finds the delimiter that makes even columns where another one is frequent in the cells",
        "Name;Salary;Skills\nAda;1,5;a, b, c\nAlan;2,5;d\nGrace;3,25;e, f\n",
        Expected(
            ("Name", "Salary", "Skills"),
            {2: ("Ada", "1,5", "a, b, c"), 3: ("Alan", "2,5", "d"), 4: ("Grace", "3,25", "e, f")},
        ),
    ),
    _case(
        "csv-sep-line",
        "reads the delimiter from the line sep=, which is not a row, as spreadsheet programs do",
        "sep=|\n" + _LINES.replace(",", "|"),
        Expected(_COLUMNS, _BOTH, reading='CSV, UTF-8, delimiter "|", header found in row 1, 2 columns'),
    ),
    _case(
        "csv-wrong-sep-line",
        "splits rows by their delimiter where the line sep= names one that they do not have",
        "sep=;\n" + _LINES,
        Expected(_COLUMNS, _BOTH),
    ),
    _case(
        "csv-one-column",
        "reads a file of one column",
        "Name\nAda\nAlan\n",
        Expected(
            ("Name",),
            {2: ("Ada",), 3: ("Alan",)},
            reading="CSV, UTF-8, no delimiter found, header found in row 1, 1 column",
        ),
    ),
    _ended("LF", "\n"),
    _ended("CRLF", "\r\n"),
    _ended("CR", "\r"),
    _case(
        "csv-ends-mixed",
        "accepts mixed line ends",
        b"Name,E-mail\r\nAda,ada@example.com\nAlan,alan@example.org\r",
        Expected(_COLUMNS, _BOTH),
    ),
    _case("csv-no-last-end", "reads a last line without an end", _LINES.rstrip("\n"), Expected(_COLUMNS, _BOTH)),
    _case(
        "csv-quoted-delimiter",
        "keeps a delimiter, a quote and a line break inside quotes",
        'Name,E-mail\n"Lovelace, ""Ada""\nKing",ada@example.com\nAlan,alan@example.org\n',
        Expected(_COLUMNS, {2: ('Lovelace, "Ada"\nKing', "ada@example.com"), 3: _ALAN}),
    ),
    _case(
        "csv-quoted-crlf",
        "reads each line break inside quotes as LF",
        b'Name,E-mail\r\n"A\r\nB\rC",ada@example.com\r\n',
        Expected(_COLUMNS, {2: ("A\nB\nC", "ada@example.com")}),
    ),
    _case(
        "csv-quoted-break-is-one-row",
        "counts a record with line breaks as one row, as a spreadsheet program does",
        'Name,E-mail\n"A\n\n\nB",ada@example.com\nAlan,alan@example.org\n',
        Expected(_COLUMNS, {2: ("A\n\n\nB", "ada@example.com"), 3: _ALAN}),
    ),
    _case(
        "csv-blank-rows",
        "skips blank rows, but counts them",
        "Name,E-mail\n\nAda,ada@example.com\n,\n  , \nAlan,alan@example.org\n\n",
        Expected(_COLUMNS, {3: _ADA, 6: _ALAN}),
    ),
    _case(
        "csv-lone-quote-inside",
        "keeps a quote inside an unquoted cell",
        'Name,E-mail\n5" disk,ada@example.com\n',
        Expected(_COLUMNS, {2: ('5" disk', "ada@example.com")}),
    ),
    _case(
        "csv-text-as-text",
        "changes no text that looks like a number, a date or a missing value",
        "Name,E-mail\n0012,NA\n1e5,null\n01/02/2020,1.50\n+90 212,TRUE\n",
        Expected(_COLUMNS, {2: ("0012", "NA"), 3: ("1e5", "null"), 4: ("01/02/2020", "1.50"), 5: ("+90 212", "TRUE")}),
    ),
    _case(
        "csv-too-many-cells",
        "reports a row with too many cells and continues",
        "Name,E-mail\nLovelace, Ada,ada@example.com\nAlan,alan@example.org\n",
        Expected(
            _COLUMNS,
            {2: ("Lovelace", "Ada"), 3: _ALAN},
            (
                'a.csv, row 2, column "=C": the row has 3 cells, but the header has 2; clear the extra cells, or '
                "give them a header; in a CSV, quote cells that contain the delimiter",
            ),
        ),
    ),
    _case(
        "csv-too-many-delimiters",
        "reports a row with a delimiter too many, also if its last cells are blank",
        "Name,E-mail,Note\nAda,ada@example.com,\nAlan, b,alan@example.org,\nEda,eda@example.com,x\n",
        Expected(
            (*_COLUMNS, "Note"),
            {2: (*_ADA, ""), 3: ("Alan", "b", "alan@example.org"), 4: ("Eda", "eda@example.com", "x")},
            (
                'a.csv, row 3, column "=D": the row has 4 cells, but the header has 3; remove the delimiter that is '
                "too many, such as at the end, or quote the cell that contains it",
            ),
        ),
    ),
    _case(
        "csv-block-with-a-note",
        "reads the rows that have blank cells at the end because of a note beside the table in the same block of 16",
        "Name,E-mail\n" + 15 * "Ada,ada@example.com\n" + 9 * "Ada,ada@example.com,\n" + "Alan,alan@example.org,note\n",
        Expected(
            _COLUMNS,
            {**dict.fromkeys(range(2, 26), _ADA), 26: _ALAN},
            (
                'a.csv, row 26, column "=C": the row has 3 cells, but the header has 2; clear the extra cells, or '
                "give them a header; in a CSV, quote cells that contain the delimiter",
            ),
        ),
    ),
    _case(
        "csv-delimiter-at-the-end",
        "reads rows that all end with a delimiter which the header does not have",
        "Name,E-mail\nAda,ada@example.com,\nAlan,alan@example.org,\n",
        Expected(_COLUMNS, _BOTH),
    ),
    _case(
        "csv-unnamed-column-that-is-read",
        "reads a column without a header that the mapping names by its letter, also where few rows have it",
        "Name,E-mail,\nAda,ada@example.com,x\nAlan,alan@example.org,\nAda,ada@example.com,\n",
        Expected((*_COLUMNS, "=C"), {2: (*_ADA, "x"), 3: (*_ALAN, ""), 4: (*_ADA, "")}),
        SourceOptions(names=("Name", "E-mail", "=C")),
    ),
    _case(
        "csv-unnamed-columns-at-the-end",
        "reports a cell below a header's blank end, where most rows have none",
        "Name,E-mail,,\nAda,ada@example.com,,\nAlan, b,alan@example.org,\nEda,eda@example.com,,\n",
        Expected(
            (*_COLUMNS, "=C", "=D"),
            {2: (*_ADA, "", ""), 3: ("Alan", "b", "alan@example.org", ""), 4: ("Eda", "eda@example.com", "", "")},
            (
                'a.csv, row 3, column "=C": the row has 3 cells, but the header has 2; clear the extra cells, or '
                "give them a header; in a CSV, quote cells that contain the delimiter",
            ),
        ),
    ),
    _case(
        "csv-too-few-cells",
        "reports a row with too few cells and continues",
        "Name,E-mail,City\nAda,ada@example.com\nAlan,alan@example.org,Oslo\n",
        Expected(
            ("Name", "E-mail", "City"),
            {2: ("Ada", "ada@example.com", ""), 3: ("Alan", "alan@example.org", "Oslo")},
            (f"a.csv, row 2: the row has 2 cells, but the header has 3; {_TOO_FEW}",),
        ),
    ),
    _case(
        "csv-cut-rows",
        "reports the rows beside a line without a delimiter, which has cut one of them",
        "E-mail,About\na@example.com,I can cook\nand bake\nb@example.com,B\n\nA note.\n\nc@example.com,C\nTotal: 3\n",
        Expected(
            ("E-mail", "About"),
            {
                2: ("a@example.com", "I can cook"),
                3: ("and bake", ""),
                4: ("b@example.com", "B"),
                6: ("A note.", ""),
                8: ("c@example.com", "C"),
                9: ("Total: 3", ""),
            },
            (
                f"a.csv, row 2: {_CUT}",
                f"a.csv, row 3: the row has 1 cells, but the header has 2; {_TOO_FEW}",
                f"a.csv, row 4: {_CUT}",
                *(f"a.csv, row {row}: the row has 1 cells, but the header has 2; {_TOO_FEW}" for row in (6, 9)),
            ),
        ),
    ),
    _case(
        "csv-empty-cells-beyond",
        "accepts empty cells beyond the header",
        "Name,E-mail\nAda,ada@example.com,,\nAlan,alan@example.org\n",
        Expected(_COLUMNS, _BOTH),
    ),
    _case(
        "csv-long-cell",
        "reads a cell of 200,000 characters",
        "Name,E-mail\n" + "a" * 200_000 + ",ada@example.com\n",
        Expected(_COLUMNS, {2: ("a" * 200_000, "ada@example.com")}),
    ),
    _case(
        "csv-quotes-padded",
        "reads blanks before and after quoted cells, also in the header and around cells of several lines",
        '"Name" ,"E-mail", "City" \n"Ada" , "ada@example.com" ,"London, UK"\t\n'
        'Al ""x"", "al@example.org" ,"two\nlines" \n"5"" x",b@example.com,"The" \n',
        Expected(
            ("Name", "E-mail", "City"),
            {
                2: ("Ada", "ada@example.com", "London, UK"),
                3: ('Al ""x""', "al@example.org", "two\nlines"),
                4: ('5" x', "b@example.com", "The"),
            },
            reading='CSV, UTF-8, delimiter ",", header found in row 1, 3 columns',
        ),
    ),
    _case(
        "csv-row-broken",
        "holds back rows with a misplaced quote, also at the start of a text, and reads all others",
        _PEOPLE + '3,"say "hi" you",x\n4,"say "yo" you",x\n5,"Gr\nace",x\n6, "The" end,x\n7,Mary,x\n',
        Expected(
            _NUMBERED,
            _FIRST
            | {
                3: ('3,"say "hi" you",x', "", ""),
                4: ('4,"say "yo" you",x', "", ""),
                5: ("5", "Gr\nace", "x"),
                6: ('6, "The" end,x', "", ""),
                7: ("7", "Mary", "x"),
            },
            (_misplaced(3, "line 3"), _misplaced(4, "line 4"), _misplaced(6, "line 7")),
        ),
    ),
    _case(
        "csv-row-unclosed",
        "holds back a row whose quote is not closed, if the rows below prove that they are rows",
        _PEOPLE + '3,"say hi,x\n4,"Grace",x\n5, "Mary,x\n6,"Alan",x\n',
        Expected(
            _NUMBERED,
            _FIRST
            | {3: ('3,"say hi,x', "", ""), 4: ("4", "Grace", "x"), 5: ('5, "Mary,x', "", ""), 6: ("6", "Alan", "x")},
            (_unclosed(3), _unclosed(5)),
        ),
    ),
    _case(
        "csv-row-unprovable",
        "refuses a file in which the row after a broken one may be a part of it",
        _PEOPLE + '3,"say "hi" and\ngo on\n4,Grace,x\n',
        Expected(refused=(_misplaced(3, "line 3"),)),
    ),
    _case(
        "csv-row-of-lines",
        "refuses a file in which a broken row has several lines",
        _PEOPLE + '3,"one\nthe "two" of\nthree",x\n4,Mary,x\n5,Grace,x\n',
        Expected(refused=(_misplaced(3, "line 4; the row begins in line 3"),)),
    ),
    _case(
        "csv-cut",
        "refuses a file that ends inside a quoted cell",
        _PEOPLE + '3,Grace,x\n4,"Mar',
        Expected(refused=(_unclosed(4),)),
    ),
    _case(
        "csv-quote-broken",
        "reports the row of a missing quote, which would include the rows below in a cell",
        'Name,E-mail\nAda,ada@example.com\n"Alan,alan@example.org\nGrace,grace@example.com\n"Mary",mary@example.com\n',
        Expected(
            refused=(
                'a.csv, row 3: a closing quote (") must be followed by "," or by the end of the line (line 5; the row '
                'begins in line 3); write a quote inside a quoted cell twice (""), or close the quote that is open',
            )
        ),
        SourceOptions(delimiter=","),
    ),
    _case(
        "csv-quote-unclosed",
        "reports the row of an unclosed quote",
        'Name,E-mail\nAda,ada@example.com\n"Alan,alan@example.org\nGrace,grace@example.com\n',
        Expected(refused=(_unclosed(3),)),
        SourceOptions(delimiter=","),
    ),
    _case(
        "csv-uneven",
        "asks for the delimiter if none gives even columns",
        "a,b\nc;d;e\nf|g\nh\ni;j|k,l,m,n\no;p\n",
        Expected(
            refused=(
                "a.csv: the delimiter cannot be detected: none of , ; tab | gives every row the same number of "
                'columns; set it under source: in the mapping, such as `delimiter: ";"`',
            )
        ),
    ),
    _case(
        "csv-delimiter-unusable",
        "rejects a declared delimiter of two characters",
        _LINES,
        Expected(
            refused=(
                "delimiter: in the mapping: '::' is not a valid delimiter; give one character, such as \",\" or "
                '";" or "|", or '
                "tab",
            )
        ),
        SourceOptions(delimiter="::"),
    ),
    _empty("in a cell", b"Name,E-mail\nA\0da,ada@example.com\n", "2"),
    _empty("a preallocated copy", _LINES.encode() * 40 + bytes(9_000), "121"),
    _empty("a hole", _LINES.encode() + b"Ber" + bytes(4_096) + b"o,b@example.com\n", "4"),
    _empty("in UTF-16", ("\ufeff" + _LINES + "A\0da,ada@example.com\n").encode("utf-16-le"), "4"),
    _with_problem(
        "a control character",
        "A\x0cda",
        "'A\\x0cda' contains the control character U+000C; clear the cell and type it again",
    ),
    _with_problem(
        "a C1 control character",
        "A\x92da",
        "'A\\x92da' contains the control character U+0092; clear the cell and type it again",
    ),
    _with_problem(
        "a lost letter",
        "J�rgen",
        "'J�rgen' contains U+FFFD, which another program wrote where it lost a character; type the character again",
    ),
    _with_problem("an error", "#N/A", "the cell contains the error #N/A; fix the formula or clear the cell"),
    _with_problem("a Turkish error", "#BAŞV!", "the cell contains the error #BAŞV!; fix the formula or clear the cell"),
    _with_problem(
        "only ####",
        "########",
        "the cell contains only ####, which a spreadsheet program shows when a column is too narrow; make the column "
        "wider and save the file again",
    ),
    _with_problem(
        "a shortened number",
        "9.05E+11",
        "'9.05E+11' is a shortened number; its digits were lost when the file was saved; in the original, format the "
        "column as text or as a number without decimals, then save it again",
    ),
    _with_problem(
        "a number in scientific notation that has all its digits",
        "1.23456E+5",
        "'1.23456E+5' is a number in scientific notation; write it in full: 123456",
    ),
    _case(
        "csv-hash-is-fine",
        "accepts # and E+ inside a text",
        "Name,E-mail\nC#,Flat #5\nGRADE+,E+E\n",
        Expected(_COLUMNS, {2: ("C#", "Flat #5"), 3: ("GRADE+", "E+E")}),
    ),
    _trimmed("spaces", "  Ada  ", "Ada"),
    _trimmed("a NBSP", "\u00a0Ada\u00a0", "Ada"),
    _trimmed("a zero-width space", "\u200bAda\ufeff", "Ada"),
    _trimmed("direction marks", "\u202a+44 20 7946 0001\u202c", "+44 20 7946 0001"),
    _case(
        "csv-appended",
        "reads the quotes of a row behind the mark of a file that was appended",
        'Name,E-mail\nAda,ada@example.com\n\ufeff"Bob, Q",bob@example.com\n',
        Expected(_COLUMNS, {2: ("Ada", "ada@example.com"), 3: ("Bob, Q", "bob@example.com")}),
    ),
    _case(
        "csv-keeps-inner",
        "keeps blanks inside a cell, NBSP and zero-width joiners too",
        "Name,E-mail\nAda  King\u00a0L\u200dX,ada@example.com\n",
        Expected(_COLUMNS, {2: ("Ada  King\u00a0L\u200dX", "ada@example.com")}),
    ),
    _case(
        "csv-nfc",
        "composes letters that a Mac has taken apart",
        "Name,E-mail\nGu\u0308l S\u0327en,gul@example.com\n",
        Expected(_COLUMNS, {2: ("Gül Şen", "gul@example.com")}),
    ),
    _case(
        "csv-results-elsewhere",
        "refuses a results file outside of the folder of its run",
        "\ufeffName|Tel|Kod|import_row|import_status|import_problem|import_hint\r\n"
        "Gül|'+44 20 7946 0001|''=x|7|invalid|bad|fix\r\n",
        Expected(refused=(_ELSEWHERE,)),
    ),
    _case(
        "csv-formula-without-result",
        "rejects a workbook's formula without a result again when the results file is imported",
        "Name,E-mail\nAda,#NO_RESULT!\n",
        Expected(
            _COLUMNS,
            {2: ("Ada", "#NO_RESULT!")},
            (
                'a.csv, row 2, column "E-mail": the cell had a formula without a stored result; type the value into '
                "the cell, or clear the cell",
            ),
        ),
    ),
    _case(
        "csv-header-only",
        "warns of a file without rows",
        "Name,E-mail\n\n",
        Expected(
            _COLUMNS,
            warnings=(
                "a.csv: there are no rows below the header in row 1; check that this is the right file and sheet",
            ),
        ),
    ),
    _case(
        "csv-blank",
        "rejects a file of blanks",
        " \n\n,,\n",
        Expected(refused=("a.csv: the table is empty; export it again",)),
    ),
    _case(
        "csv-skip-rows",
        "leaves out the rows that the mapping skips",
        "Name,E-mail\nyour name,your e-mail\nAda,ada@example.com\nAlan,alan@example.org\n",
        Expected(
            _COLUMNS,
            {3: _ADA, 4: _ALAN},
            reading='CSV, UTF-8, delimiter ",", header found in row 1, 1 row excluded by skip_rows, 2 columns',
        ),
        SourceOptions(skip_rows=(2,)),
    ),
    _case(
        "csv-stop-at",
        "ends before the row that the mapping stops at",
        "Name,E-mail\nAda,ada@example.com\nTOTAL,1\nAlan,alan@example.org\n",
        Expected(
            _COLUMNS,
            {2: _ADA},
            reading="CSV, UTF-8, delimiter \",\", header found in row 1, ends before 'Total', 2 columns",
            warnings=(
                "a.csv: the table ends before row 3, and 1 row below it looks like data (4): not imported; if they are "
                "candidates, remove stop_at: under source: in the mapping, and exclude totals with where:",
            ),
        ),
        SourceOptions(stop_at="Total"),
    ),
    _case(
        "csv-below-stop-at",
        "reads a table whatever is below the row that the mapping stops at",
        "Name,E-mail\nAda,ada@example.com\n" + 70 * "Alan,alan@example.org\n" + 'TOTAL,71\nby hand,\n"x" y,"z\n',
        Expected(
            _COLUMNS,
            {2: _ADA, **dict.fromkeys(range(3, 73), _ALAN)},
            reading="CSV, UTF-8, delimiter \",\", header found in row 1, ends before 'Total', 2 columns",
        ),
        SourceOptions(stop_at="Total"),
    ),
)
