"""Values of the mapping language: where a text comes from, and how it is read.

Editors show the docstrings of sections and the descriptions in `key(...)`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, Tag
from pydantic_core import PydanticCustomError

from importer.documents.folder import Several
from importer.mapping.nodes import Keys, Node, Reader, Text, texts_in
from importer.mapping.scalars import (
    NEWLINE,
    Columns,
    Currencies,
    DateFormats,
    Expression,
    FileName,
    NormalizedWords,
    Pivot,
    Region,
    Separator,
    ValueTable,
    character,
    expression,
)
from importer.mapping.shapes import BY_FORM, AnyText, Filled, OneOf, Section, Texts, exclude, invalid, key, required_key
from importer.mapping.tables import ChildFile, ChildRows, ChildSheet
from importer.problems import LinePlace
from importer.text.dates import has_short_year
from importer.text.normalize import did_you_mean, normalize

# --- how cells are read -------------------------------------------------------------------------

Edge = Literal["first", "last"]
Future = Literal["error", "allow"]
ValuePart = Literal["first", "last", "start", "end"]  # first, last: of a full name; start, end: of a range


class Surname(StrEnum):
    """Which words of a full name are the last name."""

    LAST_WORD = "last_word"
    LAST_TWO_WORDS = "last_two_words"
    FIRST_WORD = "first_word"
    CAPITALS = "capitals"
    BEFORE_COMMA = "before_comma"


class NameRule(Section):
    """How a full name is split."""

    surname: Annotated[Surname, OneOf()] | None = None  # None: not declared, the last word
    particles: NormalizedWords = frozenset()  # belong to the last name if they come right before it: `van`
    suffixes: NormalizedWords = frozenset()  # belong to the last name if they end the full name: `Jr.`

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        if node.value("surname") == str(Surname.BEFORE_COMMA) and "particles" in node:
            message = "particles have no effect with surname: before_comma"
            reading.error("key-not-applicable", message, "remove it", node.key("particles").place)


class Formats(Section):
    """How the texts of a column are read; None means not set."""

    dates: DateFormats | None = key(
        "Date formats, tried in order, for example %d.%m.%Y; YYYY-MM-DD is always accepted."
    )
    pivot: Pivot | None = key("The first of the hundred years that two-digit years (%y) belong to, for example 1950.")
    decimal: Annotated[str, character(".", ",", "٫")] | None = key("The decimal separator.")
    thousands: Annotated[str, character(".", ",", " ", "'", "’", "٬")] | None = key("The thousands separator.")
    currency: Currencies | None = key(
        "The currency of a number: EUR, €, TL. It is removed, in every spelling; no other one is accepted."
    )
    region: Region | None = key("The country of phone numbers without +, as two letters: TR, DE, US.")
    future: Annotated[Future, OneOf()] | None = key(
        "Whether a date may lie in the future; without it, a birth date, a start date and the end of a job may not."
    )
    missing_day: Annotated[Edge, OneOf()] | None = key(
        "The day of a date that has only a month: the first or the last."
    )
    missing_month: Annotated[Edge, OneOf()] | None = key(
        "The month of a date that has only a year: the first or the last."
    )
    yes: Texts | None = key("Words that mean yes, in addition to yes, evet, ja, true, 1, x.")
    no: Texts | None = key("Words that mean no, in addition to no, hayır, nein, false, 0.")
    names: NameRule | None = key("How a full name is split.")

    @property
    def short_year(self) -> LinePlace | None:
        """The place of the first date format with a two-digit year, which needs a pivot."""
        return next((text.place for text in self.dates or () if has_short_year(text)), None)

    def over(self, defaults: Formats) -> Formats:
        """These formats, with the defaults for those that are not set."""
        own = {name: getattr(self, name) for name in Formats.model_fields}
        given = {name: value for name, value in own.items() if value is not None}
        return defaults.model_copy(update=given) if given else defaults

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        decimal = node.value("decimal")
        if isinstance(decimal, Text) and decimal in (".", ",") and decimal == node.value("thousands"):
            message, place = f"decimal and thousands are both '{decimal}'", node.key("thousands").place
            reading.error("delimiter-invalid", message, "use a different character for each", place)
        yes, no = ({normalize(text) for text in texts_in(node.value(name))} for name in ("yes", "no"))
        for word in sorted(yes & no):
            message = f"'{word}' is listed under both yes and no"
            reading.error("keys-conflict", message, "keep it under one of them", node.key("no").place)


class DuplicatePolicy(StrEnum):
    """Which of the rows with the same e-mail address is sent: the first, or none."""

    FIRST = "first"
    ERROR = "error"


class InvalidOptional(StrEnum):
    """What an invalid answer to a question that is not required does: it holds the row back, or is not sent."""

    ERROR = "error"
    LEAVE_OUT = "leave_out"


class UnusedColumns(StrEnum):
    """What to do about columns that are not used."""

    IGNORE = "ignore"
    WARN = "warn"
    ERROR = "error"


class Defaults(Formats):
    """How columns are read, unless a column has its own settings."""

    unused_columns: Annotated[UnusedColumns, OneOf()] = Field(
        default=UnusedColumns.WARN, description="What to do about columns that are not used."
    )
    duplicates: Annotated[DuplicatePolicy, OneOf()] = Field(
        default=DuplicatePolicy.FIRST,
        description="For rows with the same e-mail address: send the first one (if it has no problems), or none.",
    )
    optional: Annotated[InvalidOptional, OneOf()] = Field(
        default=InvalidOptional.ERROR,
        description="For an invalid answer to a question that is not required: hold the row back, or leave it out.",
    )


# --- values -------------------------------------------------------------------------------------


class Otherwise(StrEnum):
    """What to do with a text that is neither in the value table nor an option of the question."""

    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"
    VALUE = "value"


class Replacement(Section):
    """The value for every text that is not under values."""

    value: Filled = required_key("write otherwise: {value: ...}")


_OtherwiseWord = Literal[Otherwise.ERROR, Otherwise.KEEP, Otherwise.BLANK]
_Otherwise = Annotated[Annotated[_OtherwiseWord, OneOf(), Tag("text")] | Annotated[Replacement, Tag("keys")], BY_FORM]


class Take(StrEnum):
    """Which piece of a split cell is the value."""

    FIRST = "first"
    FIRST_VALID = "first_valid"


class _ValueKeys(Section):
    column: Columns | None = key('A column, or several: the first that is filled in and valid. A letter: "=C".')
    join: Columns | None = key("Columns that are joined into one text; empty ones are skipped.")
    value: Filled | None = key("The same text for every row.")
    with_: AnyText | None = key("The separator between joined columns.", alias="with")
    pattern: Expression | None = key(
        "A regular expression with a named group, for example (?P<city>.+), that matches the whole cell."
    )
    group: Filled | None = key("The group of the pattern that is the value.")
    pick: Filled | None = key(
        "The only piece of a cell with this text in it: a part of an address (github.com, @) or a label (Mobile)."
    )
    split: Separator | None = key(
        "The separator between several values in one cell: a character, newline, or json for a list."
    )
    take: Annotated[Take, OneOf()] | None = key("Which piece of a split cell is the value.")
    values: ValueTable | None = key(
        "A table from the text of a cell to its value, or the name of a CSV file with the header cell,value."
    )
    otherwise: _Otherwise | None = key("What to do with a text that is not under values.")
    part: Annotated[ValuePart, OneOf()] | None = key("A part of a full name (first, last), or of a range (start, end).")
    before: Filled | None = key("Text added before the cell, for example https://linkedin.com/in/.")
    after: Filled | None = key("Text added after the cell, for example @example.com.")
    default: AnyText | None = key("The value for an empty cell.")
    folder: Filled | None = key(
        "Of a document: the folder or .zip beside the source with the files; the cell names one of them."
    )
    name: FileName | None = key(
        'The name of the file in the folder: columns in braces, and * for any text, for example "{ID}_*.pdf".'
    )
    several: Annotated[Several, OneOf()] | None = key("If several files have the name: error, newest or largest.")
    missing: Texts | None = key("Values of this column that are read as an empty cell.")


_SOURCES = ("column", "join", "value", "name")
# A key has no effect without the other one.
_NEEDED_BY = {
    "with": "join",
    "otherwise": "values",
    "group": "pattern",
    "take": "split",
    "name": "folder",
    "several": "folder",
}
_ONE = "keep one of them"
_EXCLUSIVE = (
    (("values", "before"), "write the whole text in the value table"),
    (("values", "after"), "write the whole text in the value table"),
    (("pick", "pattern"), _ONE),
    (("pick", "split"), _ONE),
    (("folder", "default"), "a blank cell has no document: fill it in, or use one document for every row with value:"),
    (("sheet", "file"), f"{_ONE}; sheet: under file: names a sheet of that file"),
)


class ValueSpec(Formats, _ValueKeys):
    """A value: from a column, alternative columns or joined columns, or a constant; and how its text is read."""

    short = "column"
    rules: ClassVar = {
        "oneOf": [{"required": [source]} for source in _SOURCES],
        "dependentRequired": {unused: [without] for unused, without in _NEEDED_BY.items()},
    }

    sheet: ChildSheet | None = key("Another sheet of the workbook, which contains the column.")
    file: ChildFile | None = key("Another file, which contains the column.")

    @property
    def columns(self) -> tuple[Text, ...]:
        """The columns that it is read from; empty for a constant."""
        return self.column or self.join or (self.name.columns if self.name else ())

    @property
    def separator(self) -> str | None:
        """What joined columns are separated by; None if they are not joined."""
        if self.name is not None:
            return ""
        if self.join is None:
            return None
        return " " if self.with_ is None else NEWLINE.get(self.with_, str(self.with_))

    @property
    def rows(self) -> ChildRows | None:
        """The rows of another table that it is looked up in."""
        return self.sheet or self.file

    @property
    def own_columns(self) -> tuple[Text, ...]:
        """Its columns in the row itself: of a lookup, the one that matches the key there."""
        return (self.rows.equals,) if self.rows else self.columns

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        return invalid(f"{node.name} must be a column or keys", "write several columns as {column: [a, b]}")

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        super().check_keys(node, reading)
        given = [source for source in _SOURCES if source in node]
        if not given:
            hint = 'enter a column name, or keys such as column: "E-mail"'
            reading.error("key-missing", f"{node.name} has no column, join or value", hint, node.place)
        elif len(given) > 1:
            exclude(node, given, _ONE, reading)
        for pair, hint in _EXCLUSIVE:
            if all(name in node for name in pair):
                exclude(node, pair, hint, reading)
        for typed in node if given else ():
            needed = _NEEDED_BY.get(typed)
            if needed and needed not in node:
                unused = f"without {needed}"
            elif given == ["value"] and typed in cls.known() and typed not in ("value", "present"):
                unused = "with a constant value"
            else:
                continue
            reading.error("key-not-applicable", f"{typed} has no effect {unused}", "remove it", typed.place)
        if "pattern" in node:
            _check_group(node, reading)


def _check_group(node: Keys, reading: Reader) -> None:
    place, group = node.key("pattern").place, node.value("group")
    try:
        names = expression(node[node.key("pattern")]).names
    except PydanticCustomError:  # reported when the value of the key is read
        return
    if group is None and len(names) > 1:
        hint = f"choose one of them, for example group: {names[0]}"
        reading.error("pattern-invalid", f"the pattern has several groups: {', '.join(names)}", hint, place)
    elif isinstance(group, Text) and group.strip() and group not in names:
        hint = did_you_mean(group, names)
        reading.error("pattern-invalid", f"'{group}' is not a group of the pattern", hint, group.place)


class AnswerKeys(Section):
    """Keys of an answer as a whole."""

    optional: Annotated[InvalidOptional, OneOf()] | None = key(
        "If the question is not required and the answer is invalid: hold the row back, or leave the answer out."
    )


class AnswerValue(AnswerKeys, ValueSpec):
    """A value that answers a question."""


class EndValue(ValueSpec):
    """The end date of an entry, which may be a word for an open end."""

    present: Texts = key("Words that mean an open end, for example Present, Halen, heute.")
