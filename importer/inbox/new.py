"""Makes an inbox: its folders, and an inbox.toml whose comments explain each setting."""

from __future__ import annotations

import os.path  # pathlib cannot go up before Python 3.12
from pathlib import Path
from typing import Final

from importer.atomic_files import make_folder, write_private
from importer.inbox.folders import PLACES, not_writable
from importer.inbox.rules import RULES_FILE
from importer.problems import UsageError

TEMPLATE: Final = """\
# The rules of this inbox: which files of incoming/ are imported how. docs/inbox.md explains them.
# Sections are tried from the top; the first whose pattern matches the name of a file is used.

# order = "oldest"           # or "name": which of several files is imported first
# wait = "10m"               # how long importer inbox run waits for files that still change
# fetch = ["sftp://user@host/out/*.csv"]    # what is fetched into incoming first, see docs/inbox.md
# until = "06:00"            # send until this time of day; not for importer inbox watch
# max_runtime = "4h"         # one pass sends for so long; the next one continues
# unmatched = "attention"    # or "leave": what becomes of files that match no pattern

[[files]]
pattern = {pattern}
mapping = {mapping}    # a mapping file, or a folder of them; relative to this file

# When is a file complete?
# complete = "unchanged"     # size and times do not change for the time of settle
#            "marker"        # a second file says so, see marker
#            "renamed"       # its sender writes it under another name and renames it at the end
# settle = "10s"
# marker = "{{name}}.done"

# Options of importer run:
# sheet = "Candidates"
# rate = 5
# concurrency = 4
# max_errors = "5%"
# give_up_after = "15m"
# until = "06:00"            # for these files; in place of the one above
# max_runtime = "1h"         # from the first of these files on; in place of the one above
# resend_unconfirmed = "end"
# resend_rejected = false
# strict = false
# no_personal_data = false
# sandbox = true             # try it: nothing is sent to the real service

# What differs from the last file is reported before anything is sent: "go on", "hold" (a person releases the file
# with importer inbox release) or "refuse".
[files.changes]
header = "hold"              # columns are new, missing or in another order
questions = "hold"           # the questions of the job post changed
size = "hold"                # at most half as many rows as the last file, or none
repeated = "hold"            # the same content was imported before
"""


def new_inbox(folder: Path, pattern: str, mapping: Path) -> Path:
    """Make an inbox in a folder; return its inbox.toml. What exists is not changed.

    Raises:
        UsageError: the folder has an inbox.toml. UnusableInput: it cannot be written.
    """
    rules = folder / RULES_FILE
    if rules.exists():
        raise UsageError(f"{rules} already exists; change it with an editor")
    try:
        for name in ("incoming", *PLACES):
            make_folder(folder / name)
        shown = mapping if mapping.is_absolute() else Path.cwd() / mapping
        text = TEMPLATE.format(pattern=_quoted(pattern), mapping=_quoted(_relative(shown, folder)))
        write_private(rules, text.encode())
    except OSError as error:
        raise not_writable(folder, error) from None
    return rules


def _relative(path: Path, folder: Path) -> str:
    """A path from a folder, if it is beside it or below."""
    near = path.resolve().is_relative_to(folder.resolve().parent)
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix() if near else path.as_posix()


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
