"""A file of the corpus and the expected result of reading it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from importer.models import SourceOptions


@dataclass(frozen=True)
class Expected:
    """The result of reading. Rows as `{number: cells}`; problems and warnings as the texts that a person reads."""

    columns: tuple[str, ...] = ()
    rows: dict[int, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reading: str | None = None  # None: not compared
    header_row: int = 1
    typed: dict[int, set[int]] | None = None  # None: not compared
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A file with the bytes of `content`, and the expected result. `promise` completes the sentence "reading ..."."""

    id: str
    promise: str
    file: str
    content: Callable[[], bytes]
    expected: Expected
    options: SourceOptions = field(default_factory=SourceOptions)
