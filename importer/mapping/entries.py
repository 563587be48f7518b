"""Entries of the mapping language: education and experience, and where the entries of an answer come from."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Tag
from pydantic_core import PydanticCustomError

from importer.mapping.nodes import Items, Keys, Node, Reader, Text
from importer.mapping.scalars import Expression, Separator
from importer.mapping.shapes import (
    BY_FORM,
    Filled,
    Leaf,
    OneOf,
    Section,
    exclude,
    invalid,
    key,
    read_text,
    refusal,
    required_key,
)
from importer.mapping.tables import ChildFile, ChildRows, ChildSheet, Filter
from importer.mapping.values import AnswerKeys, EndValue, ValueSpec


class EntryKind(StrEnum):
    """The two kinds of entries (service description 2.3 and 2.4)."""

    EDUCATION = "education"
    EXPERIENCE = "experience"


class EntryOrder(StrEnum):
    """The order in which entries are sent."""

    KEPT = "kept"
    NEWEST_FIRST = "newest_first"
    OLDEST_FIRST = "oldest_first"


PLACEHOLDER = "{n}"
_REPEAT_HINT = f'write repeat: "{PLACEHOLDER}", and {PLACEHOLDER} in each column name'


def _placeholder(node: Node) -> Text:
    text = read_text(node)
    if text != PLACEHOLDER:
        raise refusal("mapping-value-invalid", f"'{text}' is not a valid value of repeat", _REPEAT_HINT)
    return text


class Repeat(Section):
    """Numbered column groups; {n} stands for the number."""

    short = "number"
    short_rules: ClassVar = {"enum": [PLACEHOLDER]}

    number: Annotated[Text, Leaf(_placeholder, short_rules)] | None = key("The placeholder for the number.")
    first: Annotated[Literal["unnumbered"], OneOf()] | None = key("The first group has no number.")

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        return invalid("repeat must be a text or keys", _REPEAT_HINT)

    @classmethod
    def fits(cls, node: Keys) -> bool:
        return list(node) != ["n"]  # {n} without quotes


class _OrderedRows(ChildRows):
    order_by: Filled | None = key("The column that gives the order of the entries there.")


class EntrySheet(_OrderedRows, ChildSheet):
    """Entries in another sheet of the workbook."""


class EntryFile(_OrderedRows, ChildFile):
    """Entries in another file."""


class CellPieces(Section):
    """All entries in one cell; the pattern must match each whole entry."""

    column: Filled = required_key("add the column that contains the entries")
    split: Separator = required_key(
        'add the separator between two entries, for example split: ";" or split: newline',
        "The separator between two entries: a character, or newline.",
    )
    pattern: Expression = required_key(
        "describe an entry with a pattern, for example '(?P<company>.+), .+'",
        "The pattern of one entry; its named groups are the fields.",
    )


class ParallelLists(Section):
    """Parallel lists; items belong together by position, or by the number at their end."""

    split: Separator = required_key(
        'add the separator between two items, for example split: ";" or split: json',
        "The separator between two items; json for a list in JSON or Python format.",
    )
    numbered: Annotated[Literal["true", "false"], OneOf()] | None = key("Each item ends with its number: Lead[1].")


AllRows = Literal["all"]
_ROWS_HINT = "write rows: all, or rows: {column: ..., is: ...}"
_Rows = Annotated[Annotated[AllRows, OneOf(_ROWS_HINT), Tag("text")] | Annotated[Filter, Tag("keys")], BY_FORM]
EntriesSource = Repeat | EntrySheet | EntryFile | Filter | AllRows | CellPieces | Text | ParallelLists | None


class EntriesSpec(Section):
    """Entries, packed into one answer. Without a key such as sheet or cell, the row itself contains one entry."""

    kind: ClassVar[EntryKind]

    repeat: Repeat | None = key("Numbered column groups.")
    sheet: EntrySheet | None = None
    file: EntryFile | None = None
    rows: _Rows | None = key("Each row of the candidate may contain an entry.")
    cell: CellPieces | None = key("All entries in one cell.")
    json_: Filled | None = key("A column with a list in JSON or Python format.", alias="json")
    lists: ParallelLists | None = key("Parallel lists in several columns.")
    order: Annotated[EntryOrder, OneOf()] | None = key("The order in which entries are sent.")

    @property
    def source(self) -> EntriesSource:
        """Where the entries come from; None: one entry from the row itself."""
        return self.repeat or self.sheet or self.file or self.rows or self.cell or self.json_ or self.lists

    @property
    def fields(self) -> dict[Text, ValueSpec]:
        """The fields by key, in the order of the service description."""
        return self.values_of(ENTRY_FIELDS[self.kind])

    @classmethod
    def listed(cls, node: Keys, reading: Reader) -> list[str]:
        return [*ENTRY_SOURCES, *ENTRY_FIELDS[cls.kind], "order"]

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        given = [source for source in ENTRY_SOURCES if source in node]
        if len(given) > 1:
            exclude(node, given, "keep one of them", reading)


ENTRY_SOURCES = ("repeat", "sheet", "file", "rows", "cell", "json", "lists")
_EACH = "add it: every entry needs a name"


class Education(EntriesSpec):
    """Schools and degrees."""

    kind = EntryKind.EDUCATION

    school_name: ValueSpec = required_key(_EACH)
    degree: ValueSpec | None = None
    major: ValueSpec | None = None
    start_date: ValueSpec | None = None
    end_date: EndValue | None = None
    currently_pursuing: ValueSpec | None = None


class Experience(EntriesSpec):
    """Jobs."""

    kind = EntryKind.EXPERIENCE

    company_name: ValueSpec = required_key(_EACH)
    position_title: ValueSpec | None = None
    employment_type: ValueSpec | None = None
    start_date: ValueSpec | None = None
    end_date: EndValue | None = None
    currently_employed: ValueSpec | None = None


# In the order in which they are sent: the first names the entry, the last says whether it is current.
ENTRY_FIELDS: dict[EntryKind, tuple[str, ...]] = {
    model.kind: tuple(name for name in model.model_fields if name not in EntriesSpec.model_fields)
    for model in (Education, Experience)
}


def _one_or_several(node: Node) -> str:
    return "several" if isinstance(node, Items) else "one"


_SOURCES = Discriminator(_one_or_several)
_Educations = Annotated[Annotated[Education, Tag("one")] | Annotated[tuple[Education, ...], Tag("several")], _SOURCES]
_Experiences = Annotated[
    Annotated[Experience, Tag("one")] | Annotated[tuple[Experience, ...], Tag("several")], _SOURCES
]


class EntriesAnswer(AnswerKeys):
    """The entries of one or several sources, packed into one answer."""

    kind: ClassVar[EntryKind]

    order: Annotated[EntryOrder, OneOf()] | None = key("The order in which the entries of all sources are sent.")

    @property
    def sources(self) -> tuple[EntriesSpec, ...]:
        given = getattr(self, self.kind)
        return given if isinstance(given, tuple) else (given,)

    @property
    def values(self) -> Iterator[ValueSpec]:
        """The values of all fields."""
        return (value for source in self.sources for value in source.fields.values())

    @property
    def entry_order(self) -> EntryOrder:
        return self.order or self.sources[0].order or EntryOrder.KEPT

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        sources = node.value(cls.kind)
        if isinstance(sources, Items) and not sources:
            reading.error("mapping-value-invalid", f"{cls.kind} is an empty list", "enter a source", sources.place)
        is_whole = isinstance(sources, Items) or "order" in node
        for source in sources if isinstance(sources, Items) else [sources]:
            if is_whole and isinstance(source, Keys) and "order" in source:
                hint = f"write it once, next to {cls.kind}:"
                place = source.key("order").place
                reading.error("key-not-applicable", "order applies to the entries of all sources", hint, place)


class EducationAnswer(EntriesAnswer):
    """Education entries."""

    kind = EntryKind.EDUCATION

    education: _Educations = required_key("")


class ExperienceAnswer(EntriesAnswer):
    """Experience entries."""

    kind = EntryKind.EXPERIENCE

    experience: _Experiences = required_key("")
