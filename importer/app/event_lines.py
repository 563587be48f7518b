"""Events of a run in words, for every front door that shows them to a person."""

from __future__ import annotations

from typing import Final

from importer.app import orders
from importer.text.dates import in_words

_SHORT_DELAY: Final = 1.5  # seconds; shorter delays are not shown


def notice_of(event: orders.Event) -> str | None:
    """The line for an event that a person has to know of; None for any other."""
    return event.text if isinstance(event, orders.Remark) and not event.is_detail else None


def detail_of(event: orders.Event) -> str | None:
    """The line for an event that says what a run is doing or waits for; None for any other."""
    match event:
        case orders.Remark(text, is_detail=True):
            return text
        case orders.Preparing("uploaded", count, total):
            return f"{count:,} of {total:,} documents are uploaded."
        case orders.Preparing(what, count):
            return f"{count:,} rows are {what}; nothing has been sent yet."
        case orders.QuestionsDelayed(seconds, reason) if seconds >= _SHORT_DELAY:
            return f"The service does not list its questions ({reason}); next attempt in {in_words(seconds)}."
        case orders.Paused(reason, seconds, rows, gives_up_in, is_window):
            waiting = "1 row is waiting" if rows == 1 else f"{rows} rows are waiting"
            to_resend = f"{waiting} to be sent again; the" if rows else "The"
            unless = "" if is_window else " if no row is completed"
            return f"Waiting {in_words(seconds)}: {reason}. {to_resend} run stops in {in_words(gives_up_in)}{unless}."
        case orders.Resumed():
            return "Sending continues."
    return None
