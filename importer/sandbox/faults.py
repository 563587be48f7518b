"""Which requests get which faults: the faults file (docs/sandbox.md), and the selection of requests by its seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, NonNegativeFloat, PositiveInt, model_validator

from importer.sandbox.files import STRICT, checked, read_json_file

# fmt: off
Kind = Literal[
    "delay", "401", "403", "410", "423", "429", "500", "502", "503", "504", "reset", "hang_after", "cut_head",
    "cut_body", "not_json_201", "empty_201", "html", "redirect", "refuse",
]
# fmt: on
_EITHER: Final = frozenset(("500", "502", "503", "504", "reset"))  # before a request is processed, or after it
_AFTER: Final = frozenset(("delay", "hang_after", "cut_head", "cut_body", "not_json_201", "empty_201"))
USUAL_STATUS: Final = {"redirect": 302, "refuse": 400, "html": 502}  # the usual ones


class Fault(BaseModel):
    """One fault of a faults file: what happens, to which requests, and how often for the same e-mail address.

    It has one selector: a `share` (0 to 1) of the requests, drawn by seed, subject and attempt, whatever their order;
    the `first` N; `every` Nth; or the `emails` of some people.

    `times` limits how many attempts of one e-mail address are hit, so that a retry succeeds; requests without an
    address (question lists) are not limited. `first` and `every` count only requests within the limit of `times`.
    """

    model_config = STRICT

    kind: Annotated[Kind, BeforeValidator(str)]
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
    status: Annotated[int, Field(ge=300, le=599)] | None = None
    location: Annotated[str, Field(pattern="^[!-~]*$")] = "/"
    message: str = "refused"

    @model_validator(mode="after")
    def _selects(self) -> Fault:
        if [self.share, self.first, self.every, self.emails].count(None) != 3:
            raise ValueError("needs exactly one of 'share', 'first', 'every', 'emails' to select its requests")
        return self

    @property
    def name(self) -> str:
        """The name of the fault in the log."""
        return f"{self.kind} {self.when}" if self.kind in _EITHER else self.kind

    @property
    def is_before(self) -> bool:
        """Whether the fault replaces the processing of the request."""
        return self.when == "before" if self.kind in _EITHER else self.kind not in _AFTER


class Faults(BaseModel):
    """The content of a faults file."""

    model_config = STRICT

    faults: list[Fault] = []
    seed: int = 0


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
