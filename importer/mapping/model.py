"""The mapping language: its sections as pydantic models, which the reader and the JSON Schema are made from.

The order of the keys is that of messages. Docstrings and `key(...)` are what an editor shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from importer.mapping.nodes import Items, Keys, Node, Reading, Text
from importer.mapping.shapes import (
    AnyText,
    Character,
    Columns,
    DateFormats,
    Delimiter,
    Encoding,
    Expression,
    Filled,
    FoldedWords,
    Languages,
    Needed,
    Number,
    OneOf,
    Pivot,
    Region,
    RowNumbers,
    Section,
    Separator,
    Table,
    Texts,
    expression,
    key,
    refusal,
)
from importer.models import LinePlace, Operation, SourceOptions, Target
from importer.text.closest import did_you_mean
from importer.text.dates import has_short_year
from importer.text.normalize import normalize


def _text_or_keys(node: Node) -> str:
    return "text" if isinstance(node, Text) else "keys"


# --- how cells are read -------------------------------------------------------------------------

Edge = Literal["first", "last"]
Part = Literal["first", "last", "start", "end"]  # of a full name; of a range of two values
_EDGE = OneOf("first", "last")


class Surname(StrEnum):
    """Which words of a full name are the last name."""

    LAST_WORD = "last_word"
    FIRST_WORD = "first_word"
    CAPITALS = "capitals"
    BEFORE_COMMA = "before_comma"


class NameRule(Section):
    """How a full name is taken apart."""

    surname: Annotated[Surname, OneOf(*Surname)] = Surname.LAST_WORD
    particles: FoldedWords = frozenset()  # where they stand right before the last name, they belong to it: `van`
    suffixes: FoldedWords = frozenset()  # where they end the whole name, they belong to the last one: `Jr.`

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        if node.value("surname") == Text(Surname.BEFORE_COMMA, node.place) and node.has("particles"):
            message = "particles have no effect where the last name stands before a comma"
            reading.error("idle-key", message, "take it out", node.key("particles").place)


class Formats(Section):
    """How the texts of a column are read; None means that nothing was said here."""

    dates: DateFormats | None = key("Date formats, tried in order: %d.%m.%Y, %m/%Y, ...; YYYY-MM-DD is always read.")
    months: Languages | None = key("The languages of month names.")
    pivot: Pivot | None = key("The first of the hundred years that two-digit years (%y) lie in, which need it: 1950.")
    decimal: Annotated[str, Character(".", ",")] | None = key("The decimal sign.")
    thousands: Annotated[str, Character(".", ",", " ", "'", "’")] | None = key("The sign between thousands.")
    region: Region | None = key("The country of phone numbers without +, as two letters: TR, DE, US.")
    missing_day: Annotated[Edge, _EDGE] | None = key("What a month alone means: its first or its last day.")
    missing_month: Annotated[Edge, _EDGE] | None = key("What a year alone means: its first or its last month.")
    yes: Texts | None = key("Words that mean yes, beside yes, evet, ja, true, 1, x.")
    no: Texts | None = key("Words that mean no, beside no, hayır, nein, false, 0.")
    names: NameRule | None = key("How a full name is taken apart.")

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
            reading.error("same-sign", message, "give each its own sign", node.key("thousands").place)
        for word in sorted(_folded(node.value("yes")) & _folded(node.value("no"))):
            message = f"'{word}' is a word of both yes and no"
            reading.error("yes-and-no", message, "keep it in one of them", node.key("no").place)


def _folded(node: Node | None) -> set[str]:
    texts = node if isinstance(node, Items) else [node]
    return {normalize(text) for text in texts if isinstance(text, Text)}


# --- values -------------------------------------------------------------------------------------


class Otherwise(StrEnum):
    """What becomes of a text that neither a value table nor the options of its question know."""

    ERROR = "error"
    KEEP = "keep"
    BLANK = "blank"
    VALUE = "value"


class Replacement(Section):
    """The value of every text that is not under values."""

    value: Annotated[Filled, Needed("write otherwise: {value: ...}")]


class Take(StrEnum):
    """Which of the pieces of a split cell is the value."""

    FIRST = "first"
    FIRST_VALID = "first_valid"


class _ValueKeys(Section):
    column: Columns | None = key('The column, or several: the first that is filled in and valid. A letter: "=C".')
    join: Columns | None = key("Columns that become one text; empty ones are left out.")
    value: Filled | None = key("The same text for every row.")
    with_: AnyText | None = key("What stands between joined columns.", alias="with")
    pattern: Expression | None = key("A regular expression with a named group, as (?P<city>.+), for the whole cell.")
    group: Filled | None = key("The group of the pattern that is the value.")
    split: Separator | None = key("What stands between several values in one cell: a sign, or newline.")
    take: Annotated[Take, OneOf(*Take)] | None = key("Which piece of a split cell is the value.")
    values: Table | None = key("What cells say, and what it stands for; or a CSV file with the header cell,value.")
    otherwise: (
        Annotated[
            Annotated[Annotated[Otherwise, OneOf("error", "keep", "blank")], Tag("text")]
            | Annotated[Replacement, Tag("keys")],
            Discriminator(_text_or_keys),
        ]
        | None
    ) = key("What becomes of a text that is not under values.")
    part: Annotated[Part, OneOf("first", "last", "start", "end")] | None = key(
        "A part of a full name, or of a range of two values."
    )
    before: Filled | None = key("Put before what the cell says, as https://linkedin.com/in/.")
    after: Filled | None = key("Put behind what the cell says, as @example.com.")
    default: AnyText | None = key("Taken where the cell is empty.")
    missing: Texts | None = key("Words of this column that are read as an empty cell.")


_SOURCES = ("column", "join", "value")


class ValueSpec(Formats, _ValueKeys):
    """Where a value comes from and how its text is read: a column, alternatives, columns joined or a constant."""

    short = "column"
    rules: ClassVar = {
        "oneOf": [{"required": [source]} for source in _SOURCES],
        "dependentRequired": {"with": ["join"], "otherwise": ["values"], "group": ["pattern"], "take": ["split"]},
    }

    @property
    def columns(self) -> tuple[Text, ...]:
        """The columns that it names; none where it is a constant."""
        return self.column or self.join or ()

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        message, hint = f"{node.name} must be a column or keys", "write alternatives as {column: [a, b]}"
        return refusal("wrong-type", message, hint)

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        super().check_keys(node, reading)
        given = [source for source in _SOURCES if node.has(source)]
        if not given:
            hint = 'write a column name, or keys such as column: "E-mail"'
            reading.error("missing-key", f"{node.name} has no column, join or value", hint, node.place)
        elif len(given) > 1:
            _exclude(node, given, "keep one of them", reading)
        else:
            _check_idle_keys(node, given[0], set(cls.known()), reading)
        for idle, without in (("take", "split"), ("group", "pattern")):
            if node.has(idle) and not node.has(without):
                message = f"{idle} has no effect without {without}"
                reading.error("idle-key", message, "take it out", node.key(idle).place)
        if node.has("pattern"):
            _check_group(node, reading)


def _exclude(node: Keys, given: list[str], hint: str, reading: Reading) -> None:
    message = f"{node.name} has {' and '.join(given)}"
    reading.error("keys-exclude", message, hint, node.key(given[1]).place)


def _check_idle_keys(node: Keys, source: str, known: set[str], reading: Reading) -> None:
    for affix in ("before", "after"):
        if node.has("values") and node.has(affix):
            _exclude(node, ["values", affix], "write the whole text in the value table", reading)
    for typed in node:
        without = ""
        if typed == "with" and source != "join":
            without = "without join"
        elif typed == "otherwise" and source != "value" and not node.has("values"):
            without = "without values"
        elif source == "value" and typed in known and typed not in ("value", "present"):
            without = "beside a constant value"
        if without:
            reading.error("idle-key", f"{typed} has no effect {without}", "take it out", typed.place)


def _check_group(node: Keys, reading: Reading) -> None:
    place, group = node.key("pattern").place, node.value("group")
    try:
        names = expression(node[node.key("pattern")]).names
    except PydanticCustomError:  # which is reported when the value of the key is read
        return
    if group is None and len(names) > 1:
        hint = f"say which one is the value, as group: {names[0]}"
        reading.error("pattern-groups", f"the pattern has the groups {', '.join(names)}", hint, place)
    elif isinstance(group, Text) and group.strip() and group not in names:
        hint = did_you_mean(group, names)
        reading.error("pattern-groups", f"'{group}' is no group of the pattern", hint, group.place)


class EndValue(ValueSpec):
    """The end date of an entry, which may have words of an open end."""

    present: Texts = key("Words of an open end: Present, Halen, heute.")


# --- rows of the source -------------------------------------------------------------------------


class Filter(Section):
    """Only rows whose column says (or does not say) one of the words."""

    rules: ClassVar = {"oneOf": [{"required": ["is"]}, {"required": ["is_not"]}]}

    column: Annotated[Filled, Needed("name the column to filter by")]
    is_: Texts | None = key("The words.", alias="is")
    is_not: Texts | None = key("The words of rows that do not count.")

    @property
    def words(self) -> tuple[str, ...]:
        return self.is_ or self.is_not or ()

    @property
    def negated(self) -> bool:
        return self.is_not is not None

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        if node.has("is") == node.has("is_not"):
            message = f"{node.name} has is and is_not" if node.has("is") else f"{node.name} has neither is nor is_not"
            reading.error("where-words", message, "keep one of them, with a list of words", node.place)


class GroupBy(Section):
    """Rows that say the same in this column are one candidate."""

    short = "column"

    column: Annotated[Filled, Needed("name the column that says the same in all rows of a candidate")]
    blank: Annotated[Literal["continues"], OneOf("continues")] | None = key("A blank row belongs to the one above.")
    main: Filter | None = key("The rows that hold the candidate's own cells.")


class _RowKeys(Section):
    header_row: Number | None = key("The row with the column names, as the spreadsheet program numbers it.")
    header_rows: Number | None = key("How many rows the header has; header_row is the first of them.")
    skip_rows: RowNumbers = key("Rows that are not read: 4, or 4-6.")
    stop_at: Filled | None = key("The table ends before the row whose first filled cell is this.")
    hidden_rows: Annotated[Literal["read", "skip"], OneOf("read", "skip")] | None = key("Whether hidden rows are read.")

    def options(self, sheet: Text | None) -> SourceOptions:
        """How the file is read."""
        said = {name: getattr(self, name) for name in (*_RowKeys.model_fields, *_FileKeys.model_fields)
                if getattr(self, name, None) is not None}  # fmt: skip
        said |= {"stop_at": str(self.stop_at)} if self.stop_at else {}
        return SourceOptions(sheet=str(sheet) if sheet else None, **said)


class _FileKeys(_RowKeys):
    encoding: Encoding | None = key("Of a CSV: utf-8, cp1254, cp1252, utf-16, ...")
    delimiter: Delimiter | None = key('Of a CSV: what stands between two columns: ";", ",", tab.')
    longest_cell: Number | None = key("The most characters that a cell of a CSV may hold.")


class _SheetKey(Section):
    sheet: Filled | None = key("The sheet, by its name; 1 is the first visible one.")


class Source(_FileKeys, _SheetKey):
    """How the file is read, and which rows count."""

    missing: Texts = key("Words that are read as an empty cell.")
    where: Filter | None = key("Which rows are imported.")
    group_by: GroupBy | None = key("Which rows are one candidate.")


# --- entries ------------------------------------------------------------------------------------


class EntryKind(StrEnum):
    """The two kinds of entries (service description 2.3 and 2.4)."""

    EDUCATION = "education"
    EXPERIENCE = "experience"


class EntryOrder(StrEnum):
    """In which order entries are sent."""

    KEPT = "kept"
    NEWEST_FIRST = "newest_first"
    OLDEST_FIRST = "oldest_first"


PLACEHOLDER = "{n}"
_REPEAT_HINT = f'write repeat: "{PLACEHOLDER}", and {PLACEHOLDER} in each column name'


def _placeholder(text: Text) -> Text:
    if text != PLACEHOLDER:
        raise refusal("repeat-form", f"'{text}' is no form of repeat", _REPEAT_HINT)
    return text


class Repeat(Section):
    """Numbered column groups, counted from the header: {n} stands for the number."""

    short = "number"
    short_rules: ClassVar = {"enum": [PLACEHOLDER]}

    number: Annotated[AnyText, AfterValidator(_placeholder), WithJsonSchema({"enum": [PLACEHOLDER]})] | None = key(
        "What stands for the number."
    )
    first: Annotated[Literal["unnumbered"], OneOf("unnumbered")] | None = key("The first group carries no number.")

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        return refusal("wrong-type", "repeat must be a text or keys", _REPEAT_HINT)


def _repeat(node: Node) -> Node:
    if isinstance(node, Keys) and list(node) == ["n"]:  # {n} without quotes
        raise Repeat.wrong_shape(node)
    return node


@dataclass(frozen=True, slots=True)
class ChildSource:
    """Another table that entries are taken from: a sheet of the same workbook (`file` is None), or a file beside the
    source, read by its own options."""

    file: str | None
    options: SourceOptions

    def __str__(self) -> str:
        return self.file or self.options.sheet or ""


def _file_name(text: Text) -> Text:
    if "\0" in text:
        raise refusal("wrong-type", f"{text.name} holds a NUL, which no file's does", "take it out")
    return text


class ChildRows(Section):
    """The rows of another table whose `key` says what `equals` says in the row."""

    name: Annotated[Filled, AfterValidator(_file_name), Needed("name it, as name: Jobs")]
    key_: Annotated[Filled, Needed("name its column that says whose entry a row is")] = Field(
        alias="key", description="The column there that says whose entry a row is."
    )
    equals: Annotated[Filled, Needed("name the column of the main table that says the same as key")] = Field(
        description="The column of the main table that says the same."
    )
    order_by: Filled | None = key("The column there that holds the order.")

    @property
    def source(self) -> ChildSource:
        raise NotImplementedError


class ChildSheet(_RowKeys, ChildRows):
    """Entries on a sheet of their own."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(None, self.options(self.name))


