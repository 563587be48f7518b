"""Which requests meet which fault: drawn from a seed, so that the same requests meet the same faults."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from importer.sandbox.error_shapes import ErrorShape
from importer.sandbox.routes import Operation

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
    """A fault that a request meets; `luck` (0 to 1) is its own draw, for the jitter."""

    fault: Fault
    luck: float


class FaultDealer:
    """Says of each request, as it comes in, which faults it meets."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults = tuple(faults)
        self._seed = seed
        self._attempts: Counter[str] = Counter()
        self._hits: Counter[tuple[int, str]] = Counter()
        self._counted = [0] * len(self._faults)

    def deal(self, subject: Subject) -> tuple[Hit, ...]:
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
