"""How an answer leaves the sandbox, and what a fault makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from enum import Enum

from importer.sandbox.error_shapes import ErrorShape, error_reply
from importer.sandbox.faults import Fault, Hit
from importer.sandbox.refusals import Refusal
from importer.sandbox.replies import HTML, Reply

_BEFORE = frozenset(("401", "403", "410", "423", "429", "html", "redirect", "refuse"))
_BY_WHEN = frozenset(("500", "502", "503", "504", "reset"))
_HTML_PAGE = b"<html>\r\n<head><title>%d</title></head>\r\n<body><center><h1>%d</h1></center></body>\r\n</html>\r\n"
_SAYS = {
    "401": "the token is not accepted",
    "403": "this is not allowed to you",
    "410": "this is gone",
    "423": "this is locked",
    "429": "too many requests",
    "500": "internal error",
    "502": "bad gateway",
    "503": "service unavailable",
    "504": "gateway timeout",
}


class Ending(Enum):
    """What becomes of the connection."""

    ANSWER = "the whole answer, then the next request"
    CUT_HEAD = "a part of the status line, then closed"
    CUT = "the head and half of the body, then closed"
    RESET = "nothing, reset"
    HANG = "nothing until the client goes"


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer, or its absence: after `delay` seconds, with what `ending`; `fault` names what befell it, for the log.

    `patience` limits a HANG, in seconds; then the connection is closed.
    """

    reply: Reply
    ending: Ending = Ending.ANSWER
    delay: float = 0.0
    fault: str | None = None
    patience: float | None = None


def striking_before(hits: Sequence[Hit]) -> Fault | None:
    """The first of the faults that keeps the request from being worked on."""
    return next((hit.fault for hit in hits if _strikes_before(hit.fault)), None)


def fault_before(fault: Fault, shape: ErrorShape, now: datetime) -> Delivery:
    """What is delivered in place of working on the request."""
    return _spoilt(fault, Delivery(Reply(0), fault=fault.name), shape, now)


def fault_after(hits: Sequence[Hit], delivery: Delivery, shape: ErrorShape, now: datetime) -> Delivery:
    """What the first fault that strikes after the work makes of its answer."""
    fault = next((hit.fault for hit in hits if hit.fault.kind != "delay" and not _strikes_before(hit.fault)), None)
    return _spoilt(fault, delivery, shape, now) if fault else delivery


def delayed(hits: Sequence[Hit], delivery: Delivery) -> Delivery:
    """The delivery after the delays that the request meets."""
    delays = [hit for hit in hits if hit.fault.kind == "delay"]
    if not delays:
        return delivery
    wait = sum(hit.fault.milliseconds + hit.luck * hit.fault.jitter_milliseconds for hit in delays) / 1000
    return replace(delivery, delay=wait, fault=delivery.fault or "delay")


def _strikes_before(fault: Fault) -> bool:
    return fault.kind in _BEFORE or (fault.kind in _BY_WHEN and fault.when == "before")


def _spoilt(fault: Fault, delivery: Delivery, shape: ErrorShape, now: datetime) -> Delivery:
    reply = delivery.reply
    match fault.kind:
        case "reset":
            return replace(delivery, ending=Ending.RESET, fault=fault.name)
        case "hang_after":
            return replace(delivery, ending=Ending.HANG, fault=fault.name, patience=fault.seconds)
        case "cut_head":
            return replace(delivery, ending=Ending.CUT_HEAD, fault=fault.name)
        case "cut_body":
            return replace(delivery, ending=Ending.CUT, fault=fault.name)
        case "not_json_201" | "empty_201" if reply.status != 201:
            return delivery  # a 201 for what was not accepted would be a lie
        case "not_json_201":
            spoilt = Reply(201, b"<p>Your application was received.</p>", HTML)
        case "empty_201":
            spoilt = Reply(201)
        case "html":
            spoilt = Reply(fault.status, _HTML_PAGE % (fault.status, fault.status), HTML)
        case "redirect":
            spoilt = Reply(fault.status, headers=(("Location", fault.location),))
        case "refuse":
            spoilt = error_reply(fault.status, [Refusal("", fault.message)], shape)
        case _:
            refusals = [Refusal("", _SAYS[fault.kind])]
            spoilt = replace(error_reply(int(fault.kind), refusals, shape), headers=_retry_after(fault, now))
    return replace(delivery, reply=spoilt, fault=fault.name)


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    seconds = 1 if fault.seconds is None else math.ceil(fault.seconds)
    if fault.retry_after == "none":
        return ()
    if fault.retry_after == "seconds":
        return (("Retry-After", str(seconds)),)
    whole = now.replace(microsecond=0) + timedelta(seconds=1 if now.microsecond else 0)
    return (("Retry-After", format_datetime(whole + timedelta(seconds=seconds), usegmt=True)),)
