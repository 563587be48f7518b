"""What programs leave in texts: letters read in a wrong encoding, their own codes, words for an empty cell."""

from __future__ import annotations

import html
import re
from typing import Final

# The letters and marks of Europe in UTF-8, each byte as the character with its number; and those of all languages.
_EUROPE: Final = "[\xc2-\xc5\xce-\xd1][\x80-\xbf]|\xc8[\x98-\x9b]|\xe2(?:\x80[\x90-\xba]|\x82\xac|\x84\xa2)"
_ELSEWHERE: Final = (
    "[\xd6-\xdb][\x80-\xbf]|\xe0[\xa4-\xb9][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf]|"
    "[\xe3-\xec][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
)
_FIRST_ELSEWHERE: Final = "\u0590"  # Hebrew
_OF_EUROPE: Final = re.compile(f"(?:{_EUROPE})+")
_OF_ALL: Final = re.compile(f"(?:{_EUROPE}|{_ELSEWHERE})+")


def _bytes_in(codec: str) -> dict[int, str]:
    """Of each character of an encoding, the one with the number of its byte; other ones with such numbers are none."""
    read = {bytes([byte]).decode(codec, "ignore") or chr(byte): chr(byte) for byte in range(0x80, 0x100)}
    return dict.fromkeys(range(0x80, 0x100), "\ufffe") | {ord(shown): byte for shown, byte in read.items()}


# In the others, words of their own languages have three such letters side by side: déšť, академії.
_TABLES: Final = tuple(
    (_bytes_in(codec), _OF_ALL if codec in ("1252", "latin-1") else _OF_EUROPE)
    for codec in ("1252", "1254", "1250", "latin-1", "1251", "1253", "mac-roman", "850")
)


def _any(first: str, last: str) -> str:
    found = (chr(code) for table, _ in _TABLES for code, byte in table.items() if first <= byte <= last)
    return f"[{''.join(map(re.escape, sorted(set(found))))}]"


# A quick check of many joined cells: without a match, `undamaged` finds nothing in any of them.
MAY_BE_DAMAGED: Final = re.compile(_any("\xc2", "\xed") + _any("\x80", "\xbf"))


def undamaged(text: str) -> str | None:
    """The text before it was read in a wrong encoding: `Müller` of `MÃ¼ller`; None where a person may have written it:
    a quote behind a word in capitals, `ORĂŞTIE`, `Рівне`."""
    before = text
    for _ in range(3):  # it may have been read wrongly more than once
        if MAY_BE_DAMAGED.search(text):
            text = min((_read_again(text, *table) for table in _TABLES), key=len)
    return None if text == before else text


def _read_again(text: str, table: dict[int, str], pattern: re.Pattern[str]) -> str:
    pieces, end = [], 0
    for found in pattern.finditer(text.translate(table)):
        start, stop = found.span()
        read = found[0].encode("latin-1").decode("utf-8")
        may_be_meant = _may_be_marks if read >= _FIRST_ELSEWHERE and not "\u2000" < read < "\u2fff" else _may_be_meant
        if len(read) > 1 or not may_be_meant(text[start:stop], text[:start], text[stop : stop + 1]):
            pieces += [text[end:start], read]
            end = stop
    return "".join((*pieces, text[end:]))


def _may_be_marks(run: str, before: str, _: str) -> bool:
    """Whether a person may have written these characters, which would be one letter of another script: a letter with
    marks behind it, as in “café…”."""
    if run.startswith("á»"):  # as in Nguyá»…n
        return "«" in before
    is_word = before[-1:].isalpha() or (before[-1:] in (" ", "’", "'") and set(run[1:]) <= set("…»”’›"))
    return len(run) == 2 or (is_word and not any(one.isalnum() or "\x80" <= one < "\xa0" for one in run[1:]))


def _may_be_meant(run: str, text: str, after: str) -> bool:
    """Whether a person may have written these characters, which would be one letter in UTF-8."""
    lead, last, before = run[0], run[-1], text[-1:]
    if len(run) > 2:
        return False
    if not lead.isalpha() or lead >= "\u0370":  # √, ├; or Cyrillic and Greek letters, which may stand beside each other
        is_near = any(near.isalpha() and (near.isascii() or not lead.isalpha()) for near in (before, after))
        return not is_near or lead in "»–—"
    if not lead.isupper() or before.islower() or lead in "ŒÐ":
        return lead in "ŒœÐð"
    if last.isalpha():
        return last in "şŞ" or (last.isupper() and not after.islower())
    return last in "”“’‘»«›‹…–—\u00a0" and not after.isalpha()


_CODE: Final = re.compile(
    r"&#?\w{2,31};|</?(?:[abiup]|br|div|em|font|h[1-6]|li|ol|span|strong|table|td|tr|ul)\b[^<>]*>|\\u[0-9a-f]{4}|\\['\"]|"
    r"_x00[01][0-9a-f]_|=[c-f][0-9a-f]=[89ab][0-9a-f]|%[c-f][0-9a-f]%[89ab][0-9a-f]",
    re.IGNORECASE,
)
# For an empty cell, normalized. Those of the second line may also be an answer, or a name.
NULL_WORDS: Final = frozenset(
    ("null", "(null)", "<null>", "nan", "\\n", "undefined", "[object object]", "<na>", "nat", "k.a.", "n.n.", "-", "--")
)
NULL_OR_ANSWER: Final = frozenset(("none", "na", "n/a", "nil", "n.a."))


def code_in(text: str) -> str | None:
    """The first code that a program left in a text, such as `&#039;`, `<b>` and `=C3=BC`; None if there is none."""
    found = (one[0] for one in _CODE.finditer(text))
    return next((one for one in found if one[0] != "&" or html.unescape(one) != one), None)
