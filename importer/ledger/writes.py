"""Puts a group of intents and answers into the tables: one transaction, every step checked against the states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, BindParameter, Connection, Engine, Select, and_, insert, select, true, update
from sqlalchemy.dialects.sqlite import insert as insert_or_update
from sqlalchemy.sql.expression import Executable

from importer.ledger.groups import Waiting
from importer.ledger.records import Answered, Intent
from importer.ledger.schema import attempts, identities
from importer.ledger.statements import PreparedLookUp, PreparedRows
from importer.ledger.states import State, allowed

Write = Intent | Answered


class NotAllowed(RuntimeError):
    """The ledger refuses a step that the table of states does not have. Nothing was written of it.

    `row` is the one that brought the identity into the state that it is in, None where there is none.
    """

    def __init__(self, before: State | None, after: State, row: int | None) -> None:
        self.before = before
        self.after = after
        self.row = row
        super().__init__(f"no step from {before or 'nothing'} to {after}")


_IDENTITY = [column.name for column in identities.columns]
_ATTEMPT = [column.name for column in attempts.columns]
_ANSWER = ("identity", "run", "row", "number", "state", "status", "now")


def _intend(given: CTE) -> Executable:
    new = insert_or_update(identities).from_select(_IDENTITY, select(given).where(true()))  # SQLite asks for the where
    changed = {name: new.excluded[name] for name in _IDENTITY if name != "identity"}
    return new.on_conflict_do_update(index_elements=[identities.c.identity], set_=changed)


def _begin_attempts(given: CTE) -> Executable:
    return insert(attempts).from_select(_ATTEMPT, select(given).distinct())


def _answer(given: CTE) -> Executable:
    new = {"state": given.c.state, "status": given.c.status, "updated_at": given.c.now}
    return update(identities).where(identities.c.identity == given.c.identity).values(new)


def _end_attempts(given: CTE) -> Executable:
    is_it = and_(*(attempts.c[name] == given.c[name] for name in ("run", "row", "number")))
    return (
        update(attempts)
        .where(is_it)
        .values({"state": given.c.state, "status": given.c.status, "ended_at": given.c.now})
    )


@dataclass(frozen=True, slots=True)
class _Standing:
    state: State
    status: int | None
    body_digest: bytes
    row: int


class GroupWrites:
    """The statements of a group, for one database."""

    def __init__(self, engine: Engine) -> None:
        self._look_up = PreparedLookUp(_standing_of, engine)
        self._intend = PreparedRows(_intend, _IDENTITY, engine)
        self._begin_attempts = PreparedRows(_begin_attempts, _ATTEMPT, engine)
        self._answer = PreparedRows(_answer, _ANSWER, engine)
        self._end_attempts = PreparedRows(_end_attempts, _ANSWER, engine)

    def write(self, connection: Connection, group: list[Waiting[Write]], now: float) -> dict[int, NotAllowed]:
        """Write what the states allow; give the refused ones by their index in `group`. `now`: seconds since 1970."""
        standing = self._standing(connection, group)
        refused: dict[int, NotAllowed] = {}
        intents: list[dict[str, Any]] = []
        attempts_begun: list[dict[str, Any]] = []
        answers: dict[bytes, dict[str, Any]] = {}  # the last of each: an attempt may be given up as soon as it ended
        for index, waiting in enumerate(group):
            write = waiting.write
            identity = write.attempt.identity
            now_in = standing.get(identity)
            before = now_in.state if now_in else None
            after = State.IN_FLIGHT if isinstance(write, Intent) else write.state
            if not allowed(before, after):
                refused[index] = NotAllowed(before, after, now_in.row if now_in else None)
                continue
            if isinstance(write, Intent):
                status = now_in.status if now_in else None
                standing[identity] = _Standing(after, status, _digest_to_keep(write, now_in), write.attempt.row)
                intents.append(_intent_row(write, standing[identity], now))
                attempts_begun.append(_begun_row(write, before is State.UNCLEAR, now))
            elif now_in is not None:
                standing[identity] = _Standing(after, write.status, now_in.body_digest, now_in.row)
                answers[identity] = _answer_row(write, now)
        # Answers first: the answer to an attempt never shares a group with its own intent, which was waited for, but
        # the next intent of the same identity may share one with it, and the database allows one open attempt.
        if answers:
            self._answer.execute(connection, list(answers.values()))
            self._end_attempts.execute(connection, list(answers.values()))
        if intents:
            self._intend.execute(connection, intents)
            self._begin_attempts.execute(connection, attempts_begun)
        return refused

    def _standing(self, connection: Connection, group: list[Waiting[Write]]) -> dict[bytes, _Standing]:
        found = self._look_up.execute(connection, {waiting.write.attempt.identity for waiting in group})
        return {identity: _Standing(State(state), *rest) for identity, state, *rest in found}


def _standing_of(wanted: list[BindParameter[Any]]) -> Select[Any]:
    columns = identities.c
    query = select(columns.identity, columns.state, columns.status, columns.body_digest, columns.row)
    return query.where(columns.identity.in_(wanted))


def _digest_to_keep(intent: Intent, standing: _Standing | None) -> bytes:
    """While it is unclear whether a body was accepted, that body is the one that a refusal must be compared with."""
    if standing is not None and standing.state is State.UNCLEAR:
        return standing.body_digest
    return intent.body_digest


def _answer_row(write: Answered, now: float) -> dict[str, Any]:
    return {
        "identity": write.attempt.identity,
        "run": write.attempt.run,
        "row": write.attempt.row,
        "number": write.attempt.number,
        "state": write.state.value,
        "status": write.status,
        "now": now,
    }


def _intent_row(write: Intent, standing: _Standing, now: float) -> dict[str, Any]:
    return {
        "identity": write.attempt.identity,
        "state": State.IN_FLIGHT.value,
        "status": standing.status,
        "body_digest": standing.body_digest,
        "run": write.attempt.run,
        "row": write.attempt.row,
        "updated_at": now,
    }


def _begun_row(write: Intent, after_doubt: bool, now: float) -> dict[str, Any]:
    return {
        "run": write.attempt.run,
        "row": write.attempt.row,
        "number": write.attempt.number,
        "identity": write.attempt.identity,
        "started_at": now,
        "after_doubt": after_doubt,
        "ended_at": None,
        "status": None,
        "state": State.IN_FLIGHT.value,
    }
