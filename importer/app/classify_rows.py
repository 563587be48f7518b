"""Classifies the rows of a source: each candidate is to be sent, or already has its outcome."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, Self

from importer.app.background_worker import BackgroundWorker, Helping, begin_in_background, computed_by
from importer.mapping import DuplicatePolicy, ResolvedMapping
from importer.models import Application, Outcome, OutcomeKind, PoolCandidate, ReadyCandidate, Row, Submission
from importer.problems import CellPlace, Origin, Problem, UnusableInput
from importer.report import ProblemGroup, ReportedRow, SummaryCounter
from importer.runs.known_rows import PreviousResults
from importer.sqlite_file import Connection, connect_to_temporary
from importer.transform import (
    DATE_IN_FUTURE,
    DOMAIN_MISTYPED,
    Duplicates,
    Filtered,
    Invalid,
    LikelyErrors,
    Seen,
    candidate_rows,
    encode,
    transform_row,
)

ReadRows = Callable[[], Iterator[Row]]


class _Prepared(NamedTuple):
    """What a row is by itself; nothing in it depends on another row, so that another process can prepare it."""

    result: Submission | ReadyCandidate | Invalid | Filtered
    seen: Seen | None = None  # of one that can be sent


class _Checked(NamedTuple):
    """The rows of a candidate, its submission or outcome, the warnings about a submission, and the row it is from."""

    rows: tuple[int, ...]
    result: Submission | ReadyCandidate | Outcome
    warnings: tuple[Problem, ...] = ()
    row: Row | None = None


_Helper = Helping[list[Row | Filtered], list[_Prepared]]
Known = Callable[[dict[int, str | None]], tuple[dict[int, Outcome], set[int]]]
"""Of rows, by number, with their e-mail addresses (None if invalid): the outcomes of those that are not sent since they
were in another form, and those that an earlier run imported, by the ledger."""
_BLOCK: Final = 64  # rows that a helper prepares at once
_UNNAMED: Final = Origin("")


class Classified(NamedTuple):
    """A candidate to send, or its outcome; the numbers of its rows, in order; the warnings about one to send."""

    rows: tuple[int, ...]
    result: ReadyCandidate | Outcome
    warnings: tuple[Problem, ...] = ()


class WarningsOfFile(NamedTuple):
    """The warnings about the file as a whole, known after its last row."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The result of checking rows: their number, how many will be sent, and the last row number.

    groups: the rows of each candidate that has several rows. done: how many an earlier run imported, as far as known.
    held_back: how many are invalid, or unconfirmed in another form; reasons: their problems, warned: the warnings about
    the others; the most frequent first.
    """

    rows: int
    ready: int
    last_row: int
    groups: tuple[tuple[int, ...], ...]
    done: int
    held_back: int
    filtered: int
    reasons: tuple[ProblemGroup, ...]
    warned: tuple[ProblemGroup, ...]


class Candidates:
    """The candidates of a source, classified. Can be iterated once; must be closed.

    The first `ahead` are classified at once: a file of a few thousand rows is checked completely before its first row
    is sent, and a longer file does not have to wait for that. The rest is classified by a background worker, unless
    `previous` results are known by then. If `ahead` is None, or a row's outcome may depend on a much later row, every
    row is checked first, and classified again during iteration.

    strict: every row is checked first, and a row with a warning is invalid. with_bodies: False in a check that does not
    need the bytes to send, which takes a tenth less time. warnings: those about the file as a whole, None while rows
    are left to read.

    helpers: how many processes prepare rows.

    forecast: of the rows that are checked so far; is_complete: whether these are all. previous: set it before the
    iteration starts. origin, known: for the forecast.

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
        known: Known = lambda _: ({}, set()),
        strict: bool = False,
        with_bodies: bool = True,
        helpers: int = 0,
    ) -> None:
        self._read, self._mapping, self._strict = read, mapping, strict
        self._ready = encode if with_bodies else _without_body
        self._repeated: Mapping[bytes, int] = {}  # the second row of each duplicate e-mail address, by its hash
        self._late: tuple[Problem, ...] = ()  # warnings about rows that only the whole file shows
        self._first: deque[Classified] = deque()
        prepare = _Preparation(mapping, self._ready)
        self._helpers: tuple[_Helper, ...] = ()  # of the background worker
        self._worker: BackgroundWorker[Classified | WarningsOfFile] | None = None
        self.warnings: tuple[Problem, ...] | None = None
        self.previous: PreviousResults | None = None
        self.is_complete = True
        refuses_duplicates = mapping.duplicate_policy is DuplicatePolicy.ERROR
        if ahead is None or strict or mapping.grouping is not None or refuses_duplicates or mapping.joins:
            self.forecast = _forecast_of(self._checked(), origin, known)
            self._take_late()
            # Then the first row of each duplicate, or a row with a late warning, is not ready either.
            if (self._repeated and refuses_duplicates) or self._late:
                self.forecast = _forecast_of(self._checked(), origin, known)
            self._rest = self._classify()
            return
        self._rest = self._classify()
        self._first.extend(islice(self._rest, ahead))
        self.is_complete = len(self._first) < ahead
        self._take_late()
        if self._late:
            self._first = deque(
                one
                if isinstance(one.result, Outcome)
                else one._replace(warnings=one.warnings + self._late_of(one.rows))
                for one in self._first
            )
        self.forecast = _forecast_of(self._first, origin, known)
        if not self.is_complete:
            self._worker = begin_in_background(partial(self._classify_from, ahead), [prepare] * helpers)

    def __iter__(self) -> Iterator[Classified]:
        while self._first:
            yield self._first.popleft()
        for one in self._rest if self._worker is None or self.previous is not None else self._worker:
            if isinstance(one, WarningsOfFile):
                self.warnings = one.problems
            else:
                yield one

    def close(self) -> None:
        """Stop classifying."""
        self._rest.close()
        if self._worker is not None:
            self._worker.close()
        for helper in self._helpers:
            helper.close()
        if self.previous is not None:
            self.previous.close()

    def bodies(self) -> Iterator[tuple[Row, Submission]]:
        """The candidates that are ready, each with its row; a pass of its own, before the iteration starts."""
        for _, result, _, row in self._checked():
            if row is not None and isinstance(result, Application | PoolCandidate):
                yield row, result

    def _take_late(self) -> None:
        """Make warnings about rows of what the whole file shows, if no row is given out yet."""
        late = [one for one in self.warnings or () if one.code == DOMAIN_MISTYPED]
        self.warnings = self.warnings and tuple(one for one in self.warnings if one not in late)
        self._late = tuple(replace(one, severity="warning") for one in late)

    def _late_of(self, rows: tuple[int, ...]) -> tuple[Problem, ...]:
        return tuple(one for one in self._late if isinstance(one.place, CellPlace) and one.place.row in rows)

    def _classify(self) -> Generator[Classified, None, None]:
        for rows, result, warnings, _ in self._checked():
            ready = result if isinstance(result, Outcome | ReadyCandidate) else self._ready(result)
            yield Classified(rows, ready, warnings)

    def _classify_from(self, start: int, *helpers: _Helper) -> Iterator[Classified | WarningsOfFile]:
        """For the background worker: the candidates from this one on, then what only it knows about the file."""
        self._helpers = helpers
        yield from islice(self._classify(), start, None)
        yield WarningsOfFile(self.warnings or ())

    def _checked(self) -> Iterator[_Checked]:
        with FirstRows() as first_rows, FirstRows() as corrected:
            duplicates = Duplicates(self._mapping, self._repeated, first_rows, corrected)
            likely = LikelyErrors(self._mapping)
            yield from self._check(duplicates, likely)
        self._repeated = self._repeated or duplicates.repeated
        if self.warnings is None:
            self.warnings = likely.of_file()

    def _check(self, duplicates: Duplicates, likely: LikelyErrors) -> Iterator[_Checked]:
        for row, prepared in self._rows():
            if isinstance(row, Filtered):
                yield _filtered(row)
                continue
            known = None
            if self.previous is not None and self._mapping.grouping is None:
                known = self.previous.outcome(row.number)
                if known is not None and known.kind is not OutcomeKind.INVALID:
                    yield _Checked((row.number,), known)
                    continue
                if known is not None and any(problem.code == DATE_IN_FUTURE for problem in known.problems):
                    known = None  # the date may have come
            rows = _numbers(row)
            result, seen = prepared or _prepare(row, self._mapping, likely)
            if isinstance(result, Filtered):
                yield _filtered(result)
                continue
            # An invalid row has its e-mail address too: whether it or a later row is right, only a person knows.
            problems = result.problems if isinstance(result, Invalid) else ()
            if result.email and (duplicate := duplicates.check(row, result.email, ready=not problems)):
                problems += (duplicate,)
            elif seen is not None and (duplicate := duplicates.check_corrected(row, seen.name)):
                problems = (duplicate,)
            if known is not None:
                yield _Checked(rows, known)
            elif problems or isinstance(result, Invalid) or seen is None:
                yield _Checked(rows, Outcome(row.number, OutcomeKind.INVALID, problems=problems))
            elif (warnings := likely.of_row(row, result.email, seen) + self._late_of(rows)) and self._strict:
                errors = tuple(replace(warning, severity="error") for warning in warnings)
                yield _Checked(rows, Outcome(row.number, OutcomeKind.INVALID, problems=errors))
            else:
                yield _Checked(rows, result, warnings, row)

    def _rows(self) -> Iterator[tuple[Row | Filtered, _Prepared | None]]:
        """The rows in order, each as a helper prepared it, if there are any."""
        rows = candidate_rows(self._read, self._mapping)
        if not self._helpers:
            for row in rows:
                yield row, None
            return
        for block, prepared in computed_by(self._helpers, _blocks(rows)):
            yield from zip(block, prepared, strict=True)


