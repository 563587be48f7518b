"""`importer sandbox`: the local recruiting service as a command of its own."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from importer.cli.messages import print_message
from importer.problems import UsageError
from importer.sandbox import SandboxOptions, serve


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