class ChildFile(_FileKeys, _SheetKey, ChildRows):
    """Entries in a file of their own."""

    @property
    def source(self) -> ChildSource:
        return ChildSource(str(self.name), self.options(self.sheet))


class CellPieces(Section):
    """All entries in one cell, each of which must fit a pattern whole."""

    column: Annotated[Filled, Needed("name the column that holds the entries")]
    split: Annotated[Separator, Needed('say what stands between two entries, as split: ";" or split: newline')] = Field(
        description="What stands between two entries: a sign, or newline."
    )
    pattern: Annotated[Expression, Needed("say what an entry looks like, as '(?P<company>.+), .+'")] = Field(
        description="What one entry looks like; its named groups are the fields."
    )


class ParallelLists(Section):
    """Lists side by side, which belong together by position, or by the number that each item ends in."""

    split: Annotated[Separator, Needed('say what stands between two items, as split: ";" or split: json')] = Field(
        description="What stands between two items; json where a list is written as JSON or as Python prints it."
    )
    numbered: Annotated[Literal["true", "false"], OneOf("true", "false")] | None = key(
        "Each item ends in its number, as Lead[1]."
    )


AllRows = Literal["all"]
EntriesSource = Repeat | ChildRows | Filter | AllRows | CellPieces | Text | ParallelLists | None


