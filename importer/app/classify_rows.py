"""Classifies the rows of a source: each candidate is to be sent, or already has its outcome.

All rows are checked before the first one is sent. What a row is by itself needs no other row, so other processes
prepare the rows of a long file; what compares rows happens here, in the order of the file.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import current_process, forkserver, get_context, parent_process
from typing import Final, NamedTuple

from importer.mapping import DuplicatePolicy, ResolvedMapping
from importer.models import (
    ROUTE_UNKNOWN,
    Application,
    Outcome,
    OutcomeKind,
    PoolCandidate,
    ReadyCandidate,
    Row,
    Submission,
)
from importer.problems import CellPlace, Origin, Problem
from importer.processes import without_secrets
from importer.report.accounting import ReportedRow, SummaryCounter
from importer.report.summary import ProblemGroup
from importer.runs.known_rows import Address, Emails
from importer.runs.table import Classified, RunTable
from importer.sqlite_file import connect_to_temporary
from importer.transform import (
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
_Rows = list[Row | Filtered]
_FEW: Final = 2_000  # rows that are prepared in less time than it takes to start other processes
_BLOCK: Final = 64  # rows that another process prepares at once
_AHEAD: Final = 3  # blocks that wait for each process
_MOST_PROCESSES: Final = 8


class _Prepared(NamedTuple):
    """What a row is by itself; nothing in it depends on another row, so that another process can prepare it."""

    result: Submission | ReadyCandidate | Invalid | Filtered
    seen: Seen | None = None  # of one that can be sent


class _Checked(NamedTuple):
    """The rows of a candidate, its submission or outcome, the warnings about a submission, and the row it is from.

    email: as of Classified.
    """

    rows: tuple[int, ...]
    result: Submission | ReadyCandidate | Outcome
    warnings: tuple[Problem, ...] = ()
    row: Row | None = None
    email: str = ""


LookUp = Callable[[Emails], tuple[dict[int, Outcome], set[int]]]
"""The outcomes of candidates that are not sent since they were in another form, and those that an earlier run imported,
by the ledger; both by first row."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The result of checking all rows: their number, how many will be sent, and the last row number.

    groups: the rows of each candidate that has several rows. done: how many an earlier run imported. held_back: how
    many are invalid, or unconfirmed in another form; reasons: their problems, warned: the warnings about the others;
    the most frequent first.
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
    """The candidates of a source, classified.

    strict: a row with a warning is invalid. with_bodies: False in a check that does not need the bytes to send, which
    takes a tenth less time. warnings: those about the file as a whole, None before all rows were read.
    """

    def __init__(
        self, read: ReadRows, mapping: ResolvedMapping, *, strict: bool = False, with_bodies: bool = True
    ) -> None:
        self._read, self._mapping, self._strict = read, mapping, strict
        self._prepare = _Preparation(mapping, with_bodies=with_bodies)
        self._repeated: Mapping[bytes, int] = {}  # the second row of each duplicate e-mail address, by its hash
        self._late: tuple[Problem, ...] = ()  # warnings about rows that only the whole file shows
        self.warnings: tuple[Problem, ...] | None = None

    def check(
        self, table: RunTable, known: LookUp, origin: Origin, on_checked: Callable[[int], None] = lambda _: None
    ) -> Forecast:
        """Classify all rows, and keep them in the table. on_checked: called with how many candidates are checked.

        Raises:
            UnusableInput: the source cannot be read to its end.
        """
        forecast = forecast_of(self._kept(table, on_checked), known, origin)
        # Then the first row of each duplicate, or a row with a late warning, is not ready either.
        if self._take_late() or (self._repeated and self._mapping.duplicate_policy is DuplicatePolicy.ERROR):
            table.forget_candidates()
            forecast = forecast_of(self._kept(table, on_checked), known, origin)
        return forecast

    def _kept(self, table: RunTable, on_checked: Callable[[int], None]) -> Iterator[list[Classified]]:
        candidates, count = iter(self), 0
        while block := list(islice(candidates, _AT_ONCE)):
            table.keep(block)
            count += len(block)
            if len(block) == _AT_ONCE:  # a short file is checked in no time
                on_checked(count)
            yield block

    def __iter__(self) -> Iterator[Classified]:
        for rows, result, warnings, _, email in self._checked():
            ready = result if isinstance(result, Outcome | ReadyCandidate) else self._prepare.ready(result)
            yield Classified(rows, ready, warnings, email)

    def bodies(self) -> Iterator[tuple[Row, Submission]]:
        """The candidates that are ready, each with its row; a pass of its own."""
        for _, result, _, row, _ in self._checked(may_start_processes=False):
            if row is not None and isinstance(result, Application | PoolCandidate):
                yield row, result

    def _take_late(self) -> bool:
        """Whether there are warnings about rows that only the whole file shows: they belong to their rows."""
        late = [one for one in self.warnings or () if one.code == DOMAIN_MISTYPED]
        self.warnings = self.warnings and tuple(one for one in self.warnings if one not in late)
        self._late = tuple(replace(one, severity="warning") for one in late)
        return bool(late)

    def _late_of(self, rows: tuple[int, ...]) -> tuple[Problem, ...]:
        return tuple(one for one in self._late if isinstance(one.place, CellPlace) and one.place.row in rows)

    def _checked(self, *, may_start_processes: bool = True) -> Iterator[_Checked]:
        with _first_rows() as first_row:
            duplicates = Duplicates(self._mapping, self._repeated, first_row)
            likely = LikelyErrors(self._mapping)
            rows = candidate_rows(self._read, self._mapping)
            yield from self._check(self._prepare.all(rows, may_start_processes), duplicates, likely)
        self._repeated = self._repeated or duplicates.repeated
        if self.warnings is None:
            self.warnings = likely.of_file()

    def _check(
        self, rows: Iterator[tuple[Row | Filtered, _Prepared]], duplicates: Duplicates, likely: LikelyErrors
    ) -> Iterator[_Checked]:
        for row, (result, seen) in rows:
            if isinstance(row, Filtered) or isinstance(result, Filtered):
                yield _filtered(row if isinstance(row, Filtered) else result)
                continue
            numbers = tuple(member.number for member in row.members) if row.members else (row.number,)
            # An invalid row has its e-mail address too: whether it or a later row is right, only a person knows. But a
            # row that no mapping of a folder takes yet may be for another target.
            problems = result.problems if isinstance(result, Invalid) else ()
            email = "" if any(problem.code == ROUTE_UNKNOWN for problem in problems) else result.email
            if email and (duplicate := duplicates.check(row, email, ready=not problems)):
                problems, email = (*problems, duplicate), ""
            if problems or isinstance(result, Invalid) or seen is None:
                yield _Checked(numbers, Outcome(row.number, OutcomeKind.INVALID, problems=problems), email=email)
            elif (warnings := likely.of_row(row, result.email, seen) + self._late_of(numbers)) and self._strict:
                errors = tuple(replace(warning, severity="error") for warning in warnings)
                yield _Checked(numbers, Outcome(row.number, OutcomeKind.INVALID, problems=errors), email=email)
            else:
                yield _Checked(numbers, result, warnings, row)


