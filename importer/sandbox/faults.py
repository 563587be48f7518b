"""Which requests meet which fault, drawn from a seed, and how the answer leaves the sandbox then."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from typing import Literal

from importer.sandbox.http_messages import HTML, ErrorShape, Operation, Refusal, Reply, error_reply

Kind = Literal[
    "delay",
    "401",
    "403",
    "410",
    "423",
    "429",
    "500",
    "502",
    "503",
    "504",
    "reset",
    "hang_after",
    "cut_head",
    "cut_body",
    "html",
    "not_json_201",
    "empty_201",
    "redirect",
    "refuse",
]

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


@dataclass(frozen=True, slots=True)
class Share:
    """A share (0 to 1) of the requests, drawn by seed, subject and attempt: whatever the order they come in."""

    share: float


@dataclass(frozen=True, slots=True)
class First:
    """The first so many requests, in the order they come in."""

    count: int


@dataclass(frozen=True, slots=True)
class Every:
    """Each request whose number, in the order they come in, is a multiple."""

    step: int


@dataclass(frozen=True, slots=True)
class Emails:
    """The requests for certain people (casefolded addresses)."""

    emails: frozenset[str]


Selection = Share | First | Every | Emails


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a faults file: what happens, to which requests, and how often to the same person.

    `times` limits the attempts of one e-mail address that are hit, so that a retry comes through; requests without
    an address (question lists) have no such limit. `first` and `every` count only requests that `times` lets through.
    """

    kind: Kind
    selection: Selection
    operation: Operation | None = None
    times: int = 1
    when: Literal["before", "after"] = "before"
    milliseconds: float = 0
    jitter_milliseconds: float = 0
    retry_after: Literal["none", "seconds", "date"] = "none"
    seconds: float | None = None
    status: int = 0
    location: str = ""
    message: str = ""

    @property
    def name(self) -> str:
        """How the log names it."""
        return f"{self.kind} {self.when}" if self.kind in ("500", "502", "503", "504", "reset") else self.kind


@dataclass(frozen=True, slots=True)
class Faults:
    """What a faults file holds."""

    faults: tuple[Fault, ...] = ()
    seed: int = 0
    error_shape: ErrorShape = "fields"


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a request is about, as far as faults go."""

    operation: Operation
    target: str
    email: str = ""

    @property
    def text(self) -> str:
        return f"{self.operation}/{self.target}/{self.email.casefold()}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A fault that a request meets; `random` (0 to 1) is its own draw, for the jitter."""

    fault: Fault
    random: float


class FaultSelector:
    """Says of each request, as it comes in, which faults it meets."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults = tuple(faults)
        self._seed = seed
        self._attempts: Counter[str] = Counter()
        self._hits: Counter[tuple[int, str]] = Counter()
        self._counted = [0] * len(self._faults)

    def select(self, subject: Subject) -> tuple[Hit, ...]:
        """The faults that this request meets, in the order of the file."""
        if not self._faults:
            return ()
        self._attempts[subject.text] += 1
        hits = []
        for index, fault in enumerate(self._faults):
            if self._may_meet(index, fault, subject) and self._meets(index, fault, subject):
                self._hits[index, subject.text] += 1
                hits.append(Hit(fault, self._draw("jitter", index, subject)))
        return tuple(hits)

    def _may_meet(self, index: int, fault: Fault, subject: Subject) -> bool:
        if fault.operation not in (None, subject.operation):
            return False
        return not subject.email or self._hits[index, subject.text] < fault.times

    def _meets(self, index: int, fault: Fault, subject: Subject) -> bool:
        self._counted[index] += 1
        match fault.selection:
            case Share(share):
                return self._draw("meet", index, subject) < share
            case First(count):
                return self._counted[index] <= count
            case Every(step):
                return self._counted[index] % step == 0
            case Emails(emails):
                return subject.email.casefold() in emails

    def _draw(self, purpose: str, index: int, subject: Subject) -> float:
        """A number from 0 up to 1 that depends on the seed and on this attempt of this subject alone."""
        text = f"{self._seed}/{purpose}/{index}/{self._attempts[subject.text]}/{subject.text}"
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


class Ending(Enum):
    """What becomes of the connection."""

    ANSWER = "the whole answer, then the next request"
    CUT_HEAD = "a part of the status line, then closed"
    CUT = "the head and half of the body, then closed"
    RESET = "nothing, reset"
    HANG = "nothing until the client goes"


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer, or its absence: after `delay` seconds, with what `ending`; `fault` is its name in the log.

    `patience` limits a HANG, in seconds; then the connection is closed.
    """

    reply: Reply
    ending: Ending = Ending.ANSWER
    delay: float = 0.0
    fault: str | None = None
    patience: float | None = None


def deliver(hits: Sequence[Hit], work: Callable[[], Reply], shape: ErrorShape, now: datetime) -> Delivery:
    """The answer of `work`, or what its first fault makes of it; a fault that hits before keeps `work` from being done.

    Delays are added to whatever else the request meets.
    """
    delays = [hit for hit in hits if hit.fault.kind == "delay"]
    others = [hit.fault for hit in hits if hit.fault.kind != "delay"]
    before = next((fault for fault in others if _is_before(fault)), None)
    if before:
        delivery = _with_fault(before, Delivery(Reply(0)), shape, now)
    else:
        delivery = Delivery(work())
        if others:
            delivery = _with_fault(others[0], delivery, shape, now)
    if not delays:
        return delivery
    wait = sum(hit.fault.milliseconds + hit.random * hit.fault.jitter_milliseconds for hit in delays) / 1000
    return replace(delivery, delay=wait, fault=delivery.fault or "delay")


def _is_before(fault: Fault) -> bool:
    return fault.kind in _BEFORE or (fault.kind in _BY_WHEN and fault.when == "before")


def _with_fault(fault: Fault, delivery: Delivery, shape: ErrorShape, now: datetime) -> Delivery:
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
            return delivery  # a 201 would be wrong for what was not accepted
        case "not_json_201":
            changed = Reply(201, b"<p>Your application was received.</p>", HTML)
        case "empty_201":
            changed = Reply(201)
        case "html":
            changed = Reply(fault.status, _HTML_PAGE % (fault.status, fault.status), HTML)
        case "redirect":
            changed = Reply(fault.status, headers=(("Location", fault.location),))
        case "refuse":
            changed = error_reply(fault.status, [Refusal("", fault.message)], shape)
        case _:
            refusals = [Refusal("", _SAYS[fault.kind])]
            changed = replace(error_reply(int(fault.kind), refusals, shape), headers=_retry_after(fault, now))
    return replace(delivery, reply=changed, fault=fault.name)


def _retry_after(fault: Fault, now: datetime) -> tuple[tuple[str, str], ...]:
    seconds = 1 if fault.seconds is None else math.ceil(fault.seconds)
    if fault.retry_after == "none":
        return ()
    if fault.retry_after == "seconds":
        return (("Retry-After", str(seconds)),)
    whole = now.replace(microsecond=0) + timedelta(seconds=1 if now.microsecond else 0)
    return (("Retry-After", format_datetime(whole + timedelta(seconds=seconds), usegmt=True)),)
