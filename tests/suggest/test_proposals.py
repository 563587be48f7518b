"""What is proposed for which columns, what is called certain, and what is left open."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from importer.models import Question
from importer.suggest import OtherSheet, Proposal, SourceFacts, open_points, propose, write_proposal
from importer.suggest.proposal import ProposedChild, ProposedEntries, ProposedValue, Setting
from tests.suggest.given import EMAILS, JOB_POST, POOL, asked, proposed, sampled

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
    pytest.param(asked("salary", "integer"), {"Maaş beklentisi": ["45000"]}, "salary", "", id="a word for it"),
    pytest.param(
        asked("start", "date", text="Available from"), {"Available date?": ["soon", "end"]}, "start",
        "only 0% of the values look like a date", id="values of another kind",
    ),
    pytest.param(
        asked("shift", text="Preferred shift"), {"Prefered shift": ["Night"]}, "shift", "the header is similar",
        id="like it",
    ),
    pytest.param(
        asked("level", "single_choice", options=LEVELS), {"How good?": ["Senior", "Mid"]}, "level",
        "only the values match, not the header", id="values only",
    ),
    pytest.param(
        asked("heard", text="How did you hear about us?"), {"Source": ["Fair"]}, "heard",
        "'Source' is similar, but not identical", id="close",
    ),
    pytest.param(
        asked("city"), {"Town": ["Izmir"], "Şehir": ["Ankara"]}, "city",
        "'Şehir' (F) has the same meaning", id="two columns",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "columns", "name", "review_reason"), JUDGED)
def test_a_match_is_certain_or_says_why_not(
    question: Question, columns: dict[str, Sequence[str]], name: str, review_reason: str
) -> None:
    """The surer the evidence the quieter the proposal; each review_reason has its reason."""
    found = value_of(proposed(columns, question), name)
    assert (found.names[0], found.review_reason) == (next(iter(columns)), review_reason)


LEFT_ALONE = [
    pytest.param({"Acil telefon": ["0555 000 11 22"]}, id="emergency phone"),
    pytest.param({"Reference phone": ["0555 000 11 22"]}, id="phone of a referee"),
    pytest.param({"Fax": ["0555 000 11 22"]}, id="fax"),
    pytest.param({"Bölüm": ["Satış"]}, id="department"),
    pytest.param({"Created": ["2025-01-01"]}, id="time stamp"),
    pytest.param({"Company e-mail of manager": ["boss@example.com"]}, id="manager"),
]


@pytest.mark.parametrize("columns", LEFT_ALONE)
def test_what_looks_alike_and_is_not_is_left_open(columns: dict[str, Sequence[str]]) -> None:
    """A column about somebody or something else is never proposed for its likeness."""
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
def test_names_are_found_by_what_stands_beside_them(columns: dict[str, Sequence[str]], names: tuple[str, str]) -> None:
    """`Name` is a first, a last or a full name, by its neighbours and its values."""
    proposal = proposed(columns, person=False, target=POOL)
    found = [value_of(proposal, name) for name in ("first_name", "last_name")]
    shown = tuple(" ".join([value.names[0], *(str(setting.value) for setting in value.settings)]) for value in found)
    assert shown == names
    assert all(value.review_reason == "" for value in found)


def test_a_surname_that_seems_to_stand_first_is_said() -> None:
    """The last word would be taken for the last name, so that a person must look."""
    values = ["YILMAZ Ayşe", "KAYA Berk", "Cem Ak", "Deniz Er"]
    proposal = proposed({"Ad Soyad": values}, person=False, target=POOL)
    review_reason = "the last name seems to come first, but the last word is used"
    assert value_of(proposal, "last_name").review_reason == review_reason


@pytest.mark.parametrize("values", [["YILMAZ Ayşe", "KAYA ÇELİK Berk"], ["Ayşe YILMAZ", "Berk KAYA"]])
def test_last_names_in_capitals_are_told_by_that(values: list[str]) -> None:
    """Where the words in capitals are the last name, the mapping says so, and nothing is in review_reason."""
    proposal = proposed({"Ad Soyad": values}, person=False, target=POOL)
    assert value_of(proposal, "last_name").review_reason == ""
    assert "  names: {surname: capitals}   # which part of a full name is the last name" in write_proposal(proposal)


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


def test_a_column_has_one_target() -> None:
    """A city that has its own question is no part of the address as well."""
    columns = {"City": ["Izmir"], "Street": ["Örnek 5"], "Country": ["Türkiye"]}
    proposal = proposed(columns, asked("address", type="address"), asked("city", id=8))
    assert value_of(proposal, "address").names == ("Street", "Country")
    assert value_of(proposal, "city").names == ("City",)


# --- entries ------------------------------------------------------------------------------------


def test_numbered_groups_are_found_with_their_kind_by_what_they_follow() -> None:
    """`From 1` after `School 1` is of education, after `Company 1` of experience."""
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


def test_a_first_group_without_a_number_is_of_the_group() -> None:
    """`school`, `school2`: the first is counted too."""
    proposal = proposed({"school": ["X"], "school2": ["Y"]}, asked("education", "long_text"))
    education = entries_of(proposal, "education")
    assert (education.fields[0].value.names, education.first_unnumbered) == (("school{n}",), True)


def test_a_numbered_name_that_two_columns_have_is_left_open() -> None:
    """`From 1` of schools and `From 1` of jobs cannot be told apart by a mapping."""
    columns = {"School 1": ["X"], "From 1": ["2014"], "Company 1": ["Y"], "FROM 1": ["2019"]}
    proposal = proposed(columns, asked("education", "long_text"), asked("experience", "long_text", id=8))
    assert [[field.name for field in entries_of(proposal, key).fields] for key in ("education", "experience")] == [
        ["school_name"],
        ["company_name"],
    ]
    assert [item.name for item in proposal.open_columns] == ["=F", "=H"]


def test_columns_without_a_number_are_one_entry() -> None:
    """`University` and `Degree` are the one school that the row has."""
    proposal = proposed({"University": ["X"], "Degree": ["BSc"]}, asked("education", "long_text"))
    education = entries_of(proposal, "education")
    assert [(field.name, field.value.names) for field in education.fields] == [
        ("school_name", ("University",)),
        ("degree", ("Degree",)),
    ]
    assert not education.numbered


def test_ranges_in_one_cell_are_start_and_end() -> None:
    """`Sep 2021 - Present` is a start and an open end; months of another language name it."""
    columns = {"Şirket": ["X", "Y"], "Dönem": ["Eylül 2021 - Halen", "Mart 2019 – Ağustos 2021"]}
    fields = entries_of(proposed(columns, asked("experience", "long_text")), "experience").fields
    assert [(field.name, field.value.names, field.value.settings) for field in fields[1:]] == [
        (
            name,
            ("Dönem",),
            (
                Setting("part", part),
                Setting("dates", ("%b %Y", "%B %Y")),
                Setting("months", ("tr",)),
                Setting("missing_day", edge),
                *more,
            ),
        )
        for name, part, edge, more in (
            ("start_date", "start", "first", ()),
            ("end_date", "end", "last", (Setting("present", ("Halen",)),)),
        )
    ]


def test_a_lone_duration_is_no_range() -> None:
    """`3 years` says neither when it began nor when it ended, and stays open."""
    proposal = proposed({"Company": ["X"], "Duration": ["3 years"]}, asked("experience", "long_text"))
    assert [field.name for field in entries_of(proposal, "experience").fields] == ["company_name"]
    assert [item.name for item in proposal.open_columns] == ["Duration"]


def test_entries_on_another_sheet_are_joined_on_its_key() -> None:
    """A sheet with schools and a column whose values are the ids of this sheet belongs to it."""
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


# --- how values are read ------------------------------------------------------------------------

READ = [
    pytest.param("integer", ["45.000", "1.250.000"], (Setting("thousands", "."),), id="thousands"),
    pytest.param("decimal", ["2,5", "4"], (Setting("decimal", ","),), id="decimal comma"),
    pytest.param(
        "decimal", ["1.250,50", "4"], (Setting("decimal", ","), Setting("thousands", ".")), id="both signs",
    ),
    pytest.param("decimal", ["1,250.50", "4"], (Setting("thousands", ","),), id="English signs"),
    pytest.param("date", ["31.12.2020"], (Setting("dates", ("%d.%m.%Y",)),), id="date"),
    pytest.param(
        "yes_no", ["Var", "Yok", "-"],
        (Setting("yes", ("Var",)), Setting("no", ("Yok",)), Setting("missing", ("-",))), id="yok is no, not missing",
    ),
    pytest.param("yes_no", ["Evet", "no"], (), id="known words"),
]  # fmt: skip


@pytest.mark.parametrize(("answer_type", "values", "settings"), READ)
def test_values_say_how_they_are_read(answer_type: str, values: list[str], settings: tuple[Setting, ...]) -> None:
    """Signs, formats and words are found from the values of the column."""
    assert value_of(proposed({"q": values}, asked("q", answer_type)), "q").settings == settings


def test_choices_get_a_table_with_the_nearest_option() -> None:
    """Known words are certain, likeness is not, and what nothing is near to has no target."""
    values = ["Senior", "Sr.", "Kıdemli", "Snior", "Guru"]
    table = value_of(proposed({"Level": values}, asked("level", "single_choice", options=LEVELS)), "level").table
    assert [(line.cell, line.target, line.certain) for line in table] == [
        ("Sr.", "Senior", True),
        ("Kıdemli", "Senior", True),
        ("Snior", "Senior", True),
        ("Guru", None, False),
    ]


def test_several_choices_are_parted_by_the_sign_that_yields_options() -> None:
    """A comma inside an option does not part it."""
    options = ("Python", "Go", "C, C++")
    proposal = proposed({"Skills": ["Python; Go", "C, C++"]}, asked("skills", "multiple_choice", options=options))
    assert value_of(proposal, "skills").settings == (Setting("split", ";"),)


def test_missing_words_are_found_and_options_and_names_are_none() -> None:
    """`-` is an empty cell; `Yok` as an option is not, and `Null` in one column may be a name."""
    columns = {"City": ["-", "Izmir"], "Pet": ["Yok", "Kedi"], "Maiden name": ["Null"]}
    proposal = proposed(columns, asked("city"), asked("Pet", "single_choice", options=("Yok", "Kedi"), id=8))
    assert proposal.source.missing == ("-",)


REGIONS = [
    pytest.param(["0555 000 11 22", "+49 171 0000001"], "TR", id="Turkish"),
    pytest.param(["07700 900001"], "GB", id="British"),
    pytest.param(["+90 555 000 11 22", "0049 171 0000001"], None, id="every number says its own"),
]


@pytest.mark.parametrize(("phones", "region"), REGIONS)
def test_the_region_of_phones_without_plus(phones: list[str], region: str | None) -> None:
    """Numbers that do not say their country need one."""
    assert proposed({"Mobile": phones}, asked("phone", type="phone")).region == region


def test_a_column_without_its_own_name_goes_by_its_letter() -> None:
    """Two columns of one name cannot be told apart by it."""
    columns = {"City ": ["Izmir"], "CITY": ["Ankara"]}
    assert value_of(proposed(columns, asked("city")), "city").names == ("=E",)