class EntriesSpec(Section):
    """Entries packed into one answer. Without a key that says where they come from, the row itself holds one."""

    kind: ClassVar[EntryKind]

    repeat: Annotated[Repeat, BeforeValidator(_repeat)] | None = key("Numbered column groups.")
    sheet: ChildSheet | None = key("Entries on a sheet of their own.")
    file: ChildFile | None = key("Entries in a file of their own.")
    rows: (
        Annotated[
            Annotated[
                Annotated[AllRows, OneOf("all", hint="write rows: all, or rows: {column: ..., is: ...}")], Tag("text")
            ]
            | Annotated[Filter, Tag("keys")],
            Discriminator(_text_or_keys),
        ]
        | None
    ) = key("Each row of the candidate may hold an entry.")
    cell: CellPieces | None = key("All entries in one cell.")
    json_: Filled | None = key("A column with a list, as JSON or as Python prints it.", alias="json")
    lists: ParallelLists | None = key("Lists side by side.")
    order: Annotated[EntryOrder, OneOf(*EntryOrder)] | None = key("The order in which entries are sent.")

    @property
    def source(self) -> EntriesSource:
        """Where the entries come from; None: one from the row itself."""
        return self.repeat or self.sheet or self.file or self.rows or self.cell or self.json_ or self.lists

    @property
    def fields(self) -> dict[Text, ValueSpec]:
        """The fields by their keys, in the order of the service description."""
        values = {name: getattr(self, name) for name in ENTRY_FIELDS[self.kind]}
        return {self.key(name): value for name, value in values.items() if value is not None}

    @classmethod
    def listed(cls, node: Keys, reading: Reading) -> list[str]:
        return [*ENTRY_SOURCES, *ENTRY_FIELDS[cls.kind], "order"]

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        given = [source for source in ENTRY_SOURCES if node.has(source)]
        if len(given) > 1:
            _exclude(node, given, "keep one of them", reading)


