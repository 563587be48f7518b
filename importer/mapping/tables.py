"""The tables of the mapping language: how the source is read, and the other sheets and files that it is joined with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from importer.mapping.nodes import Keys, Node, Reader, Text
from importer.mapping.scalars import Delimiter, Encoding, Number, RowNumbers
from importer.mapping.shapes import FILLED, Filled, Leaf, OneOf, Section, Texts, invalid, key, read_filled, required_key
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
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        if ("is" in node) == ("is_not" in node):
            has = "both is and is_not" if "is" in node else "neither is nor is_not"
            hint = "use one of them, with a list of values"
            reading.error("filter-condition-invalid", f"{node.name} has {has}", hint, node.place)


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
    short_rows: Annotated[Literal["blank"], OneOf()] | None = key(
        "Read the last cells that Excel left out of a CSV as blank: in blocks of 16 rows that are all short alike."
    )


class _SheetKey(Section):
    sheet: Filled | None = key("The name of the sheet; 1 is the first visible sheet.")


class Source(_FileKeys, _SheetKey):
    """How to read the file, and which rows to import."""

    missing: Texts = key("Values that are read as an empty cell.")
    where: Filter | None = key("Which rows to import.")
    group_by: GroupBy | None = key("How to group rows that belong to one candidate.")


# --- other tables ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChildSource:
    """Another table: a sheet of the same workbook (`file` is None), or another file with its own options."""

    file: str | None
    options: SourceOptions

    def __str__(self) -> str:
        return self.file or self.options.sheet or ""


def _file_name(node: Node) -> Text:
    text = read_filled(node)
    if "\0" in text:
        raise invalid(f"{text.name} contains a NUL character, which file names cannot have", "remove it")
    return text


class ChildRows(Section):
    """The rows of another table whose `key` matches `equals` in the main table."""

    name: Annotated[Text, Leaf(_file_name, FILLED)] = required_key("add its name, for example name: Jobs")
    key_: Filled = required_key(
        "add the column that identifies the candidate there", "The column that identifies the candidate there.", "key"
    )
    equals: Filled = required_key(
        "add the column of the main table that matches key", "The column of the main table that matches key."
    )

    @property
    def source(self) -> ChildSource:
        raise NotImplementedError


class ChildSheet(_RowKeys, ChildRows):
    """Another sheet of the workbook."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(None, self.options(self.name))


class ChildFile(_FileKeys, _SheetKey, ChildRows):
    """Another file."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(str(self.name), self.options(self.sheet))