def _filtered(filtered: object) -> _Checked:
    assert isinstance(filtered, Filtered)
    outcome = Outcome(filtered.row, OutcomeKind.FILTERED, problems=(filtered.problem,))
    return _Checked((filtered.row,), outcome)


# --- each row by itself, in other processes if there are many ------------------------------------------


class _Preparation:
    """Prepares rows. Pickled for other processes; the bytes to send are handed over faster than a submission."""

    def __init__(self, mapping: ResolvedMapping, *, with_bodies: bool) -> None:
        self._mapping, self._with_bodies, self._likely = mapping, with_bodies, LikelyErrors(mapping)

    def __reduce__(self) -> tuple[Callable[..., _Preparation], tuple[object, ...]]:
        return _preparation, (self._mapping, self._with_bodies)

    def ready(self, submission: Submission) -> ReadyCandidate:
        if self._with_bodies:
            return encode(submission)
        return ReadyCandidate(submission.row, submission.email, b"")

    def row(self, row: Row | Filtered) -> _Prepared:
        result = row if isinstance(row, Filtered) else transform_row(row, self._mapping)
        if isinstance(row, Filtered) or isinstance(result, Invalid | Filtered):
            return _Prepared(result)
        return _Prepared(result, self._likely.look(row, result))

    def block(self, rows: _Rows) -> list[_Prepared]:
        """Some rows, with the bytes to send."""
        prepared = map(self.row, rows)
        return [
            one._replace(result=self.ready(one.result)) if isinstance(one.result, Application | PoolCandidate) else one
            for one in prepared
        ]

    def all(
        self, rows: Iterator[Row | Filtered], may_start_processes: bool
    ) -> Iterator[tuple[Row | Filtered, _Prepared]]:
        """All rows in order, each as it is prepared."""
        may_start = may_start_processes and not current_process().daemon  # which Python lets start none
        processes = min(_cores(), _MOST_PROCESSES) if may_start else 1
        for row in rows if processes == 1 else islice(rows, _FEW):
            yield row, self.row(row)
        if (block := list(islice(rows, _BLOCK))) and processes > 1:
            yield from self._elsewhere(block, rows, processes)

    def _elsewhere(
        self, block: _Rows, rows: Iterator[Row | Filtered], processes: int
    ) -> Iterator[tuple[Row | Filtered, _Prepared]]:
        os.environ["PYTHONSAFEPATH"] = "1"  # no module beside the file is imported
        context = get_context("forkserver" if hasattr(os, "fork") else "spawn")  # a fork would have our threads' locks
        if hasattr(os, "fork"):
            with without_secrets():
                forkserver.ensure_running()
        waiting: deque[tuple[_Rows, Future[list[_Prepared]] | None]] = deque()
        with ProcessPoolExecutor(processes, context, _begin, (self,)) as pool:
            while block or waiting:
                if block:
                    waiting.append((block, _submitted(pool, block)))
                    block = list(islice(rows, _BLOCK))
                if not block or len(waiting) >= processes * _AHEAD:
                    first, future = waiting.popleft()
                    yield from zip(first, self._result(first, future), strict=True)

    def _result(self, block: _Rows, future: Future[list[_Prepared]] | None) -> list[_Prepared]:
        try:
            return self.block(block) if future is None else future.result()
        except BrokenProcessPool:  # it was killed, perhaps since memory ran out
            return self.block(block)


