"""A ledger in an SQL database: the life of a row, and runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, bindparam, delete, insert, inspect, select, update

from importer.ledger.database import Database, Result, TargetLock, Work
from importer.ledger.schema import examine, initialize_or_check
from importer.ledger.states import (
    Answered,
    Fingerprints,
    GroupPlan,
    Known,
    LedgerUnwritable,
    NotAllowed,
    RowState,
    RunRecord,
    Scope,
    Sent,
    State,
    Write,
    plan_group,
)
from importer.ledger.tables import documents, people, runs
from importer.models import Operation, Target
from importer.problems import ConstraintError, DatabaseError, Problem, UsageError
from importer.settings import LedgerAddress

_PAGE: Final = 5000  # rows that are read at once
_OF_KNOWN: Final = ("state", "status", "body_digest", "run", "row", "origin", "after_unconfirmed")
_KNOWN: Final = [people.c[name] for name in ("identity", *_OF_KNOWN)]
_OF_ANSWER: Final = ("state", "status", "attempts", "updated_at")
_AT_ONCE: Final = 1_000  # keys in one statement
_WANTED: Final = select(*_KNOWN).where(people.c.identity.in_(bindparam("wanted", expanding=True)))
_OF_SCOPE: Final = (runs.c.base, runs.c.operation, runs.c.target)
_OF_ORIGIN: Final = (
    select(*_KNOWN, *_OF_SCOPE).join(runs).where(people.c.origin.in_(bindparam("wanted", expanding=True)))
)
# Locked in one order, so that two processes cannot block each other.
_WANTED_TO_CHANGE: Final = _WANTED.order_by(people.c.identity).with_for_update()
_IDENTIFIED: Final = update(people).where(people.c.identity == bindparam("of"))


class Ledger:
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

    Errors outside the life of a row are raised as UnusableInput. `clock`: seconds since 1970.
    """

    def __init__(self, database: Database, fingerprints: Fingerprints, clock: Callable[[], float]) -> None:
        self.name = database.name
        self.fingerprints = fingerprints
        self._database = database
        self._clock = clock
        self._error: LedgerUnwritable | None = None

    @classmethod
    def open(
        cls, database: Database, key_file: Path, clock: Callable[[], float], *, must_exist: bool = False
    ) -> Self | None:
        """Open the ledger of a database, or create it with its key; `must_exist`: return None instead of creating it.

        The database is closed if that fails.

        Raises:
            UnusableInput: see `open_ledger`.
        """
        try:
            with ExitStack() as opened:
                opened.enter_context(closing(database))
                fingerprints = initialize_or_check(database, key_file, must_exist=must_exist)
                if fingerprints is None:
                    return None
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

    def lock_target(self, scope: Scope, part: tuple[int, int] | None = None) -> AbstractContextManager[TargetLock]:
        """Hold the lock of one target. It is released when the process ends, even if it is killed.

        part: number and count of a part, which shares the target with the other parts of as many.

        Required to begin a run, resolve a row or remove a run. What was recorded under the lock is durable before it is
        released. If the store can lose the lock (a broken session), no intent is written from then on.

        Raises:
            Busy: another run holds it; the message names its process, host and start.
            UnusableInput: the lock cannot be written; a part needs a ledger on a server.
        """
        return self._database.lock_part(scope, *part) if part else self._database.lock_target(scope)

    def watch(self, on_waiting: Callable[[float | None], None]) -> None:
        """Call with the seconds for which its server is waited for at most, and with None when it is back. This
        happens on any thread, and only if it takes more than a moment.
        """
        self._database.watch(on_waiting)

    def is_in_place(self) -> bool:
        """Whether the ledger still exists at its address."""
        return self._database.is_in_place()

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """The records of these identities (at most a few thousand at once), without those that are unknown.

        Raises:
            LedgerUnwritable: the ledger cannot be read any more.
        """
        try:
            return self._database.read(lambda connection: _known(connection, wanted))
        except DatabaseError as error:
            raise self._note_error(str(error)) from None

    def look_up_origins(self, wanted: Collection[bytes]) -> dict[bytes, list[Sent]]:
        """What was sent of rows with these origins, to any target.

        Raises:
            UnusableInput: the ledger cannot be read any more.
        """
        found: dict[bytes, list[Sent]] = {}
        for identity, *values in self._ask(lambda connection: connection.execute(_OF_ORIGIN, {"wanted": wanted}).all()):
            known, scope = _as_known(*values[:-3]), _scope(*values[-3:])
            found.setdefault(known.origin, []).append(Sent(identity, known, scope))
        return found

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

    def _write(self, group: Sequence[Write]) -> dict[int, NotAllowed]:
        """Write a group in one transaction. If its commit was not confirmed, it is looked up before it is repeated."""
        identities = sorted({write.attempt.identity for write in group})
        tried: list[tuple[GroupPlan, float]] = []

        def work(connection: Connection) -> GroupPlan:
            known = _known(connection, identities, _WANTED_TO_CHANGE)
            for plan, at in tried:
                if _is_written(connection, plan, at):
                    return plan
            plan, now = plan_group(known, group), self._clock()
            tried.append((plan, now))
            _write_plan(connection, plan, now)
            return plan

        if not group:
            return {}
        refused = self._database.write(work).refused
        for index, refusal in refused.items():
            if isinstance(group[index], Answered):
                raise refusal
        return refused

    def _note_error(self, reason: str) -> LedgerUnwritable:
        if self._error is None:
            self._error = LedgerUnwritable(self.name, reason, self._database.remedy)
        return self._error

    # --- runs ---

    def begin_run(self, record: RunRecord, *, is_alone: bool = True) -> None:
        """Record a new run, and mark as unconfirmed what killed runs of the same scope had in flight.

        is_alone: False beside other parts, which are running; then only what killed runs of the same part had.
        """
        killed = select(runs.c.run).filter_by(**_scope_values(record.scope), ended_at=None)
        if not is_alone:
            killed = killed.where(runs.c.run.endswith(_part_ending(record.run), autoescape=True))

        def begin(connection: Connection) -> None:
            _mark_killed(connection, people.c.run.in_(killed))
            values = _run_values(record)
            if not connection.scalar(
                select(runs.c.run).filter_by(**values)
            ):  # else only the news of its commit was lost
                connection.execute(insert(runs).values(values))

        self._change(begin)

    def end_run(self, run: str, ended_at: datetime, exit_code: int | None) -> None:
        """Record how a run ended, and mark as unconfirmed what it left in flight; `exit_code` None: it was killed.

        Raises:
            LedgerUnwritable: it cannot be written; the next run of the same scope does it instead.
        """

        def end(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            ending = {"ended_at": ended_at.isoformat(), "exit_code": exit_code}
            connection.execute(update(runs).where(runs.c.run == run).values(ending))

        try:
            self._database.write(end)
        except DatabaseError as error:
            raise LedgerUnwritable(self.name, str(error), self._database.remedy) from None

    def forget_run(self, run: str, now: datetime) -> None:
        """Remove what could identify a person from a run: file, mapping and folder names. What was sent stays known."""
        nothing = {"source": "", "sha256": "", "mapping": "", "folder": "", "purged_at": now.isoformat()}
        self._change(lambda connection: connection.execute(update(runs).where(runs.c.run == run).values(nothing)))

    def forget_people(self, identities: Collection[bytes]) -> None:
        """Remove what is known of these identities: they are sent as if they were new."""
        query = delete(people).where(people.c.identity.in_(identities))
        self._change(lambda connection: connection.execute(query))

    def scrub(self) -> bool:
        """Overwrite the bytes of what was removed. False if that must wait because another process is reading."""
        try:
            return self._database.scrub()
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""
        return next(iter(self._find_runs(select(runs).where(runs.c.run == run))), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        return self._find_runs(select(runs))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope without an end: killed, or running now (see `lock_target`), the newest first."""
        return self._find_runs(select(runs).where(runs.c.ended_at.is_(None)).filter_by(**_scope_values(scope)))

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever responded to a run."""
        query = select(people.c.status).join(runs).where(runs.c.base == base, people.c.status.is_not(None)).limit(1)
        return self._ask(lambda connection: connection.scalar(query)) is not None

    def row_states(self, run: str) -> Iterator[RowState]:
        """Each row of a run that was intended, and by no later run since, in row order; read in pages."""
        columns = people.c.row, people.c.state, people.c.status, people.c.attempts, people.c.after_unconfirmed
        query = select(*columns).where(people.c.run == run, people.c.row > bindparam("last"))
        query, last = query.order_by(people.c.row).limit(_PAGE), {"last": -1}
        while page := self._ask(lambda connection: connection.execute(query, last).all()):
            for row, state, *others in page:
                left = State.UNCONFIRMED if state == State.IN_FLIGHT else State(state)
                yield RowState(row, left, *others)
            last["last"] = page[-1].row

    def resolve(self, run: str, row: int, *, created: bool) -> None:
        """Record what a person found out about an unconfirmed row: created or not. May be repeated.

        Raises:
            UsageError: the run sent nothing for this row, or it is not unconfirmed.
        """
        record = self.run(run)
        if record is None:
            raise UsageError(f"the ledger {self.name} does not know run {run}; list the runs with: importer runs")
        after = State.CREATED if created else State.FAILED

        def settle(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            wanted = select(people.c.identity, people.c.state).filter_by(run=run, row=row).with_for_update()
            found = connection.execute(wanted).one_or_none()
            if found is None:
                raise UsageError(
                    f"run {run} sent nothing for row {row}, or a later run has sent it again; "
                    f"see its rows with: importer show {run}"
                )
            if found.state not in (State.UNCONFIRMED, after):
                raise UsageError(
                    f"row {row} of run {run} is {found.state}, not unconfirmed; there is nothing to resolve"
                )
            change = {"of": found.identity, "state": after.value, "updated_at": self._clock()}
            connection.execute(_IDENTIFIED, [change])

        self._change(settle)

    def settle(self, run: str, answered: Iterable[tuple[int, State, int | None]]) -> None:
        """Record the answers that a killed run had received, but not written here: row, state and status of each."""
        changes = list(answered)
        record = self.run(run) if changes else None
        if record is None:
            return

        def settle(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            for row, state, status in changes:
                of_row = update(people).filter_by(run=run, row=row, state=State.UNCONFIRMED)
                connection.execute(of_row.values(state=state, status=status, updated_at=self._clock()))

        self._change(settle)

    # --- documents ---

    def document_ids(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The IDs of the documents with these keys (see `Fingerprints.document`) that were uploaded."""
        wanted = select(documents.c.key, documents.c.document_id).where(documents.c.document_id.is_not(None))
        listed = list(keys)

        def find(connection: Connection) -> dict[bytes, str]:
            if not keys or not inspect(connection).has_table(documents.name):
                return {}
            blocks = (listed[at : at + _AT_ONCE] for at in range(0, len(listed), _AT_ONCE))
            rows = (row for block in blocks for row in connection.execute(wanted.where(documents.c.key.in_(block))))
            return {row.key: row.document_id for row in rows}

        return self._ask(find)

    def intend_documents(self, keys: Collection[bytes]) -> set[bytes]:
        """Record that these documents are about to be uploaded; returns those of which an earlier upload gave no ID."""

        def intend(connection: Connection) -> set[bytes]:
            documents.create(connection, checkfirst=True)
            known = set(connection.scalars(select(documents.c.key).where(documents.c.key.in_(keys))))
            now = self._clock()
            again = update(documents).where(documents.c.key.in_(known))
            connection.execute(again.values(attempts=documents.c.attempts + 1, updated_at=now))
            new = [{"key": key, "attempts": 1, "updated_at": now} for key in keys if key not in known]
            if new:
                connection.execute(insert(documents), new)
            return known

        try:
            return self._changed(intend)
        except ConstraintError:  # another run has intended one of them at the same time
            return self._changed(intend)

    def forget_documents(self, keys: Collection[bytes]) -> None:
        """Forget that documents were to be uploaded: the service has not taken them."""
        self._changed(lambda connection: connection.execute(delete(documents).where(documents.c.key.in_(keys))))

    def record_documents(self, found: Dictionary[bytes, str]) -> None:
        """Record the IDs of documents that were uploaded."""
        one = update(documents).where(documents.c.key == bindparam("of"))
        values = [{"of": key, "document_id": each, "updated_at": self._clock()} for key, each in found.items()]
        self._changed(lambda connection: connection.execute(one, values))

    # --- what is wrong with it ---

    def check(self) -> tuple[Problem, ...]:
        """Every problem of the ledger; empty if it is intact."""
        return self._ask(lambda connection: examine(connection, self._database))

    def description(self) -> str:
        """What a person may want to know about its server, such as the time of one commit; "" for a file."""
        try:
            return self._database.description()
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _ask(self, work: Work[Result]) -> Result:
        try:
            return self._database.read(work)
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _change(self, work: Work[object]) -> None:
        self._changed(work)

    def _changed(self, work: Work[Result]) -> Result:
        try:
            return self._database.write(work)
        except ConstraintError:
            raise
        except DatabaseError as error:
            raise self._database.unusable(error) from None

    def _find_runs(self, query: Select[Any]) -> tuple[RunRecord, ...]:
        return self._ask(lambda connection: _runs(connection, query))


# --- statements on people ---


def _known(connection: Connection, wanted: Collection[bytes], query: Select[Any] = _WANTED) -> dict[bytes, Known]:
    """The records of these identities."""
    found = connection.execute(query, {"wanted": wanted}).all()
    return {identity: _as_known(*values) for identity, *values in found}


def _as_known(state: str, *others: Any) -> Known:
    return Known(State(state), *others)


def _is_written(connection: Connection, plan: GroupPlan, at: float) -> bool:
    """Whether a plan that was tried at that time is in the database: one of its changes shows it for all.

    The rows of its identities are locked, or do not exist: a commit that is still under way has ended.
    """
    for identity, change in plan.changes.items():
        query = select(people.c.state, people.c.updated_at).where(people.c.identity == identity)
        found = connection.execute(query).one_or_none()
        return found is not None and tuple(found) == (change.known.state.value, at)
    return False


def _write_plan(connection: Connection, plan: GroupPlan, now: float) -> None:
    """`now`: seconds since 1970."""
    first: list[dict[str, Any]] = []
    again: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for identity, (known, attempts, is_new) in sorted(plan.changes.items()):
        values = known._asdict() | {"state": known.state.value, "attempts": attempts, "updated_at": now}
        if known.state is not State.IN_FLIGHT:
            answers.append({"of": identity} | {name: values[name] for name in _OF_ANSWER})
        elif is_new:
            first.append({"identity": identity} | values)
        else:
            again.append({"of": identity} | values)
    # No ON CONFLICT: what another process inserted meanwhile must fail, and be looked up.
    for statement, rows in ((_IDENTIFIED, answers), (insert(people), first), (_IDENTIFIED, again)):
        if rows:
            connection.execute(statement, rows)


def _part_ending(run: str) -> str:
    """How the IDs of the runs of a part end: `.2of4`; "" for another run."""
    return run[run.rfind(".") :] if "." in run else ""


def _mark_killed(connection: Connection, of_runs: ColumnElement[bool]) -> None:
    """Mark intents of these runs without an answer as unconfirmed: after a crash they are never new."""
    left = people.c.state == State.IN_FLIGHT.value, of_runs
    connection.execute(update(people).where(*left).values(state=State.UNCONFIRMED.value))


# --- statements on runs ---


def _runs(connection: Connection, query: Select[Any]) -> tuple[RunRecord, ...]:
    found = connection.execute(query.order_by(runs.c.started_at.desc(), runs.c.run.desc()))
    return tuple(_record(values) for values in found.mappings())


def _record(values: RowMapping) -> RunRecord:
    others = {name: value for name, value in values.items() if name not in ("base", "operation", "target")}
    for name in ("started_at", "ended_at", "purged_at"):
        others[name] = others[name] and datetime.fromisoformat(others[name])
    return RunRecord(scope=_scope(values["base"], values["operation"], values["target"]), **others)


def _scope(base: str, operation: str, target: str) -> Scope:
    return Scope(base, Target(Operation(operation), target))


def _scope_values(scope: Scope) -> dict[str, str]:
    return {"base": scope.base, "operation": scope.target.operation.value, "target": scope.target.id}


def _run_values(record: RunRecord) -> dict[str, Any]:
    return {
        "run": record.run,
        **_scope_values(record.scope),
        "source": _as_text(record.source),
        "sha256": record.sha256,
        "mapping": _as_text(record.mapping),
        "folder": _as_text(record.folder),
        "started_at": record.started_at.isoformat(),
        "ended_at": record.ended_at and record.ended_at.isoformat(),
        "exit_code": record.exit_code,
        "purged_at": record.purged_at and record.purged_at.isoformat(),
    }


def _as_text(name: str) -> str:
    """A file name may not be UTF-8, but databases store only UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
