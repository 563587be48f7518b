"""`importer doctor`: what is wrong with settings, token, connection, folders and ledger, and what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from importer.app.connection import examine
from importer.cli import options
from importer.cli.asking import confirm_address
from importer.cli.messages import tell
from importer.settings import load_settings


def doctor(
    out: options.Out = None,
    as_json: options.AsJson = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Confirm that your token may go to the address that this folder names.")
    ] = False,
) -> None:
    """Look at settings, token, connection, folders and ledger, and say what is wrong and what to do."""

    settings = load_settings(out=out)
    findings = list(examine(settings, confirm_address, trust=trust))
    if as_json:
        tell(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            sign = "WRONG" if not finding.well else "note " if finding.hint else "ok   "
            tell(f"{sign}  {finding.what}: {finding.found}")
            if finding.hint:
                tell(f"         -> {finding.hint}")
        wrong = sum(not finding.well for finding in findings)
        tell("\nAll is well." if not wrong else f"\n{wrong} to mend. Until then: importer run FILE ... --sandbox")
    raise typer.Exit(0 if all(finding.well for finding in findings) else 3)
