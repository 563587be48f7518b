"""`importer mapping new` and `check`: a mapping file is proposed, and held against what is there now."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from importer.cli import options
from importer.cli.messages import problem_lines, say, tell
from importer.cli.source_flags import named_as_flags

if TYPE_CHECKING:
    from importer.cli.connection import Connection
    from importer.errors import UnusableInput
    from importer.mapping import Mapping
    from importer.models import Problem, Question, SourceOptions, Target
    from importer.settings import Settings
    from importer.suggest import OtherSheet, Proposal

mapping_app = typer.Typer(
    name="mapping",
    help="Propose a mapping file for a spreadsheet, or check one.",
    epilog="Start with: importer mapping new FILE --job-post HASH",
    no_args_is_help=True,
)

_STANDARD_OUTPUT = Path("-")
_MOST_SHEETS = 8  # of a workbook are looked at


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
    from importer.models import SourceOptions
    from importer.settings import load_settings
    from importer.suggest import write_proposal

    target = target_of(job_post, talent_pool)
    path = to or Path(f"{file.stem}.yaml")
    refuse_to_replace(path, force)
    settings = load_settings(out=out)
    asked = ask_questions(target, settings, sandbox, questions)
    proposal = _propose(file, target, asked, SourceOptions(sheet, header_row, encoding, delimiter))
    if path == _STANDARD_OUTPUT:
        tell(write_proposal(proposal).removesuffix("\n"))
        return
    write_with_schema(path, proposal)
    for line in _told(proposal, file, path, sandbox):
        say(line)


def target_of(job_post: str | None, talent_pool: str | None) -> Target:
    from importer.errors import UsageError
    from importer.models import Operation, Target

    if (job_post is None) == (talent_pool is None):
        raise UsageError("say where the candidates go: --job-post HASH or --talent-pool NUMBER, one of the two")
    try:
        if job_post is not None:
            return Target(Operation.APPLY, job_post)
        return Target(Operation.ADD_TO_POOL, talent_pool or "")
    except ValueError as error:
        raise UsageError(f"{error}; it is the last part of the address of the job post or talent pool") from None


def refuse_to_replace(path: Path, force: bool) -> None:
    from importer.errors import UsageError

    if path != _STANDARD_OUTPUT and path.exists() and not force:
        raise UsageError(f"{path} is there already; give another name with --to, or --force to replace it")


def _connection(settings: Settings, sandbox: bool, questions: Path | None) -> AbstractContextManager[Connection]:
    from importer.cli.connection import connect, rehearse
    from importer.errors import UsageError

    if questions and not sandbox:
        raise UsageError("--questions is for the sandbox; add --sandbox, or leave it out")
    return rehearse(settings, questions, None) if sandbox else connect(settings)


def ask_questions(target: Target, settings: Settings, sandbox: bool, file: Path | None) -> tuple[Question, ...]:
    """The live questions; a talent pool has none, and needs no connection."""
    from importer.models import Operation

    if target.operation is not Operation.APPLY:
        return ()
    with _connection(settings, sandbox, file) as connection:
        return connection.service.questions(target.id)


def _propose(file: Path, target: Target, questions: tuple[Question, ...], source: SourceOptions) -> Proposal:
    from dataclasses import replace

    from importer.extract import open_sheet
    from importer.suggest import OtherSheet, SourceFacts, propose, sample_columns

    with named_as_flags():
        sheet = open_sheet(file, source)
    say(sheet.reading)
    facts = SourceFacts(file.name, sheet.origin.sheet, sheet.header_row, source.encoding, source.delimiter)
    columns = sample_columns(sheet.columns, sheet.rows())
    others = _other_sheets(file, sheet.origin.sheet) if sheet.origin.sheet else ()
    proposal = propose(target, questions, columns, facts, others)
    if source.sheet is None and not _names_candidates(proposal):
        for other in others:
            rest = (OtherSheet(sheet.origin.sheet or "", columns), *(sheet for sheet in others if sheet != other))
            better = propose(
                target, questions, other.columns, replace(facts, sheet=other.name, header_row=other.header_row), rest
            )
            if _names_candidates(better):
                say(f"Sheet '{other.name}' is taken: '{sheet.origin.sheet}' holds no candidates.")
                return better
    return proposal


def _names_candidates(proposal: Proposal) -> bool:
    return any(field.name == "email" for field in proposal.candidate)


def _other_sheets(file: Path, main: str) -> tuple[OtherSheet, ...]:
    """The other visible sheets of the workbook that hold a table, the first few of them."""
    from importer.errors import UnusableInput
    from importer.extract import open_sheet
    from importer.models import SourceOptions
    from importer.suggest import OtherSheet, sample_columns

    found = []
    for number in range(1, _MOST_SHEETS + 1):
        try:
            sheet = open_sheet(file, SourceOptions(str(number)))
        except UnusableInput as error:
            if any(problem.code == "sheet-missing" for problem in error.problems):
                break
            continue
        if sheet.origin.sheet and sheet.origin.sheet != main:
            found.append(OtherSheet(sheet.origin.sheet, sample_columns(sheet.columns, sheet.rows()), sheet.header_row))
    return tuple(found)


def write_with_schema(path: Path, proposal: Proposal) -> None:
    """The mapping file, and beside it the schema by which an editor completes and checks it."""
    from importer.mapping.schema import SCHEMA_FILE, schema_text
    from importer.suggest import write_proposal

    schema = path.parent / SCHEMA_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        schema.parent.mkdir(exist_ok=True)
        schema.write_text(schema_text(), encoding="utf-8")
        path.write_text(write_proposal(proposal, SCHEMA_FILE.as_posix()), encoding="utf-8")
    except OSError as error:
        raise unwritable("the mapping file", path, error) from None


def unwritable(noun: str, path: Path, error: OSError) -> UnusableInput:
    """What is told where a file cannot be written."""
    from importer.errors import UnusableInput
    from importer.models import FilePlace, Problem

    message = f"{noun} cannot be written: {(error.strerror or str(error)).lower()}"
    return UnusableInput(Problem("file-unwritable", message, "give another place with --to", FilePlace(str(path))))


def _told(proposal: Proposal, file: Path, path: Path, sandbox: bool) -> list[str]:
    """What was found, and the next command."""
    from importer.suggest import open_points

    points = open_points(proposal)
    lines = [
        f"Wrote {path}: {points.certain} certain, {points.to_check} to check, "
        f"{len(points.lacking)} required and not found."
    ]
    if points.to_check:
        lines.append(f'Look for "please check" in {path}.')
    if points.words_open:
        words = "1 word has" if points.words_open == 1 else f"{points.words_open} words have"
        lines.append(f'{words} no option yet: complete the lines that end in "no option is near".')
    lines += [f"Add {name}: no column was found for it, and the service requires it." for name in points.lacking]
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
    from importer.errors import UnusableInput
    from importer.mapping import read_mapping, read_mappings
    from importer.settings import load_settings

    settings = load_settings(out=out)
    changed = False
    problems: list[Problem] = []
    for read in read_mappings(mapping) if mapping.is_dir() else (read_mapping(mapping),):
        asked = ask_questions(read.target, settings, sandbox, questions)
        try:
            changed |= _check_one(read, file, asked, settings, accept)
        except UnusableInput as error:
            problems.extend(error.problems)
    if problems:
        raise UnusableInput(list(dict.fromkeys(problems)))
    if changed and not accept:
        say(
            f"When its answers are right: importer mapping check {mapping} --accept" + (" --sandbox" if sandbox else "")
        )
    say(f"Next: importer check {file or 'FILE'} --mapping {mapping}" + (" --sandbox" if sandbox else ""))


def _check_one(
    mapping: Mapping, file: Path | None, questions: tuple[Question, ...], settings: Settings, accept: bool
) -> bool:
    """Tell what a mapping is about and what does not fit; gives whether its questions have changed.

    Raises:
        UnusableInput: with everything that does not fit.
    """
    changed = _changes(mapping, questions)
    if changed:
        tell(f"{len(changed)} changed since {mapping.path} was written:")
        _show(changed)
    _show(_resolved(mapping, file, questions, settings))
    if accept:
        _accept(mapping.path, questions)
    tell(f"{mapping.path} fits {mapping.target}" + (f" and {file}." if file else "."))
    return bool(changed)


def _changes(mapping: Mapping, questions: tuple[Question, ...]) -> tuple[Problem, ...]:
    from importer.mapping.question_snapshot import changes

    if mapping.questions_seen is None:
        return ()
    return changes(mapping.questions_seen, questions, mapping.answers_place)


def _show(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        for line in problem_lines(problem):
            tell(line)


def _resolved(
    mapping: Mapping, file: Path | None, questions: tuple[Question, ...], settings: Settings
) -> tuple[Problem, ...]:
    """What a person should know and may leave so.

    Raises:
        UnusableInput: with everything that does not fit.
    """
    from importer.extract import open_sheet
    from importer.mapping.resolve import check_against_columns, check_without_columns
    from importer.runs.child_tables import Source, open_children

    if file is None:
        return check_without_columns(mapping, questions, settings.wire)
    sheet = open_sheet(file, mapping.source)
    say(f"{mapping.path}: {sheet.reading}" if mapping.route else sheet.reading)
    with _room_for_copies(settings) if mapping.child_sources else nullcontext(Path()) as folder:
        children = open_children(mapping, Source(file, file), folder)
        found = check_against_columns(mapping, sheet.columns, questions, settings.wire, children.tables)
    return (*sheet.warnings, *found)


def _room_for_copies(settings: Settings) -> AbstractContextManager[Path]:
    from importer.runs.results_folder import make_results, private_input

    make_results(settings)
    return private_input(settings.out)


def _accept(path: Path, questions: tuple[Question, ...]) -> None:
    from importer.mapping.question_snapshot import with_seen

    path.write_text(with_seen(path.read_text(encoding="utf-8-sig"), questions), encoding="utf-8")
    say(f"Wrote the questions of today into {path}.")
