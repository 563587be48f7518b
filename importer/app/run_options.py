"""The options of a run as a person gives them, declared once: flags, keywords in Python, keys of inbox.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from importer.app.orders import ErrorLimit, Resend, SandboxSetup, Sending, parse_minutes, parse_window
from importer.problems import UsageError
from importer.runs.row_selection import ALL_ROWS, Selection, parse_part, parse_rows
from importer.settings import Settings, load_settings
from importer.text.normalize import did_you_mean


def parsed(parse: Callable[[str], object]) -> AfterValidator:
    """A text that a function can parse; it is kept as it is written."""

    def check(text: str) -> str:
        try:
            parse(text)
        except UsageError as error:
            raise ValueError(str(error), "fix the value") from None
        return text

    return AfterValidator(check)


_NOT_REPEATED = frozenset({"sandbox", "until", "max_runtime"})  # what a run used is known of it; its time is over


class SendingOptions(BaseModel):
    """The options that each file of an inbox may have; None if not set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sheet: Annotated[StrictStr, Field(min_length=1)] | None = None
    rate: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    concurrency: Annotated[int, Field(gt=0, strict=True)] | None = None
    max_errors: Annotated[StrictStr, parsed(ErrorLimit.parse)] | None = None
    resend_unconfirmed: Resend = "end"
    resend_rejected: StrictBool = False
    give_up_after: Annotated[StrictStr, parsed(parse_minutes)] | None = None
    strict: StrictBool = False
    sandbox: StrictBool = False

    @property
    def flags(self) -> dict[str, str]:
        """Those that were given, as flags with their values ("" for none), for the commands that a report proposes."""
        names = [name for name in RunOptions.model_fields if name in self.model_fields_set - _NOT_REPEATED]
        shown = {name: value for name in names if (value := getattr(self, name)) not in (None, False)}
        return {f"--{name.replace('_', '-')}": "" if value is True else str(value) for name, value in shown.items()}

    def settings(self, out: Path | None, **given: Any) -> Settings:
        """The settings of the run. Raises UnusableInput with every one that is not valid."""
        minutes = parse_minutes(self.give_up_after) if self.give_up_after else None
        own = {"rate": self.rate, "concurrency": self.concurrency, "give_up_minutes": minutes}
        return load_settings(**{**own, "out": out, "strict": self.strict or None, **given})

    def sending(self) -> Sending:
        limit = ErrorLimit.parse(self.max_errors) if self.max_errors else None
        return Sending(
            max_errors=limit,
            resend_unconfirmed=self.resend_unconfirmed,
            resend_rejected=self.resend_rejected,
            sandbox_setup=SandboxSetup() if self.sandbox else None,
        )


class RunOptions(SendingOptions):
    """The options of `importer run`, and of `check` as far as they matter there."""

    out: Path | None = None
    questions: Path | None = None
    faults: Path | None = None
    rows: Annotated[StrictStr, parsed(parse_rows)] | None = None
    limit: Annotated[int, Field(ge=1, strict=True)] | None = None
    part: Annotated[StrictStr, parsed(parse_part)] | None = None
    until: StrictStr | None = None
    max_runtime: StrictStr | None = None

    def sending(self) -> Sending:
        """Raises UsageError: a time of day or a duration is none, or the sandbox is not used that something is for."""
        setup = sandbox_setup(self.sandbox, self.questions, self.faults)
        window = parse_window(self.until, self.max_runtime)
        return replace(super().sending(), sandbox_setup=setup, window=window, out=str(self.out or ""))

    def selection(self) -> Selection:
        """Raises UsageError: a part of the file, and other rows."""
        if self.part and (self.rows or self.limit):
            raise UsageError("--part cannot be used with --rows or --limit: the parts together are the whole file")
        rows, part = parse_rows(self.rows) if self.rows else ALL_ROWS, parse_part(self.part) if self.part else None
        return replace(rows, limit=self.limit, part=part)


def given_options(values: Mapping[str, Any], shown: str) -> RunOptions:
    """The options with these values. shown: how a person gives one, such as `{name}={value}`.

    Raises UsageError: with every option that is unknown or not valid.
    """
    try:
        return RunOptions.model_validate(dict(values))
    except ValidationError as error:
        raise UsageError("\n".join(_refusal(one, shown) for one in error.errors())) from None


def _refusal(error: Any, shown: str) -> str:
    name = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        return f"the option {name} is unknown; {did_you_mean(name, RunOptions.model_fields)}"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"].args[0])
    given = shown.format(name=name, flag=name.replace("_", "-"), value=repr(error["input"]))
    return f"{given} is not valid: {error['msg'][:1].lower()}{error['msg'][1:]}"


def sandbox_setup(sandbox: bool, questions: Path | None, faults: Path | None = None) -> SandboxSetup | None:
    """The sandbox that is used, None for the service of the settings.

    Raises UsageError: questions or faults are given, but no sandbox.
    """
    if not sandbox and (questions or faults):
        raise UsageError(f"{'--questions' if questions else '--faults'} can only be used with --sandbox")
    return SandboxSetup(questions, faults) if sandbox else None
