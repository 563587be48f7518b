"""The proposals for columns: which are certain, and what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from importer.models import Question, Row, SourceOptions
from importer.problems import Column, Origin
from importer.sources import open_sheet
from importer.suggest import OtherSheet, Proposal, SourceFacts, open_points, propose, sample_columns, write_proposal
from importer.suggest.file_settings import _region_of
from importer.suggest.proposal import ProposedChild, ProposedEntries, ProposedValue, Setting
from importer.suggest.value_settings import _table_of
from tests.suggest.builders import EMAILS, JOB_POST, POOL, asked, proposed, sampled

LEVELS = ("Junior", "Mid", "Senior")


def value_of(proposal: Proposal, name: str) -> ProposedValue:
    """The value that is proposed for a field of the candidate or a question."""
    found = [field.value for field in proposal.candidate if field.name == name]
    found += [a.content for a in proposal.answers if a.question.key == name and isinstance(a.content, ProposedValue)]
    return found[0]


def entries_of(proposal: Proposal, key: str) -> ProposedEntries:
    content = next(answer.content for answer in proposal.answers if answer.question.key == key)
    assert isinstance(content, ProposedEntries)
    return content


# --- what is certain and what is not ------------------------------------------------------------

JUDGED = [
    pytest.param(asked("city"), {"city": ["Izmir"]}, "city", "", id="exact key"),
    pytest.param(asked("q1", text="Where do you live?"), {"Where do you live": ["Izmir"]}, "q1", "", id="exact text"),
    pytest.param(asked("salary", "integer"), {"Maaş beklentisi": ["45000"]}, "salary", "", id="a synonym"),
    pytest.param(
        asked("start", "date", text="Available from"), {"Available date?": ["soon", "end"]}, "start",
        "only 0% of the values look like a date", id="values of another kind",
    ),
    pytest.param(
        asked("shift", text="Preferred shift"), {"Prefered shift": ["Night"]}, "shift", "the header is similar",
        id="similar header",
    ),
    pytest.param(
        asked("department", text="Departman"), {"Başvurduğunuz Departman": ["İnsan kaynakları"]}, "department",
        "the header is similar", id="a column that is imported only if it is asked for",
    ),
    pytest.param(
        asked("level", "single_choice", options=LEVELS), {"How good?": ["Senior", "Mid"]}, "level",
        "only the values match, not the header", id="values only",
    ),
    pytest.param(
        asked("heard", text="How did you hear about us?"), {"Source": ["Fair"]}, "heard",
        "'Source' is similar, but not identical", id="related concept",
    ),
    pytest.param(
        asked("city"), {"Town": ["Izmir"], "Şehir": ["Ankara"]}, "city",
        "'Şehir' (F) has the same meaning", id="two columns",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "columns", "name", "review_reason"), JUDGED)
def test_a_match_is_certain_or_has_a_review_reason(
    question: Question, columns: dict[str, Sequence[str]], name: str, review_reason: str
) -> None:
    """A certain match has no review reason; every other match has one."""
    found = value_of(proposed(columns, question), name)
    assert (found.names[0], found.review_reason) == (next(iter(columns)), review_reason)


LEFT_ALONE = [
    pytest.param({"Acil telefon": ["0555 000 11 22"]}, id="emergency phone"),
    pytest.param({"Reference phone": ["0555 000 11 22"]}, id="reference phone"),
    pytest.param({"Fax": ["0555 000 11 22"]}, id="fax"),
    pytest.param({"Bölüm": ["Satış"]}, id="department"),
    pytest.param({"Created": ["2025-01-01"]}, id="time stamp"),
    pytest.param({"Company e-mail of manager": ["boss@example.com"]}, id="manager"),
]


@pytest.mark.parametrize("columns", LEFT_ALONE)
def test_columns_about_something_else_stay_open(columns: dict[str, Sequence[str]]) -> None:
    """A column about another person or thing is never proposed by similarity."""
    questions = (asked("phone", type="phone", required=True), asked("start", "date", id=8), asked("major", id=9))
    proposal = proposed(columns, *questions)
    assert proposal.answers == ()
    assert [item.name for item in proposal.open_columns] == list(columns)
    assert open_points(proposal).missing_required == ("phone",)


# --- names --------------------------------------------------------------------------------------

NAMES = [
    pytest.param({"Name": ["Ada Nur", "Berk Kaya"]}, ("Name first", "Name last"), id="name alone is a full name"),
    pytest.param({"Name": ["Nur"], "Vorname": ["Ada"]}, ("Vorname", "Name"), id="German"),
    pytest.param({"Name": ["Ada"], "Surname": ["Nur"]}, ("Name", "Surname"), id="English"),
    pytest.param({"Ad": ["Ada"], "Soyad": ["Nur"]}, ("Ad", "Soyad"), id="Turkish"),
    pytest.param(
        {"Full name": ["Ada Nur"], "First name": ["Ada"], "Last name": ["Nur"]}, ("First name", "Last name"), id="all"
    ),
]


@pytest.mark.parametrize(("columns", "names"), NAMES)
def test_names_are_found_by_their_neighbors(columns: dict[str, Sequence[str]], names: tuple[str, str]) -> None:
    """`Name` is a first, a last or a full name, depending on other columns and its values."""
    proposal = proposed(columns, person=False, target=POOL)
    found = [value_of(proposal, name) for name in ("first_name", "last_name")]
    shown = tuple(" ".join([value.names[0], *(str(setting.value) for setting in value.settings)]) for value in found)
    assert shown == names
    assert all(value.review_reason == "" for value in found)


def test_a_column_of_people_is_proposed_for_both_names_if_it_has_full_names() -> None:
    """`Candidate` with two words is a full name, with a note to check it; with IDs it is not a name."""
    proposal = proposed({"Candidate": ["Ada Nur", "Berk Kaya"]}, person=False, target=POOL)
    found = [value_of(proposal, name) for name in ("first_name", "last_name")]
    assert [(value.names, value.settings[0].value, value.review_reason) for value in found] == [
        (("Candidate",), "first", "the header is similar"),
        (("Candidate",), "last", "the header is similar"),
    ]
    assert "first_name" not in proposed({"Candidate": ["77 01", "78 02"]}, person=False, target=POOL).candidate


def test_a_last_name_that_seems_to_come_first_is_marked_for_review() -> None:
    """The last word would be used as the last name, so a person must review it."""
    values = ["YILMAZ Ayşe", "KAYA Berk", "Cem Ak", "Deniz Er"]
    proposal = proposed({"Ad Soyad": values}, person=False, target=POOL)
    review_reason = "the last name seems to come first, but the last word is used"
    assert value_of(proposal, "last_name").review_reason == review_reason


def test_names_of_three_words_are_marked_for_review() -> None:
    """`Ali Veli Kaya` may have a middle name or two last names; particles and suffixes are known and need no review."""
    for name, is_marked in (("Ali Veli Kaya", True), ("Ada van der Berg", False), ("Cem Polat Jr.", False)):
        value = value_of(proposed({"Ad Soyad": ["Ada Nur", name]}, person=False, target=POOL), "last_name")
        assert value.review_reason == ("of three words, the last one is used as the last name" if is_marked else "")


@pytest.mark.parametrize("values", [["YILMAZ Ayşe", "KAYA ÇELİK Berk"], ["Ayşe YILMAZ", "Berk KAYA"]])
def test_last_names_are_recognized_by_capitals(values: list[str]) -> None:
    """If the words in capitals are the last name, the mapping sets this, and nothing needs review."""
    proposal = proposed({"Ad Soyad": values}, person=False, target=POOL)
    assert value_of(proposal, "last_name").review_reason == ""
    assert "  names: {surname: capitals}   # which part of a full name is the last name" in write_proposal(proposal)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        pytest.param("Full name", ["Иванова Анна Петровна", "Ким Олег"], id="patronymics"),
        pytest.param("Full name", ["Иванова Анна", "Ким Олег"], id="a last name"),
        pytest.param("ФИО", ["Ким Олег", "Цой Анна"], id="the header"),
    ],
)
def test_last_names_that_come_first_are_proposed_for_review(header: str, values: list[str]) -> None:
    """Words of the names, else of the header, show that the first word is the last name."""
    proposal = proposed({header: values}, person=False, target=POOL)
    assert proposal.names == (Setting("surname", "first_word"),)
    reasons = [value_of(proposal, name).review_reason for name in ("first_name", "last_name")]
    assert reasons == ["the last name seems to come first"] * 2


def test_names_are_used_rather_than_the_header() -> None:
    """A header that names the last name first does not count where patronymics show another order."""
    proposal = proposed({"ФИО": ["Анна Петровна Ким", "Олег Цой"]}, person=False, target=POOL)
    assert proposal.names == ()


def test_a_russian_file_is_matched() -> None:
    """Headers, yes and no in Russian are known; a patronymic in its own column is not a name that is sent."""
    columns = {
        "Фамилия": ["Ким", "Цой"], "Имя": ["Олег", "Анна"], "Отчество": ["Петрович", "Ильинична"],
        "Почта": ["a@example.com", "b@example.org"], "Телефон": ["+44 7700 900001", "+44 7700 900002"],
        "ID резюме": ["70001", "70002"], "Переезд": ["да", "нет"],
    }  # fmt: skip
    questions = (asked("phone", type="phone"), asked("relocate", "yes_no", text="Готовность к переезду", id=8))
    proposal = proposed(columns, *questions, person=False)
    names = ("last_name", "first_name", "email", "phone", "cv", "relocate")
    values = [value_of(proposal, name) for name in names]
    assert [(value.names[0], value.review_reason) for value in values] == [
        (header, "") for header in columns if header != "Отчество"
    ]
    assert values[-1].settings == (Setting("yes", ("да",)), Setting("no", ("нет",)))


def test_words_that_belong_to_last_names_are_found() -> None:
    """`Ada van der Berg` and `Cem Polat Jr.`: the last word alone would be a wrong last name."""
    proposal = proposed({"Name": ["Ada van der Berg", "Cem Polat Jr.", "Nur Ak"]}, person=False, target=POOL)
    assert proposal.names == (Setting("particles", ("van", "der")), Setting("suffixes", ("Jr.",)))


# --- several columns ----------------------------------------------------------------------------


def test_phones_are_alternatives_and_parts_of_an_address_are_joined() -> None:
    """The first valid phone counts; street, postcode, city and country are one address."""
    phones = ["+90 555 000 11 22"]
    columns = {"Mobile": phones, "Home phone": phones, "City": ["Izmir"], "Street": ["Örnek 5"], "Zip": ["35000"]}
    proposal = proposed(columns, asked("phone", type="phone"), asked("address", type="address", id=8))
    assert value_of(proposal, "phone").names == ("Mobile", "Home phone")
    address = value_of(proposal, "address")
    assert (address.names, address.joined) == (("Street", "Zip", "City"), ", ")


def test_a_column_has_one_goal() -> None:
    """A city with its own question is not also a part of the address."""
    columns = {"City": ["Izmir"], "Street": ["Örnek 5"], "Country": ["Türkiye"]}
    proposal = proposed(columns, asked("address", type="address"), asked("city", id=8))
    assert value_of(proposal, "address").names == ("Street", "Country")
    assert value_of(proposal, "city").names == ("City",)


# --- entries ------------------------------------------------------------------------------------


def test_the_kind_of_numbered_groups_depends_on_the_column_before() -> None:
    """`From 1` after `School 1` belongs to education, after `Company 1` to experience."""
    columns = {
        f"{name} {number}": values
        for name, values in (("School", ["X"]), ("From", ["2014"]), ("Company", ["Y"]), ("Start", ["2019"]))
        for number in (1, 2)
    }
    proposal = proposed(columns, asked("education", "long_text"), asked("experience", "long_text", id=8))
    education = entries_of(proposal, "education")
    assert [(field.name, field.value.names) for field in education.fields] == [
        ("school_name", ("School {n}",)),
        ("start_date", ("From {n}",)),
    ]
    assert education.numbered
    assert [field.name for field in entries_of(proposal, "experience").fields] == ["company_name", "start_date"]
    assert proposal.open_columns == ()


def test_the_first_group_may_have_no_number() -> None:
    """`school`, `school2`: the first belongs to the groups."""
    proposal = proposed({"school": ["X"], "school2": ["Y"]}, asked("education", "long_text"))
    education = entries_of(proposal, "education")
    assert (education.fields[0].value.names, education.first_unnumbered) == (("school{n}",), True)


def test_a_numbered_name_of_two_columns_stays_open() -> None:
    """A mapping cannot distinguish `From 1` of schools and `From 1` of jobs."""
    columns = {"School 1": ["X"], "From 1": ["2014"], "Company 1": ["Y"], "FROM 1": ["2019"]}
    proposal = proposed(columns, asked("education", "long_text"), asked("experience", "long_text", id=8))
    assert [[field.name for field in entries_of(proposal, key).fields] for key in ("education", "experience")] == [
        ["school_name"],
        ["company_name"],
    ]
    assert [item.name for item in proposal.open_columns] == ["=F", "=H"]


def test_columns_without_a_number_are_one_entry() -> None:
    """`University` and `Degree` are the only school of the row."""
    proposal = proposed({"University": ["X"], "Degree": ["BSc"]}, asked("education", "long_text"))
    education = entries_of(proposal, "education")
    assert [(field.name, field.value.names) for field in education.fields] == [
        ("school_name", ("University",)),
        ("degree", ("Degree",)),
    ]
    assert not education.numbered


def test_ranges_in_one_cell_are_start_and_end() -> None:
    """`Sep 2021 - Present` is a start and an open end; the language of month names is detected."""
    columns = {"Şirket": ["X", "Y"], "Dönem": ["Eylül 2021 - Halen", "Mart 2019 – Ağustos 2021"]}
    fields = entries_of(proposed(columns, asked("experience", "long_text")), "experience").fields
    assert [(field.name, field.value.names, field.value.settings) for field in fields[1:]] == [
        (
            name,
            ("Dönem",),
            (Setting("part", part), Setting("dates", ("%b %Y", "%B %Y")), Setting("missing_day", edge), *more),
        )
        for name, part, edge, more in (
            ("start_date", "start", "first", ()),
            ("end_date", "end", "last", (Setting("present", ("Halen",)),)),
        )
    ]


def test_a_duration_is_not_a_range() -> None:
    """`3 years` has neither a start nor an end, and stays open."""
    proposal = proposed({"Company": ["X"], "Duration": ["3 years"]}, asked("experience", "long_text"))
    assert [field.name for field in entries_of(proposal, "experience").fields] == ["company_name"]
    assert [item.name for item in proposal.open_columns] == ["Duration"]


def test_entries_in_another_sheet_are_joined_by_key() -> None:
    """A sheet with schools and a column with the IDs of this sheet belongs to this sheet."""
    others = [
        OtherSheet("Lists", sampled({"Degree": ["Lise", "Lisans"]})),
        OtherSheet("Okullar", sampled({"Aday": ["K1", "K2", "K2", "K9"], "Okul": ["X", "Y", "Z", "Q"]})),
    ]
    here = sampled({"No": ["K1", "K2", "K3"], "E-posta": EMAILS, "Ad": ["A", "B", "C"], "Soyad": ["D", "E", "F"]})
    question = asked("education", "long_text")
    proposal = propose(JOB_POST, (question,), here, SourceFacts("f.xlsx", header_row=1), others)
    education = entries_of(proposal, "education")
    assert education.child == ProposedChild("Okullar", "Aday", "No")
    assert education.review_reason == "67% of the keys in that sheet are found in this sheet"
    assert '      sheet: {name: Okullar, key: Aday, equals: "No"}' in write_proposal(proposal)


def test_a_further_group_with_the_same_headers_is_told() -> None:
    """A mapping cannot tell which is which: without a word, the second job of each person would be lost."""
    names = ("E-mail", "Company", "Title", "Company", "Title", "School", "Degree")
    columns = [Column(index, "ABCDEFG"[index], name) for index, name in enumerate(names)]
    cells = ("p@example.com", "Acme", "Dev", "Beta", "Lead", "Ege", "BSc")
    views = sample_columns(columns, [Row(Origin("f.csv"), number, cells) for number in range(2, 5)])
    facts = SourceFacts("f.csv", header_row=1)
    found = propose(JOB_POST, (asked("experience", "long_text"),), views, facts)
    first, second = entries_of(found, "experience").fields[:2]
    expected = "not read: =D, with the same header; number them in the file: Company 1, Company 2"
    assert first.value.review_reason == expected
    assert second.value.review_reason == ""
    found = propose(JOB_POST, (asked("education", "long_text"),), views, facts)
    assert [field.value.review_reason for field in entries_of(found, "education").fields] == ["", ""]


EMAILS_OF_FIVE = [f"p{number}@example.com" for number in range(5)]


def test_a_number_of_rows_is_a_key_only_if_there_is_no_other() -> None:
    """The schools of a person are not those in the row with the same number; a key with orphans is better."""
    count = [str(number) for number in range(1, 6)]
    here = sampled({"No": count, "Candidate ID": [f"C-{number}" for number in range(5)], "E-mail": EMAILS_OF_FIVE})
    keys = ["C-4", "C-3", "C-9", "C-1", "C-0"]
    there = {"No": count, "Candidate ID": keys, "School": list("ABCDE"), "Degree": ["BSc"] * 5}
    question, facts = asked("education", "long_text"), SourceFacts("f.xlsx", header_row=1)
    found = propose(JOB_POST, (question,), here, facts, [OtherSheet("Education", sampled(there))])
    education = entries_of(found, "education")
    assert education.child is not None
    assert (education.child.key, education.child.equals) == ("Candidate ID", "Candidate ID")
    assert education.review_reason == "80% of the keys in that sheet are found in this sheet"
    there |= {"Candidate ID": ["5", "2", "3", "4", "1"], "Phone": [f"+9055500000{n}" for n in (11, 12, 13, 24, 25)]}
    here_too = sampled({"Candidate ID": count, "Phone": [f"+9055500000{n}" for n in range(11, 16)]})
    found = propose(JOB_POST, (question,), here_too, facts, [OtherSheet("Education", sampled(there))])
    education = entries_of(found, "education")
    assert education.child is not None
    assert (education.child.key, education.review_reason) == ("Candidate ID", "")
    del there["Candidate ID"], there["Phone"]
    found = propose(JOB_POST, (question,), here, facts, [OtherSheet("Education", sampled(there))])
    assert entries_of(found, "education").review_reason == "its numbers may only count the rows there"
    there = {"Order": ["1", "2"] * 3, "School": list("ABCDEF"), "Degree": ["BSc"] * 6}
    found = propose(JOB_POST, (question,), here, facts, [OtherSheet("Education", sampled(there))])
    reason = "its numbers are short: they may only count rows or entries"
    assert entries_of(found, "education").review_reason == reason


def test_another_export_beside_a_file_is_not_joined_with_it() -> None:
    """Both only count their rows alike: the schools of one are not those of the people in the other."""
    numbers = [str(number) for number in range(1, 5)]
    here = sampled({"Nr": numbers, "E-mail": [f"a{number}@example.com" for number in numbers]})
    addresses = [f"b{number}@example.com" for number in numbers]
    there = {"No": numbers, "School": list("ABCD"), "Vorname": list("EFGH"), "E-mail": addresses}
    facts, question = SourceFacts("june.csv", header_row=1), asked("education", "long_text")
    others = [OtherSheet("may.csv", sampled(there), is_file=True)]
    assert propose(JOB_POST, (question,), here, facts, others).answers == ()
    del there["E-mail"]
    there["Reference email"] = addresses
    others = [OtherSheet("may.csv", sampled(there), is_file=True)]
    (answer,) = propose(JOB_POST, (question,), here, facts, others).answers
    assert isinstance(answer.content, ProposedEntries)
    assert answer.content.review_reason == "both files may only count their rows alike: their numbers are short"


def test_a_list_of_candidates_beside_a_file_is_joined_to_be_reviewed_only() -> None:
    """Last year's export may have the people of this one, with what they said then; phone numbers may be shared."""
    emails = [f"a{number}@example.com" for number in range(4)]
    phones = [f"+90 532 123 45 0{number}" for number in range(4)]
    here = sampled({"E-mail": emails, "Phone": phones, "Vorname": list("EFGH"), "Nachname": list("KLMN")})
    facts, question = SourceFacts("2026.csv", header_row=1), asked("education", "long_text")
    reasons = []
    for there in ({"E-mail": emails, "Vorname": list("EFGH")}, {"Phone": phones}):
        others = [OtherSheet("2025.csv", sampled({**there, "School": list("ABCD")}), is_file=True)]
        (answer,) = propose(JOB_POST, (question,), here, facts, others).answers
        assert isinstance(answer.content, ProposedEntries)
        reasons.append(answer.content.review_reason)
    assert reasons == [
        "that file has names and addresses of its own: it may be another list of candidates",
        "joined by telephone numbers, which several people may share",
    ]