ENTRY_SOURCES = ("repeat", "sheet", "file", "rows", "cell", "json", "lists")
_EACH = Needed("each entry needs its name")


class Education(EntriesSpec):
    """Schools and degrees."""

    kind = EntryKind.EDUCATION

    school_name: Annotated[ValueSpec, _EACH]
    degree: ValueSpec | None = None
    major: ValueSpec | None = None
    start_date: ValueSpec | None = None
    end_date: EndValue | None = None
    currently_pursuing: ValueSpec | None = None


class Experience(EntriesSpec):
    """Jobs."""

    kind = EntryKind.EXPERIENCE

    company_name: Annotated[ValueSpec, _EACH]
    position_title: ValueSpec | None = None
    employment_type: ValueSpec | None = None
    start_date: ValueSpec | None = None
    end_date: EndValue | None = None
    currently_employed: ValueSpec | None = None


ENTRY_FIELDS: dict[EntryKind, tuple[str, ...]] = {
    model.kind: tuple(name for name in model.model_fields if name not in EntriesSpec.model_fields)
    for model in (Education, Experience)
}


class EducationAnswer(Section):
    """Entries of education, packed into one answer."""

    education: Annotated[Education, Needed("")]


class ExperienceAnswer(Section):
    """Entries of experience, packed into one answer."""

    experience: Annotated[Experience, Needed("")]


