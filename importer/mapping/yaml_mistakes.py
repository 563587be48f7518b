"""Where a mistake in YAML most likely is: the parser stops where it cannot go on, which is often some lines below."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

SYNTAX_HINT = "check indentation and brackets, and put texts with : # { [ or @ in quotes"


class _Mark(NamedTuple):
    """A place as the parser counts it: from 0."""

    line: int
    column: int


_Found = tuple[object, str, str]  # where, what, and what to do
_QUOTE = ("a quote that opens here is not closed", "close it; write a quote inside single quotes twice")
_INDENTATION = (
    "this line is not indented like the others of its section",
    "indent all keys of a section by the same number of spaces, and put texts with quotes in quotes",
)
_KEY = re.compile(r"""\s*(?:- )*(?:"[^"]*"|'[^']*'|[^\s:#"'{\[][^:#]*):(?:\s|$)""")


def syntax_problem(error: MarkedYAMLError, lines: Sequence[str]) -> _Found:
    """Where the mistake of a person most likely is, what it is, and what to do.

    The parser stops where it cannot go on, which is often a line or many below.
    """
    if (in_text := _in_a_text(error, lines)) is not None:
        return in_text
    found, opened, problem = error.problem_mark or error.context_mark, error.context_mark, str(error.problem or "")
    line = getattr(found, "line", 0)
    above = next((at for at in range(min(line, len(lines)) - 1, -1, -1) if _is_code(lines[at])), None)
    if problem.startswith("could not find expected ':'") and opened is not None:
        above = getattr(opened, "line", 0)
    elif not problem.startswith(("mapping values", "expected <block end>", "expected '<document start>'")):
        return found, f"this is not valid YAML: {problem or error.context}", SYNTAX_HINT
    if above is not None and not _KEY.match(lines[above]) and not lines[above].lstrip().startswith("- "):
        what = "this line has no ': ' behind its key"
        return _start(above, lines), what, "write it like 'key: value', with a space behind the colon"
    if problem.startswith("mapping values") and line < len(lines) and len(_COLON.findall(lines[line])) > 1:
        return found, "this line has a second ': '", "put the text in quotes"
    if "'<scalar>'" in problem:
        what = "a text follows the quote that closes another one"
        return found, what, "put the whole text in quotes of the other kind"
    if "'}'" in problem or "']'" in problem:
        return found, "a bracket is closed that is not open", "check { } and [ ]"
    if above is not None and line < len(lines) and not lines[above].partition(" #")[0].rstrip().endswith(":"):
        indents = Counter(_indent(each) for each in lines if _is_code(each))
        if indents[_indent(lines[above])] < indents[_indent(lines[line])]:  # the line above is the odd one
            return _start(above, lines), *_INDENTATION
    return found, *_INDENTATION


def _in_a_text(error: MarkedYAMLError, lines: Sequence[str]) -> _Found | None:
    """A quote or a bracket that is not closed, or a text that YAML does not read as one."""
    found, opened = error.problem_mark or error.context_mark, error.context_mark
    problem, context = str(error.problem or ""), str(error.context or "")
    if (quote := _open_quote(lines, getattr(found, "line", 0))) is not None:
        return quote, *_QUOTE
    if "flow" in context and opened is not None:
        what = "a bracket that opens here is not closed, or a comma is missing behind a value"
        return opened, what, "check { } and [ ]"
    if "unknown escape" in problem:
        return found, "a backslash has a meaning of its own between double quotes", "put the text in single quotes"
    if "quoted scalar" in context and opened is not None:
        return opened, *_QUOTE
    if "cannot start any token" not in problem:
        return None
    if "\\t" in problem:
        return found, "a tab is not allowed here", "indent with spaces"
    hint = "put the text in quotes: it begins with a sign of YAML such as % @ ` | or >"
    return found, "a text cannot begin like this", hint


def _start(line: int, lines: Sequence[str]) -> _Mark:
    return _Mark(line, _indent(lines[line]))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _open_quote(lines: Sequence[str], line: int) -> _Mark | None:
    """The first quote, down to a line, that opens a text and is not closed in its line, if closing it there helps."""
    for number, text in enumerate(lines[: line + 1]):
        left = _CLOSED.sub(lambda found: "_" * len(found[0]), text.replace('\\"', "__"))
        if _is_code(text) and (quote := _OPENING.search(left.partition(" #")[0])):
            code, sign, comment = text.rstrip().partition(" #") if " #" in text else (text.rstrip(), "", "")
            if _first_mistake([*lines[:number], f"{code}{quote[0]}{sign}{comment}", *lines[number + 1 :]]) > line:
                return _Mark(number, quote.start())
    return None


def _first_mistake(lines: Sequence[str]) -> float:
    """The line of the first mistake, from 0; infinite if there is none."""
    try:
        YAML(typ="safe", pure=True).compose("\n".join(lines))
    except MarkedYAMLError as error:
        return float(getattr(error.problem_mark or error.context_mark, "line", 0))
    return math.inf


_CLOSED = re.compile(r"""(?<![^\s\[{,:])(?:"[^"]*"|'[^']*')""")
_OPENING = re.compile(r"""(?<![^\s\[{,:])[\"']""")
_COLON = re.compile(r":(?:\s|$)")


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
