"""Which requests get which faults: the faults file, and the selection of requests by its seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveInt, model_validator

from importer.sandbox.http_messages import ErrorShape, Operation
from importer.sandbox.json_reading import AN_ARRAY, STRICT, checked, listed, quoted, read_json_file

# The keys of each kind, in addition to the selector, `operation` and `times`.
KINDS: dict[str, tuple[str, ...]] = {
    "delay": ("ms", "jitter_ms"),
    "401": (),
    "403": (),
    "410": (),
    "423": (),
    "429": ("retry_after", "seconds"),
    "500": ("when",),
    "502": ("when",),
    "503": ("when", "retry_after", "seconds"),
    "504": ("when",),
    "reset": ("when",),
    "hang_after": ("seconds",),
    "cut_head": (),
    "cut_body": (),
    "html": ("status",),
    "not_json_201": (),
    "empty_201": (),
    "redirect": ("status", "location"),
    "refuse": ("status", "message"),
}
_NEEDED: dict[str, tuple[str, ...]] = {"delay": ("ms",), "redirect": ("location",), "refuse": ("message",)}
_AFTER = frozenset(("delay", "hang_after", "cut_head", "cut_body", "not_json_201", "empty_201"))
_SELECTORS = ("share", "first", "every", "emails")
_STATUS: dict[str, Sequence[int]] = {  # the first is the usual one
    "redirect": (302, 301, 303, 307, 308),
    "refuse": range(400, 600),
    "html": (502, *range(400, 600)),
}


class Fault(BaseModel):
    """One fault of a faults file: what happens, to which requests, and how often for the same e-mail address.

    It has one selector: a `share` (0 to 1) of the requests, drawn by seed, subject and attempt, whatever their order;
    the `first` N; `every` Nth; or the `emails` of some people.

    `times` limits how many attempts of one e-mail address are hit, so that a retry succeeds; requests without an
    address (question lists) are not limited. `first` and `every` count only requests within the limit of `times`.
    """

    model_config = STRICT

    kind: str
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    first: PositiveInt | None = None
    every: PositiveInt | None = None
    emails: Annotated[tuple[str, ...], Field(min_length=1), AN_ARRAY] = ()
    operation: Literal["questions", "apply", "add-candidate", "any"] = "any"
    times: PositiveInt = 1
    when: Literal["before", "after"] = "before"
    ms: NonNegativeFloat = 0
    jitter_ms: NonNegativeFloat = 0
    retry_after: Literal["none", "seconds", "date"] = "none"
    seconds: NonNegativeFloat | None = None
    status: int = 0
    location: str = ""
    message: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_kind(cls, value: Any) -> Any:
        """With the status of its kind. Its keys are those of the kind."""
        if not isinstance(value, dict):
            return value
        kind = str(value.get("kind", ""))
        if kind not in KINDS:
            raise ValueError(f"kind {quoted(kind)} is not one of {listed(tuple(KINDS))}")
        known = ("kind", *_SELECTORS, "operation", "times", *KINDS[kind])
        if unknown := [name for name in value if name not in known]:
            raise ValueError(f"unknown name {quoted(unknown[0])}; known are {listed(known)}")
        if missing := [name for name in _NEEDED.get(kind, ()) if not str(value.get(name, "")).strip()]:
            raise ValueError(f"a {kind} needs {quoted(missing[0])}")
        if sum(name in value for name in _SELECTORS) != 1:
            raise ValueError(f"needs exactly one of {listed(_SELECTORS)} to select its requests")
        if "emails" in value and value.get("operation") == "questions":
            raise ValueError("question requests have no e-mail address; use share, first or every")
        return {"status": _STATUS.get(kind, (0,))[0], **value, "kind": kind}

    @model_validator(mode="after")
    def _valid(self) -> Fault:
        if self.status not in _STATUS.get(self.kind, (0,)):
            raise ValueError(f"the status {self.status} is not possible here")
        if not (self.location.isascii() and self.location.isprintable()):
            raise ValueError(f"location {quoted(self.location)} must be a web address or a path")
        return self

    @property
    def name(self) -> str:
        """The name of the fault in the log."""
        return f"{self.kind} {self.when}" if "when" in KINDS[self.kind] else self.kind

    @property
    def is_before(self) -> bool:
        """Whether the fault replaces the processing of the request."""
        return self.when == "before" if "when" in KINDS[self.kind] else self.kind not in _AFTER


class Faults(BaseModel):
    """The content of a faults file."""

    model_config = STRICT

    faults: Annotated[tuple[Fault, ...], AN_ARRAY] = ()
    seed: int = 0
    error_shape: ErrorShape = "fields"


def read_faults(path: Path) -> Faults:
    """Read a faults file: `{"seed": 7, "error_shape": "fields", "faults": [{"kind": "429", "first": 3}]}`.

    Each fault has a `kind` and one selector: `share` (0 to 1), `first` (requests), `every` (so many requests) or
    `emails`. It may have `operation` (questions, apply, add-candidate, any) and `times` (how many attempts of one
    e-mail address it hits; default 1). The kinds, with their other keys:

    - delay: `ms`, `jitter_ms`; added to any other fault
    - 401, 403, 410, 423: instead of processing the request
    - 429: `retry_after` (none, seconds, date), `seconds`
    - 500, 502, 503, 504, reset: `when` (before or after the request is processed); 503 also takes the keys of 429
    - hang_after: accepts, then sends nothing until the client disconnects or `seconds` have passed
    - cut_head: accepts, then closes the connection before the status is complete
    - cut_body: accepts, then closes the connection in the middle of the response
    - html: an error page with a `status`; redirect: a `status` and a `location`; neither accepts anything
    - not_json_201, empty_201: accepts, with a 201 that is not JSON or has no body
    - refuse: a `message` with a `status` (default 400), like a check of the service itself

    Raises:
        SandboxUnusable: the file cannot be used; lists every problem in it.
    """
    return checked(Faults, path, read_json_file(path))


# --- the selection --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about: faults are selected by this."""

    operation: Operation
    target: str
    email: str = ""

    @property
    def text(self) -> str:
        return f"{self.operation}/{self.target}/{self.email.casefold()}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A fault of a request; `random` (0 to 1) is drawn for its jitter."""

    fault: Fault
    random: float


