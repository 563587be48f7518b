"""What was intended, sent and answered, durably: the only room that knows the database."""

from importer.ledger.earlier import EarlierOutcomes
from importer.ledger.first_rows import FirstRows
from importer.ledger.identity import Fingerprints, Scope, normalized_email
from importer.ledger.journal import JOURNAL, RunJournal
from importer.ledger.ledger import Ledger
from importer.ledger.lock import (
    Presence,
    forget_presence,
    is_abandoned,
    refuse_while_locked,
    rehearsal_lock,
    runs_at_work,
    target_lock,
)
from importer.ledger.records import Answered, Attempt, Intent, Known, RowState, RunRecord
from importer.ledger.row_set import RowSet
from importer.ledger.states import DONE, TRANSITIONS, State, Transition
from importer.ledger.trouble import LedgerUnwritable
from importer.ledger.writes import NotAllowed

__all__ = [
    "DONE",
    "JOURNAL",
    "TRANSITIONS",
    "Answered",
    "Attempt",
    "EarlierOutcomes",
    "Fingerprints",
    "FirstRows",
    "Intent",
    "Known",
    "Ledger",
    "LedgerUnwritable",
    "NotAllowed",
    "Presence",
    "RowSet",
    "RowState",
    "RunJournal",
    "RunRecord",
    "Scope",
    "State",
    "Transition",
    "forget_presence",
    "is_abandoned",
    "normalized_email",
    "refuse_while_locked",
    "rehearsal_lock",
    "runs_at_work",
    "target_lock",
]
