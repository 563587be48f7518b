"""Which requests get which faults: the faults file (docs/sandbox.md), and the selection of requests by its seed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveInt, model_validator

from importer.sandbox.files import STRICT, checked, listed, quoted, read_json_file

ErrorShape = Literal["fields", "list", "detail", "message", "nested", "html", "empty"]
"""The shapes of an error body: the service description (part 7) shows none, so the sandbox offers several."""

# The keys of each kind, in addition to the selector, `operation` and `times`.
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "delay": ("ms", "jitter_ms"),
    **dict.fromkeys(("401", "403", "410", "423"), ()),
    "429": ("retry_after", "seconds"),
    **dict.fromkeys(("500", "502", "504", "reset"), ("when",)),
    "503": ("when", "retry_after", "seconds"),
    "hang_after": ("seconds",),
    **dict.fromkeys(("cut_head", "cut_body", "not_json_201", "empty_201"), ()),
    "html": ("status",),
    "redirect": ("status", "location"),
    "refuse": ("status", "message"),
}
_NEEDED: Final = {"delay": "ms", "redirect": "location", "refuse": "message"}
_AFTER: Final = frozenset(("delay", "hang_after", "cut_head", "cut_body", "not_json_201", "empty_201"))
_SELECTORS: Final = ("share", "first", "every", "emails")
_STATUS: Final[dict[str, Sequence[int]]] = {  # the first is the usual one
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
    emails: Annotated[list[str], Field(min_length=1)] | None = None
    operation: Literal["questions", "apply", "add-candidate", "files", "any"] = "any"
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
            raise ValueError(f"kind {quoted(kind)} is not one of {listed(KINDS)}")
        known = ("kind", *_SELECTORS, "operation", "times", *KINDS[kind])
        if unknown := [name for name in value if name not in known]:
            raise ValueError(f"unknown name {quoted(unknown[0])}; known are {listed(known)}")
        if kind in _NEEDED and not str(value.get(_NEEDED[kind], "")).strip():
            raise ValueError(f"a {kind} needs {quoted(_NEEDED[kind])}")
        if sum(name in value for name in _SELECTORS) != 1:
            raise ValueError(f"needs exactly one of {listed(_SELECTORS)} to select its requests")
        if "emails" in value and value.get("operation") in ("questions", "files"):
            raise ValueError("these requests have no e-mail address; use share, first or every")
        possible = _STATUS.get(kind, (0,))
        if value.get("status", possible[0]) not in possible:
            raise ValueError(f"the status {value['status']} is not possible here")
        if not re.fullmatch("[!-~]*", str(value.get("location", ""))):
            raise ValueError(f"location {quoted(value['location'])} must be a web address or a path")
        return {"status": possible[0], **value, "kind": kind}

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

    faults: list[Fault] = []
    seed: int = 0
    error_shape: ErrorShape = "fields"


def read_faults(path: Path) -> Faults:
    """The content of a faults file. Raises SandboxUnusable, with every problem in it."""
    return checked(Faults, path, read_json_file(path))


# --- the selection --------------------------------------------------------------------------------


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

    def select(self, operation: str, target: str, email: str = "") -> list[Hit]:
        """The faults of a request, in the order of the file."""
        if not self._faults:
            return []
        subject = f"{operation}/{target}/{email.casefold()}"
        self._attempts[subject] += 1
        hits = []
        for index, fault in enumerate(self._faults):
            is_over = email and self._hits[index, subject] >= fault.times
            if fault.operation not in ("any", operation) or is_over:
                continue
            self._counted[index] += 1
            if self._is_selected(index, fault, subject, email):
                self._hits[index, subject] += 1
                hits.append(Hit(fault, self._draw("jitter", index, subject)))
        return hits

    def _is_selected(self, index: int, fault: Fault, subject: str, email: str) -> bool:
        if fault.share is not None:
            return self._draw("meet", index, subject) < fault.share
        if fault.first is not None:
            return self._counted[index] <= fault.first
        if fault.every is not None:
            return self._counted[index] % fault.every == 0
        return email.casefold() in map(str.casefold, fault.emails or ())

    def _draw(self, purpose: str, index: int, subject: str) -> float:
        """A number from 0 up to 1 that depends only on the seed and on this attempt of this subject."""
        text = f"{self._seed}/{purpose}/{index}/{self._attempts[subject]}/{subject}"
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