class FaultSelector:
    """Selects the faults of each incoming request."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults = tuple(faults)
        self._seed = seed
        self._attempts: Counter[str] = Counter()
        self._hits: Counter[tuple[int, str]] = Counter()
        self._counted = [0] * len(self._faults)

    def select(self, subject: Subject) -> tuple[Hit, ...]:
        """The faults of this request, in the order of the file."""
        if not self._faults:
            return ()
        self._attempts[subject.text] += 1
        hits = []
        for index, fault in enumerate(self._faults):
            if self._is_eligible(index, fault, subject) and self._is_selected(index, fault, subject):
                self._hits[index, subject.text] += 1
                hits.append(Hit(fault, self._draw("jitter", index, subject)))
        return tuple(hits)

    def _is_eligible(self, index: int, fault: Fault, subject: Subject) -> bool:
        if fault.operation not in ("any", subject.operation):
            return False
        return not subject.email or self._hits[index, subject.text] < fault.times

    def _is_selected(self, index: int, fault: Fault, subject: Subject) -> bool:
        self._counted[index] += 1
        if fault.share is not None:
            return self._draw("meet", index, subject) < fault.share
        if fault.first is not None:
            return self._counted[index] <= fault.first
        if fault.every is not None:
            return self._counted[index] % fault.every == 0
        return subject.email.casefold() in map(str.casefold, fault.emails)

    def _draw(self, purpose: str, index: int, subject: Subject) -> float:
        """A number from 0 up to 1 that depends only on the seed and on this attempt of this subject."""
        text = f"{self._seed}/{purpose}/{index}/{self._attempts[subject.text]}/{subject.text}"
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
