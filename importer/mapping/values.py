"""Values of the mapping language: where the text of one comes from, and how it is read.

Docstrings and `key(...)` are what an editor shows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, Tag
from pydantic_core import PydanticCustomError

from importer.mapping.nodes import Keys, Node, Reading, Text, texts_in
from importer.mapping.scalars import (
    Columns,
    DateFormats,
    Expression,
    FoldedWords,
    Languages,
    Pivot,
    Region,
    Separator,
    Table,
    character,
    expression,
)
from importer.mapping.shapes import (
    BY_FORM,
    AnyText,
    Filled,
    OneOf,
    Section,
    Texts,
    exclude,
    key,
    needed,
    refusal,
)
from importer.problems import LinePlace
from importer.text.dates import has_short_year
from importer.text.normalize import did_you_mean, normalize

# --- how cells are read -------------------------------------------------------------------------

Edge = Literal["first", "last"]
Part = Literal["first", "last", "start", "end"]  # of a full name; of a range of two values


class Surname(StrEnum):
    """Which words of a full name are the last name."""

    LAST_WORD = "last_word"
    FIRST_WORD = "first_word"
    CAPITALS = "capitals"
    BEFORE_COMMA = "before_comma"


class NameRule(Section):
    """How a full name is split."""

    surname: Annotated[Surname, OneOf()] = Surname.LAST_WORD
    particles: FoldedWords = frozenset()  # where they stand right before the last name, they belong to it: `van`
    suffixes: FoldedWords = frozenset()  # where they end the whole name, they belong to the last one: `Jr.`

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        if node.value("surname") == str(Surname.BEFORE_COMMA) and "particles" in node:
            message = "particles have no effect with surname: before_comma"
            reading.error("key-without-effect", message, "remove it", node.key("particles").place)


class Formats(Section):
    """How the texts of a column are read; None means that nothing was said here."""

    dates: DateFormats | None = key("Date formats, tried in order: %d.%m.%Y, %m/%Y, ...; YYYY-MM-DD is always read.")
    months: Languages | None = key("The languages of month names.")
    pivot: Pivot | None = key("The first of the hundred years that two-digit years (%y) belong to, for example 1950.")
    decimal: Annotated[str, character(".", ",")] | None = key("The decimal separator.")
    thousands: Annotated[str, character(".", ",", " ", "'", "’")] | None = key("The thousands separator.")
    region: Region | None = key("The country of phone numbers without +, as two letters: TR, DE, US.")
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
        """Where the first date format with a year of two digits is, which needs a pivot."""
        return next((text.place for text in self.dates or () if has_short_year(text)), None)

    def over(self, defaults: Formats) -> Formats:
        """These formats where something was said, else the defaults."""
        own = {name: getattr(self, name) for name in Formats.model_fields}
        said = {name: value for name, value in own.items() if value is not None}
        return defaults.model_copy(update=said) if said else defaults

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        decimal = node.value("decimal")
        if isinstance(decimal, Text) and decimal in (".", ",") and decimal == node.value("thousands"):
            message = f"decimal and thousands are both '{decimal}'"
            reading.error(
                "separators-identical", message, "use a different character for each", node.key("thousands").place
            )
        yes, no = ({normalize(text) for text in texts_in(node.value(name))} for name in ("yes", "no"))
        for word in sorted(yes & no):
            message = f"'{word}' is listed under both yes and no"
            reading.error("yes-no-overlap", message, "keep it under one of them", node.key("no").place)


class Repeated(StrEnum):
    """What becomes of rows with one e-mail: the first is sent, or none is."""

    FIRST = "first"
    ERROR = "error"


class UnusedColumns(StrEnum):
    """What to do about columns that no value is taken from."""

    IGNORE = "ignore"
    WARN = "warn"
    ERROR = "error"


class Defaults(Formats):
    """How every column is read, unless it says otherwise."""

    unused_columns: Annotated[UnusedColumns, OneOf()] = Field(
        default=UnusedColumns.WARN, description="What to do about columns that are not used."
    )
    duplicates: Annotated[Repeated, OneOf()] = Field(
        default=Repeated.FIRST, description="For rows with the same e-mail address: send the first, or none."
    )


# --- values -------------------------------------------------------------------------------------


class Otherwise(StrEnum):
    """What becomes of a text that neither a value table nor the options of its question know."""

    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"
    VALUE = "value"


class Replacement(Section):
    """The value of every text that is not under values."""

    value: Filled = needed("write otherwise: {value: ...}")


_OtherwiseWord = Literal[Otherwise.ERROR, Otherwise.KEEP, Otherwise.BLANK]
_Otherwise = Annotated[Annotated[_OtherwiseWord, OneOf(), Tag("text")] | Annotated[Replacement, Tag("keys")], BY_FORM]


class Take(StrEnum):
    """Which of the pieces of a split cell is the value."""

    FIRST = "first"
    FIRST_VALID = "first_valid"


class _ValueKeys(Section):
    column: Columns | None = key('The column, or several: the first that is filled in and valid. A letter: "=C".')
    join: Columns | None = key("Columns that are joined into one text; empty ones are skipped.")
    value: Filled | None = key("The same text for every row.")
    with_: AnyText | None = key("The separator between joined columns.", alias="with")
    pattern: Expression | None = key(
        "A regular expression with a named group, for example (?P<city>.+), that matches the whole cell."
    )
    group: Filled | None = key("The group of the pattern that is the value.")
    split: Separator | None = key("The separator between several values in one cell: a character, or newline.")
    take: Annotated[Take, OneOf()] | None = key("Which piece of a split cell is the value.")
    values: Table | None = key(
        "A table from the text of a cell to its value; or a CSV file with the header cell,value."
    )
    otherwise: _Otherwise | None = key("What to do with a text that is not under values.")
    part: Annotated[Part, OneOf()] | None = key("A part of a full name, or of a range of two values.")
    before: Filled | None = key("Text added before the cell, for example https://linkedin.com/in/.")
    after: Filled | None = key("Text added after the cell, for example @example.com.")
    default: AnyText | None = key("The value for an empty cell.")
    missing: Texts | None = key("Words of this column that are read as an empty cell.")


_SOURCES = ("column", "join", "value")
_NEEDED_BY = {"with": "join", "otherwise": "values", "group": "pattern", "take": "split"}  # no effect without it


class ValueSpec(Formats, _ValueKeys):
    """Where a value comes from and how its text is read: a column, alternatives, columns joined or a constant."""

    short = "column"
    rules: ClassVar = {
        "oneOf": [{"required": [source]} for source in _SOURCES],
        "dependentRequired": {idle: [without] for idle, without in _NEEDED_BY.items()},
    }

    @property
    def columns(self) -> tuple[Text, ...]:
        """The columns that it names; none where it is a constant."""
        return self.column or self.join or ()

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        message, hint = f"{node.name} must be a column or keys", "write several columns as {column: [a, b]}"
        return refusal("mapping-value-invalid", message, hint)

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        super().check_keys(node, reading)
        given = [source for source in _SOURCES if source in node]
        if not given:
            hint = 'enter a column name, or keys such as column: "E-mail"'
            reading.error("key-missing", f"{node.name} has no column, join or value", hint, node.place)
        elif len(given) > 1:
            exclude(node, given, "keep one of them", reading)
        else:
            _check_idle_keys(node, given[0], set(cls.known()), reading)
        for idle in ("take", "group"):
            if idle in node and _NEEDED_BY[idle] not in node:
                message = f"{idle} has no effect without {_NEEDED_BY[idle]}"
                reading.error("key-without-effect", message, "remove it", node.key(idle).place)
        if "pattern" in node:
            _check_group(node, reading)


def _check_idle_keys(node: Keys, source: str, known: set[str], reading: Reading) -> None:
    for affix in ("before", "after"):
        if "values" in node and affix in node:
            exclude(node, ["values", affix], "write the whole text in the value table", reading)
    for typed in node:
        idle = ""
        if typed == "with" and source != "join":
            idle = "without join"
        elif source == "value" and typed in known and typed not in ("value", "present"):
            idle = "with a constant value"
        elif typed == "otherwise" and "values" not in node:
            idle = "without values"
        if idle:
            reading.error("key-without-effect", f"{typed} has no effect {idle}", "remove it", typed.place)


def _check_group(node: Keys, reading: Reading) -> None:
    place, group = node.key("pattern").place, node.value("group")
    try:
        names = expression(node[node.key("pattern")]).names
    except PydanticCustomError:  # which is reported when the value of the key is read
        return
    if group is None and len(names) > 1:
        hint = f"choose one of them, for example group: {names[0]}"
        reading.error("pattern-group-invalid", f"the pattern has several groups: {', '.join(names)}", hint, place)
    elif isinstance(group, Text) and group.strip() and group not in names:
        hint = did_you_mean(group, names)
        reading.error("pattern-group-invalid", f"'{group}' is not a group of the pattern", hint, group.place)


class EndValue(ValueSpec):
    """The end date of an entry, which may have words of an open end."""

    present: Texts = key("Words that mean an open end: Present, Halen, heute.")
