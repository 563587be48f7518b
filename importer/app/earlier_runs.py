"""Operations on an earlier run: resume, resolve a row, and write its report again."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from importer.app.import_file import Confirm, Finished, import_file
from importer.app.orders import Continued, Listener, Order, RunControl, SandboxSetup, Sending, ignore
from importer.ledger import Ledger, open_existing_ledger, open_ledger
from importer.mapping import read_mapping
from importer.models import SENT_AGAIN, CorrectedCell, OutcomeKind
from importer.problems import Busy, Origin, UnusableInput, UsageError
from importer.report.next_steps import FROM_PYTHON
from importer.runs import run_report
from importer.runs.finalize import KnownBefore, close, resolve_row
from importer.runs.fixed_report import read_fixed, run_of_results_file
from importer.runs.joined import Parts, parts_beside, write_joined
from importer.runs.manifest import RunManifest, find_run, is_run, read_manifest
from importer.runs.results_folder import refuse_untrusted
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.runs.run_report import refuse_missing
from importer.runs.table import RunTable
from importer.sending import known_before
from importer.settings import Settings
from importer.sources import is_results_file
from importer.sources.results_file import results_file_elsewhere
from importer.text.terminal import command_line

# Of a run's flags, those for its results files too: no other one is taken from a file in its folder.
_OF_ITS_RESULTS = (
    *("--questions", "--faults", "--rate", "--concurrency", "--max-errors", "--resend-unconfirmed"),
    *("--give-up-after", "--strict"),
)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run of a results folder. `name`: its ID, the start of its ID, its folder, or `last`.

    flags: those given to the command that continues it, with their values.
    """

    name: str
    settings: Settings
    flags: Mapping[str, str] = field(default_factory=dict)

    def find(self) -> tuple[Path, RunManifest]:
        """Its folder and its manifest. Raises UsageError: there is no such run."""
        refuse_untrusted(self.settings)
        folder = find_run(self.settings.out, self.name)
        return folder, read_manifest(folder)


def resume(
    earlier: EarlierRun,
    sending: Sending,
    listen: Listener = ignore,
    control: RunControl | None = None,
    confirm: Confirm | None = None,
) -> Finished | None:
    """Import all rows of an earlier run again, from its own copies. Rows that are already imported are not sent again.

    Raises:
        NothingToSend: the run has finished, and no row is left.
        UsageError: there is no such run, it was only a check or is one of a folder of mappings, or its copies are
            missing; and as `import_file`.
    """
    folder, manifest = earlier.find()
    if manifest.dry_run:
        raise UsageError(f"{manifest.run} was only a check and sent nothing; use: {_import_command(manifest)}")
    if "--mapping" in manifest.flags:  # of one mapping of a folder; to resume it would leave out the others
        again = f"run the folder again, completed rows are skipped: {_import_command(manifest)}"
        raise UsageError(f"{manifest.run} imported with a folder of mappings, of which it is one; {again}")
    order = _order(earlier, folder, manifest, sending)
    kinds = (*SENT_AGAIN, OutcomeKind.REJECTED) if sending.resend_rejected else SENT_AGAIN
    if manifest.ending is not None and manifest.ending.finished and not _rows_with(kinds, folder):
        raise NothingToSend(manifest.run)
    return import_file(order, listen, control, confirm)


class NothingToSend(Exception):
    """No row of the run is left to be sent. The argument is the run's ID."""


def rows_with(kinds: Collection[OutcomeKind], earlier: EarlierRun) -> list[int]:
    """The rows of an earlier run that have one of these outcomes. Raises UsageError: there is no such run."""
    return _rows_with(kinds, earlier.find()[0])


def _rows_with(kinds: Collection[OutcomeKind], folder: Path) -> list[int]:
    refuse_missing(folder)  # opening a table would create one
    with RunTable(folder) as table:
        return [outcome.row for outcome in table.outcomes() if outcome.kind in kinds]


def resolve(earlier: EarlierRun, row: int, *, created: bool) -> str:
    """Record whether the candidate of an unconfirmed row was created; return the ID of the run.

    Raises:
        UsageError: there is no such run, it sent nothing for this row, or the row is not unconfirmed.
        Busy: a run for the same target is running.
    """
    folder, manifest = earlier.find()
    if manifest.selection.part is not None and not manifest.selection.part.number:
        runs = [each.name for found in parts_beside(folder, manifest).values() for each, _ in found[:1]]
        raise UsageError(f"{manifest.run} joins the parts of a file; resolve the row in its part: {', '.join(runs)}")
    with _ledger_of(manifest, earlier.settings) as ledger:
        if manifest.ending is None and not manifest.dry_run:
            close(folder, ledger, _known_before(ledger, manifest, folder))
        resolve_row(folder, ledger, row, created=created)
    return manifest.run


