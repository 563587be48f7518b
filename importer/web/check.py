"""The step Check: what will happen with each row, before anything is sent."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.import_file import check_file
from importer.web.forms import Sent
from importer.web.pages import OfImport
from importer.web.result import found_run

router = APIRouter()


@router.get("/imports/{id}/check")
def show(page: OfImport) -> Response:
    draft, job = page.draft, page.job
    problems = page.failure("check")
    summary = found_run(page, draft.check).summary if draft.check else None
    command = page.command("check", Path(draft.file), asks=True, flags={"--mapping": draft.mapping})
    is_running = job is not None and job.kind == "check" and not job.is_over
    return page.show("check", problems=problems, command=command, summary=summary, is_running=is_running)


@router.post("/imports/{id}/check")
def start(page: OfImport, form: Sent) -> Response:
    """Check all rows, in a thread; nothing is sent."""
    order = page.web.drafts.order(page.draft, page.settings)
    page.start("check", lambda listen, _: check_file(order, listen))
    return page.go("check")
