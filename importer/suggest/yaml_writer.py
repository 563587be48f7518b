"""A proposal as the text of a mapping file, with remarks for the person who looks it over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from importer.mapping import comment_text, flow_list, one_or_list, scalar, snapshot_lines
from importer.models import Operation, Question
from importer.suggest.proposal import (
    Open,
    Proposal,
    ProposedEntries,
    ProposedValue,
    Setting,
    TableLine,
    open_points,
)

_WIDE = 100  # columns; a value that is longer gets a line for each key
_WIDEST = 115  # with its comment_text
_CHECK = "please check"
_HINTS = {
    "email": "the column with the e-mail address",
    "first_name": "the column with the first name",
    "last_name": "the column with the last name",
    "cv": "the column with the document ID of an uploaded CV",
}


def write_proposal(proposal: Proposal, schema: str | None = None) -> str:
    """The mapping file. `schema`: where an editor finds the JSON Schema, relative to the file."""
    lines = [
        *_top(proposal, schema),
        *_source(proposal),
        *_defaults(proposal),
        *_candidate(proposal),
        *_answers(proposal),
        *_unused(proposal.open_columns),
        *_question_snapshot(proposal.questions),
    ]
    return "\n".join(lines) + "\n"


# --- the top ------------------------------------------------------------------------------------


def _top(proposal: Proposal, schema: str | None) -> Iterator[str]:
    if schema is not None:
        yield f"# yaml-language-server: $schema={schema}"
    file = comment_text(proposal.source.file)
    yield f"# Proposed by importer for {file}: maps its columns to {proposal.target}."
    yield "# A line that starts with # is a comment and does nothing. The spaces before a line matter: keep them."
    count = open_points(proposal).to_check
    if count:
        yield f'# Look for "{_CHECK}" ({count}): these are likely and not certain.'
    yield from _to_do(proposal)
    yield "version: 1"
    yield ""
    key = "job_post" if proposal.target.operation is Operation.APPLY else "talent_pool"
    yield f"target: {{{key}: {scalar(proposal.target.id)}}}"


def _to_do(proposal: Proposal) -> Iterator[str]:
    """What must be filled in before this can be used."""
    fields = [item for item in proposal.open_fields if item.name in _HINTS]
    questions = [(question, item) for question, item in proposal.open_questions if question.required]
    if not fields and not questions:
        return
    yield "#"
    yield "# TO DO: no column was found for these, and the service requires them. Add each where it belongs."
    for item in fields:
        yield f"#   under candidate:   {item.name}: ...   {_HINTS[item.name]}{_near(item)}"
    for question, item in questions:
        yield f"#   under answers:     {_question_name(question)}: ...   {comment_text(question.text)}{_near(item)}"
    yield '#   A column name goes behind the colon; the same text for everybody is written {value: "..."}.'


def _near(item: Open) -> str:
    return f" (perhaps {' or '.join(map(scalar, item.near))})" if item.near else ""


# --- sections -----------------------------------------------------------------------------------


def _source(proposal: Proposal) -> Iterator[str]:
    source = proposal.source
    pairs = {
        "sheet": source.sheet and scalar(source.sheet),
        "header_row": source.header_row and str(source.header_row),
        "encoding": source.encoding and scalar(source.encoding),
        "delimiter": source.delimiter and (scalar("tab") if source.delimiter == "\t" else scalar(source.delimiter)),
        "missing": source.missing and flow_list(source.missing),
    }
    remarks = {"header_row": "the row with the column names", "missing": "read as an empty cell"}
    yield from ("", "# How the file is read.", "source:")
    for key, value in pairs.items():
        if value:
            yield from _with_note(f"  {key}: {value}", remarks.get(key, ""))


def _defaults(proposal: Proposal) -> Iterator[str]:
    yield from ("", "defaults:")
    if proposal.region:
        yield from _with_note(
            f"  region: {proposal.region}", f"{_CHECK}: phone numbers without +.. are taken for numbers of this country"
        )
    if proposal.names:
        rule = ", ".join(f"{setting.key}: {_setting(setting)}" for setting in proposal.names)
        yield from _with_note(f"  names: {{{rule}}}", "what of a full name is the last name")
    yield from _with_note("  unused_columns: ignore", "or warn: every run tells the columns that nothing here uses")


def _candidate(proposal: Proposal) -> Iterator[str]:
    yield from ("", "# Who the candidate is.", "candidate:")
    for field in proposal.candidate:
        yield from _value(field.name, field.value, 2)
    for item in proposal.open_fields:
        yield f"  # {item.name}: ...{_near(item)}"


def _answers(proposal: Proposal) -> Iterator[str]:
    if proposal.target.operation is not Operation.APPLY:
        return
    yield from ("", "# What the candidate answers: on the left the question, on the right the column.")
    yield "answers:" if proposal.answers else "# answers:"
    for answer in proposal.answers:
        name = _question_name(answer.question)
        if isinstance(answer.content, ProposedValue):
            yield from _value(name, answer.content, 2)
        else:
            yield from _entries(name, answer.content)
    for question, item in proposal.open_questions:
        asks = f"{'required, ' if question.required else ''}{question.answer_type}: {comment_text(question.text)}"
        yield f"  # {_question_name(question)}: ...   {asks}{_near(item)}"


def _question_name(question: Question) -> str:
    """How a mapping file names a question."""
    if question.key:
        plain = not question.key.casefold().startswith(("text:", "id:"))
        return scalar(question.key) if plain else scalar(f"id: {question.id}")
    return scalar(f"text: {question.text}") if question.text else scalar(f"id: {question.id}")


def _entries(name: str, entries: ProposedEntries) -> Iterator[str]:
    yield f"  {name}:"
    yield f"    {entries.kind}:"
    if entries.numbered:
        repeat = "{first: unnumbered}" if entries.first_unnumbered else '"{n}"'
        yield from _with_note(f"      repeat: {repeat}", "as many groups as the header has; {n} is their number")
    if entries.child:
        child = entries.child
        join = f"{{name: {scalar(child.sheet)}, key: {scalar(child.key)}, equals: {scalar(child.equals)}}}"
        doubt = f"{_CHECK}: {entries.doubt}" if entries.doubt else "joined where key there says the same as equals here"
        yield from _with_note(f"      sheet: {join}", doubt)
    for field in entries.fields:
        yield from _value(field.name, field.value, 6)


def _unused(columns: Sequence[Open]) -> Iterator[str]:
    if columns:
        yield from ("", "# Columns that nothing above uses:")
    for item in columns:
        near = f"   (perhaps for {' or '.join(map(comment_text, item.near))})" if item.near else ""
        yield f"#   {comment_text(item.name)}{near}"


def _question_snapshot(questions: Sequence[Question]) -> Iterator[str]:
    if questions:
        yield ""
        yield from snapshot_lines(questions)


# --- values -------------------------------------------------------------------------------------


def _value(name: str, value: ProposedValue, indent: int) -> Iterator[str]:
    space = " " * indent
    doubt = f"{_CHECK}: {value.doubt}" if value.doubt else ""
    note = "; ".join(part for part in (doubt, value.note) if part)
    if not value.settings and not value.table and value.joined is None and len(value.names) == 1:
        yield from _with_note(f"{space}{name}: {scalar(value.names[0])}", note)
        return
    pairs = list(_pairs(value))
    flow = f"{space}{name}: {{{', '.join(f'{key}: {text}' for key, text in pairs)}}}"
    if not value.table and len(flow) <= _WIDE:
        yield from _with_note(flow, note)
        return
    yield from _with_note(f"{space}{name}:", note)
    for key, text in pairs:
        yield f"{space}  {key}: {text}"
    yield from _table(value.table, indent + 2)


def _pairs(value: ProposedValue) -> Iterator[tuple[str, str]]:
    if value.constant is not None:
        yield "value", scalar(value.constant)
        return
    yield ("column" if value.joined is None else "join"), one_or_list(value.names)
    if value.joined is not None:
        yield "with", scalar(value.joined)
    for setting in value.settings:
        yield setting.key, _setting(setting)


def _setting(setting: Setting) -> str:
    return scalar(setting.value) if isinstance(setting.value, str) else flow_list(setting.value)


def _table(table: Sequence[TableLine], indent: int) -> Iterator[str]:
    if not table:
        return
    space = " " * indent
    known = [line for line in table if line.target is not None]
    yield f"{space}values:" if known else f"{space}# values:"
    for line in known:
        yield from _with_note(f"{space}  {scalar(line.cell)}: {scalar(line.target or '')}", "" if line.sure else _CHECK)
    for line in table:
        if line.target is None:
            cells = "1 cell" if line.count == 1 else f"{line.count} cells"
            yield f"{space}  # {scalar(line.cell)}: ...   in {cells}; no option is near"


def _with_note(text: str, note: str) -> list[str]:
    """The line with its comment_text behind it, or above it where both are too long for one line."""
    note = comment_text(note)
    if not note:
        return [text]
    if len(text) + len(note) <= _WIDEST:
        return [f"{text}   # {note}"]
    return [" " * (len(text) - len(text.lstrip())) + f"# {note}", text]
