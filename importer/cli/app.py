"""The command line: which commands there are, and how an error becomes a message and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from importer import __version__
from importer.cli.messages import print_result, show_error
from importer.problems import ImporterError
from importer.text.terminal import command_line

if sys.platform != "win32":
    import resource

_LOADED_OBJECTS = 200_000  # a little more than all our libraries create

# The file of each command and its line in the help, by group. Loaded only when it is called, which keeps startup fast.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "First import": {
        "inspect": ("inspect_command", "Show the columns of a file, and what needs attention."),
        "questions": ("mapping_commands", "Show the questions of a job post."),
        "template": ("mapping_commands", "Create an empty workbook, a column for each question."),
        "mapping": ("mapping_commands", "Propose a mapping file (new), check or test it."),
        "documents": ("documents_commands", "List the CVs and photos of a file, with their IDs."),
        "check": ("run_command", "Check a file and report every problem. Sends nothing."),
        "web": ("server_commands", "Do all this in a browser on this machine."),
    },
    "Sending": {
        "run": ("run_command", "Import a file. Safe to repeat: no row is sent twice."),
        "resume": ("run_command", "Continue a run that was stopped or killed."),
        "resolve": ("run_command", "Record what you found about an unconfirmed row."),
        "inbox": ("inbox_commands", "Import the files that arrive in a folder, each once."),
    },
    "Results": {
        "runs": ("runs_commands", "List the runs, newest first."),
        "show": ("runs_commands", "Show the summary of a run, or one row of it."),
        "status": ("runs_commands", "Show what became of a file, over all its runs."),
        "report": ("runs_commands", "Write the report of a run again."),
        "purge": ("maintenance_commands", "Remove the reports and copies of old runs."),
        "forget": ("maintenance_commands", "Remove one person from all runs."),
    },
    "Service": {
        "doctor": ("maintenance_commands", "Check settings, token, connection, folders and ledger."),
        "sandbox": ("server_commands", "Run a recruiting service on this machine, for testing."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class _LazyCommands(TyperGroup):
    """Lists all commands, and loads only the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        listed = [TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()]
        super().__init__(**{**attributes, "commands": listed})
        _prepare_help(self)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """One screen: frames and blank lines would make it two."""
        formatter.write("Usage: importer COMMAND [--help] | --version | --install-completion\n")
        for title, group in GROUPS.items():
            for at, (name, (_, line)) in enumerate(group.items()):
                formatter.write(f"{'' if at else title:<12} {name:<10} {line}\n")

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name), rest


def load_command(name: str) -> TyperCommand | TyperGroup:
    """A command with its options."""
    loaded: Any = getattr(import_module(f"importer.cli.{COMMANDS[name][0]}"), name)
    if not isinstance(loaded, typer.Typer):
        function, loaded = loaded, typer.Typer(add_completion=False, rich_markup_mode=None)
        loaded.command(name, cls=Command)(function)
    command = cast(TyperCommand | TyperGroup, typer.main.get_command(loaded))
    _prepare_help(command)
    return command


class Command(TyperCommand):
    """A command whose help lists its arguments, then the options that people use first, then the others."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panels.setdefault(self._panel_of(parameter), []).append(record)
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records, col_max=26)

    def _panel_of(self, parameter: Any) -> str:
        if isinstance(parameter, TyperArgument):
            return "Arguments"
        is_first = len(self.params) <= _MANY_OPTIONS or _FIRST_OPTIONS.intersection(parameter.opts)
        return "Options" if is_first else "More options"


_MANY_OPTIONS = 15
_FIRST_OPTIONS = frozenset(
    ("--mapping", "--sandbox", "--sheet", "--rows", "--limit", "--max-errors", "--out", "--yes", "--quiet", "--verbose")
)
_TYPE_WORDS = {bool: "", int: "number", float: "number", Path: "path", str: "text"}


def _prepare_help(command: Any) -> None:
    """Show types in plain words."""
    for parameter in command.params:
        if isinstance(parameter, TyperArgument):
            parameter.metavar = (parameter.name or "").upper()
        elif parameter.type_descriptor.annotation in _TYPE_WORDS:
            parameter.metavar = _TYPE_WORDS[parameter.type_descriptor.annotation]
    for subcommand in getattr(command, "commands", {}).values():
        _prepare_help(subcommand)


# Flags about one command's output or question, and the mapping, which is named where it is needed.
_NOT_REPEATED = frozenset(
    {"--json", "--quiet", "--yes", "--force", "--to", "--mapping"} | {"--until", "--max-runtime", "--job"}
)


def given_flags(context: typer.Context, command: str) -> dict[str, str]:
    """The flags that the running command was given and `command` has too, with their values ("" for none)."""
    name, _, subcommand = command.partition(" ")
    target: Any = load_command(name)
    if subcommand:
        target = target.commands[subcommand]
    known = {flag for parameter in target.params for flag in parameter.opts} - _NOT_REPEATED
    return {flag: value or "" for flag, value in all_given_flags(context) if flag in known}


def all_given_flags(context: typer.Context) -> Iterator[tuple[str, str | None]]:
    """The flags that the running command was given, with their values."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE" and parameter.opts[0].startswith("--"):
            value = context.params[parameter.name or ""]
            yield parameter.opts[0], None if isinstance(value, bool) else str(value)


def next_command(context: typer.Context, command: str, *words: str | Path) -> str:
    """The command line that comes next, with the given flags of the running command: it runs as it stands."""
    flags = {flag: value for flag, value in given_flags(context, command).items() if flag not in words}
    return command_line(*command.split(), *words, flags=flags)


app = typer.Typer(
    cls=_LazyCommands,
    name="importer",
    help="Import candidates from spreadsheets into a recruiting service.",
    no_args_is_help=True,
    rich_markup_mode=None,
    # A bug shows the plain Python traceback: values of variables may be personal data.
    pretty_exceptions_enable=False,
)


def _print_version(requested: bool) -> None:
    if requested:
        print_result(f"importer {__version__}")
        raise typer.Exit


@app.callback()
def importer(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """The console script. Exit codes are those of docs/scheduling.md; a usage error is 2, a bug 1 with its traceback.

    arguments: the words after `importer`; by default those of the process.
    """
    _open_streams()
    _reduce_garbage_collection()
    _disable_core_dumps()
    try:
        app(args=arguments, prog_name="importer")
    except ImporterError as error:
        show_error(error)
        sys.exit(error.exit_code)


def _open_streams() -> None:
    """Open the standard streams that the caller closed (`>&-`): else the next file gets the number, and the output."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is the stream's
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))


def _reduce_garbage_collection() -> None:
    """Skip garbage collection during imports and at exit, which saves 0.15 s of each command.

    Nearly all objects of a run are freed by their reference count.
    """
    gc.set_threshold(_LOADED_OBJECTS)
    atexit.register(gc.freeze)


def _disable_core_dumps() -> None:
    """A core dump of this process or of one that it starts would contain the token and the candidates."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
