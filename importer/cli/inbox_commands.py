"""`importer inbox run`, `status` and `release`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from importer.app.orders import parse_minutes, parse_window
from importer.cli import options
from importer.cli.app import Command
from importer.cli.messages import counted, print_line, print_lines, print_message, print_next, print_result
from importer.cli.terminal import Terminal, stopped_by_signals
from importer.inbox.arrivals import WaitingFile
from importer.inbox.attention import InboxStatus, status_of
from importer.inbox.attention import release as release_files
from importer.inbox.folders import FileRecord
from importer.inbox.notices import FileNotices
from importer.inbox.worker import FileEnded, FileTaken, Happened, Means, run_once
from importer.notices import Notifier
from importer.problems import Busy
from importer.settings import load_settings
from importer.text.dates import in_words

inbox = typer.Typer(
    name="inbox",
    help="Import the files that arrive in a folder, each once: for cron and other schedulers.",
    epilog="Its rules are in inbox.toml: docs/inbox.md has one to begin with.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(help="The folder of the inbox.")]


@inbox.command(cls=Command)
def run(
    folder: Folder = Path("inbox"),
    out: options.Out = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Import all files into a local sandbox.")] = False,
    until: options.Until = None,
    max_runtime: options.MaxRuntime = None,
    quiet: options.Quiet = False,
) -> None:
    """Import the files that are complete, then end. Safe to repeat, also after a crash."""
    settings = load_settings(out=out)
    notices = FileNotices(Notifier(settings, lambda text: print_line(f"importer: {text}")), settings.out, folder)
    ended = 0

    def tell(event: Happened) -> None:
        nonlocal ended
        _show(event, is_quiet=quiet)
        if isinstance(event, FileEnded):
            ended += 1
            notices.file_ended(event)

    window = parse_window(until, max_runtime)
    try:
        with Terminal(quiet=quiet) as terminal, stopped_by_signals() as control, notices.reporting() as code:
            code.append(run_once(folder, Means(tell, terminal, control, out=out, sandbox=sandbox, window=window)))
    except Busy:
        if quiet:  # a long pass: nobody has to do anything
            raise typer.Exit(Busy.exit_code) from None
        raise
    if not code[0] and not ended and not quiet:
        print_message("No file was complete and waiting.")
    raise typer.Exit(code[0])


@inbox.command(cls=Command)
def status(
    folder: Folder = Path("inbox"),
    expect_every: Annotated[
        str | None,
        typer.Option("--expect-every", help="Also end with 4 if the last file of a pattern arrived longer ago: 24h."),
    ] = None,
) -> None:
    """Show what waits, what needs a person (the exit code is 4 then), and when the last files arrived."""
    expected, now = timedelta(minutes=parse_minutes(expect_every)) if expect_every else None, datetime.now(UTC)
    found = status_of(folder, now, expected)
    _show_status(found, expect_every, now)
    raise typer.Exit(4 if found.needs_person else 0)


@inbox.command(cls=Command)
def release(
    folder: Folder,
    files: Annotated[
        list[str], typer.Argument(help="The files in attention/: their names, or those of their folders.")
    ],
) -> None:
    """Let the next pass import files that wait in attention/: all that are named, or none."""
    for record in release_files(folder, files):
        print_result(f"{record.name} is released; the next pass imports it.")


# --- what is shown ----------------------------------------------------------------------------------


def _show(event: Happened, *, is_quiet: bool) -> None:
    """What happens to files; if quiet only what needs a person."""
    match event:
        case FileTaken(name, is_continued) if not is_quiet:
            print_message(f"{name}: {'continued' if is_continued else 'taken'}")
        case WaitingFile(name, why, is_odd=is_odd) if is_odd or not is_quiet:
            print_message(f"{name} {why}; it stays in incoming")
        case FileEnded(record, result):
            if result.place == "done":
                counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in result.outcomes.items())
                if not is_quiet:
                    print_lines(f"{record.name}: done, {counts or '0 rows'} (run {event.run})")
                return
            is_open = result.place == "working"
            what = "is not finished; the next pass continues it" if is_open else "needs a person"
            print_message(f"{record.name} {what}:")
            for reason in result.reasons:
                print_message(f"  {reason.text} [{reason.code}]")
                if reason.hint:
                    print_message(f"    -> {reason.hint}")
            if not is_open:
                print_next("  What to do", str(event.reason_file))


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
        show("working", f"{record.name}: {_in_work(record)}")
    for record in found.attention:
        reasons = "; ".join(reason.text for reason in record.result.reasons) if record.result else "it was moved here"
        show("attention", f"{record.name}: {reasons}; what to do: {record.reason_file}")
    for path in found.unknown:
        show("unknown", f"{path} has no record of a file; look into it")
    for each in found.patterns:
        last = f"last arrived {each.last.name}, {each.last.taken_at:%Y-%m-%d %H:%M} UTC" if each.last else "no file yet"
        late = f"; LATE: one is expected every {expect_every}" if each.is_late else ""
        show("pattern", f"{each.pattern}: {last}{late}")


def _in_work(record: FileRecord) -> str:
    if record.result is None:
        return f"{'released' if record.released else 'taken'}; it is being imported, or the next pass imports it"
    return f"{'; '.join(reason.text for reason in record.result.reasons)}; the next pass continues it"


def _age(seconds: float) -> str:
    """In its largest unit; in seconds below a minute."""
    unit = 3600 if seconds >= 3600 else 60 if seconds >= 60 else 1
    return in_words(max(0, seconds // unit * unit))