def rewrite_report(earlier: EarlierRun) -> Finished:
    """Write the report of an earlier run again, also of one that was killed.

    Raises:
        UsageError: there is no such run, or it is a check that was not completed.
        Busy: the run is running.
        UnusableInput: its files are missing or were changed; the existing report stays.
    """
    folder, manifest = earlier.find()
    if manifest.selection.part is not None and not manifest.dry_run:
        return _joined(earlier, folder, manifest)
    if manifest.ending is None and manifest.dry_run:
        raise UsageError(f"the check {manifest.run} was not completed; run importer check again")
    end_killed(folder, manifest, earlier.settings)
    return Finished(folder, run_report.rewrite_report(folder))


def end_killed(folder: Path, manifest: RunManifest, settings: Settings) -> None:
    """Complete the table of a run that was killed, and the ledger if that was lost at its end: only then the outcomes
    of all its rows are known.

    Raises:
        UsageError: the ledger does not know it: it sent nothing, or with another ledger.
        Busy: it is running.
    """
    if manifest.ending is None or _is_open(manifest, settings):
        with _ledger_of(manifest, settings) as ledger:  # killed or running: the lock shows which
            close(folder, ledger, _known_before(ledger, manifest, folder))


def _known_before(ledger: Ledger, manifest: RunManifest, folder: Path) -> KnownBefore:
    out = "" if folder.parent == Path("results") else str(folder.parent)
    return known_before(ledger, manifest.scope, out)


def _is_open(manifest: RunManifest, settings: Settings) -> bool:
    """Whether the ledger knows a run, and not its end."""
    with suppress(UnusableInput), open_existing_ledger(settings.ledger_address) or nullcontext() as ledger:
        record = ledger.run(manifest.run) if ledger is not None else None
        return record is not None and record.ended_at is None
    return False


def _joined(earlier: EarlierRun, folder: Path, manifest: RunManifest) -> Finished:
    """Write the report of all parts of a file, after that of each part that was killed."""
    assert manifest.selection.part is not None
    ended: Parts = {}
    for number, attempts in parts_beside(folder, manifest).items():
        for each, of_part in attempts:
            try:
                end_killed(each, of_part, earlier.settings)
            except Busy:
                break
            except UsageError:  # it was killed before it sent anything: what an earlier run of this part did is true
                continue
            ended[number] = each, read_manifest(each)
            break
    if not ended:
        raise Busy(f"no part of {manifest.file} has ended yet; write the report when one has")
    return Finished(*write_joined(ended, manifest.selection.part.total))


def flags_of_results_file(file: Path, settings: Settings) -> dict[str, str]:
    """The flags, with the mapping, that import what was fixed in a results file as its run was imported.

    Raises:
        UsageError: it is not the results file of a run, the settings have another service than that run, or its mapping
            is not where it was or has another target now.
        UnusableInput: its run is not in the results folder.
    """
    if not file.exists():
        raise UsageError(f"{file} does not exist")
    folder = run_of_results_file(file, settings.out)
    if folder is None and is_results_file(file):
        raise results_file_elsewhere(Origin(str(file)))
    if folder is None:
        is_resaved = is_run(file.absolute().parent) and file.suffix.lower() in (".xls", ".ods")
        how = "save it as .xlsx" if is_resaved else "name the mapping file; only the results file of a run needs none"
        raise UsageError(f"--mapping is missing: {how}")
    refuse_untrusted(settings)
    manifest = read_manifest(folder)
    if not manifest.sandbox and settings.base_url and settings.base_url.rstrip("/") != manifest.service.rstrip("/"):
        raise UsageError(f"run {manifest.run} was for {manifest.service}, but IMPORTER_BASE_URL is {settings.base_url}")
    path = Path(manifest.mapping)
    if not path.exists():
        copy = command_line("run", file, "--mapping", folder / manifest.mapping_copy)
        raise UsageError(f"the mapping {path} of run {manifest.run} is not here; use another, or its copy: {copy}")
    if read_mapping(path, settings.mapping_folders).target != manifest.target:
        raise UsageError(f"{path} has another target here than run {manifest.run}; name its mapping with --mapping")
    sandbox = {"--sandbox": ""} if manifest.sandbox else {}
    kept = {flag: manifest.flags[flag] for flag in _OF_ITS_RESULTS if flag in manifest.flags}
    return {"--mapping": manifest.mapping, "--out": os.path.relpath(folder.parent), **sandbox, **kept}


