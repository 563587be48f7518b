"""The application: the routes of all pages, what guards them, and the pages for what went wrong."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from importer.problems import ImporterError
from importer.web import check, documents, file, match, progress, result, send, start, target
from importer.web.forms import NotAForm, SentBefore
from importer.web.pages import NoSuchImport, NotReady, Page, Web, any_page, import_page, plain, shown
from importer.web.security import Access, Guard

_ROUTERS = tuple(each.router for each in (start, file, target, match, documents, check, send, progress, result))


def application(web: Web, access: Access) -> ASGIApp:
    """The pages over `app`, for requests that `access` admits."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.web = web
    for router in _ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.exception_handler(NotReady)(_not_ready)
    app.exception_handler(SentBefore)(_sent_before)
    app.exception_handler(NotAForm)(lambda request, _: any_page(request).plain("no_form", 400))
    app.exception_handler(ClientDisconnect)(lambda request, _: any_page(request).plain("no_form", 400))
    app.exception_handler(NoSuchImport)(lambda request, _: any_page(request).plain("no_import", 404))
    app.exception_handler(HTTPException)(_not_found)
    app.exception_handler(ImporterError)(_unusable)
    app.exception_handler(Exception)(_bug)

    return Guard(app, access, lambda key, path="": plain(web.environment, key, to=path))


def _not_ready(request: Request, error: NotReady) -> Response:
    return error.page.show("missing", step=error.step, needed=error.needed)


def _sent_before(request: Request, error: SentBefore) -> Response:
    return RedirectResponse(f"{_page_of(request)}?notice=again", 303)


def _not_found(request: Request, error: HTTPException) -> Response:
    return any_page(request).plain("not_found", error.status_code)


def _unusable(request: Request, error: ImporterError) -> Response:
    """A form's problems are shown on its own page; those of a page that cannot be shown, in its place."""
    if request.method == "GET":
        return any_page(request).plain("problem", 409, shown(error))
    path = _page_of(request)
    page: Page = import_page(request, path.split("/")[2]) if path.startswith("/imports/") else any_page(request)
    page.keep_errors(error, dict(getattr(request.state, "form", {})))
    return RedirectResponse(path, 303)


def _page_of(request: Request) -> str:
    """The page that a form is on: /imports/ID/STEP for all below it."""
    parts = request.url.path.split("/")
    return "/".join(parts[:4]) if parts[1] == "imports" else "/"


def _bug(request: Request, error: Exception) -> Response:
    """The server prints its traceback."""
    return any_page(request).plain("bug", 500)
