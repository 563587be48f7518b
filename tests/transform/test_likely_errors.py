"""Warnings about values that are likely not what was meant: each fires where it must, and not for ordinary data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from importer.mapping import read_mapping, resolve
from importer.models import Application, Question, Row
from importer.problems import Column, Origin
from importer.settings import WireFormat
from importer.transform import LikelyErrors, transform_row

_NAMES = ("E-mail", "First", "Last", "Phone", "Mobile", "Salary", "Level", "City", "Birth", "Country", "Permit", "CV")
_QUESTIONS = (
    Question(1, "Phone", False, "short_text", (), "phone", "phone"),
    Question(2, "Salary", False, "decimal", (), "salary"),
    Question(3, "Level", False, "single_choice", ("Junior", "Senior"), "level"),
    Question(4, "City", False, "short_text", (), "city"),
    Question(5, "Date of birth", False, "date", (), "birth"),
    Question(6, "Country", False, "short_text", (), "country"),
    Question(7, "Permit", False, "yes_no", (), "permit"),
    Question(8, "Education", False, "long_text", (), "education"),
    Question(9, "Letter", False, "file_upload", (), "letter"),
)
_HEAD = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {region: TR}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: CV_ID}
answers:
"""
_PLAIN = "{phone: Phone, salary: Salary, level: Level, city: City, birth: Birth, country: Country, permit: Permit}"
_PERSON = {"Level": "Junior", "Country": "TR", "Permit": "yes", "City": "Bursa"}


def _people(count: int = 40, **changes: str) -> list[dict[str, str]]:
    """Ordinary people: what differs from person to person does, what does not is the same for all."""
    return [
        {
            **_PERSON,
            "E-mail": f"person{number}@example.com",
            "First": f"Ada {number % 30}",
            "Last": f"Nur {number % 25}",
            "Phone": f"0555 000 {number:04d}",
            "Mobile": f"0555 001 {number:04d}",
            "Salary": str(30_000 + 700 * number),
            "Birth": f"{1960 + number}-05-17",
            **changes,
        }
        for number in range(count)
    ]


def _warnings(
    people: Sequence[dict[str, str]],
    answers: str = _PLAIN,
    source: str = "",
    cv: str = '{value: "1"}',
    names: str = "first_name: First, last_name: Last",
) -> list[str]:
    """The warnings about these rows, those of the whole file last, as text without `c.csv, `."""
    file = Path("m.yaml")
    head = _HEAD.replace("CV_ID", cv).replace("first_name: First, last_name: Last", names)
    file.write_text(f"{source}{head}  {answers}\n", encoding="utf-8")
    columns = tuple(Column(index, chr(65 + index), name) for index, name in enumerate(_NAMES))
    mapping = resolve(read_mapping(file), columns, _QUESTIONS, WireFormat())
    likely = LikelyErrors(mapping)
    found = []
    for number, person in enumerate(people, start=2):
        row = Row(Origin("c.csv"), number, tuple(person.get(name, "") for name in _NAMES))
        body = transform_row(row, mapping)
        assert isinstance(body, Application), body
        of_row = likely.of_row(row, likely.look(row, body))
        assert {problem.severity for problem in of_row} <= {"warning"}
        found += of_row
    return [str(problem).removeprefix("c.csv, ") for problem in (*found, *likely.of_file())]


def test_ordinary_data_gives_no_warning() -> None:
    """Ordinary people give no warning, however many have the same country, level or city."""
    assert _warnings(_people()) == []


def test_a_few_rows_prove_nothing() -> None:
    """In a file of a few rows, no share of the rows is a warning."""
    people = _people(19, First="Test", Mobile="ask me")
    people[3]["Salary"] = "30000000"
    assert _warnings(people, "{phone: {column: [Mobile, Phone]}, salary: Salary}") == []


