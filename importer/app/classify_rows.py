"""Classifies the rows of a source: each candidate is to be sent, or already has its outcome.

All rows are checked before the first one is sent:

1. each candidate by itself, by other processes if there are many, and kept in the table of the run;
2. when all are there, what compares them: e-mail addresses that are there twice.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from multiprocessing import current_process, forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from queue import SimpleQueue
from typing import Final, Literal, NamedTuple

from importer.app.orders import Forecast
from importer.ledger import Ledger
from importer.mapping import DuplicatePolicy, ResolvedMapping
from importer.models import ROUTE_UNKNOWN, Outcome, OutcomeKind, ReadyCandidate, Row
from importer.problems import Origin, Problem
from importer.processes import without_secrets
from importer.report.accounting import ReportedRow, SummaryCounter
from importer.runs.known_rows import CandidateEmail, Emails, KnownRows
from importer.runs.table import Classified, RunTable
from importer.sending import DryLoader, LoadOptions
from importer.transform import (
    Filtered,
    Invalid,
    LikelyErrors,
    Seen,
    candidate_rows,
    encode,
    place_of_address,
    same_address,
    transform_row,
)

ReadRows = Callable[[], Iterator[Row]]
_Rows = list[Row | Filtered]
_FEW: Final = 2_000  # rows that are prepared in less time than it takes to start other processes
_BLOCK: Final = 64  # rows that another process prepares at once
_AHEAD: Final = 3  # blocks that wait for each process
_MOST_PROCESSES: Final = 8
_AT_ONCE: Final = 1_000  # kept, and looked up in the ledger


def check_rows(
    table: RunTable,
    read: ReadRows,
    mapping: ResolvedMapping,
    *,
    strict: bool = False,
    on_checked: Callable[[int], None] = lambda _: None,
) -> tuple[Problem, ...]:
    """Classify all candidates of a source, and keep them in the table; the warnings about the file as a whole.

    strict: a row with a warning is invalid. on_checked: called with how many candidates are checked.

    Raises UnusableInput: the source cannot be read to its end.
    """
    likely, count = LikelyErrors(mapping), 0
    candidates = each_by_itself(read, mapping, likely, strict=strict)
    while block := list(islice(candidates, _AT_ONCE)):
        table.keep(block)
        count += len(block)
        if len(block) == _AT_ONCE:  # a short file is checked in no time
            on_checked(count)
    _hold_back_duplicates(table, mapping)
    return likely.of_file()


def each_by_itself(
    read: ReadRows, mapping: ResolvedMapping, likely: LikelyErrors, *, strict: bool = False
) -> Iterator[Classified]:
    """The candidates in the order of the file, none of them compared with another one."""
    for row, (result, seen) in _prepared(candidate_rows(read, mapping), mapping):
        if isinstance(result, Filtered):
            outcome = Outcome(result.row, OutcomeKind.FILTERED, problems=(result.problem,))
            yield Classified((result.row,), outcome)
            continue
        assert isinstance(row, Row)
        numbers = tuple(member.number for member in row.members) if row.members else (row.number,)
        if isinstance(result, Invalid):
            # It has its e-mail address too: whether it or another row is right, only a person knows. But a row that no
            # mapping of a folder takes yet may be for another target.
            is_routed = all(problem.code != ROUTE_UNKNOWN for problem in result.problems)
            outcome = Outcome(row.number, OutcomeKind.INVALID, problems=result.problems)
            yield Classified(numbers, outcome, email=result.email if is_routed else "")
        else:
            assert seen is not None
            warnings = likely.of_row(row, seen)
            if strict and warnings:
                errors = tuple(replace(warning, severity="error") for warning in warnings)
                yield Classified(numbers, Outcome(row.number, OutcomeKind.INVALID, problems=errors), email=result.email)
            else:
                yield Classified(numbers, result, warnings)


# --- what compares candidates -------------------------------------------------------------------------


def _hold_back_duplicates(table: RunTable, mapping: ResolvedMapping) -> None:
    pairs = iter(table.same_addresses())
    while block := list(islice(pairs, _AT_ONCE)):
        found = table.candidates({row for pair in block for row in pair})
        rows = table.rows_with({row for one in found.values() for row in one.rows})
        table.keep(list(_held_back(block, found, rows, mapping)))


def without_duplicates(
    candidates: Iterable[Classified], rows: Mapping[int, Row], mapping: ResolvedMapping
) -> list[Classified]:
    """Some candidates, where those that have the same e-mail address as others are held back. rows: of all of them."""
    found = {one.rows[0]: one for one in candidates}
    rows_of: dict[str, list[int]] = {}
    for row, one in found.items():
        if one.address:
            rows_of.setdefault(one.address.casefold(), []).append(row)
    pairs = ((row, same[row == same[0]]) for same in rows_of.values() if len(same) > 1 for row in same)
    return [*(found | {one.rows[0]: one for one in _held_back(pairs, found, rows, mapping)}).values()]


def _held_back(
    pairs: Iterable[tuple[int, int]],
    candidates: Mapping[int, Classified],
    rows: Mapping[int, Row],
    mapping: ResolvedMapping,
) -> Iterator[Classified]:
    """Of those with one e-mail address all but the first, or with `duplicates: error` all.

    The service accepts one application per person and job post, and one candidate per e-mail address and pool (service
    description, part 8). The first one may have problems of its own: once fixed, it is the one to import.
    """
    email, are_all = mapping.candidate["email"], mapping.duplicate_policy is DuplicatePolicy.ERROR
    columns = () if email.lookup else email.columns  # there it is a key of another table
    places = {
        row: place_of_address([rows[each] for each in one.rows if each in rows], columns, one.address)
        for row, one in candidates.items()
    }
    for row, other in pairs:
        if are_all or row > other:
            one, is_valid = candidates[row], isinstance(candidates[other].result, ReadyCandidate)
            becomes: Literal["valid", "invalid", "neither"] = "valid" if is_valid else "invalid"
            problem = same_address(places[row], places[other], "neither" if are_all else becomes)
            own = one.result.problems if isinstance(one.result, Outcome) else ()
            yield Classified(one.rows, Outcome(row, OutcomeKind.INVALID, problems=(*own, problem)))


# --- each row by itself, in other processes if there are many ------------------------------------------


class _Prepared(NamedTuple):
    """What a row is by itself; nothing in it depends on another row, so that another process can prepare it."""

    result: ReadyCandidate | Invalid | Filtered
    seen: Seen | None = None  # of one that can be sent


class _Preparation:
    """Prepares rows."""

    def __init__(self, mapping: ResolvedMapping) -> None:
        self._mapping, self._likely = mapping, LikelyErrors(mapping)

    def row(self, row: Row | Filtered) -> _Prepared:
        if isinstance(row, Filtered):
            return _Prepared(row)
        result = transform_row(row, self._mapping)
        if isinstance(result, Invalid | Filtered):
            return _Prepared(result)
        return _Prepared(encode(result), self._likely.look(row, result))

    def rows(self, rows: _Rows) -> list[_Prepared]:
        return list(map(self.row, rows))


def _prepared(rows: Iterator[Row | Filtered], mapping: ResolvedMapping) -> Iterator[tuple[Row | Filtered, _Prepared]]:
    """All rows in order, each as it is prepared."""
    here = _Preparation(mapping)
    processes = 1 if current_process().daemon else min(_cores(), _MOST_PROCESSES)  # a daemon can start none
    for row in rows if processes == 1 else islice(rows, _FEW):
        yield row, here.row(row)
    if (block := list(islice(rows, _BLOCK))) and processes > 1:
        yield from _prepared_elsewhere(block, rows, mapping, here, processes)


def _prepared_elsewhere(
    block: _Rows, rows: Iterator[Row | Filtered], mapping: ResolvedMapping, here: _Preparation, processes: int
) -> Iterator[tuple[Row | Filtered, _Prepared]]:
    """The blocks in order: each process has a pipe of its own and gets them in turn, so that none waits for a lock."""
    os.environ["PYTHONSAFEPATH"] = "1"  # no module beside the file is imported
    context: SpawnContext | ForkServerContext = get_context("spawn")
    if hasattr(os, "fork"):
        context = get_context("forkserver")  # a plain fork would have the locks of our threads
        with without_secrets():
            forkserver.ensure_running()
    waiting: deque[tuple[_Rows, Connection]] = deque()
    with ExitStack() as pipes:
        idle = deque([pipes.enter_context(_started(context, mapping)) for _ in range(processes)] * _AHEAD)
        while block or waiting:
            if block and idle:
                _send(idle[0], block)
                waiting.append((block, idle.popleft()))
                block = list(islice(rows, _BLOCK))
            else:
                first, pipe = waiting.popleft()
                yield from zip(first, _received(pipe) or here.rows(first), strict=True)
                idle.append(pipe)


def _started(context: SpawnContext | ForkServerContext, mapping: ResolvedMapping) -> Connection:
    """To another process, which ends when this one closes its end."""
    ours, theirs = context.Pipe()
    with theirs:
        context.Process(target=_prepare_there, args=(theirs, mapping), daemon=True).start()
    return ours


def _send(pipe: Connection, block: _Rows) -> None:
    try:
        pipe.send(block)
    except OSError:
        pipe.close()


def _received(pipe: Connection) -> list[_Prepared] | None:
    """None if the process was killed, perhaps since memory ran out: even in the middle of an answer."""
    try:
        found: list[_Prepared] = pipe.recv()
    except (EOFError, OSError):
        pipe.close()  # a later answer of it would be taken for this one
        return None
    return found


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare_there(pipe: Connection, mapping: ResolvedMapping) -> None:
    """What another process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for the rows
    blocks: SimpleQueue[_Rows] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, blocks), daemon=True).start()
    preparation = _Preparation(mapping)
    with suppress(OSError):  # nobody waits for it any more
        while True:
            pipe.send(preparation.rows(blocks.get()))


