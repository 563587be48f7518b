"""Has a workbook read by a child process, and makes whatever becomes of that process one clear answer."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from typing import IO

from importer.child_process import child_environment, python_command
from importer.errors import UnusableInput
from importer.extract.file_kind import FileKind
from importer.extract.sheet import ReadingLimits
from importer.extract.worker_protocol import Batch, Refusal, Request, SheetEnd, SheetHead, decoded, read_frame
from importer.models import FilePlace, Problem

# What Python and Rust say where memory is not given, or more is wanted than there can be.
_OUT_OF_MEMORY = ("MemoryError", "memory allocation", "Cannot allocate", "capacity overflow", "start new thread")
# What calamine says of an ODS whose blank cells it would have to make.
_TOO_MANY_CELLS = re.compile(r"\((\d+) cells requested, max (\d+)\)")
_PIPE = 1 << 20  # bytes: a batch fits in at once, so that the child goes on while it is taken
_ENGINES = dict.fromkeys(FileKind, ("calamine",)) | {FileKind.XLSX: ("calamine", "openpyxl")}


@dataclass(frozen=True, slots=True)
class WorkbookSource:
    """The workbook to read. `name` is how the person knows it, `sheet` the sheet that was asked for."""

    path: Path
    name: str
    kind: FileKind
    sheet: str | None
    limits: ReadingLimits


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """A sheet that was read to its end: all its rows, as compact as they came."""

    head: SheetHead
    end: SheetEnd
    _batches: tuple[bytes, ...]

    def batches(self) -> Iterator[Batch]:
        """The batches in row order; may be called again."""
        for frame in self._batches:
            batch = decoded(frame)
            if isinstance(batch, Batch):
                yield batch


@dataclass(frozen=True, slots=True)
class _Failure:
    """How a child ended that gave no answer."""

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
        """The last line of what it wrote, without the name of the exception."""
        lines = [line for line in self.stderr.splitlines() if not line.startswith("note:")]
        last = lines[-1].strip() if lines else ""
        return last.rpartition("Error: ")[2][:200] or f"its reader ended with {self.code}"


def read_workbook(source: WorkbookSource) -> ReadSheet:
    """Read a sheet with the fastest reader, and with the next one where that fails.

    Raises:
        UnusableInput: the workbook has no such sheet, is damaged, or would cost more than the limits allow.
    """
    failures = []
    for engine in _ENGINES[source.kind]:
        answer = _ask(source, engine)
        if isinstance(answer, ReadSheet):
            return answer
        failures.append(answer)
        if answer.timed_out:
            break
    # Proof of damage is the reason, whatever it was that the damage did to the other reader.
    raise UnusableInput(_problem(source, max(failures, key=lambda failure: failure.proves_damage)))


def _ask(source: WorkbookSource, engine: str) -> ReadSheet | _Failure:
    limits = source.limits
    request = Request(
        str(source.path.absolute()),
        source.name,
        source.kind.value,
        engine,
        source.sheet,
        limits.memory,
        limits.seconds,
        limits.unpacked,
    )
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

        def give_up() -> None:
            timed_out.append(True)
            child.kill()

        clock = Timer(limits.seconds, give_up)
        clock.start()
        try:
            frames = _converse(child, request)
            code = child.wait()
        finally:
            clock.cancel()
            child.kill()
        if code == 0:
            return _collected(frames, source.name)
        return _Failure(bool(timed_out), code, _written(errors))


def _converse(child: subprocess.Popen[bytes], request: Request) -> list[bytes]:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with child.stdin as pipe:
            pipe.write(request.to_bytes())
    except BrokenPipeError:
        return []  # it died before it read; its exit code says so
    frames = []
    while (frame := read_frame(child.stdout)) is not None:
        frames.append(frame)
    return frames


def _collected(frames: list[bytes], name: str) -> ReadSheet:
    last = decoded(frames[-1])
    if isinstance(last, Refusal):
        raise UnusableInput([replace(problem, place=FilePlace(name)) for problem in last.problems])
    head = decoded(frames[0])
    assert isinstance(head, SheetHead)
    assert isinstance(last, SheetEnd)
    return ReadSheet(head, last, tuple(frames[1:-1]))


def _written(errors: IO[bytes]) -> str:
    errors.seek(0)
    return errors.read(1 << 20).decode("utf-8", "replace").strip()


def _problem(source: WorkbookSource, failure: _Failure) -> Problem:
    place = FilePlace(source.name)
    if failure.timed_out:
        return Problem(
            "workbook-too-slow",
            f"reading the workbook took more than {source.limits.seconds:g} seconds and was given up",
            "save the sheet as CSV, or allow more time with IMPORTER_WORKBOOK_SECONDS",
            place,
        )
    if cells := _TOO_MANY_CELLS.search(failure.stderr):
        return Problem(
            "workbook-too-large",
            f"the sheet has {int(cells[1]):,} cells, blank ones too, and at most {int(cells[2]):,} are read",
            "delete what lies far right of or below the table and save it again, or save the sheet as CSV",
            place,
        )
    if failure.out_of_memory and not failure.proves_damage:
        return Problem(
            "workbook-too-large",
            f"reading the workbook takes more than the {source.limits.memory >> 20:,} MB of memory that are allowed",
            "delete what lies far right of or below the table, save the sheet as CSV, or allow more with "
            "IMPORTER_WORKBOOK_MEMORY_MEGABYTES",
            place,
        )
    if "password" in failure.reason.lower():
        return Problem(
            "workbook-encrypted",
            "the workbook is encrypted",
            "open it with its password and save it without one",
            place,
        )
    return Problem(
        "workbook-damaged",
        f"the workbook is damaged and cannot be read ({failure.reason})",
        "open it in a spreadsheet program and save it again",
        place,
    )
