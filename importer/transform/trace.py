"""How each answer of a row came to be: its cells, what is sent, and what happened in between."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from importer.mapping import Kind, ResolvedMapping, ResolvedValue
from importer.models import Answer, Application, PoolCandidate, Row
from importer.problems import CellPlace, Origin
from importer.transform.entries import EntriesReader, EntrySource
from importer.transform.row import AnswerReader, body_reader
from importer.transform.texts import stripped
from importer.transform.values import OPEN_END, ReadFrom, ValueReader


class Note(StrEnum):
    """What happened between the cells and what is sent, where a person may want to check it."""

    OTHERWISE = "by `otherwise`"
    NOT_SENT = "filled in, but not sent"
    SECOND_CHOICE = "the first cell is not valid"
    SHORT_YEAR = "two-digit year"
    DATE_COMPLETED = "day or month added"
    JOINED = "joined"
    SPLIT = "split"
    VALUE_TABLE = "value table"
    DEFAULT = "default"
    COUNTRY_CODE = "country code added"
    CURRENT = "current"
    CONSTANT = "the same for every row"


@dataclass(frozen=True, slots=True)
class TracedCell:
    """A cell that an answer comes from, and its text; of an entry in a list within a cell, the text of its part."""

    place: CellPlace
    text: str


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One answer or field of a request body.

    label: the field's name, or the question's label. cells: those that it comes from; if nothing is sent, those that
    are filled in. sent: as in the body, None if nothing is sent. entries: of education or experience, the fields of
    each entry in the order in which they are sent; its `cells` and `notes` are then empty.
    """

    label: str
    cells: tuple[TracedCell, ...] = ()
    sent: str | bool | None = None
    notes: tuple[Note, ...] = ()
    entries: tuple[tuple[TracedAnswer, ...], ...] = ()


def trace_row(row: Row, mapping: ResolvedMapping, body: Application | PoolCandidate) -> tuple[TracedAnswer, ...]:
    """How the body that `transform_row` made from this row came to be: its fields, then one for each question.

    What is sent is taken from the body. Where it comes from is asked from the readers that read it. As fast as
    transforming the row twice; pure.
    """
    reader = body_reader(mapping)
    traced = [_value(name, field, row, getattr(body, name)) for name, field in reader.fields.items()]
    unused = list(body.answers) if isinstance(body, Application) else []
    for answer_reader in reader.answers:
        is_answered = bool(unused) and unused[0].job_post_question == answer_reader.reference
        traced.append(_answer(answer_reader, row, unused.pop(0) if is_answered else None))
    assert not unused, "an answer of the body comes from no question of the mapping"
    return tuple(traced)


def _answer(reader: AnswerReader, row: Row, answer: Answer | None) -> TracedAnswer:
    label = reader.question.label
    sent = None if answer is None else answer.answer if answer.answer_file is None else answer.answer_file
    if isinstance(reader.reader, EntriesReader):
        return TracedAnswer(label, sent=sent, entries=_entries(reader.reader, row, sent))
    return _value(label, reader.reader, row, sent)


def _entries(reader: EntriesReader, row: Row, sent: str | None) -> tuple[tuple[TracedAnswer, ...], ...]:
    if sent is None:
        return ()
    bodies = json.loads(sent)
    return tuple(_entry(source, body) for source, body in zip(reader.sources(row), bodies, strict=True))


def _entry(source: EntrySource, body: dict[str, str | bool]) -> tuple[TracedAnswer, ...]:
    fields = [_value(name, reader, source.row.row, body.get(name)) for name, reader in source.readers.items()]
    for name in body.keys() - source.readers.keys():  # the flag of a current entry that its end date gives
        end = next((field.cells for field in fields if Note.CURRENT in field.notes), ())
        fields.append(TracedAnswer(name, end, body[name], (Note.CURRENT,)))
    if (inside := source.row.inside) is None:
        return tuple(fields)
    # These cells are parts of one cell of the file.
    return tuple(replace(field, cells=tuple(TracedCell(inside, cell.text) for cell in field.cells)) for field in fields)


def _value(label: str, reader: ValueReader, row: Row, sent: str | bool | None) -> TracedAnswer:
    reader, row = reader.source(row)
    read = reader.explain(row)
    cells = tuple(TracedCell(row.place(column), row.cells[column.index]) for column in read.columns)
    return TracedAnswer(label, cells, sent, tuple(_notes(reader.value, read, [cell.text for cell in cells], sent)))


def _notes(value: ResolvedValue, read: ReadFrom, texts: list[str], sent: str | bool | None) -> list[Note]:
    """The notes in the order of `Note`."""
    text = " ".join(texts)
    found = {
        Note.OTHERWISE: "otherwise" in read.tables,
        Note.NOT_SENT: sent is None and read.value is not OPEN_END and bool(texts),
        Note.SECOND_CHOICE: read.skipped,
        Note.JOINED: value.separator is not None and len(texts) > 1,
        Note.SPLIT: value.part is not None or value.pattern is not None or bool(value.split and value.split in text),
        Note.VALUE_TABLE: "table" in read.tables,
        Note.DEFAULT: sent is not None and not texts and value.default is not None,
        Note.CURRENT: read.value is OPEN_END,
        Note.CONSTANT: value.constant is not None,
    }
    if isinstance(sent, str) and texts and value.field.kind is Kind.DATE:
        numbers = {int(digits) for digits in re.findall("[0-9]+", text)}
        declared = value.formats.dates or ()
        found[Note.SHORT_YEAR] = any("%y" in form for form in declared) and sent[:4] not in text
        completed = value.formats.missing_day is not None and int(sent[8:]) not in numbers
        found[Note.DATE_COMPLETED] = completed
    if isinstance(sent, str) and texts and value.field.kind is Kind.PHONE:
        found[Note.COUNTRY_CODE] = not stripped(text).startswith(("+", "00"))
    return [note for note in Note if found.get(note) and (texts or note in (Note.DEFAULT, Note.CONSTANT))]


