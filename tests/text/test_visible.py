"""What a text of somebody else does to a terminal: nothing."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from importer.text.normalize import visible

SHOWN = [
    pytest.param(
        "Ünal Straße 北京 e\u0301 a\u00a0b\tc\nd 🎓", "Ünal Straße 北京 e\u0301 a\u00a0b\tc\nd 🎓", id="a text"
    ),
    pytest.param("1,00\u202e0", r"1,00\u202e0", id="turned around"),
    pytest.param("a\u2066b\u2069\u061cc", r"a\u2066b\u2069\u061cc", id="other marks of direction"),
    pytest.param("\x1b[31m\x07\x9b\x7f\r", r"\u001b[31m\u0007\u009b\u007f\u000d", id="controls"),
    pytest.param("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\u00ad", id="signs that nobody sees"),
    pytest.param("a\U000e0041\ud83d\u2028b", r"a\udb40\udc41\ud83d\u2028b", id="tags, half letters, line separators"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_a_text_is_shown_as_it_is_and_steers_nothing(text: str, shown: str) -> None:
    """Letters of every language stay; what steers is an escape, which in JSON says the same character."""
    assert visible(text) == shown
    assert visible(shown) == shown
    assert json.loads(f'"{visible(text)}"', strict=False) == text


def test_no_character_that_steers_is_let_through() -> None:
    """Of all that Unicode has."""
    steering = [chr(number) for number in range(sys.maxunicode + 1)]
    steering = [sign for sign in steering if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert [sign for sign in steering if visible(sign) == sign] == ["\t", "\n"]
