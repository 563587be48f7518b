"""`importer run` and `importer check` with a folder of mappings: one export to many targets, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from importer.cli.messages import say, tell

if TYPE_CHECKING:
    from importer.app.batch import Batch
    from importer.app.planning import Order, Plan
    from importer.cli.connection import Connection
    from importer.report import Summary

_SIGNALLED = 128


class Carries(Protocol):
    """Takes one plan to its end."""

    def __call__(self, plan: Plan) -> Summary: ...


def import_batch(
    order: Order, connection: Connection, carry: Carries, *, ask: bool, quiet: bool
) -> tuple[Path, Summary]:
    """Each target in turn; one that is blocked or cannot be begun, as where another run is at work, stops no others."""
    from importer.app.batch import block, end_batch, plan_batch
    from importer.errors import Busy, UnusableInput

    batch = plan_batch(order, connection.questions)
    if ask:
        _agree(batch)
    signal = None
    for plan in batch.plans:
        if signal is not None:
            batch = block(batch, plan, Busy("the batch was interrupted before its turn"))
            continue
        if not quiet:
            say(f"{plan.manifest.target}: {plan.manifest.rows} row{'' if plan.manifest.rows == 1 else 's'}")
        try:
            code = carry(plan).exit_code or 0
        except (Busy, UnusableInput) as error:  # nothing was sent to this target, and others may have had their rows
            say(f"importer: {error}")
            batch = block(batch, plan, error)
            continue
        signal = code - _SIGNALLED if code > _SIGNALLED else None
    return batch.folder, end_batch(batch, signal)


def _agree(batch: Batch) -> None:
    from importer.app.planning import discard

    for plan in batch.plans:
        assert plan.forecast is not None  # a batch is checked whole
        say(f"{plan.forecast.ready} of {plan.manifest.rows} rows are ready for {plan.manifest.target}")
    if not typer.confirm("Send them?", err=True):
        for plan in batch.plans:
            discard(plan)
        say("Nothing was sent.")
        raise typer.Exit(0)


def tell_targets(folder: Path) -> None:
    """What became of each target of a batch, and the run to look at."""
    from importer.report import read_summary
    from importer.runs.batch_folder import read_batch

    for run in read_batch(folder).runs:
        if run.blocked:
            tell(f"{run.target}: nothing was sent: {run.blocked}")
            continue
        outcomes = read_summary(folder.parent / run.run).outcomes
        counts = ", ".join(f"{count} {kind.value.replace('_', ' ')}" for kind, count in outcomes.items() if count)
        tell(f"{run.target}: {counts or 'no report yet'} (importer show {run.run})")