def test_a_table_of_jobs_has_only_columns_of_jobs() -> None:
    """One that is not known does not hide those behind it, and is named."""
    here = sampled({"ID": ["K1", "K2"], "E-mail": EMAILS[:2]})
    jobs = {"ID": ["K1", "K2"], "Employer": ["X", "Y"], "Grade": ["a", "b"], "Start": ["2019-01-01"] * 2}
    others = [OtherSheet("Jobs", sampled(jobs))]
    proposal = propose(JOB_POST, (asked("experience", "long_text"),), here, SourceFacts("f.xlsx", header_row=1), others)
    assert [field.name for field in entries_of(proposal, "experience").fields] == ["company_name", "start_date"]
    assert [child.unused for child in proposal.children] == [("Grade",)]


def test_a_second_group_of_equal_headers_is_no_answer() -> None:
    """The start of the job before is not the day from which a candidate is available."""
    header = ["E-mail", "Firma", "Başlangıç", "Firma", "Başlangıç"]
    cells = [["a@example.com", "X", "01.02.2020", "Y", "01.02.2015"], ["b@example.com", "Z", "01.03.2020", "Q", ""]]
    columns = [Column.at(index, name) for index, name in enumerate(header)]
    rows = [Row(Origin("f.csv"), number, tuple(each)) for number, each in enumerate(cells, start=2)]
    questions = asked("experience", "long_text"), asked("available_from", "date", id=8)
    proposal = propose(JOB_POST, questions, sample_columns(columns, rows), SourceFacts("f.csv", header_row=1))
    assert [answer.question.key for answer in proposal.answers] == ["experience"]


