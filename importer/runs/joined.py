"""The report of a file that was imported in parts: a run of its own, with the rows and outcomes of all parts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from importer.files import INTERNAL, read_private
from importer.models import OutcomeKind, Stop
from importer.report.summary import Summary
from importer.runs.finalize import exit_code
from importer.runs.manifest import Ending, RunManifest, manifests_in, write_manifest
from importer.runs.private_copies import ASKED
from importer.runs.results_folder import make_private_folder
from importer.runs.row_selection import Part, Selection
from importer.runs.run_report import refuse_missing, rewrite_report
from importer.runs.table import TABLE, RunTable
from importer.sources import SourceCopy, share_copy
from importer.store.lock import hold_lock
from importer.text.terminal import command_line

Parts = dict[int, tuple[Path, RunManifest]]
"""A run of each part, by the number of the part."""


def parts_beside(folder: Path, manifest: RunManifest) -> dict[int, list[tuple[Path, RunManifest]]]:
    """The runs of each part, the newest first, of the same file with the same mapping, for the same target.

    The results folder is that of all machines. Checks do not count.
    """
    assert manifest.selection.part is not None
    found: dict[int, list[tuple[Path, RunManifest]]] = {}
    for each, other in manifests_in(folder.parent):
        part = other.selection.part
        if part is None or other.dry_run or not part.number or part.total != manifest.selection.part.total:
            continue
        if _inputs(other) == _inputs(manifest) and _mapping_of(each, other) == _mapping_of(folder, manifest):
            found.setdefault(part.number, []).append((each, other))
    for runs in found.values():
        runs.sort(key=lambda one: one[1].started_at, reverse=True)
    return dict(sorted(found.items()))


def _inputs(manifest: RunManifest) -> tuple[object, ...]:
    return manifest.sha256, manifest.scope, manifest.options


def _mapping_of(folder: Path, manifest: RunManifest) -> bytes:
    try:
        return read_private(folder / manifest.mapping_copy)
    except OSError:
        return b""


def write_joined(parts: Parts, total: int) -> tuple[Path, Summary]:
    """Write the report of all these parts into `<run>.<total>parts`, and name those that are missing or running.

    What a person changed in the files of an earlier report is kept under another name.

    Raises:
        Busy: another process is writing it.
        UnusableInput: a table is damaged, or the folder cannot be written.
    """
    folders, manifests = [folder for folder, _ in parts.values()], [manifest for _, manifest in parts.values()]
    first, newest = min(manifests, key=lambda one: one.started_at), max(manifests, key=lambda one: one.started_at)
    out, name = folders[0].parent, f"{first.run.partition('.')[0]}.{total}parts"
    with hold_lock(out / INTERNAL / f"{name}.lock", f"another command is writing the report of {name}"):
        folder = out / name
        if not folder.is_dir():
            make_private_folder(out, name)
        for each in folders:  # before what was joined earlier goes
            refuse_missing(each)
            with RunTable(each) as table:
                table.counts()
        for old in folder.glob(f"{TABLE}*"):
            old.unlink()
        with RunTable(folder) as table:
            for each in folders:
                table.take(each)
            counts = table.counts()
        of_newest = folders[manifests.index(newest)]
        for copy in (newest.source, newest.mapping_copy, ASKED, *(child.copy for child in newest.children)):
            (folder / copy).unlink(missing_ok=True)
            if (of_newest / copy).is_file():  # importer forget removes copies
                share_copy(SourceCopy(of_newest / copy, newest.sha256), folder)
        write_manifest(folder, _joined_manifest(name, parts, newest, first.started_at, total, counts))
        return folder, rewrite_report(folder)


def _joined_manifest(
    name: str, parts: Parts, newest: RunManifest, started_at: datetime, total: int, counts: dict[OutcomeKind, int]
) -> RunManifest:
    manifests = [manifest for _, manifest in parts.values()]
    missing = [number for number in range(1, total + 1) if number not in parts]
    ended = [one.ending for one in manifests if one.ending is not None]
    stops = [ending.stopped for ending in ended if ending.stopped is not None]
    stop = _missing(missing, total, newest) if missing else next(iter(stops), None)
    is_finished = stop is None and all(ending.finished for ending in ended)
    return replace(
        newest,
        run=name,
        selection=Selection(part=Part(0, total)),
        rows=sum(one.rows or 0 for one in manifests),
        groups=tuple(sorted(group for one in manifests for group in one.groups)),
        warnings=tuple(dict.fromkeys(warning for one in manifests for warning in one.warnings)),
        flags={flag: value for flag, value in newest.flags.items() if flag != "--part"},
        started_at=started_at,
        ending=Ending(max(ending.at for ending in ended), is_finished, exit_code(counts, stop, None), stop),
    )


def _missing(missing: list[int], total: int, manifest: RunManifest) -> Stop:
    named = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
    flags = {**manifest.flags, "--part": f"{missing[0]}/{total}"}
    again = command_line("run", Path(manifest.file), "--mapping", Path(manifest.mapping), flags=flags)
    reason = f"of {total} parts, these have no report yet: {named}"
    return Stop("parts-missing", reason, f"wait until they have ended, or run them: {again}")
