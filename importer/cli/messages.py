"""Messages for a person on stderr: errors with every problem in them, errors in a mapping with the line and a caret."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from importer.problems import DamagedRun, ImporterError, LinePlace, Problem, UnusableInput
from importer.text.normalize import visible

_MOST = 50  # problems shown at once; a file with more has one cause


def say(text: str = "") -> None:
    """One line on stderr, where progress and messages go."""
    _print(text, sys.stderr)


def tell(text: str) -> None:
    """A result on stdout."""
    _print(text, sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    """Print. Where the reader has gone (`importer runs | head`) the rest goes nowhere: a run ends as it would have."""
    try:
        print(visible(text), file=stream, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def show_error(error: ImporterError) -> None:
    """What went wrong, with all problems that are known and what to do about each."""
    for line in error_lines(error):
        say(line)


def error_lines(error: ImporterError) -> Iterator[str]:
    """The lines of `show_error`."""
    if not isinstance(error, UnusableInput):
        yield f"importer: {error}"
        return
    count = len(error.problems)
    claim = "." if isinstance(error, DamagedRun) else "; nothing was sent."
    yield f"importer: {'1 problem' if count == 1 else f'{count} problems'} to mend first{claim}"
    for problem in error.problems[:_MOST]:
        yield ""
        yield from problem_lines(problem)
    if count > _MOST:
        yield f"\n... and {count - _MOST} more like these"


def problem_lines(problem: Problem) -> Iterator[str]:
    """A problem as `where: what`, its line with a caret if it is in a text file, and what to do."""
    yield f"{problem.place}: {problem.message}" if problem.place else problem.message
    if isinstance(problem.place, LinePlace) and problem.place.text:
        number = f"{problem.place.line:>5} | "
        before = problem.place.text[: problem.place.column - 1]
        yield number + problem.place.text.expandtabs(1)
        yield " " * (len(number) - 2) + "| " + " " * len(before) + "^"
    if problem.hint:
        yield f"  -> {problem.hint}"


def in_folder(out: Path) -> str:
    """What a command that is proposed needs so that it looks into the same results folder."""
    return "" if out == Path("results") else f" --out {shlex.quote(str(out))}"