def test_words_for_empty_cells_are_marked_for_review() -> None:
    """A word such as Unknown may be an answer, so a person must check that it is read as an empty cell."""
    proposal = proposed({"Status": ["Unknown", "Looking"]})
    assert "  missing: [Unknown]   # please check: read as an empty cell in every column" in write_proposal(proposal)
    assert open_points(proposal).to_review == 1


def test_entry_files_beside_each_other_are_proposed_together() -> None:
    """Dates before the school belong to it, another file shows the order of day and month, and no column is silent."""
    ids = ["K1", "K2"]
    others = [
        OtherSheet("work.csv", sampled({"ID": ids, "company": ["X", "Y"], "endDate": ["3/1/2020", ""],
                                        "isLastJob": ["0", "1"], "grade": ["a", "b"]}), is_file=True),
        OtherSheet("schools.csv", sampled({"ID": ids, "startDate": ["9/1/2000", "9/1/2000"],
                                           "endDate": ["6/30/2003", "6/30/2003"], "school": ["X", "Y"]}), is_file=True),
    ]  # fmt: skip
    here = sampled({"ID": ids, "E-mail": EMAILS[:2]})
    questions = (asked("education", "long_text"), asked("experience", "long_text", id=8))
    proposal = propose(JOB_POST, questions, here, SourceFacts("f.csv", header_row=1), others)
    found = {
        (key, field.name): (field.value.settings, field.value.review_reason)
        for key in ("education", "experience")
        for field in entries_of(proposal, key).fields
    }
    american = (Setting("dates", ("%m/%d/%Y",)),)
    before = "it may belong to something else than the columns after it"
    assert found == {
        ("education", "school_name"): ((), ""),
        ("education", "start_date"): (american, before),
        ("education", "end_date"): (american, before),
        ("experience", "company_name"): ((), ""),
        ("experience", "end_date"): (american, "'3/1/2020' is ambiguous: the month is first in other columns"),
        ("experience", "currently_employed"): ((), ""),
    }
    assert "# Columns of work.csv that this mapping does not use:\n#   grade\n" in write_proposal(proposal)


