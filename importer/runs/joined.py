"""The report of a file that was imported in parts: a run of its own, with the rows and outcomes of all parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from importer.files import read_private
from importer.models import Stop
from importer.report import Summary
from importer.runs.finalize import exit_code
from importer.runs.manifest import Ending, RunManifest, RunTarget, manifests_in, write_manifest
from importer.runs.private_copies import ASKED
from importer.runs.results_folder import make_private_folder, remove_folder
from importer.runs.row_selection import Part, Selection
from importer.runs.run_report import rewrite_report
from importer.runs.table import RunTable
from importer.sources import SourceCopy, share_copy
from importer.text.terminal import command_line

Parts = dict[int, tuple[Path, RunManifest]]


def parts_beside(folder: Path, manifest: RunManifest) -> Parts:
    """The last run of each part, by its number, of the same file with the same mapping, for the same target.

    The results folder is that of all machines.
    """
    assert manifest.selection.part is not None
    found: Parts = {}
    for each, other in manifests_in(folder.parent):
        part = other.selection.part
        is_alike = (other.sha256, other.scope, other.options) == (manifest.sha256, manifest.scope, manifest.options)
        if part is None or not part.number or part.total != manifest.selection.part.total or not is_alike:
            continue
        if _mapping_of(each, other) == _mapping_of(folder, manifest):
            known = found.get(part.number)
            if known is None or known[1].started_at < other.started_at:
                found[part.number] = each, other
    return found


def _mapping_of(folder: Path, manifest: RunManifest) -> bytes:
    try:
        return read_private(folder / manifest.mapping_copy)
    except OSError:
        return b""


def write_joined(
    parts: Parts, total: int, running: Iterable[int], *, personal_data: bool = True
) -> tuple[Path, Summary]:
    """Write the report of all these parts into `<run>.<total>parts`, and name those that are missing or running.

    Raises:
        UnusableInput: a table is damaged, or the folder cannot be written.
    """
    parts = {number: found for number, found in sorted(parts.items()) if number not in running}
    folders = [folder for folder, _ in parts.values()]
    manifests = [manifest for _, manifest in parts.values()]
    first, newest = min(manifests, key=lambda one: one.started_at), max(manifests, key=lambda one: one.started_at)
    name = f"{first.run.partition('.')[0]}.{total}parts"
    remove_folder(folders[0].with_name(name))  # of an earlier report
    folder = make_private_folder(folders[0].parent, name)
    for copy in (newest.source, newest.mapping_copy, ASKED, *(child.copy for child in newest.children)):
        share_copy(SourceCopy(folders[manifests.index(newest)] / copy, newest.sha256), folder)
    with RunTable(folder) as table:
        for each in folders:
            table.take(each)
        counts = table.counts()
    missing = [number for number in range(1, total + 1) if number not in parts]
    ended = [one.ending for one in manifests if one.ending is not None]
    stops = [ending.stopped for ending in ended if ending.stopped is not None]
    stop = _missing(missing, total, newest) if missing else next(iter(stops), None)
    is_finished = stop is None and all(ending.finished for ending in ended)
    write_manifest(
        folder,
        replace(
            newest,
            run=name,
            selection=Selection(part=Part(0, total)),
            targets=(RunTarget(name, newest.targets[0].target, newest.mapping),),
            rows=sum(one.rows or 0 for one in manifests),
            groups=tuple(sorted(group for one in manifests for group in one.groups)),
            warnings=tuple(dict.fromkeys(warning for one in manifests for warning in one.warnings)),
            flags={flag: value for flag, value in newest.flags.items() if flag != "--part"},
            started_at=first.started_at,
            ending=Ending(max(ending.at for ending in ended), is_finished, exit_code(counts, stop, None), stop),
        ),
    )
    return folder, rewrite_report(folder, personal_data=personal_data)


def _missing(missing: list[int], total: int, manifest: RunManifest) -> Stop:
    named = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
    flags = {**manifest.flags, "--part": f"{missing[0]}/{total}"}
    again = command_line("run", Path(manifest.file), "--mapping", Path(manifest.mapping), flags=flags)
    reason = f"of {total} parts, these have no report yet: {named}"
    return Stop("parts-missing", reason, f"wait until they have ended, or run them: {again}")
