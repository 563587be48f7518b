"""The region that the phone numbers of a file are most likely of, where they are written without +."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_NO_DIGIT = re.compile(r"\D+")
_FLOAT = re.compile(r"\.0$")
_OF_NUMBER = {"TR": re.compile(r"05\d{9}"), "GB": re.compile(r"07\d{9}"), "DE": re.compile(r"01[5-7]\d{7,10}")}
_OF_LANGUAGE = {"tr": "TR", "de": "DE"}


def phone_region(values: Iterable[tuple[str, int]], language: str) -> str | None:
    """The region as two letters, None where every number says its own or nothing tells.

    language: that of most headers.
    """
    votes = Counter[str]()
    for text, count in values:
        digits = _NO_DIGIT.sub("", _FLOAT.sub("", text))
        if len(digits) < 7 or text.startswith(("+", "(+", "00")):
            continue
        region = next((name for name, form in _OF_NUMBER.items() if form.fullmatch(digits)), None)
        region = region or _OF_LANGUAGE.get(language) or ("US" if re.fullmatch(r"[2-9]\d{9}", digits) else None)
        if region is not None:
            votes[region] += count
    # 5XX XXX XX XX is a Turkish mobile number without its zero where others of the file have it.
    return "TR" if votes["TR"] else votes.most_common(1)[0][0] if votes.total() else None
