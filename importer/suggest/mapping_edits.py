"""Changes of a mapping that would read what it cannot read: lines to paste, each with the line that it belongs to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from importer.mapping import Kind, ResolvedMapping, ResolvedTable, ResolvedValue, comment_text, flow_list, scalar
from importer.problems import LinePlace, Unread
from importer.suggest.date_forms import date_forms
from importer.suggest.proposal import TableLine
from importer.suggest.value_settings import table_of

_QUOTED = r"""\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'"""
_PLAIN_LINE = re.compile(rf"(\s*[^\s{{\[#].*?:)\s+({_QUOTED}|[^\s{{\[|>&*#\"'][^#{{}},\[\]]*?)(?:\s+#.*|\s*)")


@dataclass(frozen=True, slots=True)
class MappingEdit:
    """A change of the mapping: what it would do in one line, and the lines to paste, the first of them comments."""

    summary: str
    lines: tuple[str, ...]


def mapping_edits(mapping: ResolvedMapping, unread: Mapping[tuple[Unread, str], int]) -> tuple[MappingEdit, ...]:
    """The changes that would help, in the order of the mapping file.

    unread: how often each text could not be read, with the code of its problem.
    """
    counts: dict[tuple[LinePlace, bool], Counter[str]] = defaultdict(Counter)
    for (one, code), count in unread.items():
        counts[one.setting, code == "date-invalid"][one.text] += count
    values = {value.place: value for value in mapping.values}
    found = []
    for (place, is_date), texts in sorted(counts.items(), key=lambda item: item[0][0].line):
        if (value := values.get(place)) is not None:
            found.append((_date_edit if is_date else _table_edit)(value, texts))
    return tuple(edit for edit in found if edit is not None)


# --- value tables -------------------------------------------------------------------------------------


def _table_edit(value: ResolvedValue, counts: Counter[str]) -> MappingEdit | None:
    """Lines for a value table, each unknown text with the most similar option."""
    options = value.field.options or tuple(dict.fromkeys(value.table.targets.values() if value.table else ()))
    lines = table_of(counts.items(), options)
    if not lines or not options:
        return None
    likely = sum(line.target is not None for line in lines)
    total = sum(counts.values())
    texts = f"{len(lines)} unknown text{'' if len(lines) == 1 else 's'} in {_cells(total)}"
    summary = f"{_at(value.place)} {value.field.label}: {texts}, {likely} with a similar option"
    known = f"# The options are: {comment_text(', '.join(options))}"
    if value.table is not None:
        return MappingEdit(summary, (known, *_into_table(value.table, lines)))
    return MappingEdit(summary, (known, *_into_value(value.place, "values", lines)))


def _into_table(table: ResolvedTable, lines: Iterable[TableLine]) -> Iterator[str]:
    place = table.place
    after = place.text[place.column - 1 :].partition(":")[2].strip()
    if not after or after.startswith("#"):
        yield f"# Insert below line {place.line}:"
        yield from _block(lines, " " * (place.column + 1))
    elif after.startswith("{"):
        yield f"# Insert after values: {{ in line {place.line}:"
        yield from _flow(lines, "{}, ")
    else:
        file = re.split(r"[,}#]", after)[0].strip(" \"'")
        yield f"# Add to the file {file}:"
        yield from (f"{_csv(line.cell)},{_csv(line.target)}" for line in lines if line.target is not None)


def _into_value(place: LinePlace, key: str, lines: Iterable[TableLine]) -> Iterator[str]:
    indent = " " * (place.column - 1)
    if (plain := _plain_line(place)) is not None:
        before, column = plain
        indent = " " * (len(before) - len(before.lstrip()) + 2)
        yield f"# Replace line {place.line} by:"
        yield from (before, f"{indent}column: {column}", f"{indent}{key}:")
        yield from _block(lines, indent + "  ")
    elif (name := _inline_name(place)) is not None:
        yield f"# Write instead of {name} in line {place.line}:"
        yield from _flow(lines, f"{{{{column: {name}, {key}: {{{{{{}}}}}}}}}}")
    elif place.text[place.column - 1 :].startswith("{"):
        yield f"# Insert after {{ in line {place.line}:"
        yield from _flow(lines, key + ": {{{}}}, ")
    else:
        yield f"# Insert above line {place.line}:"
        yield f"{indent}{key}:"
        yield from _block(lines, indent + "  ")


