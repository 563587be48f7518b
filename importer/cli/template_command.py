"""`importer template`: an empty workbook for people who fill in by hand, and its mapping file beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from importer.cli import options
from importer.cli.messages import say


def template(
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    to: Annotated[
        Path | None, typer.Option("--to", help="The workbook to write. \\[template-JOB_POST.xlsx, in this folder]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
) -> None:
    """Write an empty workbook with a column for every question, and the mapping file that imports it as it is."""
    from importer.cli.mapping_commands import ask_questions, refuse_to_replace, target_of, unwritable, write_with_schema
    from importer.errors import UsageError
    from importer.settings import load_settings
    from importer.template import template_columns, template_mapping, write_workbook

    target = target_of(job_post, None)
    workbook = to or Path(f"template-{target.id}.xlsx")
    if workbook.suffix.lower() != ".xlsx":
        raise UsageError(f"{workbook} is no name of a workbook; give one that ends in .xlsx")
    mapping = workbook.with_suffix(".yaml")
    for path in (workbook, mapping):
        refuse_to_replace(path, force)
    asked = ask_questions(target, load_settings(out=out), sandbox, questions)
    columns = template_columns(target, asked)
    try:
        write_workbook(workbook, columns)
    except OSError as error:
        raise unwritable("the workbook", workbook, error) from None
    write_with_schema(mapping, template_mapping(target, asked, columns, workbook.name))
    say(f"Wrote {workbook} with {len(columns)} columns, and {mapping}. Yellow columns are required.")
    say(f"Next: fill it in, then: importer check {workbook} --mapping {mapping}" + (" --sandbox" if sandbox else ""))
