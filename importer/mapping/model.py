"""The model of a mapping file, used by the reader and the JSON Schema; and the mapping that is read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag

from importer.mapping.entries import PLACEHOLDER, EducationAnswer, EntriesAnswer, EntryKind, ExperienceAnswer
from importer.mapping.nodes import Keys, Node, Reader, Text
from importer.mapping.shapes import (
    AnyText,
    Filled,
    JsonSchema,
    Leaf,
    Section,
    Texts,
    key,
    read_filled,
    read_keys,
    refusal,
    required_key,
)
from importer.mapping.tables import ChildRows, ChildSource, Filter, GroupBy, Source
from importer.mapping.values import AnswerValue, Defaults, Formats, ValueSpec
from importer.models import Operation, SourceOptions, Target
from importer.problems import LinePlace, Problem

# --- the whole file -----------------------------------------------------------------------------

_VERSION = "1"


def _version(node: Node) -> str:
    text = read_filled(node)
    if text != _VERSION:
        message = f"version {text} of the mapping file is not supported"
        raise refusal("mapping-version-unsupported", message, f"write version: {_VERSION}")
    return str(text)


def _id_of(operation: Operation, hint: str, schema: JsonSchema) -> Leaf:
    def read(node: Node) -> Target:
        text = read_filled(node)
        try:
            return Target(operation, str(text))
        except ValueError as error:
            raise refusal("target-invalid", str(error), hint) from None

    return Leaf(read, schema)


_JOB_POST = _id_of(
    Operation.APPLY,
    "enter the hash of the job post: letters, digits, _ and -",
    {"type": ["string", "number"], "pattern": "^[A-Za-z0-9_-]{1,128}$"},
)
_TALENT_POOL = _id_of(
    Operation.ADD_TO_POOL,
    "enter the number of the talent pool, in digits",
    {"type": ["string", "integer"], "pattern": "^[0-9]{1,18}$"},
)


class TargetKeys(Section):
    """The job post or talent pool that the candidates are sent to."""

    rules: ClassVar = {"minProperties": 1, "maxProperties": 1}

    job_post: Annotated[Target, _JOB_POST] | None = key("The hash of the job post.")
    talent_pool: Annotated[Target, _TALENT_POOL] | None = key("The number of the talent pool.")

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        given = [name for name in cls.model_fields if name in node]
        if len(given) == 1:
            reading.operation = Operation.APPLY if given[0] == "job_post" else Operation.ADD_TO_POOL
        else:
            has = "both job_post and talent_pool" if given else "neither job_post nor talent_pool"
            reading.error("target-invalid", f"target has {has}", "use one of them", node.place)


def _name_key(part: str) -> Any:
    split = f"{{column: Full name, part: {part}}}"
    hint = f"add its column, for example {part}_name: {part.capitalize()} name; of full names, {part}_name: {split}"
    return required_key(hint, f"The {part} name.")


class Candidate(Section):
    """The fields of a candidate, except the answers."""

    rules: ClassVar = {"required": []}  # a shared file may contain some of them; see _WHOLE_FILE

    email: ValueSpec = required_key("add its column, for example email: E-mail", "The e-mail address.")
    first_name: ValueSpec = _name_key("first")
    last_name: ValueSpec = _name_key("last")
    cv: ValueSpec = required_key(
        "add the column with its ID, cv: CV ID, or with the name of its file, cv: {column: CV file, folder: cvs}; or "
        "one document for every row, cv: {value: ID}",
        "The document ID of an uploaded CV.",
    )
    terms_of_use: ValueSpec | None = key("Whether the terms of use were accepted (job posts).")
    source_platform: ValueSpec | None = key("Where the candidate comes from (talent pools).")

    @property
    def fields(self) -> dict[Text, ValueSpec]:
        """The fields by key."""
        return self.values_of(Candidate.model_fields)

    @classmethod
    def listed(cls, node: Keys, reading: Reader) -> list[str]:
        unavailable = _NOT_APPLICABLE.get(reading.operation, ("", ""))[0]
        return [name for name in cls.model_fields if name != unavailable or name in node]

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        name, message = _NOT_APPLICABLE.get(reading.operation, ("", ""))
        if name and name in node:
            reading.error("key-not-applicable", message, "remove it", node.key(name).place)


_NOT_APPLICABLE: dict[Operation | None, tuple[str, str]] = {
    Operation.APPLY: ("source_platform", "source_platform is only for talent pools, not for job posts"),
    Operation.ADD_TO_POOL: ("terms_of_use", "terms_of_use is only for job posts, not for talent pools"),
}


def _answer_form(node: Node) -> str:
    kinds = [kind for kind in EntryKind if isinstance(node, Keys) and str(kind) in node]
    return str(kinds[0]) if kinds else "value"


_AnswerContent = Annotated[
    Annotated[AnswerValue, Tag("value")]
    | Annotated[EducationAnswer, Tag("education")]
    | Annotated[ExperienceAnswer, Tag("experience")],
    Discriminator(_answer_form),
]
_WHOLE_FILE: dict[str, Any] = {
    "required": [],
    "allOf": [
        {
            "if": {"properties": {"target": {"required": ["talent_pool"]}}, "required": ["target"]},
            "then": {"properties": {"answers": False, "candidate": {"properties": {"terms_of_use": False}}}},
            "else": {"properties": {"candidate": {"properties": {"source_platform": False}}}},
        },
        {
            "if": {"required": ["extends"]},
            "else": {
                "required": ["version", "target", "candidate"],
                "properties": {"candidate": {"required": ["email", "first_name", "last_name", "cv"]}},
            },
        },
    ],
}


class MappingFile(Section):
    """Maps the columns of a spreadsheet to the questions of a job post, or to the candidate fields of a talent pool."""

    rules: ClassVar = _WHOLE_FILE

    version: Annotated[str, Leaf(_version, {"enum": [1, _VERSION]})] = required_key(
        f"add version: {_VERSION}", "The version of this language: 1."
    )
    extends: Filled | None = key("A shared mapping file that this file extends; keys in this file take precedence.")
    without: Texts | None = key("Answers of the shared file that this mapping does not use.")
    target: TargetKeys = required_key("add target: {job_post: ...} or target: {talent_pool: ...}")
    route: Filter | None = key("Which rows belong to this target, if one export contains rows for several targets.")
    source: Source = Source.model_construct()
    defaults: Defaults = Defaults.model_construct()
    candidate: Candidate = required_key("add candidate: with email, first_name, last_name and cv")
    answers: Annotated[dict[AnyText, _AnswerContent], BeforeValidator(read_keys)] = Field(
        default={},
        description='The answers: on the left a question_key, "text: ..." or "id: ..."; on the right a column.',
    )

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        route, answers, target = node.value("route"), node.value("answers"), node.value("target")
        if isinstance(route, Keys) and "is_not" in route and "is" not in route:
            message = "route cannot use is_not: it could select rows of another mapping"
            reading.error("route-condition-invalid", message, "use is: with the values of this mapping", route.place)
        if answers is not None and isinstance(target, Keys) and list(target) == ["talent_pool"]:
            hint = "remove answers:, or set a job post as the target"
            message, place = "a talent pool has no questions to answer", node.key("answers").place
            reading.error("answers-not-applicable", message, hint, place)
        for name in answers if isinstance(answers, Keys) else ():
            if not question_name(name)[1]:
                message, hint = f"'{name}' does not name a question", "use its key, text: ... or id: ..."
                reading.error("question-not-found", message, hint, name.place)


IN_SOURCE = "under source: in the mapping"  # how the hints of readers name a key


# --- the mapping --------------------------------------------------------------------------------


class QuestionBy(StrEnum):
    """How a question is identified."""

    KEY = "key"
    TEXT = "text"
    ID = "id"


def question_name(given: Text) -> tuple[QuestionBy, Text]:
    """How a key under `answers` identifies a question, and the key, text or ID."""
    typed = given.strip()
    by = next((by for by in (QuestionBy.TEXT, QuestionBy.ID) if typed.casefold().startswith(f"{by}:")), QuestionBy.KEY)
    return by, Text(typed if by is QuestionBy.KEY else typed[len(by) + 1 :].strip(), given.place)


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """A question, identified by key, text or ID, and what answers it."""

    by: QuestionBy
    question: Text
    content: AnswerValue | EntriesAnswer


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A mapping file as read. Two of them are equal only if they are the same object.

    folders: files that it names must be inside these. answers_place: where a missing answer belongs. content: the bytes
    that it was read from, as one file that needs no other. unreviewed: the lines that a person must still check, if
    there are any.
    """

    path: Path
    folders: tuple[Path, ...]
    target: Target
    target_place: LinePlace
    source: SourceOptions
    missing: tuple[str, ...]
    where: Filter | None
    group_by: GroupBy | None
    route: Filter | None
    defaults: Defaults
    candidate: dict[Text, ValueSpec]
    answers: tuple[AnswerSpec, ...]
    answers_place: LinePlace
    content: bytes
    unreviewed: Problem | None = None

    @property
    def child_sources(self) -> dict[ChildSource, LinePlace]:
        """The other tables that it reads, with the names that it reads there, and where each is named first."""
        places: dict[ChildSource, LinePlace] = {}
        columns: dict[ChildSource, tuple[Text, ...]] = {}
        counted = set[ChildSource]()
        for rows, there, specs in self._child_rows():
            places.setdefault(rows.source, rows.place)
            columns[rows.source] = (*columns.get(rows.source, ()), rows.key_, *there)
            if _counts_from_1900(self.defaults, *specs):
                counted.add(rows.source)
        found = ((source, _names(columns[source]), place) for source, place in places.items())
        return {
            replace(one, options=replace(one.options, names=names, counts_from_1900=one in counted)): place
            for one, names, place in found
        }

    @property
    def document_folders(self) -> dict[str, LinePlace]:
        """The folders and .zip files of documents, and where each is named first."""
        contents = (*self.candidate.values(), *(answer.content for answer in self.answers))
        named = [one.folder for one in contents if not isinstance(one, EntriesAnswer) and one.folder]
        return {str(name): name.place for name in reversed(named)}

    def for_source(self, sheet: str | None, reading: SourceOptions | None = None) -> Mapping:
        """The mapping, for another sheet, or for a source that is read in another way; None keeps its own."""
        own = self.source
        source = own if reading is None else replace(reading, names=own.names, counts_from_1900=own.counts_from_1900)
        return replace(self, source=source if sheet is None else replace(source, sheet=sheet))

    def _child_rows(self) -> Iterator[tuple[ChildRows, Sequence[Text], Sequence[Formats]]]:
        """Rows of other tables, the columns that are read of them, and how."""
        for content in (*self.candidate.values(), *(answer.content for answer in self.answers)):
            for spec in content.sources if isinstance(content, EntriesAnswer) else ():
                there = [name for value in spec.fields.values() for name in value.own_columns]
                fields = [*spec.fields.values()]
                yield from ((rows, there, fields) for rows in (spec.sheet, spec.file) if rows)
            values = content.values if isinstance(content, EntriesAnswer) else [content]
            yield from ((value.rows, value.columns, [value]) for value in values if value.rows)


