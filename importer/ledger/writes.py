"""Puts a group of intents and answers into the tables: one transaction, every step checked against the states."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from importer.ledger.groups import Waiting
from importer.ledger.records import Answered, Intent
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


_IDENTITY: Final = ("identity", "state", "status", "body_digest", "run", "row", "updated_at")
_ATTEMPT: Final = ("run", "row", "number", "identity", "started_at", "state", "after_doubt")
_ANSWER: Final = ("identity", "run", "row", "number", "state", "status", "now")

_standing_of = PreparedLookUp("SELECT identity, state, status, body_digest, row FROM identities WHERE identity IN")
# WHERE true: without it SQLite takes the ON that follows for that of a join.
_intend = PreparedRows(
    _IDENTITY,
    f"""INSERT INTO identities ({", ".join(_IDENTITY)}) SELECT * FROM given WHERE true
        ON CONFLICT (identity) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _IDENTITY[1:])}""",
)
_begin_attempts = PreparedRows(_ATTEMPT, f"INSERT INTO attempts ({', '.join(_ATTEMPT)}) SELECT DISTINCT * FROM given")
_answer = PreparedRows(
    _ANSWER,
    """UPDATE identities SET state = given.state, status = given.status, updated_at = given.now
       FROM given WHERE identities.identity = given.identity""",
)
_end_attempts = PreparedRows(
    _ANSWER,
    """UPDATE attempts SET state = given.state, status = given.status, ended_at = given.now
       FROM given WHERE attempts.run = given.run AND attempts.row = given.row AND attempts.number = given.number""",
)


class _Standing(NamedTuple):
    state: State
    status: int | None
    body_digest: bytes
    row: int


def write_group(connection: sqlite3.Connection, group: list[Waiting[Write]], now: float) -> dict[int, NotAllowed]:
    """Write what the states allow; give the refused ones by their index in `group`. `now`: seconds since 1970."""
    standing = _standing(connection, group)
    refused: dict[int, NotAllowed] = {}
    intents: list[tuple[Any, ...]] = []
    attempts_begun: list[tuple[Any, ...]] = []
    answers: dict[bytes, tuple[Any, ...]] = {}  # the last of each: an attempt may be given up as soon as it ended
    for index, waiting in enumerate(group):
        write = waiting.write
        attempt = write.attempt
        identity = attempt.identity
        now_in = standing.get(identity)
        before = now_in.state if now_in else None
        after = State.IN_FLIGHT if isinstance(write, Intent) else write.state
        if not allowed(before, after):
            refused[index] = NotAllowed(before, after, now_in.row if now_in else None)
        elif isinstance(write, Intent):
            status = now_in.status if now_in else None
            digest = _digest_to_keep(write, now_in)
            standing[identity] = _Standing(after, status, digest, attempt.row)
            intents.append((identity, after.value, status, digest, attempt.run, attempt.row, now))
            after_doubt = before is State.UNCLEAR
            begun = (attempt.run, attempt.row, attempt.number, identity, now, after.value, after_doubt)
            attempts_begun.append(begun)
        elif now_in is not None:
            standing[identity] = _Standing(after, write.status, now_in.body_digest, now_in.row)
            ended = (identity, attempt.run, attempt.row, attempt.number, after.value, write.status, now)
            answers[identity] = ended
    # Answers first: the answer to an attempt never shares a group with its own intent, which was waited for, but
    # the next intent of the same identity may share one with it, and the database allows one open attempt.
    if answers:
        _answer.execute(connection, list(answers.values()))
        _end_attempts.execute(connection, list(answers.values()))
    if intents:
        _intend.execute(connection, intents)
        _begin_attempts.execute(connection, attempts_begun)
    return refused


def _standing(connection: sqlite3.Connection, group: list[Waiting[Write]]) -> dict[bytes, _Standing]:
    found = _standing_of.execute(connection, {waiting.write.attempt.identity for waiting in group})
    return {identity: _Standing(State(state), *rest) for identity, state, *rest in found}


def _digest_to_keep(intent: Intent, standing: _Standing | None) -> bytes:
    """While it is unclear whether a body was accepted, that body is the one that a refusal must be compared with."""
    if standing is not None and standing.state is State.UNCLEAR:
        return standing.body_digest
    return intent.body_digest
