"""Changes of a mapping that would read what it cannot read: lines to paste, each with the line that it belongs to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from importer.suggest.date_forms import date_forms
from importer.suggest.proposal import TableLine
from importer.suggest.value_settings import table_of


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
    counts: dict[tuple[LinePlace, bool], Counter[str]] = defaultdict(Counter)
    changed: dict[tuple[LinePlace, bool], ResolvedValue] = {}
    for (one, code), count in unread.items():
        if (value := values.get(one.setting)) is not None:
            table = value.written.value("values")  # may be shared with *
            key = (table.place if isinstance(table, Keys) else value.place, code == "date-invalid")
            changed[key] = value
            counts[key][one.text] += count
    from_end = sorted(changed, key=lambda key: (key[0].file, key[0].line, key[0].column), reverse=True)
    found = [(_date_edit if key[1] else _table_edit)(changed[key], counts[key]) for key in from_end]
    return tuple(edit for edit in found if edit is not None)


# --- value tables -------------------------------------------------------------------------------------


def _table_edit(value: ResolvedValue, counts: Counter[str]) -> MappingEdit | None:
    """Lines for a value table, each unknown text with the most similar option."""
    options = value.field.options or tuple(dict.fromkeys(value.table.targets.values() if value.table else ()))
    lines = table_of(counts.items(), options)
    if not lines or not options:
        return None
    likely = sum(line.target is not None for line in lines)
    texts = f"{len(lines)} unknown text{'' if len(lines) == 1 else 's'} in {_cells(sum(counts.values()))}"
    summary = f"{_at(value.place)} {value.field.label}: {texts}, {likely} with a similar option"
    pasted = _into_table(value, lines)
    known = f"# The options are: {comment_text(', '.join(options))}"
    return MappingEdit(summary, (known, *pasted)) if pasted else None


def _into_table(value: ResolvedValue, lines: Sequence[TableLine]) -> list[str]:
    table, node = value.table, value.written.value("values")
    if table is None or node is None:
        block = _NewKeys(lambda indent: (f"{indent}values:", *_block(lines, indent + "  ")),
                         lambda form: _flow(lines, lambda text: form(f"values: {{{text}}}")))  # fmt: skip
        return _into_value(value.written, block)
    if isinstance(node, Text) and node.strip():
        cells = ((line.cell, line.target) for line in lines if line.target is not None)
        return [f"# Add to the file {node}:", *(table.delimiter.join(map(_csv, line)) for line in cells)]
    if isinstance(node, Keys) and node.in_braces:
        return _after("{", node.place, _flow(lines, lambda text: f"{text}, "))
    if isinstance(node, Keys):
        return _above(next(iter(node)).place, lambda indent: _block(lines, indent))
    if value.written.in_braces:
        return _after(":", table.place, _flow(lines, lambda text: f" {{{text}}}"))
    return [f"# Insert below line {table.place.line}:", *_block(lines, " " * (table.place.column + 1))]


def _block(lines: Iterable[TableLine], indent: str) -> Iterator[str]:
    for line in lines:
        if line.target is None:
            yield f"{indent}# {scalar(line.cell)}: ...   # {_cells(line.count)}; no similar option"
        else:
            note = "" if line.certain else ", please check"
            yield f"{indent}{scalar(line.cell)}: {scalar(line.target)}   # {_cells(line.count)}{note}"


def _flow(lines: Sequence[TableLine], form: Callable[[str], str]) -> Iterator[str]:
    """One line for between braces; with texts that have no similar option, a second one to complete."""
    known = [f"{scalar(line.cell)}: {scalar(line.target)}" for line in lines if line.target is not None]
    open_ones = [line for line in lines if line.target is None]
    if known:
        yield form(", ".join(known))
    if open_ones:
        counts = ", ".join(f"{scalar(line.cell)} ({_cells(line.count)})" for line in open_ones)
        yield f"# No similar option for {counts}. Complete this line and use it instead:"
        yield "# " + form(", ".join([*known, *(f"{scalar(line.cell)}: ..." for line in open_ones)]))


# --- dates --------------------------------------------------------------------------------------------


def _date_edit(value: ResolvedValue, counts: Counter[str]) -> MappingEdit | None:
    """The date formats with those that read all failing cells; None unless they read all, each in one way."""
    given = tuple(map(str, value.formats.dates or ()))
    forms = date_forms(counts.items())
    lacks = (forms.lacks_day and not value.formats.missing_day) or (
        forms.lacks_month and not value.formats.missing_month
    )
    clashes = any(_with_day_and_month_swapped(form) in given for form in forms.formats)
    if value.field.kind is not Kind.DATE or forms.share < 1 or forms.ambiguity or forms.open_ends or lacks or clashes:
        return None
    months = tuple(map(str, value.formats.months or ("en",)))
    added = {
        "dates": tuple(form for form in forms.formats if form not in given),
        "months": tuple(language for language in forms.months if language not in months),
    }
    settings = {key: (*before, *added[key]) for key, before in (("dates", given), ("months", months)) if added[key]}
    pasted = _settings(value.written, settings, added)
    if not pasted:
        return None
    texts = ", ".join(f"{key}: {flow_list(items)}" for key, items in settings.items())
    reads = f"reads all {_cells(sum(counts.values()))} that are not dates now"
    return MappingEdit(f"{_at(value.place)} {value.field.label}: {texts} {reads}", tuple(pasted))


def _settings(
    written: Keys, settings: Mapping[str, tuple[str, ...]], added: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Lists that a value has are changed, from the end of its line to the start; the others are new."""
    own = sorted((written.key(key) for key in settings if key in written), key=lambda key: -key.place.column)
    steps = [_into_list(written[key], settings[key], added[key]) for key in own]
    new = [f"{key}: {flow_list(items)}" for key, items in settings.items() if key not in own]
    if new:
        keys = _NewKeys(lambda indent: (indent + one for one in new), lambda form: [form(", ".join(new))])
        steps.append(_into_value(written, keys))
    return [line for step in steps for line in step] if all(steps) else []