JOBS = [
    pytest.param(
        {"Most Recent Employer": ["X"], "Most Recent Title": ["Cook"], "From": ["5/2017"], "To": ["Present"]},
        ["company_name", "position_title", "start_date", "end_date"], id="English",
    ),
    pytest.param(
        {"Arbeitgeber": ["X"], "Berufsbezeichnung": ["Koch"], "von": ["05.2017"], "bis": ["heute"]},
        ["company_name", "position_title", "start_date", "end_date"], id="German",
    ),
    pytest.param(
        {"Компания": ["X"], "Должность": ["Повар"], "Период работы": ["05.2017 – по настоящее время"]},
        ["company_name", "position_title", "start_date", "end_date"], id="Russian",
    ),
    pytest.param(
        {"Firma": ["X"], "Unvan": ["Aşçı"], "Başlangıç": ["05.2017"], "Bitiş": ["halen"]},
        ["company_name", "position_title", "start_date", "end_date"], id="Turkish",
    ),
    pytest.param({"Employer": ["X"], "Current job": ["yes"]}, ["company_name", "currently_employed"], id="a flag"),
    pytest.param({"Employer": ["X"], "Current job": ["Cook"]}, ["company_name"], id="a title is not a flag"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "fields"), JOBS)
def test_columns_of_a_job_answer_the_question_for_experience(
    columns: dict[str, Sequence[str]], fields: list[str]
) -> None:
    """The words for an employer, a title and its dates are known in four languages; a flag must say yes or no."""
    question = asked("work", "long_text", text="Work", type="experience")
    assert [field.name for field in entries_of(proposed(columns, question), "work").fields] == fields