def mapping_of(
    file: MappingFile, path: Path, folders: tuple[Path, ...], content: bytes, unreviewed: Problem | None = None
) -> Mapping:
    """The mapping that a file describes."""
    is_counted = _counts_from_1900(file.defaults, *_formats(file))
    source = replace(file.source.options(file.source.sheet), names=_names_read(file), counts_from_1900=is_counted)
    return Mapping(
        path=path,
        folders=folders,
        target=cast(Target, file.target.job_post or file.target.talent_pool),
        target_place=file.node.key("target").place,
        source=source,
        missing=file.source.missing or (),
        where=file.source.where,
        group_by=file.source.group_by,
        route=file.route,
        defaults=file.defaults,
        candidate=file.candidate.fields,
        answers=tuple(AnswerSpec(*question_name(typed), answer) for typed, answer in file.answers.items()),
        answers_place=file.node.key("answers" if "answers" in file.node else "target").place,
        content=content,
        unreviewed=unreviewed,
    )


def _formats(file: MappingFile) -> Iterator[Formats]:
    """All that say how cells of the table itself are read."""
    for value in (*file.candidate.fields.values(), *file.answers.values()):
        if not isinstance(value, EntriesAnswer):
            yield from () if value.rows else (value,)
            continue
        for entries in value.sources:
            if not (entries.sheet or entries.file):
                yield from (one for one in entries.fields.values() if not one.rows)


def _counts_from_1900(*formats: Formats) -> bool:
    return any("excel" in (each.dates or ()) for each in formats)


def _names_read(file: MappingFile) -> tuple[str, ...]:
    """The names of the columns of the table itself. They show which row of a file is its header."""
    specs = list(file.candidate.fields.values())
    columns: list[Text] = []
    for answer in file.answers.values():
        if isinstance(answer, AnswerValue):
            specs.append(answer)
        else:
            for entries in answer.sources:
                specs += entries.fields.values() if entries.repeat or entries.source is None else ()
                columns += [rows.equals for rows in (entries.sheet, entries.file) if rows]
    return _names([*(name for spec in specs for name in spec.own_columns), *columns])


def _names(columns: Iterable[Text]) -> tuple[str, ...]:
    """The names of columns, and letters such as =C; of numbered ones, the first."""
    names = [str(name).strip().replace(PLACEHOLDER, "1") for name in columns]
    return tuple(dict.fromkeys(names))
