"""A ledger in an SQL database: the life of a row, the same statements in every database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from importer.ledger.database import Connection, Database
from importer.ledger.runs import LedgerRuns
from importer.ledger.states import (
    Answered,
    Fingerprints,
    GroupPlan,
    Known,
    LedgerUnwritable,
    NotAllowed,
    Scope,
    State,
    Write,
    plan_group,
)
from importer.ledger.tables import initialize_or_check
from importer.problems import ConstraintError, DatabaseError
from importer.settings import LedgerAddress

# A new identity is inserted without ON CONFLICT: what another process inserted meanwhile must fail, and be looked up.
_INTEND_FIRST: Final = """INSERT INTO people (state, status, body_digest, run, "row", after_unconfirmed, attempts,
    updated_at, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_INTEND_AGAIN: Final = """UPDATE people SET state = ?, status = ?, body_digest = ?, run = ?, "row" = ?,
    after_unconfirmed = ?, attempts = ?, updated_at = ? WHERE identity = ?"""
_ANSWER: Final = "UPDATE people SET state = ?, status = ?, attempts = ?, updated_at = ? WHERE identity = ?"


class Ledger(LedgerRuns):
    """States of identities, and runs: durable, without personal data, thread-safe.

    It promises (design.md, section 7):

    - Nothing is sent before its intent is durable: once `write` has returned, the intent survives the
      death of the process, the machine or the connection. Intents may share a commit.
    - An intent without an answer is unconfirmed after a crash, never new.
    - No transition that is not in `TRANSITIONS`: nobody is in flight twice. It refuses others (`plan_group` says
      which), also if two processes write.
    - An answer may be written late, but is not lost while anything can be written: space for it is reserved.
    - After a failed write every later intent is refused: `LedgerUnwritable`.
    - E-mails, names and bodies are stored as keyed hashes only. A ledger cannot be opened with another key: every
      candidate would look new.

    Errors outside the life of a row are raised as UnusableInput.
    """

    def __init__(self, database: Database, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        super().__init__(database, clock)
        self.fingerprints = fingerprints
        self._error: LedgerUnwritable | None = None

    @classmethod
    def open(cls, database: Database, key_file: Path, clock: Callable[[], float]) -> Ledger:
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
        """The address for `open_ledger`. May contain a password."""
        return self._database.address

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def lock_target(self, scope: Scope) -> AbstractContextManager[None]:
        """Hold the lock of one target. It is released when the process ends, even if it is killed.

        Required to begin a run, resolve a row or remove a run. What was recorded under the lock is durable before it is
        released. If the store can lose the lock (a broken session), no intent is written from then on.

        Raises:
            Busy: another run holds it; the message names its process, host and start.
            UnusableInput: the lock file cannot be written.
        """
        return self._database.lock_target(scope)

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """The records of these identities (at most a few thousand at once), without those that are unknown.

        Raises:
            LedgerUnwritable: the ledger cannot be read any more.
        """
        try:
            return self._database.run(lambda connection: _look_up(connection, wanted))
        except DatabaseError as error:
            raise self._note_error(str(error)) from None

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """Call with the seconds for which its server is waited for at most, and with None when it is back. This
        happens on any thread, and only if it takes more than a moment.
        """
        self._database.watch(on_waiting)

    def write(self, writes: Sequence[Write]) -> dict[int, NotAllowed]:
        """Write intents and answers in one transaction; they are durable when this returns.

        Returns why intents were refused, by their index: the candidate is in flight or done, or another row of this run
        has it. Nothing of these is written.

        Raises:
            LedgerUnwritable: nothing more can be written; of the writes only answers may be.
            NotAllowed: an answer did not fit the state of its identity, a bug of ours.
        """
        if self._error is None and (reason := self._database.reason_not_to_send()):
            self._note_error(reason)
        if self._error is None:
            try:
                return self._write(writes)
            except ConstraintError:
                raise
            except DatabaseError as failure:
                self._note_error(str(failure))
                self._database.release_reserve()
        answers = [write for write in writes if isinstance(write, Answered)]
        for _ in range(2):
            try:
                self._write(answers)
                break
            except NotAllowed:  # they are there already: only the news of their commit was lost
                break
            except DatabaseError:
                self._database.release_reserve()
        assert self._error is not None
        raise self._error

    def is_in_place(self) -> bool:
        """Whether the ledger still exists at its address."""
        return self._database.is_in_place()

    def description(self) -> str:
        """What a person may want to know about its server, such as the time of one commit; "" for a file."""
        try:
            return self._database.description()
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _write(self, group: Sequence[Write]) -> dict[int, NotAllowed]:
        """Write a group in one transaction. If its commit was not confirmed, it is looked up before it is repeated."""
        identities = sorted({write.attempt.identity for write in group})
        tried: list[tuple[GroupPlan, float]] = []

        def work(connection: Connection) -> GroupPlan:
            known = _look_up(connection, identities, self._database.locking)
            for plan, at in tried:
                if _is_written(connection, plan, at):
                    return plan
            plan, now = plan_group(known, group), self._clock()
            tried.append((plan, now))
            _write_plan(connection, plan, now)
            return plan

        if not group:
            return {}
        refused = self._database.run(work, writes=True).refused
        for index, refusal in refused.items():
            if isinstance(group[index], Answered):
                raise refusal
        return refused

    def _note_error(self, reason: str) -> LedgerUnwritable:
        if self._error is None:
            self._error = LedgerUnwritable(self.name, reason, self._database.remedy)
        return self._error


def _look_up(connection: Connection, wanted: Collection[bytes], locking: str = "") -> dict[bytes, Known]:
    """The records of these identities. They are locked in one order, so that two processes cannot block each other."""
    if not wanted:  # `IN ()` is not valid in every database
        return {}
    query = f"""SELECT identity, state, status, body_digest, run, "row", after_unconfirmed FROM people
                WHERE identity IN ({", ".join("?" * len(wanted))}) {locking and f"ORDER BY identity {locking}"}"""
    rows = connection.execute(query, tuple(wanted))
    return {identity: Known(State(state), *rest) for identity, state, *rest in rows}


def _is_written(connection: Connection, plan: GroupPlan, at: float) -> bool:
    """Whether a plan that was tried at that time is in the database: one of its changes shows it for all.

    The rows of its identities are locked, or do not exist: a commit that is still under way has ended.
    """
    for identity, change in plan.changes.items():
        query = "SELECT state, updated_at FROM people WHERE identity = ?"
        found = connection.execute(query, (identity,)).fetchone()
        return found is not None and tuple(found) == (change.known.state.value, at)
    return False


def _write_plan(connection: Connection, plan: GroupPlan, now: float) -> None:
    """`now`: seconds since 1970."""
    rows: dict[str, list[tuple[Any, ...]]] = {_ANSWER: [], _INTEND_FIRST: [], _INTEND_AGAIN: []}
    for identity, (known, attempts, is_new) in sorted(plan.changes.items()):
        state, status, *others = known
        if state is State.IN_FLIGHT:
            query = _INTEND_FIRST if is_new else _INTEND_AGAIN
            rows[query].append((state.value, status, *others, attempts, now, identity))
        else:
            rows[_ANSWER].append((state.value, status, attempts, now, identity))
    for query, values in rows.items():
        connection.executemany(query, values)
