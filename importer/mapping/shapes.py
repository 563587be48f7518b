"""The building blocks of a mapping file as pydantic types over its nodes, with a message for each problem.

A type that refuses a node raises `refusal`; pydantic collects these, and `Section.read` adds the place of each node.
A section reports problems with its keys (unknown, missing, without effect) before its values are read, so that a wrong
value does not hide them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from importer.mapping.nodes import Items, Keys, Node, Reader, Text
from importer.problems import LinePlace
from importer.text.normalize import closest, did_you_mean

JsonSchema = dict[str, Any]

# --- refusals -----------------------------------------------------------------------------------


def refusal(code: str, message: str, hint: str) -> PydanticCustomError:
    """The error to raise for a node; it is reported at the place of the node."""
    return PydanticCustomError(code, "{message}", {"message": message, "hint": hint})


def invalid(message: str, hint: str) -> PydanticCustomError:
    """The same, for a text, list or section that cannot be what is expected there."""
    return refusal("mapping-value-invalid", message, hint)


def reading_of(info: ValidationInfo) -> Reader:
    """The reader of the file whose node is validated."""
    if not isinstance(info.context, Reader):
        raise TypeError("a mapping file is validated with its Reader as context")
    return info.context


# --- texts, lists of them, words ----------------------------------------------------------------

TEXT: Final[JsonSchema] = {"type": ["string", "number", "boolean"]}  # editors use YAML's own types
FILLED: Final[JsonSchema] = {**TEXT, "pattern": r"\S"}


class Leaf:
    """A type whose values a function reads from a node: `Annotated[int, Leaf(read, schema)]`."""

    def __init__(self, read: Callable[[Any], Any], schema: JsonSchema) -> None:
        self._read = read
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return dict(self._schema)


class ListOf(Leaf):
    """A list of such values, or a single one; `finish` makes the final value from the list."""

    def __init__(
        self, read: Callable[[Any], Any], schema: JsonSchema, finish: Callable[[list[Any]], Any] = tuple
    ) -> None:
        super().__init__(read, {"anyOf": [schema, {"type": "array", "minItems": 1, "items": schema}]})
        self._finish = finish

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        items = core_schema.list_schema(super().__get_pydantic_core_schema__(source, handler))
        listed = core_schema.no_info_before_validator_function(_listed, items)
        return core_schema.no_info_after_validator_function(self._finish, listed)


def _listed(node: Node) -> list[Node]:
    if isinstance(node, Text):
        return [node]
    if isinstance(node, Keys):
        raise invalid(f"{node.name} must be a text or a list of texts", "write it in quotes, or as [a, b]")
    if not node:
        raise invalid(f"{node.name} is an empty list", "enter at least one text")
    return list(node)


def read_text(node: Node) -> Text:
    """A text that may be blank, if that is written."""
    if isinstance(node, Text) and node.is_absent:
        raise invalid(f"{node.name} has no value", 'write it, or "" for an empty text, or remove the key')
    if isinstance(node, Text):
        return node
    raise invalid(f"{node.name} must be a text", "write it in quotes" if isinstance(node, Keys) else "enter one text")


def read_filled(node: Node) -> Text:
    """A text that is not blank."""
    if isinstance(node, Text) and not node.strip():
        raise invalid(f"{node.name} is blank", "enter a text, or remove the key")
    return read_text(node)


class OneOf:
    """One word of the enumeration or Literal that it annotates: `Annotated[Take, OneOf()]`."""

    def __init__(self, hint: str = "") -> None:
        self._hint = hint

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        known: dict[str, str] = {str(word): word for word in get_args(source) or source}

        def read(node: Node) -> str:
            text = read_text(node)
            if text not in known:
                message = f"'{text}' is not a valid value of {text.name}"
                raise refusal("mapping-value-invalid", message, self._hint or did_you_mean(text, known))
            return known[str(text)]

        schema = {"enum": [*known, *(word == "true" for word in known if word in ("true", "false"))]}
        return handler.generate_schema(Annotated[str, Leaf(read, schema)])


AnyText = Annotated[Text, Leaf(read_text, TEXT)]
Filled = Annotated[Text, Leaf(read_filled, FILLED)]
Texts = Annotated[tuple[Text, ...], ListOf(read_text, TEXT)]

# --- keys and values ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RequiredHint:
    hint: str


def required_key(hint: str, description: str | None = None, alias: str | None = None) -> Any:
    """A required key: `hint` is for the message if it is missing, `description` is shown by editors."""
    field: FieldInfo = Field(description=description, alias=alias)
    field.metadata.append(_RequiredHint(hint))
    return field


def key(description: str, alias: str | None = None) -> Any:
    """An optional key; `description` is shown by editors."""
    return Field(default=None, description=description, alias=alias)


class Section(BaseModel):
    """Keys and values of the file, with their places."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)
    short: ClassVar[str] = ""  # the key whose value a single text is
    short_rules: ClassVar[JsonSchema] = FILLED  # JSON Schema for such a text
    rules: ClassVar[JsonSchema] = {}  # JSON Schema in addition to the keys
    _node: Keys = PrivateAttr()

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def node(self) -> Keys:
        """The section as it is in the file."""
        return self._node

    @property
    def place(self) -> LinePlace:
        return self._node.place

    def values_of(self, names: Iterable[str]) -> dict[Text, Any]:
        """The values of these keys, as far as the file has them, by key."""
        return {self._node.key(name): getattr(self, name) for name in names if name in self._node}

    @classmethod
    def known(cls) -> dict[str, Any]:
        """The fields by key."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def name_of(cls, node: Node) -> str:
        """Its name in messages."""
        return node.name

    @classmethod
    def listed(cls, node: Keys, reading: Reader) -> list[str]:
        """The keys that the message for an unknown key lists."""
        return list(cls.known())

    @classmethod
    def check_keys(cls, node: Keys, reading: Reader) -> None:
        """Report keys that conflict."""

    @classmethod
    def fits(cls, node: Keys) -> bool:
        """Whether the node can be this section."""
        return True

    @classmethod
    def wrong_shape(cls, node: Node) -> PydanticCustomError:
        """The error for a text or list instead of the section."""
        if isinstance(node, Text) and not node:
            return invalid(f"{cls.name_of(node)} is empty", "write 'key: value' pairs below it, one per line, indented")
        return no_keys(cls.name_of(node))

    @classmethod
    def read(cls, whole: Node, reading: Reader) -> Self:
        """The section that a whole file is. Raises UnusableInput: with every error of the file, in its order."""
        section = None
        try:
            section = cls.model_validate(whole, context=reading)
        except ValidationError as error:
            for one in error.errors():
                if one["type"] not in ("missing", "extra_forbidden"):  # those about keys are reported
                    context = one["ctx"]
                    reading.error(one["type"], context["message"], context["hint"], one["input"].place)
        reading.raise_errors_in_order()
        assert section is not None, "a file was refused without an error"
        return section

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, node: Any, handler: Callable[[Any], Self], info: ValidationInfo) -> Self:
        if not isinstance(node, Text | Items | Keys):  # made by our own code, not read from a file
            return handler(node)
        if cls.short and isinstance(node, Text):
            pairs = [(Text(cls.short, node.place), read_filled(node))]
            node = Keys(pairs, node.place, node.name, in_braces=node.in_braces)
        if not (isinstance(node, Keys) and cls.fits(node)):
            raise cls.wrong_shape(node)
        cls._check(node, reading_of(info))
        section = handler(node)
        section._node = node
        return section

    @classmethod
    def _check(cls, node: Keys, reading: Reader) -> None:
        name, known = cls.name_of(node), cls.known()
        misspelled = [typed for typed in node if typed not in known]
        for typed in misspelled:
            hint = did_you_mean(typed, cls.listed(node, reading), 40)
            reading.error("key-unknown", f"'{typed}' is an unknown key in {name}", hint, typed.place)
        for name_of_key, field in known.items():
            is_misspelled = closest(name_of_key, misspelled) is not None  # then its own message is enough
            if field.is_required() and name_of_key not in node and not is_misspelled:
                hint = next(mark.hint for mark in field.metadata if isinstance(mark, _RequiredHint))
                reading.error("key-missing", f"{name} has no {name_of_key}", hint, node.place)
        cls.check_keys(node, reading)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
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


def no_keys(name: str) -> PydanticCustomError:
    """The error for a text or list instead of keys and values."""
    return invalid(f"{name} must be keys and values", "write 'key: value' pairs, one per line, indented")


def read_keys(node: Node) -> Keys:
    """Any keys and values."""
    if not isinstance(node, Keys):
        raise no_keys(node.name)
    return node


def exclude(node: Keys, given: Sequence[str], hint: str, reading: Reader) -> None:
    """Report keys that exclude each other."""
    message = f"{node.name} has {' and '.join(given)}"
    reading.error("keys-conflict", message, hint, node.key(given[1]).place)


def _text_or_keys(node: Node) -> str:
    return "text" if isinstance(node, Text) else "keys"


BY_FORM = Discriminator(_text_or_keys)  # for a word, `Tag("text")`, or a section, `Tag("keys")`
