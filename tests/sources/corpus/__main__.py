"""Writes the corpus to a folder: `python -m tests.sources.corpus FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.sources.corpus import CASES


def main() -> None:
    """Write each case as `<id>/<file>`."""
    folder = Path(sys.argv[1])
    for case in CASES:
        path = folder / case.id / case.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.content())
    sys.stdout.write(f"{len(CASES)} files in {folder}\n")


if __name__ == "__main__":
    main()
