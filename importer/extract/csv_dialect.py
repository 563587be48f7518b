"""The delimiter of a CSV: declared, or found among , ; tab | by the evenness of the columns it makes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from importer.errors import UnusableInput
from importer.models import FilePlace, Problem

DELIMITERS = (",", ";", "\t", "|")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_EVEN = 0.5  # share of the records that must have the same number of columns


@dataclass(frozen=True, slots=True)
class _Split:
    """What a delimiter makes of the sample: the most frequent number of columns and the share of records with it."""

    delimiter: str
    columns: int
    share: float


def declared_delimiter(declared: str) -> str:
    """The character that a mapping's `delimiter:` means.

    Raises:
        UnusableInput: it is not one character, or one that cannot delimit.
    """
    delimiter = _NAMES.get(declared.strip().lower(), declared)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UnusableInput(
            Problem(
                "delimiter-unusable",
                f"{declared!r} is no delimiter",
                'give one character, such as "," or ";" or "|", or tab',
                FilePlace("delimiter: in the mapping"),
            )
        )
    return delimiter


def found_delimiter(lines: Iterable[str], name: str) -> str | None:
    """The delimiter that splits the sample lines of a CSV most evenly; None where the file has one column.

    Raises:
        UnusableInput: the delimiters that occur make uneven columns.
    """
    sample = list(lines)
    splits = [split for split in (_split(sample, delimiter) for delimiter in DELIMITERS) if split]
    even = [split for split in splits if split.columns > 1 and split.share >= _EVEN]
    if even:
        return max(even, key=lambda split: (round(split.share, 1), split.columns)).delimiter
    if not any(split.columns > 1 for split in splits):
        return None
    raise UnusableInput(
        Problem(
            "delimiter-not-found",
            "none of , ; tab | splits this file into even columns",
            'declare it under source: in the mapping, such as `delimiter: ";"`',
            FilePlace(name),
        )
    )


def _split(sample: list[str], delimiter: str) -> _Split | None:
    widths = Counter(len(record) for record in _records(sample, delimiter) if any(record))
    if not widths:
        return None
    wide = {width: count for width, count in widths.items() if width > 1} or widths
    columns = max(wide, key=lambda width: (wide[width], width))
    return _Split(delimiter, columns, widths[columns] / widths.total())


def _records(sample: list[str], delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(sample, delimiter=delimiter, strict=True)
    except csv.Error:
        return  # the sample may end inside a quote, and a wrong delimiter breaks quotes


def shown_delimiter(delimiter: str) -> str:
    """A delimiter for a message."""
    return "tab" if delimiter == "\t" else f'"{delimiter}"'


def marked_delimiter(lines: list[str]) -> str | None:
    """The delimiter that a first line `sep=;` names, as spreadsheet programs write and understand it."""
    mark = lines[0].rstrip("\r\n") if lines else ""
    return mark[4] if len(mark) == 5 and mark.lower().startswith("sep=") and mark[4] in DELIMITERS else None
