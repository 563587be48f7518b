"""Rows and entries of the mapping language: how a table is read, and where the entries of an answer come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Tag
from pydantic_core import PydanticCustomError

from importer.mapping.nodes import Keys, Node, Reading, Text
from importer.mapping.scalars import Delimiter, Encoding, Expression, Number, RowNumbers, Separator
from importer.mapping.shapes import (
    BY_FORM,
    FILLED,
    Filled,
    Leaf,
    OneOf,
    Section,
    Texts,
    exclude,
    key,
    read_filled,
    read_text,
    refusal,
    required_key,
)
from importer.mapping.values import AnswerKeys, EndValue, ValueSpec
from importer.models import SourceOptions

# --- rows of the source -------------------------------------------------------------------------


class Filter(Section):
    """Only rows whose column has (or does not have) one of these values."""

    rules: ClassVar = {"oneOf": [{"required": ["is"]}, {"required": ["is_not"]}]}

    column: Filled = required_key("add the column to filter by")
    is_: Texts | None = key("Values of rows that are included.", alias="is")
    is_not: Texts | None = key("Values of rows that are excluded.")

    @property
    def words(self) -> tuple[str, ...]:
        return self.is_ or self.is_not or ()

    @property
    def negated(self) -> bool:
        return self.is_not is not None

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        if ("is" in node) == ("is_not" in node):
            message = (
                f"{node.name} has both is and is_not" if "is" in node else f"{node.name} has neither is nor is_not"
            )
            reading.error("filter-condition-invalid", message, "use one of them, with a list of values", node.place)


class GroupBy(Section):
    """Rows with the same value in this column are one candidate."""

    short = "column"

    column: Filled = required_key("add the column that is the same in all rows of a candidate")
    blank: Annotated[Literal["continues"], OneOf()] | None = key("A row with an empty cell belongs to the row above.")
    main: Filter | None = key("The rows that contain the candidate's own data.")


class _RowKeys(Section):
    header_row: Number | None = key("The row with the column names, numbered as in the spreadsheet program.")
    header_rows: Number | None = key("How many rows the header has; header_row is the first of them.")
    skip_rows: RowNumbers = key("Rows to skip, for example 4 or 4-6.")
    stop_at: Filled | None = key("The table ends before the first row whose first filled cell has this value.")
    hidden_rows: Annotated[Literal["read", "skip"], OneOf()] | None = key("Whether to read or skip hidden rows.")

    def options(self, sheet: Text | None) -> SourceOptions:
        """The options for reading the file."""
        given = {name: getattr(self, name) for name in (*_RowKeys.model_fields, *_FileKeys.model_fields)
                if getattr(self, name, None) is not None}  # fmt: skip
        given |= {"stop_at": str(self.stop_at)} if self.stop_at else {}
        return SourceOptions(sheet=str(sheet) if sheet else None, **given)


class _FileKeys(_RowKeys):
    encoding: Encoding | None = key("The encoding of a CSV file: utf-8, cp1254, cp1252, utf-16, ...")
    delimiter: Delimiter | None = key('The character between two columns of a CSV file: ";", ",", tab.')
    longest_cell: Number | None = key("The maximum number of characters in a cell of a CSV file.")


class _SheetKey(Section):
    sheet: Filled | None = key("The name of the sheet; 1 is the first visible sheet.")


class Source(_FileKeys, _SheetKey):
    """How to read the file, and which rows to import."""

    missing: Texts = key("Values that are read as an empty cell.")
    where: Filter | None = key("Which rows to import.")
    group_by: GroupBy | None = key("How to group rows that belong to one candidate.")


# --- entries ------------------------------------------------------------------------------------


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
        raise refusal("repeat-invalid", f"'{text}' is not a valid value of repeat", _REPEAT_HINT)
    return text


class Repeat(Section):
    """Numbered column groups; {n} stands for the number."""

    short = "number"
    short_rules: ClassVar = {"enum": [PLACEHOLDER]}

    number: Annotated[Text, Leaf(_placeholder, short_rules)] | None = key("The placeholder for the number.")
    first: Annotated[Literal["unnumbered"], OneOf()] | None = key("The first group has no number.")

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        return refusal("mapping-value-invalid", "repeat must be a text or keys", _REPEAT_HINT)

    @classmethod
    def fits(cls, node: Keys) -> bool:
        return list(node) != ["n"]  # {n} without quotes


@dataclass(frozen=True, slots=True)
class ChildSource:
    """Another table that contains entries: a sheet of the same workbook (`file` is None), or another file with its own
    options."""

    file: str | None
    options: SourceOptions

    def __str__(self) -> str:
        return self.file or self.options.sheet or ""


def _file_name(node: Node) -> Text:
    text = read_filled(node)
    if "\0" in text:
        raise refusal(
            "mapping-value-invalid", f"{text.name} contains a NUL character, which file names cannot have", "remove it"
        )
    return text


class ChildRows(Section):
    """The rows of another table whose `key` matches `equals` in the main table."""

    name: Annotated[Text, Leaf(_file_name, FILLED)] = required_key("add its name, for example name: Jobs")
    key_: Filled = required_key(
        "add the column that identifies the candidate there", "The column that identifies the candidate there.", "key"
    )
    equals: Filled = required_key(
        "add the column of the main table that matches key",
        "The column of the main table that matches key.",
    )
    order_by: Filled | None = key("The column that gives the order of the entries there.")

    @property
    def source(self) -> ChildSource:
        raise NotImplementedError


class ChildSheet(_RowKeys, ChildRows):
    """Entries in another sheet of the workbook."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(None, self.options(self.name))


class ChildFile(_FileKeys, _SheetKey, ChildRows):
    """Entries in another file."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(str(self.name), self.options(self.sheet))


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
EntriesSource = Repeat | ChildRows | Filter | AllRows | CellPieces | Text | ParallelLists | None


class EntriesSpec(Section):
    """Entries, packed into one answer. Without a key such as sheet or cell, the row itself contains one entry."""

    kind: ClassVar[EntryKind]

    repeat: Repeat | None = key("Numbered column groups.")
    sheet: ChildSheet | None = None
    file: ChildFile | None = None
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
    def listed(cls, node: Keys, reading: Reading) -> list[str]:
        return [*ENTRY_SOURCES, *ENTRY_FIELDS[cls.kind], "order"]

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
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


class EntriesAnswer(AnswerKeys):
    """Entries, packed into one answer."""

    @property
    def entries(self) -> EntriesSpec:
        raise NotImplementedError


class EducationAnswer(EntriesAnswer):
    """Education entries, packed into one answer."""

    education: Education = required_key("")

    @property
    def entries(self) -> EntriesSpec:
        return self.education


class ExperienceAnswer(EntriesAnswer):
    """Experience entries, packed into one answer."""

    experience: Experience = required_key("")

    @property
    def entries(self) -> EntriesSpec:
        return self.experience