def test_numbers_far_from_all_others() -> None:
    """A salary a thousand times the median, or a thousandth of it, is named with its cells."""
    people = _people()
    people[3]["Salary"], people[9]["Salary"], people[7]["Salary"] = "45000000", "51000000", "45.5"
    assert _warnings(people) == [
        'row 5, column "Salary": the number is about 1,000 times larger than the median of its column, also row 11; '
        "correct it, or check decimal: and thousands: in m.yaml:6",
        'row 9, column "Salary": the number is about 1,000 times smaller than the median of its column; '
        "correct it, or check decimal: and thousands: in m.yaml:6",
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param([str(number) for number in range(1, 5001)], id="serial numbers"),
        pytest.param([str(2**number) for number in range(40)], id="numbers of every size"),
        pytest.param(["0"] * 30 + ["5000"] * 10, id="zeros"),
        pytest.param(["50"] * 30 + ["60000"] * 10, id="two units, an hour and a year"),
        pytest.param(["5"] * 39 + ["2015"], id="years and a year"),
    ],
)
def test_numbers_that_only_vary(numbers: list[str]) -> None:
    """Numbers that reach from small to large without a gap, or of two kinds, are no warning."""
    people = [{**person, "Salary": text} for person, text in zip(_people(len(numbers)), numbers, strict=True)]
    people = [{**person, "Birth": "", "Phone": ""} for person in people]
    assert _warnings(people, "{salary: Salary}") == []


def test_a_mistyped_common_domain() -> None:
    """A domain one letter away from a well-known one is named at its cell, others are not."""
    people = _people()
    typos = ("gmial.com", "gmail.con", "hotmial.com", "gmail.co", "yaho.com", "outlok.com", "gmaill.com")
    real = ("gmail.com", "ymail.com", "mail.com", "email.com", "yahoo.co.uk", "gmx.de", "icloud.com", "cloud.com")
    for person, domain in zip(people, (*typos, *real), strict=False):
        person["E-mail"] = f"ada@{domain}"
    found = _warnings(people)
    assert found[0] == (
        "row 2, column \"E-mail\": the domain 'gmial.com' looks like a typing error of gmail.com; "
        "correct the e-mail address if it is one"
    )
    assert [text.split("'")[1] for text in found] == list(typos)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (
            ("00300", "301", "00302", "12345", "77"),
            "row 3, column \"CV\": the document ID is shorter than '00300': its leading zeros are probably lost, also "
            "row 6; type it with its zeros, in a cell with the format Text",
        ),
        (("00300", "12345", "00302"), ""),
        (("301", "1302", "9"), ""),
        (("007", "0008", "15"), ""),
        (("003", "12345"), ""),
        (("0", "15"), ""),
        (("00300", "doc_5", "a1"), ""),
    ],
)
def test_document_ids_that_lost_their_zeros(ids: tuple[str, ...], expected: str) -> None:
    """Among IDs that zeros make equally long, shorter numbers are a warning; IDs of any length are none."""
    people = [{**person, "CV": cv} for person, cv in zip(_people(len(ids)), ids, strict=True)]
    assert _warnings(people, cv="CV") == ([expected] if expected else [])


def test_document_ids_that_lack_a_digit() -> None:
    """One of the others without a digit is a warning; IDs that only grow, and another series, are none."""
    told = (
        'row 2, column "CV": the document ID has one digit less than nearly all others, such as 70000, also row 3; '
        "check that none is missing"
    )
    for first, expected in (([7000, 7003], [told]), ([9998, 9999], []), ([4210, 4377], []), (range(900, 910), [])):
        usual = 10000 if 9999 in first else 70000
        ids = [*first, *range(usual, usual + 60)]
        people = [{**person, "CV": str(cv)} for person, cv in zip(_people(len(ids)), ids, strict=True)]
        assert _warnings(people, cv="CV") == expected


def test_many_shorter_document_ids_are_no_mistakes() -> None:
    """They are of an earlier time, or of another series."""
    ids = [*range(7000, 7060), *range(70000, 70600)]
    born = _people(len(ids), Birth="1990-01-01", Salary="50000")
    people = [{**person, "CV": str(cv)} for person, cv in zip(born, ids, strict=True)]
    assert _warnings(people, cv="CV") == []


