"""What a mapping file is made of, as pydantic types over its nodes: each says in a sentence what is wrong with one.

A type that refuses a node raises `refusal`; pydantic collects these, and `report` places each where its node stands.
What depends on the keys that are there (unknown, missing, idle ones) is reported by the section before its values are
read, so that one wrong value hides nothing.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from importer.mapping.files import TableEntry, read_table_file
from importer.mapping.linear_pattern import LinearPattern, NotLinear, linear_pattern
from importer.mapping.nodes import Items, Keys, Node, Reading, Text
from importer.models import LinePlace
from importer.text.closest import did_you_mean
from importer.text.dates import COUNTS, LANGUAGES, tokens
from importer.text.normalize import normalize

# --- refusals -----------------------------------------------------------------------------------


def refusal(code: str, message: str, hint: str, place: LinePlace | None = None) -> PydanticCustomError:
    """What to raise of a node: it is reported at the node's place, or at another one."""
    return PydanticCustomError(code, "{message}", {"message": message, "hint": hint, "place": place})


def report(error: ValidationError, reading: Reading) -> None:
    """Report what pydantic collected. What it says itself of keys, the sections have said already."""
    for one in error.errors():
        if one["type"] not in ("missing", "extra_forbidden"):
            context = one["ctx"]
            reading.error(one["type"], context["message"], context["hint"], context["place"] or one["input"].place)


def _reading(info: ValidationInfo) -> Reading:
    if not isinstance(info.context, Reading):
        raise TypeError("a mapping file is validated with its Reading as context")
    return info.context


# --- texts --------------------------------------------------------------------------------------

_TEXT: Final[dict[str, Any]] = {"type": ["string", "number", "boolean"]}  # an editor reads YAML's own kinds
_FILLED: Final[dict[str, Any]] = {**_TEXT, "pattern": r"\S"}
_ROW: Final[dict[str, Any]] = {"type": ["integer", "string"], "minimum": 1, "pattern": "^[0-9]{1,9}$"}


def _text(node: Node) -> Text:
    if isinstance(node, Text):
        return node
    hint = "write it in quotes" if isinstance(node, Keys) else "give one text"
    raise refusal("wrong-type", f"{node.name} must be a text", hint)


def _filled(node: Node) -> Text:
    text = _text(node)
    if not text.strip():
        raise refusal("wrong-type", f"{text.name} is blank", "give a text, or take the key out")
    return text


AnyText = Annotated[Text, PlainValidator(_text), WithJsonSchema(_TEXT)]
Filled = Annotated[Text, PlainValidator(_filled), WithJsonSchema(_FILLED)]


def _listed(node: Node) -> list[Node]:
    if isinstance(node, Text):
        return [node]
    if isinstance(node, Keys):
        message = f"{node.name} must be a text or a list of texts"
        raise refusal("wrong-type", message, "write it in quotes, or as [a, b]")
    if not node:
        raise refusal("wrong-type", f"{node.name} is an empty list", "give at least one text")
    return list(node)


def _one_or_more(item: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [item, {"type": "array", "minItems": 1, "items": item}]})


def _column(text: Text) -> Text:
    if not text.strip():
        name = text.name.removeprefix("each item of ")
        raise refusal("wrong-type", f"{name} is blank", 'name a column, or give its letter as "=C"')
    return text


def _folded(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(normalize, texts))


_ListOfText = BeforeValidator(_listed)
Texts = Annotated[tuple[AnyText, ...], _ListOfText, _one_or_more(_TEXT)]
Columns = Annotated[
    tuple[Annotated[AnyText, AfterValidator(_column)], ...], _ListOfText, _one_or_more(_FILLED)
]  # fmt: skip
FoldedWords = Annotated[frozenset[AnyText], _ListOfText, AfterValidator(_folded), _one_or_more(_TEXT)]


