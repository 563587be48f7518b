"""What a ledger must do, whatever database it is kept in: `LedgerStore`; and which runs are at work: `Presences`.

Another database is one more file beside `sqlite_ledger`, and a line in `__init__` for the scheme of its addresses. What
these protocols promise is tested by `tests/ledger/test_store.py`, for each store alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from importer.atomic_files import INTERNAL, internal_folder
from importer.file_lock import acquire, is_free
from importer.ledger.states import Answered, Fingerprints, Intent, Known, RowState, RunRecord, Scope
from importer.problems import Problem, StoppedEarly

_ENDING: Final = ".at-work"


class LedgerUnwritable(StoppedEarly):
    """The ledger cannot be written any more, so nothing more may be sent. `reason` is what is wrong with it."""

    def __init__(self, name: str, reason: str) -> None:
        self.reason = f"the ledger {name} cannot be written ({reason})"
        self.hint = "free disk space or fix the disk, then run the same command again"
        super().__init__(f"{self.reason}, so nothing more is sent; {self.hint}")


class LedgerStore(Protocol):
    """States and attempts of identities, and runs: durable, without personal data, safe to use from many threads.

    What a store must keep to (design.md, section 7):

    - Nothing is sent before its intent is durable: whoever is told so by `intend_then` may send, whatever happens to
      this process, its machine or its connection afterwards. Intents may share a commit.
    - An intent without an answer is unconfirmed after a crash, never new.
    - One open attempt for each identity, whoever writes; and no step that is not in `TRANSITIONS`. The store itself
      refuses both (`plan_group` says which), also where two processes write.
    - An answer may come late, but is not lost while anything can be written: room for it is kept.
    - Once something could not be written, every later intent is refused: `LedgerUnwritable`.
    - E-mails, names and bodies are there as keyed hashes only, and it is opened with the key it was begun with, or
      not at all: another key would call everybody new.

    What is wrong with it outside of the life of a row is raised as UnusableInput.
    """

    @property
    def address(self) -> str:
        """What `open_ledger` opens it by. May hold a password."""

    @property
    def name(self) -> str:
        """What messages call it: a path, or an address without its password."""

    @property
    def fingerprints(self) -> Fingerprints:
        """Makes the identities and body digests of this ledger, with its key."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Write what is still to be written, then let it go."""

    # --- who is at work ---

    def lock_target(self, scope: Scope) -> AbstractContextManager[None]:
        """Hold the lock of one target. Freed when the process ends, however it ends.

        Whoever begins a run, resolves a row or removes a run holds it. What was recorded under it is durable before it
        is given up. Where the store can lose it (a session that breaks), no intent is written from then on.

        Raises:
            Busy: another run holds it; the message names its process, host and start.
            UnusableInput: there is no room for it, or no right to make it.
        """

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """What is known of these identities (at most some thousand at once); the unknown ones are left out.

        Raises:
            LedgerUnwritable: it cannot even be read any more.
        """

    def intend_then(self, intent: Intent, on_done: Callable[[Exception | None], None]) -> None:
        """Have an intent written, and `on_done` called from a thread of the store: with None when it is durable.

        With LedgerUnwritable where it cannot be written, with NotAllowed where the identity is in flight already or
        done. `on_done` must not wait. Without a `flush_soon` it may take a moment longer, so that more writes share a
        commit.
        """

    def flush_soon(self) -> None:
        """Have written now what was put so far; returns at once."""

    def record(self, answered: Answered) -> None:
        """Have an answer written, without waiting for it. An answer that cannot be written stops every later intent."""

    def flush(self) -> None:
        """Return when every answer so far is durable.

        Raises:
            LedgerUnwritable: something could not be written at some time; answers may be missing.
            NotAllowed: an answer did not fit the state of its identity: a bug of ours.
        """

    def is_in_place(self) -> bool:
        """Whether what is written here will be found again by its address."""

    # --- runs ---

    def begin_run(self, record: RunRecord) -> None:
        """Note a run, and what runs of the same scope that died had in flight as unconfirmed."""

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Note how a run ended, and what it left in flight as unconfirmed; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: it cannot be written; the next run of the same scope makes up for it.
        """

    def forget_run(self, run: str, now: datetime) -> None:
        """Take from a run what could name a person: its file, its mapping, its folder. What was sent stays known."""

    def scrub(self) -> bool:
        """Leave no bytes of what was taken from it. False where that must wait, since another process reads it."""

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope that have no end: killed, or going on now (`lock_target` tells), the newest first."""

    def bases(self) -> tuple[str, ...]:
        """The services that runs were for, by their base URLs: two spellings of one address are two of them."""

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever answered a request of a run."""

    def rows_done(self, run: str) -> Iterator[int]:
        """The rows of a run whose candidates it found or left where they are to be. Streams."""

    def row_states(self, run: str) -> Iterator[RowState]:
        """Every row of a run whose life began, in row order, as its last attempt left it. Streams."""

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        """Settle an unconfirmed row as a person found it: there, or not there. May be said again.

        Raises:
            UsageError: the run sent nothing for this row, or it is not unconfirmed.
        """

    def check(self) -> tuple[Problem, ...]:
        """What is wrong with the ledger, all of it; nothing in a sound one."""


class Presence(Protocol):
    """The word of a process that it is at work on a run."""

    def end(self) -> None:
        """The run has ended, well or not. May be called again."""


class Presences(Protocol):
    """Which runs of a results folder have a living process. Asked before there is a ledger, and of checks as well."""

    def announce(self, run: str) -> Presence:
        """Say, from before a run has a folder until it has ended, that its process lives.

        Raises:
            OSError: there is no room for it, or no right to make it.
        """

    def is_abandoned(self, run: str) -> bool:
        """Whether the process that made a run is no more, and did not come to its end. Where it left no word: no."""

    def forget(self, run: str) -> None:
        """Take away what a killed process left to say that it lives."""

    def runs(self) -> list[str]:
        """The names of runs that say that their processes live, truly or not: anybody's words, until checked."""


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
        return [path.name.removesuffix(_ENDING) for path in sorted((self._out / INTERNAL).glob(f"*{_ENDING}"))]

    def _path(self, run: str) -> Path:
        # Not in the run's folder: so the folder is never there without it.
        return self._out / INTERNAL / f"{run}{_ENDING}"


class FilePresence:
    """A file that is locked as long as the process lives, and is gone when the run has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = acquire(path)

    def end(self) -> None:
        self._lock.release()
        self._path.unlink(missing_ok=True)
