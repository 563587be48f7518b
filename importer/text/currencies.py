"""Currencies by their signs, codes and words, and the one that a number format shows."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from importer.text.normalize import normalize

_SPELLINGS: Final = (
    ("EUR", "€", "euro"), ("USD", "$", "us$"), ("GBP", "£"), ("TRY", "tl", "₺"), ("CHF", "fr"), ("PLN", "zł"),
    ("RUB", "₽", "руб"), ("INR", "₹"), ("JPY", "¥"),
)  # fmt: skip
_CODES: Final = {normalize(one): spellings[0] for spellings in _SPELLINGS for one in spellings}
_OF_SEVERAL: Final = {"$": re.compile(r".*(?:\$|D)|MXN"), "kr": re.compile("SEK|NOK|DKK|ISK"), "¥": re.compile("CNY")}
_SHOWN: Final = re.compile(r'\[\$([^\]-]*)[^\]]*\]|"([^"]*)"|\\(.)|\[[^\]]*\]|_.|\*.|(.)', re.DOTALL)


def currency_code(spelling: str) -> str | None:
    """The code of a currency; None if the spelling is not known."""
    return _CODES.get(normalize(spelling.removesuffix(".")))


def is_same_currency(one: str, other: str) -> bool:
    """Whether two spellings may mean one currency: `€` and `EUR`, `$` and `CAD`."""
    one, other = one.removesuffix("."), other.removesuffix(".")
    if normalize(one) == normalize(other) or (currency_code(one) or one) == (currency_code(other) or other):
        return True
    pairs = ((one, other.upper()), (other, one.upper()))
    return any(each in _OF_SEVERAL and _OF_SEVERAL[each].fullmatch(code) is not None for each, code in pairs)


@lru_cache(maxsize=4096)
def currency_of_format(number_format: str) -> str:
    """The currency that a number format shows, without blanks; "" if it shows none.

    >>> currency_of_format('#,##0.00 "€"'), currency_of_format("[$CHF-807] 0.00"), currency_of_format("0.00")
    ('€', 'CHF', '')
    """
    for marked, quoted, escaped, plain in _SHOWN.findall(number_format):
        text = "".join((marked or quoted or escaped or plain).split())
        if text and (marked or currency_code(text) or any(unicodedata.category(each) == "Sc" for each in text)):
            return text
    return ""
