"""What reading wants declared in a mapping file is a flag of the commands that have no mapping yet; hints name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importer.models import Problem

_IN_MAPPING: Final = "under source: in the mapping"  # how reading says where a declaration belongs
_FLAGS: Final = {
    "encoding-wrong": "--encoding",
    "delimiter-not-found": "--delimiter",
    "header-not-found": "--header-row",
    "sheets-empty": "--sheet",
    "other-sheets": "--sheet",
}


@contextmanager
def named_as_flags() -> Iterator[None]:
    """A file that cannot be read as it is says which flag to give."""
    from importer.errors import UnusableInput

    try:
        yield
    except UnusableInput as error:
        raise UnusableInput([with_flag(problem) for problem in error.problems]) from None


def with_flag(problem: Problem) -> Problem:
    """The problem, its hint with the flag that declares here what belongs into a mapping."""
    flag = _FLAGS.get(problem.code)
    if flag is None or _IN_MAPPING not in problem.hint:
        return problem
    return replace(problem, hint=f"{problem.hint}; here give it as {flag}")
