"""The files beside a file that is done or needs attention: why and what to do, and a copy of the report of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from importer.files import sync_folder, write_private
from importer.inbox.folders import Inbox, not_writable
from importer.inbox.records import Record, Result
from importer.problems import UnusableInput
from importer.report.summary import Summary, read_summary
from importer.report.text import summary_lines
from importer.text.terminal import command_line, on_one_line, quoted

_COPIED: Final = ("report.xlsx", "summary.json")


def commands_again(inbox: Inbox, folder: str, flags: Mapping[str, str]) -> tuple[str, ...]:
    """The commands that import a file again. folder: its name, in attention/ or working/; flags: of the second one."""
    release = command_line("inbox", "release", inbox.folder, folder)
    return release, command_line("inbox", "run", inbox.folder, flags=flags)


def write_reports(inbox: Inbox, record: Record, result: Result, run: Path | None, flags: Mapping[str, str]) -> None:
    """Write them, before the folder of the file is moved to where `result` says.

    run: the folder of its last run. flags: of the command that imports it again.

    Raises:
        UnusableInput: the inbox cannot be written.
    """
    summary = None
    try:
        _remove(record)  # those from before it was released
        if run is not None and result.outcomes:
            with suppress(UnusableInput):  # it was purged meanwhile
                summary = read_summary(run)
            for name in _COPIED:
                with suppress(FileNotFoundError):
                    write_private(record.folder / record.own_name(name), (run / name).read_bytes())
        if result.place == "attention":
            lines = map(on_one_line, _reason_lines(inbox, record, result, run, summary, flags))
            write_private(record.reason_file, "".join(f"{line}\n" for line in lines).encode())
        sync_folder(record.folder)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None


def remove_reports(inbox: Inbox, record: Record) -> None:
    """Remove them from beside a file that was released: they are of what it was before.

    Raises:
        UnusableInput: the inbox cannot be written.
    """
    try:
        _remove(record)
    except OSError as error:
        raise not_writable(inbox.folder, error) from None


def _remove(record: Record) -> None:
    for path in (record.reason_file, *(record.folder / record.own_name(name) for name in _COPIED)):
        path.unlink(missing_ok=True)


def _reason_lines(
    inbox: Inbox,
    record: Record,
    result: Result,
    run: Path | None,
    summary: Summary | None,
    flags: Mapping[str, str],
) -> Iterator[str]:
    folder = inbox.place("attention") / record.folder.name
    yield f"{record.name} needs a person. It was in {inbox.incoming}, and is now here: {folder / record.name}"
    yield ""
    for reason in result.reasons:
        yield f"- {reason.text} [{reason.code}]"
        if reason.hint:
            yield f"  -> {reason.hint}"
    yield ""
    if summary is None or run is None:
        yield (
            "An earlier run sent rows of it; importer status shows them." if record.runs else "Nothing of it was sent."
        )
    else:
        yield from summary_lines(summary, run)
    yield ""
    yield "To import the file again from here, with what you changed since (imported rows are skipped):"
    yield from (f"  {command}" for command in commands_again(inbox, record.folder.name, flags))
    yield "If it is settled in another way, move this folder to done/:"
    yield f"  mv {quoted(str(folder))} {quoted(str(inbox.place('done')))}"
