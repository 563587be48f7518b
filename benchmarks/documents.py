"""A migration with CVs, from a folder and from a .zip: are they uploaded as fast as curl does it, and in what memory?

The sink answers after a delay, as a service does; over as many connections, curl sends the same files.
"""

from __future__ import annotations

import csv
import random
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.contenders import Job, importer_call
from benchmarks.measuring import Failed, spend
from benchmarks.place import Place
from benchmarks.progress import show
from benchmarks.sink_process import SinkProcess

_CONNECTIONS: Final = 8
_FAULTY: Final = 0.04
_FAULTS: Final = (None, b"", b"<html>", b"PK\x03\x04")  # missing, empty, no documents
_SMALLEST: Final = 1_000  # bytes
_MAPPING: Final = """\
version: 1
target: {{job_post: 4f2c9a}}
candidate: {{email: E-mail, first_name: First, last_name: Last, cv: {{column: CV, folder: {folder}}}}}
answers: {{phone: {{value: "+905550000000"}}, permit: {{value: "yes"}}}}
"""
_SETTINGS: Final = {"IMPORTER_UPLOAD_PATH": "/files", "IMPORTER_UPLOAD_ID_AT": "/id"}
_PROCESSES: Final = (b"-m\0importer\0", b"from importer.")  # the command, and another one that prepares rows
_HEAD: Final = "who              seconds   x curl   check (MB)   run (MB)"


class _Migration(NamedTuple):
    """files: those that can be uploaded, in `cvs`; it lies beside `cvs.zip` and the source."""

    source: Path
    files: list[Path]


def measure_documents(place: Place, people: int, largest: int, delay: float, turns: int) -> None:
    """Print the seconds of all uploads, and the memory of all processes of importer together.

    people: each has a file of up to `largest` bytes, small ones as often as large ones. delay: in milliseconds.
    """
    with place.own_folder() as folder:
        migration = _write(folder, people, largest)
        size = sum(file.stat().st_size for file in migration.files)
        show(f"{len(migration.files):,} files, {size / 1e6:,.0f} MB, {_CONNECTIONS} connections, {delay:g} ms\n{_HEAD}")
        for _ in range(turns):
            by_curl = _seconds_of_curl(migration, folder, delay)
            show(f"{'curl':<14} {by_curl:9.2f}")
            for name in ("cvs", "cvs.zip"):
                seconds, checking, running = _import(migration, name, place, delay)
                show(f"{name:<14} {seconds:9.2f}   {seconds / by_curl:6.2f}   {checking:10.0f}   {running:8.0f}")


def _import(migration: _Migration, name: str, place: Place, delay: float) -> tuple[float, float, float]:
    mapping, peaks = migration.source.with_name("mapping.yaml"), list[float]()
    mapping.write_text(_MAPPING.format(folder=name), "utf-8")
    with place.own_folder() as folder, SinkProcess("--delay", str(delay)) as sink:
        for command in ("check", "run"):
            job = Job(migration.source, mapping, sink.url, _CONNECTIONS, folder)
            call = importer_call(job, command=command)
            with _memory() as found:
                spent = spend(call.command, {**call.environment, **_SETTINGS}, folder=folder)
            if spent.exit_code != 4:  # some files are faulty
                raise Failed(f"exit code {spent.exit_code}; its output: {spent.last_output}")
            peaks.append(max(found))
    return _seconds(sink, migration), peaks[0], peaks[1]


def _seconds_of_curl(migration: _Migration, folder: Path, delay: float) -> float:
    with SinkProcess("--delay", str(delay)) as sink:
        lines = [
            f'url = "{sink.url}/files"\nheader = "Expect:"\nform = "file=@{file}"\noutput = /dev/null'
            for file in migration.files
        ]
        listed = folder / "curl.txt"
        listed.write_text("\nnext\n".join(lines), "utf-8")
        spent = spend(["curl", "-sZ", "--parallel-max", str(_CONNECTIONS), "-K", str(listed)], folder=folder)
    if spent.exit_code:
        raise Failed(f"curl ended with {spent.exit_code}: {spent.last_output}")
    return _seconds(sink, migration)


def _seconds(sink: SinkProcess, migration: _Migration) -> float:
    if sink.figures.uploads != len(migration.files):
        raise Failed(f"{sink.figures.uploads} of {len(migration.files)} files were uploaded")
    return sink.figures.upload_seconds


def _write(folder: Path, people: int, largest: int) -> _Migration:
    chance, cvs, files = random.Random(46), folder / "cvs", list[Path]()
    cvs.mkdir()
    noise = chance.randbytes(largest)
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["E-mail", "First", "Last", "CV"])
        for number in range(people):
            path = cvs / f"cv_{number}.pdf"
            rows.writerow([f"person{number}@example.com", "Ada", f"Nr{number}", rf"D:\ats\{path.name}"])
            content = chance.choice(_FAULTS)
            if chance.random() > _FAULTY:
                size = int(_SMALLEST * (largest / _SMALLEST) ** chance.random())
                content = b"%%PDF-1.4\n%d " % number + noise[:size]
                files.append(path)
            if content is not None:
                path.write_bytes(content)
    shutil.make_archive(str(cvs), "zip", cvs)
    return _Migration(folder / "people.csv", files)


@contextmanager
def _memory() -> Iterator[list[float]]:
    """What all processes of importer have together, in MB, ten times a second while the block lasts (Linux)."""
    found, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            total = 0
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    command = (process / "cmdline").read_bytes()
                    if any(word in command for word in _PROCESSES):
                        lines = (process / "smaps_rollup").read_text().splitlines()
                        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            found.append(total / 1000)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        ended.set()
        looking.join()
