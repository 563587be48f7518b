"""The ledger: what was intended, sent and answered for each identity, durably and without personal data."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from importer.atomic_files import internal_folder
from importer.errors import UnusableInput
from importer.ledger.ballast import Ballast
from importer.ledger.groups import GroupWriter, Waiting
from importer.ledger.identity import Fingerprints
from importer.ledger.laying_down import lay_down_or_check
from importer.ledger.records import Answered, Intent, Known
from importer.ledger.run_book import RunBook
from importer.ledger.sqlite_file import SqliteFile, create_private, unwritable
from importer.ledger.statements import PreparedLookUp
from importer.ledger.states import State
from importer.ledger.trouble import LedgerUnwritable, unusable
from importer.ledger.writes import NotAllowed, Write, write_group

_LINGER: Final = 0.01  # seconds that a write nobody waits for gives others to share its commit

_known_of = PreparedLookUp("SELECT identity, state, status, body_digest, run, row FROM identities WHERE identity IN")


class Ledger(RunBook):
    """States and attempts of identities, in one SQLite file (WAL, synchronous=FULL). Safe to use from many threads.

    One run at a time for each scope: whoever begins a run or resolves a row holds `target_lock`.
    """

    def __init__(self, path: Path, file: SqliteFile, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        super().__init__(path, file, clock)
        self.fingerprints = fingerprints
        self._inode = path.stat().st_ino
        self._ballast = Ballast(path)
        self._trouble: LedgerUnwritable | None = None
        self._refused_answer: NotAllowed | None = None
        self._writer: GroupWriter[Write] = GroupWriter(self._commit, linger=_LINGER, name="ledger")

    @classmethod
    def open(cls, path: Path, clock: Callable[[], float] = time.time) -> Ledger:
        """Open the ledger at `path`; where there is none, lay down a new one, private, with its key and its ballast.

        clock: seconds since 1970.

        Raises:
            UnusableInput: it cannot be written, is no ledger, is damaged, was written by a newer importer, or its key
                is gone.
        """
        try:
            internal_folder(path.parent)
        except OSError as error:
            raise unwritable(path, error.strerror or str(error)) from None
        create_private(path)
        file = SqliteFile(path, "FULL")
        try:
            fingerprints = lay_down_or_check(path, file)
            Ballast(path).take()
        except OSError as error:
            file.close()
            raise unwritable(Path(error.filename or path), error.strerror or str(error)) from None
        except sqlite3.Error as error:
            file.close()
            raise unusable(path, error) from None
        except UnusableInput:
            file.close()
            raise
        return cls(path, file, fingerprints, clock)

    @classmethod
    def open_existing(cls, path: Path, clock: Callable[[], float] = time.time) -> Ledger | None:
        """Open the ledger at `path` if there is one; makes no file. Raises as `open` does."""
        return cls.open(path, clock) if path.exists() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still to be written, then let the file go."""
        try:
            self._writer.close()
        finally:
            self._file.close()

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """What is known of these identities (at most some thousand at once); the unknown ones are left out.

        Raises:
            LedgerUnwritable: it cannot even be read any more.
        """
        try:
            with self._file.transaction() as connection:
                rows = _known_of.execute(connection, wanted)
        except sqlite3.DatabaseError as error:
            raise self._note_trouble(str(error)) from None
        return {identity: Known(State(state), *rest) for identity, state, *rest in rows}

    def intend(self, intent: Intent) -> None:
        """Return when the intent is on disk; only then may its request be sent.

        Raises:
            LedgerUnwritable: it cannot be written; nothing may be sent.
            NotAllowed: the identity is in flight already, or done.
        """
        self._writer.put_and_wait(intent)

    def intend_then(self, intent: Intent, then: Callable[[Exception | None], None]) -> None:
        """Have an intent written, and `then` called by the writer's thread: with None when it is on disk.

        With LedgerUnwritable or NotAllowed, as `intend` raises them, when it is not. `then` must not wait. Without a
        `hurry` it may take 10 ms longer, so that more writes share its commit.
        """
        self._writer.put_then(intent, then)

    def hurry(self) -> None:
        """Have written now what was put so far; returns at once."""
        self._writer.hurry()

    def record(self, answered: Answered) -> None:
        """Have an answer written, without waiting for it. An answer that cannot be written stops every later intent."""
        self._writer.put(answered)

    def flush(self) -> None:
        """Return when every answer so far is on disk.

        Raises:
            LedgerUnwritable: the ledger could not be written at some time; answers may be missing from it.
            NotAllowed: an answer did not fit the state of its identity: a bug of ours.
        """
        self._writer.flush()
        if self._refused_answer is not None:
            raise self._refused_answer
        if self._trouble is not None:
            raise self._trouble

    def is_in_place(self) -> bool:
        """Whether what is written here is found by its name: SQLite goes on in a file that was removed."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def _commit(self, group: list[Waiting[Write]]) -> None:
        if self._trouble is None and (danger := self._danger()):
            self._note_trouble(danger)
        if self._trouble is not None:
            group = self._refuse_intents(group, self._trouble)
        try:
            self._write(group)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            trouble = self._note_trouble(str(error))
            self._ballast.give_up()
            self._write_answers_at_least(self._refuse_intents(group, trouble), trouble)

    def _danger(self) -> str | None:
        """What is wrong outside of the file, that SQLite would not notice or notice too late."""
        if not self.is_in_place():
            return "the file was moved or deleted"
        return "there is hardly any room left on its disk" if self._ballast.is_threatened() else None

    def _write_answers_at_least(self, group: list[Waiting[Write]], trouble: LedgerUnwritable) -> None:
        try:
            self._write(group)
        except sqlite3.DatabaseError:
            for waiting in group:
                waiting.settle(trouble)

    def _write(self, group: list[Waiting[Write]]) -> None:
        if not group:
            return
        with self._file.transaction(writes=True) as connection:
            refused = write_group(connection, group, self._clock())
        for index, waiting in enumerate(group):
            refusal = refused.get(index)
            if refusal is None:
                waiting.settle()
            else:
                if isinstance(waiting.write, Answered):
                    self._refused_answer = refusal
                waiting.settle(refusal)

    def _refuse_intents(self, group: list[Waiting[Write]], trouble: LedgerUnwritable) -> list[Waiting[Write]]:
        """Settle the intents of a group as not written; give its answers."""
        for waiting in group:
            if isinstance(waiting.write, Intent):
                waiting.settle(trouble)
        return [waiting for waiting in group if isinstance(waiting.write, Answered)]

    def _note_trouble(self, reason: str) -> LedgerUnwritable:
        if self._trouble is None:
            self._trouble = LedgerUnwritable(self.path, reason)
        return self._trouble
