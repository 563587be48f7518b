"""Runs one import, and prints as JSON how long its report takes after the last row."""

from __future__ import annotations

import json
import sys
import time

from benchmarks.rooms.pair import arguments
from importer.app.import_file import import_file
from importer.app.orders import Event, Order, ReportWritten, RowsEnded
from importer.settings import load_settings


def main() -> None:
    """Import one file into one folder, to the service of the environment."""
    source, mapping, folder = arguments()
    at: dict[type[Event], float] = {}
    began = time.perf_counter()

    def listen(event: Event) -> None:
        if isinstance(event, RowsEnded | ReportWritten):
            at[type(event)] = time.perf_counter()

    import_file(Order(source, mapping, load_settings(out=folder / "results")), listen)
    figures = {"rows": at[RowsEnded] - began, "wait": at[ReportWritten] - at[RowsEnded]}
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
