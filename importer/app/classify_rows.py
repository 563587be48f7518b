"""Sorts the rows of a source: each candidate is to be sent, or has its outcome already."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, Protocol, Self

from importer.app.background_worker import BackgroundWorker, begin_in_background
from importer.mapping import Repeated, ResolvedMapping
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Row, Submission
from importer.sqlite_file import Connection, connect_to_nameless
from importer.transform import Duplicates, Filtered, Invalid, candidate_rows, encode, transform_row

ReadRows = Callable[[], Iterator[Row]]
Recall = Callable[[int], Outcome | None]
_Judged = tuple[tuple[int, ...], Submission | Outcome]  # the rows of a candidate, and what it comes to
_IN_MEMORY: Final = 50_000  # keys; more are put into a temporary database of SQLite's own, gone when it is closed
_CACHE_KIB: Final = 4096


class Sorted(NamedTuple):
    """What one candidate of the source comes to, and the numbers of its rows, the first of them first."""

    rows: tuple[int, ...]
    result: ReadyCandidate | Outcome


class Recalls(Protocol):
    """What is known beforehand of rows."""

    @property
    def knows_any(self) -> bool: ...

    def verdict(self, row: int) -> Outcome | None: ...


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

    So a file of a few thousand rows has been read to its end before its first row is sent, a longer one is not delayed
    by its own length, and no row is worked on twice: those that follow are sorted by a process beside this one, unless
    something is `known` of them by the time that they are asked for, which is learned here and saves the work.
    `forecast` is None where rows are left to be read.

    Raises:
        UnusableInput: the file cannot be read as far as that.
    """

    def __init__(self, read: ReadRows, mapping: ResolvedMapping, known: Recalls, ahead: int) -> None:
        self._known = known
        self._rest = sort_rows(read, mapping, {}, known.verdict)
        self._ahead = deque(islice(self._rest, ahead))
        self.forecast: Forecast | None = None
        self._beside: BackgroundWorker[Sorted] | None = None
        if len(self._ahead) < ahead:
            self.forecast = _forecast((one.rows, one.result) for one in self._ahead)
        else:
            self._beside = begin_in_background(lambda: islice(sort_rows(read, mapping, {}), ahead, None))

    def __iter__(self) -> Iterator[Sorted]:
        while self._ahead:
            yield self._ahead.popleft()
        yield from self._rest if self._beside is None or self._known.knows_any else self._beside

    def close(self) -> None:
        """No more are wanted."""
        self._rest.close()
        if self._beside is not None:
            self._beside.close()


def _nothing_known(_row: int) -> Outcome | None:
    return None


def sort_rows(
    read: ReadRows, mapping: ResolvedMapping, repeated: Mapping[bytes, int], recall: Recall = _nothing_known
) -> Generator[Sorted, None, None]:
    """Each candidate as what is to be sent for it, or as its outcome where nothing is.

    recall: gives the outcome of a row by its number where it is known beforehand; not asked where rows are grouped.
    """
    with FirstRows() as first_rows:
        for rows, result in _judge(read, mapping, Duplicates(mapping, repeated, first_rows), recall):
            yield Sorted(rows, result if isinstance(result, Outcome) else encode(result))


def _judge(
    read: ReadRows, mapping: ResolvedMapping, duplicates: Duplicates, recall: Recall = _nothing_known
) -> Iterator[_Judged]:
    is_grouped = mapping.grouping is not None
    for row in candidate_rows(read, mapping):
        if isinstance(row, Filtered):
            yield _left_out(row)
            continue
        if not is_grouped and (known := recall(row.number)) is not None:
            yield (row.number,), known
            continue
        rows = tuple(member.number for member in row.members) or (row.number,)
        result = transform_row(row, mapping)
        if isinstance(result, Filtered):
            yield _left_out(result)
        elif isinstance(result, Invalid):
            yield rows, Outcome(row.number, OutcomeKind.INVALID, problems=result.problems)
        elif (problem := duplicates.check(row, result)) is not None:
            yield rows, Outcome(row.number, OutcomeKind.INVALID, problems=(problem,))
        else:
            yield rows, result


def _left_out(filtered: Filtered) -> _Judged:
    return (filtered.row,), Outcome(filtered.row, OutcomeKind.FILTERED, problems=(filtered.problem,))


def look_ahead(read: ReadRows, mapping: ResolvedMapping) -> Forecast:
    """Check every row as if it were sent: a file that cannot be read to its end is found before the first request."""
    with FirstRows() as first_rows:
        duplicates = Duplicates(mapping, first_rows=first_rows)
        forecast = replace(_forecast(_judge(read, mapping, duplicates)), repeated=duplicates.repeated)
    if duplicates.repeated and mapping.repeated is Repeated.ERROR:
        with FirstRows() as first_rows:
            again = Duplicates(mapping, duplicates.repeated, first_rows)
            return replace(forecast, ready=_forecast(_judge(read, mapping, again)).ready)
    return forecast


def needs_whole_look(mapping: ResolvedMapping) -> bool:
    """Whether what becomes of a row may depend on one that comes much later."""
    return mapping.grouping is not None or mapping.repeated is Repeated.ERROR or bool(mapping.joins)


def _forecast(candidates: Iterable[tuple[tuple[int, ...], object]]) -> Forecast:
    count = ready = last_row = 0
    groups = []
    for rows, result in candidates:
        count += len(rows)
        ready += 0 if isinstance(result, Outcome) else len(rows)
        last_row = max(last_row, rows[-1])
        if len(rows) > 1:
            groups.append(rows)
    return Forecast(count, ready, last_row, {}, tuple(groups))


def expand_to_rows(outcome: Outcome, rows: tuple[int, ...]) -> Iterator[Outcome]:
    """The outcome of a candidate for each of its rows; its requests are counted once, at the first."""
    yield outcome
    for row in rows[1:]:
        yield replace(outcome, row=row, attempts=0)


class FirstRows:
    """The first row that came with each key of 16 bytes, in memory that does not grow with the number of rows.

    The temporary database has no name in any folder and holds what the keys are, so they must tell nothing by
    themselves: see `Duplicates`, which makes them with a key that lives as long as the process. Closed by a `with`.
    """

    def __init__(self, in_memory: int = _IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._latest: dict[bytes, int] = {}
        self._earlier: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._earlier is not None:
            self._earlier.close()

    def setdefault(self, key: bytes, row: int) -> int:
        """The first row that came with the key: the one given, if there was none."""
        first = self._latest.get(key)
        if first is None and self._earlier is not None:
            found = self._earlier.execute("SELECT row FROM first_rows WHERE key = ?", (key,)).fetchone()
            first = found[0] if found else None
        if first is not None:
            return first
        self._latest[key] = row
        if len(self._latest) >= self._in_memory:
            self._move_to_disk()
        return row

    def _move_to_disk(self) -> None:
        if self._earlier is None:
            self._earlier = connect_to_nameless(_CACHE_KIB)
            self._earlier.execute("CREATE TABLE first_rows (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        self._earlier.executemany("INSERT INTO first_rows VALUES (?, ?)", sorted(self._latest.items()))
        self._earlier.commit()
        self._latest.clear()