def _prepare(row: Row | Filtered, mapping: ResolvedMapping, likely: LikelyErrors) -> _Prepared:
    result = row if isinstance(row, Filtered) else transform_row(row, mapping)
    if isinstance(row, Filtered) or isinstance(result, Invalid | Filtered):
        return _Prepared(result)
    return _Prepared(result, likely.look(row, result))


class _Preparation:
    """For a helper: the rows, with the bytes to send, which are much faster to hand over than a submission.

    It can be pickled, for a helper on another machine.
    """

    def __init__(self, mapping: ResolvedMapping, ready: Callable[[Submission], ReadyCandidate]) -> None:
        self._mapping, self._ready, self._likely = mapping, ready, LikelyErrors(mapping)

    def __reduce__(self) -> tuple[type[_Preparation], tuple[object, ...]]:
        return _Preparation, (self._mapping, self._ready)

    def __call__(self, rows: list[Row | Filtered]) -> list[_Prepared]:
        return [
            one._replace(result=self._ready(one.result)) if isinstance(one.result, Application | PoolCandidate) else one
            for one in (_prepare(row, self._mapping, self._likely) for row in rows)
        ]


def _without_body(submission: Submission) -> ReadyCandidate:
    return ReadyCandidate(submission.row, submission.email, b"")