# --- the whole file -----------------------------------------------------------------------------

_VERSION = "1"


def _version(text: Text) -> str:
    if text != _VERSION:
        message = f"version {text} of the mapping language is not known"
        raise refusal("unknown-version", message, f"write version: {_VERSION}")
    return str(text)


def _target_id(operation: Operation, hint: str) -> AfterValidator:
    def check(text: Text) -> Text:
        try:
            Target(operation, str(text))
        except ValueError as error:
            raise refusal("target-id", str(error), hint) from None
        return text

    return AfterValidator(check)


class TargetKeys(Section):
    """Where the candidates go."""

    rules: ClassVar = {"minProperties": 1, "maxProperties": 1}

    job_post: (
        Annotated[
            Filled,
            _target_id(Operation.APPLY, "give the hash of the job post: letters, digits, _ and -"),
            WithJsonSchema({"type": ["string", "number"], "pattern": "^[A-Za-z0-9_-]{1,128}$"}),
        ]
        | None
    ) = key("The hash of the job post.")
    talent_pool: (
        Annotated[
            Filled,
            _target_id(Operation.ADD_TO_POOL, "give the number of the talent pool, in digits"),
            WithJsonSchema({"type": ["string", "integer"], "pattern": "^[0-9]{1,18}$"}),
        ]
        | None
    ) = key("The number of the talent pool.")

    @property
    def target(self) -> Target:
        if self.job_post is not None:
            return Target(Operation.APPLY, str(self.job_post))
        return Target(Operation.ADD_TO_POOL, str(self.talent_pool))

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        given = [name for name in cls.model_fields if node.has(name)]
        if len(given) == 1:
            reading.operation = Operation.APPLY if given[0] == "job_post" else Operation.ADD_TO_POOL
        else:
            message = "target has job_post and talent_pool" if given else "target has neither job_post nor talent_pool"
            reading.error("target-count", message, "give one of them", node.place)


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

    unused_columns: Annotated[UnusedColumns, OneOf(*UnusedColumns)] = Field(
        default=UnusedColumns.WARN, description="What is done about columns that nothing uses."
    )
    duplicates: Annotated[Repeated, OneOf(*Repeated)] = Field(
        default=Repeated.FIRST, description="Of two rows with one e-mail the first is sent, or neither."
    )


