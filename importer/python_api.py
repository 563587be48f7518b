"""What `import importer` offers: check, run and look at results from Python, with files or DataFrames.

The same orders as those of the commands; nothing is printed or asked.
"""

from __future__ import annotations

import csv
import inspect
import json
import os
import queue
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from importer.app.earlier_runs import fixed_order
from importer.app.import_file import Finished, check_file, import_file
from importer.app.orders import (
    ErrorLimit,
    Event,
    Listener,
    Order,
    Resend,
    RunControl,
    SandboxSetup,
    Sending,
    ignore,
    parse_window,
)
from importer.mapping import read_mapping
from importer.problems import UsageError
from importer.report.next_steps import FROM_PYTHON
from importer.runs.row_selection import ALL_ROWS, parse_rows
from importer.runs.run_report import rows_as_frame
from importer.settings import load_settings

if TYPE_CHECKING:
    import pandas as pd

_EXACT: Final = 2.0**53  # from here on a float no longer holds every whole number


class Options(TypedDict, total=False):
    """The flags of `importer check` and `importer run`, by the names that they have there.

    settings: settings (docs/settings.md) by name, in place of those from the environment and files, for example
    {"base_url": ..., "token": ..., "rate": 20}.
    """

    out: str | os.PathLike[str]
    sandbox: bool
    questions: str | os.PathLike[str]
    faults: str | os.PathLike[str]
    sheet: str
    rows: str
    limit: int
    strict: bool
    resend_rejected: bool
    resend_unconfirmed: Resend
    max_errors: str
    until: str
    max_runtime: str
    settings: Mapping[str, Any]


def check(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], **options: Unpack[Options]
) -> Finished:
    """Do everything that `run` does before its first request, and write the same report. Sends nothing.

    source: a file, or a DataFrame: its rows are numbered from 2, as in a CSV file with a header.

    Raises:
        importer.problems.ImporterError: as UsageError, UnusableInput (with every problem found), or StoppedEarly if
            the service does not return its questions.
    """
    with _order(source, mapping, options) as order:
        return check_file(order)


def run(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], **options: Unpack[Options]
) -> Finished:
    """Send the rows of a file or a DataFrame. Safe to repeat: what was imported is not sent again.

    Raises:
        importer.problems.ImporterError: as UsageError or UnusableInput (nothing was sent; with every problem found),
            Busy (another run has the target), or StoppedEarly (the same call continues there).
    """
    return _run(source, mapping, options, ignore, RunControl())


def events(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], **options: Unpack[Options]
) -> Iterator[Event]:
    """The events of `run` as they happen (importer.app.orders), to its end; the last one is ReportWritten.

    Who stops reading them stops the run: no new row is sent, and the report is written. Raises as `run` does.
    """
    told: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    control = RunControl()

    def work() -> None:
        try:
            _run(source, mapping, options, told.put, control)
        except BaseException as error:  # noqa: BLE001 - raised again where the events are read
            told.put(error)
        told.put(None)

    thread = threading.Thread(target=work, name="importer run")
    thread.start()
    try:
        while (event := told.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        control.stop()
        thread.join()


def results(run: str | os.PathLike[str]) -> pd.DataFrame:
    """Each row of a run with its outcome, from its results folder: the columns of its CSV files, all text.

    Raises:
        importer.problems.UnusableInput: it is not the folder of a run that has ended, or the run is damaged.
    """
    return rows_as_frame(Path(run))


def _run(
    source: str | os.PathLike[str] | pd.DataFrame,
    mapping: str | os.PathLike[str],
    options: Options,
    listen: Listener,
    control: RunControl,
) -> Finished:
    with _order(source, mapping, options) as order:
        finished = import_file(order, listen, control)
        assert finished is not None  # no one was asked
        return finished


@contextmanager
def _order(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], options: Options
) -> Iterator[Order]:
    if unknown := sorted(options.keys() - Options.__annotations__.keys()):
        raise UsageError(f"unknown options: {', '.join(unknown)}; the options are {', '.join(Options.__annotations__)}")
    _refuse_in_workers()
    given: dict[str, Any] = {"out": options.get("out"), "strict": options.get("strict"), **options.get("settings", {})}
    limit, window = options.get("max_errors"), (options.get("until"), options.get("max_runtime"))
    selection = replace(parse_rows(options["rows"]) if "rows" in options else ALL_ROWS, limit=options.get("limit"))
    sending = Sending(
        ErrorLimit.parse(limit) if limit else None,
        options.get("resend_unconfirmed", "end"),
        options.get("resend_rejected", False),
        SandboxSetup(_path(options.get("questions")), _path(options.get("faults"))) if options.get("sandbox") else None,
        parse_window(*window, datetime.now(UTC)),
    )
    settings = load_settings(**given)
    with tempfile.TemporaryDirectory(prefix="importer-", ignore_cleanup_errors=True) as folder:
        flags = {"--out": str(options["out"])} if "out" in options else {}
        order = Order(Path(), Path(mapping), settings, selection, sending, flags=flags, sheet=options.get("sheet"))
        if isinstance(source, str | os.PathLike):
            yield fixed_order(replace(order, file=Path(source)))
        else:
            yield _of_frame(order, source, Path(folder))


