"""A ledger in an SQL database: the life of a row, runs, and documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, Select, bindparam, delete, insert, select, update

from importer.ledger.database import Database, Result, Work
from importer.ledger.fingerprints import Fingerprints
from importer.ledger.states import (
    Answered,
    Changes,
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
from importer.ledger.tables import create_or_check, documents, people, runs
from importer.models import Operation, Target
from importer.problems import ConstraintError, DatabaseError, UsageError
from importer.settings import LedgerAddress

_PAGE: Final = 5000  # rows that are read at once
_AT_ONCE: Final = 1_000  # keys in one statement
_KNOWN: Final = [people.c.identity, *(people.c[name] for name in Known.__annotations__)]
_OF_ANSWER: Final = ("state", "status", "body_digest", "attempts")
_WANTED: Final = select(*_KNOWN).where(people.c.identity.in_(bindparam("wanted", expanding=True)))
# Locked in one order, so that two processes cannot block each other.
_WANTED_TO_CHANGE: Final = _WANTED.order_by(people.c.identity).with_for_update()
_OF_ORIGIN: Final = (
    select(*_KNOWN, runs.c.base, runs.c.operation, runs.c.target)
    .join(runs)
    .where(people.c.origin.in_(bindparam("wanted", expanding=True)))
)
_IDENTIFIED: Final = update(people).where(people.c.identity == bindparam("of"))


class Ledger(Database, AbstractContextManager["Ledger"]):
    """States of identities, and runs: durable, without personal data, thread-safe.

    It promises:

    - Nothing is sent before its intent is durable: once `write` has returned, the intent survives the
      death of the process, the machine or the connection. Intents may share a commit.
    - An intent without an answer is unconfirmed after a crash, never new.
    - No transition that is not in `TRANSITIONS`: nobody is in flight twice. It refuses others (`plan_group` says
      which), also if two processes write.
    - After a failed write every later intent is refused: `LedgerUnwritable`.
    - E-mails, names and bodies are stored as keyed hashes only. A ledger cannot be opened with another key: every
      candidate would look new.

    Errors outside the life of a row are raised as UnusableInput.
    """

    fingerprints: Fingerprints

    def __init__(self, address: LedgerAddress, name: str, engine: Engine) -> None:
        super().__init__(address, name, engine)
        self._error: LedgerUnwritable | None = None

    def opened(self, key_file: Path, *, must_exist: bool) -> Self | None:
        """This ledger, checked, or created with its key; must_exist: None instead. It is closed if that fails."""

        def work(connection: Connection) -> Fingerprints | None:
            self._keep_others_from_creating(connection)
            return create_or_check(connection, self.name, key_file, must_exist=must_exist)

        with ExitStack() as failed:
            failed.enter_context(closing(self))
            try:
                found = self.write_with(work)
            except (OSError, DatabaseError) as error:
                raise self._unusable(error) from None
            if found is None:
                return None
            self.fingerprints = found
            failed.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    # --- the life of a row ---

    def look_up(self, wanted: Sequence[bytes]) -> dict[bytes, Known]:
        """The records of these identities (at most a few thousand at once), without those that are unknown.

        Raises LedgerUnwritable: the ledger cannot be read any more.
        """
        return self._look(lambda connection: _known(connection, wanted))

    def look_up_origins(self, wanted: Collection[bytes]) -> dict[bytes, list[Sent]]:
        """What was sent of rows with these origins, to any target. Raises LedgerUnwritable: as `look_up`."""
        found: dict[bytes, list[Sent]] = {}
        rows = self._look(lambda connection: connection.execute(_OF_ORIGIN, {"wanted": wanted}).all())
        for identity, *values in rows:
            known = _as_known(*values[:-3])
            found.setdefault(known.origin, []).append(Sent(identity, known, _scope(*values[-3:])))
        return found

    def _look(self, work: Work[Result]) -> Result:
        """Read what decides whether a row is sent: once that fails, nothing more may be."""
        if self._error is not None:
            raise self._error
        try:
            return self.read_with(work)
        except DatabaseError as error:
            self._error = self._unwritable(str(error), "read")
            raise self._error from None

    def write(self, writes: Sequence[Write]) -> None:
        """Write intents and answers in one transaction; they are durable when this returns.

        Raises:
            LedgerUnwritable: nothing more can be written; of the writes only answers may be.
            NotAllowed: one did not fit the state of its identity; of the others, answers are written.
        """
        if self._error is None:
            reason = self._reason_not_to_send()
            try:
                if reason is None:
                    self._write_group(writes)
                    return
            except NotAllowed:
                self._write_group([write for write in writes if isinstance(write, Answered)])
                raise
            except ConstraintError:
                raise
            except DatabaseError as failure:
                reason = str(failure)
            self._error = self._unwritable(reason)
        # Answers may still fit; if they are there already, only the news of their commit was lost.
        with suppress(DatabaseError, NotAllowed):
            self._write_group([write for write in writes if isinstance(write, Answered)])
        raise self._error

    def _write_group(self, group: Sequence[Write]) -> None:
        """Write a group in one transaction. If its commit was not confirmed, it is looked up before it is repeated."""
        if not group:
            return
        identities = sorted({write.attempt.identity for write in group})
        tried: list[Changes] = []

        def work(connection: Connection) -> None:
            known = _known(connection, identities, _WANTED_TO_CHANGE)
            for changes in tried:
                if all(known.get(each) == one for each, (one, _) in changes.items()):
                    return  # its commit has succeeded: an allowed change leads to another record
            tried.append(plan_group(known, group))
            _write_changes(connection, tried[-1], known)

        self.write_with(work)

    def _unwritable(self, reason: str, used: str = "written") -> LedgerUnwritable:
        remedy = self.remedy if self.is_in_place() else "put it back: another one does not know what was sent"
        return LedgerUnwritable(self.name, reason, remedy, used)

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

        Raises UsageError: the run sent nothing for this row, or it is not unconfirmed.
        """
        if self.run(run) is None:
            raise UsageError(f"the ledger {self.name} does not know run {run}")
        after = State.CREATED if created else State.FAILED

        def settle(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            wanted = select(people.c.identity, people.c.state).filter_by(run=run, row=row).with_for_update()
            found = connection.execute(wanted).one_or_none()
            if found is None:
                which = "importer status FILE says what became of it"
                raise UsageError(f"run {run} sent nothing for row {row}, or another run has sent it; {which}")
            if found.state not in (State.UNCONFIRMED, after):
                now = f"row {row} of run {run} is {found.state}, not unconfirmed"
                raise UsageError(f"{now}; there is nothing to resolve")
            connection.execute(_IDENTIFIED, [{"of": found.identity, "state": after}])

        self._change(settle)

    def settle(self, run: str, answered: Iterable[tuple[int, State, int | None, bytes]]) -> None:
        """Record the answers that a killed run had received, but not written here: row, state and status of each, and
        the digest of its body, as of `Answered`.
        """
        changes = list(answered)
        if not changes or self.run(run) is None:
            return

        def settle(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            for row, state, status, digest in changes:
                of_row = update(people).filter_by(run=run, row=row, state=State.UNCONFIRMED)
                proven = {"body_digest": digest} if digest else {}
                connection.execute(of_row.values(state=state, status=status, **proven))

        self._change(settle)

    def forget_people(self, identities: Collection[bytes]) -> None:
        """Remove what is known of these identities: they are sent as if they were new."""
        query = delete(people).where(people.c.identity.in_(identities))
        self._change(lambda connection: connection.execute(query))

    # --- runs ---

    def begin_run(self, record: RunRecord) -> None:
        """Record a new run, and mark as unconfirmed what killed runs of the same scope had in flight.

        Under the lock of its target, only the other parts of as many can be running: what they send is theirs.

        Raises UnusableInput: the ledger cannot be written, was moved, or its disk is almost full.
        """
        if reason := self._reason_not_to_send():
            raise self._unusable(DatabaseError(reason))
        killed = select(runs.c.run).filter_by(**_scope_values(record.scope), ended_at=None)
        _, is_part, part = record.run.partition(".")  # the ID of a part ends with .2of4
        if is_part:
            is_other = runs.c.run.endswith(part[part.index("of") :]) & ~runs.c.run.endswith(f".{part}")
            killed = killed.where(~is_other)

        def begin(connection: Connection) -> None:
            _mark_killed(connection, people.c.run.in_(killed))
            values = _run_values(record)
            known = select(runs.c.run).filter_by(**values)
            if not connection.scalar(known):  # else only the news of its commit was lost
                connection.execute(insert(runs).values(values))

        self._change(begin)

    def end_run(self, run: str, ended_at: datetime) -> None:
        """Record that a run has ended, and mark as unconfirmed what it left in flight.

        Raises LedgerUnwritable: it cannot be written; the next run of the same scope does it instead.
        """

        def end(connection: Connection) -> None:
            _mark_killed(connection, people.c.run == run)
            connection.execute(update(runs).where(runs.c.run == run).values(ended_at=ended_at.isoformat()))

        try:
            self.write_with(end)
        except DatabaseError as error:
            raise self._unwritable(str(error)) from None

    def run(self, run: str) -> RunRecord | None:
        """The run of that name."""
        return next(iter(self._find_runs(select(runs).where(runs.c.run == run))), None)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        return self._find_runs(select(runs))

    def unfinished_runs(self, scope: Scope) -> tuple[RunRecord, ...]:
        """The runs of a scope without an end: killed, or running now (see `lock_target`), the newest first."""
        return self._find_runs(select(runs).filter_by(**_scope_values(scope), ended_at=None))

    def _find_runs(self, query: Select[Any]) -> tuple[RunRecord, ...]:
        query = query.order_by(runs.c.started_at.desc(), runs.c.run.desc())
        return tuple(map(_record, self._ask(lambda connection: connection.execute(query).mappings().all())))

    def has_answered(self, base: str) -> bool:
        """Whether the service at that address ever responded to a run."""
        query = select(people.c.status).join(runs).where(runs.c.base == base, people.c.status.is_not(None)).limit(1)
        return self._ask(lambda connection: connection.scalar(query)) is not None

    # --- documents, by the key of their content (`Fingerprints.document`) ---

    def document_ids(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The IDs of those that were uploaded."""
        listed, wanted = list(keys), select(documents.c.key, documents.c.document_id)
        blocks = [listed[at : at + _AT_ONCE] for at in range(0, len(listed), _AT_ONCE)]
        queries = [wanted.where(documents.c.key.in_(each), documents.c.document_id.is_not(None)) for each in blocks]
        return self._ask(lambda connection: {key: id_ for one in queries for key, id_ in connection.execute(one)})

    def write_documents(
        self, service: str, intended: Collection[bytes], found: Mapping[bytes, str], forgotten: Collection[bytes]
    ) -> tuple[set[bytes], set[str]]:
        """Record a turn of uploads to a service. Returns those about to be uploaded of which an earlier upload gave no
        ID; and the IDs that another document has, which are not recorded.

        found: the IDs of those that were uploaded; forgotten: those that are not there, or have no ID of their own.
        """
        same_id = documents.c.service == service, documents.c.document_id.in_(found.values())

        def write(connection: Connection) -> tuple[set[bytes], set[str]]:
            connection.execute(delete(documents).where(documents.c.key.in_(forgotten)))
            others = select(documents.c.document_id).where(*same_id, documents.c.key.not_in(found))
            of_others = set(connection.scalars(others)) if found else set()
            ids = [{"of": key, "document_id": each} for key, each in found.items() if each not in of_others]
            known = set(connection.scalars(select(documents.c.key).where(documents.c.key.in_(intended))))
            new = [{"key": key, "service": service} for key in intended if key not in known]
            with_id = update(documents).where(documents.c.key == bindparam("of"))
            for statement, rows in ((with_id, ids), (insert(documents), new)):
                if rows:
                    connection.execute(statement, rows)
            return known, of_others

        return self._change(write)


# --- statements -----------------------------------------------------------------------------------


def _known(connection: Connection, wanted: Collection[bytes], query: Select[Any] = _WANTED) -> dict[bytes, Known]:
    """The records of these identities."""
    found = connection.execute(query, {"wanted": wanted}).all()
    return {identity: _as_known(*values) for identity, *values in found}


def _as_known(state: str, *others: Any) -> Known:
    return Known(State(state), *others)


def _write_changes(connection: Connection, changes: Changes, before: Mapping[bytes, Known]) -> None:
    """`before`: the records of its identities."""
    first: list[dict[str, Any]] = []
    again: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for identity, (known, attempts) in sorted(changes.items()):
        values = known._asdict() | {"state": known.state.value, "attempts": attempts}
        if identity not in before:
            first.append({"identity": identity} | values)
        elif known.state is State.IN_FLIGHT or (known.run, known.row) != (before[identity].run, before[identity].row):
            again.append({"of": identity} | values)
        else:
            answers.append({"of": identity} | {name: values[name] for name in _OF_ANSWER})
    # No ON CONFLICT: what another process inserted meanwhile must fail, and be looked up.
    for statement, rows in ((_IDENTIFIED, answers), (insert(people), first), (_IDENTIFIED, again)):
        if rows:
            connection.execute(statement, rows)


def _mark_killed(connection: Connection, of_runs: ColumnElement[bool]) -> None:
    """Mark intents of these runs without an answer as unconfirmed: after a crash they are never new."""
    left = people.c.state == State.IN_FLIGHT, of_runs
    connection.execute(update(people).where(*left).values(state=State.UNCONFIRMED))


def _record(values: RowMapping) -> RunRecord:
    began, ended = (value and datetime.fromisoformat(value) for value in (values["started_at"], values["ended_at"]))
    return RunRecord(values["run"], _scope(values["base"], values["operation"], values["target"]), began, ended)


def _run_values(record: RunRecord) -> dict[str, Any]:
    return {
        "run": record.run,
        **_scope_values(record.scope),
        "started_at": record.started_at.isoformat(),
        "ended_at": record.ended_at and record.ended_at.isoformat(),
    }


def _scope(base: str, operation: str, target: str) -> Scope:
    return Scope(base, Target(Operation(operation), target))


def _scope_values(scope: Scope) -> dict[str, str]:
    return {"base": scope.base, "operation": scope.target.operation.value, "target": scope.target.id}
