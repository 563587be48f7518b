"""The baseline of a check: read and transform every row once."""

from __future__ import annotations

from benchmarks.our_parts import open_source, resolved
from benchmarks.rooms.pair import arguments
from importer.transform import transform_row


def main() -> None:
    """Check one file with its mapping."""
    source, mapping_file, *_ = arguments()
    sheet = open_source(source)
    mapping = resolved(mapping_file, sheet)
    for row in sheet.rows():
        transform_row(row, mapping)


if __name__ == "__main__":
    main()