class Candidate(Section):
    """Who the candidate is."""

    rules: ClassVar = {"required": []}  # a shared part may hold some of them; see the whole file

    email: Annotated[ValueSpec, Needed("name its column, as email: ...")] = Field(description="The e-mail address.")
    first_name: Annotated[ValueSpec, Needed("name its column, as first_name: ...")] = Field(
        description="The first name."
    )
    last_name: Annotated[ValueSpec, Needed("name its column, as last_name: ...")] = Field(description="The last name.")
    cv: Annotated[ValueSpec, Needed("name its column, as cv: ...")] = Field(
        description="The document ID of an uploaded CV."
    )
    terms_of_use: ValueSpec | None = key("Whether the terms of use were accepted (job posts).")
    source_platform: ValueSpec | None = key("Where the candidate comes from (talent pools).")

    @property
    def fields(self) -> dict[Text, ValueSpec]:
        """The fields by their keys."""
        values = {name: getattr(self, name) for name in Candidate.model_fields}
        return {self.key(name): value for name, value in values.items() if value is not None}

    @classmethod
    def listed(cls, node: Keys, reading: Reading) -> list[str]:
        foreign = _FOREIGN.get(reading.operation, ("", ""))[0]
        return [name for name in cls.model_fields if name != foreign or node.has(name)]

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        name, message = _FOREIGN.get(reading.operation, ("", ""))
        if name and node.has(name):
            reading.error("foreign-key", message, "take it out", node.key(name).place)


_FOREIGN: dict[Operation | None, tuple[str, str]] = {
    Operation.APPLY: ("source_platform", "a job application has no source_platform"),
    Operation.ADD_TO_POOL: ("terms_of_use", "a talent pool has no terms_of_use"),
}


class SeenQuestion(Section):
    """A question as it was when the mapping was written, named as under answers; ids differ for each job post."""

    text: AnyText | None = None
    answer_type: Annotated[Filled, Needed("give the question's answer type")]
    question_type: AnyText | None = None
    required: AnyText | None = None
    options: Texts = ()

    @property
    def is_required(self) -> bool:
        return self.required is not None and normalize(self.required) in ("true", "yes")

    @classmethod
    def name_of(cls, node: Keys) -> str:
        return f"'{node.name}' under questions_seen"


def _keys(node: Node) -> Keys:
    if not isinstance(node, Keys):
        hint = "write 'key: value', one to a line, indented"
        raise refusal("wrong-type", f"{node.name} must be keys and values", hint)
    return node


def _answer_form(node: Node) -> str:
    return next(iter(node)) if isinstance(node, Keys) and len(node) == 1 and set(node) <= set(EntryKind) else "value"


