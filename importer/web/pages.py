"""Pages: what every handler works with, and how a step is shown in its frame."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from importer import __version__
from importer.app.doctor import missing_settings
from importer.app.inspect_file import FirstRows
from importer.problems import ImporterError, LinePlace, Problem, UnusableInput
from importer.report.outcomes import by_color, outcome_text
from importer.settings import Settings
from importer.text.dates import in_words
from importer.text.normalize import visible
from importer.text.terminal import NO_FLAGS, command_line
from importer.web import steps
from importer.web.imports import Draft, Drafts, out_flag
from importer.web.models.matching import Matching
from importer.web.running import Task, TaskKind, Tasks, TaskWork
from importer.web.security import FormTokens
from importer.web.texts import read_texts

_SHOWN: Final = 50  # problems; more than that have one cause
_TEXTS: Final = read_texts()
_MAPPING: Final = r"(?: in (?:the mapping(?: file(?:, line \d+)?)?|[^;,]+?\.ya?ml:\d+(?::\d+)?))?"  # IN in a pattern
_BY_CLICKS: Final = [(re.compile(at.replace("IN", _MAPPING)), str(words)) for at, words in vars(_TEXTS.hints).items()]
_START: Final = ""  # the name of the start page where steps have the ID of their draft


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem as a page shows it. field: the name of the field that it is about, "" if it is about none."""

    message: str
    hint: str = ""
    code: str = ""
    place: str = ""
    line: str = ""
    field: str = ""


class FieldError(ImporterError):
    """What was typed into a field of a form cannot be used."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def shown(error: ImporterError) -> tuple[ShownProblem, ...]:
    """The problems of an error, as the terminal shows them."""
    if isinstance(error, UnusableInput):
        return tuple(map(shown_problem, error.problems[:_SHOWN]))
    return (ShownProblem(_sentence(str(error)), field=error.field if isinstance(error, FieldError) else ""),)


def shown_problem(problem: Problem) -> ShownProblem:
    at = problem.place
    line = f"{at.line} | {at.text}" if isinstance(at, LinePlace) and at.text else ""
    place = str(at or "")
    message = problem.message if place else _sentence(problem.message)
    return ShownProblem(message, _sentence(_by_clicks(problem.hint)), problem.code, place, line)


def _sentence(text: str) -> str:
    """It begins with a capital letter where nothing stands before it."""
    return text[:1].upper() + text[1:]


@pass_context
def _shown_text(context: Context, value: object) -> object:
    """A text as a page shows it. Its hints name lines of the draft's mapping file, whose path says nothing here."""
    if type(value) is not str:  # Markup is escaped already
        return value
    if (mapping := context.get("mapping_path")) and mapping in value:
        value = re.sub(rf"{re.escape(mapping)}:(\d+)(:\d+)?", _TEXTS.frame.mapping_line(line=r"\1"), value)
    return visible(value)


def _by_clicks(hint: str) -> str:
    """A remedy, as a page says it: what is written into the mapping file at a terminal is a click here."""
    for at, words in _BY_CLICKS:
        hint = at.sub(words, hint)
    return hint


def _share(count: int, total: int) -> str:
    """A share in percent, which is 0 or 100 only if it is exactly that."""
    percent = 100 * count / total if total else 0
    return f"{min(max(round(percent), 1), 99) if 0 < percent < 100 else round(percent)} %"


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(t=_TEXTS, outcome_text=outcome_text, version=__version__, shown_problem=shown_problem)
    found.filters.update(visible=visible, share=_share, seconds=in_words, sentence=_sentence, by_clicks=_by_clicks)
    found.filters["by_color"] = by_color
    found.filters["file_name"] = lambda path: PurePath(path).name
    return found


@dataclass(frozen=True, slots=True)
class Web:
    """What all pages share. settings: as they are now, so that a corrected .env counts at once. sandbox: new imports
    begin as rehearsals. closing: set when the server ends.
    """

    settings: Callable[[], Settings]
    drafts: Drafts
    tasks: Tasks
    tokens: FormTokens = field(default_factory=FormTokens)
    closing: threading.Event = field(default_factory=threading.Event)
    sandbox: bool = False
    errors: dict[str, tuple[tuple[ShownProblem, ...], Mapping[str, str]]] = field(default_factory=dict)
    """Of a form that could not be used, until its page is shown again: the problems, and what was typed."""
    matching: list[tuple[tuple[Any, ...], Matching]] = field(default_factory=list)
    """The last one of the step Match, and what it is made of: what it shows takes most of a second to find."""
    changing: threading.Lock = field(default_factory=threading.Lock)
    """Held while corrections or a mapping are read and changed: two tabs, or two answers, must not lose a change."""
    first_rows: OrderedDict[Any, FirstRows | UnusableInput] = field(default_factory=OrderedDict)
    environment: Environment = field(default_factory=_environment)


def plain(environment: Environment, key: str, problems: Sequence[ShownProblem] = (), to: str = "") -> str:
    """A page with one message, by the key of its texts. to: the page that follows."""
    texts = vars(_TEXTS.plain)
    values = {"title": texts[key], "text": texts.get(f"{key}_text", ""), "to": to, "problems": problems, "notice": ""}
    return environment.get_template("plain.html.j2").render(values)