def _receive(pipe: Connection, blocks: SimpleQueue[_Rows]) -> None:
    """At all times, so that the two never wait for each other to read; and to the end of the other process."""
    with suppress(EOFError, OSError):
        while True:
            blocks.put(pipe.recv())
    os._exit(1)


# --- what will become of all rows ---------------------------------------------------------------------


LookUpKnown = Callable[[list[Classified]], dict[int, Outcome]]
"""The outcomes of candidates that are not sent by what became of them before, by first row, as the ledger knows."""


_HELD_BACK: Final = (OutcomeKind.INVALID, OutcomeKind.REJECTED, OutcomeKind.UNCONFIRMED)


def to_look_up(candidates: Iterable[Classified]) -> Emails:
    """The rows of each candidate that may be known in another form, with the e-mail address if it can be sent."""
    found: dict[tuple[int, ...], CandidateEmail | None] = {}
    for one in candidates:
        if isinstance(one.result, ReadyCandidate):
            found[one.rows] = CandidateEmail(one.result.email)
        elif one.result.kind is OutcomeKind.INVALID:
            found[one.rows] = CandidateEmail(one.email, is_ready=False) if one.email else None
    return found


def as_imported(result: ReadyCandidate | Outcome) -> Outcome:
    """Of a candidate who is in the service by the e-mail address, whatever the row or its document has now."""
    problems = result.problems if isinstance(result, Outcome) else ()
    return Outcome(result.row, OutcomeKind.ALREADY_IMPORTED, problems=problems)


