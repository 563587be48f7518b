"""Prints results, messages and errors; an error with all its problems, each in a text file with its line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TextIO

from importer.problems import DamagedRun, ImporterError, LinePlace, Problem, UnusableInput
from importer.text.normalize import visible

_MAX_SHOWN = 50  # problems; more than that have one cause


def print_message(text: str = "") -> None:
    """Print a message or progress line on stderr."""
    _print(text, sys.stderr)


def print_result(text: str) -> None:
    """Print a result on stdout."""
    _print(text, sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    """Print a line. After a broken pipe (`importer runs | head`) output is discarded and the command continues."""
    try:
        print(visible(text), file=stream, flush=True)
    except BrokenPipeError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)


def show_error(error: ImporterError) -> None:
    """Print what went wrong, with every problem and its hint."""
    for line in error_lines(error):
        print_message(line)


def error_lines(error: ImporterError) -> Iterator[str]:
    """The lines of `show_error`."""
    if not isinstance(error, UnusableInput):
        yield f"importer: {error}"
        return
    count = len(error.problems)
    ending = "." if isinstance(error, DamagedRun) else "; nothing was sent."
    yield f"importer: {'1 problem' if count == 1 else f'{count} problems'} found{ending}"
    for problem in error.problems[:_MAX_SHOWN]:
        yield ""
        yield from problem_lines(problem)
    if count > _MAX_SHOWN:
        yield f"\n... and {count - _MAX_SHOWN} more"


def problem_lines(problem: Problem) -> Iterator[str]:
    """A problem as `place: message`, its line with a caret if it is in a text file, and its hint."""
    place = f"{problem.place}: " if problem.place else ""
    yield f"{place}{problem.message} [{problem.code}]"
    if isinstance(problem.place, LinePlace) and problem.place.text:
        number = f"{problem.place.line:>5} | "
        before = problem.place.text[: problem.place.column - 1]
        yield number + problem.place.text.expandtabs(1)
        yield " " * (len(number) - 2) + "| " + " " * len(before) + "^"
    if problem.hint:
        yield f"  -> {problem.hint}"
