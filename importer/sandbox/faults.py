"""Which requests get which faults: the faults file, and the selection of requests by its seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from importer.sandbox.http_messages import ERROR_SHAPES, ErrorShape, Operation
from importer.sandbox.json_reading import Diagnostics, listed, quoted, read_json_file

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


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a faults file: what happens, to which requests, and how often for the same e-mail address.

    `selector` defines `selected`: a "share" (0 to 1) of the requests, drawn by seed, subject and attempt, whatever
    their order; the "first" N; "every" Nth; or "emails", a set of casefolded addresses.

    `times` limits how many attempts of one e-mail address are hit, so that a retry succeeds; requests without an
    address (question lists) are not limited. `first` and `every` count only requests within the limit of `times`.
    """

    kind: str
    selector: Literal["share", "first", "every", "emails"]
    selected: Any
    operation: Operation | None = None
    times: int = 1
    when: Literal["before", "after"] = "before"
    ms: float = 0
    jitter_ms: float = 0
    retry_after: Literal["none", "seconds", "date"] = "none"
    seconds: float | None = None
    status: int = 0
    location: str = ""
    message: str = ""

    @property
    def name(self) -> str:
        """The name of the fault in the log."""
        return f"{self.kind} {self.when}" if "when" in KINDS[self.kind] else self.kind

    @property
    def is_before(self) -> bool:
        """Whether the fault replaces the processing of the request."""
        return self.when == "before" if "when" in KINDS[self.kind] else self.kind not in _AFTER


@dataclass(frozen=True, slots=True)
class Faults:
    """The content of a faults file."""

    faults: tuple[Fault, ...] = ()
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
        SandboxUnusable: the file cannot be used; lists every problem in it, with the number of the fault from 1.
    """
    value = read_json_file(path)
    problems = Diagnostics(path)
    problems.unknown_names("", value, ("seed", "error_shape", "faults"))
    seed, shape, items = value.get("seed", 0), value.get("error_shape", "fields"), value.get("faults", [])
    if not _is_whole(seed):
        problems.add("seed", "must be an integer")
    if shape not in ERROR_SHAPES:
        problems.add("error_shape", f"{quoted(shape)} is not one of {listed(ERROR_SHAPES)}")
    if not isinstance(items, list):
        problems.add("faults", "must be an array of faults")
        items = []
    read = [_read_fault(f"fault {number}", item, problems) for number, item in enumerate(items, start=1)]
    problems.raise_if_any()
    return Faults(tuple(fault for fault in read if fault), seed, shape)


def _read_fault(place: str, item: Any, problems: Diagnostics) -> Fault | None:
    if not isinstance(item, dict):
        problems.add(place, "must be an object")
        return None
    kind: Any = item.get("kind")
    kind = str(kind) if _is_whole(kind) else kind
    if not isinstance(kind, str) or kind not in KINDS:
        problems.add(place, f"kind {quoted(kind)} is not one of {listed(tuple(KINDS))}")
        return None
    problems.unknown_names(place, item, ("kind", *_SELECTORS, "operation", "times", *KINDS[kind]))
    for name in _NEEDED.get(kind, ()):
        if name not in item:
            problems.add(place, f"a {kind} needs {quoted(name)}")

    def value(name: str, form: _Form) -> Any:
        given = item.get(name, form.default)
        if name in item and not form.is_valid(given):
            problems.add(place, f"{name} {quoted(given)} {form.message}")
            return form.default
        return given

    selector: Any = "first"
    selected: Any = 0
    match [name for name in _SELECTORS if name in item]:
        case [selector]:
            selected = value(selector, _SELECTED[selector])
            if selector == "emails":
                selected = frozenset(email.casefold() for email in selected)
        case _:
            problems.add(place, f"needs exactly one of {listed(_SELECTORS)} to select its requests")
    if selector == "emails" and item.get("operation") == "questions":
        problems.add(place, "question requests have no e-mail address; use share, first or every")
    values = {name: value(name, form) for name, form in {**_VALUES, "status": _status_form(kind)}.items()}
    operation = values.pop("operation")
    only = None if operation == "any" else Operation(operation)
    return Fault(kind, selector, selected, only, **values)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_whole(value)


@dataclass(frozen=True, slots=True)
class _Form:
    """A key of a fault: its default, its check, and the message for a value that fails it."""

    default: Any
    is_valid: Callable[[Any], bool]
    message: str


def _one_of(default: Any, *values: Any) -> _Form:
    shown = listed(values) if isinstance(default, str) else ", ".join(map(str, values))
    return _Form(default, lambda value: value in values, f"must be one of {shown}")


def _count(default: int) -> _Form:
    return _Form(default, lambda value: _is_whole(value) and value > 0, "must be an integer above 0")


def _duration(default: int | None, of: str) -> _Form:
    return _Form(default, lambda value: _is_number(value) and value >= 0, f"must be a number of {of}")


_SELECTED = {
    "share": _Form(0, lambda value: _is_number(value) and 0 <= value <= 1, "must be a number from 0 to 1"),
    "first": _count(0),
    "every": _count(1),
    "emails": _Form(
        [],
        lambda value: isinstance(value, list) and bool(value) and all(isinstance(email, str) for email in value),
        "must be an array of e-mail addresses",
    ),
}
_VALUES = {
    "operation": _one_of("any", "questions", "apply", "add-candidate", "any"),
    "times": _count(1),
    "when": _one_of("before", "before", "after"),
    "ms": _duration(0, "milliseconds"),
    "jitter_ms": _duration(0, "milliseconds"),
    "retry_after": _one_of("none", "none", "seconds", "date"),
    "seconds": _duration(None, "seconds"),
    "location": _Form(
        "",
        lambda value: isinstance(value, str) and value.isascii() and value.isprintable() and value != "",
        "must be a web address or a path",
    ),
    "message": _Form(
        "", lambda value: isinstance(value, str) and value.strip() != "", "must be a text that is not blank"
    ),
}


def _status_form(kind: str) -> _Form:
    if kind == "redirect":
        return _one_of(302, 301, 302, 303, 307, 308)
    default = 400 if kind == "refuse" else 502
    return _Form(
        default, lambda value: _is_whole(value) and 400 <= value <= 599, "must be an error status from 400 to 599"
    )


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
        if fault.operation not in (None, subject.operation):
            return False
        return not subject.email or self._hits[index, subject.text] < fault.times

    def _is_selected(self, index: int, fault: Fault, subject: Subject) -> bool:
        self._counted[index] += 1
        match fault.selector:
            case "share":
                return self._draw("meet", index, subject) < float(fault.selected)
            case "first":
                return self._counted[index] <= int(fault.selected)
            case "every":
                return self._counted[index] % int(fault.selected) == 0
            case "emails":
                return subject.email.casefold() in fault.selected

    def _draw(self, purpose: str, index: int, subject: Subject) -> float:
        """A number from 0 up to 1 that depends only on the seed and on this attempt of this subject."""
        text = f"{self._seed}/{purpose}/{index}/{self._attempts[subject.text]}/{subject.text}"
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
