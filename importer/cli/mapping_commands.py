"""`importer mapping new`, `mapping check`, `template` and `questions`."""

from __future__ import annotations

import json
import sys
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Final

import typer

from importer.app.first_test_rows import begin_test_rows, write_test_rows
from importer.app.mapping_files import (
    TRIED,
    CheckedMapping,
    Proposal,
    ask_questions,
    check_mappings,
    open_points,
    parse_target,
    propose_mapping,
    question_list,
    write_mapping,
    write_proposal,
    write_template,
)
from importer.app.mapping_tests import check_test_rows, test_rows_file
from importer.app.orders import SandboxSetup, refuse_to_replace
from importer.app.run_options import sandbox_setup
from importer.cli import options
from importer.cli.app import Command, next_command
from importer.cli.messages import (
    counted,
    print_lines,
    print_lines_of,
    print_message,
    print_next,
    print_problems,
    print_result,
)
from importer.cli.terminal import confirm_address
from importer.models import Operation, Question, Target
from importer.problems import Problem, UnusableInput, UsageError
from importer.report.text import problem_lines
from importer.settings import Settings, load_settings
from importer.text.normalize import visible

mapping = typer.Typer(
    name="mapping",
    help="Propose or check a mapping file.",
    epilog="Start with: importer mapping new FILE --job-post HASH",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_STANDARD_OUTPUT = Path("-")
_MOST_LINES: Final = 8  # to review
_MOST_NOTES: Final = 4
_ROOM: Final = 10  # lines for why rows are held back
_MOST_UNUSED: Final = 6  # columns
_MARK: Final = "# please check"
_WIDEST: Final = (24, 8, 15)  # texts in the lines of questions; the question has what is left


@mapping.command(cls=Command)
def new(
    context: typer.Context,
    file: options.File,
    job_post: Annotated[str | None, typer.Option("--job-post", help="The hash of the job post.")] = None,
    talent_pool: Annotated[str | None, typer.Option("--talent-pool", help="The ID of the talent pool.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="The mapping file to write; - prints it. [the file's name with .yaml]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing mapping file.")] = False,
    sheet: options.Sheet = None,
    header_row: options.HeaderRow = None,
    header_rows: options.HeaderRows = None,
    skip_rows: options.SkipRows = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> None:
    """Propose a mapping file for a file and a job post."""
    target = target_of(job_post, talent_pool)
    path = to or Path(f"{file.stem}.yaml")
    if path != _STANDARD_OUTPUT:
        refuse_to_replace(path, force=force)
    settings = load_settings(out=out)
    asked = ask_questions(target, settings, _asked_where(settings, sandbox, questions))
    declared = options.source_options(sheet, header_row, header_rows, skip_rows, encoding, delimiter)
    proposal = propose_mapping(file, target, asked, declared, print_message)
    if path == _STANDARD_OUTPUT:
        print_result(write_proposal(proposal).removesuffix("\n"))
        return
    write_mapping(path, proposal)
    of_test_rows = _written_test_rows(path, file, asked, settings)
    for line in _proposal_lines(proposal, path, _MOST_LINES if not verbose else sys.maxsize):
        print_message(line)
    print_message(of_test_rows)
    print_next("Next", next_command(context, "mapping check", path, file))


def _written_test_rows(path: Path, file: Path, asked: tuple[Question, ...], settings: Settings) -> str:
    """Write the first test rows of a mapping; returns a sentence about them."""
    if (beside := test_rows_file(path)).exists():
        return f"{beside} is there already, and is not changed."
    try:
        if written := write_test_rows(path, file, asked, settings):
            return f"Wrote {written}: rows to test it with, by importer mapping test {path}"
    except UnusableInput:
        return f"Test rows come later: complete the mapping, then importer mapping test {path} {file}"
    why = "a candidate is made of several rows or tables, or none can be sent with an invented person"
    return f"No test rows were written: {why}."


def target_of(job_post: str | None, talent_pool: str | None) -> Target:
    if (job_post is None) == (talent_pool is None):
        raise UsageError("use either --job-post HASH or --talent-pool ID")
    operation = Operation.APPLY if job_post is not None else Operation.ADD_TO_POOL
    return parse_target(operation, job_post or talent_pool or "")


def _asked_where(settings: Settings, sandbox: bool, questions: Path | None) -> SandboxSetup | None:
    """The sandbox that the questions come from; None for the service of the settings, whose use is confirmed."""
    found = sandbox_setup(sandbox, questions)
    if found is None:
        confirm_address(settings)
    return found


def _proposal_lines(proposal: Proposal, path: Path, most: int) -> list[str]:
    """How much was matched, and what is left to do; `most` of the lines to review."""
    points = open_points(proposal)
    lines = [
        f"Wrote {path}: {points.matched} matched, {points.to_review} to review, "
        f"{len(points.missing_required)} required but not found."
    ]
    if points.to_review:
        marked = _marked_lines(path.read_text("utf-8").splitlines())
        lines += ['Review these lines of it, and remove the mark "please check" of each:', *marked[:most]]
        lines += [f"  ... and {len(marked) - most} more"] if len(marked) > most else []
    if points.unmatched_values:
        values = "1 value matches" if points.unmatched_values == 1 else f"{points.unmatched_values} values match"
        lines.append(f'{values} no option: complete the comments under "values:".')
    likely = {one.name: one.closest for one in (*proposal.open_fields, *(one for _, one in proposal.open_questions))}
    for name in points.missing_required:
        perhaps = f" Perhaps it is {' or '.join(likely[name])}." if likely.get(name) else ""
        lines.append(f"Add {name}: it is required, but no column was found for it.{perhaps}")
    if "cv" in points.missing_required and not likely.get("cv"):
        lines.append("Without a column of document IDs, one document can be used for every row: cv: {value: ID}")
    if unused := proposal.open_columns:
        names = [f"{one.name} (perhaps {one.closest[0]})" if one.closest else one.name for one in unused[:_MOST_UNUSED]]
        rest = f" and {len(unused) - len(names)} more" if len(unused) > len(names) else ""
        lines.append(f"Not used: {', '.join(names)}{rest}.")
    return lines + [f"Not used of {one.name}: {', '.join(one.unused)}." for one in proposal.children if one.unused]


def _marked_lines(lines: list[str]) -> list[str]:
    """`line 12: phone: Mobile  # please check: ...`; a mark above its line is shown with that line."""
    found = []
    for number, line in enumerate(lines, start=1):
        value, mark, reason = line.strip().partition(_MARK)
        if mark:
            comments = [*takewhile(lambda one: one.startswith("#"), map(str.strip, lines[number:]))]
            if not value.strip():  # the mark stands above its line, with further comments between
                value = "".join(lines[number + len(comments) :][:1])
                reason = " ".join([reason, *(one.lstrip("# ") for one in comments)])
            found.append(f"  line {number}: {value.strip()}  {mark}{reason}")
    return found


# --- check --------------------------------------------------------------------------------------


@mapping.command(cls=Command)
def check(
    context: typer.Context,
    mapping: Annotated[
        Path, typer.Argument(help="The mapping file, or a folder of mapping files.", show_default=False)
    ],
    file: Annotated[Path | None, typer.Argument(help="A file whose header is checked too.", show_default=False)] = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> None:
    """Check a mapping file against the questions and a file."""
    settings = load_settings(out=out)
    problems: list[Problem] = []
    sandbox_setup = _asked_where(settings, sandbox, questions)
    for checked in check_mappings(mapping, file, settings, sandbox_setup):
        problems += _report_checked(checked, file)
    if problems:
        raise UnusableInput(list(dict.fromkeys(problems)))
    print_next("Next", next_command(context, "check", file or "FILE", "--mapping", mapping))


def _report_checked(checked: CheckedMapping, file: Path | None) -> tuple[Problem, ...]:
    """Print what was found in a mapping; return the problems that prevent its use."""
    mapping = checked.mapping
    if checked.misfit is not None:
        return checked.misfit.problems
    reading = f" and {file} ({checked.reading})" if file else ""
    but = "; what to review:" if checked.notes else "."
    print_lines(f"{mapping.path} fits {mapping.target}{reading}{but}")
    print_problems(checked.notes, _MOST_NOTES)
    if (found := checked.forecast) is not None:
        rows = f"first {found.rows:,} rows" if found.rows >= TRIED else counted(found.rows, "row")
        others = ((found.held_back, "would be held back"), (found.filtered, "filtered"))
        said = "".join(f", {count:,} {what}" for count, what in others if count)
        print_lines(f"{found.ready:,} of its {rows} can be sent{said}.")
        for line in problem_lines("Held back", found.reasons, room=_ROOM, all_in="a check reports all"):
            print_lines(line)
    return ()


# --- test -----------------------------------------------------------------------------------------


@mapping.command("test", cls=Command)
def rows(
    mapping: Annotated[Path, typer.Argument(help="The mapping file.", show_default=False)],
    file: Annotated[
        Path | None,
        typer.Argument(help="A file whose first candidates become the first test rows.", show_default=False),
    ] = None,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> None:
    """Test a mapping file with the rows in the file beside it, without the service."""
    settings = load_settings(out=out)
    if file is not None:
        written = begin_test_rows(mapping, file, settings, _asked_where(settings, sandbox, questions))
        print_message(f"Wrote {written} with the first candidates of {file}, and invented names.")
    count = check_test_rows(mapping, settings)
    print_result(f"{mapping}: {'1 test row, which is' if count == 1 else f'{count} test rows, all'} as expected.")


# --- an empty workbook --------------------------------------------------------------------------


def template(
    context: typer.Context,
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    to: Annotated[Path | None, typer.Option("--to", help="The workbook to write. [template-JOB_POST.xlsx]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
) -> None:
    """Create an empty workbook with a column for every question, and its mapping file."""
    target = target_of(job_post, None)
    workbook = to or Path(f"template-{target.id}.xlsx")
    if workbook.suffix.lower() != ".xlsx":
        raise UsageError(f"{workbook} is not a workbook name; use one that ends in .xlsx")
    for path in (workbook, workbook.with_suffix(".yaml")):
        refuse_to_replace(path, force=force)
    settings = load_settings(out=out)
    asked = ask_questions(target, settings, _asked_where(settings, sandbox, questions))
    mapping, columns = write_template(workbook, target, asked)
    print_message(f"Wrote {workbook} with {columns} columns, and {mapping}. Yellow columns are required.")
    check_it = next_command(context, "check", workbook, "--mapping", mapping)
    print_next("Next: fill in the workbook, then run", check_it)


# --- the questions ------------------------------------------------------------------------------


def questions(
    context: typer.Context,
    job_post: Annotated[str, typer.Argument(help="The hash of the job post.", show_default=False)],
    as_json: options.AsJson = False,
    sandbox: options.UseSandbox = False,
    questions: options.SandboxQuestions = None,
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> None:
    """Show the questions of a job post, with their keys, answer types and options."""
    target = target_of(job_post, None)
    settings = load_settings(out=out)
    found = ask_questions(target, settings, _asked_where(settings, sandbox, questions))
    if as_json:
        print_result(json.dumps(question_list(target, found), ensure_ascii=False, indent=1))
        return
    _show_questions(found, is_verbose=verbose)
    print_next("Next", next_command(context, "mapping new", "FILE", "--job-post", target.id))


def _show_questions(found: tuple[Question, ...], *, is_verbose: bool) -> None:
    """One line for each question; with their whole texts and options if asked."""
    if not is_verbose:
        lines = [("in the mapping file", "required", "answer", "question")]
        for one in found:
            options = f" [{' | '.join(one.options)}]" if one.options else ""
            named = one.key or f'"text: {one.text}"'
            lines.append((named, "yes" if one.required else "", one.answer_type, f"{one.text}{options}"))
        print_lines_of(lines, _WIDEST)
        return
    for one in found:
        kind = one.answer_type + (f" ({one.type})" if one.type else "") + (", required" if one.required else "")
        named = one.key or f'"text: {one.text}"'
        print_result(f"{visible(named)}: {kind}")
        print_lines(visible(one.text), "    ", "    ")
        for option in one.options:
            print_lines(visible(option), "    - ", "      ")
