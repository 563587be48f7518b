"""The step Check: what will happen with each row, and a grid in which cells are corrected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.import_file import check_file
from importer.models import OutcomeKind
from importer.problems import UsageError
from importer.report.summary import ProblemGroup
from importer.web.forms import Form, SentForm
from importer.web.models.cell_fixes import Fix, apply_fix, proposed_fix
from importer.web.models.checked_rows import CheckedRows
from importer.web.pages import ImportPage, OfImport
from importer.web.result import CORRECTIONS, found_run

router = APIRouter()

_ROWS: Final = 40  # on a page
_MOST: Final = 10**9  # rows of any file
_CELL: Final = re.compile(r"r(\d{1,9})c(\d{1,9})", re.ASCII)


@router.get("/imports/{id}/check")
def show(page: OfImport, cause: str = "", all: bool = False, first: int = 0, row: int = 0) -> Response:
    draft, task = page.draft, page.task
    if task is not None and task.is_running("send"):  # a correction would come too late
        return page.go("send")
    problems = page.failure("check")
    run = found_run(page, shown) if (shown := _shown(page)) else None
    command = page.command("check", Path(page.file_shown_as), asks=True, flags={"--mapping": draft.mapping})
    is_running = task is not None and task.is_running("check")
    grid, first = None, min(max(first, 0), _MOST)
    if run is not None and not is_running:
        grid = _Grid(page, run.summary.problems, cause, all, first, row if 0 < row < _MOST else 0)
    return page.show(
        "check",
        problems=problems,
        command="" if draft.is_of_page else command,
        summary=run.summary if run is not None else None,
        to_send=run.candidates[OutcomeKind.NOT_SENT] if run is not None else 0,
        is_run=run is not None and not run.manifest.dry_run,
        is_running=is_running,
        is_current=bool(draft.check) and shown == draft.grid,
        grid=grid,
    )


@router.post("/imports/{id}/check")
def start(page: OfImport, form: SentForm) -> Response:
    """Check all rows, in a thread; nothing is sent."""
    order = page.web.drafts.order(page.draft, page.settings)
    page.start("check", lambda listen, control: check_file(order, listen, control))
    return page.go("check")


@router.post("/imports/{id}/check/stop")
def stop(page: OfImport, form: SentForm) -> Response:
    """Stop the check that is running; nothing of it is left."""
    if page.task is not None and page.task.kind == "check":
        page.task.control.stop()
    return page.go("check")


def _shown(page: ImportPage) -> str:
    """The check whose rows are shown, or the run that has sent them since; IDs begin with their times."""
    return max(page.draft.run, page.draft.grid)


class _Grid:
    """Some rows of the last check, and where the others are. cause: a code and a column, as in an address; row: of
    which all that would be sent is shown.
    """

    def __init__(
        self, page: ImportPage, groups: Iterable[ProblemGroup], cause: str, all_rows: bool, first: int, row: int
    ) -> None:
        self.cause, self.all_rows, self.first, self.row = cause, all_rows, first, row
        code, _, column = cause.partition("|")
        self.checked = _checked(page)
        self.groups = sorted((one for one in groups if one.is_to_fix or one.is_warning), key=lambda one: one.is_warning)
        wanted = (code, column or None) if code else None
        found = self.checked.page(first, _ROWS + 1, wanted, all_rows=all_rows)
        self.rows, self.has_next = found[:_ROWS], len(found) > _ROWS
        self.sent = self.checked.sent(row) if row else ()
        names = [column] if column else [one.column for one in self.groups]
        wrong = [each for name in names for each in self.checked.columns if name and each.label == name]
        self.labels = {each.label for each in self.checked.columns}
        self.columns = list(dict.fromkeys((*self.checked.fixed, *wrong, *self.checked.columns)))
        """Those that say who it is, then those with problems, then the others; none moves while cells are corrected."""

    @staticmethod
    def key(group: ProblemGroup) -> str:
        """A cause in an address."""
        return f"{group.code}|{group.column or ''}"

    @property
    def causes(self) -> list[tuple[ProblemGroup, int]]:
        """A group for each cause in an address, with the count of all that have it."""
        first: dict[str, ProblemGroup] = {}
        counts = Counter[str]()
        for one in self.groups:
            first.setdefault(self.key(one), one)
            counts[self.key(one)] += one.count
        return [(one, counts[key]) for key, one in first.items()]

    def fix_of(self, group: ProblemGroup) -> Fix | None:
        """The fix that repairs most cells of a cause."""
        return proposed_fix(self.checked, (group.code, group.column))

    def address(self, **changed: object) -> str:
        """The address of this grid with other values."""
        values = {"cause": self.cause, "all": int(self.all_rows), "first": self.first, "row": self.row, **changed}
        return "?" + urlencode({name: value for name, value in values.items() if value})

    @property
    def previous(self) -> int:
        return max(self.first - _ROWS, 0)

    @property
    def following(self) -> int:
        return self.first + _ROWS


def _list(page: ImportPage) -> Path:
    return Path(page.draft.corrections) if page.draft.corrections else page.folder / CORRECTIONS


def _checked(page: ImportPage) -> CheckedRows:
    if not (shown := _shown(page)):
        raise UsageError("the rows were not checked yet with these choices; check them first")
    return CheckedRows(shown, _list(page), page.settings)


@router.post("/imports/{id}/check/cells")
def correct(page: OfImport, form: SentForm) -> Response:
    """Correct cells: the field r20c2 has the text of the column with index 2 in row 20."""
    named = ((_CELL.fullmatch(name), text) for name, text in form.items())
    texts = {(int(found[1]), int(found[2])): text for found, text in named if found}
    if not texts:
        raise UsageError("this form is not known; load the page again")
    return _corrected(page, form, lambda checked: checked.correct(texts))


@router.post("/imports/{id}/check/same")
def correct_same(page: OfImport, form: SentForm) -> Response:
    """Give all cells of a column that have the same text in the file the new one."""
    row, column = _number(form, "row"), _number(form, "column")
    return _corrected(page, form, lambda checked: checked.correct_all(row, column))


@router.post("/imports/{id}/check/fix")
def fix(page: OfImport, form: SentForm) -> Response:
    """Correct all cells of a cause that a fix makes valid."""
    cause = form.text("code"), form.get("column") or None
    return _corrected(page, form, lambda checked: apply_fix(checked, cause, form.text("fix")))


def _number(form: Form, name: str) -> int:
    if not form.text(name).isdecimal():
        raise UsageError("this form is not known; load the page again")
    return int(form.text(name))


def _corrected(page: ImportPage, form: Form, correct: Callable[[CheckedRows], int]) -> Response:
    """Change the list of corrections of the check that the form was shown with."""
    with page.web.changing:
        checked = _checked(page)
        if page.task and page.task.is_running("send"):
            raise UsageError("these rows are being sent; correct them when the run has ended")
        if form.text("grid") != _shown(page):
            raise UsageError("the rows were checked again since this page was loaded; nothing was changed")
        if correct(checked):
            path = str(_list(page)) if checked.corrections else ""
            page.change(corrections=path, check="", grid=_shown(page))
    return page.go(f"check{form.get('at', '')}")