class OneOf:
    """A type of few words, an enumeration or literals, as `Annotated[Take, OneOf(*Take)]`."""

    def __init__(self, *words: str, hint: str = "") -> None:
        self._words = [str(word) for word in words]
        self._hint = hint

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(node: Node) -> str:
            text = _text(node)
            if text not in self._words:
                hint = self._hint or did_you_mean(text, self._words)
                raise refusal("unknown-word", f"'{text}' is no value of {text.name}", hint)
            return source(str(text)) if isinstance(source, type) else str(text)

        return core_schema.no_info_plain_validator_function(read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": [*self._words, *(word == "true" for word in self._words if word in ("true", "false"))]}


# --- numbers ------------------------------------------------------------------------------------

_ROW_RANGE = re.compile(r"([1-9][0-9]{0,6})(?:\s*-\s*([1-9][0-9]{0,6}))?")
_MOST_ROWS = 10_000  # that one mapping may leave out by number
_FIRST_PIVOT, _LAST_PIVOT = 1900, 2001


def _number(node: Node) -> int:
    text = _text(node)
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0):
        raise refusal("no-number", f"{text.name} must be a whole number from 1", "write it in digits")
    return int(text)


def _pivot(node: Node) -> int:
    year = _number(node)
    if not _FIRST_PIVOT <= year <= _LAST_PIVOT:
        message = f"{node.name} must be a year from {_FIRST_PIVOT} to {_LAST_PIVOT}"
        hint = "give the first of the hundred years that two-digit years lie in, as 1950"
        raise refusal("pivot-year", message, hint)
    return year


def _row_range(text: Text) -> range:
    found = _ROW_RANGE.fullmatch(text.strip())
    first = int(found[1]) if found else 0
    last = int(found[2] or first) if found else 0
    if not 0 < first <= last < first + _MOST_ROWS:
        raise refusal("no-row-number", f"'{text}' is no row number and no range of them", "write it like 2 or 4-6")
    return range(first, last + 1)


def _row_numbers(ranges: Iterable[range]) -> tuple[int, ...]:
    return tuple(sorted({number for one in ranges for number in one}))


Number = Annotated[int, PlainValidator(_number), WithJsonSchema(_ROW)]
Pivot = Annotated[
    int, PlainValidator(_pivot), WithJsonSchema({**_ROW, "minimum": _FIRST_PIVOT, "pattern": "^[0-9]{4}$"})
]  # fmt: skip
RowNumbers = Annotated[
    tuple[Annotated[Any, PlainValidator(lambda node: _row_range(_text(node)))], ...],
    _ListOfText,
    AfterValidator(_row_numbers),
    _one_or_more({**_ROW, "pattern": "^ *[0-9]+( *- *[0-9]+)? *$"}),
]

# --- characters and encodings -------------------------------------------------------------------

NEWLINE: Final = {"newline": "\n"}  # the word for what cannot be seen
_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_SOME_TEXT: Final[dict[str, Any]] = {"type": "string", "minLength": 1}


def _separator(node: Node) -> str:
    text = _text(node)
    if not text:
        raise refusal("wrong-type", f"{text.name} is blank", 'write the sign in quotes, as ";"')
    return NEWLINE.get(text, str(text))


def _delimiter(node: Node) -> str:
    text = _text(node)
    character = _DELIMITERS.get(text.casefold(), str(text))
    if len(character) != 1 or character.isalnum() or character in '"\r\n':
        raise refusal("unknown-sign", f"'{text}' is no delimiter", 'give one sign in quotes, as ";" or "tab"')
    return character


def _encoding(node: Node) -> str:
    text = _filled(node)
    try:
        "".encode(text)
    except (LookupError, ValueError):
        hint = "use one such as utf-8, cp1254, cp1252 or utf-16"
        raise refusal("unknown-encoding", f"'{text}' is no encoding", hint) from None
    return str(text)


class Character:
    """One of a few characters, as `Annotated[str, Character(".", ",")]`; spaces of all kinds are one."""

    def __init__(self, *known: str) -> None:
        self._known = known

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": [*self._known, *("\u00a0\u202f" if " " in self._known else "")]}

    def _read(self, node: Node) -> str:
        text = _text(node)
        character = text.replace("\u00a0", " ").replace("\u202f", " ")
        if character not in self._known:
            quoted = " ".join(f'"{one}"' for one in self._known)
            raise refusal("unknown-sign", f"'{text}' is no {text.name} sign", f"use one of {quoted}")
        return character


Separator = Annotated[str, PlainValidator(_separator), WithJsonSchema(_SOME_TEXT)]
Delimiter = Annotated[str, PlainValidator(_delimiter), WithJsonSchema(_SOME_TEXT)]
Encoding = Annotated[str, PlainValidator(_encoding), WithJsonSchema(_SOME_TEXT)]