def test_lists_of_objects_in_cells_are_entries() -> None:
    """The keys of JSON or Python lists are the fields of entries, and their dates have formats like any other."""
    jobs = ["[]", '[{"firma": {"adı": "X"}, "bitis": null}]', "[{'firma': {'adı': 'Y'}, 'bitis': '31.12.2020'}]"]
    question = asked("work", "long_text", text="İş deneyimi")
    proposal = proposed({"Deneyim": jobs}, question)
    text = write_proposal(proposal)
    assert (
        """    experience:
      json: Deneyim   # a list in each cell; the names below are its keys
      company_name: firma.adı
      end_date: {column: bitis, dates: ["%d.%m.%Y"]}
"""
        in text
    )
    assert proposal.open_columns == ()


def test_lists_of_texts_in_cells_are_several_choices() -> None:
    """A cell with `["Python", "SQL"]` is split as JSON."""
    question = asked("skills", "multiple_choice", options=("Python", "SQL"))
    value = value_of(proposed({"Skills": ['["Python", "SQL"]', "[]"]}, question), "skills")
    assert (value.settings, value.table, value.review_reason) == ((Setting("split", "json"),), (), "")


# --- how values are read ------------------------------------------------------------------------

READ = [
    pytest.param("integer", ["45.000", "1.250.000"], (Setting("thousands", "."),), id="thousands"),
    pytest.param("decimal", ["2,5", "4"], (Setting("decimal", ","),), id="decimal comma"),
    pytest.param(
        "decimal", ["1.250,50", "4"], (Setting("decimal", ","), Setting("thousands", ".")), id="both separators",
    ),
    pytest.param("decimal", ["1,250.50", "4"], (Setting("thousands", ","),), id="English separators"),
    pytest.param("integer", ["$61,000", "62,000.00"],
                 (Setting("currency", "$"), Setting("decimal", "."), Setting("thousands", ",")), id="cents"),
    pytest.param("integer", ["45.000 TL", "₺50.000"], (Setting("currency", ("TL", "₺")), Setting("thousands", ".")),
                 id="two spellings of a currency"),
    pytest.param("date", ["31.12.2020"], (Setting("dates", ("%d.%m.%Y",)),), id="date"),
    pytest.param(
        "yes_no", ["Var", "Yok", "-"],
        (Setting("yes", ("Var",)), Setting("no", ("Yok",)), Setting("missing", ("-",))), id="yok is no, not missing",
    ),
    pytest.param("yes_no", ["Evet", "no"], (), id="known words"),
]  # fmt: skip


def test_parts_of_a_last_name_and_of_an_address_are_joined() -> None:
    """A house number belongs to the street before it; elsewhere, such a number may be another one."""
    columns = {
        "Número": ["1"], "Voornaam": ["Ada"], "Tussenvoegsel": ["van der"], "Achternaam": ["Berg"],
        "Straat": ["Dorpsstraat"], "Huisnr": ["12"], "Woonplaats": ["Utrecht"], "E-mail": ["ada@example.com"],
    }  # fmt: skip
    proposal = proposed(columns, asked("address", type="address"), person=False)
    assert value_of(proposal, "address").names == ("Straat", "Huisnr", "Woonplaats")
    assert next(one.value.names for one in proposal.candidate if one.name == "last_name") == (
        "Tussenvoegsel",
        "Achternaam",
    )


@pytest.mark.parametrize(
    ("emails", "group_by", "continues"),
    [
        (["a@example.com", "", "", "b@example.com", ""], "E-mail", True),
        (["a@example.com", "a@example.com", "a@example.com", "b@example.com", "c@example.com"], "E-mail", False),
        ([f"{name}@example.com" for name in "abcde"], None, False),
    ],
)
def test_rows_that_are_entries_of_one_candidate(emails: list[str], group_by: str | None, continues: bool) -> None:
    """They are grouped, and each of them is an entry; a person reviews it."""
    columns = {"E-mail": emails, "Company": ["X", "Y", "Z", "X", "Y"]}
    proposal = proposed(columns, asked("experience", "long_text"), person=False)
    assert (proposal.source.group_by, proposal.source.continues) == (group_by, continues)
    assert entries_of(proposal, "experience").is_row is (group_by is not None)
    assert open_points(proposal).to_review == (group_by is not None)


@pytest.mark.parametrize(("answer_type", "values", "settings"), READ)
def test_settings_are_found_from_values(answer_type: str, values: list[str], settings: tuple[Setting, ...]) -> None:
    """Separators, formats and words are found from the values of the column."""
    assert value_of(proposed({"q": values}, asked("q", answer_type)), "q").settings == settings


