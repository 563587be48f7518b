"""`importer web`: the import in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from importer.cli import options
from importer.cli.messages import print_line, print_message
from importer.problems import UsageError


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
