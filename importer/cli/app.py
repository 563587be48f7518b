"""The command line: which commands there are, and how an error becomes a message and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple, cast

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from importer import __version__
from importer.cli.messages import show_error, tell
from importer.problems import ImporterError
from importer.startup import reduce_garbage_collection

if sys.platform != "win32":
    import resource


class _Command(NamedTuple):
    """Where a command is, and its line in the help. It is loaded when it is called, so that others start soon."""

    module: str
    name: str
    help: str


COMMANDS = {
    "inspect": _Command(
        "inspect_command",
        "inspect",
        "Show what is in a file: how it is read, its columns with samples and kinds, and what is wrong in it.",
    ),
    "check": _Command(
        "run_command",
        "check",
        "Check a spreadsheet against its mapping and the live questions. Sends nothing; the report is that of a run.",
    ),
    "run": _Command(
        "run_command",
        "run",
        "Import the rows of a spreadsheet. Safe to run again: rows that are done are not sent a second time.",
    ),
    "resume": _Command(
        "run_command",
        "resume",
        "Go on with a run that was stopped or killed, from its own copies of file and mapping. Done rows are not sent.",
    ),
    "retry": _Command(
        "run_command",
        "retry",
        "Send the rows of a run again that were rejected, failed or unconfirmed, as they were, and no others.",
    ),
    "resolve": _Command(
        "run_command",
        "resolve",
        "Settle an unconfirmed row as you found it in the service: the candidate is there, or is not.",
    ),
    "questions": _Command(
        "mapping_commands",
        "questions",
        "Show the questions of a job post: how a mapping file names each, and what its answer may be.",
    ),
    "template": _Command(
        "mapping_commands",
        "template",
        "Write an empty workbook with a column for every question, and the mapping file that imports it as it is.",
    ),
    "runs": _Command("runs_commands", "runs", "List the runs of a results folder, the newest first."),
    "show": _Command("runs_commands", "show", "Show what became of a run."),
    "report": _Command("runs_commands", "report", "Write the report of a run again, also of one that was killed."),
    "sandbox": _Command(
        "sandbox_command",
        "sandbox",
        "Run a recruiting service on this machine that keeps the documented contract. Ends with Ctrl-C.",
    ),
    "doctor": _Command(
        "runs_commands",
        "doctor",
        "Look at settings, token, connection, folders and ledger, and say what is wrong and what to do.",
    ),
    "purge": _Command(
        "runs_commands",
        "purge",
        "Remove the reports and copies of old runs for good. Who was entered stays known, so nobody is entered twice.",
    ),
    "mapping": _Command("mapping_commands", "mapping_app", "Propose a mapping file for a spreadsheet, or check one."),
}


class _LazyCommands(TyperGroup):
    """Lists all commands, and loads the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        listed = [TyperCommand(name, help=command.help) for name, command in COMMANDS.items()]
        super().__init__(**{**attributes, "commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name), rest


def load_command(name: str) -> TyperCommand | TyperGroup:
    """A command with its options."""
    found = COMMANDS[name]
    loaded: Any = getattr(import_module(f"importer.cli.{found.module}"), found.name)
    if not isinstance(loaded, typer.Typer):
        function, loaded = loaded, typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        loaded.command(name)(function)
    command = cast(TyperCommand | TyperGroup, typer.main.get_command(loaded))
    _show_brackets(command)
    return command


def _show_brackets(command: Any) -> None:
    """Have the help show `[found]` as it is written: rich would take it for markup and leave it out."""
    for parameter in command.params:
        parameter.help = escape(getattr(parameter, "help", None) or "")
    for below in getattr(command, "commands", {}).values():
        _show_brackets(below)


app = typer.Typer(
    cls=_LazyCommands,
    name="importer",
    help="Import candidates from spreadsheets into a recruiting service: every row once, every row accounted for.",
    epilog="Start with: importer inspect FILE. It shows what is in a file, and sends nothing.",
    no_args_is_help=True,
    add_completion=False,
    # A bug of ours shows its traceback as Python writes it: no values of variables, which may be personal data.
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        tell(f"importer {__version__}")
        raise typer.Exit


@app.callback()
def importer(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """The console script. Exit codes are those of design section 4; a usage error is 2, a bug 1 with its traceback.

    arguments: the words after `importer`; those of the process where none are given.
    """
    reduce_garbage_collection()
    _leave_no_core_dump()
    try:
        app(args=arguments, prog_name="importer")
    except ImporterError as error:
        show_error(error)
        sys.exit(error.exit_code)


def _leave_no_core_dump() -> None:
    """Should this process or one that it starts crash, no file holds the token and the candidates."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
