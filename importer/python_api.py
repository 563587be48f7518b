"""What `import importer` offers: check, run and look at results from Python, with files or DataFrames.

The same orders as those of the commands; nothing is printed or asked.
"""

from __future__ import annotations

import csv
import os
import queue
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from importer.app.earlier_runs import fixed_order
from importer.app.import_file import CheckStopped, Finished, check_file, import_file
from importer.app.orders import Event, Listener, Order, Resend, RunControl, Started, ignore
from importer.app.run_options import given_options
from importer.mapping import read_mapping
from importer.models import SourceOptions
from importer.problems import UsageError
from importer.report.next_steps import FROM_PYTHON
from importer.runs.results_folder import private_input, unusable_folder
from importer.runs.run_report import rows_as_frame
from importer.settings import Settings
from importer.text.normalize import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_AS_WRITTEN: Final = SourceOptions(encoding="utf-8", delimiter=",", header_row=1, header_rows=1)
_AS_FLAGS: Final = ("rate", "concurrency")  # settings that commands of a report need; an address or a token is none
_DIGITS: Final = {2: 11, 4: 24}  # binary digits of small floats by their bytes; others have 53


class Options(TypedDict, total=False):
    """The flags of `importer check` and `importer run`, by the names that they have there.

    settings: settings (docs/settings.md) by name, in place of those from the environment and files, for example
    {"base_url": ..., "token_file": ..., "rate": 20}.
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

    Raises importer.problems.ImporterError: as UsageError, UnusableInput (with every problem found), or StoppedEarly if
    the service does not return its questions.
    """
    with _order(source, mapping, options) as order:
        return check_file(order)


def run(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], **options: Unpack[Options]
) -> Finished:
    """Send the rows of a file or a DataFrame. Safe to repeat: what was imported is not sent again.

    Raises importer.problems.ImporterError: as UsageError or UnusableInput (nothing was sent; with every problem found),
    Busy (another run has the target), or StoppedEarly (the same call continues there).
    """
    return _run(source, mapping, options, ignore, RunControl())


