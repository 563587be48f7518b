"""Sorts the rows of a source: each candidate is to be sent, or has its outcome already."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from importer.ledger import FirstRows
from importer.mapping import ResolvedMapping
from importer.mapping.model import Repeated
from importer.models import Outcome, OutcomeKind, Row, Submission
from importer.transform import Duplicates, Filtered, Invalid, candidate_rows, transform_row

ReadRows = Callable[[], Iterator[Row]]
Recall = Callable[[int], Outcome | None]


@dataclass(frozen=True, slots=True)
class Sorted:
    """What one candidate of the source comes to, and the numbers of its rows, the first of them first."""

    rows: tuple[int, ...]
    result: Submission | Outcome


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a look at every row found: how many there are, how many are ready to be sent, and the last row's number.

    repeated: the second row of each e-mail that several rows have, by its hash; groups: the rows of each candidate
    that has several.
    """

    rows: int
    ready: int
    last_row: int
    repeated: Mapping[bytes, int]
    groups: tuple[tuple[int, ...], ...]


class SortingAhead:
    """The candidates of a source, the first of them sorted before anybody asks; they are given once.

    So a file of a few thousand rows has been read to its end before its first row is sent, a longer one is not held up
    by its own length, and no row is worked on twice. `forecast` is None where rows are left to be read.

    Raises:
        UnusableInput: the file cannot be read as far as that.
    """

    def __init__(self, read: ReadRows, mapping: ResolvedMapping, recall: Recall, ahead: int) -> None:
        self._rest = sort_rows(read, mapping, {}, recall)
        self._ahead = deque(islice(self._rest, ahead))
        self.forecast = None if len(self._ahead) == ahead else _forecast(self._ahead)

    def __iter__(self) -> Iterator[Sorted]:
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._rest


def _nothing_known(_row: int) -> Outcome | None:
    return None


def sort_rows(
    read: ReadRows, mapping: ResolvedMapping, repeated: Mapping[bytes, int], recall: Recall = _nothing_known
) -> Iterator[Sorted]:
    """Each candidate as what is to be sent for it, or as its outcome where nothing is.

    recall: gives the outcome of a row by its number where it is known beforehand; not asked where rows are grouped.
    """
    return _sort(read, mapping, Duplicates(mapping, repeated, FirstRows()), recall)


def _sort(
    read: ReadRows, mapping: ResolvedMapping, duplicates: Duplicates, recall: Recall = _nothing_known
) -> Iterator[Sorted]:
    is_grouped = mapping.grouping is not None
    for row in candidate_rows(read, mapping):
        if isinstance(row, Filtered):
            yield _left_out(row)
            continue
        if not is_grouped and (known := recall(row.number)) is not None:
            yield Sorted((row.number,), known)
            continue
        rows = tuple(member.number for member in row.members) or (row.number,)
        result = transform_row(row, mapping)
        if isinstance(result, Filtered):
            yield _left_out(result)
        elif isinstance(result, Invalid):
            yield Sorted(rows, Outcome(row.number, OutcomeKind.INVALID, problems=result.problems))
        elif (problem := duplicates.check(row, result)) is not None:
            yield Sorted(rows, Outcome(row.number, OutcomeKind.INVALID, problems=(problem,)))
        else:
            yield Sorted(rows, result)


def _left_out(filtered: Filtered) -> Sorted:
    return Sorted((filtered.row,), Outcome(filtered.row, OutcomeKind.FILTERED, problems=(filtered.problem,)))


def look_ahead(read: ReadRows, mapping: ResolvedMapping) -> Forecast:
    """Check every row as if it were sent: a file that cannot be read to its end is found before the first request."""
    duplicates = Duplicates(mapping, first_rows=FirstRows())
    forecast = replace(_forecast(_sort(read, mapping, duplicates)), repeated=duplicates.repeated)
    if duplicates.repeated and mapping.repeated is Repeated.ERROR:
        ready = sum(len(one.rows) for one in sort_rows(read, mapping, duplicates.repeated) if _is_ready(one))
        return replace(forecast, ready=ready)
    return forecast


def needs_whole_look(mapping: ResolvedMapping) -> bool:
    """Whether what becomes of a row may depend on one that comes much later."""
    return mapping.grouping is not None or mapping.repeated is Repeated.ERROR or bool(mapping.joins)


def _forecast(candidates: Iterable[Sorted]) -> Forecast:
    count = ready = last_row = 0
    groups = []
    for one in candidates:
        count += len(one.rows)
        ready += len(one.rows) if _is_ready(one) else 0
        last_row = max(last_row, one.rows[-1])
        if len(one.rows) > 1:
            groups.append(one.rows)
    return Forecast(count, ready, last_row, {}, tuple(groups))


def _is_ready(one: Sorted) -> bool:
    return not isinstance(one.result, Outcome)


def spread(outcome: Outcome, rows: tuple[int, ...]) -> Iterator[Outcome]:
    """The outcome of a candidate for each of its rows; its requests are counted once, at the first."""
    yield outcome
    for row in rows[1:]:
        yield replace(outcome, row=row, attempts=0)
