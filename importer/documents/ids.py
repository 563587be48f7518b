"""documents.csv: the files that rows name, and the document ID of each, which a person fills in after the upload."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from importer.documents.folder import DocumentFolder
from importer.files import write_private
from importer.problems import FilePlace, LinePlace, Place, Problem, UnusableInput

IDS_FILE: Final = "documents.csv"
HEADER: Final = ("file", "rows", "kind", "size", "sha256", "document_id")
_SHA256, _ID = HEADER.index("sha256"), HEADER.index("document_id")


def read_ids(path: Path) -> dict[str, str]:
    """The document IDs by the SHA-256 of their files; {} if there is no such file.

    An ID belongs to a content: after a file was replaced, its old ID is not used for it.

    Raises:
        UnusableInput: it is no such list, or has two IDs for one content; with every problem.
    """
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UnusableInput(_problem(f"cannot be read: {reason}", FilePlace(str(path)))) from None
    rows = csv.reader(text.splitlines(), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    if tuple(next(rows, ())) != HEADER:
        raise UnusableInput(_problem(f"does not begin with {','.join(HEADER)}", FilePlace(str(path))))
    found: dict[str, str] = {}
    files: dict[str, str] = {}  # the content that each ID belongs to
    problems = []
    for cells in rows:
        place = LinePlace(str(path), rows.line_num)
        if len(cells) != len(HEADER):
            if cells:
                problems.append(_problem(f"has {len(cells)} cells in this line instead of {len(HEADER)}", place))
            continue
        sha256, given = cells[_SHA256].strip(), cells[_ID].strip()
        if given and found.setdefault(sha256, given) != given:
            problems.append(_problem(f"has two document IDs for one content: {found[sha256]} and {given}", place))
        elif given and files.setdefault(given, sha256) != sha256:
            problems.append(_problem(f"has the document ID {given} for two different files", place))
    if problems:
        raise UnusableInput(problems)
    return found


def _problem(what: str, place: Place) -> Problem:
    hint = "write it again with importer documents list, which keeps the IDs that it can read; save it as CSV, UTF-8"
    return Problem("document-ids-invalid", f"the list of document IDs {what}", hint, place)


def write_ids(path: Path, folders: Sequence[DocumentFolder]) -> None:
    """Write the list of the documents of rows, with the IDs that are known.

    Raises:
        OSError: it cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    others = {sha256: known for folder in folders for sha256, known in folder.ids.items()}
    for folder in folders:
        for name, users in sorted(folder.users.items()):
            one = folder.contents[name]
            if not one.problem:
                rows, known = " ".join(map(str, sorted(users.values()))), folder.ids.get(one.sha256, "")
                writer.writerow((f"{folder.shown_as.rstrip('/')}/{name}", rows, one.kind, one.size, one.sha256, known))
                others.pop(one.sha256, None)
    for sha256, known in others.items():  # of files that no row names now: a person has typed them
        writer.writerow(("", "", "", "", sha256, known))
    write_private(path, text.getvalue().encode("utf-8-sig", "backslashreplace"))
