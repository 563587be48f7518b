"""The start page: recent runs, imports that are being prepared, and a new one by upload or by its path."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from importer.app.doctor import missing_settings
from importer.app.shown_runs import recent_runs, running_runs, state_of
from importer.report.summary import Summary
from importer.web.forms import MOST_UPLOADED, SentForm, receive_upload
from importer.web.pages import FieldError, OfAny, OfImport, shown
from importer.web.steps import NAMES

router = APIRouter()

_RUNS, _ALL_RUNS = 20, 1_000  # that are listed


@router.get("/")
def show(page: OfAny, all: bool = False) -> Response:
    settings, drafts = page.settings, list(page.web.drafts.all())
    by_run = {run: draft for draft in reversed(drafts) for run in (draft.run, draft.check) if run}
    # Of the checks, those of an import that is being prepared.
    own = (one for one in recent_runs(settings) if not isinstance(one, Summary) or not one.dry_run or one.run in by_run)
    most = _ALL_RUNS if all else _RUNS
    found = list(islice(own, most + 1))
    listed = found[:most]
    running = running_runs(settings)
    runs = [(one, state_of(one, running), by_run.get(one.run)) for one in listed if isinstance(one, Summary)]
    killed = [draft for _, state, draft in runs if state == "killed" and draft is not None]
    damaged = [each for one in listed if not isinstance(one, Summary) for each in shown(one)]
    return page.show(
        "start",
        runs=runs,
        killed=killed,
        damaged=damaged,
        has_more=len(found) > most and not all,
        drafts=[draft for draft in drafts if not draft.run],
        missing=list(missing_settings(settings)),
        by_request=page.web.sandbox,
        out=settings.out,
        most=MOST_UPLOADED >> 20,
    )


@router.post("/by-path")
def by_path(page: OfAny, form: SentForm) -> Response:
    """A new import of a file on this machine, which is read in place."""
    path = Path(form.text("path")).expanduser()
    if not form.text("path"):
        raise FieldError("path", "enter the path of a file on this machine")
    try:
        is_file = path.is_file()
    except (OSError, ValueError):  # too long, or a NUL character
        is_file = False
    if not is_file:
        raise FieldError("path", f"there is no file {path}; enter its whole path, or drop the file instead")
    draft = page.web.drafts.create(file=str(path), sandbox=page.rehearses)
    return RedirectResponse(f"/imports/{draft.id}/file", 303)


@router.post("/upload")
async def upload(request: Request, page: OfAny) -> Response:
    """A new import of a file that the browser sends."""
    with page.web.drafts.create_for_upload() as draft:
        file = await receive_upload(request, page.web.drafts.upload_folder(draft))
    page.web.drafts.change(draft.id, file=str(file), sandbox=page.rehearses)
    return RedirectResponse(f"/imports/{draft.id}/file", 303)


@router.post("/imports/{id}/remove")
def remove(page: OfImport, form: SentForm) -> Response:
    """Remove an import that is being prepared, with its upload. The file on this machine and all runs stay."""
    page.web.drafts.remove(page.draft)
    return RedirectResponse("/?notice=removed", 303)


@router.post("/imports/{id}/rehearsal")
def switch(page: OfImport, form: SentForm) -> Response:
    """Switch between the sandbox and the real service: with another one it is another import than its last run."""
    sandbox = form.text("sandbox") == "yes"
    if page.task is not None and page.task.is_running("send"):
        return page.go("send")
    if sandbox == page.draft.sandbox:
        return page.go("check")
    asked = "" if not sandbox and page.draft.asked == "sandbox" else page.draft.asked  # the real questions are unknown
    page.change(sandbox=sandbox, asked=asked, run="")
    step = form.text("step")
    return page.go(step if step in NAMES[: NAMES.index("send")] else "check")
