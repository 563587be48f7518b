"""The table of header words, and how a header is looked up in it."""

from __future__ import annotations

from collections import defaultdict

import pytest

from importer.suggest.header_words import CONCEPTS, ENTRY_PHRASES, FALLBACK_CONCEPTS, NOT_IMPORTED, concept_of, key_of


def test_no_header_word_means_two_things() -> None:
    """A word with two meanings would make a wrong proposal that is called certain."""
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


def test_what_stands_in_is_in_the_table() -> None:
    """No rule of the table is about a word that nobody can find."""
    assert {*FALLBACK_CONCEPTS, *FALLBACK_CONCEPTS.values()} <= set(CONCEPTS)


HEADERS = [
    pytest.param("E-MAIL", "email", id="capitals"),
    pytest.param("e posta", "email", id="spaces"),
    pytest.param("FiRstNaMe  ", "first_name", id="mangled"),
    pytest.param("TELEFON NUMARANIZ", "phone", id="Turkish capitals and ending"),
    pytest.param("Adınız Soyadınız *", "full_name", id="asterisk"),
    pytest.param("Candidate e-mail", "email", id="a word that says nothing"),
    pytest.param("Expected salary (TRY)", "salary", id="brackets"),
    pytest.param("Name Surname / Ad Soyad", "full_name", id="two languages"),
    pytest.param("Straße", "street", id="German s"),
    pytest.param("Strasse", "street", id="German s as ss"),
    pytest.param("Email / Phone", None, id="two things"),
    pytest.param("Acil telefon", None, id="somebody else's phone"),
    pytest.param("Bölüm", None, id="department or field of study"),
    pytest.param("", None, id="blank"),
]


@pytest.mark.parametrize(("header", "concept"), HEADERS)
def test_a_header_is_known_however_it_is_written(header: str, concept: str | None) -> None:
    """Case, spaces, punctuation, accents and possessive endings do not matter; two meanings are none."""
    assert concept_of(header) == concept
