"""Which texts are equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.text.normalize import normalize, normalize_name


@pytest.mark.parametrize("written", ["İstanbul", "istanbul", "ISTANBUL", "ıstanbul", "İSTANBUL", " i\u0307stanbul"])
def test_dots_of_i_do_not_matter(written: str) -> None:
    """A Turkish i is equal with and without its dot, in any case."""
    assert normalize(written) == "istanbul"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("FiRstNaMe  ", "firstname", id="case and padding"),
        pytest.param("First\u00a0Name", "first  name", id="non-breaking and double space"),
        pytest.param("\ufeffName", "name", id="byte order mark"),
        pytest.param("Straße", "STRASSE", id="sharp s"),
        pytest.param("S\u0327ehir", "Şehir", id="composed and decomposed"),
    ],
)
def test_texts_that_are_equal(one: str, other: str) -> None:
    """Case, spacing, invisible characters and the encoding of a letter do not matter."""
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("C", "C++", id="plus"),
        pytest.param("C#", "C", id="sharp"),
        pytest.param("Şirket", "Sirket", id="cedilla"),
        pytest.param("o", "ö", id="umlaut"),
    ],
)
def test_texts_that_differ(one: str, other: str) -> None:
    """Punctuation and letters with marks make texts different."""
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize("written", ["E-posta", "e posta", "Eposta", "E_POSTA:", "e.posta"])
def test_punctuation_of_a_column_name_does_not_matter(written: str) -> None:
    """A column is found whatever the punctuation of its name."""
    assert normalize_name(written) == "eposta"


@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    """A normalized text stays as it is when it is normalized again."""
    assert normalize(normalize(text)) == normalize(text)
