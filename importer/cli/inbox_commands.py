"""`importer inbox run`, `status` and `release`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from importer.app.connection import SANDBOX
from importer.app.orders import RunControl, parse_minutes, parse_window
from importer.cli import options
from importer.cli.app import Command
from importer.cli.messages import counted, print_line, print_lines, print_message, print_next, print_result, show_error
from importer.cli.terminal import Terminal, stopped_by_signals
from importer.inbox.folders import Current
from importer.inbox.happened import FileEnded, FileLeft, FileTaken, Happened
from importer.inbox.importing import Means
from importer.inbox.notifying import FileNotices
from importer.inbox.records import Reason, Record
from importer.inbox.release import release as release_files
from importer.inbox.status import InboxStatus, status_of
from importer.inbox.worker import run_once
from importer.notices import Notifier
from importer.settings import load_settings
from importer.text.dates import in_words
from importer.text.terminal import command_line

inbox = typer.Typer(
    name="inbox",
    help="Import the files that arrive in a folder, each once: for cron and other schedulers.",
    epilog="Its rules are in inbox.toml: docs/inbox.md has one to begin with.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_DEFAULT = Path("inbox")
Folders = Annotated[list[Path] | None, typer.Argument(help="The folders of the inboxes. [inbox]", show_default=False)]
Folder = Annotated[Path, typer.Argument(help="The folder of the inbox.")]
UseSandbox = Annotated[bool, typer.Option("--sandbox", help="Import all files into a local sandbox.")]


@inbox.callback()
def _group() -> None:
    pass


@inbox.command(cls=Command)
def run(
    folders: Folders = None,
    out: options.Out = None,
    sandbox: UseSandbox = False,
    until: options.Until = None,
    max_runtime: options.MaxRuntime = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Import the files that are complete, then end. Safe to repeat, also after a crash."""
    shown, window = _Shown(quiet=quiet or as_json), parse_window(until, max_runtime, datetime.now(UTC))
    inboxes = folders or [_DEFAULT]
    notices = _notices(inboxes, out)
    with Terminal(quiet=shown.quiet) as terminal, stopped_by_signals(RunControl()) as control:
        means = Means(notices.after(shown), terminal, control, out=out, sandbox=sandbox, window=window)
        notices.started()
        code = run_once(inboxes, means, notices.after_error(show_error))
        notices.pass_ended(code)
    if as_json:
        print_result(json.dumps([_as_json(event) for event in shown.ended], ensure_ascii=False, indent=1))
    elif code == 0 and not shown.ended and not quiet:
        print_message("No file was complete and waiting.")
    raise typer.Exit(code)