def test_document_ids_of_an_answer() -> None:
    """A question for a document has the same warning."""
    people = [{**person, "CV": cv} for person, cv in zip(_people(2), ("0300", "301"), strict=True)]
    (warning,) = _warnings(people, "{letter: CV}")
    assert warning.startswith('row 3, column "CV": the document ID is shorter')


_SPLIT = "first_name: {column: First, part: first}, last_name: {column: First, part: last}"


# --- names, and cells that a program changed --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ('Ann"', '"'),
        ("May-24", "-2"),
        ("1-Feb", "1"),
        *(("N/A | Unknown", "/"), ("Ana 🚀", "🚀"), ("Ana ★", "★"), ("Ana (She/Her)", "(She"), ("Ana (they)", "(they")),
        *(
            ("Ibrahim, PhD", ","),
            ("Ibrahim PhD", " PhD"),
            ("Dr. Ana", "Dr. "),
            ("Frau Ana", "Frau "),
            ("Ana & Ben", "&"),
        ),
        *(
            ("ana_maria", "_"),
            ("Ana; Maria", ";"),
            ("Name: Ana", ":"),
            ("[Ana]", "["),
            ("Ana | HR", "|"),
            ("TRUE", "TRUE"),
        ),
    ],
)
def test_a_name_with_more_than_a_name(name: str, sign: str) -> None:
    """Titles, pronouns, signs and a second name are told at their cell, of the first and of the last name."""
    says = f"'{name}' has '{sign.strip()}', which is probably not part of the"
    people = _people()
    people[1]["First"] = people[2]["Last"] = name
    assert _warnings(people) == [
        f'row 3, column "First": {says} first name; correct the name if so',
        f'row 4, column "Last": {says} last name; correct the name if so',
    ]


def test_a_short_word_in_capitals_in_front_may_be_the_last_name() -> None:
    """ÖZ Ali is Ali Öz, and JD Miller is not: only a person can say so."""
    people = [{**one, "First": name} for one, name in zip(_people(), ("Ada Nur", "ÖZ Ali", "ALI ÖZ"), strict=False)]
    assert _warnings(people, names=_SPLIT) == [
        "row 3, column \"First\": 'ÖZ' is in capitals and 'Ali' is not, so it may be the last name; correct the name "
        "if so"
    ]


def test_initials_as_a_last_name() -> None:
    """Smith J. has its last name in front."""
    people = [{**one, "First": name} for one, name in zip(_people(), ("Ada Nur", "Smith J."), strict=False)]
    assert _warnings(people, names=_SPLIT) == [
        "row 3, column \"First\": the last name is 'J.', so 'Smith' may be it; write the name as 'Last, First'"
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("Smith Jr.", "Smith, Jr.", "Smith III", "D/O Raman", "Raman S/O Kumar", "O'Neil", "O’Neil", "Smith (Jones)"),
        *("Mª José", "J. R. R.", "van der Berg", 'Robert "Bob"', "Md Rahman", "MD", "Herr", "Ing"),
        *("True", "李", "Null", "NA", "Ana-Lena", "Ana–Lena", "N.", "Sr", "Drake", "Ingrid Mba", "De Sá"),
        *("أحمد", "Иван", "Ibn Phd"),
    ],
)  # fmt: skip
def test_names_as_people_have_them(name: str) -> None:
    """Suffixes, relations, initials, nicknames and short last names are parts of names."""
    people = _people()
    people[1]["First"] = people[2]["Last"] = name
    assert _warnings(people) == []


def _told(answers: str, columns: dict[str, list[str]], **others: str) -> list[str]:
    """The warnings about the cells of these columns, from row 2 on."""
    people = _people(max(map(len, columns.values())))
    for name, cells in columns.items():
        for person, cell in zip(people, cells, strict=False):
            person[name] = cell
    return _warnings(people, answers, **others)


_EMPTY = "is what programs write for an empty cell, and it is sent"