Answer = Annotated[
    Annotated[ValueSpec, Tag("value")]
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
    """Which column of a spreadsheet answers which question of a job post, or fills which field of a talent pool
    candidate."""

    rules: ClassVar = _WHOLE_FILE

    version: Annotated[
        Filled, AfterValidator(_version), WithJsonSchema({"enum": [1, _VERSION]}), Needed(f"add version: {_VERSION}")
    ] = Field(description="The version of this language: 1.")
    extends: Filled | None = key("A file with what several mappings share; what stands here is laid over it.")
    without: Texts | None = key("Answers of the shared part that this mapping does not take.")
    target: Annotated[TargetKeys, Needed("add target: {job_post: ...} or target: {talent_pool: ...}")]
    route: Filter | None = key("Which rows of an export to several targets are those of this one.")
    source: Source = Source.model_construct()
    defaults: Defaults = Defaults.model_construct()
    candidate: Annotated[Candidate, Needed("add candidate: with email, first_name, last_name and cv")]
    answers: Annotated[dict[AnyText, Answer], BeforeValidator(_keys)] = Field(
        default={},
        description='What the candidate answers: on the left a question_key, "text: ..." or "id: ...".',
    )
    questions_seen: Annotated[dict[AnyText, SeenQuestion], BeforeValidator(_keys)] | None = key(
        "What the job post asked when the file was written; `importer mapping check` compares."
    )

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        route, answers, target = node.value("route"), node.value("answers"), node.value("target")
        if isinstance(route, Keys) and route.has("is_not") and not route.has("is"):
            message = "route has is_not, which could take rows of another mapping"
            reading.error("route-negated", message, "write is: with its own words", route.place)
        if answers is not None and isinstance(target, Keys) and list(target) == ["talent_pool"]:
            hint = "take answers: out, or give a job post as target"
            message, place = "a talent pool has no questions to answer", node.key("answers").place
            reading.error("answers-of-pool", message, hint, place)
        for name in answers if isinstance(answers, Keys) else ():
            if not question_name(name)[1]:
                reading.error("question-blank", f"'{name}' names no question", "give its key, text: or id:", name.place)


# --- the mapping --------------------------------------------------------------------------------


class QuestionBy(StrEnum):
    """What a question is named by."""

    KEY = "key"
    TEXT = "text"
    ID = "id"


def question_name(given: Text) -> tuple[QuestionBy, Text]:
    """What a key under `answers` names a question by, and its name."""
    typed = given.strip()
    by = next((by for by in (QuestionBy.TEXT, QuestionBy.ID) if typed.casefold().startswith(f"{by}:")), QuestionBy.KEY)
    return by, Text(typed if by is QuestionBy.KEY else typed[len(by) + 1 :].strip(), given.place)


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """A question, named by key, text or id, and what answers it."""

    by: QuestionBy
    question: Text
    content: ValueSpec | EntriesSpec


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A mapping file as read; two of them are the same only if they are the same object.

    answers_place: where a missing answer belongs. questions_seen: None where the file does not say what was asked when
    it was written. content: the very bytes that it was read from, as one file that needs no other.
    """

    path: Path
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
    questions_seen: dict[Text, SeenQuestion] | None
    content: bytes

    @property
    def child_sources(self) -> tuple[ChildSource, ...]:
        """The other tables that entries are taken from, each once."""
        sources = [answer.content.source for answer in self.answers if isinstance(answer.content, EntriesSpec)]
        return tuple(dict.fromkeys(source.source for source in sources if isinstance(source, ChildRows)))


def mapping_of(file: MappingFile, path: Path, content: bytes) -> Mapping:
    """The mapping that a file says."""
    return Mapping(
        path=path,
        target=file.target.target,
        target_place=file.key("target").place,
        source=file.source.options(file.source.sheet),
        missing=file.source.missing or (),
        where=file.source.where,
        group_by=file.source.group_by,
        route=file.route,
        defaults=file.defaults,
        candidate=file.candidate.fields,
        answers=tuple(_answers(file)),
        answers_place=file.key("answers" if file.has("answers") else "target").place,
        questions_seen=file.questions_seen,
        content=content,
    )


def _answers(file: MappingFile) -> Iterator[AnswerSpec]:
    for typed, answer in file.answers.items():
        by, name = question_name(typed)
        if isinstance(answer, EducationAnswer):
            yield AnswerSpec(by, name, answer.education)
        elif isinstance(answer, ExperienceAnswer):
            yield AnswerSpec(by, name, answer.experience)
        else:
            yield AnswerSpec(by, name, answer)