@inbox.command(cls=Command)
def status(
    folders: Folders = None,
    expect_every: Annotated[
        str | None,
        typer.Option("--expect-every", help="Also end with 4 if the last file of a pattern arrived longer ago: 24h."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what waits, what needs a person (the exit code is 4 then), and when the last files arrived."""
    expected = timedelta(minutes=parse_minutes(expect_every)) if expect_every else None
    now = datetime.now(UTC)
    found = [status_of(folder, now, expected) for folder in folders or [_DEFAULT]]
    if as_json:
        print_result(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1, default=str))
    else:
        for each in found:
            _show_status(each, expect_every, now)
    raise typer.Exit(4 if any(each.needs_person for each in found) else 0)


@inbox.command(cls=Command)
def release(
    folder: Folder,
    files: Annotated[
        list[str], typer.Argument(help="The files in attention/: their names, or those of their folders.")
    ],
) -> None:
    """Let the next pass import files that wait in attention/: all that are named, or none."""
    records = release_files(folder, files)
    for record in records:
        print_result(f"{record.name} is released; the next pass imports it.")
    services = {record.contents.service for record in records if record.contents is not None}
    if len(services) == 1:  # otherwise it is not known which one the next pass is for
        flags = {"--sandbox": ""} if services == {SANDBOX} else {}
        print_next("Next", command_line("inbox", "run", folder, flags=flags))


def _notices(inboxes: list[Path], out: Path | None) -> FileNotices:
    settings = load_settings(out=out)
    notifier = Notifier(settings, lambda failure: print_line(f"importer: {failure}"))
    return FileNotices(notifier, settings.out, inboxes)


# --- what is shown ----------------------------------------------------------------------------------


@dataclass
class _Shown:
    """Shows what happens to files; with `quiet` only what needs a person."""

    quiet: bool
    ended: list[FileEnded] = field(default_factory=list)

    def __call__(self, event: Happened) -> None:
        match event:
            case FileTaken(name, is_continued):
                self._show_detail(f"{name}: {'continued' if is_continued else 'taken'}")
            case FileLeft(name, why):
                if event.is_odd or not self.quiet:
                    print_message(f"{name} {why}; it stays in incoming")
            case FileEnded():
                self.ended.append(event)
                self._show_end(event)

    def _show_detail(self, line: str) -> None:
        if not self.quiet:
            print_message(line)

    def _show_end(self, event: FileEnded) -> None:
        if event.place == "done":
            if not self.quiet:
                print_lines(f"{event.name}: done, {_counts(event)}")
            return
        what = "needs a person" if event.place == "attention" else "is not finished; the next pass continues it"
        print_message(f"{event.name} {what}:")
        _show_reasons(event.reasons, sys.stderr)
        if event.place == "attention":
            print_next("  What to do", str(event.reason_file))


def _counts(event: FileEnded) -> str:
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in event.outcomes.items())
    return f"{counts or '0 rows'} (run {event.run})"


def _show_reasons(reasons: tuple[Reason, ...], stream: Any) -> None:
    for reason in reasons:
        lines = [f"  {reason.text} [{reason.code}]"] + ([f"    -> {reason.hint}"] if reason.hint else [])
        for line in lines:
            print_message(line) if stream is sys.stderr else print_lines(line)


def _as_json(event: FileEnded) -> dict[str, Any]:
    values = {**asdict(event), "place": event.place}
    return {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}


def _show_status(found: InboxStatus, expect_every: str | None, now: datetime) -> None:
    print_lines(
        f"{found.folder}: {counted(len(found.waiting), 'file')} waiting, {len(found.working)} in work, "
        f"{len(found.attention)} in attention"
    )

    def show(place: str, line: str) -> None:
        print_lines(line, f"  {place:<11}", " " * 13)

    for waiting in found.waiting:
        age = f"; unchanged for {_age(now.timestamp() - waiting.changed_at)}" if waiting.changed_at else ""
        show("incoming", f"{waiting.name} {waiting.why}{age}")
    for record in found.working:
        show("working", _in_work(record, found.current))
    for record in found.attention:
        reasons = "; ".join(reason.text for reason in record.result.reasons) if record.result else "it was moved here"
        show("attention", f"{record.name}: {reasons}; what to do: {record.reason_file}")
    for path in found.unknown:
        show("unknown", f"{path} has no record of a file; look into it")
    for each in found.patterns:
        last = f"last arrived {each.last.name}, {_moment(each.last.taken_at)}" if each.last else "no file so far"
        late = f"; LATE: one is expected every {expect_every}" if each.is_late else ""
        show("pattern", f"{each.pattern}: {last}{late}")


def _in_work(record: Record, current: Current | None) -> str:
    if current is not None and current.folder == record.folder.name:
        return f"{record.name} is being imported, since {_moment(current.since)}"
    if record.released and not record.reported:
        return f"{record.name} is released, and the next pass imports it"
    if record.result is None:
        return f"{record.name} was taken, and the next pass imports it"
    return f"{record.name}: {'; '.join(reason.text for reason in record.result.reasons)}; the next pass continues it"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _age(seconds: float) -> str:
    """In its largest unit; in seconds below a minute."""
    unit = 3600 if seconds >= 3600 else 60 if seconds >= 60 else 1
    return in_words(max(0, seconds // unit * unit))