def settled(known: KnownRows, ledger: Ledger, block: list[Classified], again: LoadOptions) -> dict[int, Outcome]:
    """The outcomes of candidates that are not sent by what became of them before, by first row."""
    ready = [one.result for one in block if isinstance(one.result, ReadyCandidate)]
    loaded = (each for some in DryLoader(ledger, known.scope, options=again).load(ready) for each in some)
    imported = known.imported(ledger, {one.rows: CandidateEmail(one.email) for one in block if one.email})
    return {
        **{each.row: each for each in loaded if each.kind is not OutcomeKind.NOT_SENT},
        **{one.rows[0]: as_imported(one.result) for one in block if one.rows[0] in imported},
        **known.other_forms(ledger, to_look_up(block)),
    }


def forecast_of(candidates: Iterator[Classified], origin: Origin, known: LookUpKnown = lambda _: {}) -> Forecast:
    """What will become of these candidates. origin: of their rows."""
    ready = last_row = 0
    groups: list[tuple[int, ...]] = []
    counter = SummaryCounter()
    while block := list(islice(candidates, _AT_ONCE)):
        outcomes = known(block)
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
            if one.warnings:
                warned = Outcome(rows[0], OutcomeKind.NOT_SENT, problems=one.warnings)
                counter.add(ReportedRow(Row(origin, rows[0], ()), warned))
    held_back = sum(counter.outcomes[kind] for kind in _HELD_BACK)
    filtered, done = (counter.outcomes[kind] for kind in (OutcomeKind.FILTERED, OutcomeKind.ALREADY_IMPORTED))
    reasons = tuple(group for group in counter.groups() if group.outcome in _HELD_BACK)
    warned_of = tuple(group for group in counter.groups() if group.is_warning)
    total = ready + held_back + filtered + done
    return Forecast(total, ready, last_row, tuple(groups), done, held_back, filtered, reasons, warned_of)
