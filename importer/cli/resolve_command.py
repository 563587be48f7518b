"""`importer resolve`: a person says what became of a row that is unclear."""

from __future__ import annotations

from typing import Annotated

import typer

from importer.cli import options
from importer.cli.messages import in_folder, tell


def resolve(
    run: options.Run,
    row: Annotated[int, typer.Argument(help="The row, as import_row names it.", show_default=False)],
    created: Annotated[bool, typer.Option("--created", help="The candidate is there.")] = False,
    absent: Annotated[bool, typer.Option("--absent", help="The candidate is not there.")] = False,
    out: options.Out = None,
) -> None:
    """Settle an unclear row as you found it in the service: the candidate is there, or is not."""
    from importer.errors import UsageError
    from importer.ledger import open_ledger
    from importer.runs.finalize import close, settle_by_hand
    from importer.runs.folder import find_run, read_manifest
    from importer.runs.results_folder import refuse_untrusted
    from importer.settings import load_settings

    if created == absent:
        raise UsageError("say what you found in the service: --created if the candidate is there, or --absent")
    settings = load_settings(out=out)
    refuse_untrusted(settings)
    folder = find_run(settings.out, run)
    manifest = read_manifest(folder)
    with open_ledger(settings.ledger_address) as ledger, ledger.lock_target(manifest.scope):
        if manifest.ending is None and not manifest.dry_run:
            close(folder, ledger)
        settle_by_hand(folder, ledger, row, created=created)
    if created:
        tell(f"Row {row} of run {manifest.run} is known as created; it will not be sent again.")
    else:
        again = f"importer retry {manifest.run} --only failed{in_folder(settings.out)}"
        tell(f"Row {row} of run {manifest.run} is known as absent. Next: {again}")