def _into_list(node: Node, items: tuple[str, ...], added: tuple[str, ...]) -> list[str]:
    place = node.place
    if isinstance(node, Items) and not (isinstance(node[0], Text) and node[0].in_braces):
        indent = " " * (place.column - 1)
        return [f"# Insert below line {node[-1].place.line}:", *(f"{indent}- {scalar(one)}" for one in added)]
    listed = re.match(r"\[[^\[\]]*\]", place.text[place.column - 1 :])
    typed = _typed(node) if isinstance(node, Text) else listed and listed[0]
    return [_instead_of(typed, place), flow_list(items)] if typed else []


def _with_day_and_month_swapped(date_format: str) -> str:
    return date_format.replace("%d", "%\0").replace("%m", "%d").replace("%\0", "%m")


# --- where lines belong: each of these is an instruction and what to paste, or empty if there is no line for it -----


@dataclass(frozen=True, slots=True)
class _NewKeys:
    """New keys of a value, as lines, and as what is between braces, with what belongs around it."""

    lines: Callable[[str], Iterable[str]]
    flow: Callable[[Callable[[str], str]], Iterable[str]]


def _into_value(written: Keys, new: _NewKeys) -> list[str]:
    column = written.value("column")
    if isinstance(column, Text) and column.place is written.place:  # only a column: `level: Level`
        return _beside_column(column, new)
    if written.in_braces:
        return _after("{", written.place, new.flow(lambda text: f"{text}, "))
    return _above(next(iter(written)).place, new.lines)


def _beside_column(column: Text, new: _NewKeys) -> list[str]:
    place, typed = column.place, _typed(column)
    if typed is None:
        return []
    before, comment = place.text[: place.column - 1].rstrip(), place.text[place.column - 1 + len(typed) :].strip()
    key = re.fullmatch(r"(\s*(?:- +)*)\S.*:", before)
    if key is None or column.in_braces:
        return [_instead_of(typed, place), *new.flow(lambda text: f"{{column: {typed}, {text}}}")]
    indent = " " * (len(key[1]) + 2)
    first = f"{before}   {comment}".rstrip()
    return [f"# Replace line {place.line} by:", first, f"{indent}column: {typed}", *new.lines(indent)]


def _above(place: LinePlace, lines: Callable[[str], Iterable[str]]) -> list[str]:
    indent = place.text[: place.column - 1]
    return [] if indent.strip() else [f"# Insert above line {place.line}:", *lines(indent)]


def _after(sign: str, place: LinePlace, pasted: Iterable[str]) -> list[str]:
    end = place.text.find(sign, place.column - 1) + 1
    return [f"# Insert after {place.text[:end].strip()} in line {place.line}:", *pasted] if end else []


def _instead_of(typed: str, place: LinePlace) -> str:
    return f"# Write instead of {typed} in line {place.line}, from character {place.column}:"


def _typed(text: Text) -> str | None:
    """The text as it is in its line, with its quotes; None if it is written over several lines or has an anchor."""
    rest = text.place.text[text.place.column - 1 :]
    quoted = re.match(r"""\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'""", rest)
    return quoted[0] if quoted else str(text) if rest.startswith(text) else None


# --- words --------------------------------------------------------------------------------------------


def _at(place: LinePlace) -> str:
    return f"{place.file}:{place.line}"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _csv(text: str | None) -> str:
    text = text or ""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,;"\n\r]', text) else text
