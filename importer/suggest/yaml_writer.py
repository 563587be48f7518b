"""Writes a proposal as a mapping file with comments for the person who reviews it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from importer.mapping import comment_text, flow_list, one_or_list, scalar
from importer.models import Operation, Question
from importer.suggest.mapping_text import CHECK
from importer.suggest.proposal import (
    Open,
    Proposal,
    ProposedAnswer,
    ProposedChild,
    ProposedEntries,
    ProposedValue,
    Setting,
    SourceFacts,
    TableLine,
    open_points,
)
from importer.text.normalize import normalize_name

_FLOW_WIDTH = 100  # characters; a longer value gets a line for each key
_LINE_WIDTH = 115  # with its comment
_HINTS = {
    "email": "the column with the e-mail address",
    "first_name": "the column with the first name",
    "last_name": "the column with the last name",
    "cv": "the column with the document ID of an uploaded CV",
}


def write_proposal(proposal: Proposal, schema: str | None = None) -> str:
    """The text of the mapping file. `schema`: the path of the JSON Schema relative to the file, for editors."""
    lines = [
        *_top(proposal, schema),
        *_source(proposal),
        *_defaults(proposal),
        *_candidate(proposal),
        *_answers(proposal),
        *_unused(proposal.open_columns),
        *_unused_there(proposal.answers),
    ]
    return "\n".join(lines) + "\n"


# --- the top ------------------------------------------------------------------------------------


def _top(proposal: Proposal, schema: str | None) -> Iterator[str]:
    if schema is not None:
        yield f"# yaml-language-server: $schema={schema}"
    file = comment_text(proposal.source.file)
    yield f"# Proposed by importer for {file}: maps its columns to {proposal.target}."
    yield "# Lines that start with # are comments. Do not change the indentation of other lines."
    count = open_points(proposal).to_review
    if count:
        yield f'# Look for "{CHECK}" ({count}): these values are likely, but not certain.'
    yield from _to_do(proposal)
    yield "version: 1"
    yield ""
    key = "job_post" if proposal.target.operation is Operation.APPLY else "talent_pool"
    yield f"target: {{{key}: {scalar(proposal.target.id)}}}"


def _to_do(proposal: Proposal) -> Iterator[str]:
    """What must be added before the mapping can be used."""
    fields = [item for item in proposal.open_fields if item.name in _HINTS]
    questions = [(question, item) for question, item in proposal.open_questions if question.required]
    if not fields and not questions:
        return
    yield "#"
    yield "# TO DO: these are required, but no column was found for them. Add each to its section."
    for item in fields:
        yield f"#   under candidate:   {item.name}: ...   {_HINTS[item.name]}{_closest_note(item)}"
        if item.name == "cv":
            yield "#     Every candidate needs one: a column with the IDs of uploaded CVs; or files beside the source:"
            one = "" if item.closest else "; or one document for every row, cv: {value: ID}"
            yield f"#     cv: {{folder: cvs, name: '{{ID}}_*'}} (see docs/documents.md){one}"
    for question, item in questions:
        text = comment_text(question.text)
        yield f"#   under answers:     {_question_name(question)}: ...   {text}{_closest_note(item)}"
    yield '#   Write the column name after the colon; for the same value in every row, write {value: "..."}.'


def _closest_note(item: Open) -> str:
    return f" (perhaps {' or '.join(map(scalar, item.closest))})" if item.closest else ""


# --- sections -----------------------------------------------------------------------------------


def _source(proposal: Proposal) -> Iterator[str]:
    source = proposal.source
    pairs = {
        "sheet": source.sheet and scalar(source.sheet),
        "header_row": source.header_row and str(source.header_row),
        "header_rows": str(source.header_rows) if source.header_rows > 1 else None,
        "skip_rows": source.skip_rows and f"[{source.skip_rows}]",
        "stop_at": source.stop_at and scalar(source.stop_at),
        "encoding": source.encoding and scalar(source.encoding),
        "delimiter": source.delimiter and (scalar("tab") if source.delimiter == "\t" else scalar(source.delimiter)),
        "missing": source.missing and flow_list(source.missing),
        "group_by": source.group_by and _group_by(source.group_by, continues=source.continues),
    }
    notes = {
        "header_row": "the row with the column names" if source.header_rows == 1 else "the first row of the header",
        "skip_rows": f"{CHECK}: instructions or an example, not candidates" if source.is_skipping else "",
        "stop_at": "the table ends before the row that starts with this",
        "missing": _missing_note(source),
        "group_by": f"{CHECK}: several rows are one candidate, and each row is an entry",
    }
    if any(pairs.values()):  # nothing is declared for JSON
        yield from ("", "# How to read the file.", "source:")
    for key, value in pairs.items():
        if value:
            yield from _with_note(f"  {key}: {value}", notes.get(key, ""))


def _missing_note(source: SourceFacts) -> str:
    if not source.has_missing_words:
        return "read as an empty cell"
    hidden = " and ".join(f"{cells_of(count)} of '{name}'" for name, count in source.hidden)
    more = f", also in {hidden}, where it may be an answer" if hidden else ""
    return f"{CHECK}: read as an empty cell in every column{more}"


def _group_by(column: str, *, continues: bool) -> str:
    return f"{{column: {scalar(column)}, blank: continues}}" if continues else scalar(column)


def cells_of(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _defaults(proposal: Proposal) -> Iterator[str]:
    yield from ("", "defaults:")
    if proposal.region:
        yield from _with_note(f"  region: {proposal.region}", f"{CHECK}: the country of phone numbers without +")
    if proposal.names:
        rule = ", ".join(f"{setting.key}: {_setting(setting)}" for setting in proposal.names)
        yield from _with_note(f"  names: {{{rule}}}", "which part of a full name is the last name")
    yield from _with_note("  unused_columns: ignore", "or warn: list columns that this mapping does not use")


def _candidate(proposal: Proposal) -> Iterator[str]:
    yield from ("", "# The candidate: on the left the field, on the right the column.", "candidate:")
    for field in proposal.candidate:
        yield from _value(field.name, field.value, 2)
    for item in proposal.open_fields:
        yield f"  # {item.name}: ...{_closest_note(item)}"


def _answers(proposal: Proposal) -> Iterator[str]:
    if proposal.target.operation is not Operation.APPLY:
        return
    yield from ("", "# The answers: on the left the question, on the right the column.")
    yield "answers:" if proposal.answers else "# answers:"
    for answer in proposal.answers:
        name, asks = _question_name(answer.question), _asks(answer.question)
        if isinstance(answer.content, ProposedValue):
            yield from _value(name, answer.content, 2, asks)
        else:
            yield from _entries(name, answer.content, asks)
    for question, item in proposal.open_questions:
        asks = f"{'required, ' if question.required else ''}{question.answer_type}: {comment_text(question.text)}"
        yield f"  # {_question_name(question)}: ...   {asks}{_closest_note(item)}"


def question_key(question: Question) -> str:
    """The key of a question under `answers:`."""
    if question.key:
        plain = not question.key.casefold().startswith(("text:", "id:"))
        return question.key if plain else f"id: {question.id}"
    return f"text: {question.text}" if question.text else f"id: {question.id}"


def _question_name(question: Question) -> str:
    return scalar(question_key(question))


def _asks(question: Question) -> str:
    """What a question asks, where its key does not say it in the same words."""
    return question.text if question.key and normalize_name(question.text) != normalize_name(question.key) else ""


def _entries(name: str, entries: ProposedEntries, asks: str) -> Iterator[str]:
    yield from _with_note(f"  {name}:", asks)
    yield f"    {entries.kind}:"
    if entries.numbered:
        repeat = "{first: unnumbered}" if entries.first_unnumbered else '"{n}"'
        yield from _with_note(
            f"      repeat: {repeat}", "{n} is the number of a group; all groups in the header are read"
        )
    if entries.is_row:
        yield "      rows: all"
    if entries.json:
        yield from _with_note(
            f"      json: {scalar(entries.json)}", "a list in each cell; the names below are its keys"
        )
    if entries.lists:
        keys = ", ".join(f"{one.key}: {'true' if one.value == 'true' else _setting(one)}" for one in entries.lists)
        note = "each item ends with its number" if len(entries.lists) > 1 else "items belong together by position"
        yield from _with_note(f"      lists: {{{keys}}}", f"lists in several columns; {note}")
    if entries.child:
        child = entries.child
        review_reason = (
            f"{CHECK}: {entries.review_reason}"
            if entries.review_reason
            else "joined where key there equals this column"
        )
        yield from _with_note(f"      {': '.join(_join(child))}", review_reason)
    for field in entries.fields:
        yield from _value(field.name, field.value, 6)


def _join(child: ProposedChild) -> tuple[str, str]:
    encoding = f", encoding: {scalar(child.encoding)}" if child.encoding else ""
    join = f"{{name: {scalar(child.name)}, key: {scalar(child.key)}, equals: {scalar(child.equals)}{encoding}}}"
    return "file" if child.is_file else "sheet", join


def _unused(columns: Sequence[Open]) -> Iterator[str]:
    if columns:
        yield from ("", "# Columns that this mapping does not use:")
    for item in columns:
        closest = f"   (perhaps for {' or '.join(map(comment_text, item.closest))})" if item.closest else ""
        yield f"#   {comment_text(item.name)}{closest}"


def _unused_there(answers: Sequence[ProposedAnswer]) -> Iterator[str]:
    """The columns without a field in the other sheets and files with entries."""
    for answer in answers:
        child = answer.content.child if isinstance(answer.content, ProposedEntries) else None
        if child is not None and child.unused:
            yield from ("", f"# Columns of {comment_text(child.name)} that this mapping does not use:")
            yield from (f"#   {comment_text(name)}" for name in child.unused)


# --- values -------------------------------------------------------------------------------------


def write_value(name: str, value: ProposedValue) -> list[str]:
    """The lines of one value, by its key."""
    return list(_value(scalar(name), value, 0))


def _value(name: str, value: ProposedValue, indent: int, asks: str = "") -> Iterator[str]:
    space = " " * indent
    review_reason = f"{CHECK}: {value.review_reason}" if value.review_reason else ""
    note = "; ".join(part for part in (review_reason, value.note) if part)
    note = f"{note} ({asks})" if note and asks else note or asks
    if not (value.settings or value.table or value.child) and value.joined is None and len(value.names) == 1:
        yield from _with_note(f"{space}{name}: {scalar(value.names[0])}", note)
        return
    pairs = list(_pairs(value))
    flow = f"{space}{name}: {{{', '.join(f'{key}: {text}' for key, text in pairs)}}}"
    if not value.table and len(flow) <= _FLOW_WIDTH:
        yield from _with_note(flow, note)
        return
    yield from _with_note(f"{space}{name}:", note)
    for key, text in pairs:
        yield f"{space}  {key}: {text}"
    yield from _table(value.table, indent + 2)


def _pairs(value: ProposedValue) -> Iterator[tuple[str, str]]:
    if value.child is not None:
        yield _join(value.child)
    if value.names:  # else a setting names the columns
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
    yield f"{space}values:"
    yield from (f"{space}  {scalar(line.cell)}: {scalar(line.target)}" for line in table if line.target)
    yield from (f"{space}  {_line_to_complete(line)}" for line in table if not line.target)


def _line_to_complete(line: TableLine) -> str:
    """The comment with a text that has no option yet, to be completed by a person."""
    return f"# {scalar(line.cell)}: ...   # in {cells_of(line.count)}; choose an option"


def _with_note(text: str, note: str) -> list[str]:
    """The line with its comment at the end, or above it if both are too long for one line."""
    note = comment_text(note)
    if not note:
        return [text]
    if len(text) + len(note) <= _LINE_WIDTH:
        return [f"{text}   # {note}"]
    before = " " * (len(text) - len(text.lstrip())) + "# "
    return [*textwrap.wrap(note, _LINE_WIDTH, initial_indent=before, subsequent_indent=before), text]
