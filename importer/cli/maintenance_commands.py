"""`importer doctor`, `purge` and `forget`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from importer.app.cleanup import find_old, parse_age, unmarked_runs
from importer.app.cleanup import purge as remove_old
from importer.app.doctor import examine
from importer.app.forget import Person, find_person
from importer.app.forget import forget as remove_person
from importer.cli import options
from importer.cli.messages import counted, print_lines, print_message, print_result
from importer.cli.terminal import ask, confirm_address, is_interactive
from importer.problems import UsageError
from importer.report.write import changed_files
from importer.runs.results_folder import MARKER
from importer.settings import load_settings
from importer.text.terminal import command_line


def purge(
    older_than: Annotated[
        str, typer.Option("--older-than", help="Remove runs that ended earlier than this: 90d or 12w.")
    ],
    out: options.Out = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs.")] = False,
    yes: options.Yes = False,
) -> None:
    """Permanently remove the reports and copies of old runs. Imported candidates stay in the ledger."""
    settings = load_settings(out=out)
    found, sending = find_old(settings, parse_age(older_than), datetime.now(UTC))
    for old in found:
        print_result(f"{old.folder}  ended {old.at:%Y-%m-%d}")
    for folder in sending:
        ends = command_line("report", folder.name, flags={"--out": str(out)} if out else {})
        print_message(f"{folder}: skipped: it is running, or was killed: then {ends} ends it")
    for folder in unmarked_runs(settings):
        print_message(f"{folder}: skipped, because it does not contain the file {MARKER}; remove it manually")
    if dry_run:
        print_message(f"{counted(len(found), 'run')} would be removed.")
    elif not found or _may_remove("Remove these runs permanently?", yes=yes):
        remove_old(found)
        print_message(f"{counted(len(found), 'run')} removed.")


def _may_remove(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not is_interactive():
        raise UsageError("nothing was removed: add --yes to remove without being asked")
    if ask(question, "Nothing was removed."):
        return True
    print_message("Nothing was removed.")
    return False


def forget(
    email: Annotated[str, typer.Argument(help="The e-mail address of the person.")],
    from_ledger: Annotated[
        bool, typer.Option("--from-ledger", help="Also remove the keyed hashes that prevent a second entry.")
    ] = False,
    out: options.Out = None,
    yes: options.Yes = False,
) -> None:
    """Remove one person: copies of files and reports go, and the reports are written again without the person."""
    settings, person = load_settings(out=out), Person(email)
    found = find_person(settings, person)
    for folder in found:
        print_result(str(folder))
        for path in changed_files(folder):
            print_lines(f"{path} was changed: import it first, or what you corrected in it is lost.")
    if not found:
        print_lines(f"No run and no draft in {settings.out} has this address.")
    places = f"{counted(len(found), 'folder')}{' and the ledger' if from_ledger else ''}"
    if (found or from_ledger) and not _may_remove(f"Remove the person from {places} permanently?", yes=yes):
        return
    done = remove_person(settings, person, found, from_ledger=from_ledger)
    if found:
        print_lines(f"{counted(done.rows, 'row')} blanked in {counted(len(found), 'folder')}.")
    if done.known:
        print_lines(
            "Their keyed hashes were removed from the ledger: a file with the person would be sent as new."
            if from_ledger
            else "The ledger keeps keyed hashes, so that no one is entered twice; --from-ledger removes them too."
        )
    if done.rows:
        print_lines("Rows to fix in these runs are fixed in your own file now: the copies of it are gone.")
    for path in done.outside:
        print_lines(f"{path}: has the address too; it is not a file of the importer, and was not changed")
    for text in done.left:
        print_lines(text)
    print_lines("What the service has, documents and lists of them, and backups are not changed.")
    raise typer.Exit(4 if done.left else 0)


def doctor(
    out: options.Out = None,
    as_json: options.AsJson = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Confirm the address for your token, and the other settings of this folder that need it."
        ),
    ] = False,
    try_upload: Annotated[
        Path | None, typer.Option("--try-upload", help="Upload this file, and show what the service answers.")
    ] = None,
) -> None:
    """Check the settings, token, connection, folders and ledger."""
    settings = load_settings(only_confirmed=False, out=out)
    findings = list(examine(settings, confirm_address, trust=trust, try_upload=try_upload))
    is_fine = all(finding.ok for finding in findings)
    if as_json:
        print_result(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            mark = "ERROR" if not finding.ok else "note " if finding.hint else "ok   "
            print_lines(f"{finding.check}: {finding.result}", f"{mark}  ", " " * 9)
            if finding.hint:
                print_lines(finding.hint, "         -> ", " " * 12)
        failed = counted(sum(not finding.ok for finding in findings), "problem")
        print_result("")
        of_service = {"address", "token", "connection", "transport", "proxy", "token file"}
        is_only_service = all(finding.ok or finding.check in of_service for finding in findings)
        sandbox = " The sandbox still works: importer run FILE ... --sandbox" if is_only_service else ""
        print_lines("No problems." if is_fine else f"{failed} found.{sandbox}")
    raise typer.Exit(0 if is_fine else 3)
