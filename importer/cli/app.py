"""The command line: which commands there are, and how an error becomes a message and an exit code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from importer import __version__
from importer.cli.again_commands import resume, retry
from importer.cli.doctor_command import doctor
from importer.cli.look_command import look
from importer.cli.mapping_commands import mapping_app
from importer.cli.messages import show_error, tell
from importer.cli.purge_command import purge
from importer.cli.questions_command import questions
from importer.cli.resolve_command import resolve
from importer.cli.run_command import check, run
from importer.cli.runs_commands import report, runs, show
from importer.cli.sandbox_command import sandbox
from importer.cli.template_command import template
from importer.errors import ImporterError
from importer.startup import spare_garbage_collector

if sys.platform != "win32":
    import resource

app = typer.Typer(
    name="importer",
    help="Import candidates from spreadsheets into a recruiting service: every row once, every row accounted for.",
    epilog="Start with: importer look FILE. It shows what is in a file, and sends nothing.",
    no_args_is_help=True,
    add_completion=False,
    # A bug of ours shows its traceback as Python writes it: no values of variables, which may be personal data.
    pretty_exceptions_enable=False,
)
for command in (
    look, check, run, resume, retry, resolve, questions, template, runs, show, report, sandbox, doctor, purge,
):  # fmt: skip
    app.command()(command)
app.add_typer(mapping_app)


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
    spare_garbage_collector()
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
