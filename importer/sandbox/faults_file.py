"""The faults file, read and checked whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from importer.sandbox.faults import Emails, Every, Fault, Faults, First, Kind, Selection, Share
from importer.sandbox.http_messages import ERROR_SHAPES, Operation, listed, quoted
from importer.sandbox.json_reading import Diagnostics, read_json_file

KINDS: tuple[str, ...] = get_args(Kind)
_OPERATIONS = ("questions", "apply", "add-candidate", "any")
_SELECTORS = ("share", "first", "every", "emails")
_REDIRECTS = (301, 302, 303, 307, 308)
_WHEN = ("before", "after")
_RETRY_AFTER = ("none", "seconds", "date")

# What each kind takes beside the selector, `operation` and `times`.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "delay": ("ms", "jitter_ms"),
    "429": ("retry_after", "seconds"),
    "500": ("when",),
    "502": ("when",),
    "503": ("when", "retry_after", "seconds"),
    "504": ("when",),
    "reset": ("when",),
    "hang_after": ("seconds",),
    "html": ("status",),
    "redirect": ("status", "location"),
    "refuse": ("status", "message"),
}
_NEEDED: dict[str, tuple[str, ...]] = {"delay": ("ms",), "redirect": ("location",), "refuse": ("message",)}


def read_faults(path: Path) -> Faults:
    """What a faults file asks for: `{"seed": 7, "error_shape": "fields", "faults": [{"kind": "429", "first": 3}]}`.

    Each fault has a `kind` and one selector: `share` (0 to 1), `first` (requests), `every` (so many requests) or
    `emails`. It may have `operation` (questions, apply, add-candidate, any) and `times` (how many attempts of one
    e-mail address it hits; 1 unless said otherwise). The kinds, with what else they take:

    - delay: `ms`, `jitter_ms`; adds to whatever else the request meets
    - 401, 403, 410, 423: in place of working on the request
    - 429: `retry_after` (none, seconds, date), `seconds`
    - 500, 502, 503, 504, reset: `when` (before or after the request was worked on); 503 also as 429
    - hang_after: accepts, then is silent until the client goes, or closes after `seconds`
    - cut_head: accepts, then breaks off before the status can be read
    - cut_body: accepts, then breaks off in the middle of the answer
    - html: an error page with a `status`; redirect: a `status` and a `location`; neither accepts anything
    - not_json_201, empty_201: accepts, and says so without JSON
    - refuse: a `message` with a `status` (400 unless said otherwise), as a check of the service's own

    Raises:
        SandboxUnusable: the file cannot be used; reports every error in it, with the number of the fault from 1.
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
    read = [_FaultReading(f"fault {number}", item, problems).read() for number, item in enumerate(items, start=1)]
    problems.raise_if_any()
    return Faults(tuple(fault for fault in read if fault), seed, shape)


class _FaultReading:
    """Reads one fault, told apart from the others by its place."""

    def __init__(self, place: str, item: Any, problems: Diagnostics) -> None:
        self._place = place
        self._item = item
        self._problems = problems

    def read(self) -> Fault | None:
        if not isinstance(self._item, dict):
            self._problems.add(self._place, "must be an object")
            return None
        kind: Any = self._item.get("kind")
        kind = str(kind) if _is_whole(kind) else kind
        if kind not in KINDS:
            self._problems.add(self._place, f"kind {quoted(kind)} is not one of {listed(KINDS)}")
            return None
        known = ("kind", *_SELECTORS, "operation", "times", *_PARAMETERS.get(kind, ()))
        self._problems.unknown_names(self._place, self._item, known)
        for name in _NEEDED.get(kind, ()):
            if name not in self._item:
                self._problems.add(self._place, f"a {kind} needs {quoted(name)}")
        selection, operation = self._selection(), self._choice("operation", _OPERATIONS, "any")
        if isinstance(selection, Emails) and operation == "questions":
            self._problems.add(self._place, "the question list knows no emails; choose with share, first or every")
        return Fault(
            kind=kind,
            selection=selection,
            operation=None if operation == "any" else Operation(operation),
            times=self._value("times", 1, _is_count, "must be an integer above 0"),
            when=self._choice("when", _WHEN, "before"),
            milliseconds=self._value("ms", 0, _is_duration, "must be a number of milliseconds"),
            jitter_milliseconds=self._value("jitter_ms", 0, _is_duration, "must be a number of milliseconds"),
            retry_after=self._choice("retry_after", _RETRY_AFTER, "none"),
            seconds=self._value("seconds", None, _is_duration, "must be a number of seconds"),
            status=self._status(kind),
            location=self._value("location", "", _is_text, "must be a web address or a path"),
            message=self._value("message", "", _is_message, "must be a text"),
        )

    def _selection(self) -> Selection:
        named = [name for name in _SELECTORS if name in self._item]
        if len(named) != 1:
            self._problems.add(self._place, f"needs exactly one of {listed(_SELECTORS)} to say which requests it hits")
            return First(0)
        match named[0]:
            case "share":
                return Share(self._value("share", 0, _is_share, "must be a number from 0 to 1"))
            case "first":
                return First(self._value("first", 0, _is_count, "must be an integer above 0"))
            case "every":
                return Every(self._value("every", 1, _is_count, "must be an integer above 0"))
            case _:
                emails = self._value("emails", [], _are_emails, "must be an array of e-mail addresses")
                return Emails(frozenset(email.casefold() for email in emails))

    def _status(self, kind: str) -> int:
        if kind == "redirect":
            allowed = f"must be one of {', '.join(str(status) for status in _REDIRECTS)}"
            return int(self._value("status", 302, lambda status: status in _REDIRECTS, allowed))
        default = 400 if kind == "refuse" else 502
        return int(self._value("status", default, _is_error_status, "must be an error status from 400 to 599"))

    def _choice(self, name: str, words: tuple[str, ...], default: str) -> Any:
        return self._value(name, default, lambda word: word in words, f"must be one of {listed(words)}")

    def _value(self, name: str, default: Any, fits: Callable[[Any], bool], wanted: str) -> Any:
        value = self._item.get(name, default)
        if name in self._item and not fits(value):
            self._problems.add(self._place, f"{name} {quoted(value)} {wanted}")
            return default
        return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value > 0


def _is_duration(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_share(value: Any) -> bool:
    return _is_duration(value) and value <= 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable() and value != ""


def _is_message(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_error_status(value: Any) -> bool:
    return _is_whole(value) and 400 <= value <= 599


def _are_emails(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(email, str) for email in value)