# --- dates, months, regions ---------------------------------------------------------------------

_DATE_HINT = "write it like %d.%m.%Y; the codes are %d %m %Y %y %b %B %H %I %M %S %f %p; or give one of "
# ISO 3166-1 alpha-2, the regions that a phone number may be of
_CODES = (
    "AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC "
    "CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB "
    "GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH "
    "KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV "
    "MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB "
    "SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US "
    "UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"
)
_REGIONS = frozenset(_CODES.split())


def _date_format(text: Text) -> Text:
    try:
        if text not in COUNTS:
            tokens(text)
    except ValueError as error:
        raise refusal("date-format", str(error), _DATE_HINT + ", ".join(COUNTS)) from None
    return text


def _language(text: Text) -> Text:
    if text not in LANGUAGES:
        raise refusal("unknown-language", f"'{text}' is no language of months", did_you_mean(text, LANGUAGES))
    return text


def _region(node: Node) -> str:
    text = _text(node)
    if text.upper() not in _REGIONS:
        hint = "did you mean 'GB'?" if text.upper() == "UK" else "use two letters such as TR, DE or US"
        raise refusal("unknown-region", f"'{text}' is no region", hint)
    return text.upper()


DateFormats = Annotated[
    tuple[Annotated[AnyText, AfterValidator(_date_format)], ...],
    _ListOfText,
    _one_or_more({"type": "string", "pattern": f"%[Yy]|^({'|'.join(COUNTS)})$"}),
]
Languages = Annotated[
    tuple[Annotated[AnyText, AfterValidator(_language)], ...], _ListOfText, _one_or_more({"enum": list(LANGUAGES)})
]  # fmt: skip
Region = Annotated[str, PlainValidator(_region), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z]{2}$"})]

# --- patterns -----------------------------------------------------------------------------------

_PATTERN_HINT = "name the part you want, as (?P<city>.+), and put the pattern in single quotes"


def expression(node: Node) -> LinearPattern:
    """A regular expression with at least one named group, which no text keeps busy for long."""
    text = _filled(node)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python may read otherwise one day is refused today
            found = re.compile(text)
    except (re.error, RecursionError, OverflowError, FutureWarning, DeprecationWarning) as error:
        message = f"{text.name} is no regular expression: {error}"
        raise refusal("pattern-broken", message, _PATTERN_HINT) from None
    if not found.groupindex:
        raise refusal("pattern-groupless", f"{text.name} has no named group", _PATTERN_HINT)
    try:
        return linear_pattern(found)
    except NotLinear as error:
        message = f"{text.name} cannot be matched in bounded time: {error}"
        raise refusal("pattern-unbounded", message, error.hint) from None


Expression = Annotated[
    LinearPattern, PlainValidator(expression), WithJsonSchema({"type": "string", "pattern": r"\(\?P<"})
]  # fmt: skip

# --- value tables -------------------------------------------------------------------------------


def _table(node: Node, info: ValidationInfo) -> tuple[TableEntry, ...]:
    """The lines of a table, inline or in a CSV file; two that are the same text must mean the same."""
    reading = _reading(info)
    if isinstance(node, Text) and node.strip():
        lines = read_table_file(node, reading)
    elif isinstance(node, Keys):
        lines = tuple(_inline(node, reading))
    else:
        message, hint = f"{node.name} must be keys and values", "write what the cell says: what it stands for"
        raise refusal("wrong-type", message, hint)
    entries: dict[str, TableEntry] = {}
    for line in lines:
        first = entries.setdefault(normalize(line.cell), line)
        if first.target != line.target:
            message = f"'{first.cell}' and '{line.cell}' are the same text and stand for different values"
            hint = f"keep one; the other is in line {first.cell.place.line}"
            reading.error("values-collide", message, hint, line.cell.place)
    return tuple(entries.values())


def _inline(node: Keys, reading: Reading) -> Iterable[TableEntry]:
    for cell, target in node.items():
        if isinstance(target, Text):
            yield TableEntry(cell, target)
        else:
            hint = "write it in quotes" if isinstance(target, Keys) else "give one text"
            reading.error("wrong-type", f"'{cell}' under {node.name} must be a text", hint, target.place)


