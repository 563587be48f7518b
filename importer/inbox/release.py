"""Gives a file in attention/ back to the worker: a person accepts what held it, or has changed what was wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from importer.inbox.folders import Inbox, not_writable, open_inbox
from importer.inbox.records import Identity, Record, records_in
from importer.inbox.taking import move
from importer.problems import UsageError
from importer.text.commands import command_line


def release(folder: Path, name: str) -> Record:
    """Move a file from attention/ to working/, where the next pass imports it. name: of the file, or of its folder.

    Raises:
        UsageError: there is no such file, there are several, or the settings refuse it.
        Busy: a worker uses the inbox. UnusableInput: the inbox cannot be used.
    """
    inbox = open_inbox(folder)
    with inbox.lock():
        record = _find(inbox, name)
        if record.result is not None and record.result.is_final:
            raise UsageError(
                f"{record.folder}: the settings refuse this file, so it cannot be released; correct it and put it into "
                f"{inbox.incoming} again, or set what refuses it to hold in inbox.toml and do the same"
            )
        try:
            identity = Identity.of(record.file.stat())
            result = replace(record.result, place="working") if record.result else None
            record = replace(record, released=True, is_begun=False, result=result, identity=identity).write()
        except FileNotFoundError:
            raise UsageError(
                f"{record.file} does not exist any more; put the file into {inbox.incoming} again"
            ) from None
        except OSError as error:
            raise not_writable(folder, error) from None
        return move(inbox, record, "working")


def _find(inbox: Inbox, name: str) -> Record:
    every = list(records_in(inbox, "attention"))
    found = [record for record in every if record.folder.name == name] or [one for one in every if one.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        folders = ", ".join(record.folder.name for record in found)
        raise UsageError(f"several files in attention have the name {name}; name the folder of one: {folders}")
    status = command_line("inbox", "status", inbox.folder)
    raise UsageError(f"{inbox.place('attention')} has no file {name}; list its files with: {status}")
