"""`importer web` and `importer sandbox`: servers on this machine."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from importer.cli import options
from importer.cli.messages import print_line, print_message
from importer.problems import UsageError
from importer.sandbox import SandboxOptions, serve


def web(
    file: Annotated[Path | None, typer.Argument(help="Begin with the import of this file.", show_default=False)] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Begin new imports as rehearsals in the sandbox.")] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="The port on this machine. [8765, or a free one]")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address; open no browser.")] = False,
    out: options.Out = None,
) -> None:
    """Import files in a browser on this machine. Stop it with Ctrl-C."""
    try:
        from importer.web.server import running, serve  # only with the extra
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("importer"):
            raise
        raise UsageError(
            f"importer web needs packages that are not installed (first: {error.name}); install them with: "
            "pip install 'candidate-importer[web]'"
        ) from None
    if file is not None and not file.is_file():
        raise UsageError(f"there is no file {file}")
    with running(out, sandbox=sandbox, file=file, port=port, on_used=_show_next) as server:
        print_message("importer web is ready. Open this address in a browser on this machine; it works once:")
        print_line(server.address)
        print_message("Ctrl-C stops it.")
        serve(server, print_message, opens=not no_open)


def _show_next(address: str) -> None:
    print_message("A browser is connected. For another one:")
    print_line(address)


def sandbox(
    host: Annotated[str, typer.Option("--host", help="The loopback address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port; 0 picks a free one.")] = 8080,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Job posts and talent pools, a JSON file. [built in]")
    ] = None,
    memory: Annotated[
        Path | None, typer.Option("--memory", help="Keep accepted candidates in this file. [in memory]")
    ] = None,
    faults: Annotated[Path | None, typer.Option("--faults", help="Faults to simulate, a JSON file.")] = None,
    log: Annotated[Path | None, typer.Option("--log", help="Log each request to this file, as JSON Lines.")] = None,
    pool_duplicates: Annotated[
        int, typer.Option("--pool-duplicates", help="Status for a candidate added twice: 409 or 400.")
    ] = 409,
    token: Annotated[
        str | None, typer.Option("--token", envvar="IMPORTER_SANDBOX_TOKEN", help="The access token. [random]")
    ] = None,
) -> None:
    """Run a local recruiting service for testing. Stop it with Ctrl-C."""
    if pool_duplicates not in (409, 400):
        raise UsageError(f"--pool-duplicates {pool_duplicates} is not valid; use 409 or 400")
    chosen = token or secrets.token_urlsafe(16)
    if token is None:
        print_message(f"To use it, set IMPORTER_BASE_URL to the address below, and IMPORTER_TOKEN={chosen}")
    code = serve(
        SandboxOptions(
            token=chosen,
            host=host,
            port=port,
            questions=questions,
            memory=memory,
            faults=faults,
            log=log,
            pool_duplicate_status=409 if pool_duplicates == 409 else 400,
        )
    )
    raise typer.Exit(code)
