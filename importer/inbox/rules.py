"""The rules of an inbox, from its inbox.toml: which files are imported how; every problem of the file at once."""

from __future__ import annotations

import fnmatch
import os.path
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from importer.app.orders import ErrorLimit, Resend, parse_minutes, parse_window
from importer.files import read_regular
from importer.problems import FilePlace, LinePlace, Place, Problem, UnusableInput, UsageError
from importer.text.normalize import did_you_mean

RULES_FILE: Final = "inbox.toml"
_MAX_BYTES: Final = 64 << 10

Complete = Literal["unchanged", "marker", "renamed"]


@dataclass(frozen=True, slots=True)
class FileRule:
    """How the files with matching names are imported.

    complete: how it shows that a file is complete. settle: seconds for which it must be unchanged. marker: the name of
    the file that shows it. The others are the options of importer run; None if not set.
    """

    pattern: str
    mapping: Path
    complete: Complete = "unchanged"
    settle: float = 10.0
    marker: str = "{name}.done"
    sheet: str | None = None
    rate: float | None = None
    concurrency: int | None = None
    max_errors: str | None = None
    resend_unconfirmed: Resend = "end"
    resend_rejected: bool = False
    give_up_after: str | None = None
    until: str | None = None
    max_runtime: str | None = None
    strict: bool = False
    no_personal_data: bool = False
    sandbox: bool = False

    def matches(self, name: str) -> bool:
        """Whether this rule is for a file of this name; upper and lower case make no difference."""
        return fnmatch.fnmatchcase(_comparable(name), _comparable(self.pattern))

    def marker_of(self, name: str) -> str:
        return self.marker.replace("{name}", name)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an inbox. wait: seconds for which one pass waits for files that still change.
    until, max_runtime: for the files of rules without their own.
    """

    files: tuple[FileRule, ...]
    order: Literal["oldest", "name"] = "oldest"
    wait: float = 600.0
    unmatched: Literal["attention", "leave"] = "attention"
    until: str | None = None
    max_runtime: str | None = None

    def rule_for(self, name: str) -> FileRule | None:
        """The first rule that matches."""
        return next((rule for rule in self.files if rule.matches(name)), None)


def _comparable(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


# --- reading ----------------------------------------------------------------------------------------


def read_rules(folder: Path) -> Rules:
    """The rules of the inbox in a folder.

    Raises:
        UnusableInput: with every problem of the file.
    """
    file = folder / RULES_FILE
    try:
        text = read_regular(file, _MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        message, hint = "this folder is not an inbox", f"write {file.name} in it, as docs/inbox.md shows"
        raise UnusableInput(Problem("inbox-not-found", message, hint, FilePlace(str(folder)))) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(_unreadable(getattr(error, "strerror", None) or "it is not UTF-8 text", file)) from None
    import tomllib  # rarely needed by the commands that load this file

    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableInput(_unreadable(str(error) or "its brackets are nested too deeply", file)) from None
    problems: list[Problem] = []
    found = _rules(values, _Lines(file, text), problems)
    if problems:
        raise UnusableInput(problems)
    return found


def _unreadable(reason: str, file: Path) -> Problem:
    hint = 'fix it; texts are in quotes, like pattern = "acme_*.xlsx"'
    return Problem("inbox-rules-invalid", f"the file cannot be read: {reason}", hint, FilePlace(str(file)))


class _Lines:
    """The places of keys: the TOML parser does not give them."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._at: dict[tuple[str, int, str], LinePlace] = {}
        counts: dict[str, int] = {"files": -1}
        section, number = "", 0
        for line, content in enumerate(text.splitlines(), start=1):
            if header := re.match(r"\s*\[+\s*([\w.\s]+?)\s*\]", content):
                section = header[1].replace(" ", "")
                counts["files"] += section == "files"
                number = max(counts["files"], 0) if section.startswith("files") else 0
                self._at.setdefault((section, number, ""), LinePlace(str(file), line, 1, content))
            elif key := re.match(r"\s*\"?([\w.-]+)\"?\s*=", content):
                self._at.setdefault((section, number, key[1]), LinePlace(str(file), line, key.start(1) + 1, content))

    @property
    def folder(self) -> Path:
        """The folder that paths are relative to."""
        return self._file.parent

    def place(self, section: str, number: int, key: str = "") -> Place:
        keys = ((section, number, key), (f"{section}.{key}", number, ""), (section, number, ""))
        return next((self._at[one] for one in keys if one in self._at), FilePlace(str(self._file)))


