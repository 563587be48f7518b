"""The command line: which commands there are, and how an error becomes a message and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup

from importer import __version__
from importer.cli.messages import print_result, show_error
from importer.problems import ImporterError
from importer.processes import open_streams, reduce_garbage_collection
from importer.text.terminal import command_line

if sys.platform != "win32":
    import resource


# The file of each command, and its line in the help. Loaded only when it is called, which keeps startup fast.
COMMANDS = {
    "inspect": ("inspect_command", "Show how a file is read, its columns with samples, and its problems."),
    "check": (
        "run_command",
        "Check a file against its mapping and the current questions. Writes a report, sends nothing.",
    ),
    "run": ("run_command", "Import the rows of a file. Safe to repeat: imported rows are not sent again."),
    "resume": (
        "run_command",
        "Continue a run that was stopped or killed, from its copies of the file and the mapping.",
    ),
    "resolve": ("run_command", "Record whether the candidate of an unconfirmed row exists in the service."),
    "questions": ("mapping_commands", "Show the questions of a job post, with their keys, answer types and options."),
    "template": (
        "mapping_commands",
        "Create an empty workbook with a column for every question, and its mapping file.",
    ),
    "runs": ("runs_commands", "List the runs in the results folder, newest first."),
    "show": ("runs_commands", "Show the summary of a run, or one row of it."),
    "status": ("runs_commands", "Show what became of each row of a file, over all its runs."),
    "report": ("runs_commands", "Write the report of a run again, even if the run was killed."),
    "inbox": (
        "inbox_commands",
        "Import the files that arrive in a folder, each once: for cron and other schedulers.",
    ),
    "web": ("web_command", "Import files in a browser on this machine. Stop it with Ctrl-C."),
    "sandbox": ("sandbox_command", "Run a local recruiting service for testing. Stop it with Ctrl-C."),
    "doctor": ("maintenance_commands", "Check the settings, token, connection, folders and ledger."),
    "purge": (
        "maintenance_commands",
        "Permanently remove the reports and copies of old runs. Imported candidates stay in the ledger.",
    ),
    "mapping": ("mapping_commands", "Propose or check a mapping file."),
}


class _LazyCommands(TyperGroup):
    """Lists all commands, and loads only the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        listed = [TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()]
        super().__init__(**{**attributes, "commands": listed})
        _prepare_help(self)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name), rest


def load_command(name: str) -> TyperCommand | TyperGroup:
    """A command with its options."""
    loaded: Any = getattr(import_module(f"importer.cli.{COMMANDS[name][0]}"), name)
    if not isinstance(loaded, typer.Typer):
        function, loaded = loaded, typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        loaded.command(name)(function)
    command = cast(TyperCommand | TyperGroup, typer.main.get_command(loaded))
    _prepare_help(command)
    return command


_TYPE_WORDS = {bool: "", int: "number", float: "number", Path: "path", str: "text"}


def _prepare_help(command: Any) -> None:
    """Show types in plain words, and escape brackets such as `[detected]`, which rich would drop as markup."""
    for parameter in (*command.params, command.get_help_option(typer.Context(command))):
        parameter.help = escape(getattr(parameter, "help", None) or "")
        if isinstance(parameter, TyperArgument):
            parameter.metavar = parameter.name.upper()
        elif parameter.type_descriptor.annotation in _TYPE_WORDS:
            parameter.metavar = _TYPE_WORDS[parameter.type_descriptor.annotation]
    for subcommand in getattr(command, "commands", {}).values():
        _prepare_help(subcommand)


# Flags about one command's output or question, and the mapping, which is named where it is needed.
_NOT_REPEATED = frozenset(
    {"--json", "--quiet", "--log-level", "--yes", "--force", "--to", "--dry-run", "--mapping"}
    | {"--until", "--max-runtime", "--job"}
)


def given_flags(context: typer.Context, command: str) -> dict[str, str]:
    """The flags that the running command was given and `command` has too, with their values ("" for none)."""
    name, _, subcommand = command.partition(" ")
    target: Any = load_command(name)
    if subcommand:
        target = target.commands[subcommand]
    known = {flag for parameter in target.params for flag in parameter.opts}
    flags = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        flag = parameter.opts[0]
        if source is not None and source.name == "COMMANDLINE" and flag in known - _NOT_REPEATED and flag[:2] == "--":
            value = context.params[parameter.name or ""]
            flags[flag] = "" if isinstance(value, bool) else str(value)
    return flags


def next_command(context: typer.Context, command: str, *words: str | Path) -> str:
    """The command line that comes next, with the given flags of the running command: it runs as it stands."""
    flags = {flag: value for flag, value in given_flags(context, command).items() if flag not in words}
    return command_line(*command.split(), *words, flags=flags)


app = typer.Typer(
    cls=_LazyCommands,
    name="importer",
    help="Import candidates from spreadsheets into a recruiting service.",
    epilog="Start with: importer inspect FILE",
    no_args_is_help=True,
    add_completion=False,
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
    """The console script. Exit codes are those of design section 4; a usage error is 2, a bug 1 with its traceback.

    arguments: the words after `importer`; by default those of the process.
    """
    open_streams()
    reduce_garbage_collection()
    _disable_core_dumps()
    try:
        app(args=arguments, prog_name="importer")
    except ImporterError as error:
        show_error(error)
        sys.exit(error.exit_code)


def _disable_core_dumps() -> None:
    """A core dump of this process or of one that it starts would contain the token and the candidates."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