def _blocks(rows: Iterator[Row | Filtered]) -> Iterator[list[Row | Filtered]]:
    """Several rows at once; those before an error are given before it is raised."""
    while True:
        block: list[Row | Filtered] = []
        try:
            for row in islice(rows, _BLOCK):
                block.append(row)
        except UnusableInput:
            yield block
            raise
        if not block:
            return
        yield block


def _numbers(row: Row) -> tuple[int, ...]:
    return tuple(member.number for member in row.members) if row.members else (row.number,)


def _filtered(filtered: Filtered) -> _Checked:
    outcome = Outcome(filtered.row, OutcomeKind.FILTERED, problems=(filtered.problem,))
    return _Checked((filtered.row,), outcome)


_HELD_BACK: Final = (OutcomeKind.INVALID, OutcomeKind.UNCONFIRMED)
_AT_ONCE: Final = 1_000  # looked up in the ledger


def to_look_up(candidates: Iterable[_Checked | Classified]) -> dict[int, str | None]:
    """The first row of each candidate that may be known in another form, with the e-mail address if it can be sent."""
    found: dict[int, str | None] = {}
    for one in candidates:
        if not isinstance(one.result, Outcome):
            found[one.rows[0]] = one.result.email
        elif one.result.kind is OutcomeKind.INVALID:
            found[one.rows[0]] = None
    return found


def _forecast_of(candidates: Iterable[_Checked | Classified], origin: Origin, known: Known) -> Forecast:
    ready = last_row = done = 0
    groups: list[tuple[int, ...]] = []
    counter = SummaryCounter()
    left = iter(candidates)
    while block := list(islice(left, _AT_ONCE)):
        outcomes, imported = known(to_look_up(block))
        for one in block:
            rows, result = one.rows, outcomes.get(one.rows[0], one.result)
            last_row = max(last_row, rows[-1])
            if len(rows) > 1:
                groups.append(rows)
            if isinstance(result, Outcome):
                for row in rows:
                    counter.add(ReportedRow(Row(origin, row, ()), replace(result, row=row)))
                continue
            ready += len(rows)
            done += len(rows) if rows[0] in imported else 0
            if one.warnings:
                warned = Outcome(rows[0], OutcomeKind.NOT_SENT, problems=one.warnings)
                counter.add(ReportedRow(Row(origin, rows[0], ()), warned))
    held_back, filtered = sum(map(counter.count, _HELD_BACK)), counter.count(OutcomeKind.FILTERED)
    corrected = counter.count(OutcomeKind.ALREADY_IMPORTED)
    reasons = tuple(group for group in counter.groups() if group.outcome in _HELD_BACK)
    warned_of = tuple(group for group in counter.groups() if group.is_warning)
    total = ready + held_back + filtered + corrected
    return Forecast(
        total, ready - done, last_row, tuple(groups), done + corrected, held_back, filtered, reasons, warned_of
    )


# --- the first row of each person, on disk if there are many ---


_IN_MEMORY: Final = 50_000  # keys; more go to a temporary SQLite database, which disappears when it is closed
_CACHE_KIB: Final = 4096


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