Table = Annotated[
    tuple[TableEntry, ...],
    PlainValidator(_table),
    WithJsonSchema({"anyOf": [{"type": "object", "additionalProperties": _TEXT}, _FILLED]}),
]

# --- keys and values ----------------------------------------------------------------------------


class Needed:
    """Marks a key that must be there: `hint` says what to do where it is not."""

    def __init__(self, hint: str) -> None:
        self.hint = hint


def key(says: str, alias: str | None = None) -> Any:
    """A key that may be left out, and what an editor says of it."""
    return Field(default=None, description=says, alias=alias)


class Section(BaseModel):
    """Keys and values of the file as a value that knows its place."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)
    short: ClassVar[str] = ""  # the key that a text by itself stands for
    short_rules: ClassVar[dict[str, Any]] = _FILLED  # of the JSON Schema, for such a text
    rules: ClassVar[dict[str, Any]] = {}  # of the JSON Schema, beside what follows from the keys
    _node: Keys = PrivateAttr()

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def place(self) -> LinePlace:
        return self._node.place

    def key(self, name: str) -> Text:
        """A key as it stands in the file; it must be there."""
        return self._node.key(name)

    def has(self, name: str) -> bool:
        """Whether a key stands in the file."""
        return self._node.has(name)

    def place_of(self, name: str) -> LinePlace:
        """Where the value of a key stands, which must be there."""
        return self._node[self.key(name)].place

    @classmethod
    def known(cls) -> dict[str, Any]:
        """The fields by their keys in the file."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def name_of(cls, node: Node) -> str:
        """What messages call it."""
        return node.name

    @classmethod
    def listed(cls, node: Keys, reading: Reading) -> list[str]:
        """The keys that a person is told of where one is unknown."""
        return list(cls.known())

    @classmethod
    def check_keys(cls, node: Keys, reading: Reading) -> None:
        """Report keys that do not go together."""

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        """What is said of a text or list in its place."""
        if isinstance(node, Text) and not node:
            hint = "write 'key: value' below it, one to a line, indented"
            return refusal("wrong-type", f"nothing stands under {cls.name_of(node)}", hint)
        hint = "write 'key: value', one to a line, indented"
        return refusal("wrong-type", f"{cls.name_of(node)} must be keys and values", hint)

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, node: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if not isinstance(node, Text | Items | Keys):  # one that is made by us and not read
            return handler(node)
        if cls.short and isinstance(node, Text):
            node = Keys([(Text(cls.short, node.place), _filled(node))], node.place, node.name)
        if not isinstance(node, Keys):
            raise cls.wrong_shape(node)
        cls._check(node, _reading(info))
        section = handler(node)
        section._node = node
        return section

    @classmethod
    def _check(cls, node: Keys, reading: Reading) -> None:
        name, known = cls.name_of(node), cls.known()
        for typed in node:
            if typed not in known:
                hint = did_you_mean(typed, cls.listed(node, reading), 32)
                reading.error("unknown-key", f"'{typed}' is no key of {name}", hint, typed.place)
        for needed, field in known.items():
            if field.is_required() and needed not in node:
                hint = next(mark.hint for mark in field.metadata if isinstance(mark, Needed))
                reading.error("missing-key", f"{name} has no {needed}", hint, node.place)
        cls.check_keys(node, reading)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        reference = handler(schema)
        shape = handler.resolve_ref_schema(reference)
        shape.pop("title", None)
        shape.update(cls.rules)
        if not shape.get("required"):
            shape.pop("required", None)
        if cls.short:
            whole = {key: value for key, value in shape.items() if key != "description"}
            for key in whole:
                del shape[key]
            shape["anyOf"] = [cls.short_rules, whole]
        return reference


def exclude(node: Keys, given: list[str], hint: str, reading: Reading) -> None:
    """Report keys of which only one can be meant."""
    message = f"{node.name} has {' and '.join(given)}"
    reading.error("keys-exclude", message, hint, node.key(given[1]).place)


def _text_or_keys(node: Node) -> str:
    return "text" if isinstance(node, Text) else "keys"


BY_FORM = Discriminator(_text_or_keys)  # for a word, `Tag("text")`, or a section, `Tag("keys")`
