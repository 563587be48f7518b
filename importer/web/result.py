"""The step Result: what became of every row, what to do next, the files, and the life of one row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Final

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from importer.app.earlier_runs import EarlierRun, resolve, resume, rows_with
from importer.app.orders import Sending
from importer.app.shown_runs import ListedState, running_runs, show_row, state_of
from importer.models import IN_SERVICE, NEEDS_ATTENTION, SENT_AGAIN, TO_FIX, CorrectedCell, OutcomeKind
from importer.problems import UnusableInput
from importer.report.next_steps import other_table
from importer.report.outcomes import WORKBOOK_FILE
from importer.report.summary import Summary, read_summary
from importer.runs.corrections import read_corrections, write_corrections
from importer.runs.fixed_report import read_fixed
from importer.runs.manifest import RunManifest
from importer.runs.private_copies import asked_in, take_copy
from importer.runs.results_folder import is_run_name
from importer.runs.table import TABLE, RunTable
from importer.web.forms import SentForm, download, receive_upload
from importer.web.pages import FieldError, ImportPage, NoSuchImport, OfAny, OfImport, Page

router = APIRouter()

CORRECTIONS: Final = "corrections.json"
"""The list of corrections in the folder of an import."""
_LISTED: Final = 50  # unconfirmed rows; the file has all
_PAGE: Final = "report.html"
_UPLOAD: Final = "fixed"
_PAGE_POLICY: Final = "sandbox allow-downloads; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run of the results folder. candidates: how many have each outcome, as several rows may be one; done: those in
    the service; open: rows to be sent again; to_fix: rows for a person.
    """

    folder: Path
    manifest: RunManifest
    summary: Summary
    state: ListedState
    candidates: Mapping[OutcomeKind, int]

    @property
    def done(self) -> int:
        return sum(self.candidates[kind] for kind in IN_SERVICE)

    @property
    def open(self) -> int:
        return self.summary.rows_of(*SENT_AGAIN)

    @property
    def to_fix(self) -> int:
        return self.summary.rows_of(*TO_FIX)

    @property
    def other_tables(self) -> list[str]:
        """Those with problems to fix: their cells are not in the grid, nor in report.xlsx."""
        return list(dict.fromkeys(filter(None, map(other_table, self.summary.to_fix))))

    @property
    def fixes_here(self) -> bool:
        """Whether there is a problem to fix in the file itself."""
        return bool(self.to_fix) and not (self.summary.to_fix and all(map(other_table, self.summary.to_fix)))


def earlier(page: Page, run: str) -> EarlierRun:
    """A run by its ID, which is a part of an address: no path."""
    if not is_run_name(run):
        raise NoSuchImport(run)
    return EarlierRun(run, page.settings)


def found_run(page: Page, run: str) -> FoundRun:
    """A run with its summary. Raises UsageError if it was removed."""
    folder, manifest = earlier(page, run).find()
    summary = read_summary(folder)
    candidates = summary.outcomes
    if manifest.groups and (folder / TABLE).is_file():
        with RunTable(folder) as table:
            candidates = table.counts(of_candidates=True)
    return FoundRun(folder, manifest, summary, state_of(summary, running_runs(page.settings)), candidates)


@router.get("/imports/{id}/result")
def show(page: OfImport) -> Response:
    run = found_run(page, page.draft.run)
    unconfirmed = rows_with((OutcomeKind.UNCONFIRMED,), earlier(page, page.draft.run))
    return page.show(
        "result",
        command=page.command("show", page.draft.run),
        run=run,
        summary=run.summary,
        problems_of_rows=run.summary.rows_of(*NEEDS_ATTENTION),
        unconfirmed=unconfirmed[:_LISTED],
        more=max(len(unconfirmed) - _LISTED, 0),
    )


@router.post("/imports/{id}/result/retry")
def send_rejected(page: OfImport, form: SentForm) -> Response:
    """Send the rejected rows again, unchanged."""
    page.start("send", partial(resume, earlier(page, page.draft.run), Sending(resend_rejected=True)))
    return page.go("send")


@router.post("/imports/{id}/result/resolve")
def settle(page: OfImport, form: SentForm) -> Response:
    """Record what a person found in the service about an unconfirmed row."""
    row = form.text("row")
    if not row.isdecimal():
        raise FieldError("row", f"{row!r} is not a row number")
    resolve(earlier(page, page.draft.run), int(row), created=form.text("found") == "yes")
    return page.go("result", "settled")


@router.post("/imports/{id}/result/correct")
def correct(page: OfImport, form: SentForm) -> Response:
    """Correct the rows of the run that were refused, in the grid of the step Check."""
    return _with_corrections(page, found_run(page, page.draft.run))