@pytest.mark.parametrize(
    "word", ["NULL", "null", "nan", "NaN", "\\N", "undefined", "[object Object]", "(null)", "<null>"]
)
def test_a_word_for_nothing(word: str) -> None:
    """A word of a program is told for its column, unless the mapping has it as missing, or in a value table."""
    cells = ["Van", word, "Van", word]
    says = f"row 3, column \"City\": '{word}' {_EMPTY}, also row 5; correct it, or add it under missing: in m.yaml:6"
    assert _told("{city: City}", {"City": cells}) == [says]
    missing = word.replace("\\", "\\\\")
    assert _told("{city: City}", {"City": cells}, source=f'source: {{missing: ["{missing}"]}}\n') == []
    assert _told(f'{{city: {{column: City, values: {{"{missing}": Van, Van: Van}}}}}}', {"City": cells}) == []


def test_a_word_for_nothing_in_an_entry_and_in_a_name() -> None:
    """It is told in the column of an entry too, and as a name where nobody writes a name like that."""
    answers = "{education: {education: {school_name: City}}}"
    assert _told(answers, {"City": ["Ege", "NULL"], "Last": ["Null", "null"]}) == [
        f"row 3, column \"Last\": 'null' {_EMPTY}; correct it, or add it under missing: in m.yaml:4",
        f"row 3, column \"City\": 'NULL' {_EMPTY}; correct it, or add it under missing: in m.yaml:6",
    ]


def test_none_alone_is_an_answer() -> None:
    """None and n/a may be what a person answered."""
    assert _told("{city: City}", {"City": ["None", "n/a", "NA", "Van"]}) == []


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["2024-05-01T21:00:00Z"] * 5, "2024-05-01T21:00:00Z"),
        (["2024-05-01 22:00", "2024-07-01 21:00"] * 3, "2024-05-01 22:00"),
        (["2024-05-01T18:30:00.000+00:00"] * 6, "2024-05-01T18:30:00.000+00:00"),
        (["01.05.2024 23:59:16"] * 5, "01.05.2024 23:59:16"),
        *((["2024-05-01T00:00:00Z"] * 9, ""), (["2024-05-01T12:00:00Z"] * 9, ""), (["2024-05-01T09:30:00Z"] * 9, "")),
        *((["2024-05-01T23:59:59Z"] * 9, ""), (["2024-05-01 23:59"] * 9, ""), (["2024-05-01T23:59:59.999Z"] * 9, "")),
        (["2024-05-01 14:00", "2024-05-01 16:00", "2024-05-01 18:00"] * 5, ""),
        (["2024-05-01 14:03", "2024-05-01 14:17"] * 9, ""),
        (["2024-05-01 21:00"] * 4, ""),
        (["2024-05-01 21:00"] * 9 + ["2024-05-01"] * 9, ""),
    ],
)
def test_midnights_of_another_zone(cells: list[str], told: str) -> None:
    """A column of dates with one time of an evening, also with summer time, is told; other times are not."""
    says = "may be midnight in another time zone, as all times of this column: then the day is one too early"
    answers = '{birth: {column: Birth, dates: ["%d.%m.%Y %H:%M:%S"]}}'
    found = _told(answers, {"Birth": cells})
    assert [text.partition(", also")[0] for text in found] == (
        [f"row 2, column \"Birth\": '{told}' {says}"] if told else []
    )


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1900-01-01", "1980-05-01"], "1900-01-01"),
        (["01.01.1901", "1980-05-01"], "01.01.1901"),
        (["1970-01-01", "1980-05-01", "1970-01-01"], "1970-01-01"),
        (["01.01.1970", "1.1.1970", "1980-05-01"], "01.01.1970"),
        (["1970-01-01T00:00:00Z", "1969-12-31"], "1970-01-01T00:00:00Z"),
        *((["1970-01-01", "1980-01-01"], ""), (["1970-01-02", "1970-01-02"], ""), (["2019-05-01", "2019-05-01"], "")),
    ],
)
def test_placeholder_dates(cells: list[str], told: str) -> None:
    """A date that nobody living has, and 1 January 1970 more than once, are told; one person may be born that day."""
    found = _told('{birth: {column: Birth, dates: ["%d.%m.%Y"]}}', {"Birth": cells})
    says = f"row 2, column \"Birth\": '{told}' probably stands for an unknown date"
    assert [text.partition(", also")[0].partition(";")[0] for text in found] == ([says] if told else [])


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1-2", "1-Feb", "10+"], "1-Feb"),
        (["0-1", "Oct-06"], "Oct-06"),
        (["3 – 5", "03.Mai", "6-10"], "03.Mai"),
        *((["Immediately", "1-Feb", "May-20"], ""), (["1-2", "3-5", "10+"], ""), (["4-door", "1-2"], "")),
    ],
)
def test_short_dates_among_ranges(cells: list[str], told: str) -> None:
    """A date as spreadsheet programs show it is told where the column has ranges such as 1-2."""
    says = "in a column of texts is probably what a spreadsheet program made of 1-2; type it again as text"
    assert _told("{city: City}", {"City": cells}) == ([f"row 3, column \"City\": '{told}' {says}"] if told else [])


