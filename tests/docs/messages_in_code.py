"""The problem codes in the source code, each with the messages that are written next to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

Template = tuple[str | None, ...]
"""The pieces of a message: literal text, and None for a value that is filled in."""

_MESSAGES = ("message", "problem", "reason")  # how the argument that is the message is called
_MOST_TEMPLATES = 200  # of one message
_MOST_STEPS = 5  # names and calls between a message and its text


@dataclass(frozen=True)
class Raised:
    """A place that makes a problem. by: the class or function that is called with the code."""

    code: str
    templates: tuple[Template, ...]
    by: str
    where: str


def raised_in(files: dict[str, str]) -> Iterator[Raised | str]:
    """Every problem that Python files make, by name and text; a text for a code that no search would find."""
    source = _Source({name: ast.parse(text) for name, text in files.items()})
    for file, tree in source.trees.items():
        for scope in (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef)):
            reader = _Reader(source, file, list(_assignments(scope)))
            for call in (node for node in _own_nodes(scope) if isinstance(node, ast.Call)):
                name = reader.called(call.func)
                builder = source.find(source.builders, file, name)
                if builder is not None and len(call.args) > max(builder.code, builder.message):
                    code = call.args[builder.code]
                    if not _is_passed_on(code, scope):
                        yield from _raised(reader, builder, call, name)


def _raised(reader: _Reader, builder: _Builder, call: ast.Call, name: str) -> Iterator[Raised | str]:
    code, message, where = call.args[builder.code], call.args[builder.message], f"{reader.file}:{call.lineno}"
    found = False
    for row in reader.rows_of(code):
        templates = tuple(row.templates(message))
        if builder.frame is not None:
            templates = tuple(row.with_values([(builder.parameter, message)]).templates(builder.frame))
        for one in row.alternatives(code):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                found = True
                yield Raised(one.value, templates, name, where)
    if not found:
        yield f"{where}: {ast.unparse(code)}"


def texts_in(files: dict[str, str]) -> Iterator[Template]:
    """Every text of Python files."""
    for text in files.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr):
                yield tuple(str(one.value) if isinstance(one, ast.Constant) else None for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield (node.value,)


def fits(example: str, template: Template) -> bool:
    """Whether a message could come from a template; at least a sixth of the example must be literal in it."""
    pieces = [piece for piece in template if piece is not None]
    if not all(piece in example for piece in pieces):
        return False  # most are, and a pattern for each would have to be compiled
    literal = sum(map(_letters, pieces))
    pattern = "".join(".*" if piece is None else re.escape(piece) for piece in template)
    return 6 * literal >= _letters(example) and re.fullmatch(pattern, example) is not None


def _letters(text: str) -> int:
    return len(re.findall(r"\w", text))


@dataclass(frozen=True)
class _Builder:
    """A class or function with a code and a message: the positions of these arguments.

    frame: what a function makes of the message, where it adds to it; parameter: the message's name in it.
    """

    code: int
    message: int
    parameter: str
    frame: ast.expr | None = None


@dataclass(frozen=True)
class _Assignment:
    """names: on the left of `=` or of `in`; value: on the right."""

    names: tuple[str, ...]
    value: ast.expr
    is_loop: bool = False


@dataclass
class _Source:
    """Parsed files, and by file and name what messages are made from. Public names are also kept without a file."""

    trees: dict[str, ast.Module]
    builders: dict[tuple[str, str], _Builder] = field(default_factory=dict)
    constants: dict[tuple[str, str], list[ast.expr]] = field(default_factory=dict)
    functions: dict[tuple[str, str], list[ast.expr]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for file, tree in self.trees.items():
            for each in _assignments(tree):
                if len(each.names) == 1:
                    self._keep(self.constants, file, each.names[0], [each.value])
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and (builder := _builder(node)):
                    self._keep(self.builders, file, node.name, builder)
                if isinstance(node, ast.FunctionDef):
                    returned = [one.value for one in _own_nodes(node) if isinstance(one, ast.Return) and one.value]
                    self._keep(self.functions, file, node.name, returned)

    def _keep(self, table: dict[tuple[str, str], Any], file: str, name: str, value: Any) -> None:
        table[file, name] = value
        if not name.startswith("_"):
            table["", name] = value

    def find(self, table: dict[tuple[str, str], Any], file: str, name: str) -> Any:
        """What a file means by a name, or None."""
        return table.get((file, name), table.get(("", name)))


@dataclass(frozen=True)
class _Reader:
    """Finds what an expression of a function can be. values: those of names that are unpacked from a table."""

    source: _Source
    file: str
    assignments: list[_Assignment]
    values: tuple[tuple[str, ast.expr], ...] = ()

    def with_values(self, values: list[tuple[str, ast.expr]]) -> _Reader:
        return replace(self, values=(*values, *self.values))

    def called(self, function: ast.expr) -> str:
        """The name of what is called: `report("file-empty", ...)` calls `warning` after `report = found.warning`."""
        for one in self.alternatives(function):
            if isinstance(one, ast.Attribute):
                return one.attr
        return function.id if isinstance(function, ast.Name) else ""

    def rows_of(self, code: ast.expr) -> Iterator[_Reader]:
        """This reader for each row of the table that the code is unpacked from; unchanged for any other code."""
        found = False
        for each in self.assignments:
            if len(each.names) > 1 and isinstance(code, ast.Name) and code.id in each.names:
                for row in self._rows(each):
                    if isinstance(row, ast.Tuple) and len(row.elts) == len(each.names):
                        found = True
                        yield self.with_values(list(zip(each.names, row.elts, strict=True)))
        if not found:
            yield self

    def _rows(self, assignment: _Assignment) -> Iterator[ast.expr]:
        for one in self.alternatives(assignment.value):
            yield from one.elts if assignment.is_loop and isinstance(one, ast.Tuple | ast.List) else [one]

    def alternatives(self, expression: ast.expr, steps: int = _MOST_STEPS) -> Iterator[ast.expr]:
        """What this expression can be: both sides of a condition, what a name is assigned, what a function returns."""
        found: list[ast.expr] = []
        match expression:
            case ast.IfExp(body=one, orelse=other):
                found = [one, other]
            case ast.Name(id=name):
                found = self._values_of(name)
            case ast.Subscript(value=ast.Name(id=name)):
                tables = self._values_of(name)
                found = [value for table in tables if isinstance(table, ast.Dict) for value in table.values]
            case ast.Call(func=ast.Name(id=name)):
                found = self.source.find(self.source.functions, self.file, name) or []
        if found and steps:
            for one in found:
                yield from self.alternatives(one, steps - 1)
        else:
            yield expression

    def _values_of(self, name: str) -> list[ast.expr]:
        given = [value for key, value in self.values if key == name]
        local = [value for each in self.assignments if name in each.names for value in self._assigned_to(name, each)]
        return given[:1] or local or self.source.find(self.source.constants, self.file, name) or []

    def _assigned_to(self, name: str, assignment: _Assignment) -> Iterator[ast.expr]:
        if len(assignment.names) == 1:
            yield assignment.value
        elif not assignment.is_loop:
            for row in self.alternatives(assignment.value, 1):
                if isinstance(row, ast.Tuple) and len(row.elts) == len(assignment.names):
                    yield row.elts[assignment.names.index(name)]

    def templates(self, message: ast.expr, steps: int = _MOST_STEPS) -> Iterator[Template]:
        """What the message may be."""
        for one in self.alternatives(message):
            match one:
                case ast.Constant(value=str(text)):
                    yield tuple(None if number % 2 else piece for number, piece in enumerate(_FILLED_IN.split(text)))
                case ast.JoinedStr(values=values):
                    yield from self._joined(values, steps)
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    yield from self._joined([left, right], steps)
                case ast.Call(func=ast.Attribute(value=value, attr="format")):
                    yield from self.templates(value, steps)
                case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join")):
                    yield from ((None,), (None, between, None))
                case _:
                    yield (None,)

    def _joined(self, parts: list[ast.expr], steps: int) -> Iterator[Template]:
        each = [list(dict.fromkeys(self._piece(part, steps))) for part in parts]
        for pieces in islice(product(*each), _MOST_TEMPLATES):
            yield tuple(piece for template in pieces for piece in template)

    def _piece(self, part: ast.expr, steps: int) -> Iterator[Template]:
        value = part.value if isinstance(part, ast.FormattedValue) else part
        if steps and not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            yield from self.templates(value, steps - 1)
        else:
            yield (None,)


_FILLED_IN = re.compile(r"(\{\w+\})")  # by str.format


def _builder(node: ast.FunctionDef | ast.ClassDef) -> _Builder | None:
    names = _arguments(node)
    parameter = next((name for name in _MESSAGES if name in names), None)
    if "code" not in names or parameter is None:
        return None
    frames = [
        argument
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and call.args and ast.unparse(call.args[0]) == "code"
        for argument in call.args[1:]
        if isinstance(argument, ast.JoinedStr) and f"{{{parameter}}}" in ast.unparse(argument)
    ]
    return _Builder(names.index("code"), names.index(parameter), parameter, frames[0] if frames else None)


def _is_passed_on(code: ast.expr, scope: ast.Module | ast.FunctionDef) -> bool:
    """Whether a code comes from another problem or from the caller."""
    if isinstance(code, ast.Name) and isinstance(scope, ast.FunctionDef):
        return code.id in [argument.arg for argument in scope.args.args]
    return isinstance(code, ast.Attribute | ast.Subscript)


def _arguments(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """The names of the positional arguments of a function, or of a dataclass."""
    if isinstance(node, ast.FunctionDef):
        return [argument.arg for argument in node.args.args if argument.arg != "self"]
    fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    return [target.id for target in fields if isinstance(target, ast.Name)]


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module or function, without those of the classes and functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _own_nodes(node)


def _assignments(scope: ast.AST) -> Iterator[_Assignment]:
    for node in _own_nodes(scope):
        match node:
            case ast.Assign(targets=[target], value=value):
                yield from _assigned(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield from _assigned(target, value)
            case ast.For(target=ast.Tuple(elts=names), iter=value):
                yield _Assignment(tuple(ast.unparse(name) for name in names), value, is_loop=True)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[_Assignment]:
    match target, value:
        case ast.Name(id=name), _:
            yield _Assignment((name,), value)
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for one, each in zip(names, values, strict=True):
                yield from _assigned(one, each)
        case ast.Tuple(elts=names), _:
            yield _Assignment(tuple(ast.unparse(name) for name in names), value)


def python_files(package: Path) -> dict[str, str]:
    """The files of a package by their path in it."""
    return {file.relative_to(package).as_posix(): file.read_text("utf-8") for file in sorted(package.rglob("*.py"))}
