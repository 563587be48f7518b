"""What a group of intents and answers does to the states of their identities: decided here, written by each store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from importer.ledger.records import Answered, Attempt, Intent, Known
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


class Begun(NamedTuple):
    """An attempt that is begun, and what is known of its identity from then on.

    after_doubt: an earlier request for the same identity was in doubt when this one was intended.
    """

    attempt: Attempt
    known: Known
    after_doubt: bool


@dataclass(slots=True)
class GroupPlan:
    """What is to be written of a group: `answers` first, then `begun`, all in one transaction; and what is refused.

    The answer to an attempt never shares a group with its own intent, which was waited for; but the next intent of the
    same identity may share one with it. answers: the last of each identity, since an attempt may be given up as soon
    as it ended; refused: by the index in the group.
    """

    answers: dict[bytes, Answered] = field(default_factory=dict)
    begun: list[Begun] = field(default_factory=list)
    refused: dict[int, NotAllowed] = field(default_factory=dict)


def plan_group(known: dict[bytes, Known], group: Iterable[Write]) -> GroupPlan:
    """What the table of states allows of a group, in its order. `known`: of all its identities; brought up to date."""
    plan = GroupPlan()
    for index, write in enumerate(group):
        attempt = write.attempt
        now = known.get(attempt.identity)
        before = now.state if now else None
        after = State.IN_FLIGHT if isinstance(write, Intent) else write.state
        if not allowed(before, after):
            plan.refused[index] = NotAllowed(before, after, now.row if now else None)
        elif isinstance(write, Intent):
            status, digest = now.status if now else None, write.body_digest
            if now is not None and before is State.UNCLEAR:
                digest = now.body_digest  # while that one is in doubt, a refusal must be compared with it
            begun = Begun(attempt, Known(after, status, digest, attempt.run, attempt.row), before is State.UNCLEAR)
            known[attempt.identity] = begun.known
            plan.begun.append(begun)
        elif now is not None:
            known[attempt.identity] = now._replace(state=after, status=write.status)
            plan.answers[attempt.identity] = write
    return plan
