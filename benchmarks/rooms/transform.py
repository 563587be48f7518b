"""Transforming rows, compared with json.dumps of the same bodies."""

from __future__ import annotations

import json

from benchmarks.our_parts import open_source, resolved
from benchmarks.rooms.pair import arguments, print_cpu_seconds
from importer.models import Application
from importer.transform import transform_row


def main() -> None:
    """Both use the same rows."""
    source, mapping_file, *_ = arguments()
    sheet = open_source(source)
    rows = list(sheet.rows())
    warm = resolved(mapping_file, sheet)
    bodies = [result.payload() for row in rows if isinstance(result := transform_row(row, warm), Application)]
    if len(bodies) != len(rows):
        raise SystemExit(f"only {len(bodies)} of {len(rows)} rows are valid")
    fresh = resolved(mapping_file, sheet)
    print_cpu_seconds(
        lambda: [transform_row(row, fresh) for row in rows], lambda: [json.dumps(body) for body in bodies]
    )


if __name__ == "__main__":
    main()
