"""Classifies the rows of a source: each candidate is to be sent, or already has its outcome."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, Self

from importer.app.background_worker import BackgroundWorker, begin_in_background
from importer.mapping import DuplicatePolicy, ResolvedMapping
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Row, Submission
from importer.problems import Origin
from importer.report import ProblemGroup, ReportedRow, SummaryCounter
from importer.runs.corrections import Corrections
from importer.runs.journal import PreviousResults
from importer.sqlite_file import Connection, connect_to_temporary
from importer.transform import Duplicates, Filtered, Invalid, candidate_rows, encode, transform_row

ReadRows = Callable[[], Iterator[Row]]


class _Checked(NamedTuple):
    """The rows of a candidate, its submission or outcome, and the row that a submission was made from."""

    rows: tuple[int, ...]
    result: Submission | Outcome
    row: Row | None = None


CountDone = Callable[[list[str]], int]
"""How many of these e-mail addresses the ledger knows as imported."""
_IN_MEMORY: Final = 50_000  # keys; more go to a temporary SQLite database, which disappears when it is closed
_CACHE_KIB: Final = 4096
_UNNAMED: Final = Origin("")


class Classified(NamedTuple):
    """A candidate to send, or its outcome; and the numbers of its rows, in order."""

    rows: tuple[int, ...]
    result: ReadyCandidate | Outcome


@dataclass(frozen=True, slots=True)
class Forecast:
    """The result of checking rows: their number, how many will be sent, and the last row number.

    groups: the rows of each candidate that has several rows. done: how many an earlier run imported, as far as known.
    held_back: how many are invalid; reasons: their problems, the most frequent first.
    """

    rows: int
    ready: int
    last_row: int
    groups: tuple[tuple[int, ...], ...]
    done: int
    held_back: int
    filtered: int
    reasons: tuple[ProblemGroup, ...]


class Candidates:
    """The candidates of a source, classified. Can be iterated once; must be closed.

    The first `ahead` are classified at once: a file of a few thousand rows is checked completely before its first row
    is sent, and a longer file does not have to wait for that. The rest is classified by a background worker, unless
    `previous` results are known by then. If `ahead` is None, or a row's outcome may depend on a much later row, every
    row is checked first, and classified again during iteration.

    forecast: of the rows that are checked so far; is_complete: whether these are all. previous: set it before the
    iteration starts. origin, count_done: for the forecast. corrections: of rows that were entered from a results file.

    Raises:
        UnusableInput: the first rows cannot be read.
    """

    def __init__(
        self,
        read: ReadRows,
        mapping: ResolvedMapping,
        ahead: int | None,
        *,
        origin: Origin = _UNNAMED,
        count_done: CountDone = lambda _: 0,
        corrections: Corrections | None = None,
    ) -> None:
        self._read, self._mapping, self._corrections = read, mapping, corrections
        self._repeated: Mapping[bytes, int] = {}  # the second row of each duplicate e-mail address, by its hash
        self._first: deque[Classified] = deque()
        self._worker: BackgroundWorker[Classified] | None = None
        self.previous: PreviousResults | None = None
        self.is_complete = True
        refuses_duplicates = mapping.duplicate_policy is DuplicatePolicy.ERROR
        if ahead is None or mapping.grouping is not None or refuses_duplicates or mapping.joins:
            self.forecast = _forecast_of(self._checked(), origin, count_done)
            if self._repeated and refuses_duplicates:  # then the first row of each duplicate is not ready either
                self.forecast = _forecast_of(self._checked(), origin, count_done)
            self._rest = self._classify()
            return
        self._rest = self._classify()
        self._first.extend(islice(self._rest, ahead))
        self.forecast = _forecast_of(self._first, origin, count_done)
        self.is_complete = len(self._first) < ahead
        if not self.is_complete:
            self._worker = begin_in_background(lambda: islice(self._classify(), ahead, None))

    def __iter__(self) -> Iterator[Classified]:
        while self._first:
            yield self._first.popleft()
        yield from self._rest if self._worker is None or self.previous is not None else self._worker

    def close(self) -> None:
        """Stop classifying."""
        self._rest.close()
        if self._worker is not None:
            self._worker.close()
        if self.previous is not None:
            self.previous.close()

    def bodies(self) -> Iterator[tuple[Row, Submission]]:
        """The candidates that are ready, each with its row; a pass of its own, before the iteration starts."""
        for _, result, row in self._checked():
            if row is not None and not isinstance(result, Outcome):
                yield row, result

    def _classify(self) -> Generator[Classified, None, None]:
        for rows, result, _ in self._checked():
            yield Classified(rows, result if isinstance(result, Outcome) else encode(result))

    def _checked(self) -> Iterator[_Checked]:
        with FirstRows() as first_rows:
            duplicates = Duplicates(self._mapping, self._repeated, first_rows)
            yield from self._check(duplicates)
        self._repeated = self._repeated or duplicates.repeated

    def _check(self, duplicates: Duplicates) -> Iterator[_Checked]:
        mapping = self._mapping
        for row in candidate_rows(self._read, mapping):
            if isinstance(row, Filtered):
                yield _filtered(row)
                continue
            if self._corrections and (outcome := self._corrections.outcome(row)) is not None:
                yield _Checked(_numbers(row), outcome)
                continue
            known = None
            if self.previous is not None and mapping.grouping is None:
                known = self.previous.outcome(row.number)
                if known is not None and known.kind is not OutcomeKind.INVALID:
                    yield _Checked((row.number,), known)
                    continue
            rows = _numbers(row)
            result = transform_row(row, mapping)
            if isinstance(result, Filtered):
                yield _filtered(result)
                continue
            # An invalid row has its e-mail address too: whether it or a later row is right, only a person knows.
            problems = result.problems if isinstance(result, Invalid) else ()
            if result.email and (duplicate := duplicates.check(row, result.email, ready=not problems)):
                problems += (duplicate,)
            if known is not None:
                yield _Checked(rows, known)
            elif problems or isinstance(result, Invalid):
                yield _Checked(rows, Outcome(row.number, OutcomeKind.INVALID, problems=problems))
            else:
                yield _Checked(rows, result, row)


def _numbers(row: Row) -> tuple[int, ...]:
    return tuple(member.number for member in row.members) if row.members else (row.number,)


def _filtered(filtered: Filtered) -> _Checked:
    outcome = Outcome(filtered.row, OutcomeKind.FILTERED, problems=(filtered.problem,))
    return _Checked((filtered.row,), outcome)


_EMAILS_AT_ONCE: Final = 1_000  # looked up in the ledger


def _forecast_of(candidates: Iterable[_Checked | Classified], origin: Origin, count_done: CountDone) -> Forecast:
    ready = last_row = done = 0
    groups: list[tuple[int, ...]] = []
    refused = SummaryCounter()
    emails: list[str] = []
    for one in candidates:
        rows, result = one.rows, one.result
        last_row = max(last_row, rows[-1])
        if len(rows) > 1:
            groups.append(rows)
        if isinstance(result, Outcome):
            for row in rows:
                refused.add(ReportedRow(Row(origin, row, ()), replace(result, row=row)))
            continue
        ready += len(rows)
        emails += [result.email] * len(rows)
        if len(emails) >= _EMAILS_AT_ONCE:
            done += count_done(emails)
            emails.clear()
    held_back, filtered = refused.count(OutcomeKind.INVALID), refused.count(OutcomeKind.FILTERED)
    reasons = tuple(group for group in refused.groups() if group.outcome is OutcomeKind.INVALID)
    done += count_done(emails)
    return Forecast(
        ready + held_back + filtered, ready - done, last_row, tuple(groups), done, held_back, filtered, reasons
    )


class FirstRows:
    """The first row of each 16-byte key, in bounded memory. A context manager.

    The temporary database contains the keys, so they must not reveal anything: `Duplicates` derives them with a secret
    that exists only while the process runs.
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
        """The first row that was given for the key; this row if it is the first."""
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
            self._earlier = connect_to_temporary(_CACHE_KIB)
            self._earlier.execute("CREATE TABLE first_rows (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        self._earlier.executemany("INSERT INTO first_rows VALUES (?, ?)", sorted(self._latest.items()))
        self._earlier.commit()
        self._latest.clear()
