"""The step Send: what will be sent, then how it goes, with its control; and the progress of a run or a check."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from importer.app.earlier_runs import resume
from importer.app.import_file import Finished, import_file
from importer.app.orders import Listener, RunControl, Sending
from importer.models import OutcomeKind
from importer.problems import UnusableInput, UsageError
from importer.web.forms import SentForm
from importer.web.models.draft_mapping import DraftMapping
from importer.web.models.matching import anchor_of
from importer.web.pages import ImportPage, OfImport
from importer.web.result import earlier, found_run
from importer.web.running import Task

router = APIRouter()

_INTERVAL: Final = 0.5  # seconds


@router.get("/imports/{id}/send")
def show(page: OfImport) -> Response:
    draft, task, settings = page.draft, page.task, page.settings
    is_running = task is not None and task.is_running("send")
    is_new = bool(draft.check) and draft.check > draft.run  # IDs begin with their times
    ready = found_run(page, draft.check) if is_new else None
    checked = ready.summary if ready else None
    mapping = Path(draft.mapping)
    left = DraftMapping(mapping).unreviewed if checked and mapping.parent == page.folder else ()
    command = page.command("run", Path(page.file_shown_as), asks=True, flags={"--mapping": draft.mapping})
    return page.show(
        "send",
        problems=page.failure("send"),
        command=command if checked and not draft.is_of_page else "",
        checked=checked,
        to_send=ready.candidates[OutcomeKind.NOT_SENT] if ready else 0,
        left=[(anchor_of(id), id.partition("/")[2].removeprefix("text: ").replace("_", " ")) for id in left],
        is_running=is_running,
        last=found_run(page, draft.run) if draft.run and not is_new and not is_running else None,
        address=settings.base_url,
    )


@router.post("/imports/{id}/send")
def start(page: OfImport, form: SentForm) -> Response:
    """Send the candidates that were shown, in a thread: closing the browser does not stop it."""
    if page.task is not None and page.task.is_running("send"):
        return page.go("send")
    if form.text("check") != page.draft.check or page.draft.run > page.draft.check:
        raise UsageError(
            "something was changed since this page was shown, perhaps in another tab: see what is sent now"
        )
    expects = found_run(page, page.draft.check).manifest.sha256
    order = replace(page.web.drafts.order(page.draft, page.settings), expects=expects)

    def send(listen: Listener, control: RunControl) -> Finished | None:
        try:
            return import_file(order, listen, control)
        except UnusableInput as error:
            if error.problems[0].code == "file-changed":
                page.change(check="")  # its rows must be checked again
                page.keep_errors(error, {})
                return None
            raise

    page.start("send", send)
    return page.go("send")


@router.post("/imports/{id}/send/continue")
def go_on(page: OfImport, form: SentForm) -> Response:
    """Continue the last run, from its own copies: what is done is not sent again."""
    page.start("send", partial(resume, earlier(page, page.draft.run), Sending()))
    return page.go("send")


@router.post("/imports/{id}/send/{act}")
def control(page: OfImport, act: str, form: SentForm) -> Response:
    """Pause, go on, or stop."""
    task = page.task
    if task is not None and task.is_running("send"):
        {"pause": task.control.pause, "resume": task.control.resume}.get(act, task.control.stop)()
    return page.go("send")


@router.get("/imports/{id}/progress")
def follow(page: OfImport) -> Response:
    """What the run is doing whenever it changes, and its end."""
    if page.task is None:
        return Response(status_code=204)  # a browser does not ask again
    return StreamingResponse(_events(page, page.task), media_type="text/event-stream")


async def _events(page: ImportPage, task: Task) -> AsyncIterator[str]:
    shown = ""
    while not page.web.closing.is_set():
        is_over, seen = task.is_over, task.progress.seen()
        html = page.fragment("progress", task=task)
        if html != shown:
            shown = html
            data = {"html": html, "percent": seen.percent, "status": seen.doing}
            yield f"event: progress\ndata: {json.dumps(data)}\n\n"
        if is_over:
            yield "event: over\ndata:\n\n"
            return
        await asyncio.sleep(_INTERVAL)
