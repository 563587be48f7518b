"""Reads choices and checks them against the options that the service lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

from importer.mapping import Options, ResolvedValue
from importer.text.closest import did_you_mean
from importer.transform.refusal import Refusal, in_mapping, quoted

_SIGNS = {"comma": ",", "semicolon": ";", "newline": "\n"}


def choice_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of one option in its own spelling. Without known options the text is taken as it is."""
    options = Options(value.field.options)

    def read(text: str, typed: bool) -> str | Refusal:
        option = options.find(text) if options.spelled else text
        return _no_option(text, value) if option is None else option

    return read


def joined_choices(chosen: list[str], form: Literal["json", "comma", "semicolon", "newline"]) -> str:
    """Several choices in one answer string; how is not shown by the service description, so it is a setting."""
    distinct = list(dict.fromkeys(chosen))
    if form == "json":
        return json.dumps(distinct, ensure_ascii=False)
    return _SIGNS[form].join(distinct)


def _no_option(text: str, value: ResolvedValue) -> Refusal:
    known = did_you_mean(text, value.field.options)
    line = value.table.place if value.table else value.place
    hint = f"{known}, or add it under values: {in_mapping(line)}"
    return Refusal("choice-unknown", f"{quoted(text)} is no {value.field.noun}", hint)
