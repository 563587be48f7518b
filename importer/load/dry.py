"""Loads nothing: says what would be sent."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from importer.ledger import DONE, LedgerStore, Scope
from importer.load.batches import growing_batches
from importer.load.outcomes import done_before
from importer.models import Outcome, OutcomeKind, ReadyCandidate


class DryLoader:
    """The shape of a Loader. `ledger` is None where there is none yet; nothing stops it, and it learns no rate."""

    stop: None = None
    learned_rate: None = None

    def __init__(self, ledger: LedgerStore | None, scope: Scope) -> None:
        self._ledger = ledger
        self._scope = scope

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """`done_before` for what the ledger knows as done, `not_sent` without a problem for the rest."""
        for batch in growing_batches(candidates):
            done = self._done(batch)
            for candidate in batch:
                yield done.get(candidate.row) or Outcome(candidate.row, OutcomeKind.NOT_SENT)

    def _done(self, batch: list[ReadyCandidate]) -> dict[int, Outcome]:
        ledger = self._ledger
        if ledger is None:
            return {}
        prints = ledger.fingerprints
        named = [(each, prints.identity(self._scope, each.email)) for each in batch]
        known = ledger.look_up([identity for _, identity in named])
        return {
            each.row: done_before(each.row, known[identity], prints.body_digest(each.body))
            for each, identity in named
            if identity in known and known[identity].state in DONE
        }
