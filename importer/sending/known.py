"""What the ledger knows of a row before it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from importer.ledger import DONE, Fingerprints, Known, Ledger, RunRecord, Scope, State
from importer.models import Outcome, ReadyCandidate
from importer.sending.answers import PendingRow, is_odd
from importer.sending.explanations import already_imported, rejected_before, unconfirmed_before
from importer.sending.options import LoadOptions

_LARGEST_BATCH: Final = 32  # rows: planning a batch takes a few milliseconds, and nothing is recorded meanwhile
_MOST_LAST: Final = 1_000  # rows that are held in memory until the others were planned

Earlier = Callable[[str, int], Outcome | None]


def unknown(_run: str, _row: int) -> Outcome | None:
    """For runs without readable results."""
    return None


LookUp = Callable[[list[bytes]], dict[bytes, Known]]


def planned(
    candidates: Iterator[ReadyCandidate],
    prints: Fingerprints,
    look_up: LookUp,
    run: RunRecord,
    earlier: Earlier,
    options: LoadOptions,
) -> Iterator[Outcome | PendingRow]:
    """A pending row for each that is to be sent, an outcome for each other one; looks the rows up in batches.

    Rows that the service has refused as if token, target or address were wrong come last: if it refuses them still, no
    new row is held back by them.
    """
    last: list[PendingRow] = []
    for candidate, identity, known in _with_known(candidates, prints, run.scope, look_up):
        digest = prints.body_digest(candidate.body)
        pending = PendingRow(candidate.row, identity, candidate.body, digest, candidate.origin, run=run.run)
        found = pending if known is None else _planned_again(pending, known, earlier, options)
        if found is pending and known is not None and is_odd(known.status) and len(last) < _MOST_LAST:
            last.append(pending)
        else:
            yield found
    yield from last


def _planned_again(pending: PendingRow, known: Known, earlier: Earlier, options: LoadOptions) -> Outcome | PendingRow:
    settled = _settled(pending.row, known, pending.body_digest, earlier, options)
    if settled is not None:
        return settled
    if known.state in (State.UNCONFIRMED, State.IN_FLIGHT):
        pending.may_exist, pending.earlier = True, known
    return pending


def not_sent_again(
    candidates: Iterable[ReadyCandidate],
    ledger: Ledger,
    scope: Scope,
    options: LoadOptions,
    earlier: Earlier = unknown,
    *,
    is_killed: bool = False,
) -> dict[int, Outcome]:
    """The outcomes of those that a run would not send, by what became of them before; by row. is_killed: nor would it
    send unconfirmed ones.
    """
    found: dict[int, Outcome] = {}
    for candidate, _, known in _with_known(iter(candidates), ledger.fingerprints, scope, ledger.look_up):
        digest = ledger.fingerprints.body_digest(candidate.body)
        if known is not None and (outcome := _settled(candidate.row, known, digest, earlier, options)) is not None:
            found[candidate.row] = outcome
        elif known is not None and is_killed and known.state in (State.UNCONFIRMED, State.IN_FLIGHT):
            found[candidate.row] = unconfirmed_before(candidate.row, known, options.out)
    return found


def known_before(ledger: Ledger, scope: Scope, out: str = "") -> Callable[[list[ReadyCandidate]], dict[int, Outcome]]:
    """For candidates that a killed run did not come to: the outcomes of those, by row, that earlier runs have sent."""
    return lambda ready: not_sent_again(ready, ledger, scope, LoadOptions(out=out), is_killed=True)


def _settled(row: int, known: Known, digest: bytes, earlier: Earlier, options: LoadOptions) -> Outcome | None:
    """The outcome of a row that is not sent by what became of it before; else None."""
    if known.state in DONE:
        return already_imported(row, known, digest)
    if known.state is State.REJECTED and known.body_digest == digest and not options.resend_rejected:
        return rejected_before(row, known, earlier(known.run, known.row))
    if known.state in (State.UNCONFIRMED, State.IN_FLIGHT) and options.resend_unconfirmed == "never":
        return unconfirmed_before(row, known, options.out, is_never=True)
    return None


def _with_known(
    candidates: Iterator[ReadyCandidate], prints: Fingerprints, scope: Scope, look_up: LookUp
) -> Iterator[tuple[ReadyCandidate, bytes, Known | None]]:
    """Each candidate with its identity and the ledger's record; the first row is looked up on its own."""
    size = 1
    while batch := list(islice(candidates, size)):
        identities = [prints.identity(scope, candidate.email) for candidate in batch]
        known = look_up(identities)
        for candidate, identity in zip(batch, identities, strict=True):
            yield candidate, identity, known.get(identity)
        size = min(size * 2, _LARGEST_BATCH)