@dataclass(slots=True)
class Page:
    """A request for a page outside of an import."""

    request: Request
    web: Web
    draft: Draft | None = None

    @property
    def settings(self) -> Settings:
        return self.web.settings()

    @property
    def has_service(self) -> bool:
        """Whether the settings know a real service."""
        return not any(missing_settings(self.settings))

    @property
    def rehearses(self) -> bool:
        """Whether a new import begins as a rehearsal: on request, or as there is no service."""
        return self.web.sandbox or not self.has_service

    def render(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page, whatever it is about."""
        own: dict[str, Any] = {
            "token": self._token,
            "draft": self.draft,
            "problems": (),
            "typed": {},
            "notice": self._notice,
        }
        return HTMLResponse(self.fragment(template, **{**own, **values}), status)

    def fragment(self, template: str, **values: Any) -> str:
        """A part of a page."""
        return self.web.environment.get_template(f"{template}.html.j2").render(values)

    def plain(self, key: str, status: int, problems: Sequence[ShownProblem] = ()) -> HTMLResponse:
        """A page with one message."""
        return HTMLResponse(plain(self.web.environment, key, problems), status)

    def _token(self) -> Markup:
        """The field that every form begins with."""
        return Markup('<input type="hidden" name="token" value="{}">').format(self.web.tokens.issue())

    @property
    def _notice(self) -> str:
        return self.request.query_params.get("notice", "")

    @property
    def key(self) -> str:
        """Under which the errors of its forms are kept."""
        return self.draft.id if self.draft else _START

    def keep_errors(self, error: ImporterError, typed: Mapping[str, str]) -> None:
        """Keep the problems of a form until its page is shown again."""
        self.web.errors[self.key] = shown(error), typed

    def show(
        self, template: str, status: int = 200, problems: Sequence[ShownProblem] = (), **values: Any
    ) -> HTMLResponse:
        """A page with the problems of the form that led to it."""
        kept, typed = self.web.errors.pop(self.key, ((), {}))
        return self.render(template, status, problems=(*kept, *problems), typed=typed, **values)


@dataclass(slots=True)
class ImportPage(Page):
    """A request for a step of an import."""

    draft: Draft

    def show(
        self,
        template: str,
        status: int = 200,
        problems: Sequence[ShownProblem] = (),
        command: str = "",
        step: str = "",
        **values: Any,
    ) -> HTMLResponse:
        """A step in its frame. command: what does the same at a terminal; step: if it is not that of the template."""
        step = step or template
        found = tuple(steps.links(self.draft, step))
        frame: dict[str, Any] = {
            "step": step,
            "steps": found,
            "back": steps.before(self.draft, step),
            "command": command,
            "task": self.task,
        }
        frame |= {"mapping_path": self.draft.mapping, "has_service": self.has_service}
        return Page.show(self, template, status, problems, **frame, **values)

    def go(self, step: str, notice: str = "") -> Response:
        """To a step, by a request of its own. notice: the key of a text that is shown there."""
        query = f"{'&' if '?' in step else '?'}notice={notice}" if notice else ""
        return RedirectResponse(f"/imports/{self.draft.id}/{step}{query}", 303)

    def change(self, **values: Any) -> Draft:
        """Change values of the draft, and keep them."""
        try:
            self.draft = self.web.drafts.change(self.draft.id, **values)
        except KeyError:
            raise NoSuchImport(self.draft.id) from None
        return self.draft

    def forget_mapping(self) -> str:
        """Ask for the step Match again, as its mapping file was made for another reading or target; the key of the
        notice that says so, "" if there is no such file."""
        is_made = any(self.folder.glob("*.yaml"))
        self.change(mapping="", fits=not is_made)
        return "mapping_kept" if is_made else ""

    @property
    def folder(self) -> Path:
        """The private folder of the draft, for its files."""
        return self.web.drafts.folder(self.draft)

    @property
    def file_shown_as(self) -> str:
        """The file as a person knows it, for messages and commands."""
        return self.web.drafts.file_shown_as(self.draft)

    @property
    def task(self) -> Task | None:
        """What runs for this draft, or ran last."""
        return self.web.tasks.of(self.draft)

    def failure(self, kind: TaskKind) -> tuple[ShownProblem, ...]:
        """Why the last check or run could not be done, until it is started again."""
        return shown(self.task.error) if self.task and self.task.kind == kind and self.task.error else ()

    def start(self, kind: TaskKind, work: TaskWork) -> Task:
        """Start work in a thread; what is running for this draft is kept."""
        return self.web.tasks.start(self.draft, kind, work)

    def command(self, *words: str | Path, asks: bool = False, flags: Mapping[str, str] = NO_FLAGS) -> str:
        """The command line that does the same. asks: it uses the service or the sandbox; flags: more of them."""
        usual = self.web.drafts.flags(self.draft) if asks else out_flag(self.settings)
        return command_line(*words, flags={**flags, **usual})


# --- what handlers ask for ------------------------------------------------------------------------


class NoSuchImport(Exception):
    """The address names an import that was removed, or never existed."""


class NotReady(Exception):
    """A step needs another one first."""

    def __init__(self, page: ImportPage, step: str, needed: str) -> None:
        super().__init__(step)
        self.page, self.step, self.needed = page, step, needed


def any_page(request: Request) -> Page:
    return Page(request, request.app.state.web)


def import_page(request: Request, id: str) -> ImportPage:
    """The page of an import; a step that is not ready says what it needs."""
    web: Web = request.app.state.web
    draft = web.drafts.get(id)
    if draft is None:
        raise NoSuchImport(id)
    page, step = ImportPage(request, web, draft), request.url.path.split("/")[3]
    if step in steps.NAMES and (needed := steps.lacking(draft, step)) is not None:
        raise NotReady(page, step, needed)
    return page


OfAny = Annotated[Page, Depends(any_page)]
OfImport = Annotated[ImportPage, Depends(import_page)]
