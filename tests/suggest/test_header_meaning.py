"""The meaning of a header from its single words, if it is not a phrase in the table of header words."""

from __future__ import annotations

import pytest

from importer.mapping import EntryKind
from importer.suggest.header_words import is_last_name_first, likely_concept, likely_field, remark_in
from tests.suggest.builders import asked, proposed
from tests.suggest.test_proposals import entries_of, value_of

CONCEPTS = [
    pytest.param("Name des Bewerbers", "bare_name", id="neutral words"),
    pytest.param("Kursiyer adı soyadı", "full_name", id="owner"),
    pytest.param("Tel. (mobil) Nummer", "phone", id="brackets"),
    pytest.param("Geb.-Datum", "birth_date", id="abbreviations"),
    pytest.param("Haben Sie einen Führerschein?", "driving_licence", id="a question"),
    pytest.param("candidate_location_city", "city", id="a path"),
    pytest.param("Company phone", None, id="another subject"),
    pytest.param("Emergency mobile number", None, id="another person"),
    pytest.param("Frobnication city", None, id="unknown word"),
]


@pytest.mark.parametrize(("header", "concept"), CONCEPTS)
def test_all_words_of_a_header_must_agree(header: str, concept: str | None) -> None:
    """Synonyms, compounds and units are known; a word that is unknown or about something else leaves it open."""
    assert likely_concept(header) == concept


REMARKS = [
    *(
        pytest.param(header, remark, id=header)
        for header, remark in (
            ("Notice period (months)", "months"),
            ("Phone (emergency)", "emergency"),
            ("Availability (weeks)", "weeks"),
            ("Gehaltswunsch (brutto/Jahr)", "brutto/Jahr"),
            ("Salary (k EUR)", "k EUR"),
            ("Salary (EUR)", ""),
            ("E-mail [required]", ""),
            ("E-posta (E-mail)", ""),
            ("Phone (GSM)", ""),
            ("Doğum tarihi (gün.ay.yıl)", ""),
            ("Notice (weeks)", ""),
        )
    )
]


@pytest.mark.parametrize(("header", "remark"), REMARKS)
def test_words_in_brackets_may_make_a_header_something_else(header: str, remark: str) -> None:
    """Three months are not three weeks; a format, a currency, or a phrase of the table says nothing else."""
    assert remark_in(header) == remark


def test_the_last_name_comes_first_in_words_or_in_brackets() -> None:
    """A hurried person would send every name the wrong way round."""
    headers = ("Nachname Vorname", "Name (Last First)", "Full name [Last name, First name]", "Name (First Last)")
    assert [is_last_name_first(header) for header in headers] == [True, True, True, False]


def test_a_remark_in_a_header_is_reviewed_and_that_of_another_person_not_proposed() -> None:
    """Both are found by the words before the brackets; a blank `Mobil` must not take the emergency contact's number."""
    questions = (asked("notice_weeks", "decimal", text="Notice period"), asked("phone", type="phone", id=8))
    columns = {"Notice period (months)": ["3"], "Mobil": ["0555 000 11 22"], "Phone (emergency)": ["0555 000 11 33"]}
    proposal = proposed(columns, *questions)
    assert value_of(proposal, "notice_weeks").review_reason == "'(months)' may make it something else"
    assert [column.name for column in value_of(proposal, "phone").taken] == ["Mobil"]


FIELDS = [
    pytest.param("Work History 1 - Company", (EntryKind.EXPERIENCE, "company_name"), id="kind before the field"),
    pytest.param("Höchster Abschluss", (EntryKind.EDUCATION, "degree"), id="highest of several"),
    pytest.param("Last Worked Company", (EntryKind.EXPERIENCE, "company_name"), id="a participle"),
    pytest.param("Start date", None, id="either kind"),
    pytest.param("School address", None, id="not a field of an entry"),
]


@pytest.mark.parametrize(("header", "field"), FIELDS)
def test_a_field_of_an_entry_is_found_with_its_kind(header: str, field: tuple[EntryKind, str] | None) -> None:
    """Other words may only name the kind of the entry."""
    assert likely_field(header) == field


POSITIONS = [
    pytest.param(("Current Company", "Current Role"), "", id="both are current"),
    pytest.param(("Company", "Title"), "", id="side by side"),
    pytest.param(
        ("Current Company", "Job Role"), "it may be the position that was applied for", id="different wording"
    ),
]


@pytest.mark.parametrize(("columns", "review_reason"), POSITIONS)
def test_a_position_that_may_be_applied_for_is_marked_for_review(columns: tuple[str, str], review_reason: str) -> None:
    """Exports contain the position that was applied for far more often than the last job title."""
    proposal = proposed(dict.fromkeys(columns, ("X", "Y")), asked("experience", "long_text"))
    assert entries_of(proposal, "experience").fields[1].value.review_reason == review_reason
