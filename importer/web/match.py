"""The step Match: which column answers which question; each change is a change of the mapping file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from importer.models import SourceOptions
from importer.problems import UnusableInput, UsageError
from importer.runs.corrections import read_corrections
from importer.web.check import start as start_check
from importer.web.forms import Form, SentForm, receive_upload
from importer.web.models.draft_mapping import DraftMapping, open_mapping
from importer.web.models.file_sample import Sample
from importer.web.models.mapping_changes import MappingChanges, typed_words
from importer.web.models.matching import ENTRY_FIELDS, EntryKind, Matched, Matching, Surname, anchor_of, sample_of
from importer.web.models.shown_candidates import SortOrder
from importer.web.models.shown_values import LISTS, TEXTS
from importer.web.pages import FieldError, ImportPage, OfImport, shown_problem

router = APIRouter()

_UPLOAD: Final = "mapping_upload"
_DIGITS: Final = 10  # of the number of a row
_LARGEST: Final = 1 << 20  # bytes of a mapping file

_SHOWN: Final[dict[str, Callable[[Matched], bool]]] = {
    "all": lambda one: True,
    "open": lambda one: one.state in ("open", "wrong"),
    "review": lambda one: one.is_marked or one.state in ("unknown", "held"),
}


class _View:
    """What of the mapping is shown: questions that are searched, and the row beside them. It is kept after a change."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.q, self.show = query.get("q", ""), query.get("show", "all")
        row = query.get("row", "")
        self.row = int(row) if row.isdecimal() and len(row) < _DIGITS else 0
        self.order: SortOrder = "file" if query.get("order") == "file" else "odd"

    def address(self, **changed: object) -> str:
        """The query of this view with other values."""
        values = {"q": self.q, "show": self.show, "row": self.row, "order": self.order, **changed}
        usual = {"q": "", "show": "all", "row": 0, "order": "odd", "open": ""}
        return "?" + urlencode({name: value for name, value in values.items() if value != usual[name]})

    def has(self, one: Matched) -> bool:
        return _SHOWN.get(self.show, _SHOWN["all"])(one) and _has(one, self.q)


@router.get("/imports/{id}/match")
def show(page: OfImport, open: str = "") -> Response:
    matching, view = _matching(page), _View(page.request.query_params)
    mapping = _mapping(page)
    candidate = matching.candidates.at(view.row, view.order)
    view.row = candidate.row if candidate else 0
    return page.show(
        "match",
        problems=tuple(map(shown_problem, matching.problems)),
        command=page.command("mapping", "check", mapping.path, Path(page.file_shown_as), asks=True),
        matching=matching,
        questions=[one for one in matching.questions if view.has(one) or one.id == open],
        columns=matching.columns,
        view=view,
        open=open,
        candidate=candidate,
        mapping_text=matching.marked_text(open),
        mapping_name=mapping.path.name,
        can_take_back=mapping.can_take_back,
        most=_LARGEST,
        views=tuple(_SHOWN),
        surnames=tuple(Surname),
        entry_fields=ENTRY_FIELDS,
        to_review=[(id, anchor_of(id), *found) for id, found in matching.to_review.items()],
    )


def _has(one: Matched, text: str) -> bool:
    of_entries = (name for group in (one.entries.groups if one.entries else ()) for name in group.values())
    words = " ".join((one.id, one.title, *one.columns, *of_entries)).casefold()
    return all(word in words for word in text.casefold().split())


_OTHER_FILES: Final = re.compile(r"^[^#\n]*\b(?:file: |folder: |values: *[^{\s])", re.MULTILINE)


def _mapping(page: ImportPage) -> DraftMapping:
    return DraftMapping(page.folder / f"{Path(page.draft.file).stem}.yaml")


def _matching(page: ImportPage) -> Matching:
    """The mapping file of the draft beside its file: at first the one that is proposed, and always one that fits."""
    draft, mapping, file = page.draft, _mapping(page), Path(page.draft.file)
    sample = _sample(page, draft.source)
    if not mapping.exists():
        mapping.propose(sample)
    elif not draft.fits:
        mapping.refit(sample)
    if not draft.fits:
        page.change(fits=True)
    given = (mapping.text, mapping.path, file, sample, page.settings)
    if _OTHER_FILES.search(mapping.text):  # which may change meanwhile
        return Matching(*given)
    kept = next((one for made_of, one in page.web.matching if made_of == given), None)
    if kept is None:
        kept = Matching(*given)
        page.web.matching[:] = [(given, kept)]
    return kept


