"""Opens a source: detects its file type, and for a CSV its encoding and delimiter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from importer.models import SourceOptions
from importer.problems import FilePlace, Origin, Problem, UnusableInput, file_problem, unusable_file
from importer.sources.csv_file import CsvFile, Encoding, Survey, shown_delimiter
from importer.sources.csv_records import CsvRecords, Unreadable
from importer.sources.encoding import doubtful_encoding, find_encoding
from importer.sources.results_file import results_file_elsewhere, run_of_report
from importer.sources.results_reader import is_results_file
from importer.sources.sheet import EXCEL_BLOCK, USUAL_LIMITS, FileKind, ReadingLimits, Sheet
from importer.sources.source_file import file_kind
from importer.sources.table import RecordSource, has_table, open_table
from importer.sources.table_warnings import hidden_tables_not_read
from importer.sources.workbook import sheet_heads, workbook_records
from importer.text.normalize import normalize_name

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 18  # characters from which the delimiter is detected
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_MIN_SHARE = 0.5  # of the records that must have the same number of columns
_ONE_COLUMN = ","  # of a file without a delimiter: result CSVs are written with it


def open_sheet(
    path: Path, options: SourceOptions, limits: ReadingLimits = USUAL_LIMITS, *, shown_as: str | None = None
) -> Sheet:
    """Open a CSV or a workbook and find its table.

    `shown_as` is the file name for messages, if the person knows the file by another name than `path`. A workbook is
    read here, once; a CSV is read by each call of `Sheet.rows`.

    Raises UnusableInput: the file does not exist, its format is not supported, its encoding must be declared, no header
    is found, ...
    """
    name = shown_as if shown_as is not None else str(path)
    kind = file_kind(path, name, limits.source)
    return open_table(_records(path, name, kind, options, limits), options)


def _records(path: Path, name: str, kind: FileKind, options: SourceOptions, limits: ReadingLimits) -> RecordSource:
    if kind is FileKind.CSV:
        return open_csv(path, name, options, limits).source()
    if run_of_report(path) is not None and is_results_file(path):
        raise results_file_elsewhere(Origin(name))
    source = workbook_records(path, name, kind, options, limits)
    if options.sheet is not None:
        return source
    hidden = source.hidden_tables
    if options.header_row is None and not has_table(source, options):
        source = _other_sheet(source, path, name, kind, options, limits) or source
    warnings = source.warnings
    return replace(
        source, warnings=lambda layout: (*warnings(layout), *hidden_tables_not_read(_tables(hidden), layout))
    )


def _tables(sources: Iterable[RecordSource]) -> Iterator[Sheet]:
    for source in sources:
        with suppress(UnusableInput):  # it has no table
            yield open_table(source, SourceOptions())


def _other_sheet(
    cover: RecordSource, path: Path, name: str, kind: FileKind, options: SourceOptions, limits: ReadingLimits
) -> RecordSource | None:
    """The only other visible sheet with a table, where the first one has none; None if no other has one.

    Raises UnusableInput: several of the first few have one, or a mapping reads columns that only others have.
    """
    first = cover.origin.sheet
    heads = sheet_heads(path, name, kind, [title for title in cover.sheets if title != first], limits)
    titles = [head.origin.sheet for head in heads if has_table(head, options, len(options.names) // 2 + 1)]
    has_none, one = ("has none of the mapping's columns", "them") if options.names else ("has no table", "one")
    if not titles:
        return None
    shown = ", ".join(map(repr, titles))
    # Of a workbook whose first sheet is another table, a person says which sheet a mapping reads.
    if len(titles) > 1 or has_table(cover, replace(options, names=())):
        message = f"the first sheet {first!r} {has_none}, but {shown} {'has' if len(titles) == 1 else 'have'} {one}"
        hint = f"set sheet: under source: in the mapping to {'it' if len(titles) == 1 else 'one of them'}"
        raise UnusableInput(Problem("sheet-undecided", message, hint, FilePlace(name), sheets=tuple(cover.sheets)))
    found = workbook_records(path, name, kind, replace(options, sheet=titles[0]), limits)
    message = f"the first sheet {first!r} has no table; the sheet {shown} is read"
    warning = file_problem(
        "sheet-chosen", message, "to read another sheet, set sheet: under source: in the mapping", name
    )
    known = found.warnings
    return replace(found, warnings=lambda layout: (warning, *known(layout)))


# --- CSV ----------------------------------------------------------------------------------------


def open_csv(path: Path, name: str, options: SourceOptions, limits: ReadingLimits) -> CsvFile:
    """A CSV with its encoding and delimiter, detected or as the options declare them.

    Raises UnusableInput: as open_sheet.
    """
    problems: list[Problem] = []
    delimiter: str | None = None
    found: Survey | None = None
    try:
        delimiter = _declared_delimiter(options.delimiter) if options.delimiter is not None else None
    except UnusableInput as error:
        problems.extend(error.problems)
    try:
        found = find_encoding(path, name, options.encoding, options.names)
    except UnusableInput as error:
        problems.extend(error.problems)
    if problems or found is None:
        raise UnusableInput(problems)
    doubt = doubtful_encoding(path, name, found.encoding) if options.encoding is not None else None
    lines = _first_lines(path, found.encoding)
    in_sep_line = _sep_line_delimiter(lines)
    of_sep_line = _split(lines[1:], in_sep_line) if in_sep_line is not None else None
    is_wrong = of_sep_line is not None and of_sep_line.columns == 1  # `sep=;` above rows with commas
    chosen = delimiter or (None if is_wrong else in_sep_line)
    if chosen is None and (split := _likely_split(lines[is_wrong:], name, options.names)) is not None:
        chosen = split.delimiter
    return CsvFile(
        path,
        Origin(name),
        found,
        chosen or _ONE_COLUMN,
        limits.cell_characters,
        limits,
        has_sep_line=in_sep_line is not None,
        delimiter_known=chosen is not None,
        warnings=(doubt,) if doubt is not None else (),
    )


def _first_lines(path: Path, encoding: Encoding, limit: int = 200, characters: int = _SAMPLE) -> list[str]:
    """The first lines of a file, to detect its delimiter. The last may be cut; undecodable bytes become U+FFFD."""
    lines: list[str] = []
    with path.open(encoding=encoding.codec, errors="replace", newline="") as file:
        while len(lines) < limit and characters > 0 and (line := file.readline(characters)):
            lines.append(line)
            characters -= len(line)
    return lines


# --- the delimiter of a CSV ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Split:
    """A sample split by a delimiter: the most frequent number of columns, and the share of records with it."""

    delimiter: str
    columns: int
    share: float

    def __str__(self) -> str:
        return shown_delimiter(self.delimiter)


def _declared_delimiter(declared: str) -> str:
    """The character that a mapping's `delimiter:` means.

    Raises UnusableInput: it is not one character, or is a quote or a line break.
    """
    delimiter = _NAMES.get(declared.strip().lower(), declared)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        message = f"{declared!r} is not a valid delimiter"
        hint = 'give one character, such as "," or ";" or "|", or tab'
        raise unusable_file("delimiter-invalid", message, hint, "delimiter: in the mapping")
    return delimiter


def _sep_line_delimiter(lines: list[str]) -> str | None:
    """The delimiter in a first line `sep=;`, which spreadsheet programs write and read."""
    mark = lines[0].rstrip("\r\n") if lines else ""
    return mark[4] if len(mark) == 5 and mark.lower().startswith("sep=") and mark[4] in _DELIMITERS else None


def _likely_split(sample: Sequence[str], name: str, names: Sequence[str]) -> _Split | None:
    """The split by the delimiter that splits the sample most evenly; None if the file has one column. names: those of
    columns, which decide where several delimiters split every row alike.

    Raises UnusableInput: every delimiter in the sample gives uneven rows, or two give as many columns.
    """
    splits = [split for split in (_split(sample, delimiter) for delimiter in _DELIMITERS) if split]
    even = [split for split in splits if split.columns > 1 and split.share >= _MIN_SHARE]
    hint = 'set it under source: in the mapping, such as `delimiter: ";"`'
    if even:
        even.sort(key=lambda split: (round(split.share, 1), split.columns, split.share), reverse=True)
        if len(perfect := [split for split in even if split.share == 1]) > 1:
            known = [_count_names(sample, split.delimiter, names) for split in perfect]
            if known.count(max(known)) == 1:
                return perfect[known.index(max(known))]
            if perfect[0].columns == perfect[1].columns and perfect[0] is even[0]:
                message = f"both {perfect[0]} and {perfect[1]} give every row {perfect[0].columns} columns"
                raise unusable_file("delimiter-not-found", message, hint.replace("it", "the delimiter", 1), name)
        return even[0]
    if not any(split.columns > 1 for split in splits):
        return None
    message = "the delimiter cannot be detected: none of , ; tab | gives every row the same number of columns"
    raise unusable_file("delimiter-not-found", message, hint, name)


def _count_names(sample: Sequence[str], delimiter: str, names: Sequence[str]) -> int:
    """How many of these names the sample has as cells."""
    wanted, found = set(map(normalize_name, names)), set()
    with suppress(Unreadable):
        for cells, _, _ in CsvRecords(iter([list(sample)]), delimiter, _SAMPLE):
            found |= wanted.intersection(map(normalize_name, cells))
    return len(found - {""})


def _split(sample: Sequence[str], delimiter: str) -> _Split | None:
    widths: Counter[int] = Counter()
    blocks: defaultdict[int, Counter[int]] = defaultdict(Counter)  # the same of each block
    with suppress(Unreadable):  # the sample may end inside a quote, or the delimiter is wrong
        records = CsvRecords(iter([list(sample)]), delimiter, _SAMPLE)
        for index, (cells, joined, fault) in enumerate(records):
            if joined and fault is None:
                widths[len(cells)] += 1
                blocks[index // EXCEL_BLOCK][len(cells)] += 1
    if not widths:
        return None
    wide = {width: count for width, count in widths.items() if width > 1} or widths
    columns = max(wide, key=lambda width: (wide[width], width))
    share = widths[columns] / widths.total()
    usual = [block.most_common(1)[0] for block in blocks.values()]
    if share < _MIN_SHARE and usual[0][0] == max(widths) and sum(count for _, count in usual) >= 0.9 * widths.total():
        return _Split(delimiter, max(widths), _MIN_SHARE)
    return _Split(delimiter, columns, share)
