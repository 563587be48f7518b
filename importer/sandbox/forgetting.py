"""Takes what was accepted long ago out of a memory file."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from importer.sandbox.journal import Journal


def forget(memory: Path, before: datetime) -> None:
    """Remove the submissions accepted before that moment, and overwrite what they took. No file is made.

    Raises:
        SandboxUnusable: a sandbox is using the file, or it is none of a sandbox's.
    """
    if not memory.is_file():
        return
    journal = Journal(memory, wait=0.0)
    try:
        kept = [record for record in journal.records if datetime.fromisoformat(record["at"]) >= before]
        if len(kept) < len(journal.records):
            journal.clear()
            for record in kept:
                journal.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())
    finally:
        journal.close()