def _preparation(mapping: ResolvedMapping, with_bodies: bool) -> _Preparation:
    return _Preparation(mapping, with_bodies=with_bodies)


def _submitted(pool: ProcessPoolExecutor, block: _Rows) -> Future[list[_Prepared]] | None:
    try:
        return pool.submit(_prepare_block, block)
    except BrokenProcessPool:
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_here: list[_Preparation] = []  # in another process: how it prepares rows


def _begin(prepare: _Preparation) -> None:
    _here.append(prepare)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for the rows
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)


def _prepare_block(rows: _Rows) -> list[_Prepared]:
    return _here[0].block(rows)


# --- what will become of all rows ---------------------------------------------------------------------


_HELD_BACK: Final = (OutcomeKind.INVALID, OutcomeKind.UNCONFIRMED)
_AT_ONCE: Final = 1_000  # looked up in the ledger, and kept


def to_look_up(candidates: Iterable[Classified]) -> Emails:
    """The rows of each candidate that may be known in another form, with the e-mail address if it can be sent."""
    found: dict[tuple[int, ...], Address | None] = {}
    for one in candidates:
        if isinstance(one.result, ReadyCandidate):
            found[one.rows] = Address(one.result.email)
        elif one.result.kind is OutcomeKind.INVALID:
            found[one.rows] = Address(one.email, is_ready=False) if one.email else None
    return found


def as_imported(result: ReadyCandidate | Outcome) -> Outcome:
    """Of a candidate who is in the service by the e-mail address, whatever the row or its document has now."""
    problems = result.problems if isinstance(result, Outcome) else ()
    return Outcome(result.row, OutcomeKind.ALREADY_IMPORTED, problems=problems)


def forecast_of(blocks: Iterable[list[Classified]], known: LookUp, origin: Origin) -> Forecast:
    """What will become of these candidates."""
    ready = last_row = done = 0
    groups: list[tuple[int, ...]] = []
    counter = SummaryCounter()
    for block in blocks:
        outcomes, imported = known(to_look_up(block))
        for one in block:
            rows, result = one.rows, outcomes.get(one.rows[0], one.result)
            if one.email and rows[0] in imported and rows[0] not in outcomes:
                result = as_imported(result)
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
    held_back, filtered = sum(counter.outcomes[kind] for kind in _HELD_BACK), counter.outcomes[OutcomeKind.FILTERED]
    corrected = counter.outcomes[OutcomeKind.ALREADY_IMPORTED]
    reasons = tuple(group for group in counter.groups() if group.outcome in _HELD_BACK)
    warned_of = tuple(group for group in counter.groups() if group.is_warning)
    total = ready + held_back + filtered + corrected
    return Forecast(
        total, ready - done, last_row, tuple(groups), done + corrected, held_back, filtered, reasons, warned_of
    )


# --- the first row of each person, in bounded memory ---------------------------------------------------

_CACHE_KIB: Final = 4096


@contextmanager
def _first_rows() -> Iterator[Callable[[bytes, int], int]]:
    """Gives the first row of each key, from a temporary database; see `Duplicates`."""
    with closing(connect_to_temporary(_CACHE_KIB)) as database:
        database.execute("CREATE TABLE first_rows (key BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")

        def first_row(key: bytes, row: int) -> int:
            if database.execute("INSERT OR IGNORE INTO first_rows VALUES (?, ?)", (key, row)).rowcount:
                return row
            (first,) = database.execute("SELECT row FROM first_rows WHERE key = ?", (key,)).fetchone()
            return int(first)

        yield first_row
