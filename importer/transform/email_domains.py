"""E-mail domains that differ in one letter from another one."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_COMMON: Final = (
    *("gmail.com", "googlemail.com", "hotmail.com", "hotmail.co.uk", "outlook.com", "yahoo.com", "yahoo.co.uk"),
    *("icloud.com", "protonmail.com", "yandex.com", "yandex.ru"),
)
# Other domains that exist, and that one edit makes of a common one.
EXISTING: Final = frozenset(
    (*_COMMON, "mail.com", "email.com", "ymail.com", "gail.com", "cloud.com", "yandex.by", "hotmail.co", "yahoo.ca")
)
_LONG_LABEL: Final = 5  # characters; shorter names that differ in one letter may both be right


@lru_cache(maxsize=4096)
def common_domain(domain: str) -> str | None:
    """The common domain that this one was probably meant to be."""
    if domain in EXISTING:
        return None
    return next((common for common in _COMMON if _is_one_edit(domain, common)), None)


def is_other_spelling(domain: str, frequent: str) -> bool:
    """Whether one letter differs, in a long part of the domain before its ending."""
    labels, others = domain.split("."), frequent.split(".")
    if len(labels) != len(others) or labels[-1] != others[-1]:
        return False
    differing = [(label, other) for label, other in zip(labels, others, strict=True) if label != other]
    return len(differing) == 1 and len(differing[0][1]) >= _LONG_LABEL and _is_one_edit(*differing[0])


def _is_one_edit(text: str, other: str) -> bool:
    """Whether one letter is added, left out or replaced, or two neighbors are swapped; a digit distinguishes."""
    if abs(len(text) - len(other)) > 1 or text == other:
        return False
    start = 0
    while start < min(len(text), len(other)) and text[start] == other[start]:
        start += 1
    text, other = text[start:], other[start:]
    while text and other and text[-1] == other[-1]:
        text, other = text[:-1], other[:-1]
    is_edit = max(len(text), len(other)) == 1 or (len(text) == len(other) == 2 and text == other[::-1])
    return is_edit and (text + other).isalpha()
