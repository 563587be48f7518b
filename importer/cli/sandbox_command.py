"""`importer sandbox`: the local recruiting service on its own, for rehearsals and for trying a mapping."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from importer.cli.messages import say
from importer.problems import UsageError
from importer.sandbox import SandboxOptions, serve


def sandbox(
    host: Annotated[str, typer.Option("--host", help="A loopback address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 8080,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Job posts and talent pools, a JSON file.")
    ] = None,
    memory: Annotated[Path | None, typer.Option("--memory", help="Keep what was accepted in this file.")] = None,
    faults: Annotated[Path | None, typer.Option("--faults", help="Faults to show, a JSON file.")] = None,
    log: Annotated[Path | None, typer.Option("--log", help="Write each request into this file, as JSON lines.")] = None,
    pool_duplicates: Annotated[
        int, typer.Option("--pool-duplicates", help="Answer to a second addition: 409 or 400.")
    ] = 409,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", envvar="IMPORTER_SANDBOX_TOKEN", help="The token it takes; made up where none is given."
        ),
    ] = None,
    exit_with_stdin: Annotated[bool, typer.Option("--exit-with-stdin", hidden=True)] = False,
) -> None:
    """Run a recruiting service on this machine that keeps the documented contract. Ends with Ctrl-C."""
    if pool_duplicates not in (409, 400):
        raise UsageError(f"--pool-duplicates {pool_duplicates} is neither 409 nor 400")
    chosen = token or secrets.token_urlsafe(16)
    if token is None:
        say(f"To use it: set IMPORTER_BASE_URL to the address below, and IMPORTER_TOKEN={chosen}")
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
            exit_with_stdin=exit_with_stdin,
        )
    )
    raise typer.Exit(code)
