"""The import in a browser: one more front door over `app`, for people who write no YAML.

A step of an import is one file with its template beside it: a handler reads a form, calls `app`, and shows the page. To
add a step NAME:

1. `NAME.py`: `router = APIRouter()` with `@router.get("/imports/{id}/NAME")` that returns `page.show(...)`, and a
   `@router.post` for each form, which returns `page.go("NAME")`, so that reload and back work. Their arguments:
   `page: OfImport` (the draft, the drafts, the settings) and, of a form, `form: Sent` (its fields; a form without a
   valid token, or sent twice, never reaches the handler). An ImporterError that a handler raises is shown on the page
   of the step above its content; `FieldError(NAME, sentence)` also at the field with that ID.
2. `NAME.html.j2`: extends `step.html.j2` and fills its blocks. Each form starts with `{{ token() }}`. A form with
   `hx-post` changes the page in place (the attributes that this needs are inherited), one with `action` leads to
   another page. No inline script and no inline style: the content security policy forbids them.
3. `texts.toml`: its texts under `[NAME]`, in templates `t.NAME.key`, or `t.NAME.key(count=3)` for one with values.
4. `steps.py`: what makes it done; `server.py`: its router.

What is changed goes into the draft: `page.change(mapping=...)`. Long work: `page.start(...)`, see `running.py`.
"""
