"""`importer questions`: the questions of a job post, as a table or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from importer.cli import options
from importer.cli.messages import say, tell
from importer.text.visible import visible

if TYPE_CHECKING:
    from importer.models import Question


def questions(
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    as_json: options.AsJson = False,
    sandbox: options.UseSandbox = False,
    out: options.Out = None,
) -> None:
    """Show the questions of a job post: how a mapping file names each, and what its answer may be."""
    from importer.cli.connection import connect, rehearse
    from importer.errors import UsageError
    from importer.models import Operation, Target
    from importer.settings import load_settings

    try:
        target = Target(Operation.APPLY, job_post)
    except ValueError as error:
        raise UsageError(f"{error}; it is the part of the job post's address that looks like 4f2c9a") from None
    settings = load_settings(out=out)
    with rehearse(settings, None, None) if sandbox else connect(settings) as connection:
        found = connection.questions(target.id)
    if as_json:
        shown = {"job_post": target.id, "questions": [_as_described(question) for question in found]}
        tell(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    _show_table(found)
    again = f"importer mapping new FILE --job-post {target.id}" + (" --sandbox" if sandbox else "")
    say(f"Next: {again} proposes which column answers which of them")


def _as_described(question: Question) -> dict[str, object]:
    """A question with the fields of service description 2.1, its options as a JSON array."""
    return {
        "id": question.id,
        "question_text": question.text,
        "is_required": question.required,
        "answer_type": question.answer_type,
        "options": json.dumps(question.options, ensure_ascii=False) if question.options else None,
        "question_key": question.key,
        "question_type": question.type,
    }


def _show_table(found: tuple[Question, ...]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("in the mapping file", "must", "answer", "question"):
        table.add_column(heading, overflow="fold")
    for question in found:
        named = question.key or f'"text: {question.text}"'
        kind = question.answer_type + (f" ({question.type})" if question.type else "")
        text = question.text + (f"\n[{' | '.join(question.options)}]" if question.options else "")
        # Text, not str: a question may hold square brackets, which rich would take for its own.
        cells = (named, "yes" if question.required else "", kind, text)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    Console().print(table)
