"""The protocols `LedgerStore`, whatever the database, and `Presences`, which knows the runs that are running.

To support another database, add a file next to `sqlite_ledger` and a line in `__init__` for the scheme of its
addresses. `tests/ledger/test_store.py` tests each store against these protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from importer.file_lock import acquire, is_free
from importer.files import INTERNAL, internal_folder
from importer.ledger.states import (
    Fingerprints,
    Known,
    NotAllowed,
    RowState,
    RunRecord,
    Scope,
    State,
    Write,
)
from importer.problems import Problem, StoppedEarly
from importer.settings import LedgerAddress

_SUFFIX: Final = ".running"


class LedgerUnwritable(StoppedEarly):
    """The ledger cannot be written any more, so nothing more may be sent."""

    def __init__(self, name: str, reason: str, remedy: str) -> None:
        self.reason = f"the ledger {name} cannot be written ({reason})"
        self.hint = f"{remedy}, then run the same command again"
        super().__init__(f"{self.reason}, so nothing more is sent; {self.hint}")


class LedgerStore(Protocol):
    """States and attempts of identities, and runs: durable, without personal data, thread-safe.

    Each store promises (design.md, section 7):

    - Nothing is sent before its intent is durable: once `write` has returned, the intent survives the
      death of the process, the machine or the connection. Intents may share a commit.
    - An intent without an answer is unconfirmed after a crash, never new.
    - One open attempt for each identity, and no transition that is not in `TRANSITIONS`. The store itself refuses
      others (`plan_group` says which), also if two processes write.
    - An answer may be written late, but is not lost while anything can be written: space for it is reserved.
    - After a failed write every later intent is refused: `LedgerUnwritable`.
    - E-mails, names and bodies are stored as keyed hashes only. A ledger cannot be opened with another key: every
      candidate would look new.

    Errors outside the life of a row are raised as UnusableInput.
    """

    @property
    def address(self) -> LedgerAddress:
        """The address for `open_ledger`. May contain a password."""

    @property
    def name(self) -> str:
        """Its name in messages: a path, or an address without its password."""

    @property
    def fingerprints(self) -> Fingerprints:
        """Computes identities and body digests with the key of this ledger."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Write what is still queued, then close the database."""

    # --- the lock of a target ---

    def lock_target(self, scope: Scope) -> AbstractContextManager[None]:
        """Hold the lock of one target. It is released when the process ends, even if it is killed.

        Required to begin a run, resolve a row or remove a run. What was recorded under the lock is durable before it is
        released. If the store can lose the lock (a broken session), no intent is written from then on.

        Raises:
            Busy: another run holds it; the message names its process, host and start.
            UnusableInput: the lock file cannot be written.
        """

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """Call with the seconds for which its server is waited for at most, and with None when it is back. This
        happens on any thread, and only if it takes more than a moment.
        """

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """The records of these identities (at most a few thousand at once), without those that are unknown.

        Raises:
            LedgerUnwritable: the ledger cannot be read any more.
        """

    def write(self, writes: Sequence[Write]) -> dict[bytes, NotAllowed]:
        """Write intents and answers in one transaction; they are durable when this returns.

        Returns why intents were refused, by identity: it is in flight or done. Nothing of these is written.

        Raises:
            LedgerUnwritable: nothing more can be written; of the writes only answers may be.
            NotAllowed: an answer did not fit the state of its identity, a bug of ours.
        """

    def is_in_place(self) -> bool:
        """Whether the ledger still exists at its address."""

    def description(self) -> str:
        """What a person may want to know about its server, such as the time of one commit; "" for a file."""

    # --- runs ---

    def begin_run(self, record: RunRecord) -> None:
        """Record a new run, and mark as unconfirmed what killed runs of the same scope had in flight."""

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Record how a run ended, and mark as unconfirmed what it left in flight; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: it cannot be written; the next run of the same scope does it instead.
        """

    def forget_run(self, run: str, now: datetime) -> None:
        """Remove what could identify a person from a run: file, mapping and folder names. What was sent stays known."""

    def scrub(self) -> bool:
        """Overwrite the bytes of what was removed. False if that must wait because another process is reading."""

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope without an end: killed, or running now (see `lock_target`), the newest first."""

    def bases(self) -> tuple[str, ...]:
        """The base URLs of all runs; two spellings of one address count as two."""

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever responded to a run."""

    def rows_done(self, run: str) -> Iterator[int]:
        """The rows of a run that are done: created or already exists. Streams."""

    def current_states(self, run: str) -> Iterator[tuple[int, State]]:
        """Each row of a run that has an intent, with the state of its identity now, also by later runs. Streams."""

    def row_states(self, run: str) -> Iterator[RowState]:
        """Every row of a run that has an intent, in row order, after its last attempt. Streams."""

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        """Record what a person found out about an unconfirmed row: created or not. May be repeated.

        Raises:
            UsageError: the run sent nothing for this row, or it is not unconfirmed.
        """

    def check(self) -> tuple[Problem, ...]:
        """Every problem of the ledger; empty if it is intact."""


class Presence(Protocol):
    """Shows that the process of a run is alive."""

    def end(self) -> None:
        """The run has ended. May be called again."""


class Presences(Protocol):
    """Which runs of a results folder have a live process. Needs no ledger, and covers checks too."""

    def announce(self, run: str) -> Presence:
        """Show that the process of a run is alive, from before its folder is created until it has ended.

        Raises:
            OSError: the file cannot be written.
        """

    def is_abandoned(self, run: str) -> bool:
        """Whether the process of a run was killed; false for a run that was never announced."""

    def forget(self, run: str) -> None:
        """Remove what a killed process left."""

    def runs(self) -> list[str]:
        """The names of runs that were announced and have not ended. Check them: anyone can create these files."""


class FilePresences:
    """`Presences` in `<out>/.importer/`, for processes of one machine."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def announce(self, run: str) -> FilePresence:
        internal_folder(self._out)
        return FilePresence(self._path(run))

    def is_abandoned(self, run: str) -> bool:
        path = self._path(run)
        return path.exists() and is_free(path)

    def forget(self, run: str) -> None:
        self._path(run).unlink(missing_ok=True)

    def runs(self) -> list[str]:
        return [path.name.removesuffix(_SUFFIX) for path in sorted((self._out / INTERNAL).glob(f"*{_SUFFIX}"))]

    def _path(self, run: str) -> Path:
        # Not in the run's folder, so that it exists before the folder does.
        return self._out / INTERNAL / f"{run}{_SUFFIX}"


class FilePresence:
    """A file that is locked while the process lives, and deleted when the run has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = acquire(path)

    def end(self) -> None:
        self._lock.release()
        self._path.unlink(missing_ok=True)
