"""What a ledger needs of its database: everything in which SQLite and PostgreSQL differ.

Statements are written once, for all databases: `?` for values, every "row" in quotation marks, no function that only
one of them has. A new database is one more class with these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol, TypeVar

from importer.ledger.states import Scope
from importer.problems import DatabaseError, Problem, UnusableInput
from importer.settings import LedgerAddress

Result = TypeVar("Result")


class Cursor(Protocol):
    """The rows that a query found."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection in a transaction."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor: ...
    def executemany(self, query: str, rows: Sequence[Sequence[Any]], /) -> object: ...


class Database(Protocol):
    """One database, safe to use from many threads. Its errors are raised as DatabaseError.

    name: its name in messages, without a password.
    types: the words for {bytes}, {text} and {by_key} in the tables. more_tables: those of this database only.
    locking: what a query adds so that the rows that it finds stay as they are until the end of the transaction; "" if
    no one else writes meanwhile. remedy: what to do when it cannot be written.
    """

    types: ClassVar[dict[str, str]]
    more_tables: ClassVar[tuple[str, ...]]
    locking: ClassVar[str]
    remedy: ClassVar[str]

    address: LedgerAddress
    name: str

    def transaction(self, *, writes: bool = False) -> AbstractContextManager[Connection]:
        """A connection in a transaction, which is committed at the end, or rolled back by an exception."""

    def run(self, work: Callable[[Connection], Result], *, writes: bool = False) -> Result:
        """Do the work in a transaction; again from its start if the connection broke or another process was first.

        Work that writes and must not be done twice looks up whether it was committed.
        """

    def stream(self, connection: Connection, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, without all of them in memory."""

    def lock_target(self, scope: Scope) -> AbstractContextManager[None]:
        """See `Ledger.lock_target`."""

    def tables(self, connection: Connection) -> Collection[str]:
        """The names of the tables that exist. No other process creates any before the transaction ends."""

    def scrub(self) -> bool:
        """See `Ledger.scrub`."""

    def unusable(self, error: DatabaseError | OSError) -> UnusableInput:
        """An error outside the life of a row, as a problem."""

    def not_a_ledger(self, reason: str) -> UnusableInput:
        """The problem of a database that is not a ledger."""

    def close(self) -> None: ...

    # --- what not every database has ---

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """See `Ledger.watch`."""
        return

    def reason_not_to_send(self) -> str | None:
        """What is wrong around the database that a commit would notice too late or not at all."""
        return None

    def take_reserve(self) -> None:
        """Reserve space for answers. Raises OSError if there is none."""
        return

    def release_reserve(self) -> None:
        """Free the space that is reserved for answers."""
        return

    def is_in_place(self) -> bool:
        """Whether it still exists at its address."""
        return True

    def own_problems(self, connection: Connection, hint: str) -> Iterator[Problem]:
        """What the database's own checks find."""
        return iter(())

    def description(self) -> str:
        """What a person may want to know about its server; "" if there is none."""
        return ""
