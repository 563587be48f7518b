"""The table of header words, and looking up headers in it."""

from __future__ import annotations

from collections import defaultdict

import pytest

from importer.suggest.header_words import CONCEPTS, ENTRY_PHRASES, FALLBACK_CONCEPTS, NOT_IMPORTED, concept_of, key_of


def test_no_header_word_has_two_meanings() -> None:
    """A word with two meanings would lead to a wrong match that counts as certain."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for table in (CONCEPTS, NOT_IMPORTED):
        for concept, by_language in table.items():
            for word in (word for words in by_language.values() for word in words):
                meanings[key_of(word)].add(concept)
    for kind, fields in ENTRY_PHRASES.items():
        for field, by_language in fields.items():
            for word in (word for words in by_language.values() for word in words):
                meanings[f"entries {key_of(word)}"].add(f"{kind}.{field}")
    assert {word: found for word, found in meanings.items() if len(found) > 1 or not word} == {}


def test_fallback_concepts_are_in_the_table() -> None:
    """Every fallback is a concept of the table."""
    assert {*FALLBACK_CONCEPTS, *FALLBACK_CONCEPTS.values()} <= set(CONCEPTS)


HEADERS = [
    pytest.param("E-MAIL", "email", id="capitals"),
    pytest.param("e posta", "email", id="spaces"),
    pytest.param("FiRstNaMe  ", "first_name", id="mixed case"),
    pytest.param("TELEFON NUMARANIZ", "phone", id="Turkish capitals and ending"),
    pytest.param("Adınız Soyadınız *", "full_name", id="asterisk"),
    pytest.param("Candidate e-mail", "email", id="neutral word"),
    pytest.param("Expected salary (TRY)", "salary", id="brackets"),
    pytest.param("Name Surname / Ad Soyad", "full_name", id="two languages"),
    pytest.param("Straße", "street", id="German s"),
    pytest.param("Strasse", "street", id="German s as ss"),
    pytest.param("Email / Phone", None, id="two meanings"),
    pytest.param("Acil telefon", None, id="phone of another person"),
    pytest.param("Bölüm", None, id="department or field of study"),
    pytest.param("", None, id="blank"),
]


@pytest.mark.parametrize(("header", "concept"), HEADERS)
def test_spelling_does_not_matter(header: str, concept: str | None) -> None:
    """Case, spaces, punctuation, accents and possessive endings do not matter; two meanings are not a match."""
    assert concept_of(header) == concept
