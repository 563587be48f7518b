"""How fast files are read, as ratios within one run: CSV against the bare csv module, workbooks against bare readers.

    python benchmarks/read.py [--rows 100000] [--times 3]

Each reading runs in its own process, in turn; of several, the fastest counts. Memory is the peak above the
memory before the file was opened, in MB (on Linux; 0 elsewhere). A workbook is held against bare openpyxl (xlrd for
XLS), which returns only the values. XLS needs LibreOffice, which writes it.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import chain
from pathlib import Path

_COLUMNS = 40


@dataclass(frozen=True)
class Measured:
    """One reading: seconds until the file was opened and until all rows were read; the peak of memory in MB."""

    opened: float
    seconds: float
    memory: float


# --- the files ----------------------------------------------------------------------------------

Cell = str | int | float | bool | date


def _row(number: int) -> list[Cell]:
    person: list[str | int | float | bool | date] = [
        f"Ada{number}",
        f"Lovelace{number}",
        f"ada{number}@example.com",
        442079460000 + number,
        date(1980 + number % 30, 1 + number % 12, 1 + number % 28),
        12.5 * number,
        "İstanbul",
        "Some longer text with words, and more",
        number % 2 == 0,
        f"0{number:07}",
    ]
    return person * (_COLUMNS // len(person))


def _write_csv(path: Path, rows: int) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"Column {index}" for index in range(_COLUMNS)])
        writer.writerows(_row(number) for number in range(rows))


def _write_xlsx(path: Path, rows: int) -> None:
    import xlsxwriter  # type: ignore[import-untyped]  # it ships no types

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        as_date = book.add_format({"num_format": "dd.mm.yyyy"})
        sheet.write_row(0, 0, [f"Column {index}" for index in range(_COLUMNS)])
        for number in range(rows):
            for index, cell in enumerate(_row(number)):
                sheet.write(number + 1, index, cell, as_date if isinstance(cell, date) else None)


def _write_xls(path: Path, rows: int) -> None:
    book = path.with_suffix(".xlsx")
    _write_xlsx(book, rows)
    command = ["soffice", f"-env:UserInstallation={path.parent.as_uri()}/profile", "--headless", "--convert-to", "xls"]
    subprocess.run([*command, "--outdir", path.parent, book], check=True, capture_output=True, timeout=900)
    book.unlink()


# --- the readings -------------------------------------------------------------------------------


_Open = Callable[[], Iterable[object]]
"""Opens a file and returns its rows, with the header."""


def _ours(path: Path) -> _Open:
    from importer.models import SourceOptions
    from importer.sources import open_sheet

    def rows() -> Iterable[object]:
        sheet = open_sheet(path, SourceOptions(header_row=1))
        return chain([sheet.columns], sheet.rows())

    return rows


def _bare_csv(path: Path) -> _Open:
    def rows() -> Iterator[object]:
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.reader(file)

    return rows


def _xlrd(path: Path) -> _Open:
    import xlrd  # type: ignore[import-untyped]  # it ships no types

    return lambda: xlrd.open_workbook(str(path)).sheet_by_index(0).get_rows()


def _openpyxl(path: Path) -> _Open:
    from openpyxl import load_workbook

    return lambda: load_workbook(path, read_only=True, data_only=True).worksheets[0].iter_rows(values_only=True)


_READERS = {"ours": _ours, "csv": _bare_csv, "openpyxl": _openpyxl, "xlrd": _xlrd}


def _measure_here(reader: str, path: Path, rows: int) -> Measured:
    open_file = _READERS[reader](path)
    before = _memory("VmRSS")
    _reset_peak()
    started = time.perf_counter()
    opened_rows = open_file()
    opened = time.perf_counter() - started
    count = sum(1 for _ in opened_rows)
    seconds = time.perf_counter() - started
    if count != rows + 1:
        raise SystemExit(f"{reader} read {count} rows of {rows + 1}")
    return Measured(opened, seconds, _memory("VmHWM") - before)


_STATUS = Path("/proc/self/status")


def _memory(field: str) -> float:
    """A figure of this process in MB: VmRSS is the current memory, VmHWM the peak.

    Not from getrusage: its peak is inherited from the process that started this one. That of a child is far above.
    """
    lines = _STATUS.read_text().splitlines() if _STATUS.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)


def _reset_peak() -> None:
    """Reset VmHWM, so that memory of the imports is not counted."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")


def _measure(readers: Sequence[str], path: Path, rows: int, times: int = 1) -> list[Measured]:
    """Each reader `times` times, in turn, so that a busy minute affects all of them."""
    runs = [[_measure_apart(reader, path, rows) for reader in readers] for _ in range(times)]
    return [
        Measured(min(run.opened for run in of), min(run.seconds for run in of), max(run.memory for run in of))
        for of in zip(*runs, strict=True)
    ]


def _measure_apart(reader: str, path: Path, rows: int) -> Measured:
    command = [sys.executable, __file__, "--reader", reader, "--file", str(path), "--rows", str(rows)]
    return Measured(**json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


# --- the report ---------------------------------------------------------------------------------


def _report(rows: int, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, large, book = Path(folder, "a.csv"), Path(folder, "large.csv"), Path(folder, "a.xlsx")
        _write_csv(table, rows)
        _write_csv(large, 10 * rows)
        _write_xlsx(book, rows)
        ours, bare = _measure(("ours", "csv"), table, rows, times)
        _print_ratio(f"CSV, {rows:,} rows x {_COLUMNS} columns, against the bare csv module", ours, bare, "at most 3.5")
        (of_large,) = _measure(("ours",), large, 10 * rows)
        _print(f"  memory above start: {rows:,} rows {ours.memory:.1f} MB, {10 * rows:,} rows {of_large.memory:.1f} MB")
        _print("  (target: under 60, and flat)")
        _print_workbook("XLSX", book, rows, times, "openpyxl")
        if shutil.which("soffice"):
            old, most = Path(folder, "old.xls"), min(rows, 65_000)
            _write_xls(old, most)
            _print_workbook("XLS", old, most, times, "xlrd")


def _print_workbook(kind: str, path: Path, rows: int, times: int, reader: str) -> None:
    ours, bare = _measure(("ours", reader), path, rows, times)
    what = f"{kind}, {rows:,} rows x {_COLUMNS} columns, with every check, against bare {reader}"
    _print_ratio(what, ours, bare, "at most 2")
    _print(f"  memory above start: {ours.memory:.0f} MB (target: at most 500)")


def _print_ratio(what: str, ours: Measured, bare: Measured, target: str) -> None:
    ratio = ours.seconds / bare.seconds
    _print(f"{what}: {ours.seconds:.2f} s / {bare.seconds:.2f} s = {ratio:.2f} (target: {target})")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Write the files, read them in turn, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--reader", choices=_READERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.reader:
        measured = _measure_here(wanted.reader, wanted.file, wanted.rows)
        _print(json.dumps(asdict(measured)))
    else:
        _report(wanted.rows, wanted.times)


if __name__ == "__main__":
    main()
