"""Changes of a mapping that would read what it cannot read: lines to paste, each with the line that it belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from importer.mapping import (
    Items,
    Keys,
    Kind,
    Node,
    ResolvedMapping,
    ResolvedValue,
    Text,
    comment_text,
    flow_list,
    scalar,
)
from importer.problems import LinePlace, Unread
from importer.suggest.cell_texts import is_no, is_yes, likely_yes_or_no
from importer.suggest.date_forms import date_forms
from importer.suggest.proposal import TableLine
from importer.suggest.value_settings import names_several, reversals_in, table_of
from importer.suggest.yaml_writer import NOT_SIMILAR, SIMILAR, cells_of, line_to_complete

_YES_NO = (Kind.YES_NO, Kind.FLAG)


@dataclass(frozen=True, slots=True)
class MappingEdit:
    """A change of the mapping: what it would do in one line, and the lines to paste, the first of them comments."""

    summary: str
    lines: tuple[str, ...]


def mapping_edits(mapping: ResolvedMapping, unread: Mapping[tuple[Unread, str], int]) -> tuple[MappingEdit, ...]:
    """The changes that would help, from the end of the mapping file to its start: pasting one moves no other.

    unread: how often each text could not be read, with the code of its problem.
    """
    values = {value.place: value for value in mapping.values}
    found: dict[LinePlace, _Unreadable] = {}
    # A table that several values share with * is written where the first of them is.
    for (one, code), count in sorted(unread.items(), key=lambda item: _position(item[0][0].setting)):
        if (value := values.get(one.setting)) is not None:
            is_date = code == "date-invalid" and any(map(str.isdigit, one.text))
            table = value.spec.node.value("values")
            place = table.place if isinstance(table, Keys) and not is_date else value.place
            texts = found.setdefault(place, _Unreadable(value))
            (texts.dates if is_date else texts.words)[one.text] += count
    edits = [_edit(found[place]) for place in sorted(found, key=_position, reverse=True)]
    return tuple(edit for edit in edits if edit is not None)


def _position(place: LinePlace) -> tuple[str, int, int]:
    return place.file, place.line, place.column


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """What a value cannot read: dates in other formats, and texts for its value table."""

    value: ResolvedValue
    dates: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)


def _edit(unreadable: _Unreadable) -> MappingEdit | None:
    """More date formats, and lines of the value table; None if there is nothing to paste or to complete."""
    value, written = unreadable.value, unreadable.value.spec.node
    lines, formats = _table_lines(value, unreadable.words), _formats(value, unreadable.dates)
    in_comments = {line.cell: place for line in lines if (place := _comment_of(line, written)) is not None}
    missing = [line for line in lines if line.cell not in in_comments]
    steps = [_into_list(written[written.key(key)], *one) for key, one in formats.items() if key in written]
    new = [f"{key}: {flow_list(one.items)}" for key, one in formats.items() if key not in written]
    has_table = value.table is not None and written.value("values") is not None
    if missing and has_table:
        steps.append(_into_table(value, missing))
    if new or (missing and not has_table):
        beside = ["otherwise: keep"] if value.field.kind is Kind.DATE else []  # else all dates would be unknown texts
        steps.append(_into_value(written, _NewKeys(new, () if has_table else missing, beside)))
    if not all(step.lines for step in steps) or not (steps or in_comments):
        return None
    pasted = [line for step in sorted(steps, key=lambda step: step.position, reverse=True) for line in step.lines]
    notes = [f"# Complete line {place.line}: {place.text.strip().removeprefix('# ')}" for place in in_comments.values()]
    summaries = [*_summary_of_table(lines, value), *_summary_of_formats(formats, unreadable.dates)]
    summary = f"{value.place.file}:{value.place.line}, {value.field.label}: {'; '.join(summaries)}"
    return MappingEdit(summary, (*(_known(value) if lines else ()), *notes, *pasted))


# --- value tables -------------------------------------------------------------------------------------


def _options(value: ResolvedValue) -> tuple[str, ...]:
    if value.field.kind in _YES_NO:
        return ("yes", "no")
    return value.field.options or tuple(dict.fromkeys(value.table.targets.values() if value.table else ()))


def _table_lines(value: ResolvedValue, words: Counter[str]) -> tuple[TableLine, ...]:
    """Each unknown text with the most similar option; a date has none."""
    options = _options(value)
    if value.field.kind is Kind.DATE:
        return table_of(words.items(), ())
    if value.field.kind in _YES_NO:
        return table_of(words.items(), (), _yes_or_no)
    return table_of(words.items(), options) if options else ()


def _yes_or_no(text: str) -> tuple[str | None, bool]:
    """Yes or no for a text that begins with a word for it, and whether it is only that word."""
    likely, is_certain = likely_yes_or_no(text), is_yes(text) or is_no(text)
    is_meant = is_certain or not (names_several(text) or (likely == "yes" and reversals_in(text)))
    return likely if is_meant else None, is_certain


def _known(value: ResolvedValue) -> Iterator[str]:
    """What the lines of the value table can have as their values."""
    known = f"The options are: {comment_text(', '.join(_options(value)))}"
    if value.field.kind is Kind.DATE:
        known = "Write a date as YYYY-MM-DD" + ("; until now: list it under present:" if value.field.is_end else "")
    yield f"# {known}" if value.field.required else f'# {known}; "" leaves a text out'


def _summary_of_table(lines: Sequence[TableLine], value: ResolvedValue) -> Iterator[str]:
    if lines:
        likely = sum(line.target is not None for line in lines)
        texts = f"{len(lines)} unknown text{'' if len(lines) == 1 else 's'}"
        similar = f", {likely} with a similar option" if likely else ""
        yield f"{texts} in {cells_of(sum(line.count for line in lines))}{similar}"


def _comment_of(line: TableLine, written: Keys) -> LinePlace | None:
    """The comment in which `mapping new` has left a text without a certain option."""
    begin, ends = f"# {scalar(line.cell)}: ", (NOT_SIMILAR, SIMILAR)
    own = (place for place in written.comments if place.text.strip().startswith(begin))
    found = (place for place in own if place.text.rstrip().endswith(ends))
    return next(found, None) if line.is_open else None


def _into_table(value: ResolvedValue, lines: Sequence[TableLine]) -> _Step:
    table, node = value.table, value.spec.node.value("values")
    assert table is not None, "a value without a table gets a new one"
    if isinstance(node, Text) and node.strip():
        cells = ((line.cell, line.target) for line in lines if not line.is_open)
        return _Step((0, 0), [f"# Add to the file {node}:", *(table.delimiter.join(map(_csv, line)) for line in cells)])
    if isinstance(node, Keys) and node.in_braces:
        return _after("{", node.place, _flow(lines, lambda text: f"{text}, "))
    if isinstance(node, Keys):
        return _above(next(iter(node)).place, lambda indent: _block(lines, indent))
    if value.spec.node.in_braces:
        return _after(":", table.place, _flow(lines, lambda text: f" {{{text}}}"))
    return _below(table.place, _block(lines, " " * (table.place.column + 1)))


def _block(lines: Iterable[TableLine], indent: str) -> Iterator[str]:
    for line in lines:
        known = f"{scalar(line.cell)}: {scalar(str(line.target))}   # {cells_of(line.count)}"
        yield indent + (line_to_complete(line) if line.is_open else known)


def _flow(lines: Sequence[TableLine], form: Callable[[str], str], *, is_new: bool = False) -> Iterator[str]:
    """One line for between braces; with texts that have no certain option, a second one to complete.

    is_new: the form has other new keys, and is needed without any text too.
    """
    known = [f"{scalar(line.cell)}: {scalar(str(line.target))}" for line in lines if not line.is_open]
    open_ones = [line for line in lines if line.is_open]
    if known or is_new:
        yield form(", ".join(known))
    if open_ones:
        counts = ", ".join(f"{scalar(line.cell)} ({cells_of(line.count)})" for line in open_ones)
        yield f"# No certain option for {counts}. Complete this line and use it instead:"
        yield "# " + form(", ".join([*known, *(f"{scalar(line.cell)}: ..." for line in open_ones)]))


# --- dates --------------------------------------------------------------------------------------------


class _Setting(NamedTuple):
    """A list of a value with what it should contain, and what of that is new."""

    items: tuple[str, ...]
    added: tuple[str, ...]


def _formats(value: ResolvedValue, dates: Counter[str]) -> dict[str, _Setting]:
    """The date formats with those that read these cells; none unless they read all, each in one way."""
    given = tuple(map(str, value.formats.dates or ()))
    forms = date_forms(dates.items())
    lacks = (forms.lacks_day and not value.formats.missing_day) or (
        forms.lacks_month and not value.formats.missing_month
    )
    clashes = any(_with_day_and_month_swapped(form) in given for form in forms.formats)
    if value.field.kind is not Kind.DATE or forms.share < 1 or forms.ambiguity or lacks or clashes:
        return {}
    months = tuple(map(str, value.formats.months or ("en",)))
    found = {}
    for key, before, needed in (("dates", given, forms.formats), ("months", months, forms.months)):
        if added := tuple(one for one in needed if one not in before):
            found[key] = _Setting((*before, *added), added)
    return found


def _summary_of_formats(formats: Mapping[str, _Setting], dates: Counter[str]) -> Iterator[str]:
    if formats:
        texts = ", ".join(f"{key}: {flow_list(one.items)}" for key, one in formats.items())
        yield f"{texts} reads all {cells_of(dates.total())} that are not dates now"


def _into_list(node: Node, items: tuple[str, ...], added: tuple[str, ...]) -> _Step:
    place = node.place
    if isinstance(node, Items) and not (isinstance(node[0], Text) and node[0].in_braces):
        indent = " " * (place.column - 1)
        return _below(node[-1].place, (f"{indent}- {scalar(one)}" for one in added))
    listed = re.match(r"\[[^\[\]]*\]", place.text[place.column - 1 :])
    typed = _typed(node) if isinstance(node, Text) else listed and listed[0]
    return _Step((place.line, place.column), [_instead_of(typed, place), flow_list(items)] if typed else [])


def _with_day_and_month_swapped(date_format: str) -> str:
    return date_format.replace("%d", "%\0").replace("%m", "%d").replace("%\0", "%m")


# --- where lines belong -------------------------------------------------------------------------------


class _Step(NamedTuple):
    """An instruction and the lines to paste, which are empty if there is no place for them."""

    position: tuple[int, int]  # line and column; steps are done from the end of the file to its start
    lines: list[str]


@dataclass(frozen=True, slots=True)
class _NewKeys:
    """New keys of a value, and its new value table with the keys that belong to it."""

    keys: Sequence[str]
    table: Sequence[TableLine]
    beside: Sequence[str]

    def lines(self, indent: str) -> Iterator[str]:
        yield from (indent + key for key in self.keys)
        if self.table:
            yield f"{indent}values:"
            yield from _block(self.table, indent + "  ")
            yield from (indent + key for key in self.beside)

    def flow(self, form: Callable[[str], str]) -> Iterator[str]:
        """The same between braces; `form`: what belongs around them."""

        def whole(cells: str) -> str:
            return form(", ".join([*self.keys, *([f"values: {{{cells}}}", *self.beside] if cells else ())]))

        return _flow(self.table, whole, is_new=bool(self.keys))


def _into_value(written: Keys, new: _NewKeys) -> _Step:
    column = written.value("column")
    if isinstance(column, Text) and column.place is written.place:  # only a column: `level: Level`
        return _beside_column(column, new)
    if written.in_braces:
        return _after("{", written.place, new.flow(lambda text: f"{text}, "))
    return _above(next(iter(written)).place, new.lines)


def _beside_column(column: Text, new: _NewKeys) -> _Step:
    place, typed = column.place, _typed(column)
    position = (place.line, place.column)
    if typed is None:
        return _Step(position, [])
    before, comment = place.text[: place.column - 1].rstrip(), place.text[place.column - 1 + len(typed) :].strip()
    key = re.fullmatch(r"(\s*(?:- +)*)\S.*:", before)
    if key is None or column.in_braces:
        return _Step(position, [_instead_of(typed, place), *new.flow(lambda text: f"{{column: {typed}, {text}}}")])
    indent = " " * (len(key[1]) + 2)
    first = f"{before}   {comment}".rstrip()
    lines = [f"# Replace line {place.line} by:", first, f"{indent}column: {typed}", *new.lines(indent)]
    return _Step(position, lines)


def _above(place: LinePlace, lines: Callable[[str], Iterable[str]]) -> _Step:
    indent = place.text[: place.column - 1]
    return _Step((place.line, 0), [] if indent.strip() else [f"# Insert above line {place.line}:", *lines(indent)])


def _below(place: LinePlace, lines: Iterable[str]) -> _Step:
    return _Step((place.line + 1, 0), [f"# Insert below line {place.line}:", *lines])


def _after(sign: str, place: LinePlace, pasted: Iterable[str]) -> _Step:
    end = place.text.find(sign, place.column - 1) + 1
    lines = [f"# Insert after {place.text[:end].strip()} in line {place.line}:", *pasted] if end else []
    return _Step((place.line, end), lines)


def _instead_of(typed: str, place: LinePlace) -> str:
    return f"# Write instead of {typed} in line {place.line}, from character {place.column}:"


def _typed(text: Text) -> str | None:
    """The text as it is in its line, with its quotes; None if it is written over several lines or has an anchor."""
    rest = text.place.text[text.place.column - 1 :]
    quoted = re.match(r"""\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'""", rest)
    return quoted[0] if quoted else str(text) if rest.startswith(text) else None


def _csv(text: str | None) -> str:
    text = text or ""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,;"\n\r]', text) else text
