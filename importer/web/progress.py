"""The progress of a check or a run, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from importer.web.pages import ImportPage, OfImport
from importer.web.running import Task

router = APIRouter()

_INTERVAL: Final = 0.5  # seconds


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
