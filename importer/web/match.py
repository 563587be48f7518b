"""The step Match: a proposed mapping file, as text."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.mapping_files import propose_mapping, write_mapping
from importer.models import Operation
from importer.web.forms import Sent
from importer.web.pages import OfImport

router = APIRouter()


@router.get("/imports/{id}/match")
def show(page: OfImport) -> Response:
    draft = page.draft
    text = Path(draft.mapping).read_text("utf-8") if draft.mapping else ""
    return page.show("match", text=text, command=_command(page) if draft.mapping else "")


@router.post("/imports/{id}/match")
def propose(page: OfImport, form: Sent) -> Response:
    """Propose a mapping file from the columns and the questions."""
    draft = page.draft
    assert draft.target is not None
    questions = page.web.drafts.questions(draft)
    found = propose_mapping(Path(draft.file), draft.target, questions, draft.source, page.settings, lambda _: None)
    mapping = page.folder / f"{Path(draft.file).stem}.yaml"
    write_mapping(mapping, found)
    page.change(mapping=str(mapping), check="")
    return page.go("match")


def _command(page: OfImport) -> str:
    draft = page.draft
    assert draft.target is not None
    key = "--job-post" if draft.target.operation is Operation.APPLY else "--talent-pool"
    flags = {key: draft.target.id, "--to": draft.mapping}
    return page.command("mapping", "new", Path(draft.file), asks=True, flags=flags)
