"""The words for each outcome, its name, meaning and next step: the same in the workbook and on the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from importer.models import OutcomeKind


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """`label` as a person says it; `meaning` and `next_step` are short phrases in lower case."""

    label: str
    meaning: str
    next_step: str


WORDS: Final[dict[OutcomeKind, OutcomeWords]] = {
    OutcomeKind.CREATED: OutcomeWords("created", "the service accepted it", "nothing to do"),
    OutcomeKind.ALREADY_THERE: OutcomeWords("already there", "the service had this person already", "nothing to do"),
    OutcomeKind.REJECTED: OutcomeWords("rejected", "the service refused it", "mend the row and run it again"),
    OutcomeKind.INVALID: OutcomeWords(
        "invalid", "our own checks refused it; nothing was sent", "mend the marked cells and run it again"
    ),
    OutcomeKind.FAILED: OutcomeWords("failed", "not accepted after the last attempt", "run the same command again"),
    OutcomeKind.UNCLEAR: OutcomeWords(
        "unclear", "sent, but no answer says whether it arrived", "run the same command again: that settles it"
    ),
    OutcomeKind.NOT_SENT: OutcomeWords(
        "not sent", "the run stopped before its turn", "run the same command again: done rows are skipped"
    ),
    OutcomeKind.DONE_BEFORE: OutcomeWords(
        "done before", "an earlier run settled it; no request was made", "nothing to do"
    ),
    OutcomeKind.FILTERED: OutcomeWords("filtered", "left out by where: in the mapping file", "nothing to do"),
}

_READY = OutcomeWords("ready", "passed every check; nothing was sent", "run it for real")

# The outcomes whose rows a person or a later run must still bring in.
OPEN: Final = (OutcomeKind.REJECTED, OutcomeKind.INVALID, OutcomeKind.FAILED, OutcomeKind.UNCLEAR)


def words_for(kind: OutcomeKind, *, dry_run: bool = False) -> OutcomeWords:
    """The words for an outcome; a row that a dry run did not send has not been stopped but is ready."""
    return _READY if dry_run and kind is OutcomeKind.NOT_SENT else WORDS[kind]