def test_a_number_with_the_decimal_sign_before_three_digits_is_reviewed() -> None:
    """`45.000` among `60000.5` and `45,000` would be sent as 45: a person must say that it is."""
    value = value_of(proposed({"Salary": ["60000.5", "45,000", "45.000"]}, asked("salary", "decimal")), "salary")
    assert {setting.key: setting.value for setting in value.settings} == {"thousands": ","}
    assert value.review_reason == "'45.000' is read as 45: '.' is decimal in other cells"


def test_one_number_with_the_thousands_sign_before_two_digits_decides_nothing() -> None:
    """It is reviewed; its row is held back."""
    texts = [*(f"{number},800" for number in range(2, 30)), "4,50"]
    value = value_of(proposed({"Salary": texts}, asked("salary", "decimal")), "salary")
    assert {setting.key: setting.value for setting in value.settings} == {"thousands": ","}
    assert value.review_reason == "'4,50' has ',' too, which separates thousands in other cells"


def test_a_repeated_header_is_no_value(tmp_path: Path) -> None:
    """A form would be proposed for it, or a word for it counted as not understood."""
    path = tmp_path / "a.csv"
    path.write_text("E-mail,Salary\na@example.com,1000\nE-mail,Salary\nb@example.com,2000\n", "utf-8")
    sheet = open_sheet(path, SourceOptions())
    emails, salaries = sample_columns(sheet.columns, sheet.rows())
    assert (set(emails.texts), set(salaries.texts)) == ({"a@example.com", "b@example.com"}, {"1000", "2000"})


def test_whole_entries_in_one_cell_are_no_field_of_an_entry() -> None:
    """They would be sent as the name of a school."""
    cells = ["Example Uni, BSc, 10/2010 - 09/2013; Example School, 2010", "Example College | 2001 | MSc"]
    assert proposed({"School": cells}, asked("education", "long_text")).answers == ()
    (answer,) = proposed({"School": ["Example Uni", "Example College, Bursa"]}, asked("education", "long_text")).answers
    assert isinstance(answer.content, ProposedEntries)


CURRENCIES = [
    pytest.param("Salary (€)", "Salary", ["50000"], "€", "", id="the header names it"),
    pytest.param("Salary", "Salary (EUR)", ["50000 €"], "€", "", id="the question names it"),
    pytest.param("Salary", "Salary", ["50000 €"], "€", "the cells are in €, and only the number is sent", id="cells"),
    pytest.param("Зарплата (руб.)", "Зарплата", ["90000"], "руб", "", id="a word"),
    pytest.param("Salary", "Salary (USD)", ["50000 €"], None, "the question asks for USD, but the column is in €",
                 id="the question asks for another one"),
    pytest.param("Salary", "Salary", ["50000 €", "6 €", "$7"], "€", "some cells are in USD, not in €", id="two"),
    pytest.param("Salary", "Salary", ["50000"], None, "", id="none"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "text", "values", "currency", "review_reason"), CURRENCIES)
def test_the_currency_of_a_column_is_declared(
    header: str, text: str, values: list[str], currency: str | None, review_reason: str
) -> None:
    """Header, question or cells name it; where they differ, or only the cells do, a person must review it."""
    value = value_of(proposed({header: values}, asked("salary", "integer", text=text, type="salary")), "salary")
    assert {setting.key: setting.value for setting in value.settings}.get("currency") == currency
    assert value.review_reason == review_reason


def test_answers_that_would_be_read_as_empty_are_counted() -> None:
    """Unknown may be an option that the job post lacks: the cells of a choice that would be sent empty are named."""
    columns = {"Status": ["Unknown", "Looking", "Unknown"]}
    proposal = proposed(columns, asked("status", "single_choice", options=("Employed", "Looking")))
    more = "also in 2 cells of 'Status', where it may be an answer"
    assert f"  # please check: read as an empty cell in every column, {more}\n  missing:" in write_proposal(proposal)


def test_words_that_are_neither_yes_nor_no_are_named() -> None:
    """A person decides what `Ja (Klasse B)` means; until then its rows are held back."""
    value = value_of(proposed({"q": ["Ja (Klasse B)", "ja", "nein", "-"]}, asked("q", "yes_no")), "q")
    note = "1 cell is not yes or no ('Ja (Klasse B)'): list it under yes: [...], no: [...] or missing: [...]"
    assert (value.settings, value.note) == ((), note)


@pytest.mark.parametrize(
    ("answer_type", "note"),
    [
        ("date", "1 cell is not a date ('soon'): fix it, or write values: {soon: YYYY-MM-DD}, otherwise: keep"),
        ("integer", "1 cell is not a number ('soon'): fix it"),
        ("yes_no", "1 cell is not yes or no ('soon'): list it under yes: [...] or no: [...]"),
    ],
)
def test_a_required_answer_cannot_be_left_out(answer_type: str, note: str) -> None:
    """A note does not propose to read a text as an empty cell where the question must be answered."""
    cells = {"date": "31.05.2024", "integer": "5", "yes_no": "ja"}[answer_type]
    assert value_of(proposed({"q": [cells, cells, "soon"]}, asked("q", answer_type, required=True)), "q").note == note