@router.post("/imports/{id}/result/fixed")
def import_fixed(page: OfImport, form: SentForm) -> Response:
    """Take over what a person fixed in report.xlsx, which the grid of the step Check then shows."""
    run = found_run(page, page.draft.run)
    return _with_corrections(page, run, read_fixed(run.folder / WORKBOOK_FILE, run.folder, run.manifest))


@router.post("/imports/{id}/result/upload")
async def upload_fixed(request: Request, page: OfImport) -> Response:
    """The same of a report.xlsx that a person has downloaded and fixed."""
    folder = page.folder / _UPLOAD
    rmtree(folder, ignore_errors=True)
    try:
        path = await receive_upload(request, folder)
        return await run_in_threadpool(_with_fixed, page, path)
    finally:
        rmtree(folder, ignore_errors=True)


def _with_fixed(page: ImportPage, path: Path) -> Response:
    run = found_run(page, page.draft.run)
    return _with_corrections(page, run, read_fixed(path, run.folder, run.manifest, path.name))


def _with_corrections(page: ImportPage, run: FoundRun, fixed: Iterable[CorrectedCell] | None = None) -> Response:
    """Show the rows of a run, with its corrections, what was fixed in its report, and what was typed here since."""
    path = page.folder / CORRECTIONS
    with page.web.changing:
        with RunTable(run.folder) as table:
            before = table.corrections
        since, sha256 = read_corrections(Path(page.draft.corrections)) if page.draft.corrections else ((), "")
        is_of_file = sha256 == run.manifest.sha256
        kept = {(one.row, one.column.index): one for one in (since if is_of_file else before.values())}
        if fixed is not None:
            now = {(one.row, one.column.index): one for one in fixed}
            edited = {cell for cell in before.keys() | now.keys() if now.get(cell) != before.get(cell)}
            kept = {cell: one for cell, one in kept.items() if cell not in edited}
            kept |= {cell: now[cell] for cell in edited & now.keys()}
        write_corrections(path, kept.values(), run.manifest.sha256)
        page.change(check="", grid=run.manifest.run, corrections=str(path) if kept else "")
    return page.go("check")


@router.get("/imports/{id}/result/row")
def row(page: OfImport, number: str = "") -> Response:
    """The life of one row: its cells, what was sent, requests and responses."""
    if not number.isdecimal():
        raise FieldError("row", f"{number!r} is not a row number")
    shown = show_row(earlier(page, page.draft.run), int(number))
    command = page.command("show", page.draft.run, flags={"--row": number})
    body = json.dumps(json.loads(shown.body), ensure_ascii=False, indent=2) if shown.body else ""
    return page.show("row", step="result", command=command, row=shown, body=body)


# --- runs of the list, and their files ------------------------------------------------------------


@router.post("/runs/{run}/open")
def open_run(page: OfAny, run: str, form: SentForm) -> Response:
    """Show a run that was not begun here, as an import of its own."""
    found = found_run(page, run)
    manifest = found.manifest
    drafts = page.web.drafts
    draft = drafts.create(
        file=manifest.file,
        is_read=True,
        source=manifest.options,
        sandbox=manifest.sandbox,
        target=manifest.target,
        mapping=manifest.mapping,
        run=run,
        route=manifest.route,
        selection=manifest.selected,
    )
    own = dict[str, str]()  # of a file that was uploaded, or is gone: the run has copies
    for name, path, copy, folder in (
        ("file", manifest.file, manifest.source, drafts.upload_folder(draft)),
        ("mapping", manifest.mapping, manifest.mapping_copy, drafts.folder(draft)),
    ):
        if not Path(path).is_file() or (name == "file" and _digest(Path(path)) != manifest.sha256):
            with suppress(OSError, UnusableInput):  # `forget` removes copies, too: then the step File asks for the file
                folder.mkdir(mode=0o700, exist_ok=True)
                own[name] = str(take_copy(found.folder / copy, folder, path))
    with suppress(OSError, ValueError, KeyError, TypeError):  # else the step Target asks for them
        drafts.keep_questions(draft, asked_in(found.folder)[0])
        own["asked"] = "sandbox" if manifest.sandbox else "service"
    drafts.change(draft.id, **own)
    return RedirectResponse(f"/imports/{draft.id}/result", 303)


def _digest(path: Path) -> str:
    """The SHA-256 of a file; "" if it cannot be read."""
    with suppress(OSError), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


@router.get("/runs/{run}/files/{name}")
def file(page: OfAny, run: str, name: str) -> Response:
    """A file of a run's results: the page of the report is shown, others are downloads."""
    found = found_run(page, run)
    if name not in found.summary.files:
        raise NoSuchImport(name)
    if name == _PAGE:
        headers = {"Content-Security-Policy": _PAGE_POLICY}  # it has its styles inside, and no script
        return download(found.folder / name, kind="text/html", headers=headers)
    return download(found.folder / name, name)
