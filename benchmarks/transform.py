"""The cost of transforming a row, compared with json.dumps of the same body.

    python -m benchmarks.transform

Rows of 40 columns with three education and three experience entries, each row another person. The two are measured in
turn, several times, so that changes in the speed of the machine favor neither; CPU time of this process.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.candidates import HEADER, write_mapping, write_source
from benchmarks.our_parts import open_source, resolved
from importer.mapping import ResolvedMapping
from importer.models import Application, Row
from importer.transform import transform_row

ROWS = 4000
TURNS = 9
_LETTER = "I would like to apply."  # a short one: a long one would measure only json.dumps


def microseconds(work: Callable[[], object]) -> float:
    """CPU time of one call for each row."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / ROWS * 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


def _transform(rows: list[Row], mapping: ResolvedMapping) -> None:
    for row in rows:
        transform_row(row, mapping)


def measure(folder: Path) -> None:
    file = write_mapping(folder / "mapping.yaml")
    sheet = open_source(write_source(folder / "people.csv", ROWS, _LETTER))
    mapping, source = resolved(file, sheet), list(sheet.rows())
    results = [transform_row(row, mapping) for row in source]
    for result in results:
        if not isinstance(result, Application):
            raise SystemExit(f"a row is not valid: {result}")
    bodies = [result.payload() for result in results if isinstance(result, Application)]
    transforms, dumps = [], []
    for _ in range(TURNS):
        fresh = resolved(file, sheet)  # with empty caches
        transforms.append(microseconds(partial(_transform, source, fresh)))
        dumps.append(microseconds(lambda: [json.dumps(body) for body in bodies]))
    ratios = [transform / dump for transform, dump in zip(transforms, dumps, strict=True)]
    print(f"{ROWS:,} rows of {len(HEADER)} columns, {TURNS} turns, CPU time; median (lowest to highest)")  # noqa: T201
    for name, values, unit in (("transform", transforms, "us"), ("json.dumps", dumps, "us"), ("ratio", ratios, "x")):
        print(f"{name:<11}{statistics.median(values):7.1f} {unit}  ({min(values):.1f} to {max(values):.1f})")  # noqa: T201


if __name__ == "__main__":
    main()