@dataclass(frozen=True, slots=True)
class _Section:
    """One table of the file, whose values are read one by one; what is wrong is added to `problems`."""

    values: Mapping[str, Any]
    lines: _Lines
    problems: list[Problem]
    name: str = ""
    number: int = 0
    _known: list[str] = field(default_factory=list)
    _taken: dict[str, Any] = field(default_factory=dict)

    def text(self, key: str) -> None:
        self._take(key, lambda value: isinstance(value, str) and value != "", "write a text in quotes")

    def flag(self, key: str) -> None:
        self._take(key, lambda value: isinstance(value, bool), "write true or false")

    def number_of(self, key: str, kind: type[int] | type[float]) -> None:
        fits = (int,) if kind is int else (int, float)
        self._take(
            key,
            lambda value: isinstance(value, fits) and not isinstance(value, bool) and value > 0,
            "write a number greater than 0, without quotes",
        )

    def word(self, key: str, words: Collection[str]) -> None:
        value = self.values.get(key)
        hint = did_you_mean(value, words) if isinstance(value, str) else f"use one of {', '.join(words)}"
        self._take(key, lambda value: isinstance(value, str) and value in words, hint)

    def duration(self, key: str, *, seconds: bool = True) -> None:
        """A text such as 10s, kept in seconds or as it is written."""
        self.parsed(key, parse_minutes)
        if seconds and key in self._taken:
            self._taken[key] = parse_minutes(self._taken[key]) * 60

    def window(self) -> None:
        """The keys for the time in which files are sent."""
        self.parsed("until", lambda text: parse_window(text, None, datetime.now(UTC)))
        self.duration("max_runtime", seconds=False)

    def parsed(self, key: str, parse: Any) -> None:
        """A text that a function can parse; it is kept as it is written."""
        self.text(key)
        if key in self._taken:
            try:
                parse(self._taken[key])
            except UsageError as error:
                del self._taken[key]
                self.refuse("inbox-rules-invalid", f"{key} is not valid: {error}", "fix the value", key)

    def end(self, *others: str) -> dict[str, Any]:
        """The values that were found valid. others: keys that are read elsewhere."""
        known = (*self._known, *others)
        for key in self.values:
            if key not in known:
                self.refuse("inbox-rules-invalid", f"unknown key {key!r}", did_you_mean(key, known, 20), key)
        return self._taken

    def refuse(self, code: str, message: str, hint: str, key: str = "") -> None:
        self.problems.append(Problem(code, message, hint, self.lines.place(self.name, self.number, key)))

    def _take(self, key: str, fits: Any, hint: str) -> None:
        self._known.append(key)
        if key not in self.values:
            return
        if fits(self.values[key]):
            self._taken[key] = self.values[key]
        else:
            self.refuse("inbox-rules-invalid", f"{key} is not valid", hint, key)


def _rules(values: Mapping[str, Any], lines: _Lines, problems: list[Problem]) -> Rules:
    top = _Section(values, lines, problems)
    top.word("order", ("oldest", "name"))
    top.word("unmatched", ("attention", "leave"))
    top.duration("wait")
    top.window()
    own = top.end("files")
    listed = values.get("files")
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        message, hint = "the file has no [[files]] section", "add one with pattern = and mapping ="
        top.refuse("inbox-rules-invalid", message, hint)
        return Rules(())
    found = tuple(_file_rule(_Section(one, lines, problems, "files", n)) for n, one in enumerate(listed))
    return Rules(tuple(rule for rule in found if rule is not None), **own)


def _file_rule(section: _Section) -> FileRule | None:
    for key in ("pattern", "mapping", "marker", "sheet"):
        section.text(key)
    for key in ("resend_rejected", "strict", "no_personal_data", "sandbox"):
        section.flag(key)
    section.word("complete", get_args(Complete))
    section.word("resend_unconfirmed", get_args(Resend))
    section.duration("settle")
    section.duration("give_up_after", seconds=False)
    section.window()
    section.parsed("max_errors", ErrorLimit.parse)
    section.number_of("rate", float)
    section.number_of("concurrency", int)
    values = section.end()
    for key in ("pattern", "mapping"):
        if key not in section.values:
            section.refuse("inbox-rules-invalid", f"this section has no {key}", f"add {key} = to it")
    for key in ("pattern", "marker"):
        if set("/\\") & set(values.get(key, "")):
            hint = "write only the name of the file; its folder is incoming"
            section.refuse("inbox-rules-invalid", f"{key} is not valid: it contains a folder", hint, key)
    if "{name}" not in values.get("marker", "{name}") or values.get("marker") == "{name}":
        hint = 'write the name of the file as {name}, like "{name}.done"'
        section.refuse("inbox-rules-invalid", "marker is not valid", hint, "marker")
    if not {"pattern", "mapping"} <= values.keys():
        return None
    mapping = Path(os.path.normpath(section.lines.folder / values.pop("mapping")))
    return FileRule(**values, mapping=mapping)
