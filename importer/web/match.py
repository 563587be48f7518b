"""The step Match: which column answers which question; each change is a change of the mapping file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import Response

from importer.app.import_file import check_file
from importer.app.matching import (
    ENTRY_FIELDS,
    EntryKind,
    Matched,
    Matching,
    anchor_of,
    opened_mapping,
    proposed_text,
    sample_of,
)
from importer.atomic_files import read_private, write_private
from importer.problems import UsageError
from importer.web.forms import Form, Sent
from importer.web.pages import FieldError, ImportPage, OfImport, shown_problem

router = APIRouter()

_SHOWN: Final[dict[str, Callable[[Matched], bool]]] = {
    "all": lambda one: True,
    "open": lambda one: one.state in ("open", "wrong"),
    "review": lambda one: one.state in ("review", "unknown"),
}


@router.get("/imports/{id}/match")
def show(page: OfImport, q: str = "", show: str = "all", open: str = "") -> Response:
    matching = _matching(page)
    found = [one for one in matching.questions if _SHOWN.get(show, _SHOWN["all"])(one) and _has(one, q)]
    return page.show(
        "match",
        problems=tuple(map(shown_problem, matching.problems)),
        command=page.command("mapping", "check", _path(page), Path(page.draft.file), asks=True),
        matching=matching,
        questions=found,
        columns=matching.columns,
        q=q,
        show=show,
        open=open,
        views=tuple(_SHOWN),
        entry_fields=ENTRY_FIELDS,
    )


def _has(one: Matched, text: str) -> bool:
    words = " ".join((one.id, one.title, *one.columns)).casefold()
    return all(word in words for word in text.casefold().split())


def _path(page: ImportPage) -> Path:
    return page.folder / f"{Path(page.draft.file).stem}.yaml"


def _matching(page: ImportPage) -> Matching:
    """The mapping file of the draft beside its file; at first the one that is proposed."""
    draft, path = page.draft, _path(page)
    assert draft.target is not None
    file, questions = Path(draft.file), page.web.drafts.questions(draft)
    sample = sample_of(file, draft.source, draft.target, questions, page.settings)
    if not path.exists():
        write_private(path, proposed_text(sample).encode())
    return Matching(read_private(path).decode(), path, file, sample, page.settings)


@router.post("/imports/{id}/match")
def change(page: OfImport, form: Sent) -> Response:
    """Change the mapping file: one value of it."""
    change, id = _CHANGES.get(form.text("do")), form.text("id")
    if change is None:
        raise UsageError("this form is not known; load the page again")
    _keep(page, change(_matching(page), id, form))
    return page.go(f"match?open={quote(id)}#{anchor_of(id)}")


def _keep(page: ImportPage, text: str) -> None:
    write_private(_path(page), text.encode())
    if page.draft.mapping:
        page.change(check="")


def _use(matching: Matching, id: str, form: Form) -> str:
    columns = [name for name in form.all("column") if name]
    if not columns:
        return matching.leave_out(id)
    return matching.use(id, columns, form.get("with", " ") if form.text("how") == "join" else None)


def _constant(matching: Matching, id: str, form: Form) -> str:
    if not (text := form.text("value")):
        raise FieldError(f"value-{anchor_of(id)}", "enter the value that every row gets")
    return matching.constant(id, text)


def _keys(matching: Matching, id: str, form: Form) -> str:
    """Keys beside the column: a field that is empty removes its key."""
    keys: dict[str, Any] = {key: form[key] or None for key in ("part", "decimal", "thousands", "split") if key in form}
    if "dates" in form:
        chosen = [one for one in form.all("dates") if one]
        keys["dates"] = (chosen[0] if len(chosen) == 1 else chosen) if chosen else None
    return matching.set(id, keys)


def _translate(matching: Matching, id: str, form: Form) -> str:
    """Options for unknown texts: `-` leaves a text out, nothing holds its rows back."""
    chosen = dict(zip(form.all("text"), form.all("option"), strict=False))
    known = {text: "" if option == "-" else option for text, option in chosen.items() if option}
    return matching.translate(id, known)


def _add_group(matching: Matching, id: str, form: Form) -> str:
    kind = EntryKind(form.text("kind"))
    columns = {name: form.text(name) for name in ENTRY_FIELDS[kind] if form.text(name)}
    if ENTRY_FIELDS[kind][0] not in columns:
        raise FieldError(
            f"{ENTRY_FIELDS[kind][0]}-{anchor_of(id)}", "choose the column with its name: every entry needs one"
        )
    return matching.add_group(id, kind, columns)


_CHANGES: Final[Mapping[str, Callable[[Matching, str, Form], str]]] = {
    "use": _use,
    "leave_out": lambda matching, id, _: matching.leave_out(id),
    "accept": lambda matching, id, _: matching.accept(id),
    "constant": _constant,
    "keys": _keys,
    "translate": _translate,
    "add_group": _add_group,
    "remove_group": lambda matching, id, form: matching.remove_group(id, int(form.text("group"))),
}


@router.post("/imports/{id}/match/open")
def open_file(page: OfImport, form: Sent) -> Response:
    """Use a mapping file of this machine: a copy of it is changed."""
    if not form.text("path"):
        raise FieldError("path", "enter the path of a mapping file")
    assert page.draft.target is not None
    text, source = opened_mapping(Path(form.text("path")).expanduser(), page.draft.target, page.settings)
    page.change(source=source)
    _keep(page, text)
    return page.go("match")


@router.post("/imports/{id}/match/propose")
def propose(page: OfImport, form: Sent) -> Response:
    """Begin again with the proposal."""
    _path(page).unlink(missing_ok=True)
    _keep(page, _matching(page).text)
    return page.go("match")


@router.get("/imports/{id}/match/file")
def download(page: OfImport) -> Response:
    text = _matching(page).text
    name = quote(_path(page).name)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(text, media_type="text/yaml; charset=utf-8", headers=headers)


@router.post("/imports/{id}/match/use")
def use(page: OfImport, form: Sent) -> Response:
    """Check all rows with this mapping file."""
    _matching(page)
    page.change(mapping=str(_path(page)), check="")
    order = page.web.drafts.order(page.draft, page.settings)
    page.start("check", lambda listen, control: check_file(order, listen, control))
    return page.go("check")
