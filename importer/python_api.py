"""What `import importer` offers: check, run and look at results from Python, with files or DataFrames.

The same orders as those of the commands; nothing is printed or asked.
"""

from __future__ import annotations

import csv
import inspect
import os
import queue
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from importer.app.earlier_runs import fixed_order
from importer.app.import_file import CheckStopped, Finished, check_file, import_file
from importer.app.orders import (
    ErrorLimit,
    Event,
    Listener,
    Order,
    Resend,
    RunControl,
    SandboxSetup,
    Sending,
    Started,
    ignore,
    parse_window,
)
from importer.mapping import read_mapping
from importer.models import SourceOptions
from importer.problems import UsageError
from importer.report.next_steps import FROM_PYTHON
from importer.runs.results_folder import private_input, unusable_folder
from importer.runs.row_selection import ALL_ROWS, parse_rows
from importer.runs.run_report import rows_as_frame
from importer.settings import Settings, load_settings
from importer.text.normalize import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_AS_WRITTEN: Final = SourceOptions(encoding="utf-8", delimiter=",", header_row=1, header_rows=1)
_DIGITS: Final = {2: 11, 4: 24}  # binary digits of small floats by their bytes; others have 53
_PATH, _WORDS = (str, os.PathLike), (str,)
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "out": _PATH,
    "sandbox": (bool,),
    "questions": _PATH,
    "faults": _PATH,
    "sheet": _WORDS,
    "rows": _WORDS,
    "limit": (int,),
    "strict": (bool,),
    "resend_rejected": (bool,),
    "resend_unconfirmed": _WORDS,
    "max_errors": _WORDS,
    "until": _WORDS,
    "max_runtime": _WORDS,
    "settings": (Mapping,),
}


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

    Raises:
        importer.problems.UnusableInput: it is not the folder of a run that has ended, or the run is damaged.
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
    _refuse_in_workers()
    settings = _settings(options)
    limit, selection = options.get("max_errors"), parse_rows(options["rows"]) if "rows" in options else ALL_ROWS
    sending = Sending(
        ErrorLimit.parse(limit) if limit else None,
        options.get("resend_unconfirmed", "end"),
        options.get("resend_rejected", False),
        SandboxSetup(_path(options.get("questions")), _path(options.get("faults"))) if options.get("sandbox") else None,
        parse_window(options.get("until"), options.get("max_runtime"), datetime.now(UTC)),
    )
    selection, sheet = replace(selection, limit=options.get("limit")), options.get("sheet")
    order = Order(Path(), Path(mapping), settings, selection, sending, flags=_flags(options), sheet=sheet)
    if isinstance(source, str | os.PathLike):
        yield fixed_order(replace(order, file=Path(source)))
    elif not hasattr(source, "itertuples"):
        raise UsageError(f"the source is a {type(source).__name__}; give the path of a file, or a DataFrame")
    else:
        _refuse_tables_beside(order)
        with _copy_of(source, settings) as file:
            yield replace(order, file=file, file_shown_as=FROM_PYTHON, reading=_AS_WRITTEN)


def _settings(options: Options) -> Settings:
    """The settings, after all options were checked. Raises UsageError, UnusableInput."""
    for name, value in options.items():
        if name not in _TYPES:
            raise UsageError(f"the option {name} is unknown; {did_you_mean(name, _TYPES)}")
        if not isinstance(value, _TYPES[name]) or (name == "limit" and (value is True or value < 1)):  # type: ignore[operator]
            kinds = "a number of 1 or more" if name == "limit" else " or ".join(one.__name__ for one in _TYPES[name])
            raise UsageError(f"{name}={value!r} is not {kinds}")
    if options.get("resend_unconfirmed", "end") not in (words := ("now", "end", "never")):
        raise UsageError(f"resend_unconfirmed={options['resend_unconfirmed']!r} is not one of {', '.join(words)}")
    given = options.get("settings", {})
    for name in given:
        if name not in Settings.model_fields:
            raise UsageError(f"the setting {name} is unknown; {did_you_mean(str(name), Settings.model_fields)}")
    return load_settings(
        given_by="an option in Python", **{"out": options.get("out"), "strict": options.get("strict"), **given}
    )


def _flags(options: Options) -> dict[str, str]:
    """The flags that the commands of a report need; an address or a token is in none."""
    more = {name: value for name, value in options.get("settings", {}).items() if name in ("rate", "concurrency")}
    given = {name: value for name, value in options.items() if name not in ("sandbox", "settings")} | more
    given = {name: value for name, value in given.items() if value is not False}
    return {f"--{name.replace('_', '-')}": "" if value is True else str(value) for name, value in given.items()}


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def _refuse_in_workers() -> None:
    """The processes that check a large file import the script that was started, and must not run it again."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "__mp_main__" and frame.f_code.co_name == "<module>":
            raise UsageError('put what calls importer under if __name__ == "__main__": it starts processes')
        frame = frame.f_back


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
