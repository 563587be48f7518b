"""`importer mapping new` and `check`, `template`, `questions`: mapping files, and what they have to fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from importer.app.mapping_files import (
    CheckedMapping,
    Proposal,
    ask_questions,
    check_mappings,
    open_points,
    propose_mapping,
    refuse_to_replace,
    write_mapping,
    write_proposal,
    write_template,
)
from importer.app.orders import Rehearsal
from importer.cli import options
from importer.cli.messages import problem_lines, say, tell
from importer.cli.terminal import confirm_address
from importer.models import Operation, Question, SourceOptions, Target
from importer.problems import Problem, UnusableInput, UsageError
from importer.settings import Settings, load_settings
from importer.text.normalize import visible

mapping_app = typer.Typer(
    name="mapping",
    help="Propose a mapping file for a spreadsheet, or check one.",
    epilog="Start with: importer mapping new FILE --job-post HASH",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_STANDARD_OUTPUT = Path("-")


@mapping_app.command()
def new(
    file: options.File,
    job_post: Annotated[str | None, typer.Option("--job-post", help="The hash of the job post.")] = None,
    talent_pool: Annotated[str | None, typer.Option("--talent-pool", help="The number of the talent pool.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="The mapping file to write; - prints it. [FILE's name, in this folder]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a mapping file that is there already.")] = False,
    sheet: Annotated[str | None, typer.Option("--sheet", help="The sheet, by its name or number.")] = None,
    header_row: Annotated[
        int | None, typer.Option("--header-row", min=1, help="The row with the column names.")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Of a CSV: utf-8, cp1254, cp1252, ...")] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="Of a CSV: what is between two columns.")] = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
) -> None:
    """Propose a mapping file from a spreadsheet's header, its values and the questions of the job post."""
    target = target_of(job_post, talent_pool)
    path = to or Path(f"{file.stem}.yaml")
    if path != _STANDARD_OUTPUT:
        refuse_to_replace(path, force=force)
    settings = load_settings(out=out)
    asked = ask_questions(target, settings, rehearsal_of(settings, sandbox, questions))
    proposal = propose_mapping(
        file, target, asked, SourceOptions(sheet, header_row, encoding, delimiter), settings, say
    )
    if path == _STANDARD_OUTPUT:
        tell(write_proposal(proposal).removesuffix("\n"))
        return
    write_mapping(path, proposal)
    for line in _proposal_lines(proposal, file, path, sandbox):
        say(line)


def target_of(job_post: str | None, talent_pool: str | None) -> Target:
    if (job_post is None) == (talent_pool is None):
        raise UsageError("say where the candidates go: --job-post HASH or --talent-pool NUMBER, one of the two")
    try:
        if job_post is not None:
            return Target(Operation.APPLY, job_post)
        return Target(Operation.ADD_TO_POOL, talent_pool or "")
    except ValueError as error:
        raise UsageError(f"{error}; it is the last part of the address of the job post or talent pool") from None


def rehearsal_of(settings: Settings, sandbox: bool, questions: Path | None) -> Rehearsal | None:
    """Where the questions come from: a sandbox, or None for the service of the settings."""
    if sandbox:
        return Rehearsal(questions)
    if questions:
        raise UsageError("--questions is for the sandbox; add --sandbox, or leave it out")
    confirm_address(settings)
    return None


def _proposal_lines(proposal: Proposal, file: Path, path: Path, sandbox: bool) -> list[str]:
    """What was found, and the next command."""
    points = open_points(proposal)
    lines = [
        f"Wrote {path}: {points.matched} matched, {points.to_review} to review, "
        f"{len(points.missing_required)} required but not found."
    ]
    if points.to_review:
        lines.append(f'Look for "please check" in {path}.')
    if points.unmatched_values:
        values = "1 value matches" if points.unmatched_values == 1 else f"{points.unmatched_values} values match"
        lines.append(f'{values} no option: complete the lines that end in "no similar option".')
    missing = points.missing_required
    lines += [f"Add {name}: it is required, but no column was found for it." for name in missing]
    lines.append(f"Next: importer mapping check {path} {file}" + (" --sandbox" if sandbox else ""))
    return lines


