"""Regular expressions with Python's meaning that are matched in linear time.

RE2 matches them. It does not support lookaround, references and Unicode word boundaries, so these are refused. Its
character classes are ASCII only and its case folding differs, so each set of characters is expanded as Python reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

_TOKEN = re.compile(
    r"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
      | \\(?P<escape>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)
      | (?P<open>\((?:\?(?:P<[^>]+>|:|.[=!]?))?)
      | (?P<repeat>(?:[*+?]|\{(?=[\d,]+\})(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\})[?+]?)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_FLAGS = re.compile(r"\(\?([aimsu]+)\)")
_GROUP = re.compile(r"\((?:\?(?:P<.*|:))?")
_WRITE_TEXT = "write the expected text into the pattern itself"


class NotLinear(ValueError):
    """A part of the expression cannot be matched in linear time. The message names it, the hint says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class LinearPattern:
    """An expression that must match a whole text; `names` are its named groups, in order."""

    text: str
    names: tuple[str, ...]
    _matcher: Any = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[re.Pattern[str]], LinearPattern], tuple[re.Pattern[str]]]:
        """As a value for another process: RE2 compiles it again there."""
        return linear_pattern, (re.compile(self.text),)

    def groups_of(self, text: str) -> Mapping[str, str | None] | None:
        """The texts of the named groups; None if the text does not match."""
        try:
            match = self._matcher.fullmatch(text)
        except UnicodeEncodeError:  # a lone surrogate, which cannot be sent anyway
            return None
        found: Mapping[str, str | None] | None = match.groupdict() if match else None
        return found


def linear_pattern(expression: re.Pattern[str]) -> LinearPattern:
    """Translate the expression for RE2.

    Raises:
        NotLinear: a part of it is not supported.
    """
    return LinearPattern(expression.pattern, tuple(expression.groupindex), _compiled(_translated(expression.pattern)))


def _compiled(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 25
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise NotLinear(
            reason.removesuffix(" - compile failed"), "make it shorter, or use smaller numbers in {m,n}"
        ) from None


def _translated(text: str) -> str:
    flags = _FLAGS.match(text)
    given, start = (flags[1], flags.end()) if flags else ("", 0)
    kept = "".join(flag for flag in given if flag in "sm")
    pieces = [f"(?{kept})" if kept else ""]
    opened: list[int] = []
    closed = ""  # the group that ends before the token
    for token in _TOKEN.finditer(text, start):
        if token["repeat"] is not None:
            _refuse_empty_repeats(pieces[0], closed, token)
        closed = ""
        if token.lastgroup == "open":
            opened.append(len(pieces))
        pieces.append(_translated_token(token, "".join(flag for flag in given if flag in "ia")))
        if token[0] == ")":
            closed = "".join(pieces[opened.pop() :])
    return "".join(pieces)


def _refuse_empty_repeats(flags: str, group: str, repeat: re.Match[str]) -> None:
    """After an empty last repetition, Python and RE2 differ in the text of a named group."""
    most = repeat["most"] if repeat["comma"] else repeat["least"]
    once = repeat[0].startswith("?") or most in ("0", "1")
    if not once and "(?P<" in group and _compiled(flags + group).fullmatch(""):
        message = f"{repeat[0]} repeats a named group that may be empty"
        raise NotLinear(message, "make the group match at least one character, for example with + instead of *")


def _translated_token(token: re.Match[str], flags: str) -> str:
    kind, text = token.lastgroup, token[0]
    if kind == "open":
        if not _GROUP.fullmatch(text):
            raise NotLinear(f"the group {text}", f"{_WRITE_TEXT}; put flags such as (?i) at the beginning")
        return text
    if token["repeat"] is not None:
        return _repeated(token)
    if kind == "escape":
        return _escaped(text, token["escape"], flags)
    if kind == "set" or ("i" in flags and (text.isalpha() or not text.isascii())):
        return _set_of(text, flags)
    if text in ".^$|)":
        return text
    return re.escape(text) if text.isprintable() else f"\\x{{{ord(text):x}}}"


def _repeated(token: re.Match[str]) -> str:
    text = token["repeat"]
    if len(text) > 1 and text.endswith("+"):
        raise NotLinear(f"the repeat {text}", "remove the second +")
    if not text.startswith("{"):
        return text
    most = token["most"] if token["comma"] else token["least"]
    return f"{{{token['least'] or 0},{most}}}{'?' if text.endswith('?') else ''}"


def _escaped(text: str, code: str, flags: str) -> str:
    if code in ("b", "B"):
        raise NotLinear(f"the word boundary {text}", _WRITE_TEXT)
    if code.isdigit():
        raise NotLinear(f"the reference {text}", _WRITE_TEXT)
    if code == "A":
        return "\\A"
    return "\\z" if code in ("Z", "z") else _set_of(text, flags)


@cache
def _characters() -> str:
    """Every character except surrogates."""
    return "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


@lru_cache(maxsize=256)
def _set_of(text: str, flags: str) -> str:
    """The set of characters that `text` (a set, an escape or one character) matches in Python."""
    runs = re.compile(f"{f'(?{flags})' if flags else ''}(?:{text})+").findall(_characters())
    ranges = "".join(f"\\x{{{ord(run[0]):x}}}-\\x{{{ord(run[-1]):x}}}" for run in runs)
    return f"[{ranges}]" if ranges else "[^\\x{0}-\\x{10ffff}]"
