"""The fast path for plain addresses agrees with the library."""

from __future__ import annotations

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import given
from hypothesis import strategies as st

from importer.text.normalize import pieces_with
from importer.transform.texts import InvalidValue, read_email

_pieces = st.lists(st.sampled_from(["a", "Z9", "_", "+x", "-", ".", "..", "ü", "@", " ", '"']), max_size=5).map("".join)
_domains = st.sampled_from(
    ["Example.COM", "example.org.", "exa_mple.com", "-a.example", "a..example", "xn--rnek-5qa.com", "test", "x.test",
     "1.2.3.4", "example", "örnek.com", "xn--zzzzz.com", "a.b-", "EXAMPLE.example"]
)  # fmt: skip


@given(st.one_of(st.emails(), st.tuples(_pieces, _domains).map("@".join)))
def test_the_fast_path_agrees_with_the_library(address: str) -> None:
    """An address is read as by the library, and invalid where the library rejects it."""
    read = read_email(address, False)
    try:
        expected = validate_email(address, check_deliverability=False, strict=True).normalized
    except EmailNotValidError:
        assert isinstance(read, InvalidValue)
    else:
        assert read == expected if not address.startswith("'") else isinstance(read, InvalidValue)


def test_an_apostrophe_in_front_is_of_a_spreadsheet_program() -> None:
    """It marks a text there, and is no part of the address; inside it is."""
    refused = read_email("'ada@example.com", False)
    assert isinstance(refused, InvalidValue)
    assert refused.message == "''ada@example.com' is not a valid e-mail address: it begins with an apostrophe"
    assert read_email("o'neil@example.com", False) == "o'neil@example.com"


@pytest.mark.parametrize("cell", ["ada,nur@example.com", "cem kaya@example.com", "Ada: ada@example.com"])
def test_an_address_that_may_be_cut_is_not_picked(cell: str) -> None:
    """Beside other words, outside brackets, a part of an address may be missing: nothing is picked, and it is told."""
    assert pieces_with("@", cell) is None