def _sample(page: ImportPage, source: SourceOptions) -> Sample:
    draft = page.draft
    assert draft.target is not None
    found = sample_of(Path(draft.file), source, draft.target, page.web.drafts.questions(draft), page.file_shown_as)
    return found.with_corrections(read_corrections(Path(draft.corrections))[0]) if draft.corrections else found


@router.post("/imports/{id}/match")
def change(page: OfImport, form: SentForm) -> Response:
    """Change the mapping file: one value of it."""
    change, id = _CHANGES.get(form.text("do")), form.text("id")
    if change is None:
        raise UsageError("this form is not known; load the page again")
    with page.web.changing:
        _keep(page, change(_matching(page).changes, id, form))
    return page.go(f"match{_View(page.request.query_params).address(open=id)}")


def _keep(page: ImportPage, text: str) -> None:
    _mapping(page).change(text)
    _forget_check(page)


def _forget_check(page: ImportPage) -> None:
    if page.draft.mapping:
        page.change(check="", **_documents(page))


def _documents(page: ImportPage) -> dict[str, Any]:
    """The folders of documents that the mapping names now, and where they are, if that is known."""
    folders, known, beside = _matching(page).document_folders, page.draft.documents, Path(page.draft.file).parent
    found = {name: str(beside / name) for name in folders if (beside / name).exists()}
    return {"folders": folders, "documents": {**found, **known}}


def _use(changes: MappingChanges, id: str, form: Form) -> str:
    columns = [name for name in form.all("column") if name]
    if not columns:
        return changes.leave_out(id)
    return changes.use(id, columns, form.get("with", " ") if form.text("how") == "join" else None)


def _constant(changes: MappingChanges, id: str, form: Form) -> str:
    if not (text := form.text("value")):
        raise FieldError(f"value-{anchor_of(id)}", "enter the value that every row gets")
    return changes.constant(id, text)


def _keys(changes: MappingChanges, id: str, form: Form) -> str:
    """Keys beside the column: a field that is empty removes its key."""
    named = ("part", "decimal", "thousands", "split", "folder", "optional", *TEXTS)
    keys: dict[str, Any] = {key: form[key] or None for key in named if key in form}
    if "dates" in form:
        chosen = [one for one in form.all("dates") if one]
        keys["dates"] = (chosen[0] if len(chosen) == 1 else chosen) if chosen else None
    return changes.set(id, keys, LISTS)


def _choose_rows(changes: MappingChanges, _: str, form: Form) -> str:
    given = {key: form.get(key, "") for key in ("where", "is_not", "words", "group_by")}
    if given["where"] and not typed_words(given["words"]):
        raise FieldError("words", "enter the text of the cells, such as Active")
    return changes.choose_rows(given)


def _split_names(changes: MappingChanges, _: str, form: Form) -> str:
    return changes.split_names({key: form.get(key, "") for key in ("surname", "particles", "suffixes")})


def _translate(changes: MappingChanges, id: str, form: Form) -> str:
    """Options for texts: `-` leaves a text out, nothing holds its rows back. known: the texts had one before."""
    chosen = dict(zip(form.all("text"), form.all("option"), strict=False))
    known: dict[str, str | None] = {text: "" if option == "-" else option for text, option in chosen.items() if option}
    if "known" in form:
        known |= {text: None for text, option in chosen.items() if not option}
    return changes.translate(id, known, form.text("field"), keeps_others="keep" in form)


def _columns(id: str, form: Form) -> tuple[EntryKind, dict[str, str]]:
    """The kind of entries, and the columns of their fields."""
    kind = EntryKind(form.text("kind"))
    columns = {name: form.text(name) for name in ENTRY_FIELDS[kind] if form.text(name)}
    if ENTRY_FIELDS[kind][0] not in columns:
        raise FieldError(
            f"{ENTRY_FIELDS[kind][0]}-{anchor_of(id)}", "choose the column with its name: every entry needs one"
        )
    return kind, columns