# --- one line for each answer ---------------------------------------------------------------------


class SentLine(NamedTuple):
    """An answer beside its cells, as texts. question: of a field of an entry also the entry's number."""

    cell: str
    column: str
    text: str
    question: str
    sent: str
    note: str


def sent_lines(answers: Iterable[TracedAnswer], origin: Origin) -> Iterator[SentLine]:
    """The lines of a candidate, without questions that have neither an answer nor a filled cell.

    origin: of the candidate's row; cells of other tables are named with their file or sheet.
    """
    for answer in answers:
        for number, entry in enumerate(answer.entries, start=1):
            for field in entry:
                yield from sent_lines([replace(field, label=f"{answer.label} {number}: {field.label}")], origin)
        if not answer.entries and (answer.cells or answer.sent is not None):
            yield SentLine(
                ", ".join(dict.fromkeys(address(cell.place, origin) for cell in answer.cells)),
                ", ".join(dict.fromkeys(cell.place.column.label for cell in answer.cells if cell.place.column)),
                " | ".join(cell.text for cell in answer.cells),
                answer.label,
                sent_text(answer.sent),
                "; ".join(answer.notes),
            )


def address(place: CellPlace, origin: Origin) -> str:
    """`C5`; in another table `schools.csv C5`."""
    cell = f"{place.column.letter if place.column else ''}{place.row}"
    return cell if place.origin == origin else f"{place.origin.sheet or Path(place.origin.file).name} {cell}"


def sent_text(sent: str | bool | None) -> str:
    """What is sent as a text: `true` for True, "" for nothing."""
    return "" if sent is None else str(sent).lower() if isinstance(sent, bool) else sent


# --- candidates to look at before sending ---------------------------------------------------------

_PICKED_FROM = 5_000  # candidates: enough to meet every oddity of a file in a second
_LONG = 300  # characters: a longer text is worth a look
_ODD = [note for note in Note if note not in (Note.CONSTANT, Note.CURRENT, Note.DEFAULT)]


@dataclass(frozen=True, slots=True)
class PickedCandidate:
    """A candidate as it will be sent, and why it was picked: "" if it is an ordinary one."""

    row: Row
    answers: tuple[TracedAnswer, ...]
    why: str


def pick_candidates(
    bodies: Iterable[tuple[Row, Application | PoolCandidate]], mapping: ResolvedMapping, count: int
) -> tuple[PickedCandidate, ...]:
    """At most `count` of the first candidates, the odd ones first: one for each oddity, then the first ordinary ones.

    bodies: the candidates that will be sent, each with its row; read as far as needed.
    """
    odd: dict[str, tuple[int, PickedCandidate]] = {}  # of each oddity the largest, of equal ones the first
    ordinary: list[PickedCandidate] = []
    for row, body in islice(bodies, _PICKED_FROM):
        candidate = PickedCandidate(row, trace_row(row, mapping, body), "")
        for why, size in _oddities(candidate).items():
            if why not in odd or size > odd[why][0]:
                odd[why] = (size, candidate)
        if len(ordinary) < count:
            ordinary.append(candidate)
    whys: dict[int, list[str]] = defaultdict(list)
    picked: dict[int, PickedCandidate] = {}
    for why in sorted(odd, key=_ODDITIES.index):
        candidate = odd[why][1]
        picked[candidate.row.number] = candidate
        whys[candidate.row.number].append(why)
    picked = {candidate.row.number: candidate for candidate in (*picked.values(), *ordinary)}
    return tuple(replace(one, why="; ".join(whys[number])) for number, one in islice(picked.items(), count))


_OTHER_TABLE = "entries from another table"
_SEVERAL_ROWS = "several rows of the file"
_LONGEST = "the longest text"
_FULLEST = "the most answers"
_ODDITIES = (*_ODD, _OTHER_TABLE, _SEVERAL_ROWS, _LONGEST, _FULLEST)


def _oddities(candidate: PickedCandidate) -> dict[str, int]:
    """What is odd about a candidate, each with its size."""
    row, answers = candidate.row, candidate.answers
    fields = [*answers, *(field for answer in answers for entry in answer.entries for field in entry)]
    found: dict[str, int] = {note: 0 for field in fields for note in field.notes if note in _ODD}
    if any(cell.place.origin != row.origin for field in fields for cell in field.cells):
        found[_OTHER_TABLE] = 0
    if row.members:
        found[_SEVERAL_ROWS] = len(row.members)
    longest = max((len(field.sent) for field in fields if isinstance(field.sent, str) and not field.entries), default=0)
    if longest > _LONG:
        found[_LONGEST] = longest
    found[_FULLEST] = sum(field.sent is not None for field in fields)
    return found