# --- check --------------------------------------------------------------------------------------


@mapping_app.command()
def check(
    mapping: Annotated[Path, typer.Argument(help="The mapping file, or a folder of them.", show_default=False)],
    file: Annotated[Path | None, typer.Argument(help="A spreadsheet to hold it against.", show_default=False)] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write the questions of today into the mapping file as seen.")
    ] = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
) -> None:
    """Check a mapping file: against the questions as they are now, and against a spreadsheet's header."""
    settings = load_settings(out=out)
    changed = False
    problems: list[Problem] = []
    rehearsal = rehearsal_of(settings, sandbox, questions)
    for checked in check_mappings(mapping, file, settings, rehearsal, accept=accept):
        changed |= bool(checked.changed) and checked.misfit is None
        problems += _tell_checked(checked, file, accept=accept)
    if problems:
        raise UnusableInput(list(dict.fromkeys(problems)))
    again = " --sandbox" if sandbox else ""
    if changed and not accept:
        say(f"When its answers are right: importer mapping check {mapping} --accept{again}")
    say(f"Next: importer check {file or 'FILE'} --mapping {mapping}{again}")


def _tell_checked(checked: CheckedMapping, file: Path | None, *, accept: bool) -> tuple[Problem, ...]:
    """Tell what a mapping is about; gives what does not fit."""
    mapping = checked.mapping
    if checked.changed:
        tell(f"{len(checked.changed)} changed since {mapping.path} was written:")
        _show(checked.changed)
    if checked.reading:
        say(f"{mapping.path}: {checked.reading}" if mapping.route else checked.reading)
    if checked.misfit is not None:
        return checked.misfit.problems
    _show(checked.notes)
    if accept:
        say(f"Wrote the questions of today into {mapping.path}.")
    tell(f"{mapping.path} fits {mapping.target}" + (f" and {file}." if file else "."))
    return ()


def _show(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        for line in problem_lines(problem):
            tell(line)


# --- an empty workbook --------------------------------------------------------------------------


def template(
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    to: Annotated[
        Path | None, typer.Option("--to", help="The workbook to write. [template-JOB_POST.xlsx, in this folder]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
) -> None:
    """Write an empty workbook with a column for every question, and the mapping file that imports it as it is."""
    target = target_of(job_post, None)
    workbook = to or Path(f"template-{target.id}.xlsx")
    if workbook.suffix.lower() != ".xlsx":
        raise UsageError(f"{workbook} is no name of a workbook; give one that ends in .xlsx")
    for path in (workbook, workbook.with_suffix(".yaml")):
        refuse_to_replace(path, force=force)
    settings = load_settings(out=out)
    asked = ask_questions(target, settings, rehearsal_of(settings, sandbox, questions))
    mapping, columns = write_template(workbook, target, asked)
    say(f"Wrote {workbook} with {columns} columns, and {mapping}. Yellow columns are required.")
    say(f"Next: fill it in, then: importer check {workbook} --mapping {mapping}" + (" --sandbox" if sandbox else ""))


# --- the questions ------------------------------------------------------------------------------


def questions(
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    as_json: options.AsJson = False,
    sandbox: options.UseSandbox = False,
    out: options.Out = None,
) -> None:
    """Show the questions of a job post: how a mapping file names each, and what its answer may be."""
    try:
        target = Target(Operation.APPLY, job_post)
    except ValueError as error:
        raise UsageError(f"{error}; it is the part of the job post's address that looks like 4f2c9a") from None
    settings = load_settings(out=out)
    found = ask_questions(target, settings, rehearsal_of(settings, sandbox, None))
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
