"""Writes what the code prints into README.md and docs/mapping.md: `python -m tests.docs.rewrite_pages`.

Review the diff like code.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from tests.docs import page, terminal


def main() -> None:
    """Run the demo and the examples of the mapping page."""
    with tempfile.TemporaryDirectory() as folder:
        terminal.fill(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        terminal.FIRST_IMPORT.write_text(terminal.first_import(Path(folder)), "utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        page.fill(Path())


if __name__ == "__main__":
    main()
