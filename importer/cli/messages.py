"""Prints results, messages and errors; an error with all its problems, each in a text file with its line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from importer.problems import DamagedRun, ImporterError, LinePlace, Problem, UnusableInput
from importer.text.normalize import visible
from importer.text.terminal import HEIGHT, WIDTH, on_one_line, wrapped

_MAX_SHOWN = 50  # problems; more than that have one cause
_ROOM = HEIGHT - 4  # lines of a screen for problems
_GAP = 2  # columns between two of a table


class _Shown:
    """Whether to print everything (`--verbose`)."""

    is_everything = False


def print_everything(value: bool) -> bool:
    """Remember `--verbose`: it is the callback of that option."""
    _Shown.is_everything = value
    return value


def print_message(text: str = "") -> None:
    """Print a message or progress line on stderr."""
    _print_broken(text, sys.stderr)


def print_line(line: str) -> None:
    """Print a line on stderr unchanged: it was wrapped before, or is a command to copy."""
    _print(line, sys.stderr)


def print_next(text: str, command: str) -> None:
    """Print what to do next on stderr, with its command in one piece, so that it can be copied."""
    _print(f"{text}: {command}", sys.stderr)


def print_result(text: str) -> None:
    """Print a result on stdout, unchanged: a program may read it."""
    _print(text, sys.stdout)


def print_lines(text: str, first: str = "", others: str = "  ") -> None:
    """Print a result on stdout that only people read."""
    _print_broken(text, sys.stdout, first, others)


def print_row(cells: str, details: str) -> None:
    """Print a row of a table on stdout: its details are below it on a terminal, and beside it in a log."""
    if _is_narrow(sys.stdout):
        print_result(cells)
        print_lines(details, " " * 4, " " * 8)
    else:
        print_result(f"{cells}  {on_one_line(details)}")


def print_lines_of(rows: Sequence[Sequence[str]], widest: Sequence[int]) -> None:
    """Print one line for each row, the first one with headings. Longer texts are cut; the last one has what is left."""
    shown = [[visible(" ".join(text.split())) for text in row] for row in rows]
    longest = [max(map(cell_len, texts)) for texts in zip(*shown, strict=True)]
    widths = [min(lengths) for lengths in zip(longest, widest, strict=False)]
    widths.append(max(Console(color_system=None).width - sum(widths) - _GAP * len(widths), _GAP))
    for row in shown:
        cells = [
            text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"
            for text, width in zip(row, widths, strict=True)
        ]
        padded = (set_cell_size(text, width) for text, width in zip(cells, widths, strict=True))
        print_result((" " * _GAP).join(padded).rstrip())


def print_problems(problems: Iterable[Problem], most: int = _MAX_SHOWN) -> None:
    """Print problems on stdout; more than `most` only with --verbose."""
    shown = list(problems)
    for problem in shown if _Shown.is_everything else shown[:most]:
        for line in _problem_lines(problem, sys.stdout):
            _print(line, sys.stdout)
    if (more := len(shown) - most) > 0 and not _Shown.is_everything:
        print_lines(f"... and {counted(more, 'more')}; --verbose shows all")


def counted(count: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def show_error(error: ImporterError, of: str = "") -> None:
    """Print what went wrong, with every problem and its hint; `of`: of one of several orders, ` with it`."""
    if not isinstance(error, UnusableInput):
        for line in f"importer: {error}".splitlines():
            print_message(line)
        return
    ending = "." if isinstance(error, DamagedRun) else f"; nothing was sent{of}."
    print_message(f"importer: {counted(len(error.problems), 'problem')} found{ending}")
    blocks = [["", *_problem_lines(problem, sys.stderr)] for problem in error.problems[:_MAX_SHOWN]]
    fits = sum(total <= _ROOM for total in accumulate(map(len, blocks)))
    shown = blocks if _Shown.is_everything or not _is_narrow(sys.stderr) else blocks[: max(fits, 1)]
    for line in chain.from_iterable(shown):
        _print(line, sys.stderr)
    if (more := len(error.problems) - len(shown)) > 0:
        listed = ", ".join(dict.fromkeys(problem.code for problem in error.problems[len(shown) :]))
        how = "" if _Shown.is_everything else "; --verbose shows all"
        print_message()
        print_message(f"... and {more} more ({listed}){how}")


def _problem_lines(problem: Problem, stream: TextIO) -> Iterator[str]:
    """A problem as `place: message`, its line with a caret if it is in a text file, and its hint."""
    place = f"{problem.place}: " if problem.place else ""
    yield from _broken(f"{place}{problem.message} [{problem.code}]", stream)
    if isinstance(problem.place, LinePlace) and problem.place.text:
        number, text, column = f"{problem.place.line:>5} | ", problem.place.text.expandtabs(1), problem.place.column - 1
        room = WIDTH - len(number) if _is_narrow(stream) else len(text)
        start = min(max(column - room // 2, 0), max(len(text) - room, 0))  # of the part of a long line that is shown
        yield number + text[start : start + room]
        yield " " * (len(number) - 2) + "| " + " " * (column - start) + "^"
    if problem.hint:
        yield from _broken(problem.hint, stream, "  -> ", "     ")


def _print_broken(text: str, stream: TextIO, first: str = "", others: str = "  ") -> None:
    for line in _broken(text, stream, first, others):
        _print(line, stream)


def _broken(text: str, stream: TextIO, first: str = "", others: str = "  ") -> list[str]:
    """A text for people in lines of at most 80 columns; in a log it stays one line, which is easier to find."""
    return wrapped(text, first, others) if _is_narrow(stream) else [first + on_one_line(text)]


def _is_narrow(stream: TextIO) -> bool:
    return stream.isatty() or "COLUMNS" in os.environ


def _print(text: str, stream: TextIO) -> None:
    """Print a line. Where that fails (`importer runs | head`, a full disk), output is discarded, and stderr says so."""
    try:
        print(visible(text), file=stream, flush=True)
    except OSError as error:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            print_message(f"importer: stdout cannot be written ({error.strerror})")