def events(
    source: str | os.PathLike[str] | pd.DataFrame, mapping: str | os.PathLike[str], **options: Unpack[Options]
) -> Generator[Event, None, None]:
    """The events of `run` as they happen (importer.app.orders), to its end; the last one is ReportWritten.

    The run goes on while they are not read. Closing this generator stops it: no new row is sent, and the report is
    written; before the first row, nothing is left of it. Raises as `run` does.
    """
    told: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
    control, has_started = RunControl(), threading.Event()

    def listen(event: Event) -> None:
        told.put(event)
        if isinstance(event, Started):
            has_started.set()
        elif control.is_stopped and not has_started.is_set():
            raise CheckStopped

    def work() -> None:
        try:
            _run(source, mapping, options, listen, control)
        except BaseException as error:  # noqa: BLE001 - raised again where the events are read
            told.put(error)
        told.put(None)

    thread = threading.Thread(target=work, name="importer run", daemon=True)
    thread.start()
    try:
        while (event := told.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        control.stop()
        if has_started.is_set():
            thread.join()


def results(run: str | os.PathLike[str]) -> pd.DataFrame:
    """Each row of a run with its outcome, from its results folder: the columns of its CSV files, all text.

    Raises importer.problems.UnusableInput: it is not the folder of a run that has ended, or the run is damaged.
    """
    return rows_as_frame(Path(run))


# --- orders -----------------------------------------------------------------------------------------


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
    given = given_options({name: value for name, value in options.items() if name != "settings"}, "{name}={value}")
    settings = given.settings(given.out, given_by="an option in Python", **_settings(options.get("settings", {})))
    more = {f"--{name}": str(value) for name, value in options.get("settings", {}).items() if name in _AS_FLAGS}
    flags = {**given.flags, **more}
    order = Order(Path(), Path(mapping), settings, given.selection(), given.sending(), flags=flags, sheet=given.sheet)
    if isinstance(source, str | os.PathLike):
        yield fixed_order(replace(order, file=Path(source)))
    elif not hasattr(source, "itertuples"):
        raise UsageError(f"the source is a {type(source).__name__}; give the path of a file, or a DataFrame")
    else:
        _refuse_tables_beside(order)
        with _copy_of(source, settings) as file:
            yield replace(order, file=file, file_shown_as=FROM_PYTHON, reading=_AS_WRITTEN)


def _settings(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same, if all are settings. Raises UsageError."""
    if not isinstance(given, Mapping):
        raise UsageError(f"settings={given!r} is not a dictionary")
    for name in given:
        if name not in Settings.model_fields:
            raise UsageError(f"the setting {name} is unknown; {did_you_mean(str(name), Settings.model_fields)}")
    return given


# --- DataFrames -------------------------------------------------------------------------------------


def _refuse_tables_beside(order: Order) -> None:
    """Raise UsageError if the mapping reads what would be beside a file."""
    if order.mapping.is_dir():
        raise UsageError("a DataFrame is imported with one mapping, not with a folder of them")
    mapping = read_mapping(order.mapping, order.settings.mapping_folders)
    names = [child.file or f"the sheet {child}" for child in mapping.child_sources]
    beside = [name for name in (*names, *mapping.document_folders) if not Path(name).is_absolute()]
    if beside:
        hint = "write its whole path in the mapping, or import the file itself"
        raise UsageError(f"{order.mapping} reads {', '.join(beside)} beside its file, and a DataFrame has none; {hint}")


@contextmanager
def _copy_of(frame: pd.DataFrame, settings: Settings) -> Iterator[Path]:
    """The rows as a private CSV file in the results folder.

    Raises:
        UsageError: with the first cells that have no single text.
        UnusableInput: it cannot be written.
    """
    with private_input(settings) as folder:
        try:
            file = _written(frame, folder / "rows.csv")
        except OSError as error:
            raise unusable_folder(settings.out, error) from None
        yield file


def _written(frame: pd.DataFrame, file: Path) -> Path:
    columns, filled, odd = [str(name) for name in frame.columns], frame.notna().to_numpy(), list[str]()
    digits = [_DIGITS.get(kind.itemsize, 53) if kind.kind == "f" else 53 for kind in frame.dtypes.to_numpy()]
    with file.open("w", encoding="utf-8", errors="replace", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\r\n")
        writer.writerow(columns)
        for number, (values, has_value) in enumerate(
            zip(frame.itertuples(index=False, name=None), filled, strict=True), start=2
        ):
            texts = [
                _text_of(value, limit) if is_filled else ""
                for value, is_filled, limit in zip(values, has_value, digits, strict=True)
            ]
            if None in texts:
                odd += [
                    f"row {number}, {name}: {type(value).__name__}"
                    for name, value, text in zip(columns, values, texts, strict=True)
                    if text is None
                ]
            writer.writerow(texts)
    if odd:
        shown = "; ".join(odd[:3]) + ("; ..." if len(odd) > 3 else "")
        raise UsageError(
            f"{len(odd):,} cells of the DataFrame are not a text, a whole number, a date or blank ({shown}); write "
            "them as texts in the form that the mapping declares (decimal:), or import the file itself"
        )
    return file


def _text_of(value: Any, digits: int) -> str | None:
    """The text of a cell; None if it could be read as another value: 1.234 may become 1234 by the mapping's formats.

    digits: the binary digits of a float in its column.
    """
    kind = getattr(value, "dtype", None)
    if kind is not None:  # of numpy
        if getattr(value, "ndim", 1) or kind.kind not in "biufU":
            return None
        digits = min(digits, _DIGITS.get(kind.itemsize, 53)) if kind.kind == "f" else digits
        value = value.item()
    if isinstance(value, str):
        return None if "\0" in value or any("\ud800" <= one <= "\udfff" for one in value) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**digits:
        value = int(value)  # pandas makes floats of whole numbers where a cell is blank
    if isinstance(value, int):
        return str(value)
    return str(value.isoformat()).removesuffix("T00:00:00") if isinstance(value, date) else None