def test_terms_of_use_that_are_not_accepted_are_reported() -> None:
    """The row is sent as the file says; whether it should be, only a person knows."""
    people = _people(3)
    people[1]["Country"] = "no"
    people[0]["Country"] = people[2]["Country"] = "yes"
    names = "first_name: First, last_name: Last, terms_of_use: Country"
    assert _warnings(people, "{city: City}", names=names) == [
        'row 3, column "Country": the terms of use are not accepted; such rows are sent; to leave them out, use where: '
        "under source: in the mapping"
    ]


def test_a_phone_number_of_another_country_than_the_mapping_says() -> None:
    """Numbers of the column name another country, and this one is mobile there: it was valid as a landline here."""
    phones = ["+90 555 000 11 01", "0090 555 000 11 02", "+90 555 000 11 03", "+49 171 0000002"]
    phones += ["0171 0000001", "0171 0000003", "0171 0000004", "0555 000 00 03", "5550000008"]
    people = [{**person, "Phone": text} for person, text in zip(_people(9), phones, strict=True)]
    expected = [
        'row 9, column "Phone": read as a number of DE, but probably a mobile number of TR, also row 10; '
        "write it with + and the country code"
    ]
    assert _warnings(people, "{phone: {column: Phone, region: DE}}") == expected
    assert _warnings(people[3:], "{phone: {column: Phone, region: DE}}") == []  # then nothing says so
    more = [{**person, "Phone": "0555 000 11 04"} for person in _people(4)]
    assert len(_warnings(people + more, "{phone: {column: Phone, region: DE}}")) == 1  # more than local ones
    landlines = [{**person, "Phone": f"0531 12345{number:02d}"} for number, person in enumerate(_people(20))]
    assert _warnings(people[:3] + landlines, "{phone: {column: Phone, region: DE}}") == []


def test_escapes_in_a_list_are_no_damage() -> None:
    """JSON writes letters so; in a text of its own, a program left it."""
    cells = {"City": [r'["Jos\u00e9", "b"]']}
    assert _told("{city: {column: City, split: json, take: first}}", cells) == []
    (found,) = _told("{city: City}", cells)
    assert "which a program probably wrote for another character" in found


def test_a_document_of_several_candidates() -> None:
    """Some of them may get the CV of another person, also in a short file."""
    few = [person | {"CV": str(5_000 + number)} for number, person in enumerate(_people(3))]
    few[2]["CV"] = "5001"
    (found,) = _warnings(few, cv="CV")
    assert found.startswith("row 4, column \"CV\": '5001' is the document of a row above, too; ")
    people = [person | {"CV": str(5_000 + number)} for number, person in enumerate(_people())]
    assert _warnings(people, cv="CV") == []
    for number in (3, 5, 7):
        people[number]["CV"] = "5001"
    assert _warnings(people, cv="CV") == [
        "row 5, column \"CV\": '5001' is the document of a row above, too, also row 7, row 9; give each candidate a "
        "document of their own; if one is for all, set it as {value: ID} in the mapping"
    ]