def test_choices_get_a_table_with_their_options() -> None:
    """Known words have an option; a text that only resembles one is left to a person."""
    values = ["Senior", "Sr.", "Kıdemli", "Snior", "Guru"]
    table = value_of(proposed({"Level": values}, asked("level", "single_choice", options=LEVELS)), "level").table
    assert [(line.cell, line.target) for line in table] == [
        ("Sr.", "Senior"),
        ("Kıdemli", "Senior"),
        ("Snior", None),
        ("Guru", None),
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        pytest.param(LEVELS, "not senior", id="a negation"),
        pytest.param(LEVELS, "non-senior", id="a negation before a hyphen"),
        pytest.param(LEVELS, "noch nicht Senior", id="a German negation"),
        pytest.param(LEVELS, "Senior değil", id="a Turkish negation"),
        pytest.param(LEVELS, "Senior / Lead", id="a slash"),
        pytest.param(LEVELS, "Senior, Level 2", id="a comma"),
        pytest.param(LEVELS, "Junior and Senior", id="two options"),
        pytest.param(("Willing to travel", "Remote"), "No travel", id="no"),
        pytest.param(("Willing to travel", "Remote"), "isn't willing to travel", id="isn't"),
        pytest.param(("Not willing to travel", "Remote"), "willing to travel", id="only the option has a negation"),
        pytest.param(("Employed", "Student"), "Unemployed", id="a word with un- before it"),
        pytest.param(("Python", "Java"), "JavaScript", id="a longer word"),
        pytest.param(("masters_degree",), "Master's degree (not finished)", id="a remark with not"),
        pytest.param(("masters_degree",), "Master's degree (abgebrochen)", id="a remark that reverses it"),
        pytest.param(("Englisch", "Deutsch"), "Englisch (B2), Deutsch (C2)", id="two languages"),
        pytest.param(("Englisch", "Deutsch"), "Klingonisch", id="another language"),
        pytest.param(("Internship", "Full time"), "Intern", id="a shorter word"),
        pytest.param(("Bachelor", "Diploma"), "Bachelorstudium", id="a compound"),
        pytest.param(("1-3 years", "5+ years"), "4 years", id="another number"),
        pytest.param(("Programmer II", "Tester"), "Programmer I", id="another letter"),
        pytest.param(("> 5 years", "Tester"), "< 5 years", id="another sign"),
        pytest.param(("Willing to travel",), "willing to travell", id="a typing error"),
        pytest.param(("Junior", "Senior"), "-Senior", id="a sign in front"),
        pytest.param(("Junior", "Senior"), "Senior?", id="a question"),
        pytest.param(("Python", "Go"), "Python (-)", id="nothing in brackets"),
    ],
)
def test_a_text_that_only_resembles_an_option_has_none(options: tuple[str, ...], text: str) -> None:
    """It may say more, or the opposite: a person decides."""
    (line,) = _table_of([(text, 3)], options)
    assert line.target is None


def test_the_separator_of_choices_is_the_one_that_yields_options() -> None:
    """A comma inside an option does not split it."""
    options = ("Python", "Go", "C, C++")
    proposal = proposed({"Skills": ["Python; Go", "C, C++"]}, asked("skills", "multiple_choice", options=options))
    assert value_of(proposal, "skills").settings == (Setting("split", ";"),)


def test_missing_words_are_found_except_options_and_names() -> None:
    """`-` is an empty cell; `Yok` as an option is not, and `Null` in one column may be a name."""
    columns = {"City": ["-", "Izmir"], "Pet": ["Yok", "Kedi"], "Maiden name": ["Null"]}
    proposal = proposed(columns, asked("city"), asked("Pet", "single_choice", options=("Yok", "Kedi"), id=8))
    assert proposal.source.missing == ("-",)


@pytest.mark.parametrize(
    ("text", "target"),
    [("Bac+5", "masters_degree"), ("bac +3", "bachelors_degree"), ("Bac", "high_school_diploma"), ("Bac+1", None)],
)
def test_a_word_with_digits_is_another_word(text: str, target: str | None) -> None:
    """`Bac` is the end of school, `Bac+5` a master's degree."""
    options = ("high_school_diploma", "bachelors_degree", "masters_degree")
    (line,) = _table_of([(text, 3)], options)
    assert line.target == target


@pytest.mark.parametrize(
    ("texts", "targets"),
    [
        pytest.param("MFX", ["Male", "Female", None], id="English"),
        pytest.param("MH", [None, None], id="Spanish: mujer, hombre"),
        pytest.param("FN", [None, None], id="Hungarian: férfi, nő"),
        pytest.param("M", [None], id="alone"),
    ],
)
def test_letters_for_a_gender_mean_what_the_others_say(texts: str, targets: list[str | None]) -> None:
    """M is a man beside F, and a woman beside H."""
    lines = _table_of([(text, 1) for text in texts], ("Female", "Male"))
    assert [line.target for line in lines] == targets


@pytest.mark.parametrize(
    ("header", "text", "review_reason"),
    [
        ("Expected annual salary", "Expected monthly salary", "the question is by the month, the column by the year"),
        ("Jahresgehalt (Wunsch)", "Expected monthly salary", "the question is by the month, the column by the year"),
        ("Expected monthly salary", "Salary by month", ""),
        ("Expected annual salary", "Salary expectation", ""),
    ],
)
def test_a_unit_of_time_that_contradicts_the_question_is_reviewed(header: str, text: str, review_reason: str) -> None:
    """60,000 a year is no salary of a month."""
    value = value_of(proposed({header: ["60000"]}, asked("salary", "integer", text=text, type="salary")), "salary")
    assert value.review_reason == review_reason


REGIONS = [
    pytest.param(["0155 0000001", *(f"06 99 00 00 0{one}" for one in range(5))], None, id="one of another country"),
    pytest.param(["+1 202 555 0187", "202 555 0123"], "US", id="American with the country code"),
    pytest.param(["0555 000 11 22", "+49 171 0000001"], "TR", id="Turkish"),
    pytest.param(["07700 900001"], "GB", id="British"),
    pytest.param(["+44 7700 900001", "7700 900002"], "GB", id="most have the British country code"),
    pytest.param(["+7 912 555 00 02", "79125550003", "8 (912) 555-00-04"], "RU", id="numbers that fit a country code"),
    pytest.param(["+90 555 000 11 22", "0049 171 0000001"], None, id="every number has a country code"),
    pytest.param(["212 555 0100"], "US", id="American"),
    pytest.param(["9876543210", "8012345678", "7012345678"], "IN", id="Indian"),
    pytest.param(["8012345678", "7012345678"], None, id="Indian or American"),
    pytest.param(["+44 20 7946 0100", *(f"207946010{one}" for one in range(5))], "GB", id="not American by chance"),
    pytest.param(["+90 555 000 11 22", *(f"207946010{one}" for one in range(5))], None, id="of no known country"),
]


@pytest.mark.parametrize(
    ("phones", "region"),
    [(["030 1234567", "0171 1234567"], "DE"), (["0664 1234567", "0676 1234567"], "AT"), (["079 123 45 67"], "CH")],
)
def test_the_region_of_a_language_of_several_countries(phones: list[str], region: str) -> None:
    """German is spoken in Austria and Switzerland, too."""
    assert _region_of([(phone, 1) for phone in phones], "de") == region