def _refuse_in_workers() -> None:
    """The processes that check a large file import the script that was started, and must not run it again."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "__mp_main__":
            raise UsageError('put what calls importer under if __name__ == "__main__": it starts processes')
        frame = frame.f_back


def _of_frame(order: Order, frame: pd.DataFrame, folder: Path) -> Order:
    """The order for the rows of a DataFrame, as a CSV file: how the mapping's own file is read does not count.

    Raises:
        UsageError, UnusableInput: it cannot be written as a table of texts, or the mapping skips rows by their numbers.
    """
    if order.mapping.is_dir():
        raise UsageError("a DataFrame is imported with one mapping, not with a folder of them")
    own, settings = order.mapping.absolute(), order.settings
    if read_mapping(own, settings.mapping_folders).source.skip_rows:
        raise UsageError(f"{order.mapping} has skip_rows:, which count in its file; use a mapping without it")
    reading = {"encoding": "utf-8", "delimiter": ",", "header_row": 1, "header_rows": 1}
    mapping = folder / order.mapping.name
    mapping.write_text(json.dumps({"extends": str(own), "source": reading}), "utf-8")
    folders = os.pathsep.join(filter(None, (settings.mapping_folders, str(own.parent))))
    return replace(
        order,
        file=_written(frame, folder),
        mapping=mapping,
        settings=settings.model_copy(update={"mapping_folders": folders}),
        file_shown_as=FROM_PYTHON,
        mapping_shown_as=str(order.mapping),
    )


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def _written(frame: pd.DataFrame, folder: Path) -> Path:
    """The rows as a CSV file.

    Raises:
        UsageError: with the first cells that have no single text.
    """
    columns, filled = [str(name) for name in frame.columns], frame.notna().to_numpy()
    odd: list[str] = []
    file = folder / "rows.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\r\n")
        writer.writerow(columns)
        rows = zip(frame.itertuples(index=False, name=None), filled, strict=True)
        for number, (values, has_value) in enumerate(rows, start=2):
            texts = [_text_of(value) if is_filled else "" for value, is_filled in zip(values, has_value, strict=True)]
            odd += [
                f"row {number}, {name}: {type(value).__name__}"
                for name, value, text in zip(columns, values, texts, strict=True)
                if text is None
            ]
            writer.writerow(texts)
    if odd:
        shown = "; ".join(odd[:3]) + ("; ..." if len(odd) > 3 else "")
        raise UsageError(
            f"{len(odd):,} cells of the DataFrame are not a text, a whole number, a date or blank ({shown}); turn them "
            "into texts, or read the file with dtype=str"
        )
    return file


def _text_of(value: Any) -> str | None:
    """The text of a cell; None if it could be read as another value: 1.234 may become 1234 by the mapping's formats."""
    value = value.item() if hasattr(value, "item") else value  # of numpy
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)  # pandas makes floats of whole numbers where a cell is blank
    if isinstance(value, int):
        return str(value)
    return str(value.isoformat()).removesuffix("T00:00:00") if isinstance(value, date) else None
