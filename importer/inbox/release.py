"""Gives files in attention/ back to the worker: a person accepts what held them, or has changed what was wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from importer.inbox.arrivals import is_regular
from importer.inbox.folders import Inbox, not_writable, open_inbox
from importer.inbox.records import Identity, Record, records_in
from importer.inbox.reports import remove_reports
from importer.inbox.rules import RULES_FILE
from importer.inbox.taking import move
from importer.problems import UsageError
from importer.text.terminal import command_line


def release(folder: Path, names: Sequence[str]) -> list[Record]:
    """Move files from attention/ to working/, where the next pass imports them: all of them, or none.

    names: of the files, or of their folders. One that is in working/ already stays as it is.

    Raises:
        UsageError: with every file that cannot be released, and why.
        Busy: a worker uses the inbox. UnusableInput: the inbox cannot be used.
    """
    _refuse_swapped(folder, names)
    inbox = open_inbox(folder)
    with inbox.lock():
        found, refused = dict[Path, Record](), list[str]()
        for name in names:
            try:
                record = _find(inbox, name)
                if record.folder.parent.name == "attention":
                    _check(inbox, record)
                found[record.folder] = record
            except UsageError as error:
                refused.append(str(error))
        if refused:
            raise UsageError("\n".join([*refused, *(["no file was released"] if len(names) > 1 else [])]))
        return [_released(inbox, record) for record in found.values()]


def _refuse_swapped(folder: Path, names: Sequence[str]) -> None:
    inbox = next((name for name in names if (Path(name) / RULES_FILE).is_file()), None)
    if inbox is not None and not (folder / RULES_FILE).is_file():
        files = [str(folder), *(name for name in names if name != inbox)]
        command = command_line("inbox", "release", inbox, *files)
        raise UsageError(f"{folder} is not an inbox, but {inbox} is: name the inbox first, then its files: {command}")


def _find(inbox: Inbox, name: str) -> Record:
    found: list[Record] = []
    for place in ("attention", "working"):  # the report of a file in working/ names this command too
        every = list(records_in(inbox, place))
        found = [record for record in every if record.folder.name == name] or [one for one in every if one.name == name]
        if found:
            break
    if len(found) == 1:
        return found[0]
    if found:
        folders = ", ".join(record.folder.name for record in found)
        raise UsageError(f"several files in attention have the name {name}; name the folder of one: {folders}")
    if any(name in (record.folder.name, record.name) for record in records_in(inbox, "done")):
        raise UsageError(f"{name} is done; to import it again, put it into {inbox.incoming} again")
    status = command_line("inbox", "status", inbox.folder)
    raise UsageError(f"{inbox.place('attention')} has no file {name}; list its files with: {status}")


def _check(inbox: Inbox, record: Record) -> None:
    """Refuse a file that the next pass would only put aside again."""
    if not is_regular(record.file):
        raise UsageError(f"{record.file} does not exist any more; put the file into {inbox.incoming} again")
    if inbox.rules.rule_for(record.name) is None:
        patterns = ", ".join(rule.pattern for rule in inbox.rules.files)
        raise UsageError(
            f"{record.name} matches no pattern of {inbox.folder / RULES_FILE} (it has: {patterns}); add a [[files]] "
            f"section for it there, or move the file to {inbox.incoming} under a name that matches"
        )


def _released(inbox: Inbox, record: Record) -> Record:
    if record.folder.parent.name == "working":
        return record
    try:
        identity = Identity.of(record.file.stat())
        result = replace(record.result, place="working") if record.result else None
        changes = {"released": True, "reported": False, "is_begun": False, "result": result, "identity": identity}
        record = record.with_changes(**changes)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None
    record = move(inbox, record, "working")
    remove_reports(inbox, record)
    return record