@pytest.mark.parametrize(("phones", "region"), REGIONS)
def test_the_region_of_phones_without_plus(phones: list[str], region: str | None) -> None:
    """Numbers without a country code need a region."""
    assert proposed({"Mobile": phones}, asked("phone", type="phone")).region == region


def test_the_region_of_phones_by_the_language_of_the_headers() -> None:
    """A landline of Paris, 01 5x, has the form of no German mobile number."""
    phones = ["01 55 00 00 01", "06 99 00 00 02", "06 99 00 00 03"]
    columns = {"Prénom": ["Zoé"], "Nom": ["Test"], "Téléphone": phones, "Ville": ["Lille"]}
    assert proposed(columns, asked("phone", type="phone"), person=False).region == "FR"


def test_columns_with_fitting_values_are_named_before_similar_headers() -> None:
    """Where several columns hold phone numbers, they are named; an empty column with a similar header is not."""
    phones = ["+44 7700 900001", "+44 7700 900002"]
    proposal = proposed(
        {"Тел. 1": phones, "Тел. 2": phones, "Excell_м10": []}, asked("phone", type="phone", required=True)
    )
    assert [item.closest for _, item in proposal.open_questions] == [("Тел. 1", "Тел. 2")]
    assert [item.name for item in proposal.open_columns] == ["Тел. 1", "Тел. 2"]


def test_columns_with_the_same_name_are_named_by_letter() -> None:
    """A name cannot distinguish two columns with the same name."""
    columns = {"City ": ["Izmir"], "CITY": ["Ankara"]}
    assert value_of(proposed(columns, asked("city")), "city").names == ("=E",)


# --- French and Spanish ---------------------------------------------------------------------------


def test_spanish_full_names_have_two_last_names() -> None:
    """The rule is declared for the person to check, with the particles, also of names in capitals."""
    names = ("LUCÍA GARCÍA LÓPEZ", "MARÍA JOSÉ DE LA FUENTE PEÑA", "Juan Ruiz Soto")
    proposal = proposed({"Correo": EMAILS, "Nombre y apellidos": names, "CV": ("1", "2", "3")}, person=False)
    assert value_of(proposal, "last_name").review_reason == "the last two words are used as the last name"
    assert proposal.names == (Setting("surname", "last_two_words"), Setting("particles", ("de", "la")))


def test_spanish_last_names_in_two_columns() -> None:
    """The second last name is joined to the first; a mobile number comes before that of a landline."""
    columns = {
        "Correo electrónico": EMAILS, "NOMBRE": ("LUCÍA", "ADA"), "PRIMER APELLIDO": ("GARCÍA", "RUIZ"),
        "SEGUNDO APELLIDO": ("LÓPEZ", ""), "Documento CV": ("1", "2"), "Teléfono fijo": ("+34 910 000 000",),
        "Móvil": ("+34 600 000 000", "+34 600 000 001"), "¿Permiso de conducir?": ("Sí", "SI", "No"),
    }  # fmt: skip
    questions = (
        asked("phone", text="Teléfono", type="phone"),
        asked("permiso", "yes_no", text="¿Tienes permiso de conducir?", id=8),
    )
    proposal = proposed(columns, *questions, person=False)
    last = value_of(proposal, "last_name")
    assert (last.names, last.joined) == (("PRIMER APELLIDO", "SEGUNDO APELLIDO"), " ")
    assert value_of(proposal, "first_name").names == ("NOMBRE",)
    assert value_of(proposal, "phone").names == ("Móvil", "Teléfono fijo")
    assert value_of(proposal, "permiso").settings == (Setting("yes", ("Sí", "SI")),)
    assert open_points(proposal).to_review == 0


def test_french_columns() -> None:
    """`Nom` next to `Prénom` is the last name; numbered diplomas are entries; `aujourd'hui` is an open end."""
    columns = {
        "Adresse e-mail": EMAILS, "Nom": ("Lefèvre",), "Prénom": ("Chloé",), "Réf. CV": ("1",),
        "Permis B": ("Oui", "Non"),
        "Établissement 1": ("École Exemple",), "Diplôme 1": ("Licence",), "Début 1": ("01/09/2019",),
        "Fin 1": ("30/06/2021", "aujourd'hui"), "Établissement 2": ("Lycée Exemple",), "Diplôme 2": ("Baccalauréat",),
        "Début 2": ("01/09/2016",), "Fin 2": ("30/06/2019",),
    }  # fmt: skip
    questions = (asked("education", "long_text", text="Formation"), asked("p", "yes_no", text="Permis B ?", id=8))
    proposal = proposed(columns, *questions, person=False)
    assert value_of(proposal, "last_name").names == ("Nom",)
    assert value_of(proposal, "p").settings == (Setting("yes", ("Oui",)), Setting("no", ("Non",)))
    education = entries_of(proposal, "education")
    assert education.numbered
    names = ["Établissement {n}", "Diplôme {n}", "Début {n}", "Fin {n}"]
    assert [field.value.names[0] for field in education.fields] == names
    assert Setting("present", ("aujourd'hui",)) in education.fields[-1].value.settings


def test_portuguese_headers_are_known() -> None:
    """A Portuguese export needs no answer by hand for who a person is and how to reach them; notes are left alone."""
    columns = {
        "Nome completo": ("Ana Sousa", "Rui Costa"), "Correio eletrónico": EMAILS, "Telemóvel": ("+351 910 000 000",),
        "Currículo": ("1", "2"), "Pretensão salarial": ("1200", "1500"), "Observações": ("Liga amanhã", "Bom"),
    }  # fmt: skip
    questions = (
        asked("phone", text="Phone", type="phone"),
        asked("pay", "decimal", text="Salary", type="salary", id=8),
    )
    proposal = proposed(columns, *questions, person=False)
    found = {key: value_of(proposal, key).names for key in ("email", "first_name", "cv", "phone", "pay")}
    assert found == {
        "email": ("Correio eletrónico",), "first_name": ("Nome completo",), "cv": ("Currículo",),
        "phone": ("Telemóvel",), "pay": ("Pretensão salarial",),
    }  # fmt: skip
