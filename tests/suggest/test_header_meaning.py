"""What a header means by its single words, where the table of header words has no phrase for it."""

from __future__ import annotations

import pytest

from importer.mapping import EntryKind
from importer.suggest.header_words import likely_concept, likely_field
from tests.suggest.given import asked, proposed
from tests.suggest.test_proposals import entries_of

CONCEPTS = [
    pytest.param("Bewerbername", "bare_name", id="a German compound"),
    pytest.param("Name des Bewerbers", "bare_name", id="words that say nothing"),
    pytest.param("Kursiyer adı soyadı", "full_name", id="whose it is"),
    pytest.param("Tel. (mobil) Nummer", "phone", id="brackets"),
    pytest.param("Geb.-Datum", "birth_date", id="abbreviations"),
    pytest.param("Haben Sie einen Führerschein?", "driving_licence", id="a question"),
    pytest.param("candidate_location_city", "city", id="a path"),
    pytest.param("Company phone", None, id="a word that is of something else"),
    pytest.param("Emergency mobile number", None, id="somebody else's"),
    pytest.param("Frobnication city", None, id="a word that nobody knows"),
]


@pytest.mark.parametrize(("header", "concept"), CONCEPTS)
def test_all_words_of_a_header_must_agree(header: str, concept: str | None) -> None:
    """Synonyms, compounds and units are understood; one word that is unknown or of something else leaves it open."""
    assert likely_concept(header) == concept


FIELDS = [
    pytest.param("Work History 1 - Company", (EntryKind.EXPERIENCE, "company_name"), id="kind before the field"),
    pytest.param("Höchster Abschluss", (EntryKind.EDUCATION, "degree"), id="which of several"),
    pytest.param("Last Worked Company", (EntryKind.EXPERIENCE, "company_name"), id="a participle"),
    pytest.param("Start date", None, id="of either kind"),
    pytest.param("School address", None, id="no field of an entry"),
]


@pytest.mark.parametrize(("header", "field"), FIELDS)
def test_a_field_of_an_entry_is_found_with_its_kind(header: str, field: tuple[EntryKind, str] | None) -> None:
    """Words beside the field may only say of which kind of entry it is."""
    assert likely_field(header) == field


POSITIONS = [
    pytest.param(("Current Company", "Current Role"), "", id="both are held"),
    pytest.param(("Company", "Title"), "", id="side by side"),
    pytest.param(("Current Company", "Job Role"), "it may be the position that was applied for", id="said otherwise"),
]


@pytest.mark.parametrize(("columns", "review_reason"), POSITIONS)
def test_a_position_that_may_be_applied_for_is_doubted(columns: tuple[str, str], review_reason: str) -> None:
    """Exports hold the position that was applied for far more often than that of the last employer."""
    proposal = proposed(dict.fromkeys(columns, ("X", "Y")), asked("experience", "long_text"))
    assert entries_of(proposal, "experience").fields[1].value.review_reason == review_reason
