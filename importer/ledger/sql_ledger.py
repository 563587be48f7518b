"""A ledger in an SQL database: the life of a row, the same statements in every database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from importer.group_writer import GroupWriter, OnDone, QueuedWrite
from importer.ledger.database import Connection, Database
from importer.ledger.sql_runs import SqlRuns
from importer.ledger.states import (
    Answered,
    Attempt,
    Fingerprints,
    GroupPlan,
    Intent,
    Known,
    NotAllowed,
    Scope,
    State,
    Write,
    plan_group,
)
from importer.ledger.store import LedgerUnwritable
from importer.ledger.tables import initialize_or_check
from importer.problems import ConstraintError, DatabaseError
from importer.settings import LedgerAddress

_LINGER: Final = 0.01  # seconds for which an asynchronous write waits for others, to share one commit

# A new identity is inserted without ON CONFLICT: what another process inserted meanwhile must fail, and be looked up.
_INTEND_FIRST: Final = """INSERT INTO identities (state, status, body_digest, run, "row", updated_at, identity)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_INTEND_AGAIN: Final = """UPDATE identities SET state = ?, status = ?, body_digest = ?, run = ?, "row" = ?,
    updated_at = ? WHERE identity = ?"""
_BEGIN_ATTEMPT: Final = """INSERT INTO attempts (identity, run, "row", number, started_at, state, after_unconfirmed)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_ANSWER: Final = "UPDATE identities SET state = ?, status = ?, updated_at = ? WHERE identity = ?"
_END_ATTEMPT: Final = """UPDATE attempts
    SET state = ?, status = ?, ended_at = COALESCE(ended_at, CASE WHEN ? THEN ? ELSE started_at END)
    WHERE run = ? AND "row" = ? AND number = ?"""
_ATTEMPT: Final = 'SELECT state, started_at FROM attempts WHERE run = ? AND "row" = ? AND number = ?'


class SqlLedger(SqlRuns):
    """`LedgerStore` in a database."""

    def __init__(self, database: Database, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        super().__init__(database, clock)
        self.fingerprints = fingerprints
        self._error: LedgerUnwritable | None = None
        self._refused_answer: NotAllowed | None = None
        self._writer: GroupWriter[Write] = GroupWriter(self._commit, linger=_LINGER, name="ledger")

    @classmethod
    def open(cls, database: Database, key_file: Path, clock: Callable[[], float]) -> SqlLedger:
        """Open the ledger of a database, or create it with its key. The database is closed if that fails.

        Raises:
            UnusableInput: see `open_ledger`.
        """
        try:
            with ExitStack() as opened:
                opened.enter_context(closing(database))
                fingerprints = initialize_or_check(database, key_file)
                database.take_reserve()
                opened.pop_all()
        except (OSError, DatabaseError) as error:
            raise database.unusable(error) from None
        return cls(database, fingerprints, clock)

    @property
    def address(self) -> LedgerAddress:
        return self._database.address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._writer.close()
        finally:
            self._database.close()

    @contextmanager
    def lock_target(self, scope: Scope) -> Iterator[None]:
        with self._database.lock_target(scope):
            try:
                yield
            finally:
                self._writer.flush()  # else another run would read what is not written yet as unconfirmed

    def is_lock_proven(self) -> bool:
        return self._database.is_lock_proven()

    def prove_lock(self) -> None:
        try:
            self._database.run(lambda _: None, writes=True)
        except DatabaseError as error:
            raise self._note_error(str(error)) from None

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        try:
            return self._database.run(lambda connection: _look_up(connection, wanted))
        except DatabaseError as error:
            raise self._note_error(str(error)) from None

    def write_intent(self, intent: Intent, on_done: OnDone) -> None:
        self._writer.put_with_callback(intent, on_done)

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        self._database.watch(on_waiting)

    def flush_soon(self) -> None:
        self._writer.flush_soon()

    def record(self, answered: Answered) -> None:
        self._writer.put(answered)

    def flush(self) -> None:
        self._writer.flush()
        if self._refused_answer is not None:
            raise self._refused_answer
        if self._error is not None:
            raise self._error

    def is_in_place(self) -> bool:
        return self._database.is_in_place()

    def description(self) -> str:
        try:
            return self._database.description()
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    # --- in the writer's thread ---

    def _commit(self, group: list[QueuedWrite[Write]]) -> None:
        if self._error is None and (reason := self._database.reason_not_to_send()):
            self._note_error(reason)
        if self._error is not None:
            group = _refuse_intents(group, self._error)
        try:
            self._write(group)
        except ConstraintError:
            raise
        except DatabaseError as failure:
            error = self._note_error(str(failure))
            self._database.release_reserve()
            self._write_answers(_refuse_intents(group, error), error)

    def _write_answers(self, group: list[QueuedWrite[Write]], error: LedgerUnwritable) -> None:
        try:
            self._write(group)
        except DatabaseError:
            for queued in group:
                queued.finish(error)

    def _write(self, group: list[QueuedWrite[Write]]) -> None:
        """Write a group in one transaction. If its commit was not confirmed, it is looked up before it is repeated."""
        if not group:
            return
        identities = sorted({queued.write.attempt.identity for queued in group})
        tried: list[tuple[GroupPlan, float]] = []

        def work(connection: Connection) -> GroupPlan:
            known = _look_up(connection, identities, self._database.locking)
            for plan, at in tried:
                if _is_written(connection, plan, at):
                    return plan
            existing, now = frozenset(known), self._clock()
            plan = plan_group(known, (queued.write for queued in group))
            tried.append((plan, now))
            _write_plan(connection, plan, existing, now)
            return plan

        plan = self._database.run(work, writes=True)
        for index, queued in enumerate(group):
            refusal = plan.refused.get(index)
            if refusal is not None and isinstance(queued.write, Answered):
                self._refused_answer = refusal
            queued.finish(refusal)

    def _note_error(self, reason: str) -> LedgerUnwritable:
        if self._error is None:
            self._error = LedgerUnwritable(self.name, reason, self._database.remedy)
        return self._error


def _refuse_intents(group: list[QueuedWrite[Write]], error: LedgerUnwritable) -> list[QueuedWrite[Write]]:
    """Report the intents of a group as not written; return its answers."""
    for queued in group:
        if isinstance(queued.write, Intent):
            queued.finish(error)
    return [queued for queued in group if isinstance(queued.write, Answered)]


def _look_up(connection: Connection, wanted: Collection[bytes], locking: str = "") -> dict[bytes, Known]:
    """The records of these identities. They are locked in one order, so that two processes cannot block each other."""
    if not wanted:  # `IN ()` is not valid in every database
        return {}
    query = f"""SELECT identity, state, status, body_digest, run, "row" FROM identities
                WHERE identity IN ({", ".join("?" * len(wanted))}) {locking and f"ORDER BY identity {locking}"}"""
    rows = connection.execute(query, tuple(wanted))
    return {identity: Known(State(state), *rest) for identity, state, *rest in rows}


def _is_written(connection: Connection, plan: GroupPlan, at: float) -> bool:
    """Whether a plan that was tried at that time is in the database: one of its writes shows it for all.

    The rows of its identities are locked, or do not exist: a commit that is still under way has ended.
    """
    for begun in plan.begun:
        return (State.IN_FLIGHT.value, at) == _attempt_as_written(connection, begun.attempt)
    for answered in plan.answers.values():
        found = _attempt_as_written(connection, answered.attempt)
        return found is not None and found[0] == answered.state.value
    return False


def _attempt_as_written(connection: Connection, attempt: Attempt) -> tuple[str, float] | None:
    found = connection.execute(_ATTEMPT, attempt[1:]).fetchone()
    return found and tuple(found)


def _write_plan(connection: Connection, plan: GroupPlan, existing: Collection[bytes], now: float) -> None:
    """existing: the identities that were sent before. `now`: seconds since 1970."""
    ended = [(one.state.value, one.status, one) for one in plan.answers.values()]
    connection.executemany(_ANSWER, [(*values, now, one.attempt.identity) for *values, one in ended])
    connection.executemany(_END_ATTEMPT, [(*values, one.is_sent, now, *one.attempt[1:]) for *values, one in ended])
    begun = sorted(plan.begun, key=lambda one: one.attempt.identity)
    for query, is_first in ((_INTEND_FIRST, True), (_INTEND_AGAIN, False)):
        chosen = [one for one in begun if (one.attempt.identity not in existing) is is_first]
        values = [(one.known.state.value, *one.known[1:], now, one.attempt.identity) for one in chosen]
        connection.executemany(query, values)
    attempts = [(*one.attempt, now, one.known.state.value, one.after_unconfirmed) for one in begun]
    connection.executemany(_BEGIN_ATTEMPT, attempts)
