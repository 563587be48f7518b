"""What a person at the terminal is asked. Where nobody is there, as in a scheduled run, nobody is asked."""

from __future__ import annotations

import sys

import typer

from importer.app.orders import Planned
from importer.cli.messages import say
from importer.settings import Settings
from importer.settings.trust import confirm


def is_somebody_there() -> bool:
    """Whether a person can see the question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_to_send(planned: Planned) -> bool:
    """Whether the rows that are ready shall be sent."""
    if planned.is_split:
        for one in planned.targets:
            say(f"{one.ready} of {one.rows} rows are ready for {one.target}")
        return typer.confirm("Send them?", err=True)
    (one,) = planned.targets
    ready = f"{one.ready} of {one.rows} rows are ready for {one.target} at {planned.service}"
    return typer.confirm(f"{ready}. Send them?", err=True)


def confirm_address(settings: Settings) -> None:
    """Ask the person at the terminal, if there is one, whether a token may go to an address that the folder names."""
    use = settings.unconfirmed_use()
    if use is None or not is_somebody_there():
        return
    say(f"{use.source} in {use.folder} names the address {use.address}, which would get {use.told_token}.")
    if typer.confirm("Is this the address of your recruiting service? (You are asked once.)", err=True):
        confirm(use)
