"""`importer documents list` and `check`: the CVs and photos that belong to the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from importer.app.document_list import IDS_FILE, DocumentCounts, list_documents
from importer.app.earlier_runs import fixed_order
from importer.app.orders import Order, Sending
from importer.app.run_options import sandbox_setup
from importer.cli import options
from importer.cli.app import Command, next_command
from importer.cli.messages import counted, print_lines, print_next, print_result
from importer.cli.terminal import Terminal
from importer.report.text import problem_lines
from importer.settings import load_settings

documents = typer.Typer(
    help="The CVs and photos of a file: which its rows name, what is wrong, and their IDs.",
    add_completion=False,
    rich_markup_mode=None,
)


@documents.command("list", cls=Command)
def list_(
    context: typer.Context,
    file: options.File,
    mapping: options.MappingFile,
    to: Annotated[Path | None, typer.Option("--to", help="The list. [documents.csv, beside the file]")] = None,
    out: options.Out = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    sheet: options.Sheet = None,
) -> None:
    """Write the list of documents, in which you fill in the document ID of each after its upload."""
    order = _order(file, mapping, out, sandbox, questions, sheet)
    with Terminal(quiet=False) as terminal:
        counts = list_documents(order, terminal, to)
    _show(counts)
    if counts.is_uploaded:
        print_lines(f"{counts.to} is written, but not needed: importer run uploads the documents of its rows.")
    elif counts.named > counts.with_id:
        print_lines(
            f"Upload the files that {counts.to} lists, and fill in document_id there. An ID belongs to a content: "
            "a file that is replaced later needs a new one."
        )
    is_open = counts.named > counts.with_id and not counts.is_uploaded
    if to is not None and to.name != IDS_FILE:
        print_lines(f"A run reads it as {IDS_FILE} beside the file: put it there when it is filled in.")
    command = "documents check" if is_open else "check"
    print_next("Next", next_command(context, command, file, "--mapping", mapping))


@documents.command("check", cls=Command)
def check(
    context: typer.Context,
    file: options.File,
    mapping: options.MappingFile,
    out: options.Out = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    sheet: options.Sheet = None,
) -> None:
    """Show what is still missing. The exit code is 4 until every document can be used and has its ID."""
    with Terminal(quiet=False) as terminal:
        counts = list_documents(_order(file, mapping, out, sandbox, questions, sheet), terminal, writes=False)
    _show(counts)
    is_open = counts.named > counts.with_id and not counts.is_uploaded
    print_next("Next", next_command(context, "documents list" if is_open else "check", file, "--mapping", mapping))
    raise typer.Exit(0 if counts.is_complete else 4)


def _order(
    file: Path, mapping: Path, out: Path | None, sandbox: bool, questions: Path | None, sheet: str | None
) -> Order:
    sending = Sending(sandbox_setup=sandbox_setup(sandbox, questions))
    return fixed_order(Order(file, mapping, load_settings(out=out), sending=sending, sheet=sheet))


def _show(counts: DocumentCounts) -> None:
    without = counts.named - counts.with_id
    print_lines(
        f"{counted(counts.named, 'document')} of rows can be used: {counts.with_id:,} with a document ID, {without:,} "
        f"{'to be uploaded' if counts.is_uploaded else 'without'}. "
        f"{counts.unused:,} of {counts.files:,} files belong to no row."
    )
    for line in problem_lines("What to fix", counts.causes, room=14, all_in="importer check has all"):
        print_result(line)