def _use_sheet(changes: MappingChanges, id: str, form: Form) -> str:
    sheet = {"name": form.text("sheet"), "key": form.text("key"), "equals": form.text("equals")}
    if not all(sheet.values()):
        raise FieldError(
            f"sheet-{form.text('number')}-{anchor_of(id)}",
            "choose the two columns that say which rows belong to which candidate",
        )
    return changes.use_rows(id, *_columns(id, form), sheet)


_CHANGES: Final[Mapping[str, Callable[[MappingChanges, str, Form], str]]] = {
    "use": _use,
    "leave_out": lambda changes, id, _: changes.leave_out(id),
    "accept": lambda changes, id, _: changes.accept(id),
    "constant": _constant,
    "keys": _keys,
    "translate": _translate,
    "add_group": lambda changes, id, form: changes.add_group(id, *_columns(id, form)),
    "use_sheet": _use_sheet,
    "use_rows": lambda changes, id, form: changes.use_rows(id, *_columns(id, form)),
    "rows": _choose_rows,
    "names": _split_names,
    "remove_group": lambda changes, id, form: changes.remove_group(id, int(form.text("group"))),
}


@router.post("/imports/{id}/match/open")
def open_file(page: OfImport, form: SentForm) -> Response:
    """Use a mapping file of this machine: a copy of it is changed."""
    if not form.text("path"):
        raise FieldError("path", "enter the path of a mapping file")
    return _opened(page, Path(form.text("path")).expanduser())


@router.post("/imports/{id}/match/upload")
async def upload(request: Request, page: OfImport) -> Response:
    """Use a mapping file that the browser sends."""
    folder = page.folder / _UPLOAD
    rmtree(folder, ignore_errors=True)
    try:
        path = await receive_upload(request, folder, _LARGEST)
        return _opened(page, path, path.name)
    finally:
        rmtree(folder, ignore_errors=True)


def _opened(page: ImportPage, path: Path, shown_as: str = "") -> Response:
    assert page.draft.target is not None
    opened, mapping = open_mapping(path, page.draft.target, page.settings, shown_as), _mapping(page)
    try:
        sample = _sample(page, opened.source)
    except UnusableInput:  # it was made for a file that is read in another way
        opened = replace(opened, source=page.draft.source, fits=False)
        sample = _sample(page, opened.source)
    given = (opened.fitted(sample), mapping.path, Path(page.draft.file), sample, page.settings)
    Matching(*given)  # one that cannot be shown changes nothing
    _matching(page)
    mapping.change(opened.text)
    page.change(source=opened.source, fits=opened.fits)
    _forget_check(page)
    return page.go("match", "" if opened.fits else "mapping_kept")


@router.post("/imports/{id}/match/propose")
def propose(page: OfImport, form: SentForm) -> Response:
    """Begin again with the proposal."""
    _mapping(page).propose(_sample(page, page.draft.source))
    page.change(fits=True)
    _forget_check(page)
    return page.go("match")


@router.post("/imports/{id}/match/back")
def take_back(page: OfImport, form: SentForm) -> Response:
    """Take the last change back."""
    _matching(page)
    _mapping(page).take_back()
    _forget_check(page)
    return page.go(f"match{_View(page.request.query_params).address()}")


@router.get("/imports/{id}/match/file")
def download(page: OfImport) -> Response:
    text = _matching(page).text
    name = quote(_mapping(page).path.name)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(text, media_type="text/yaml; charset=utf-8", headers=headers)


@router.post("/imports/{id}/match/use")
def use(page: OfImport, form: SentForm) -> Response:
    """Check all rows with this mapping file; first, its documents. While a required question is open, show it."""
    if any(one.required and one.is_open for one in _matching(page).questions):
        return page.go("match?show=open", "still_open")
    page.change(mapping=str(_mapping(page).path), check="", **_documents(page))
    if page.draft.folders:
        return page.go("documents")
    return start_check(page, form)
