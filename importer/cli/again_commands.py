"""`importer resume` and `importer retry`: go on after a stop, or send again only what failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from importer.cli import options
from importer.cli.messages import in_folder, say
from importer.cli.run_command import RunFlags, carry_out_order, run_settings

if TYPE_CHECKING:
    from importer.app.planning import Order
    from importer.runs.batch_folder import BatchManifest
    from importer.runs.folder import RunManifest
    from importer.settings import Settings

Only = Annotated[
    str, typer.Option("--only", help="The rows that were rejected, failed or unclear, or only some of these.")
]


def resume(
    run: options.Run = "last",
    out: options.Out = None,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    rate: options.Rate = None,
    in_flight: options.InFlight = None,
    max_errors: options.MaxErrors = None,
    settle: options.Settle = "later",
    give_up_after: options.GiveUpAfter = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run that was stopped or killed, from its own copies of file and mapping. Done rows are not sent."""
    from importer.app.resume import resume_batch_order, resume_order
    from importer.runs.batch_folder import BatchManifest

    settings = run_settings(out=out, rate=rate, in_flight=in_flight, give_up_after=give_up_after)
    folder, manifest = _earlier(run, settings)
    flags = RunFlags(False, manifest.sandbox, questions, faults, max_errors, settle, False, yes, as_json, quiet)
    if isinstance(manifest, BatchManifest):
        order = resume_batch_order(folder, manifest, settings.out, settings.wire)
    else:
        order = resume_order(folder, manifest, settings.out, settings.wire)
    carry_out_order(_only_at(order, manifest), flags, settings)


def retry(
    run: options.Run = "last",
    only: Only = "rejected,failed,unclear",
    out: options.Out = None,
    questions: options.SandboxQuestions = None,
    faults: options.SandboxFaults = None,
    rate: options.Rate = None,
    in_flight: options.InFlight = None,
    max_errors: options.MaxErrors = None,
    settle: options.Settle = "later",
    give_up_after: options.GiveUpAfter = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Send the rows of a run again that were rejected, failed or unclear, as they were, and no others."""
    from importer.app.resume import parse_outcomes, refuse_unsent, retry_batch_order, retry_order
    from importer.models import OutcomeKind
    from importer.runs.batch_folder import BatchManifest

    kinds = parse_outcomes(only)
    settings = run_settings(out=out, rate=rate, in_flight=in_flight, give_up_after=give_up_after)
    folder, manifest = _earlier(run, settings)
    refuse_unsent(manifest)
    if isinstance(manifest, BatchManifest):
        close_runs(folder, manifest, settings)
        order = retry_batch_order(folder, manifest, settings.out, settings.wire, kinds)
    else:
        if manifest.ending is None:
            _close(folder, manifest, settings)
        order = retry_order(folder, manifest, settings.out, settings.wire, kinds)
    if order is None:
        show = f"importer show {manifest.run}{in_folder(settings.out)}"
        say(f"No row of run {manifest.run} was {' or '.join(kinds)}. Next: {show}")
        raise typer.Exit(0)
    again = OutcomeKind.REJECTED in kinds
    flags = RunFlags(False, manifest.sandbox, questions, faults, max_errors, settle, again, yes, as_json, quiet)
    carry_out_order(_only_at(order, manifest), flags, settings)


def _earlier(run: str, settings: Settings) -> tuple[Path, RunManifest | BatchManifest]:
    from importer.runs.batch_folder import read_batch
    from importer.runs.folder import BATCH, find_run, read_manifest
    from importer.runs.results_folder import refuse_untrusted

    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    return folder, read_batch(folder) if (folder / BATCH).is_file() else read_manifest(folder)


def close_runs(folder: Path, batch: BatchManifest, settings: Settings) -> None:
    """Close the books of the runs of a batch that were killed."""
    from importer.runs.folder import read_manifest

    for run in batch.runs:
        own = folder.parent / run.run
        if not run.blocked and (manifest := read_manifest(own)).ending is None:
            _close(own, manifest, settings)


def _close(folder: Path, manifest: RunManifest, settings: Settings) -> None:
    """A run that was killed: what became of its rows is only known after its books are closed."""
    from importer.ledger import open_ledger
    from importer.runs.finalize import close

    with open_ledger(settings.ledger_address) as ledger, ledger.lock_target(manifest.scope):
        if ledger.run(manifest.run) is not None:  # else it never began, and has no books
            close(folder, ledger)


def _only_at(order: Order, manifest: RunManifest | BatchManifest) -> Callable[[str], Order]:
    """The order, if the settings still name the service that the run was for."""
    from importer.errors import UsageError

    def order_for(service: str) -> Order:
        if service != manifest.service:
            raise UsageError(
                f"run {manifest.run} was for {manifest.service}, but IMPORTER_BASE_URL is {service}; "
                "set it to the address of that run, or import the file anew with importer run"
            )
        return order

    return order_for
