"""Reading a CSV, compared with the csv module."""

from __future__ import annotations

import csv

from benchmarks.our_parts import open_source
from benchmarks.rooms.pair import arguments, print_cpu_seconds


def main() -> None:
    """Both read the same file."""
    source, *_ = arguments()

    def baseline() -> int:
        with source.open(newline="", encoding="utf-8") as file:
            return sum(1 for _ in csv.reader(file))

    print_cpu_seconds(lambda: sum(1 for _ in open_source(source).rows()), baseline)


if __name__ == "__main__":
    main()
