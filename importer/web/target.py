"""The step Target: the job post or talent pool, and what it asks."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.mapping_files import ask_questions, parse_target
from importer.models import Operation, Target
from importer.problems import UsageError
from importer.web.forms import SentForm
from importer.web.pages import FieldError, ImportPage, OfImport

router = APIRouter()


@router.get("/imports/{id}/target")
def show(page: OfImport) -> Response:
    target = page.draft.target
    is_job_post = target is not None and target.operation is Operation.APPLY
    command = page.command("questions", target.id, asks=True) if target and is_job_post else ""
    questions = page.web.drafts.questions(page.draft) if page.draft.asked else ()
    return page.show("target", command=command, target=target, questions=questions, is_pool=target and not is_job_post)


@router.post("/imports/{id}/target")
def choose(page: OfImport, form: SentForm) -> Response:
    """Choose the target, and fetch its questions; go on if that was done."""
    operation = Operation.ADD_TO_POOL if form.text("kind") == "pool" else Operation.APPLY
    try:
        target = parse_target(operation, form.text("target"))
    except UsageError as error:
        raise FieldError("target", str(error)) from None
    notice = ""
    if target == page.draft.target and page.draft.asked and not form.text("again"):
        return page.go("match")
    if target != page.draft.target:
        page.change(target=target, asked="")
        notice = page.forget_mapping()
    return page.go("target", _ask(page, target) or notice)


def _ask(page: ImportPage, target: Target) -> str:
    """Fetch the questions of a target: in a rehearsal from the sandbox, unless those of the real service are known.
    Returns the key of a notice, if they are others than those that the mapping answers."""
    draft = page.draft
    before = page.web.drafts.questions(draft)
    setup = page.web.drafts.sandbox_setup(draft)
    questions = ask_questions(target, page.settings, setup)
    page.web.drafts.keep_questions(draft, questions)
    if setup is None or setup.questions is None:
        page.change(asked="sandbox" if setup else "service", check="")
    return page.forget_mapping() if before and page.web.drafts.questions(draft) != before else ""
