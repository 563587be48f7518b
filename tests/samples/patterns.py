"""The patterns that real exports have (P1 to P28), and their examples: a file, its mapping, its golden folder.

P20 and P21 are attachments, which the importer does not support yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import openpyxl

from tests.samples.sample import SAMPLES, Sample

NUMBERS = (*range(1, 20), *range(22, 29))


@dataclass(frozen=True)
class Shown:
    """One aspect of a pattern, and texts that prove it: in the file, in the mapping, in the golden folder.

    `mapping` is "" where the mapping needs no entry.
    """

    pattern: str
    what: str
    shape: str
    file: str
    mapping: str
    golden: str


def _shown(pattern: str, *lines: tuple[str, str, str, str, str]) -> Iterator[Shown]:
    return (Shown(pattern, *line) for line in lines)


# what, shape, then texts of the file, the mapping and the golden folder. \n in a text is a line break in the file.
SHOWN: tuple[Shown, ...] = (
    *_shown(
        "P1",
        ("case, padding", "bullhorn_files", "FiRstNaMe ", "first_name: firstName", '"first_name": "Eda"'),
        ("punctuation, NBSP", "prefixed_groups", "E\u00a0posta", "email: e-posta", "asli.er@example.com"),
        (
            "names that normalize to the same text",
            "zoho_backup",
            "Candidate Id,Candidate ID",
            'equals: "=A"',
            "Ege Üniversitesi",
        ),
    ),
    *_shown(
        "P2",
        ("one name twice", "positional", "name,name,id", 'last_name: "=B"', '"last_name": "Sarı"'),
        ("a column without a name", "prefixed_groups", "ID\t\tE", 'column: "=B"', '"answer": "fair"'),
        ("header lines without meaning", "record_types", "c3,c4,c5", 'first_name: "=C"', '"first_name": "Kaan"'),
    ),
    *_shown(
        "P3",
        ("a declared row", "entries_in_cells", "account,admin@example.com", "header_row: 2", "pinar.berg@example.com"),
        ("instruction rows", "entries_in_cells", "Write the whole name", "skip_rows: 3-4", "5,created"),
        ("a preamble and a blank line", "prefixed_groups", "Notes:\n", "", "5,created"),
        (
            "a header of two rows",
            "two_row_header",
            "Last school",
            "header_rows: 2",
            '"school_name": "Ege Üniversitesi"',
        ),
        ("a sum below the table", "two_row_header", "Total", "stop_at: Total", "8,created,201,\n"),
        ("a last field that ends the header", "prefixed_groups", "**EndOfHeader**", "unused_columns", "6,created"),
    ),
    *_shown(
        "P4",
        ("suffix", "legacy_ats_export", "Company 2", 'company_name: "Company {n}"', '"company_name"'),
        ("prefix", "prefixed_groups", "3 School", 'school_name: "{n} School"', '"school_name": "Ege Üniversitesi"'),
        ("infix", "prefixed_groups", "Work 1 Employer", '"Work {n} Employer"', '"company_name": "Örnek Ltd"'),
        ("two ways in one header", "prefixed_groups", "2_Work (employer)", "{n}_Work (employer)", "Example A.Ş."),
        (
            "the first without a number",
            "numbered_groups",
            "company2",
            "first: unnumbered",
            '"company_name": "Örnek Ltd"',
        ),
        ("the first group empty", "prefixed_groups", "1\t\t\t\t\tExample Üni", 'repeat: "{n}"', "Example Üniversitesi"),
        (
            "a flag in each group",
            "prefixed_groups",
            "Work 1 Current",
            "currently_employed",
            '"currently_employed": true',
        ),
    ),
    *_shown(
        "P5",
        ("child file, order", "zoho_backup", "LEADID,TABULARROWID", "order_by: TABULARROWID", '"major": "Veri Bilimi"'),
        ("child sheet", "child_sheets", "Example Lisesi", "sheet: {name: Schools", '"school_name": "Example Lisesi"'),
        ("lookup-without-match", "child_sheets", "C-999", "key: Candidate", "no row of the source matches 2 rows"),
        ("a duplicate key", "child_sheets", "Kemal", "equals: ID", "several rows of the source have the same key"),
    ),
    *_shown(
        "P6",
        ("rows of one key, apart", "combinations", "T-2,irem", "group_by: Candidate", "6,created"),
        (
            "repeated entries once",
            "combinations",
            "Example Lisesi,Lise",
            "rows: all",
            '"school_name": "Example Lisesi"',
        ),
        ("blank continues", "continued_rows", ";;;;;;Стажёр", "blank: continues", '"company_name": "Muster AG"'),
    ),
    *_shown(
        "P7",
        ("record types", "record_types", "U-1,education", "is: education", '"school_name": "Example Üniversitesi"'),
        ("header lines inside", "record_types", "^UserId,record,firstName", "is_not:", "excluded by `where:`"),
    ),
    *_shown(
        "P8",
        (
            "entries in a cell",
            "entries_in_cells",
            "(Jan 2020 – Present)\n",
            "split: newline",
            '"position_title": "Intern"',
        ),
        ("unmatched text", "entries_in_cells", "sabbatical", "pattern:", "'sabbatical' does not match the pattern"),
    ),
    *_shown(
        "P9",
        ("JSON", "json_cells", '""institution"": {""name""', "school_name: institution.name", "Example University"),
        ("Python lists", "json_cells", "['Engineer', 'Lead']", "split: json", '"position_title": "Lead"'),
        ("[None]", "json_cells", "[None]", "json: educations", "efe.kilic@example.com"),
        ("invalid JSON", "json_cells", '""institution"": ",', "json: educations", "it ends too early"),
    ),
    *_shown(
        "P10",
        ("lists side by side", "parallel_lists", "BSc|MSc", 'lists: {split: "|"}', '"degree": "masters_degree"'),
        ("numbered items", "parallel_lists", "Lead[1]", "numbered: true", '"position_title": "Lead"'),
        ("unequal lengths", "parallel_lists", "BSc|MSc,Ege", "lists:", "have different lengths: 'schools' has 1"),
    ),
    *_shown(
        "P11",
        ("first valid", "talent_hub", "call me;nil.tekin@example.com", "take: first_valid", '"email": "nil.tekin@'),
        (
            "one per line",
            "continued_rows",
            "нет\n+49",
            "split: newline, take: first_valid",
            '"answer": "+491710000001"',
        ),
        ("all", "entries_in_cells", "Go;SQL", 'skills: {column: skills, split: ";"}', '["Go", "SQL"]'),
    ),
    *_shown(
        "P12",
        (
            "the first valid column",
            "form_answers_tr",
            "selin(at)example.com;",
            "E-posta (tekrar)",
            '"selin.er@example.com"',
        ),
        ("the first filled one", "zoho_backup", ",+90 555 000 00 02,,", "column: [Mobile, Phone]", '"+905550000002"'),
    ),
    *_shown(
        "P13",
        (
            "area code",
            "form_answers_tr",
            "0555;0000801",
            "join: [Alan kodu, Cep Telefonu]",
            '"answer": "+905550000801"',
        ),
        ("city, country", "bullhorn_files", "London , United", 'with: ", "', '"answer": "London, United Kingdom"'),
    ),
    *_shown(
        "P14",
        ("particles", "entries_in_cells", "Pınar van der Berg", "particles: [van, der", '"last_name": "van der Berg"'),
        ("suffixes", "entries_in_cells", "Tarık Uslu Jr.", "suffixes: [Jr.", '"last_name": "Uslu Jr."'),
        ("one word", "entries_in_cells", "Sibel", "part: first", "'Sibel' is one word and cannot be split"),
        ("before a comma", "combinations", '"KOÇ, Hale"', "surname: before_comma", '"last_name": "KOÇ"'),
        ("in capitals", "form_answers_tr", "AKIN Ömer", "surname: capitals", '"last_name": "AKIN"'),
        ("spaces", "prefixed_groups", "  Aslı   Er ", "part: last", '"last_name": "Er"'),
        ("a third column", "continued_rows", "Примеровна", "join: [Имя, Отчество]", '"first_name": "Анна Примеровна"'),
    ),
    *_shown(
        "P15",
        ("degrees of several languages", "continued_rows", "бакалавриат", "бакалавриат: bach", '"bachelors_degree"'),
        ("unknown is an error", "continued_rows", "специалитет", "values:", "'специалитет' is not a degree"),
        ("employment", "continued_rows", "ГПХ", "ГПХ: contract", '"employment_type": "contract"'),
        ("yes and no", "form_answers_tr", ";Evet;", "yes: [Evet]", '"answer": "yes"'),
        ("a shared table", "zoho_backup", "Yüksek Lisans", "value_tables/degrees.csv", '"degree": "masters_degree"'),
    ),
    *_shown(
        "P16",
        ("Jan 2020", "entries_in_cells", "Jun 2018", '"%b %Y"', '"start_date": "2018-06-01"'),
        ("Mon-YYYY", "zoho_backup", "Sep-2011", '"%b-%Y"', '"start_date": "2011-09-01"'),
        ("2012.09", "prefixed_groups", "2012.09", '"%Y.%m"', '"start_date": "2012-09-01"'),
        ("a year", "prefixed_groups", "2008\t2012", "missing_month: last", '"end_date": "2012-12-31"'),
        ("other formats in one column", "positional", "01.02.2024", 'dates: [excel, "%d.%m.%Y"]', '"2024-02-01"'),
        ("month names", "continued_rows", "02-Май-2019", "%d-%b-%Y", '"start_date": "2019-05-02"'),
        ("two-digit years", "bullhorn_files", "09/01/95 00:00", "pivot: 1950", '"start_date": "1995-09-01"'),
        ("ISO with a time", "record_types", "2011-09-01T00:00:00", 'start_date: "=C"', '"start_date": "2011-09-01"'),
        ("epoch", "talent_hub", "1715731200000", "epoch_ms", '"answer": "2024-05-15"'),
        ("Excel's number", "positional", "45292", "excel", '"answer": "2024-01-01"'),
        ("date cells", "child_sheets", "2010-09-01", "start_date", '"start_date": "2010-09-01"'),
        ("date cells since 1904", "two_row_header", "2016-03-01", "excel_1904", '"start_date": "2016-03-01"'),
        ("a number since 1904", "two_row_header", "39083", "excel_1904", '"start_date": "2011-01-02"'),
        ("ambiguous", "continued_rows", "07/11/2017", '"%d/%m/%Y", "%m/%d/%Y"', "can be read as 2017-07-11 and as"),
    ),
    *_shown(
        "P17",
        ("a word", "continued_rows", "по настоящее время", "present:", '"currently_employed": true'),
        ("a blank", "combinations", "2018-01-01,,", 'present: [""]', '"currently_employed": true'),
        ("a flag", "zoho_backup", "Jul-2018,,1", "I currently work here", '"currently_employed": true'),
        ("flag and end", "prefixed_groups", "01/2016 - 12/2018\tEvet", "yes: [x, Evet]", "marked as current but"),
        ("start after end", "bullhorn_files", "1/1/2016 0:00,12/31/2010", "endDate", "after the end date 2010-12-31"),
    ),
    *_shown(
        "P18",
        ("years", "numbered_groups", "2015-2019", "part: end", '"end_date": "2019-12-31"'),
        ("words", "numbered_groups", "Eyl 2021 – Halen", "present: Halen", '"start_date": "2021-09-01"'),
        ("dots", "prefixed_groups", "09/2018 - ...", 'present: ["..."]', '"start_date": "2018-09-01"'),
        ("no range", "numbered_groups", ",2021,", "part: start", "'2021' is not a valid range of two values"),
    ),
    *_shown(
        "P19",
        ("for all columns", "talent_hub", "n/a;+90", "missing: [n/a]", '"+905550000302"'),
        ("for one column", "continued_rows", "нет", "missing: [нет]", '"answer": "+491710000001"'),
        ("error cells are not missing", "legacy_ats_export", "#N/A", "missing:", "cell-error"),
    ),
    *_shown(
        "P22",
        (
            "line breaks in a question",
            "form_answers_tr",
            '"Seviyeniz\n(birini',
            "Seviyeniz (birini seçin)",
            "Seviyeniz",
        ),
        ("by its id", "form_answers_tr", "3 Eylül 2024", '"id: 112"', '"answer": "2024-09-03"'),
        ("by its text", "form_answers_tr", "Zaman", '"text: How did you hear', '"answer": "form"'),
        ("several choices", "form_answers_tr", "Python, SQL", 'split: ","', '["Python", "SQL"]'),
        ("decimal commas", "legacy_ats_export", "2,5", 'decimal: ","', '"answer": "2.5"'),
        ("files", "legacy_ats_export", "Certificate", "certificate: Certificate", '"answer_file"'),
        ("unused columns", "numbered_groups", "organization_1", "unused_columns: warn", "organization_title_3"),
    ),
    *_shown(
        "P23",
        ("constants", "form_answers_tr", "Zaman", "{value: form}", '"answer": "form"'),
        ("defaults", "prefixed_groups", "008\t\t", "default: unknown", '"answer": "unknown"'),
        ("a text around a cell", "two_row_header", "Gonca", 'before: "Number', '"Number in the old system: 4"'),
    ),
    *_shown(
        "P24",
        ("by a column", "zoho_backup", "Rejected", "is_not: Rejected", "excluded by `where:` (Candidate Status is"),
        ("by e-mail", "form_answers_tr", "Omer.Akin@example.com", "duplicates: first", "is the same as in row 2"),
    ),
    *_shown(
        "P25",
        ("padding", "bullhorn_files", ",Yıldız  ,", "last_name", '"last_name": "Yıldız"'),
        ("invisible characters", "prefixed_groups", "Bülent\u200b Su", "part: first", '"first_name": "Bülent"'),
        ("leading zeros", "positional", "0098001", 'cv: "=C"', '"cv": "0098001"'),
        ("floats", "positional", "905550000701.0", 'phone: "=E"', '"answer": "+905550000701"'),
        ("shortened numbers", "positional", "9.05E+11", 'phone: "=E"', "a shortened number"),
    ),
    *_shown(
        "P26",
        ("007", "bullhorn_files", "007 , Eda", "equals: candidate.externalID", '"school_name": "Example University"'),
        ("long ids", "bullhorn_files", "1000000000000000017", "key:", "row 4, column"),
    ),
    *_shown(
        "P27",
        ("by name", "child_sheets", "Hakan", "sheet: People", "hakan.yildirim@example.com"),
        ("by position among the visible ones", "two_row_header", "Derya", "sheet: 2", "derya.ekin@example.com"),
        (
            "hidden rows",
            "two_row_header",
            "hidden.person@example.com",
            "hidden_rows: skip",
            "5,created,201,\n7,created",
        ),
    ),
    *_shown(
        "P28",
        ("after skipped rows", "entries_in_cells", "Sibel", "skip_rows: 3-4", "export.csv, row 7"),
        ("the row of the child", "zoho_backup", "Jan-0202", "file:", "Candidates_Educational_Details.csv, row 5"),
        ("the cell of a child sheet", "child_sheets", "first", "order_by", "child_sheets.xlsx, Schools!B5"),
    ),
)


def text_of_files(shape: Sample) -> str:
    """The text of all files of a shape; of a workbook, a line for each row with tabs between the cells."""
    if shape.file.suffix == ".xlsx":
        return _text_of_workbook(shape)
    others = sorted(shape.file.parent.glob("*.csv")) if shape.file.suffix == ".csv" else []
    return "\n".join(path.read_text("utf-8") for path in others or [shape.file])


def _text_of_workbook(shape: Sample) -> str:
    rows = (row for sheet in openpyxl.load_workbook(shape.file, data_only=True) for row in sheet.values)
    return "\n".join("\t".join("" if cell is None else str(cell) for cell in row) for row in rows)


def text_of_golden(shape: Sample) -> str:
    """The text of all files of a golden folder; the quotes of a packed answer are unescaped."""
    return "\n".join(path.read_text("utf-8") for path in sorted(shape.golden.iterdir())).replace('\\"', '"')


SHAPE_OF = {shape.name: shape for shape in SAMPLES}