def fixed_order(order: Order) -> Order:
    """For a results file that a person fixed: the order that imports the file of its run again, with what was fixed.
    The order itself for any other file.

    Raises:
        UsageError: its run is in another results folder, was a rehearsal, or the order selects rows.
        UnusableInput: with every problem of the results file.
    """
    folder = run_of_results_file(order.file, order.settings.out)
    if folder is None:
        return order
    manifest = read_manifest(folder)
    if order.selection not in (ALL_ROWS, Selection(part=manifest.selection.part)) or order.sheet is not None:
        raise UsageError("--rows, --limit and --sheet cannot be used with a results file: what was fixed is sent")
    if manifest.sandbox and order.sending.sandbox_setup is None:
        raise UsageError(f"{order.file} is of a sandbox run: add --sandbox, or import your own file")
    if folder.parent.resolve() != order.settings.out.resolve():
        out = os.path.relpath(folder.parent)
        raise UsageError(f"{order.file} is of a run in {out}: add --out {out}")
    folders = order.settings.mapping_folders
    if order.mapping.is_file() and read_mapping(order.mapping, folders).target != manifest.target:
        raise UsageError(f"{order.mapping} has another target than run {manifest.run}: import your own file with it")
    earlier = EarlierRun(manifest.run, order.settings, order.flags)
    again = _order(earlier, folder, manifest, order.sending)
    corrections, sheet = read_fixed(order.file, folder, manifest), again.sheet
    if again.mapping != order.mapping:  # it was changed, and may name another sheet by now
        with RunTable(folder) as table:
            sheet = sheet or table.sheet.origin.sheet
    return replace(again, mapping=order.mapping, mapping_shown_as=None, corrections=corrections, sheet=sheet)


def _import_command(manifest: RunManifest) -> str:
    if manifest.taken is not None:
        return " && ".join(manifest.taken.commands)
    flags = {**manifest.flags}
    mapping = Path(flags.pop("--mapping", manifest.mapping))
    return command_line("run", Path(manifest.file), "--mapping", mapping, flags=flags)


def _order(earlier: EarlierRun, folder: Path, manifest: RunManifest, sending: Sending) -> Order:
    """The order that sends rows of an earlier run again, if the settings still contain its service."""
    source, copy = folder / manifest.source, folder / manifest.mapping_copy
    if not copy.exists() or not source.is_file():
        raise UsageError(
            f"the folder {folder} no longer contains the copies of the file and the mapping; "
            f"import the file again with: {_import_command(manifest)}"
        )
    if sending.sandbox_setup is not None and not manifest.sandbox:
        raise UsageError(f"{manifest.run} was not a sandbox run: leave out --sandbox, --questions and --faults")
    if manifest.sandbox:
        setup = sending.sandbox_setup or SandboxSetup()
        kept = folder / manifest.questions if manifest.questions else None
        sending = replace(sending, sandbox_setup=replace(setup, questions=setup.questions or kept))
    flags = {flag: value for flag, value in manifest.flags.items() if flag != "--mapping"}
    return Order(
        file=source,
        mapping=_unchanged(Path(manifest.mapping), copy),
        settings=earlier.settings.model_copy(update={"strict": earlier.settings.strict or manifest.strict}),
        selection=manifest.selected,
        sending=sending,
        file_shown_as=manifest.file,
        mapping_shown_as=manifest.mapping,
        taken=manifest.taken,
        continues=Continued(manifest.run, manifest.service, manifest.sha256),
        flags={**flags, **earlier.flags},
        sheet=manifest.options.sheet,
        reading=manifest.options if manifest.file == FROM_PYTHON else None,
        corrections=_corrections_in(folder),
        route=manifest.route,
    )


def _unchanged(mapping: Path, copy: Path) -> Path:
    """The mapping file of a run if it is as it was then, so that messages name its lines; else the copy."""
    with suppress(OSError):
        if mapping.is_file() and mapping.read_bytes() == copy.read_bytes():
            return mapping
    return copy


def _corrections_in(folder: Path) -> tuple[CorrectedCell, ...]:
    """The corrections of a run."""
    refuse_missing(folder)
    with RunTable(folder) as table:
        return tuple(table.corrections.values())


@contextmanager
def _ledger_of(manifest: RunManifest, settings: Settings) -> Iterator[Ledger]:
    """The ledger, under the lock of the run's target."""
    with open_ledger(settings.ledger_address) as ledger, ledger.lock_target(manifest.scope, manifest.selection.part):
        yield ledger
