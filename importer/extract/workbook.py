"""Opens a workbook: a child process reads the sheet, and its table is found here.

However the child ends, the result is a sheet or one clear problem.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Timer

from importer.extract.cell_flags import MergedRange
from importer.extract.cell_text import quoted
from importer.extract.header import place_of
from importer.extract.kept_sheets import kept_sheet
from importer.extract.sheet import CellProblem, FileKind, Layout, ReadingLimits, Record
from importer.extract.sheet_content import Batch, Refusal, Request, SheetFacts, decoded, encoded, frame, read_frame
from importer.extract.table import RecordSource
from importer.extract.table_warnings import hidden_columns_read, hidden_rows_read
from importer.models import SourceOptions
from importer.problems import (
    CellPlace,
    FilePlace,
    Origin,
    Problem,
    UnusableInput,
    column_letter,
    file_problem,
    unusable_file,
)
from importer.processes import child_environment, python_command

_MAX_HEADS = 8  # sheets that are looked at, beside the one that is read
_HIDDEN_SECONDS = 20  # for hidden sheets, of which only a warning may come
_SHOWN = 10  # merged ranges in one warning
# The messages of Python and Rust when memory is short.
_OUT_OF_MEMORY = ("MemoryError", "memory allocation", "Cannot allocate", "capacity overflow", "start new thread")
_PIPE = 1 << 20  # bytes: large enough for a batch, so that the child can continue while it is read
_ENGINES = dict.fromkeys(FileKind, ("calamine",)) | {FileKind.XLSX: ("calamine", "openpyxl")}


def workbook_records(
    path: Path, name: str, kind: FileKind, options: SourceOptions, limits: ReadingLimits
) -> RecordSource:
    """The records of a sheet of a workbook. `name` is the file name for messages.

    Raises:
        UnusableInput: it is damaged or too large, or does not have the sheet.
    """
    requests = _requests(path, name, kind, options.sheet, limits)
    sheet = _read(requests) if limits.kept is None else _read_once(requests, Path(limits.kept))
    facts, origin = sheet.facts, sheet.origin
    if facts.unchecked and options.hidden_rows == "skip":
        message = f"the mapping skips hidden rows, but which rows are hidden cannot be read ({facts.unchecked})"
        hint = "open it in a spreadsheet program and save it as .xlsx, or remove hidden_rows: from the mapping"
        raise unusable_file("hidden-rows-unknown", message, hint, place_of(origin))
    how, hidden = f"{kind}, sheet {origin.sheet!r}", frozenset(facts.hidden)
    return RecordSource(
        origin,
        how,
        sheet.records,
        lambda layout: (
            *sheet.warnings(layout),
            *hidden_rows_read(hidden, sheet.records, options, layout),
            *hidden_columns_read(facts.hidden_columns, options, layout),
        ),
        even=False,
        hidden=hidden,
        sheets=tuple(facts.visible),
        hidden_tables=tuple(_heads(name, facts.hidden_sheets, facts.hidden_heads)),
    )


def sheet_heads(
    path: Path, name: str, kind: FileKind, titles: Sequence[str], limits: ReadingLimits
) -> list[RecordSource]:
    """The first rows of sheets of a workbook, of eight at most; none if they cannot be read."""
    return list(_heads(name, titles, _read_heads(_requests(path, name, kind, None, limits), titles)))


def _heads(name: str, titles: Sequence[str], batches: Sequence[bytes]) -> Iterator[RecordSource]:
    for title, data in zip(titles, batches, strict=False):
        yield RecordSource(Origin(name, title), "", partial(_all_records, (data,)), even=False)


def _requests(path: Path, name: str, kind: FileKind, sheet: str | None, limits: ReadingLimits) -> list[Request]:
    """One for each reader."""
    file, cost = str(path.absolute()), (limits.memory, limits.seconds, limits.unpacked)
    return [Request(file, name, kind.value, engine, sheet, *cost) for engine in _ENGINES[kind]]


@dataclass(frozen=True, slots=True)
class _ReadSheet:
    """A sheet with all its rows, kept as the bytes that the child sent."""

    origin: Origin
    facts: SheetFacts
    batches: Iterable[bytes]

    def records(self) -> Generator[Record, None, None]:
        """Every row, including blank ones; may be called again."""
        return _all_records(self.batches)

    def warnings(self, layout: Layout) -> Iterator[Problem]:
        yield from self._unchecked()
        yield from self._other_sheets()
        yield from self._merged(layout)
        yield from self._lost_digits(layout)
        yield from self._formats(layout)
        yield from self._uncalculated(layout)
        yield from self._in_utc(layout)

    def _unchecked(self) -> Iterator[Problem]:
        if self.facts.unchecked:
            message = (
                f"only the values of this sheet could be read, not its formatting ({self.facts.unchecked}): error "
                "cells and formulas without a stored result are read as blank; leading zeros, percent signs, hidden "
                "rows and merged cells may be missing or wrong"
            )
            hint = "open it in a spreadsheet program and save it as .xlsx, or compare the rows with the original"
            yield Problem("sheet-partly-read", message, hint, place_of(self.origin))

    def _other_sheets(self) -> Iterator[Problem]:
        if self.facts.others:
            message = f"only the sheet {self.facts.title!r} is read, not {', '.join(map(repr, self.facts.others))}"
            hint = "to read another sheet, set sheet: under source: in the mapping"
            yield file_problem("sheets-not-read", message, hint, self.origin.file)

    def _merged(self, layout: Layout) -> Iterator[Problem]:
        shown = [
            merged
            for merged in (MergedRange(*each) for each in self.facts.merged)
            if merged.last_row > layout.header_row
            and merged.first_row not in layout.left_out
            and merged.first_index < len(layout.columns)
        ]
        if shown:
            ranges = ", ".join(map(_address, shown[:_SHOWN])) + (", ..." if len(shown) > _SHOWN else "")
            some = f"{len(shown):,} ranges of cells are" if len(shown) > 1 else "a range of cells is"
            message = f"{some} merged ({ranges}); only the first cell of each has the value, the others are blank"
            hint = "unmerge the cells and fill them in, unless blank is correct"
            yield Problem("cells-merged", message, hint, place_of(self.origin))
        if covered := [each for each in self.facts.covered if each[0] not in layout.left_out]:
            count = "values are" if len(covered) > 1 else "value is"
            message = f"{len(covered):,} {count} hidden under merged cells and not read ({_listed(covered)})"
            hint = "unmerge the cells to see the values; clear them, or keep the cells unmerged"
            yield Problem("cells-merged", message, hint, place_of(self.origin))

    def _lost_digits(self, layout: Layout) -> Iterator[Problem]:
        for index, row in sorted(self.facts.lost_digits.items()):
            if row > layout.header_row:
                message = "the column contains numbers of more than 15 digits, but a workbook stores only 15"
                hint = "if they are IDs, format the column as text in the original and export it again"
                yield Problem("digits-lost", message, hint, CellPlace(self.origin, row, layout.column_at(index)))

    def _formats(self, layout: Layout) -> Iterator[Problem]:
        for index, number_format, cells in self.facts.formats:
            if own := [each for each in cells if each[0] > layout.header_row]:
                row, text = own[0]
                message = (
                    f"the number format {quoted(number_format)} shows something else than is read in {len(own):,} "
                    f"{'cells' if len(own) > 1 else 'cell'} of the column; this one is read as {quoted(text)}"
                )
                hint = "if the format's letters or digits belong to the value, type them into the cells as text"
                yield Problem("format-not-read", message, hint, CellPlace(self.origin, row, layout.column_at(index)))

    def _uncalculated(self, layout: Layout) -> Iterator[Problem]:
        for index, rows in sorted(self.facts.uncalculated.items()):
            if own := [row for row in rows if row > layout.header_row]:
                message = (
                    f"{len(own):,} {'formulas' if len(own) > 1 else 'formula'} of the column may not have been "
                    "calculated: the result is 0 or blank, and the workbook asks to be calculated when it is opened"
                )
                hint = "open it in a spreadsheet program and save it, then import it again"
                yield Problem(
                    "formulas-not-calculated", message, hint, CellPlace(self.origin, own[0], layout.column_at(index))
                )

    def _in_utc(self, layout: Layout) -> Iterator[Problem]:
        for index, rows in sorted(self.facts.in_utc.items()):
            if own := [row for row in rows if row > layout.header_row]:
                message = (
                    f"cells of the column ({len(own):,}) store a date in the time zone UTC; the day may be "
                    "another than the one that was typed"
                )
                hint = "compare the first dates with the original"
                yield Problem("dates-in-utc", message, hint, CellPlace(self.origin, own[0], layout.column_at(index)))


def _listed(cells: Sequence[tuple[int, int]]) -> str:
    """The addresses of the first cells, each of a row number and a column index."""
    some = ", ".join(f"{column_letter(index)}{row}" for row, index in cells[:_SHOWN])
    return some + (", ..." if len(cells) > _SHOWN else "")


def _address(merged: MergedRange) -> str:
    first = f"{column_letter(merged.first_index)}{merged.first_row}"
    return f"{first}:{column_letter(merged.last_index)}{merged.last_row}"


def _all_records(batches: Iterable[bytes]) -> Generator[Record, None, None]:
    for data in batches:
        batch = decoded(data)
        assert isinstance(batch, Batch)
        yield from _records(batch)


def _records(batch: Batch) -> Iterator[Record]:
    typed, problems = _typed(batch), _cell_problems(batch)
    for offset, cells in enumerate(zip(*batch.columns, strict=True)):
        number = batch.first + offset
        links, currencies = (tuple(each.get(number, {}).items()) for each in (batch.links, batch.currencies))
        yield Record(number, cells, typed[offset], problems.get(offset, ()), links, currencies)


def _typed(batch: Batch) -> Sequence[frozenset[int]]:
    """Which cells are typed, for each row of a batch."""
    always = frozenset(index for index, typed in enumerate(batch.typed) if typed is True)
    masks = [(index, mask) for index, mask in enumerate(batch.typed) if isinstance(mask, bytes)]
    if not masks:
        return [always] * batch.count
    known: dict[tuple[int, ...], frozenset[int]] = {}
    sets = []
    for pattern in zip(*(mask for _, mask in masks), strict=True):
        if pattern not in known:
            known[pattern] = always | {index for (index, _), typed in zip(masks, pattern, strict=True) if typed}
        sets.append(known[pattern])
    return sets


def _cell_problems(batch: Batch) -> dict[int, tuple[CellProblem, ...]]:
    problems: defaultdict[int, tuple[CellProblem, ...]] = defaultdict(tuple)
    for offset, index, texts in batch.problems:
        problems[offset] += (CellProblem(index, Problem(*texts)),)
    return problems


def _read_once(requests: Sequence[Request], folder: Path) -> _ReadSheet:
    """A sheet that is kept in a folder from now on, if it is not yet."""
    name, path, title = requests[0].name, Path(requests[0].path), requests[0].sheet
    kept = kept_sheet(folder, path, title, lambda: tuple(_read(requests).batches))
    facts = kept.facts
    if facts is None:
        read = _read(requests)
        facts = read.facts
        kept.keep(encoded(facts), tuple(read.batches))
    return _ReadSheet(Origin(name, facts.title), facts, kept)


# --- the child process --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Failure:
    """How a child process ended without a result."""

    timed_out: bool
    code: int
    stderr: str

    @property
    def out_of_memory(self) -> bool:
        return any(text in self.stderr for text in _OUT_OF_MEMORY)

    @property
    def proves_damage(self) -> bool:
        return "DamagedError: " in self.stderr

    @property
    def reason(self) -> str:
        """The last line of its stderr, without the name of the exception."""
        lines = [line for line in self.stderr.splitlines() if not line.startswith("note:")]
        last = lines[-1].strip() if lines else ""
        return last.rpartition("Error: ")[2][:200] or f"the reading process ended with exit code {self.code}"


def _read(requests: Sequence[Request]) -> _ReadSheet:
    """Read a sheet with the first request, or with the next one if that fails.

    Raises:
        UnusableInput: the workbook does not have the sheet, is damaged, or exceeds a limit.
    """
    name, failures = requests[0].name, []
    for request in requests:
        result = _run_child(request)
        if not isinstance(result, _Failure):
            sheet = _collected(result, name)
            hidden = sheet.facts.hidden_sheets if request.sheet is None else ()
            quick = replace(request, seconds=min(request.seconds, _HIDDEN_SECONDS))
            return replace(sheet, facts=replace(sheet.facts, hidden_heads=_read_heads([quick], hidden)))
        failures.append(result)
        if result.timed_out:
            break
    # If one reader proved damage, that is the reason, however the other one failed.
    raise _refusal(requests[0], max(failures, key=lambda failure: failure.proves_damage))


def _read_heads(requests: Sequence[Request], titles: Sequence[str]) -> list[bytes]:
    """A batch with the first rows of each of the first sheets with these titles; [] if they cannot be read."""
    wanted = [replace(request, heads=list(titles[:_MAX_HEADS])) for request in requests] if titles else []
    for result in map(_run_child, wanted):
        if not isinstance(result, _Failure):
            return [] if isinstance(decoded(result[-1]), Refusal) else result
    return []


def _run_child(request: Request) -> list[bytes] | _Failure:
    """The messages of a child process, or why it failed."""
    command = python_command("from importer.extract.workbook_child import main; main()")
    timed_out: list[bool] = []
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=child_environment(),
            pipesize=_PIPE,
        ) as child,
    ):

        def time_out() -> None:
            timed_out.append(True)
            child.kill()

        timer = Timer(request.seconds, time_out)
        timer.start()
        try:
            frames = _exchange(child, request)
            code = child.wait()
        finally:
            timer.cancel()
            child.kill()
        if code == 0:
            return frames
        errors.seek(0)
        return _Failure(bool(timed_out), code, errors.read(1 << 20).decode("utf-8", "replace").strip())


def _exchange(child: subprocess.Popen[bytes], request: Request) -> list[bytes]:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with child.stdin as pipe:
            pipe.write(frame(request))
    except BrokenPipeError:
        return []  # it ended before it read the request; the caller checks its exit code
    frames = []
    while (data := read_frame(child.stdout)) is not None:
        frames.append(data)
    return frames


def _collected(frames: list[bytes], name: str) -> _ReadSheet:
    last = decoded(frames[-1])
    if isinstance(last, Refusal):
        raise UnusableInput([replace(Problem(*problem), place=FilePlace(name)) for problem in last.problems])
    assert isinstance(last, SheetFacts)
    return _ReadSheet(Origin(name, last.title), last, tuple(frames[:-1]))


def _refusal(request: Request, failure: _Failure) -> UnusableInput:
    if failure.timed_out:
        message = f"reading the workbook took more than {request.seconds:g} seconds and was stopped"
        hint = "save the sheet as CSV, or raise IMPORTER_WORKBOOK_SECONDS"
        return unusable_file("limit-exceeded", message, hint, request.name)
    if failure.out_of_memory and not failure.proves_damage:
        message = f"reading the workbook needs more memory than the limit of {request.memory >> 20:,} MB"
        hint = (
            "delete cells far to the right of the table or far below it, save the sheet as CSV, or raise "
            "IMPORTER_WORKBOOK_MEMORY_MEGABYTES"
        )
        return unusable_file("limit-exceeded", message, hint, request.name)
    if "password" in failure.reason.lower():
        message = "the workbook is protected with a password"
        hint = "open it with its password and save it without a password"
        return unusable_file("workbook-encrypted", message, hint, request.name)
    message = "the workbook cannot be read: it is damaged, or has a form that importer does not know"
    if failure.proves_damage:  # else the reason is the words of a library
        message = f"the workbook is damaged and cannot be read ({failure.reason})"
    hint = "open it in a spreadsheet program and save it again"
    return unusable_file("workbook-damaged", message, hint, request.name)
