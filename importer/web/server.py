"""The server of the pages: on this machine only, until it is stopped."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from importer.app.orders import ending_signals
from importer.problems import ImporterError, UsageError
from importer.runs.results_folder import make_results
from importer.settings import load_settings
from importer.web import check, documents, file, match, result, send, start, target
from importer.web.forms import NotAForm, SentBefore
from importer.web.imports import Drafts
from importer.web.pages import NoSuchImport, NotReady, Page, Web, any_page, import_page, plain, shown
from importer.web.running import Tasks
from importer.web.security import Access, Guard
from importer.web.steps import NAMES

_ROUTERS = tuple(each.router for each in (start, file, target, match, documents, check, send, result))


def application(web: Web, access: Access) -> ASGIApp:
    """The pages over `app`, for requests that `access` admits."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.web = web
    for router in _ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.exception_handler(NotReady)(lambda _, error: error.page.show("missing", step=error.step, needed=error.needed))
    app.exception_handler(SentBefore)(lambda request, _: RedirectResponse(f"{_page_of(request)}?notice=again", 303))
    app.exception_handler(NotAForm)(lambda request, _: any_page(request).plain("no_form", 400))
    app.exception_handler(ClientDisconnect)(lambda request, _: any_page(request).plain("no_form", 400))
    app.exception_handler(NoSuchImport)(lambda request, _: any_page(request).plain("no_import", 404))
    app.exception_handler(HTTPException)(lambda request, error: any_page(request).plain("not_found", error.status_code))
    app.exception_handler(ImporterError)(_unusable)
    app.exception_handler(Exception)(lambda request, _: any_page(request).plain("bug", 500))  # with a traceback
    return Guard(app, access, lambda key, path="": plain(web.environment, key, to=path))


def _unusable(request: Request, error: ImporterError) -> Response:
    """A form's problems are shown on its own page; those of a page that cannot be shown, in its place."""
    path = _page_of(request)
    _, place, *ids = path.split("/")
    if place == "imports" and request.method == "GET" and ids[1:] and ids[1] in NAMES:
        return import_page(request, ids[0]).show("missing", 409, shown(error), step=ids[1], needed="")
    if request.method == "GET":
        return any_page(request).plain("problem", 409, shown(error))
    page: Page = import_page(request, ids[0]) if place == "imports" else any_page(request)
    page.keep_errors(error, dict(getattr(request.state, "form", {})))
    return RedirectResponse(path, 303)


def _page_of(request: Request) -> str:
    """The page that a form is on: /imports/ID/STEP for all below it."""
    parts = request.url.path.split("/")
    return "/".join(parts[:4]) if parts[1] == "imports" else "/"


_HOST: Final = "127.0.0.1"
PORT: Final = 8765
"""The usual port: with the same one at each start, bookmarks stay valid."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers. address: opens a session once, and shows the first page."""

    web: Web
    access: Access
    address: str


@contextmanager
def running(
    out: Path | None,
    *,
    sandbox: bool = False,
    file: Path | None = None,
    port: int | None = None,
    on_used: Callable[[str], None] = print,
) -> Iterator[RunningServer]:
    """A server in a thread of its own. on_used: gets the next address when one was used.

    Raises:
        UsageError: the port is in use.
        UnusableInput: a setting is not valid, or the results folder cannot be used.
    """
    settings = partial(load_settings, out=out)
    make_results(settings())
    drafts = Drafts(settings())
    web = Web(settings, drafts, Tasks(drafts), sandbox=sandbox)
    with _listening(port) as listener:
        access = Access(listener.getsockname()[1], lambda: on_used(access.address()))
        path = "/"
        if file is not None:
            path = f"/imports/{drafts.create(file=str(file.absolute()), sandbox=sandbox).id}/file"
        config = uvicorn.Config(
            application(web, access),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), name="web", daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield RunningServer(web, access, access.address(path))
        finally:
            web.closing.set()
            server.should_exit = True
            thread.join()


@contextmanager
def _listening(port: int | None) -> Iterator[socket.socket]:
    """A socket at the port; without one at the usual port, or at any if that is in use."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, PORT if port is None else port))
        except OSError as error:
            if port is not None:
                reason = error.strerror or error
                raise UsageError(f"port {port} cannot be used ({reason}); choose another one with --port") from None
            listener.bind((_HOST, 0))
        yield listener
    finally:
        listener.close()


def serve(web: RunningServer, say: Callable[[str], None], *, opens: bool) -> None:
    """Until Ctrl-C or SIGTERM: then runs are stopped as the command is, and their reports are written."""
    received: list[int] = []
    for number in ending_signals():
        signal.signal(number, lambda number, _: received.append(number))
    with _opened(web) if opens and _has_screen() else nullcontext():
        while not received:
            time.sleep(0.2)
    if web.web.tasks.are_sending:
        say("Stopping: waiting for pending requests, then writing the report.")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process
    web.web.tasks.stop(signal.SIGINT if received[0] == signal.SIGINT else signal.SIGTERM)


def _has_screen() -> bool:
    """Whether a browser has a window; one in the terminal would cover what is printed there."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


@contextmanager
def _opened(web: RunningServer) -> Iterator[None]:
    """Open the address in the browser, by a private page: other users can see the arguments of a program."""
    descriptor, page = tempfile.mkstemp(".html", "open-importer-web-", web.web.settings().out)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={web.address}">')
        webbrowser.open(Path(page).resolve().as_uri())
        yield
    finally:
        Path(page).unlink(missing_ok=True)
