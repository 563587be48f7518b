"""What can be read with a mapping file that is not complete: its values, each by itself, and the rows of candidates."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from importer.app.mapping_files import tables_of
from importer.mapping import Mapping, ResolvedEntries, ResolvedMapping, read_mapping, resolve
from importer.models import Question, Row
from importer.problems import FilePlace, LinePlace, Problem, UnusableInput
from importer.settings import Settings
from importer.suggest import MappingText, question_key
from importer.transform import BodyReader, EntriesReader, ValueReader, candidate_rows
from importer.web.models.file_sample import Sample

_TRIES: Final = 8
_MAPPING_FILE: Final = "the mapping file"
_PLACEHOLDERS: Final = {"email": '"=A"', "first_name": "{value: A}", "last_name": "{value: B}", "cv": '{value: "1"}'}


@dataclass(frozen=True, slots=True)
class ReadableMapping:
    """What of a mapping can be read. The values, entries and problems are those of IDs such as `answers/level`.

    others: problems that belong to no value. resolved: with placeholders for what it lacks; None if nothing can be
    read. used: the indexes of columns. rows: those of candidates, of the first ones of the file. read_as: the path of
    the copy that was read, which problems of rows name. left_out: the IDs of answers that are left out where they
    cannot be read; missing: the words that are read as blank in every column.
    """

    values: dict[str, ValueReader | EntriesReader] = field(default_factory=dict)
    entries: dict[str, ResolvedEntries] = field(default_factory=dict)
    problems: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    others: tuple[Problem, ...] = ()
    resolved: ResolvedMapping | None = None
    used: frozenset[int] = frozenset()
    rows: tuple[Row, ...] = ()
    read_as: str = ""
    left_out: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()

    def named(self, problem: Problem) -> Problem:
        """A problem of a row that names the mapping file as a person knows it."""
        return _named(problem, self.read_as)


def id_of(question: Question, text: MappingText) -> str:
    """The ID of a question, which may be named by its key, its text or its ID."""
    written = text.values("answers")
    names = (question.key or "", f"text: {question.text}", f"id: {question.id}")
    return f"answers/{next((name for name in names if name in written), question_key(question))}"


def read_what_is_right(
    text: MappingText, path: Path, file: Path, sample: Sample, settings: Settings
) -> ReadableMapping:
    """The values that can be read: what prevents the others is among the problems.

    path: where the mapping is stored, so that it can name other files.
    """
    problems, others, left = dict[str, tuple[Problem, ...]](), tuple[Problem, ...](), text
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".shown-", suffix=".yaml") as shown:
        for _ in range(_TRIES):
            completed = _completed(left)
            Path(shown.name).write_bytes(completed.text.encode())
            try:
                mapping = read_mapping(Path(shown.name), settings.mapping_folders)
                resolved = _resolved(mapping, left, file, sample, settings)
                found = _readable(resolved, text, sample, problems, others, shown.name)
                return replace(found, missing=mapping.missing)
            except UnusableInput as error:
                wrong: dict[str, list[Problem]] = {}
                for problem in error.problems:
                    place = problem.place
                    owner = completed.at(place.line) if isinstance(place, LinePlace) else None
                    named = _named(_placed(problem, text, path), shown.name)
                    wrong.setdefault("/".join(owner) if owner else "", []).append(named)
                others = tuple(wrong.pop("", ()))
                if not wrong:
                    break
                problems |= {id: tuple(found) for id, found in wrong.items()}
                for id in wrong:
                    left = left.drop(*id.split("/", 1))
    return ReadableMapping(problems=problems, others=others)


def _resolved(mapping: Mapping, text: MappingText, file: Path, sample: Sample, settings: Settings) -> ResolvedMapping:
    """A mapping that lacks no field of the candidate, without the required questions that it lacks."""
    answered = text.values("answers")
    questions = [
        replace(one, required=one.required and id_of(one, text).partition("/")[2] in answered)
        for one in sample.proposal.questions
    ]
    with tables_of(mapping, file, settings) as tables:
        return resolve(mapping, [one.column for one in sample.columns], questions, settings.wire, tables)


def _placed(problem: Problem, text: MappingText, path: Path) -> Problem:
    """A problem of the completed text, at its line of the mapping file."""
    place = problem.place
    if not isinstance(place, LinePlace):
        return problem
    same = [number for number, line in enumerate(text.text.splitlines(), start=1) if line == place.text]
    line = min(same, key=lambda number: abs(number - place.line), default=place.line)
    return replace(problem, place=replace(place, file=path.name, line=line))


def _named(problem: Problem, read_as: str) -> Problem:
    """A problem that names the mapping file as a person knows it."""
    hint = re.sub(rf"{re.escape(read_as)}(:\d+)*", _MAPPING_FILE, problem.hint)
    is_file = isinstance(problem.place, FilePlace) and problem.place.name == read_as
    return replace(problem, hint=hint, place=FilePlace(_MAPPING_FILE) if is_file else problem.place)


def _readable(
    resolved: ResolvedMapping,
    text: MappingText,
    sample: Sample,
    problems: dict[str, tuple[Problem, ...]],
    others: tuple[Problem, ...],
    read_as: str,
) -> ReadableMapping:
    body = BodyReader(resolved)
    given = text.values("candidate")
    values: dict[str, ValueReader | EntriesReader] = {
        f"candidate/{name}": reader for name, reader in body.fields.items() if name in given
    }
    values |= {id_of(answer.question, text): answer.reader for answer in body.answers}
    entries = {
        id_of(answer.question, text): answer.content
        for answer in resolved.answers
        if isinstance(answer.content, ResolvedEntries)
    }
    used = frozenset(column.index for reader in values.values() for column in reader.columns)
    rows = tuple(_rows(sample.rows, resolved))
    left_out = frozenset(id_of(answer.question, text) for answer in body.answers if answer.leave_out)
    return ReadableMapping(values, entries, problems, others, resolved, used, rows, read_as, left_out)


def _rows(rows: Iterable[Row], resolved: ResolvedMapping) -> Iterable[Row]:
    return (row for row in candidate_rows(lambda: iter(rows), resolved) if isinstance(row, Row))


def _completed(text: MappingText) -> MappingText:
    """A mapping with a value for each required field of the candidate, which is not shown."""
    given = text.values("candidate")
    for name, value in _PLACEHOLDERS.items():
        if name not in given:
            text = text.put("candidate", name, [f"{name}: {value}"])
    return text