def _plain_line(place: LinePlace) -> tuple[str, str] | None:
    """A line `level: Level   # comment` as `level:` and `Level`; None if the value is written in another form."""
    found = _PLAIN_LINE.fullmatch(place.text)
    return (found[1], found[2]) if found and found.start(2) == place.column - 1 else None


def _inline_name(place: LinePlace) -> str | None:
    """A column between the braces of other keys: `Level` in `answers: {level: Level, city: City}`; None otherwise."""
    before, rest = place.text[: place.column - 1], place.text[place.column - 1 :]
    found = re.match(rf"{_QUOTED}|[^,{{}}\[\]]+", rest)
    return found[0].strip() if found and before.strip() and not rest.startswith("{") else None


def _block(lines: Iterable[TableLine], indent: str) -> Iterator[str]:
    for line in lines:
        if line.target is None:
            yield f"{indent}# {scalar(line.cell)}: ...   # {_cells(line.count)}; no similar option"
        else:
            note = "" if line.certain else ", please check"
            yield f"{indent}{scalar(line.cell)}: {scalar(line.target)}   # {_cells(line.count)}{note}"


def _flow(lines: Iterable[TableLine], form: str) -> Iterator[str]:
    """One line for between braces; with texts that have no similar option, a second one to complete."""
    lines = tuple(lines)
    known = [f"{scalar(line.cell)}: {scalar(line.target)}" for line in lines if line.target is not None]
    open_ones = [line for line in lines if line.target is None]
    if known:
        yield form.format(", ".join(known))
    if open_ones:
        counts = ", ".join(f"{scalar(line.cell)} ({_cells(line.count)})" for line in open_ones)
        yield f"# No similar option for {counts}. Complete this line and use it instead:"
        yield "# " + form.format(", ".join([*known, *(f"{scalar(line.cell)}: ..." for line in open_ones)]))


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
    added = [form for form in forms.formats if form not in given]
    settings = {"dates": (*given, *added)} if added else {}
    months = dict.fromkeys((*map(str, value.formats.months or ("en",)), *forms.months))
    if forms.months and len(months) > len(value.formats.months or ("en",)):
        settings["months"] = tuple(months)
    if not settings:
        return None
    cells = _cells(sum(counts.values()))
    texts = ", ".join(f"{key}: {flow_list(items)}" for key, items in settings.items())
    summary = f"{_at(value.place)} {value.field.label}: {texts} reads all {cells} that are not dates now"
    return MappingEdit(summary, tuple(_date_lines(value.place, settings)))


def _date_lines(place: LinePlace, settings: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    keys = [f"{key}: {flow_list(items)}" for key, items in settings.items()]
    if (plain := _plain_line(place)) is not None:
        before, column = plain
        yield f"# Replace line {place.line} by:"
        yield f"{before} {{column: {column}, {', '.join(keys)}}}"
        return
    if (name := _inline_name(place)) is not None:
        yield f"# Write instead of {name} in line {place.line}:"
        yield f"{{column: {name}, {', '.join(keys)}}}"
        return
    yield f"# Set in the value at line {place.line}, instead of its own {' and '.join(settings)}:"
    yield from keys


def _with_day_and_month_swapped(date_format: str) -> str:
    return date_format.replace("%d", "%\0").replace("%m", "%d").replace("%\0", "%m")


# --- words --------------------------------------------------------------------------------------------


def _at(place: LinePlace) -> str:
    return f"{place.file}:{place.line}"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _csv(text: str | None) -> str:
    text = text or ""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,;"\n\r]', text) else text
